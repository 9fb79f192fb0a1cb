/* kerncast runtime: primitives in 32-bit arithmetic, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * kc_<name>_i32 returns the same value as kc_<name>. The plan proves that the arguments and every
 * intermediate result fit 32 bits; other arguments are not allowed.
 */
#ifndef KERNCAST_KC_I32_H
#define KERNCAST_KC_I32_H

#include <stdint.h>

#include "kc_cast.h"
#include "kc_compiler.h"
#include "kc_table.h"

/* acc + (u - v)^2; u - v and the sum fit 32 bits. */
static inline uint32_t kc_square_diff_i32(uint32_t acc, int32_t u, int32_t v)
{
    const int32_t d = u - v;
    return acc + (uint32_t)((int64_t)d * d); /* compilers keep one product of 32 bits: only they are used */
}

/* acc + (u - v)^2 in 64 bits; u - v fits 32 bits. */
static inline int64_t kc_square_diff_d32(int64_t acc, int64_t u, int64_t v)
{
    const int32_t d = (int32_t)(u - v);
    /* unsigned, so that a sum of values that do not fit, from damaged memory, wraps */
    return (int64_t)((uint64_t)acc + (uint64_t)((int64_t)d * d));
}

/* acc + |u - v| */
static inline uint32_t kc_abs_diff_i32(uint32_t acc, int32_t u, int32_t v)
{
    return acc + (uint32_t)(u > v ? u - v : v - u);
}

/* floor(a * c / 2^s); a * c < 2^32, 0 <= s <= 31. */
static inline uint32_t kc_mul_shift_i32(uint32_t a, uint32_t c, int32_t s)
{
    return (a * c) >> s;
}

/* floor(a * c / 2^s); c < 2^16, a * 2^(16 - s) and the result fit 32 bits, 0 <= s <= 62. */
static inline uint32_t kc_mul_high_i32(uint32_t a, uint32_t c, int32_t s)
{
    if (s >= 32) {
        return (uint32_t)(((uint64_t)a * c) >> s);
    }
    if (s > 16) {
        return (uint32_t)(((uint64_t)a * (c << (32 - s))) >> 32);
    }
    return (uint32_t)(((uint64_t)(a << (16 - s)) * (c << 16)) >> 32);
}

/* acc + floor(a * b / 2^s); a and b have 32 bits. */
static inline int64_t kc_mac_i32(int64_t acc, int32_t a, int32_t b, int32_t s)
{
    return acc + kc_shift_floor((int64_t)a * b, s);
}

/* 2^-t as u16f15: kc_exp2_16 for t below 16.0, which fits 24 bits. */
static inline uint32_t kc_exp2_16_i32(uint32_t t, KC_TABLE uint32_t *table, int32_t bits)
{
    KC_TABLE uint32_t *chord = &table[(t & 0xFFFFFU) >> (20 - bits)];
    const uint32_t rest = t & ((UINT32_C(1) << (20 - bits)) - 1U);
    const uint32_t left = chord[0];
    const uint32_t drop = ((left - chord[1]) * rest) >> (20 - bits);

    return (((left - drop) >> (t >> 20)) + 32U) >> 6; /* as cut by 5 bits first: a floor of a floor */
}

/* v / 2^s, rounded; |v| <= 2^30, 0 <= s <= 30. */
static KC_INLINE int32_t kc_shift_round_i32(int32_t v, int32_t s, int32_t rounding)
{
    const int32_t half = s > 0 ? (int32_t)(INT32_C(1) << (s - 1)) : 0;
    const int32_t w = rounding == KC_FLOOR ? v : v + half;
    const int32_t floor_ = w < 0 ? ~(~w >> s) : w >> s;

    if (rounding == KC_HALF_EVEN && s > 0 && ((uint32_t)w & (((uint32_t)half << 1) - 1U)) == 0U) {
        return (int32_t)(floor_ - (int32_t)((uint32_t)floor_ & 1U)); /* round a tie to the even word */
    }
    return floor_;
}

/* The word of [lo, hi] nearest to v. */
static inline int32_t kc_saturate_i32(int32_t v, int32_t lo, int32_t hi)
{
    return v < lo ? lo : (v > hi ? hi : v);
}

/* The cast: v / 2^s rounded, s >= 0, and saturated. */
static inline int32_t kc_requantise_i32(int32_t v, int32_t s, int32_t rounding, int32_t lo, int32_t hi)
{
    return kc_saturate_i32(kc_shift_round_i32(v, s, rounding), lo, hi);
}

#endif
