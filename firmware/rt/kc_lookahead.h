/* kerncast runtime: look-ahead Levinson in 32-bit words, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * T. F. Chan, P. C. Hansen, "A look-ahead Levinson algorithm for general Toeplitz systems", IEEE Trans.
 * Signal Processing 40(5), 1992, for symmetric T. A vector has words w and one exponent e: an entry is w
 * 2^(e - 31). New vectors are summed in k->wide, where an entry is v 2^(e - 62).
 */
#ifndef KERNCAST_KC_LOOKAHEAD_H
#define KERNCAST_KC_LOOKAHEAD_H

#include <stdint.h>

#include "kc_real.h"
#include "kc_trace.h"

#define KC_REFINEMENTS 4
#define KC_GUARD 3
#define KC_EXP_MAX 64
#define KC_A_EXP_MAX 31
#define KC_GOOD (-7)
#define KC_NEAR_BEST (-3)
#define KC_SINGULAR (-20)
#define KC_ACCEPTED (-10)

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

/* c -= T_m v; returns its new exponent. */
static inline int32_t kc_lookahead_residual(const kc_lookahead_t *k, int32_t m, const int32_t *v,
    int32_t v_exp, int32_t *c, int32_t c_exp)
{
    const int32_t top = kc_lookahead_max(c_exp, v_exp + k->shift) + KC_GUARD;
    int32_t i;

    for (i = 0; i < m; i++) {
        const int32_t end = m - i - 1 < k->last_lag ? m : i + 1 + k->last_lag;
        int64_t acc = kc_mac(kc_lookahead_row(k, i, v, i), k->r0, v[i], k->shift);

        acc += kc_lookahead_dot_forward(k->r, -i, v, i + 1, end, k->shift);
        k->wide[i] = kc_align_to(kc_real_widen(c[i]), c_exp, top) - kc_align_to(acc, v_exp + k->shift, top);
    }
    c_exp = kc_lookahead_normalise_block(k->wide, top, m, KC_ZERO_EXP, c);
    KC_TRACE_ALL(residual, c, m, c, 0, m);
    return c_exp;
}

/* c = T_m^-1 c from g and a by the Gohberg-Semencul formula (G. Heinig, K. Rost, "Algebraic Methods for
 * Toeplitz-like Matrices and Operators", 1984); returns its new exponent. */
static inline int32_t kc_lookahead_apply_inverse(const kc_lookahead_t *k, int32_t m, int32_t *c,
    int32_t c_exp)
{
    int32_t *first = &k->b[k->n], *second = &k->b[2 * k->n];
    const int32_t a_exp = k->a_exp + k->shift, g_exp = k->g_exp + k->shift;
    int32_t i, j, first_exp, second_exp, top;

    for (i = 0; i < m; i++) {
        k->wide[i] = kc_lookahead_dot_forward(k->a, -i, c, i, m, k->shift);
    }
    first_exp = kc_lookahead_normalise_block(k->wide, a_exp + c_exp, m, KC_ZERO_EXP, first);
    KC_TRACE_ALL(apply_inverse, first, m, first, 0, m);
    for (i = 0; i < m; i++) {
        int64_t acc = 0;

        for (j = i + 1; j < m; j++) {
            acc = kc_mac(acc, k->g[m - (j - i)], c[j], k->shift);
        }
        k->wide[i] = acc;
    }
    second_exp = kc_lookahead_normalise_block(k->wide, g_exp + c_exp, m, KC_ZERO_EXP, second);
    KC_TRACE_ALL(apply_inverse, second, m, second, 0, m);
    top = kc_lookahead_max(g_exp + first_exp, a_exp + second_exp) + KC_GUARD;
    for (i = 0; i < m; i++) {
        const int64_t left = kc_lookahead_dot_reversed(k->g, i, first, i + 1, k->shift);
        const int64_t right = kc_lookahead_dot_forward(k->a, m - i, second, 0, i + 1, k->shift);

        k->wide[i] = kc_align_to(left, g_exp + first_exp, top) - kc_align_to(right, a_exp + second_exp, top);
    }
    c_exp = kc_lookahead_normalise_block(k->wide, top, m, KC_ZERO_EXP, c);
    KC_TRACE_ALL(apply_inverse, c, m, c, 0, m);
    return c_exp;
}

/* One Durbin update from order m to m + 1; returns the new eps. */
static inline kc_real_t kc_lookahead_single_step(kc_lookahead_t *k, int32_t m, kc_real_t eps)
{
    const kc_real_t one = kc_real(INT32_C(1) << 30, 1);
    const kc_real_t innov = kc_real_add_wide(kc_real_widen(k->y[m]), k->y_exp,
        -kc_lookahead_row(k, m, k->x, m), k->x_exp + k->shift);
    const kc_real_t num = kc_real_to_scalar(-kc_lookahead_row(k, m + 1, k->a, m + 1),
        k->a_exp + k->shift);
    const kc_real_t xi = kc_real_div(num, eps);
    const kc_real_t inverse = kc_real_div(one, eps);
    int32_t i;

    KC_TRACE(single_step, innov, m, 0, innov.q);
    KC_TRACE(single_step, xi, m, 0, xi.q);
    k->x[m] = 0;
    k->x_exp = kc_lookahead_add_scaled(k, m + 1, k->x, k->x_exp, kc_real_div(innov, eps), k->a, k->a_exp);
    KC_TRACE_ALL(single_step, x, m, k->x, 0, m + 1);
    for (i = 0; i <= m; i++) {
        k->wide[i] = kc_align_to((int64_t)inverse.q * k->a[i], inverse.e, inverse.e + 1);
    }
    k->g_exp = kc_lookahead_normalise_block(k->wide, inverse.e + 1 + k->a_exp, m + 1, KC_ZERO_EXP, k->g);
    KC_TRACE_ALL(single_step, g, m, k->g, 0, m + 1);
    k->a[m + 1] = 0;
    k->a_exp = kc_lookahead_add_scaled(k, m + 2, k->a, k->a_exp, xi, k->a, k->a_exp);
    KC_TRACE_ALL(single_step, a, m, k->a, 0, m + 2);
    eps = kc_real_mul(eps, kc_real_add(one, kc_real_neg(xi)));
    return kc_real_mul(eps, kc_real_add(one, xi));
}

/* Column j of B = T_m^-1 C from the one before. */
static inline void kc_lookahead_column(kc_lookahead_t *k, int32_t m, int32_t j)
{
    const int32_t *old = &k->b[(j - 1) * k->n];
    const int32_t old_exp = k->b_exp[j - 1], both_exp = k->b_exp[j - 1] + k->b_exp[0];
    const int64_t last = m > 0 ? old[m - 1] : 0;
    const kc_real_t c = kc_real_add_wide(kc_real_widen(k->r[m + j]), 0,
        -kc_lookahead_last_row(k, old, m), old_exp + k->shift);
    const int32_t top = kc_lookahead_max(kc_lookahead_max(old_exp, both_exp), c.e + k->g_exp) + KC_GUARD;
    int32_t i;

    for (i = 0; i < m; i++) {
        const int64_t shifted = i == 0 ? 0 : old[i - 1];

        k->wide[i] = kc_align_to(kc_real_widen(shifted), old_exp, top) + kc_align_to(last * k->b[i],
            both_exp, top)
            + kc_align_to((int64_t)c.q * k->g[i], c.e + k->g_exp, top);
    }
    k->b_exp[j] = kc_lookahead_normalise_block(k->wide, top, m, KC_ZERO_EXP, &k->b[j * k->n]);
    KC_TRACE_ALL(schur_complement, B, m + j, &k->b[j * k->n], 0, m);
}

/* B = T_m^-1 C and S = T_p - C'B, where T_{m+p} = [[T_m, C], [C', T_p]]. */
static inline void kc_lookahead_schur_complement(kc_lookahead_t *k, int32_t m, int32_t p, kc_real_t eps,
    kc_block_t S)
{
    int32_t i, j;

    for (i = 0; i < m; i++) {
        k->b[i] = -k->a[m - i];
    }
    k->b_exp[0] = k->a_exp;
    for (j = 1; j < p; j++) {
        kc_lookahead_column(k, m, j);
    }
    for (i = 0; i < p; i++) {
        for (j = 0; j <= i; j++) {
            const int64_t first = i == j ? k->r0 : k->r[i - j];

            S[i][j] = kc_real_add_wide(kc_real_widen(first), 0,
                -kc_lookahead_row(k, m + i, &k->b[j * k->n], m), k->b_exp[j] + k->shift);
            S[j][i] = S[i][j];
            KC_TRACE(schur_complement, S, m, i * KC_BLOCK + j, S[i][j].q);
        }
    }
    S[0][0] = eps; /* its exact value, without the rounding of a long sum */
}

/* Extend the solution of T_m v = c to m + p rows: [v - B z; z], S z = fresh - C'v; returns its exponent. */
static inline int32_t kc_lookahead_border(const kc_lookahead_t *k, int32_t m, int32_t p, int32_t *v,
    int32_t v_exp, int32_t min_exp, kc_real_t *fresh, kc_block_t inverse)
{
    kc_real_t z[KC_BLOCK];
    int32_t i, j, top = v_exp;

    for (i = 0; i < p; i++) {
        fresh[i] = kc_real_add_wide(kc_real_widen(fresh[i].q), fresh[i].e,
            -kc_lookahead_row(k, m + i, v, m), v_exp + k->shift);
    }
    for (i = 0; i < p; i++) {
        z[i] = kc_real(0, KC_ZERO_EXP);
        for (j = 0; j < p; j++) {
            z[i] = kc_real_add(z[i], kc_real_mul(inverse[i][j], fresh[j]));
        }
        KC_TRACE(border, z, m, i, z[i].q);
        top = kc_lookahead_max(top, kc_lookahead_max(z[i].e, z[i].e + k->b_exp[i]));
    }
    top += KC_GUARD;
    for (i = 0; i < m; i++) {
        int64_t acc = kc_align_to(kc_real_widen(v[i]), v_exp, top);

        for (j = 0; j < p; j++) {
            acc -= kc_align_to((int64_t)z[j].q * k->b[j * k->n + i], z[j].e + k->b_exp[j], top);
        }
        k->wide[i] = acc;
    }
    for (i = 0; i < p; i++) {
        k->wide[m + i] = kc_align_to(kc_real_widen(z[i].q), z[i].e, top);
    }
    return kc_lookahead_normalise_block(k->wide, top, m + p, min_exp, v);
}

/* One step of iterative refinement of T g = e_1 and T a[1..] = -(r_1, ..., r_m). */
static inline void kc_lookahead_correct(kc_lookahead_t *k, int32_t m)
{
    int32_t *dg = k->b, *da = &k->b[3 * k->n];
    int32_t i, dg_exp, da_exp;

    for (i = 0; i < m; i++) {
        dg[i] = i == 0 ? INT32_C(1) << 30 : 0;
        da[i] = -k->r[1 + i];
    }
    dg_exp = kc_lookahead_residual(k, m, k->g, k->g_exp, dg, 1);
    da_exp = kc_lookahead_residual(k, m, &k->a[1], k->a_exp, da, 0);
    dg_exp = kc_lookahead_apply_inverse(k, m, dg, dg_exp);
    da_exp = kc_lookahead_apply_inverse(k, m, da, da_exp);
    k->g_exp = kc_lookahead_add_vectors(k, m, k->g, k->g_exp, dg, dg_exp, KC_ZERO_EXP, k->g);
    KC_TRACE_ALL(block_step, refined_g, m, k->g, 0, m);
    k->a_exp = kc_lookahead_add_vectors(k, m, &k->a[1], k->a_exp, da, da_exp, 1, &k->a[1]);
    KC_TRACE_ALL(block_step, refined_a, m, k->a, 1, m + 1);
    k->a[0] = kc_lookahead_unit(k->a_exp);
}

/* One block step from order m to m + p; returns the new eps. */
static inline kc_real_t kc_lookahead_block_step(kc_lookahead_t *k, int32_t m, int32_t p, kc_block_t inverse)
{
    kc_real_t fresh[KC_BLOCK];
    int32_t i;

    for (i = 0; i < p; i++) {
        fresh[i] = m + i == 0 ? kc_real(INT32_C(1) << 30, 1) : kc_real(0, KC_ZERO_EXP);
    }
    k->g_exp = kc_lookahead_border(k, m, p, k->g, k->g_exp, KC_ZERO_EXP, fresh, inverse);
    KC_TRACE_ALL(block_step, g, m, k->g, 0, m + p);
    for (i = 0; i < p; i++) {
        fresh[i] = kc_real(-k->r[m + 1 + i], 0);
    }
    k->a_exp = kc_lookahead_border(k, m, p, &k->a[1], k->a_exp, 1, fresh, inverse);
    KC_TRACE_ALL(block_step, a, m, k->a, 1, m + p + 1);
    for (i = 0; i < p; i++) {
        fresh[i] = kc_real(k->y[m + i], k->y_exp);
    }
    k->x_exp = kc_lookahead_border(k, m, p, k->x, k->x_exp, KC_ZERO_EXP, fresh, inverse);
    KC_TRACE_ALL(block_step, x, m, k->x, 0, m + p);
    k->a[0] = kc_lookahead_unit(k->a_exp);
    kc_lookahead_correct(k, m + p);
    return kc_real_add_wide(kc_real_widen(k->r0), 0, kc_lookahead_last_row(k, &k->a[1], m + p),
        k->a_exp + k->shift);
}

/* Number of rows of the shortest well-conditioned block, and its inverse; 0 if there is none. */
static inline int32_t kc_lookahead_block_size(kc_block_t S, kc_block_t inverse, int32_t max_rows,
    kc_real_t level)
{
    kc_real_t best = kc_real(0, KC_ZERO_EXP); /* the smallest |S^-1| */
    int32_t p;

    for (p = 1; p <= max_rows; p++) {
        const kc_real_t norm = kc_real_invert(S, p, inverse);

        if (norm.q > 0 && (best.q == 0 || kc_real_lt(norm, best) != 0)) {
            best = norm;
        }
    }
    level.e += KC_SINGULAR;
    if (best.q == 0 || kc_real_lt(kc_real_mul(best, level), kc_real(INT32_C(1) << 30, 1)) == 0) {
        return 0;
    }
    best.e -= KC_NEAR_BEST;
    for (p = 1; p <= max_rows; p++) {
        const kc_real_t norm = kc_real_invert(S, p, inverse);

        if (norm.q > 0 && kc_real_lt(best, norm) == 0) {
            return p;
        }
    }
    return 0;
}

/* Correct x by T^-1 (y - T x) while that at least halves the residual; returns the 1-norm of the residual. */
static inline kc_real_t kc_lookahead_refine(kc_lookahead_t *k)
{
    int32_t *rest = k->b, *better = &k->b[3 * k->n];
    int32_t i, turn, rest_exp, better_exp;
    kc_real_t found, left;

    for (i = 0; i < k->n; i++) {
        rest[i] = k->y[i];
    }
    rest_exp = kc_lookahead_residual(k, k->n, k->x, k->x_exp, rest, k->y_exp);
    found = kc_lookahead_norm1(rest, rest_exp, k->n);
    for (turn = 0; turn < KC_REFINEMENTS; turn++) {
        rest_exp = kc_lookahead_apply_inverse(k, k->n, rest, rest_exp);
        better_exp = kc_lookahead_add_vectors(k, k->n, k->x, k->x_exp, rest, rest_exp, KC_ZERO_EXP, better);
        KC_TRACE_ALL(refine, better, turn, better, 0, k->n);
        for (i = 0; i < k->n; i++) {
            rest[i] = k->y[i];
        }
        rest_exp = kc_lookahead_residual(k, k->n, better, better_exp, rest, k->y_exp);
        left = kc_lookahead_norm1(rest, rest_exp, k->n);
        KC_TRACE(refine, norm, turn, 0, left.q);
        if (kc_real_lt(kc_real(left.q, left.e + 1), found) == 0) {
            break;
        }
        found = left;
        k->x_exp = better_exp;
        for (i = 0; i < k->n; i++) {
            k->x[i] = better[i];
        }
    }
    return found;
}

/* 1 if |eps| has fallen to 2^KC_GOOD of its recent level or below, else 0. */
static inline int32_t kc_lookahead_needs_block(kc_real_t eps, const kc_real_t *recent)
{
    int32_t i;

    for (i = 0; i < KC_BLOCK; i++) {
        if (kc_real_lt(kc_real(recent[i].q, recent[i].e + KC_GOOD), kc_real_abs(eps)) == 0) {
            return 1;
        }
    }
    return 0;
}

/* An upper bound of |r_i|. */
static inline kc_real_t kc_lookahead_level(const kc_lookahead_t *k)
{
    int64_t max_abs = kc_magnitude(k->r0);
    int32_t i;

    for (i = 1; i < k->n; i++) {
        const int64_t magnitude = kc_magnitude(k->r[i]);

        max_abs = magnitude > max_abs ? magnitude : max_abs;
    }
    return kc_real_to_scalar(kc_real_widen(max_abs), 0);
}

/* Begin at order 0. */
static inline void kc_lookahead_begin(kc_lookahead_t *k)
{
    int32_t i;

    k->level = kc_lookahead_level(k);
    for (i = 0; i < KC_BLOCK; i++) {
        k->recent[i] = k->level;
    }
    k->eps = kc_real_to_scalar(kc_real_widen(k->r0), 0);
    k->order = 0;
    k->r[k->n] = 0; /* used by the last predictor only, which is not needed */
    k->a[0] = INT32_C(1) << 30;
    k->a_exp = 1;
    k->g_exp = KC_ZERO_EXP;
    k->x_exp = KC_ZERO_EXP;
    k->steps = 0;
    k->positive = 1;
}

/* One step, by one to KC_BLOCK rows; 1, or 0 if no block of up to KC_BLOCK rows is well conditioned. */
static inline int32_t kc_lookahead_step(kc_lookahead_t *k)
{
    const int32_t m = k->order;
    kc_block_t S, inverse;
    int32_t p = 1;

    if (kc_lookahead_needs_block(k->eps, k->recent) != 0) {
        const int32_t max_rows = k->n - m < KC_BLOCK ? k->n - m : KC_BLOCK;

        kc_lookahead_schur_complement(k, m, max_rows, k->eps, S);
        p = kc_lookahead_block_size(S, inverse, max_rows, k->level);
        if (p == 0) {
            return 0;
        }
    }
    KC_TRACE(lookahead, p, m, 0, p);
    if (p > 1 || k->eps.q <= 0) {
        k->positive = 0;
    }
    k->eps = p == 1 ? kc_lookahead_single_step(k, m, k->eps) : kc_lookahead_block_step(k, m, p, inverse);
    KC_TRACE(lookahead, eps, m, 0, k->eps.q);
    KC_TRACE(lookahead, eps_exp, m, 0, k->eps.e);
    KC_TRACE(lookahead, a_exp, m, 0, k->a_exp);
    KC_TRACE(lookahead, g_exp, m, 0, k->g_exp);
    KC_TRACE(lookahead, x_exp, m, 0, k->x_exp);
    if (k->a_exp > KC_A_EXP_MAX || k->g_exp > KC_EXP_MAX || k->x_exp > KC_EXP_MAX) {
        return 0;
    }
    k->order = m + p;
    k->recent[k->steps % KC_BLOCK] = kc_real_abs(k->eps);
    k->blocks[k->steps] = (uint16_t)p;
    k->steps++;
    return 1;
}

/* Correct the solution of order n; 1, or 0 if the residual is too large. */
static inline int32_t kc_lookahead_finish(kc_lookahead_t *k)
{
    const kc_real_t found = kc_lookahead_refine(k);
    const kc_real_t y_norm = kc_lookahead_norm1(k->y, k->y_exp, k->n);

    return kc_real_lt(kc_real(y_norm.q, y_norm.e + KC_ACCEPTED), found) == 0;
}

#endif
