/* kerncast runtime: products, distances, quotients.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_ARITH_H
#define KERNCAST_KC_ARITH_H

#include <stdint.h>

#include "kc_bits.h"
#include "kc_bits_clz.h"
#include "kc_cast.h"

/* acc + floor(a * b / 2^s); the accumulator never saturates. */
static inline int64_t kc_mac(int64_t acc, int64_t a, int64_t b, int32_t s)
{
    return acc + kc_shift_floor(a * b, s);
}

/* acc + (u - v)^2 */
static inline int64_t kc_square_diff(int64_t acc, int64_t u, int64_t v)
{
    const int64_t d = u - v;
    return acc + d * d;
}

/* acc + |u - v| */
static inline int64_t kc_abs_diff(int64_t acc, int64_t u, int64_t v)
{
    return acc + (u > v ? u - v : v - u);
}

/* floor(a * c / 2^s), exact; 0 <= a, 0 <= c < 2^31, 0 <= s <= 62, result below 2^63. */
static inline int64_t kc_mul_shift(int64_t a, int64_t c, int32_t s)
{
    const int64_t high = (a >> 32) * c;
    const int64_t low = (a & INT64_C(0xFFFFFFFF)) * c;
    int64_t rest;
    uint64_t sum;

    if (s >= 32) {
        return (high + (low >> 32)) >> (s - 32);
    }
    /* unsigned, so that a product of damaged memory wraps */
    rest = low >> s;
    sum = ((uint64_t)high << (32 - s)) + (uint64_t)rest;
    return (int64_t)sum;
}

/* The shift e with 2^61 <= v * 2^e < 2^62; 0 < v < 2^62. */
static inline int32_t kc_normalisation_shift(int64_t v)
{
    return 62 - kc_bit_length(v);
}

/* floor(num / den), den > 0. */
static inline int64_t kc_floor_div(int64_t num, int64_t den)
{
    const int64_t quotient = num / den;
    return num % den < 0 ? quotient - 1 : quotient;
}

/* q with num / den = q * 2^(*exponent - 31) nearly, 2^30 <= |q| <= 2^31, or 0; den > 0. */
static inline int64_t kc_divide(int64_t num, int64_t den, int32_t *exponent)
{
    const int64_t size = num < 0 ? -num : num;
    int32_t up, up_den;
    int64_t d, n;

    *exponent = 0;
    if (num == 0) {
        return 0;
    }
    up = kc_normalisation_shift(size);
    up_den = kc_normalisation_shift(den);
    d = (den * (INT64_C(1) << up_den)) >> 31;
    n = num * (INT64_C(1) << up);
    *exponent = up_den - up;
    if (size * (INT64_C(1) << up) >= d * (INT64_C(1) << 31)) {
        n = kc_shift_floor(n, 1);
        *exponent += 1;
    }
    return kc_floor_div(n, d);
}

/* floor(num / den + 1/2); 0 <= num < 2^61, 0 < den < 2^61. */
static inline int64_t kc_divide_round(int64_t num, int64_t den)
{
    return (2 * num + den) / (2 * den);
}

/* One bit of a square root: x or x + bit, whose square is still at most v. */
static inline int64_t kc_isqrt_bit(int64_t v, int64_t x, int64_t bit)
{
    const int64_t trial = x + bit;

    return trial * trial <= v ? trial : x;
}

/* The smallest x with x * x >= v; 0 <= v < 2^62. */
static inline int64_t kc_isqrt_ceil(int64_t v)
{
    int64_t x = 0;
    int64_t bit;

    for (bit = INT64_C(1) << 30; bit != 0; bit /= 2) {
        x = kc_isqrt_bit(v, x, bit);
    }
    return x * x < v ? x + 1 : x;
}

#endif
