// Soak test of a core behind its registers, in Verilator: a script of operations with random stalls, hard and soft
// resets and bad frames between them. Every beat is compared, and every stream is watched: what is offered stays.
//
//   soak SCRIPT SEED
//
// The script, in words: `bad P E` whether a bad frame drops its partner, and the error of a partner that comes alone
// after a reset; `untrained S N B...` what an empty core sends on stream S; then operations, each `op`, its steps
// `send S USER N B...` (a frame), `command BITS`, `expect S N B...` (status, then beats), each step closed by `done`.
// `after` before a frame: when those before it are accepted. ports.h, made for a core, lists its streams.
#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "ports.h"   // TOP, INPUTS, OUTPUTS, MOST_CLOCKS, CONNECT

using Beats = std::vector<uint32_t>;
struct Frame { int stream; uint32_t user; Beats beats; bool after = false; };   // after: what was sent is accepted
struct Step { std::vector<Frame> sends; uint32_t command = 0; std::vector<Frame> expects; };
struct Beat { uint32_t data, user; bool last; };

// A stream by its signals; Verilator's types differ in width.
struct Pin { void *at; int bytes; };
static uint32_t get(const Pin &pin) {
    return pin.bytes == 0 ? 0 : pin.bytes == 1 ? *(CData *)pin.at : pin.bytes == 2 ? *(SData *)pin.at
                                                                               : *(IData *)pin.at;
}
static void put(const Pin &pin, uint32_t value) {
    if (pin.bytes == 1) *(CData *)pin.at = value;
    if (pin.bytes == 2) *(SData *)pin.at = value;
    if (pin.bytes == 4) *(IData *)pin.at = value;
}
struct Stream { Pin data, user, last, valid, ready; };
static Stream inputs[INPUTS], outputs[OUTPUTS];
template <class T> static Pin pin(T &signal) { return {&signal, sizeof(signal)}; }
static TOP *top;
static void connect() { CONNECT }

enum { CONTROL = 0x40, COMMAND = 0x44, STATUS = 0x48, ERRORS = 0x4c, RUN = 1, SOFT_RESET = 1, BUSY = 7 };
static const uint32_t DROPPED = 1u << 30;

static uint64_t clocks, values, mismatches, broken, random_state;
static uint32_t idle, pressure;   // of 256
static std::deque<Frame> later;
static std::deque<Beat> waiting[INPUTS];
static std::vector<Beat> partial[OUTPUTS];
static std::deque<Frame> received[OUTPUTS];

static uint32_t chance(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

[[noreturn]] static void fail(const char *why) {
    std::printf("FAIL: %s at clock %llu\n", why, (unsigned long long)clocks);
    std::exit(1);
}

static bool sending() {
    bool full = false;
    for (int i = 0; i < INPUTS; i++) full |= !waiting[i].empty();
    return full;
}

static void tick() {
    for (; !later.empty() && !(later.front().after && sending()); later.pop_front()) {
        const Beats &beats = later.front().beats;
        for (size_t k = 0; k < beats.size(); k++)
            waiting[later.front().stream].push_back({beats[k], later.front().user, k + 1 == beats.size()});
    }
    Beat held[OUTPUTS];
    bool offered[OUTPUTS], taken[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        if (get(inputs[i].valid) || waiting[i].empty()) continue;
        if (chance(256) < idle) continue;
        const Beat &beat = waiting[i].front();
        put(inputs[i].data, beat.data);
        put(inputs[i].user, beat.user);
        put(inputs[i].last, beat.last);
        put(inputs[i].valid, 1);
    }
    for (int i = 0; i < OUTPUTS; i++) put(outputs[i].ready, chance(256) >= pressure);
    top->eval();
    for (int i = 0; i < INPUTS; i++) taken[i] = get(inputs[i].valid) && get(inputs[i].ready) && !top->rst;
    for (int i = 0; i < OUTPUTS; i++) {
        held[i] = {get(outputs[i].data), get(outputs[i].user), get(outputs[i].last) != 0};
        offered[i] = get(outputs[i].valid) && !top->rst;
        if (offered[i] && get(outputs[i].ready)) {
            partial[i].push_back(held[i]);
            offered[i] = false;
            if (held[i].last) {
                Frame frame{i, partial[i].back().user, {}};
                for (const Beat &beat : partial[i]) frame.beats.push_back(beat.data);
                received[i].push_back(frame);
                partial[i].clear();
            }
        }
    }
    const bool in_reset = top->rst;
    top->clk = 1;
    top->eval();
    top->clk = 0;
    for (int i = 0; i < INPUTS; i++) {
        if (!taken[i]) continue;
        waiting[i].pop_front();
        put(inputs[i].valid, 0);
    }
    top->eval();
    for (int i = 0; i < OUTPUTS && !in_reset; i++)
        broken += offered[i] && !(get(outputs[i].valid) && get(outputs[i].data) == held[i].data &&
                                  get(outputs[i].user) == held[i].user && (get(outputs[i].last) != 0) == held[i].last);
    clocks++;
}

static void write(uint32_t address, uint32_t value) {
    top->s_axil_awaddr = address;
    top->s_axil_wdata = value;
    top->s_axil_wstrb = 15;
    top->s_axil_awvalid = top->s_axil_wvalid = top->s_axil_bready = 1;
    for (int i = 0; !top->s_axil_awready; i++) { if (i > 99) fail("a write hangs"); tick(); }
    tick();
    top->s_axil_awvalid = top->s_axil_wvalid = 0;
    for (int i = 0; !top->s_axil_bvalid; i++) { if (i > 99) fail("a write hangs"); tick(); }
    tick();
    top->s_axil_bready = 0;
}

static uint32_t read(uint32_t address) {
    top->s_axil_araddr = address;
    top->s_axil_arvalid = top->s_axil_rready = 1;
    tick();
    top->s_axil_arvalid = 0;
    for (int i = 0; !top->s_axil_rvalid; i++) { if (i > 99) fail("a read hangs"); tick(); }
    const uint32_t value = top->s_axil_rdata;
    tick();
    top->s_axil_rready = 0;
    return value;
}

static void hard_reset() {
    top->rst = 1;
    for (int i = 0; i < 3; i++) tick();
    later.clear();
    for (int i = 0; i < INPUTS; i++) { waiting[i].clear(); put(inputs[i].valid, 0); }
    for (int i = 0; i < OUTPUTS; i++) { received[i].clear(); partial[i].clear(); }
    top->rst = 0;
    write(CONTROL, RUN);
}

// Until the frames are accepted and the core is idle: always, or it hangs.
static void settle() {
    int quiet = 0;   // the last beats of a frame may still be converted, which is not an operation
    for (const uint64_t end = clocks + 20u * MOST_CLOCKS; quiet < 2;) {
        if (clocks > end) fail("the core does not become idle");
        for (int i = 0; i < 48; i++) tick();
        bool full = sending() || !later.empty();
        for (int i = 0; i < OUTPUTS; i++) full |= !partial[i].empty() || get(outputs[i].valid);
        quiet = !full && (read(STATUS) & BUSY) == 0 ? quiet + 1 : 0;
    }
}

static bool same(const Frame &a, const Frame &b) { return a.user == b.user && a.beats == b.beats; }

// What came is an expected answer, in order, or that of an empty core.
static void check_prefix(const std::vector<Frame> &expects, const std::vector<Frame> &untrained, bool none) {
    size_t next = 0;
    for (int i = 0; i < OUTPUTS; i++)
        for (; !received[i].empty(); received[i].pop_front()) {
            bool right = false;
            for (const Frame &frame : untrained) right |= !none && frame.stream == i && same(frame, received[i].front());
            for (size_t k = next; k < expects.size() && !none && !right; k++)
                if (expects[k].stream == i && same(expects[k], received[i].front())) { right = true; next = k + 1; }
            values += received[i].front().beats.size() + 1;
            mismatches += !right;
        }
}

static Frame parse(std::ifstream &in, bool user) {
    Frame frame{0, 0, {}};
    size_t count;
    in >> frame.stream;
    if (user) in >> frame.user;
    in >> count;
    if (!user) { in >> frame.user; count--; }
    frame.beats.resize(count);
    for (uint32_t &beat : frame.beats) in >> beat;
    return frame;
}

int main(int argc, char **argv) {
    std::ifstream in(argc > 2 ? argv[1] : "");
    std::vector<std::vector<Step>> operations;
    std::vector<Frame> untrained;
    std::string word;
    bool after = false;
    int drops_partner = 0;
    uint32_t partner = 0;
    uint64_t soft = 0, hard = 0, bad = 0;

    random_state = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    while (in >> word) {
        if (word == "bad") in >> drops_partner >> partner;
        if (word == "untrained") untrained.push_back(parse(in, false));
        if (word == "op") operations.push_back({Step{}});
        if (word == "send") {
            operations.back().back().sends.push_back(parse(in, true));
            operations.back().back().sends.back().after = after;
        }
        after = word == "after";
        if (word == "command") in >> operations.back().back().command;
        if (word == "expect") operations.back().back().expects.push_back(parse(in, false));
        if (word == "done") operations.back().push_back({});
    }
    top = new TOP;
    connect();
    hard_reset();
    for (const std::vector<Step> &operation : operations) {
        static const uint32_t shares[] = {0, 0, 77, 179};
        const Step &first = operation[0];
        idle = shares[chance(4)];
        pressure = shares[chance(4)];
        const uint32_t what = chance(8);
        if (what <= 1) {                  // a reset at any clock
            for (const Frame &frame : first.sends) later.push_back(frame);
            for (uint32_t end = chance(3 * MOST_CLOCKS / 2 + 1) + 1; end > 0; end--) tick();
            if (what == 0) {
                write(COMMAND, SOFT_RESET);
                settle();
                soft++;
                mismatches += (read(ERRORS) & ~(partner | DROPPED)) != 0;
                if (drops_partner && first.sends.size() > 1) {   // one of them may have come after the reset
                    write(COMMAND, SOFT_RESET);
                    settle();
                }
            }
            check_prefix(first.expects, untrained, false);
            if (what == 1) { hard_reset(); hard++; }
            write(ERRORS, 0xffffffff);
        } else if (what == 2) {           // a bad frame: refused, and an error
            const size_t k = chance((uint32_t)first.sends.size());
            Frame wrong = first.sends[k];
            if (chance(2) || wrong.beats.size() < 2) wrong.beats.push_back(wrong.beats.back());
            else wrong.beats.resize(1 + chance((uint32_t)wrong.beats.size() - 1));
            for (size_t i = 0; i < first.sends.size(); i++)
                if (i < k || (i > k && drops_partner)) later.push_back(first.sends[i]);
                else if (i == k) later.push_back(wrong);
            settle();
            mismatches += read(ERRORS) == 0;
            // What came before it may be answered.
            check_prefix(k > 0 && !drops_partner ? first.expects : std::vector<Frame>{}, {}, false);
            write(ERRORS, 0xffffffff);
            bad++;
        }
        for (const Step &step : operation) {
            for (const Frame &frame : step.sends) later.push_back(frame);
            if (step.command) write(COMMAND, step.command);
            const uint64_t end = clocks + 20u * MOST_CLOCKS * (step.sends.size() + 1);
            for (const Frame &frame : step.expects) {
                std::deque<Frame> &from = received[frame.stream];
                while (from.empty()) { if (clocks > end) fail("an answer is missing"); tick(); }
                values += frame.beats.size() + 1;
                mismatches += from.front().user != frame.user || from.front().beats.size() != frame.beats.size();
                for (size_t i = 0; i < frame.beats.size() && i < from.front().beats.size(); i++)
                    mismatches += from.front().beats[i] != frame.beats[i];
                from.pop_front();
            }
        }
        mismatches += read(ERRORS) != 0;
        for (int i = 0; i < OUTPUTS; i++) mismatches += !received[i].empty();
    }
    std::printf("values %llu mismatches %llu broken %llu soft %llu hard %llu bad %llu clocks %llu\n",
                (unsigned long long)values, (unsigned long long)mismatches, (unsigned long long)broken,
                (unsigned long long)soft, (unsigned long long)hard, (unsigned long long)bad,
                (unsigned long long)clocks);
    return mismatches || broken ? 1 : 0;
}
