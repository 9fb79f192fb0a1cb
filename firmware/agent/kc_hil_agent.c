/* The HIL agent.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_hil_agent.h"

#include "kc_crc.h"

#define HASH_BYTES 32u
#define HALF_OF_SEQUENCES 0x8000u

static void copy(uint8_t *to, const uint8_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

static void put(uint8_t *to, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(value >> (8u * i));
    }
}

static uint32_t get(const uint8_t *from, uint32_t bytes)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        value |= (uint32_t)from[i] << (8u * i);
    }
    return value;
}

/* Write a string without its terminator at `at`; return the position behind it. */
static uint32_t put_text(uint8_t *out, uint32_t at, const char *text)
{
    for (const char *c = text; *c != '\0' && at < KC_HIL_MAX_PAYLOAD; c++) {
        out[at] = (uint8_t)*c;
        at++;
    }
    return at;
}

/* Add header and checksum to a payload that is already in the frame, and send it. */
static uint32_t send_reply(uint8_t *frame, uint8_t opcode, uint16_t sequence, uint8_t status,
                           uint32_t payload, kc_hil_send_t send)
{
    const uint32_t length = KC_HIL_REPLY_HEADER + payload;
    frame[KC_HIL_REPLY_OPCODE_AT] = (uint8_t)(opcode | KC_HIL_REPLY);
    put(&frame[KC_HIL_REPLY_SEQUENCE_AT], sequence, 2);
    frame[KC_HIL_REPLY_STATUS_AT] = status;
    put(&frame[length], kc_crc32(0, frame, length), KC_HIL_CRC);
    kc_hil_frame_send(frame, length + KC_HIL_CRC, send);
    return length + KC_HIL_CRC;
}

void kc_hil_agent_send_nak(uint8_t status, kc_hil_send_t send)
{
    uint8_t frame[KC_HIL_REPLY_HEADER + KC_HIL_CRC];
    (void)send_reply(frame, KC_HIL_OP_NAK, 0, status, 0, send);
}

/* Every operation, also the empty one, is measured here, so that the overhead between the two readings is
 * always the same and can be subtracted. */
static uint32_t measure(kc_hil_agent_t *agent, kc_hil_operation_t operation, uint32_t count)
{
    const kc_hil_board_t *board = agent->board;
    uint32_t result;
    if (board->counter_start == 0 || board->counter_stop == 0) {
        return operation(count);
    }
    board->counter_start();
    result = operation(count);
    agent->ticks = board->counter_stop();
    return result;
}

static uint32_t empty_operation(uint32_t count)
{
    return count;
}

static uint32_t reply_hello(const kc_hil_agent_t *agent, uint8_t *out)
{
    const kc_hil_port_t *port = agent->port;
    uint32_t at = KC_HIL_HELLO_REPLY_NAME_AT;
    out[KC_HIL_HELLO_REPLY_VERSION_AT] = (uint8_t)KC_HIL_VERSION;
    out[KC_HIL_HELLO_REPLY_WORD_BITS_AT] = port->word_bits;
    put(&out[KC_HIL_HELLO_REPLY_ABI_AT], port->abi, 2);
    put(&out[KC_HIL_HELLO_REPLY_MAX_PAYLOAD_AT], KC_HIL_MAX_PAYLOAD, 2);
    put(&out[KC_HIL_HELLO_REPLY_FIELDS_AT], port->field_count, 2);
    put(&out[KC_HIL_HELLO_REPLY_CAPACITY_AT], port->capacity, 4);
    out[KC_HIL_HELLO_REPLY_WINDOW_AT] = agent->board->window;
    copy(&out[KC_HIL_HELLO_REPLY_PLAN_HASH_AT], port->plan_hash, HASH_BYTES);
    at = put_text(out, at, agent->board->name);
    at = put_text(out, at, " ");
    return put_text(out, at, port->name);
}

static const kc_hil_memory_t *find_region(const kc_hil_port_t *port, uint32_t region)
{
    switch (region) {
    case KC_HIL_REGION_X: return &port->x;
    case KC_HIL_REGION_Y: return &port->y;
    case KC_HIL_REGION_RESULTS: return &port->results;
    case KC_HIL_REGION_STATUSES: return &port->statuses;
    case KC_HIL_REGION_SLOT_A: return port->store != 0 ? &port->store->slots[0] : 0;
    case KC_HIL_REGION_SLOT_B: return port->store != 0 ? &port->store->slots[1] : 0;
    default: break;
    }
    if (region < KC_HIL_REGION_FIELDS || region - KC_HIL_REGION_FIELDS >= port->field_count) {
        return 0;
    }
    return &port->fields[region - KC_HIL_REGION_FIELDS];
}

/* Without a sum that could overflow. */
static int lies_inside(const kc_hil_memory_t *memory, uint32_t offset, uint32_t count)
{
    return offset <= memory->bytes && count <= memory->bytes - offset;
}

static uint8_t do_write(const kc_hil_agent_t *agent, const uint8_t *in, uint32_t length)
{
    const uint32_t region = in[KC_HIL_WRITE_REGION_AT];
    const uint32_t offset = get(&in[KC_HIL_WRITE_OFFSET_AT], 4);
    const uint32_t count = length - KC_HIL_WRITE_FIXED;
    const kc_hil_memory_t *memory = find_region(agent->port, region);
    if (memory == 0) {
        return KC_HIL_ST_BAD_REGION;
    }
    if (region != KC_HIL_REGION_X && region != KC_HIL_REGION_Y && region != KC_HIL_REGION_SLOT_A
        && region != KC_HIL_REGION_SLOT_B) {
        return KC_HIL_ST_READ_ONLY;
    }
    if (!lies_inside(memory, offset, count)) {
        return KC_HIL_ST_OUT_OF_RANGE;
    }
    copy(&memory->data[offset], &in[KC_HIL_WRITE_DATA_AT], count);
    return KC_HIL_ST_OK;
}

static uint8_t do_read(const kc_hil_agent_t *agent, const uint8_t *in, uint8_t *out,
                       uint32_t *produced)
{
    const uint32_t offset = get(&in[KC_HIL_READ_OFFSET_AT], 4);
    const uint32_t count = get(&in[KC_HIL_READ_COUNT_AT], 2);
    const kc_hil_memory_t *memory = find_region(agent->port, in[KC_HIL_READ_REGION_AT]);
    if (memory == 0) {
        return KC_HIL_ST_BAD_REGION;
    }
    if (count > KC_HIL_MAX_PAYLOAD || !lies_inside(memory, offset, count)) {
        return KC_HIL_ST_OUT_OF_RANGE;
    }
    copy(out, &memory->data[offset], count);
    *produced = count;
    return KC_HIL_ST_OK;
}

/* TRAIN, FITTED, STREAM, UPDATE, PREDICT: acknowledge, run, report.  Their payloads differ only in the width of the
 * result. */
static uint8_t do_operation(kc_hil_agent_t *agent, uint8_t opcode, uint16_t sequence,
                            uint32_t count, uint8_t *out, uint32_t *produced)
{
    const kc_hil_port_t *port = agent->port;
    const int train = opcode == KC_HIL_OP_TRAIN || opcode == KC_HIL_OP_FITTED;
    const kc_hil_operation_t operation =
        opcode == KC_HIL_OP_TRAIN ? port->train : opcode == KC_HIL_OP_FITTED ? port->fitted
        : opcode == KC_HIL_OP_STREAM ? port->stream
        : opcode == KC_HIL_OP_UPDATE ? port->update : port->predict;
    const uint32_t least = train ? port->train_count : 1u;
    const uint32_t most = train ? port->train_count : port->capacity;
    if (operation == 0) {
        return KC_HIL_ST_NOT_SUPPORTED;
    }
    if (count < least || count > most) {
        return KC_HIL_ST_BAD_COUNT;
    }
    (void)send_reply(agent->reply, opcode, sequence, KC_HIL_ST_WORKING, 0, agent->board->send);
    *produced = train ? KC_HIL_TRAIN_REPLY_FIXED : KC_HIL_UPDATE_REPLY_FIXED;
    put(out, measure(agent, operation, count), *produced);
    return KC_HIL_ST_OK;
}

/* SAVE, RESTORE: likewise. */
static uint8_t do_saved(kc_hil_agent_t *agent, uint8_t opcode, uint16_t sequence, uint8_t *out,
                        uint32_t *produced)
{
    const kc_hil_port_t *port = agent->port;
    const int save = opcode == KC_HIL_OP_SAVE;
    if (port->store == 0) {
        return KC_HIL_ST_NOT_SUPPORTED;
    }
    (void)send_reply(agent->reply, opcode, sequence, KC_HIL_ST_WORKING, 0, agent->board->send);
    out[KC_HIL_SAVE_REPLY_RESULT_AT] = (uint8_t)measure(agent, save ? port->save : port->restore, 0);
    out[KC_HIL_SAVE_REPLY_SLOT_AT] = (uint8_t)port->store->written;
    *produced = save ? KC_HIL_SAVE_REPLY_FIXED : KC_HIL_RESTORE_REPLY_FIXED;
    return KC_HIL_ST_OK;
}

static void reply_counters(const kc_hil_agent_t *agent, uint8_t *out)
{
    put(&out[KC_HIL_COUNTERS_REPLY_TICKS_AT], agent->ticks, 8);
    put(&out[KC_HIL_COUNTERS_REPLY_OVERHEAD_AT], agent->overhead, 8);
    out[KC_HIL_COUNTERS_REPLY_UNIT_AT] = agent->board->counter_stop != 0 ? 1u : 0u;
}

static void reply_stack(const kc_hil_agent_t *agent, uint8_t *out)
{
    const kc_hil_board_t *board = agent->board;
    put(&out[KC_HIL_STACK_REPLY_USED_AT], board->stack_used != 0 ? board->stack_used() : 0u, 4);
    put(&out[KC_HIL_STACK_REPLY_TOTAL_AT], board->stack_total, 4);
}

static uint8_t do_trace(const kc_hil_agent_t *agent, uint32_t limit, uint8_t *out, uint32_t *produced)
{
    const kc_hil_trace_t *trace;
    uint32_t at = KC_HIL_TRACE_REPLY_PLACE_AT;
    if (agent->port->trace == 0) {
        return KC_HIL_ST_NOT_SUPPORTED;
    }
    trace = agent->port->trace(limit);
    put(&out[KC_HIL_TRACE_REPLY_COUNT_AT], trace->count, 4);
    put(&out[KC_HIL_TRACE_REPLY_HASH_AT], trace->hash, 4);
    put(&out[KC_HIL_TRACE_REPLY_STEP_AT], (uint32_t)trace->step, 4);
    put(&out[KC_HIL_TRACE_REPLY_INDEX_AT], (uint32_t)trace->index, 4);
    put(&out[KC_HIL_TRACE_REPLY_WORD_AT], (uint64_t)trace->word, 8);
    if (trace->operation != 0) {
        at = put_text(out, at, trace->operation);
        at = put_text(out, at, " ");
        at = put_text(out, at, trace->signal);
    }
    *produced = at;
    return KC_HIL_ST_OK;
}

/* Whether `opcode` accepts a payload of `length` bytes. */
static uint8_t check_request(uint8_t opcode, uint32_t length)
{
    uint32_t fixed = 0;
    switch (opcode) {
    case KC_HIL_OP_HELLO:
    case KC_HIL_OP_COUNTERS:
    case KC_HIL_OP_STACK:
    case KC_HIL_OP_RESET:
    case KC_HIL_OP_SAVE:
    case KC_HIL_OP_RESTORE: break;
    case KC_HIL_OP_READ: fixed = KC_HIL_READ_FIXED; break;
    case KC_HIL_OP_TRACE: fixed = KC_HIL_TRACE_FIXED; break;
    case KC_HIL_OP_TRAIN:
    case KC_HIL_OP_FITTED:
    case KC_HIL_OP_STREAM:
    case KC_HIL_OP_UPDATE:
    case KC_HIL_OP_PREDICT: fixed = KC_HIL_TRAIN_FIXED; break;
    case KC_HIL_OP_WRITE:
        return length < KC_HIL_WRITE_FIXED ? KC_HIL_ST_BAD_LENGTH : KC_HIL_ST_OK;
    default: return KC_HIL_ST_UNKNOWN_OPCODE;
    }
    return length != fixed ? KC_HIL_ST_BAD_LENGTH : KC_HIL_ST_OK;
}

/* Carry out one request and leave the payload of its reply in `out`. */
static uint8_t dispatch(kc_hil_agent_t *agent, const uint8_t *frame, uint32_t length,
                        uint8_t *out, uint32_t *produced)
{
    const uint8_t opcode = frame[KC_HIL_OPCODE_AT];
    const uint16_t sequence = (uint16_t)get(&frame[KC_HIL_SEQUENCE_AT], 2);
    const uint8_t *in = &frame[KC_HIL_HEADER];
    const uint8_t status = check_request(opcode, length - KC_HIL_HEADER);
    if (status != KC_HIL_ST_OK) {
        return status;
    }
    switch (opcode) {
    case KC_HIL_OP_HELLO: *produced = reply_hello(agent, out); break;
    case KC_HIL_OP_WRITE: return do_write(agent, in, length - KC_HIL_HEADER);
    case KC_HIL_OP_READ: return do_read(agent, in, out, produced);
    case KC_HIL_OP_COUNTERS:
        reply_counters(agent, out);
        *produced = KC_HIL_COUNTERS_REPLY_FIXED;
        break;
    case KC_HIL_OP_STACK:
        reply_stack(agent, out);
        *produced = KC_HIL_STACK_REPLY_FIXED;
        break;
    case KC_HIL_OP_RESET: agent->port->reset(); break;
    case KC_HIL_OP_TRACE: return do_trace(agent, get(in, 4), out, produced);
    case KC_HIL_OP_SAVE:
    case KC_HIL_OP_RESTORE: return do_saved(agent, opcode, sequence, out, produced);
    default: return do_operation(agent, opcode, sequence, get(in, 4), out, produced);
    }
    return KC_HIL_ST_OK;
}

/* Reply with an error status; the stored reply of the last request stays in memory, to be sent again. */
static void refuse(const kc_hil_agent_t *agent, uint8_t opcode, uint16_t sequence, uint8_t status)
{
    uint8_t frame[KC_HIL_REPLY_HEADER + KC_HIL_CRC];
    (void)send_reply(frame, opcode, sequence, status, 0, agent->board->send);
}

/* Process a frame with a valid checksum: a new one, a duplicate of the last one, or an older one. */
static void answer(kc_hil_agent_t *agent, const uint8_t *frame, uint32_t length, uint32_t crc)
{
    const uint8_t opcode = frame[KC_HIL_OPCODE_AT];
    const uint16_t sequence = (uint16_t)get(&frame[KC_HIL_SEQUENCE_AT], 2);
    const uint16_t ahead = (uint16_t)(sequence - agent->last_sequence);
    uint32_t produced = 0;
    uint8_t status;
    if (agent->in_session != 0 && ahead == 0 && crc == agent->last_crc) {
        kc_hil_frame_send(agent->reply, agent->reply_length, agent->board->send);
        return;
    }
    if (opcode != KC_HIL_OP_HELLO) {
        if (agent->in_session == 0) {
            refuse(agent, opcode, sequence, KC_HIL_ST_NO_SESSION);
            return;
        }
        if (ahead == 0 || ahead >= HALF_OF_SEQUENCES) {
            refuse(agent, opcode, sequence, KC_HIL_ST_STALE);
            return;
        }
    }
    agent->in_session = 1;
    agent->last_sequence = sequence;
    agent->last_crc = crc;
    status = dispatch(agent, frame, length, &agent->reply[KC_HIL_REPLY_HEADER], &produced);
    agent->reply_length =
        send_reply(agent->reply, opcode, sequence, status, produced, agent->board->send);
}

void kc_hil_agent_init(kc_hil_agent_t *agent, const kc_hil_port_t *port,
                       const kc_hil_board_t *board)
{
    agent->port = port;
    agent->board = board;
    agent->reply_length = 0;
    agent->last_crc = 0;
    agent->last_sequence = 0;
    agent->in_session = 0;
    agent->ticks = 0;
    kc_hil_decoder_init(&agent->decoder);
    port->reset();
    (void)measure(agent, empty_operation, 0);
    agent->overhead = agent->ticks;
    agent->reply[KC_HIL_REPLY_HEADER + KC_HIL_READY_REPLY_VERSION_AT] = (uint8_t)KC_HIL_VERSION;
    (void)send_reply(agent->reply, KC_HIL_OP_READY, 0, KC_HIL_ST_OK, KC_HIL_READY_REPLY_FIXED,
                     board->send);
}

void kc_hil_agent_take(kc_hil_agent_t *agent, uint8_t byte)
{
    kc_hil_decoder_t *decoder = &agent->decoder;
    const kc_hil_event_t event = kc_hil_decoder_take(decoder, byte);
    uint32_t length = decoder->length;
    uint32_t crc;
    if (event == KC_HIL_PENDING) {
        return;
    }
    if (event != KC_HIL_COMPLETE || length < KC_HIL_HEADER + KC_HIL_CRC) {
        kc_hil_agent_send_nak(event == KC_HIL_OVERLONG ? KC_HIL_ST_TOO_LONG : KC_HIL_ST_BAD_FRAME,
                         agent->board->send);
        return;
    }
    length -= KC_HIL_CRC;
    crc = kc_crc32(0, decoder->data, length);
    if (crc != get(&decoder->data[length], KC_HIL_CRC)) {
        kc_hil_agent_send_nak(KC_HIL_ST_BAD_CRC, agent->board->send);
        return;
    }
    answer(agent, decoder->data, length, crc);
}
