/* kerncast runtime: primitives in 32 bits, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * Each gives the word of the primitive of that name, for arguments of which the plan proves that 32 bits
 * hold them and all that comes between.
 */
#ifndef KERNCAST_KC_SHORT_H
#define KERNCAST_KC_SHORT_H

#include <stdint.h>

#include "kc_cast.h"
#include "kc_table.h"

/* acc + (u - v)^2; u - v and the sum fit 32 bits. */
static inline uint32_t kc_short_square_diff(uint32_t acc, int32_t u, int32_t v)
{
    const int32_t d = u - v;
    return acc + (uint32_t)((int64_t)d * d); /* compilers keep one product of 32 bits: only they are used */
}

/* The same in 64 bits, of which u - v takes 32. */
static inline int64_t kc_short_difference(int64_t acc, int64_t u, int64_t v)
{
    const int32_t d = (int32_t)(u - v);
    return acc + (int64_t)d * d;
}

/* acc + |u - v| */
static inline uint32_t kc_short_abs_diff(uint32_t acc, int32_t u, int32_t v)
{
    return acc + (uint32_t)(u > v ? u - v : v - u);
}

/* floor(a * c / 2^s); a * c < 2^32, 0 <= s <= 31. */
static inline uint32_t kc_short_mul_shift(uint32_t a, uint32_t c, int32_t s)
{
    return (a * c) >> s;
}

/* The same of a c below 2^16, where only a * 2^(16 - s) and the result fit 32 bits; 0 <= s <= 62. */
static inline uint32_t kc_short_mul_high(uint32_t a, uint32_t c, int32_t s)
{
    if (s >= 32) {
        return (uint32_t)(((uint64_t)a * c) >> s);
    }
    if (s > 16) {
        return (uint32_t)(((uint64_t)a * (c << (32 - s))) >> 32);
    }
    return (uint32_t)(((uint64_t)(a << (16 - s)) * (c << 16)) >> 32);
}

/* acc + floor(a * b / 2^s), of factors of 32 bits. */
static inline int64_t kc_short_mac(int64_t acc, int32_t a, int32_t b, int32_t s)
{
    return acc + kc_shift_floor((int64_t)a * b, s);
}

/* 2^-t as u16f15: kc_exp2_16 of a t that fits 24 bits, as it does below 16.0. */
static inline uint32_t kc_short_exp2_16(uint32_t t, KC_TABLE uint32_t *table, int32_t bits)
{
    KC_TABLE uint32_t *chord = &table[(t & 0xFFFFFU) >> (20 - bits)];
    const uint32_t rest = t & ((UINT32_C(1) << (20 - bits)) - 1U);
    const uint32_t left = chord[0];
    const uint32_t drop = ((left - chord[1]) * rest) >> (20 - bits);

    return (((left - drop) >> (t >> 20)) + 32U) >> 6; /* as cut by 5 bits first: a floor of a floor */
}

/* v / 2^s, rounded; |v| <= 2^30, 0 <= s <= 30. */
static inline int32_t kc_short_shift_round(int32_t v, int32_t s, int32_t rounding)
{
    const int32_t half = s > 0 ? (int32_t)(INT32_C(1) << (s - 1)) : 0;
    const int32_t w = rounding == KC_FLOOR ? v : v + half;
    const int32_t floor_ = w < 0 ? ~(~w >> s) : w >> s;

    if (rounding == KC_HALF_EVEN && s > 0 && ((uint32_t)w & (((uint32_t)half << 1) - 1U)) == 0U) {
        return (int32_t)(floor_ - (int32_t)((uint32_t)floor_ & 1U)); /* a tie goes to the even word */
    }
    return floor_;
}

/* The word of [lo, hi] nearest to v. */
static inline int32_t kc_short_saturate(int32_t v, int32_t lo, int32_t hi)
{
    return v < lo ? lo : (v > hi ? hi : v);
}

/* The cast: v / 2^s rounded, s >= 0, and saturated. */
static inline int32_t kc_short_narrow(int32_t v, int32_t s, int32_t rounding, int32_t lo, int32_t hi)
{
    return kc_short_saturate(kc_short_shift_round(v, s, rounding), lo, hi);
}

#endif
