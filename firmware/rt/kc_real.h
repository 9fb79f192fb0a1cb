/* kerncast runtime: 31-bit scalars with an exponent, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * A scalar (q, e) is q 2^(e - 31), 2^30 <= |q| < 2^31; zero is (0, KC_ZERO_EXP). A wide number (v, e),
 * |v| <= 2^62, is v 2^(e - 62).
 */
#ifndef KERNCAST_KC_REAL_H
#define KERNCAST_KC_REAL_H

#include <stdint.h>

#include "kc_arith.h"

#define KC_BLOCK 4 /* maximum order of a block */
#define KC_WORD_MAX INT64_C(0x7FFFFFFF) /* the largest word */
#define KC_ZERO_EXP (-512) /* the exponent of zero */

typedef struct {
    int32_t q;
    int32_t e;
} kc_real_t;

typedef kc_real_t kc_block_t[KC_BLOCK][KC_BLOCK];

/* The scalar of a word and its exponent. */
static inline kc_real_t kc_real(int32_t q, int32_t e)
{
    kc_real_t scalar;

    scalar.q = q;
    scalar.e = e;
    return scalar;
}

/* Round a wide number to a scalar, half up. */
static inline kc_real_t kc_real_to_scalar(int64_t v, int32_t e)
{
    int32_t s;

    if (v == 0) {
        return kc_real(0, KC_ZERO_EXP);
    }
    s = kc_bit_length(kc_magnitude(v)) - 31;
    return kc_real((int32_t)kc_requantise(v, s, KC_HALF_UP, -KC_WORD_MAX, KC_WORD_MAX), e - 31 + s);
}

/* Shift v from exponent e to exponent top; top >= e - 62. */
static inline int64_t kc_align_to(int64_t v, int32_t e, int32_t top)
{
    return kc_arithmetic_shift(v, top - e < 62 ? top - e : 62);
}

/* A word as a wide number of the same exponent. */
static inline int64_t kc_real_widen(int64_t word)
{
    return word * (INT64_C(1) << 31);
}

/* The sum of two wide numbers, each rounded down to a common exponent. */
static inline kc_real_t kc_real_add_wide(int64_t v, int32_t e, int64_t u, int32_t f)
{
    const int32_t top = (e > f ? e : f) + 1;

    return kc_real_to_scalar(kc_align_to(v, e, top) + kc_align_to(u, f, top), top);
}

static inline kc_real_t kc_real_add(kc_real_t a, kc_real_t b)
{
    return kc_real_add_wide(kc_real_widen(a.q), a.e, kc_real_widen(b.q), b.e);
}

static inline kc_real_t kc_real_mul(kc_real_t a, kc_real_t b)
{
    return kc_real_to_scalar((int64_t)a.q * b.q, a.e + b.e);
}

/* a / b; b is not 0. */
static inline kc_real_t kc_real_div(kc_real_t a, kc_real_t b)
{
    const int64_t num = b.q > 0 ? a.q : -(int64_t)a.q;
    const int64_t den = b.q > 0 ? b.q : -(int64_t)b.q;
    int32_t up;
    int64_t quotient;

    if (a.q == 0) {
        return kc_real(0, KC_ZERO_EXP);
    }
    quotient = kc_divide(num, den, &up);
    return kc_real((int32_t)kc_saturate(quotient, -KC_WORD_MAX, KC_WORD_MAX), up + a.e - b.e);
}

static inline kc_real_t kc_real_neg(kc_real_t a)
{
    return kc_real(-a.q, a.e);
}

static inline kc_real_t kc_real_abs(kc_real_t a)
{
    return kc_real(a.q < 0 ? -a.q : a.q, a.e);
}

/* 1 if a < b, else 0. */
static inline int32_t kc_real_lt(kc_real_t a, kc_real_t b)
{
    return kc_real_add(a, kc_real_neg(b)).q < 0;
}

/* Gauss-Jordan elimination of column c: `rest` becomes the identity there; 0 if the pivot is 0. */
static inline int32_t kc_real_eliminate(int32_t c, int32_t p, kc_block_t rest, kc_block_t inverse)
{
    int32_t i, j, pivot = c;
    kc_real_t head;

    for (i = c + 1; i < p; i++) {
        if (kc_real_lt(kc_real_abs(rest[pivot][c]), kc_real_abs(rest[i][c])) != 0) {
            pivot = i;
        }
    }
    head = rest[pivot][c];
    if (head.q == 0) {
        return 0;
    }
    for (j = 0; j < p; j++) {
        const kc_real_t left = rest[pivot][j];
        const kc_real_t right = inverse[pivot][j];

        rest[pivot][j] = rest[c][j];
        inverse[pivot][j] = inverse[c][j];
        rest[c][j] = kc_real_div(left, head);
        inverse[c][j] = kc_real_div(right, head);
    }
    for (i = 0; i < p; i++) {
        const kc_real_t factor = i == c ? kc_real(0, KC_ZERO_EXP) : kc_real_neg(rest[i][c]);

        for (j = 0; j < p; j++) {
            rest[i][j] = kc_real_add(rest[i][j], kc_real_mul(factor, rest[c][j]));
            inverse[i][j] = kc_real_add(inverse[i][j], kc_real_mul(factor, inverse[c][j]));
        }
    }
    return 1;
}

/* The inverse of the leading p by p block of S; |S^-1| in the norm of row sums, 0 if singular. */
static inline kc_real_t kc_real_invert(kc_block_t S, int32_t p, kc_block_t inverse)
{
    kc_block_t rest;
    kc_real_t norm = kc_real(0, KC_ZERO_EXP);
    int32_t i, j;

    for (i = 0; i < p; i++) {
        for (j = 0; j < p; j++) {
            rest[i][j] = S[i][j];
            inverse[i][j] = i == j ? kc_real(INT32_C(1) << 30, 1) : kc_real(0, KC_ZERO_EXP);
        }
    }
    for (i = 0; i < p; i++) {
        if (kc_real_eliminate(i, p, rest, inverse) == 0) {
            return kc_real(0, KC_ZERO_EXP);
        }
    }
    for (i = 0; i < p; i++) {
        kc_real_t row = kc_real(0, KC_ZERO_EXP);

        for (j = 0; j < p; j++) {
            row = kc_real_add(row, kc_real_abs(inverse[i][j]));
        }
        if (kc_real_lt(norm, row) != 0) {
            norm = row;
        }
    }
    return norm;
}

#endif
