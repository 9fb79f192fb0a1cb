/* kerncast runtime: shifts, rounding and the cast.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_CAST_H
#define KERNCAST_KC_CAST_H

#include <stdint.h>

#define KC_FLOOR 0
#define KC_HALF_UP 1
#define KC_HALF_EVEN 2

/* floor(v / 2^s), 0 <= s <= 62. C99 leaves >> of a negative number implementation-defined; ~ avoids it. */
static inline int64_t kc_shift_floor(int64_t v, int32_t s)
{
    return v < 0 ? ~(~v >> s) : v >> s;
}

/* v / 2^s, rounded; 0 <= s <= 62. */
static inline int64_t kc_shift_round(int64_t v, int32_t s, int32_t rounding)
{
    int64_t floor_, half;

    if (s == 0) {
        return v;
    }
    floor_ = kc_shift_floor(v, s);
    if (rounding == KC_FLOOR) {
        return floor_;
    }
    half = (int64_t)(((uint64_t)v >> (s - 1)) & 1U);
    if (rounding == KC_HALF_EVEN) {
        const uint64_t below = (uint64_t)v & ((UINT64_C(1) << (s - 1)) - 1U);
        if (below == 0U && ((uint64_t)floor_ & 1U) == 0U) {
            return floor_;
        }
    }
    return floor_ + half;
}

/* floor(v / 2^s); a negative s multiplies by 2^-s; -62 <= s <= 62. */
static inline int64_t kc_arithmetic_shift(int64_t v, int32_t s)
{
    return s >= 0 ? kc_shift_floor(v, s) : v * (INT64_C(1) << -s);
}

/* v limited to [lo, hi]. */
static inline int64_t kc_saturate(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : (v > hi ? hi : v);
}

/* v modulo 2^bits as a signed word of `bits` bits, 1 to 63. */
static inline int64_t kc_wrap(int64_t v, int32_t bits)
{
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    const uint64_t low = (uint64_t)v & ((sign << 1) - 1U);
    return (int64_t)(low & (sign - 1U)) - (int64_t)(low & sign);
}

/* The cast: v / 2^s rounded and saturated; a negative s multiplies exactly. */
static inline int64_t kc_requantise(int64_t v, int32_t s, int32_t rounding, int64_t lo, int64_t hi)
{
    return kc_saturate(s < 0 ? kc_arithmetic_shift(v, s) : kc_shift_round(v, s, rounding), lo, hi);
}

#endif
