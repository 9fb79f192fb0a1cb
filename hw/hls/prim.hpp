// kerncast: the integer primitives for HLS, one implementation for all dialects.
// SPDX-License-Identifier: Apache-2.0
//
// Names and meanings are those of sim/primitives.py.  A word has the width that its caller gives it: T holds
// the argument and the result, and what comes between is as wide as it must be.
#ifndef KERNCAST_HLS_PRIM_HPP
#define KERNCAST_HLS_PRIM_HPP

#include "dialect.hpp"

namespace kc {

enum rounding_t { round_floor = 0, round_half_up = 1, round_half_even = 2 };

// v / 2^s, rounded; 0 <= s <= 62.
template <class T>
T shift_round(T v, uint<6> s, int rounding)
{
    if (s == 0) {
        return v;
    }
    const uint<6> before = s - 1;
    const T floor_ = v >> s;
    const T doubled = v >> before; // its lowest bit is the half
    const uint<1> half = doubled[0] ? 1 : 0;

    if (rounding == round_floor) {
        return floor_;
    }
    if (rounding == round_half_even) {
        const T whole = doubled << before;
        const bool below_half = whole != v;

        if (!below_half && !floor_[0]) {
            return floor_;
        }
    }
    return floor_ + half;
}

// floor(v / 2^s); a negative s multiplies by 2^-s, which must fit T.  -62 <= s <= 62.
template <class T>
T arithmetic_shift(T v, sint<7> s)
{
    if (s >= 0) {
        return shift_round(v, uint<6>(s), round_floor);
    }
    const uint<6> up = -s;
    return v << up;
}

// The word of [lo, hi] nearest to v.
template <class T>
T saturate(T v, long long lo, long long hi)
{
    if (v < lo) {
        return T(lo);
    }
    if (v > hi) {
        return T(hi);
    }
    return v;
}

// The signed word of BITS that equals v modulo 2^BITS.
template <int Bits, class T>
sint<Bits> wrap(T v)
{
    return sint<Bits>(v);
}

// The cast: v / 2^s rounded and saturated; a negative s multiplies exactly, which must fit T.
template <class T>
T requantise(T v, sint<7> s, int rounding, long long lo, long long hi)
{
    if (s < 0) {
        return saturate(arithmetic_shift(v, s), lo, hi);
    }
    return saturate(shift_round(v, uint<6>(s), rounding), lo, hi);
}

// acc + floor(a * b / 2^s); the accumulator never saturates.
template <class Sum, class A, class B>
Sum mac(Sum acc, A a, B b, uint<6> s)
{
    return acc + ((a * b) >> s);
}

// acc + (u - v)^2
template <class Sum, class X>
Sum square_diff(Sum acc, X u, X v)
{
    const auto d = u - v;

    return acc + d * d;
}

// acc + |u - v|
template <class Sum, class X>
Sum abs_diff(Sum acc, X u, X v)
{
    const Sum d = u > v ? Sum(u - v) : Sum(v - u);

    return acc + d;
}

// floor(a * c / 2^s), exact; 0 <= a, 0 <= c, 0 <= s <= 62, the result fits Q.
template <class Q, class A, class C>
Q mul_shift(A a, C c, uint<6> s)
{
    return (a * c) >> s;
}

// v or -v - 1: as long in bits as v, and it fits where v fits.
template <class T>
T magnitude(T v)
{
    return v < 0 ? T(~v) : v;
}

// Bits of v without leading zeros; 0 for 0.  0 <= v < 2^63.
inline uint<6> bit_length(uint<63> v)
{
    uint<6> length = 0;

    for (int step = 32; step != 0; step /= 2) {
#pragma HLS UNROLL
        const uint<63> above = v >> uint<6>(step);

        if (above != 0) {
            v = above;
            length += step;
        }
    }
    return v != 0 ? uint<6>(length + 1) : length;
}

// The shift e with 2^61 <= v * 2^e < 2^62; 0 < v < 2^62.
inline uint<6> normalisation_shift(uint<62> v)
{
    return 62 - bit_length(v);
}

// A quotient q * 2^(e - 31).
struct quotient_t {
    sint<33> q;
    sint<8> e;
};

// num / den nearly, 2^30 <= |q| <= 2^31, or 0; |num| < 2^62, 0 < den < 2^62.
inline quotient_t divide(sint<63> num, uint<62> den)
{
    quotient_t found;

    found.q = 0;
    found.e = 0;
    if (num == 0) {
        return found;
    }
    const uint<62> size = num < 0 ? uint<62>(-num) : uint<62>(num);
    const uint<6> up = normalisation_shift(size);
    const uint<6> up_den = normalisation_shift(den);
    const uint<31> d = uint<62>(den << up_den) >> 31;
    const uint<62> top = size << up;
    sint<63> n = num << up;

    found.e = sint<8>(up_den) - sint<8>(up);
    if (top >= uint<62>(uint<62>(d) << 31)) {
        n = n >> 1;
        found.e += 1;
    }
    const sint<33> toward_zero = n / sint<32>(d);
    const sint<65> rest = n - toward_zero * sint<32>(d);

    found.q = rest < 0 ? sint<33>(toward_zero - 1) : toward_zero;
    return found;
}

// floor(num / den + 1/2); 0 <= num < 2^61, 0 < den < 2^61.
inline uint<61> divide_round(uint<61> num, uint<61> den)
{
    const uint<63> above = 2 * uint<63>(num) + den;
    const uint<62> below = 2 * uint<62>(den);

    return above / below;
}

// The smallest x with x * x >= v; 0 <= v < 2^62.
inline uint<32> isqrt_ceil(uint<62> v)
{
    uint<32> x = 0;

    for (int bit = 30; bit >= 0; bit--) {
        const uint<32> trial = x + (uint<32>(1) << uint<5>(bit));

        if (trial * trial <= v) {
            x = trial;
        }
    }
    return x * x < v ? uint<32>(x + 1) : x;
}

// Shift words[first..last) right by s (half up) in place; the largest magnitude comes back.
template <class T>
T block_scale(T *words, int first, int last, uint<6> s)
{
    T used = 0;

#pragma hls_pipeline_init_interval 1
    for (int i = first; i < last; i++) {
#pragma HLS PIPELINE II=1
        const T word = shift_round(words[i], s, round_half_up);
        const T size = magnitude(word);

        words[i] = word;
        used = size > used ? size : used;
    }
    return used;
}

// 2^-t as u16f15; t has 20 fraction bits and lies below 16.0; 2^bits + 1 entries u22f21.
template <class Entry>
uint<16> exp2_16(uint<24> t, const Entry *table, int bits)
{
    const uint<20> fraction = t;
    const uint<7> index = fraction >> uint<6>(20 - bits);
    const uint<15> rest = fraction & ((1 << (20 - bits)) - 1);
    const uint<22> left = table[index.to_int()];
    const uint<22> right = table[index.to_int() + 1];
    const uint<20> fall = left - right;
    const uint<20> drop = (fall * rest) >> uint<6>(20 - bits);
    const uint<22> value = left - drop;

    return shift_round(value, uint<6>((t >> 20) + 6), round_half_up);
}

// 2^-t as u32f31; t has 32 fraction bits and lies below 32.0; 2^bits entries each.
template <class Coarse, class Fine>
uint<32> exp2_32(uint<37> t, const Coarse *coarse, const Fine *fine, int bits)
{
    const uint<32> ln2 = 0xB17217F8u;
    const uint<32> fraction = t;
    const uint<22> z = fraction & ((1 << (32 - 2 * bits)) - 1);
    const uint<32> line = ((uint<28>(z) << uint<6>(bits - 2)) * ln2) >> 32; // z ln 2
    const uint<32> tail = bits < 8 ? uint<32>(line - ((line * line) >> uint<6>(31 + bits))) : line;
    const uint<8> low = uint<8>(fraction >> uint<6>(32 - 2 * bits)) & ((1 << bits) - 1);
    const uint<8> high = fraction >> uint<6>(32 - bits);
    const uint<32> step = fine[low.to_int()];
    const uint<32> head = coarse[high.to_int()];
    const uint<32> fall = step + tail - ((step * tail) >> uint<6>(30 + bits));
    const uint<32> drop = (fall + ((head * fall) >> 32)) >> uint<6>(bits - 2);
    const uint<33> value = (uint<33>(1) << 32) + head - drop;

    return shift_round(value, uint<6>((t >> 32) + 2), round_half_up);
}

// |sin(pi t / 2^32)| as u32f31; 257 entries u32f31 of a quarter wave.
template <class Entry>
uint<32> abs_sinpi(uint<32> t, const Entry *table)
{
    const uint<31> low = t;
    const uint<32> turn = t[31] ? uint<32>((uint<32>(1) << 31) - low) : t;
    const uint<9> index = turn >> 23;
    const uint<32> s = table[index.to_int()];
    const uint<32> c = table[256 - index.to_int()];
    const uint<32> b = (uint<23>(turn) * uint<32>(0xC90FDAA2u)) >> 24; // pi = 0xC90FDAA2 / 2^30
    const uint<25> half = (b * b) >> 39;                               // b^2 / 2
    const uint<18> sixth = (((b * half) >> 38) * uint<15>(0x5555)) >> 16; // b^3 / 6
    const sint<66> product = c * (b - sixth) - s * half;

    return s + shift_round(product, 38, round_half_up);
}

} // namespace kc

#endif
