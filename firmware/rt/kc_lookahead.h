/* kerncast runtime: look-ahead Levinson in 32-bit words, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * T. F. Chan, P. C. Hansen, "A look-ahead Levinson algorithm for general Toeplitz systems", IEEE Trans.
 * Signal Processing 40(5), 1992, for symmetric T.
 */
#ifndef KERNCAST_KC_LOOKAHEAD_H
#define KERNCAST_KC_LOOKAHEAD_H

#include "kc_lookahead_correct.h"

#define KC_EXP_MAX 64
#define KC_A_EXP_MAX 31
#define KC_GOOD (-7)
#define KC_NEAR_BEST (-3)
#define KC_SINGULAR (-20)
#define KC_ACCEPTED (-10)

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

/* One block step from order m to m + p, but for the correction of g and a, which starts here. */
static inline void kc_lookahead_block_step(kc_lookahead_t *k, int32_t m, int32_t p, kc_block_t inverse)
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
    kc_correction_begin(k, KC_OF_G);
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

/* End a step of p rows; 1, or 0 if a vector has become too large. */
static inline int32_t kc_lookahead_accept(kc_lookahead_t *k, int32_t p)
{
    const int32_t m = k->order;

    KC_TRACE(lookahead, eps, m, 0, k->eps.q);
    KC_TRACE(lookahead, eps_exp, m, 0, k->eps.e);
    KC_TRACE(lookahead, a_exp, m, 0, k->a_exp);
    KC_TRACE(lookahead, g_exp, m, 0, k->g_exp);
    KC_TRACE(lookahead, x_exp, m, 0, k->x_exp);
    if (k->a_exp > KC_A_EXP_MAX || k->g_exp > KC_EXP_MAX || k->x_exp > KC_EXP_MAX) {
        k->blocks[k->steps] = 0; /* these rows are not solved */
        return 0;
    }
    k->order = m + p;
    k->recent[k->steps % KC_BLOCK] = kc_real_abs(k->eps);
    k->steps++;
    return 1;
}

/* Solve one to KC_BLOCK more rows; 1, or 0 if no block of up to KC_BLOCK rows is well conditioned. */
static inline int32_t kc_lookahead_extend(kc_lookahead_t *k)
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
    k->blocks[k->steps] = (uint16_t)p;
    if (p > 1) {
        kc_lookahead_block_step(k, m, p, inverse);
        return 1;
    }
    k->eps = kc_lookahead_single_step(k, m, k->eps);
    return kc_lookahead_accept(k, 1);
}

/* The end of a correction: 1, or 0 if a vector or the residual of the solution is too large. */
static inline int32_t kc_lookahead_corrected(kc_lookahead_t *k)
{
    if (k->order < k->n) {
        const int32_t p = k->blocks[k->steps];

        k->eps = kc_real_add_wide(kc_real_widen(k->r0), 0,
            kc_lookahead_last_row(k, &k->a[1], k->order + p), k->a_exp + k->shift);
        return kc_lookahead_accept(k, p);
    } else {
        const kc_real_t y_norm = kc_lookahead_norm1(k->y, k->y_exp, k->n);
        const kc_real_t accepted = kc_real(y_norm.q, y_norm.e + KC_ACCEPTED);

        return kc_real_lt(accepted, k->correction.found) == 0;
    }
}

/* Do O(n) of the work: solve more rows, or correct. Returns 1, or 0 if there is no solution. */
static inline int32_t kc_lookahead_step(kc_lookahead_t *k)
{
    if (k->correction.task == KC_TASK_NONE && k->order < k->n) {
        return kc_lookahead_extend(k);
    }
    if (k->correction.task == KC_TASK_NONE) {
        kc_correction_begin(k, KC_OF_X);
        return 1;
    }
    kc_correction_step(k);
    return k->correction.task == KC_TASK_NONE ? kc_lookahead_corrected(k) : 1;
}

/* 1 if all rows are solved and the solution is corrected, else 0. */
static inline int32_t kc_lookahead_is_done(const kc_lookahead_t *k)
{
    return k->order == k->n && k->correction.task == KC_TASK_NONE && k->correction.of >= KC_OF_X ? 1 : 0;
}

#endif
