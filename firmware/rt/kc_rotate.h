/* kerncast runtime: Givens rotations of 32-bit words.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_ROTATE_H
#define KERNCAST_KC_ROTATE_H

#include <stdint.h>

#include "kc_rows.h"

/* Fraction bits of cosine and sine. */
#define KC_ROTATE_FRAC 30

/* A square root, rounded down, and what its square leaves of the operand. */
typedef struct {
    uint32_t root, rest;
} kc_root_t;

/* The root of v 2^(2 bits) + next, from that of v; the root of v is at least 2^(bits - 1), bits <= 8.
 * P. Zimmermann, "Karatsuba Square Root", INRIA report 3805 (1999). */
static inline kc_root_t kc_root_extend(kc_root_t v, uint32_t next, uint32_t bits)
{
    const uint32_t num = (v.rest << bits) + (next >> bits);
    const uint32_t digit = num / (2U * v.root);
    const uint32_t rest = ((num - digit * 2U * v.root) << bits) + (next & ((UINT32_C(1) << bits) - 1U));
    kc_root_t r;

    r.root = (v.root << bits) + digit;
    r.rest = rest - digit * digit;
    if (rest < digit * digit) {
        r.root--;
        r.rest += 2U * r.root + 1U;
    }
    return r;
}

/* The root of v >= 2^30. */
static inline kc_root_t kc_root_32(uint32_t v)
{
    const uint32_t top = v >> 24;
    kc_root_t r;

    r.root = top >= 144U ? 12U : 8U;
    r.root += top >= (r.root + 2U) * (r.root + 2U) ? 2U : 0U;
    r.root += top >= (r.root + 1U) * (r.root + 1U) ? 1U : 0U;
    r.rest = top - r.root * r.root;
    return kc_root_extend(kc_root_extend(r, (v >> 16) & 0xFFU, 4U), v & 0xFFFFU, 8U);
}

/* kc_isqrt_ceil by three 32-bit divisions. */
static inline uint32_t kc_isqrt_ceil_32(int64_t v)
{
    const int32_t up = (64 - kc_bit_length(v)) & ~INT32_C(1);
    uint64_t scaled, rest;
    uint32_t num, digit, root, low;
    kc_root_t high;

    if (v == 0) {
        return 0U;
    }
    scaled = (uint64_t)v << up;
    high = kc_root_32((uint32_t)(scaled >> 32));
    low = (uint32_t)scaled;
    num = (high.rest << 15) + (low >> 17); /* half of what high.root gets */
    digit = num / high.root;
    rest = ((uint64_t)(2U * (num - digit * high.root) + ((low >> 16) & 1U)) << 16) + (low & 0xFFFFU);
    root = (high.root << 16) + digit;
    if (rest < (uint64_t)digit * digit) {
        root--;
    }
    root >>= up / 2;
    return (uint64_t)root * root < (uint64_t)v ? root + 1U : root;
}

/* The root of a^2 + b^2, rounded up, and cosine and sine: a and b times the reciprocal of the root. */
typedef struct {
    int32_t cosine, sine;
    uint32_t root;
} kc_rotation_t;

/* 0 < a; cosine^2 + sine^2 <= 1, since both are rounded toward zero. */
static inline kc_rotation_t kc_rotation(int32_t a, int32_t b)
{
    const int64_t most = (INT64_C(1) << 62) - 1, square = (int64_t)a * a + (int64_t)b * b;
    const uint32_t size = b < 0 ? ~(uint32_t)b + 1U : (uint32_t)b;
    kc_rotation_t r;
    uint32_t reciprocal, sine;
    int32_t exponent;

    r.root = kc_isqrt_ceil_32(square < most ? square : most);
    reciprocal = (uint32_t)kc_quotient(1, r.root, &exponent);
    r.cosine = (int32_t)(((uint64_t)(uint32_t)a * reciprocal) >> (1 - exponent));
    sine = (uint32_t)(((uint64_t)size * reciprocal) >> (1 - exponent));
    r.sine = b < 0 ? -(int32_t)sine : (int32_t)sine;
    return r;
}

/* v / 2^30, rounded half up and wrapped to 32 bits; |v| <= 2^62. */
static inline int32_t kc_rotate_fit(int64_t v)
{
    const uint32_t word = (uint32_t)((uint64_t)(v + (INT64_C(1) << (KC_ROTATE_FRAC - 1))) >> KC_ROTATE_FRAC);

    return word <= (uint32_t)INT32_MAX ? (int32_t)word : -(int32_t)(UINT32_MAX - word) - 1;
}

/* Rotate two words: u <- cosine u + sine v, v <- cosine v - sine u. */
static inline void kc_rotate_words(kc_rotation_t r, int32_t *u, int32_t *v)
{
    const int64_t above = *u, below = *v;

    *u = kc_rotate_fit(r.cosine * above + r.sine * below);
    *v = kc_rotate_fit(r.cosine * below - r.sine * above);
}

#endif
