/* kerncast runtime: scalars of 31 bits with an exponent, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * Step by step sim/model/reals.py.  (q, e) is worth q 2^(e - 31), 2^30 <= |q| < 2^31, and zero is
 * (0, KC_LEAST); a wide one (v, e), |v| <= 2^62, is worth v 2^(e - 62).
 */
#ifndef KERNCAST_KC_REAL_H
#define KERNCAST_KC_REAL_H

#include <stdint.h>

#include "kc_arith.h"

#define KC_BLOCK 4 /* order of a small matrix, at most */
#define KC_WORD INT64_C(0x7FFFFFFF) /* the largest word */
#define KC_LEAST (-512) /* the exponent of zero */

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

/* A wide number as a scalar, half up. */
static inline kc_real_t kc_real_short(int64_t v, int32_t e)
{
    int32_t s;

    if (v == 0) {
        return kc_real(0, KC_LEAST);
    }
    s = kc_bit_length(kc_magnitude(v)) - 31;
    return kc_real((int32_t)kc_narrow(v, s, KC_HALF_UP, -KC_WORD, KC_WORD), e - 31 + s);
}

/* v of exponent e at exponent top, no less. */
static inline int64_t kc_below(int64_t v, int32_t e, int32_t top)
{
    return kc_align(v, top - e < 62 ? top - e : 62);
}

/* The wide number of a word. */
static inline int64_t kc_wide(int64_t word)
{
    return word * (INT64_C(1) << 31);
}

/* The sum of two wide numbers, each rounded down to a common exponent. */
static inline kc_real_t kc_real_add(int64_t v, int32_t e, int64_t u, int32_t f)
{
    const int32_t top = (e > f ? e : f) + 1;

    return kc_real_short(kc_below(v, e, top) + kc_below(u, f, top), top);
}

static inline kc_real_t kc_real_plus(kc_real_t a, kc_real_t b)
{
    return kc_real_add(kc_wide(a.q), a.e, kc_wide(b.q), b.e);
}

static inline kc_real_t kc_real_times(kc_real_t a, kc_real_t b)
{
    return kc_real_short((int64_t)a.q * b.q, a.e + b.e);
}

/* The quotient; b is not 0. */
static inline kc_real_t kc_real_over(kc_real_t a, kc_real_t b)
{
    const int64_t num = b.q > 0 ? a.q : -(int64_t)a.q;
    const int64_t den = b.q > 0 ? b.q : -(int64_t)b.q;
    int32_t up;
    int64_t quotient;

    if (a.q == 0) {
        return kc_real(0, KC_LEAST);
    }
    quotient = kc_divide(num, den, &up);
    return kc_real((int32_t)kc_saturate(quotient, -KC_WORD, KC_WORD), up + a.e - b.e);
}

static inline kc_real_t kc_real_minus(kc_real_t a)
{
    return kc_real(-a.q, a.e);
}

static inline kc_real_t kc_real_size(kc_real_t a)
{
    return kc_real(a.q < 0 ? -a.q : a.q, a.e);
}

/* Whether a is less than b. */
static inline int32_t kc_real_less(kc_real_t a, kc_real_t b)
{
    return kc_real_plus(a, kc_real_minus(b)).q < 0;
}

/* One step of Gauss and Jordan's elimination: column c of `rest` to that of the identity; 0 if it cannot. */
static inline int32_t kc_real_eliminate(int32_t c, int32_t p, kc_block_t rest, kc_block_t inverse)
{
    int32_t i, j, pivot = c;
    kc_real_t head;

    for (i = c + 1; i < p; i++) {
        if (kc_real_less(kc_real_size(rest[pivot][c]), kc_real_size(rest[i][c])) != 0) {
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
        rest[c][j] = kc_real_over(left, head);
        inverse[c][j] = kc_real_over(right, head);
    }
    for (i = 0; i < p; i++) {
        const kc_real_t factor = i == c ? kc_real(0, KC_LEAST) : kc_real_minus(rest[i][c]);

        for (j = 0; j < p; j++) {
            rest[i][j] = kc_real_plus(rest[i][j], kc_real_times(factor, rest[c][j]));
            inverse[i][j] = kc_real_plus(inverse[i][j], kc_real_times(factor, inverse[c][j]));
        }
    }
    return 1;
}

/* The inverse of the leading p by p block of S; |S^-1| in the norm of row sums, 0 if singular. */
static inline kc_real_t kc_real_invert(kc_block_t S, int32_t p, kc_block_t inverse)
{
    kc_block_t rest;
    kc_real_t norm = kc_real(0, KC_LEAST);
    int32_t i, j;

    for (i = 0; i < p; i++) {
        for (j = 0; j < p; j++) {
            rest[i][j] = S[i][j];
            inverse[i][j] = i == j ? kc_real(INT32_C(1) << 30, 1) : kc_real(0, KC_LEAST);
        }
    }
    for (i = 0; i < p; i++) {
        if (kc_real_eliminate(i, p, rest, inverse) == 0) {
            return kc_real(0, KC_LEAST);
        }
    }
    for (i = 0; i < p; i++) {
        kc_real_t row = kc_real(0, KC_LEAST);

        for (j = 0; j < p; j++) {
            row = kc_real_plus(row, kc_real_size(inverse[i][j]));
        }
        if (kc_real_less(norm, row) != 0) {
            norm = row;
        }
    }
    return norm;
}

#endif
