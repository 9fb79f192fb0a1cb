/* kerncast runtime: vectors and state of look-ahead Levinson in 32-bit words, header only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A vector has words w and one exponent e: an entry is w 2^(e - 31). New vectors are summed in k->wide, where
 * an entry is v 2^(e - 62).
 */
#ifndef KERNCAST_KC_LOOKAHEAD_VECTORS_H
#define KERNCAST_KC_LOOKAHEAD_VECTORS_H

#include <stdint.h>

#include "kc_real.h"
#include "kc_trace.h"

#define KC_GUARD 3

/* A correction in progress: v += T_m^-1 (c - T_m v), some rows of one product per step. */
typedef struct {
    int32_t task; /* KC_TASK_*: the product that the next rows belong to */
    int32_t of; /* KC_OF_*: the vector v */
    int32_t row; /* the next row */
    int32_t turn; /* corrections of the solution so far */
    int32_t exps[KC_BLOCK]; /* exponents of the columns, which hold the vectors of the correction */
    kc_real_t found; /* 1-norm of the residual of the solution */
} kc_correction_t;

typedef struct {
    int32_t n;
    int32_t shift; /* right shift so that a sum of n products fits */
    int64_t r0; /* diagonal of T: a word, or 2^31 */
    int32_t *r; /* n + 1: first row of T except r0; the last entry is set to zero */
    const int32_t *y; /* n: right-hand side */
    int32_t *a; /* n + 1: predictor */
    int32_t *g; /* n: first column of the inverse */
    int32_t *b; /* KC_BLOCK * n: columns of T_m^-1 C, and workspace for corrections */
    int32_t *x; /* n: receives the solution */
    int64_t *wide; /* n + 1: workspace for one vector */
    uint16_t *blocks; /* n: receives the sizes of the steps */
    int32_t y_exp, a_exp, g_exp, x_exp;
    int32_t b_exp[KC_BLOCK];
    int32_t steps; /* receives their count */
    int32_t positive; /* receives 1 if every step was single with a positive eps, else 0 */
    int32_t order; /* rows solved so far */
    int32_t last_lag; /* from there on r is zero, except for this entry */
    kc_real_t eps; /* prediction error power after the last step */
    kc_real_t level; /* an upper bound of |r_i| */
    kc_real_t recent[KC_BLOCK]; /* |eps| of the last KC_BLOCK regular orders */
    kc_correction_t correction;
} kc_lookahead_t;

static inline int32_t kc_lookahead_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Round wide[..count) to words with the smallest exponent that holds them, at least min_exp; returns it. */
static inline int32_t kc_lookahead_normalise_block(const int64_t *wide, int32_t e, int32_t count,
    int32_t min_exp, int32_t *out)
{
    int64_t used = 0;
    int32_t i, s;

    for (i = 0; i < count; i++) {
        const int64_t magnitude = kc_magnitude(wide[i]);

        used = magnitude > used ? magnitude : used;
    }
    if (used == 0) {
        for (i = 0; i < count; i++) {
            out[i] = 0;
        }
        return min_exp;
    }
    s = kc_lookahead_max(kc_bit_length(used) - 31, min_exp + 31 - e);
    s = s < 62 ? s : 62;
    for (i = 0; i < count; i++) {
        out[i] = (int32_t)kc_requantise(wide[i], s, KC_HALF_UP, -KC_WORD_MAX, KC_WORD_MAX);
    }
    return kc_lookahead_max(e - 31 + s, min_exp);
}

/* sum_i first[at - i] second[i], i < count: the product of a Toeplitz row and a vector. */
static inline int64_t kc_lookahead_dot_reversed(const int32_t *first, int32_t at, const int32_t *second,
    int32_t count, int32_t shift)
{
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc = kc_mac(acc, first[at - i], second[i], shift);
    }
    return acc;
}

/* sum_j first[at + j] second[j], start <= j < end. */
static inline int64_t kc_lookahead_dot_forward(const int32_t *first, int32_t at, const int32_t *second,
    int32_t start, int32_t end, int32_t shift)
{
    int64_t acc = 0;
    int32_t j;

    for (j = start; j < end; j++) {
        acc = kc_mac(acc, first[at + j], second[j], shift);
    }
    return acc;
}

/* sum_i r[at - i] v[i], i < count, without the lags at which r is zero: row `at` of T by a vector. */
static inline int64_t kc_lookahead_row(const kc_lookahead_t *k, int32_t at, const int32_t *v, int32_t count)
{
    int64_t acc = 0;
    int32_t i;

    for (i = kc_lookahead_max(at - k->last_lag, 0); i < count; i++) {
        acc = kc_mac(acc, k->r[at - i], v[i], k->shift);
    }
    return acc;
}

/* sum_j r[1 + j] v[j], j < count, without the lags at which r is zero. */
static inline int64_t kc_lookahead_last_row(const kc_lookahead_t *k, const int32_t *v, int32_t count)
{
    return kc_lookahead_dot_forward(k->r, 1, v, 0, count < k->last_lag ? count : k->last_lag, k->shift);
}

/* The sum of magnitudes. */
static inline kc_real_t kc_lookahead_norm1(const int32_t *v, int32_t e, int32_t count)
{
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc += v[i] > 0 ? (int64_t)v[i] : -(int64_t)v[i];
    }
    return kc_real_to_scalar(acc, e + 31);
}

/* The word for 1.0 at exponent e >= 1; 1 if it is below one LSB. */
static inline int32_t kc_lookahead_unit(int32_t e)
{
    return e < 31 ? (int32_t)(INT32_C(1) << (31 - e)) : 1;
}

/* v += c * (u[count - 1], ..., u[0]); returns the new exponent of v. */
static inline int32_t kc_lookahead_add_scaled(const kc_lookahead_t *k, int32_t count, int32_t *v,
    int32_t v_exp, kc_real_t c, const int32_t *u, int32_t u_exp)
{
    const int32_t top = kc_lookahead_max(v_exp, c.e + u_exp) + KC_GUARD;
    int32_t i;

    for (i = 0; i < count; i++) {
        k->wide[i] = kc_align_to(kc_real_widen(v[i]), v_exp, top)
            + kc_align_to((int64_t)c.q * u[count - 1 - i], c.e + u_exp, top);
    }
    return kc_lookahead_normalise_block(k->wide, top, count, KC_ZERO_EXP, v);
}

/* out = v + d; returns its exponent. */
static inline int32_t kc_lookahead_add_vectors(const kc_lookahead_t *k, int32_t m, const int32_t *v,
    int32_t v_exp,
    const int32_t *d, int32_t d_exp, int32_t min_exp, int32_t *out)
{
    const int32_t top = kc_lookahead_max(v_exp, d_exp) + KC_GUARD;
    int32_t i;

    for (i = 0; i < m; i++) {
        k->wide[i] = kc_align_to(kc_real_widen(v[i]), v_exp, top) + kc_align_to(kc_real_widen(d[i]), d_exp,
            top);
    }
    return kc_lookahead_normalise_block(k->wide, top, m, min_exp, out);
}

#endif
