// Calls each primitive of hw/hls/prim.hpp: a line "name width arguments" on the standard input, the result back.
// `table N words` gives the tables that follow.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "prim.hpp"

typedef long long word_t;
typedef std::vector<word_t> words_t;

static std::vector<kc::uint<32> > first_table, second_table;

template <int Bits>
static word_t of_width(const std::string &name, const words_t &a)
{
    typedef kc::sint<Bits> T;
    if (name == "shift_round") return kc::shift_round(T(a[0]), kc::uint<6>(a[1]), int(a[2])).to_int64();
    if (name == "arithmetic_shift") return kc::arithmetic_shift(T(a[0]), kc::sint<7>(a[1])).to_int64();
    if (name == "saturate") return kc::saturate(T(a[0]), a[1], a[2]).to_int64();
    if (name == "wrap") return a[1] == 16 ? kc::wrap<16>(T(a[0])).to_int64() : kc::wrap<5>(T(a[0])).to_int64();
    if (name == "requantise")
        return kc::requantise(T(a[0]), kc::sint<7>(a[1]), int(a[2]), a[3], a[4]).to_int64();
    if (name == "magnitude") return kc::magnitude(T(a[0])).to_int64();
    if (name == "block_scale") {
        T words[16];
        for (unsigned i = 4; i < a.size(); i++) words[i - 4] = T(a[i]);
        const T used = kc::block_scale(words, int(a[0]), int(a[1]), kc::uint<6>(a[2]));
        return a[3] < 0 ? used.to_int64() : words[a[3]].to_int64();
    }
    std::cerr << "no primitive " << name << "\n";
    return 0;
}

template <int Bits>
static word_t product(const std::string &name, const words_t &a)
{
    typedef kc::sint<Bits> T;
    typedef kc::uint<Bits> U;
    typedef kc::sint<2 * Bits + 2> acc_t;
    typedef kc::uint<2 * Bits + 2> sum_t;
    if (name == "mac") return kc::mac(acc_t(a[0]), T(a[1]), T(a[2]), kc::uint<6>(a[3])).to_int64();
    if (name == "square_diff") return kc::square_diff(sum_t(a[0]), T(a[1]), T(a[2])).to_int64();
    if (name == "square_diff_u") return kc::square_diff(sum_t(a[0]), U(a[1]), U(a[2])).to_int64();
    if (name == "abs_diff") return kc::abs_diff(sum_t(a[0]), T(a[1]), T(a[2])).to_int64();
    if (name == "abs_diff_u") return kc::abs_diff(sum_t(a[0]), U(a[1]), U(a[2])).to_int64();
    std::cerr << "no primitive " << name << "\n";
    return 0;
}

static word_t fixed(const std::string &name, const words_t &a)
{
    typedef kc::uint<63> size_t_;
    if (name == "mul_shift")
        return kc::mul_shift<size_t_>(size_t_(a[0]), kc::uint<31>(a[1]), kc::uint<6>(a[2])).to_int64();
    if (name == "bit_length") return kc::bit_length(size_t_(a[0])).to_int64();
    if (name == "normalisation_shift") return kc::normalisation_shift(kc::uint<62>(a[0])).to_int64();
    if (name == "divide") {
        const kc::quotient_t found = kc::divide(kc::sint<63>(a[0]), kc::uint<62>(a[1]));
        return found.q.to_int64() * 256 + found.e.to_int64();
    }
    if (name == "divide_round") return kc::divide_round(kc::uint<61>(a[0]), kc::uint<61>(a[1])).to_int64();
    if (name == "isqrt_ceil") return kc::isqrt_ceil(kc::uint<62>(a[0])).to_int64();
    if (name == "exp2_16") return kc::exp2_16(kc::uint<24>(a[0]), first_table.data(), int(a[1])).to_int64();
    if (name == "exp2_32")
        return kc::exp2_32(kc::uint<37>(a[0]), first_table.data(), second_table.data(), int(a[1])).to_int64();
    if (name == "abs_sinpi") return kc::abs_sinpi(kc::uint<32>(a[0]), first_table.data()).to_int64();
    std::cerr << "no primitive " << name << "\n";
    return 0;
}

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream text(line);
        std::string name;
        int bits = 0;
        words_t a;
        text >> name >> bits;
        for (word_t word; text >> word;) a.push_back(word);
        if (name == "table") {
            std::vector<kc::uint<32> > &table = bits == 0 ? first_table : second_table;
            table.clear();
            for (unsigned i = 0; i < a.size(); i++) table.push_back(kc::uint<32>(a[i]));
            continue;
        }
        const word_t found = bits == 8 ? of_width<8>(name, a) : bits == 64 ? of_width<64>(name, a)
            : bits == 30 ? product<30>(name, a) : fixed(name, a);
        std::cout << found << "\n";
    }
    return 0;
}
