/* kerncast runtime: corrections of look-ahead Levinson, some rows per step, header only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One step of iterative refinement replaces v by v + T_m^-1 (c - T_m v). T_m^-1 is applied by the
 * Gohberg-Semencul formula (G. Heinig, K. Rost, "Algebraic Methods for Toeplitz-like Matrices and Operators",
 * 1984) in three products with triangular Toeplitz matrices. The four columns of k->b hold the residual, two
 * products, and a second residual or the corrected solution.
 */
#ifndef KERNCAST_KC_LOOKAHEAD_CORRECT_H
#define KERNCAST_KC_LOOKAHEAD_CORRECT_H

#include "kc_lookahead_vectors.h"

#define KC_REFINEMENTS 4
#define KC_CORRECTION_ROWS 8 /* rows per step: with them a step takes no longer than one that solves a block */

#define KC_TASK_NONE 0
#define KC_TASK_RESIDUAL 1 /* c - T_m v */
#define KC_TASK_UPPER_A 2 /* the upper triangular factor of a, times the residual */
#define KC_TASK_UPPER_G 3 /* that of g */
#define KC_TASK_LOWER 4 /* the lower triangular factors, times these products */

#define KC_OF_G 0 /* the first column of the inverse */
#define KC_OF_A 1 /* the predictor */
#define KC_OF_X 2 /* the solution */
#define KC_OF_BETTER 3 /* the corrected solution, in column 3 */

/* The column that holds the residual. */
static inline int32_t kc_correction_column(const kc_lookahead_t *k)
{
    return k->correction.of == KC_OF_A ? 3 : 0;
}

/* The order of T_m: the rows of the current block included. */
static inline int32_t kc_correction_order(const kc_lookahead_t *k)
{
    return k->correction.of < KC_OF_X ? k->order + k->blocks[k->steps] : k->n;
}

/* The vector that is corrected, and its exponent. */
static inline const int32_t *kc_correction_vector(const kc_lookahead_t *k, int32_t *e)
{
    switch (k->correction.of) {
    case KC_OF_G:
        *e = k->g_exp;
        return k->g;
    case KC_OF_A:
        *e = k->a_exp;
        return &k->a[1];
    case KC_OF_X:
        *e = k->x_exp;
        return k->x;
    default:
        *e = k->correction.exps[3];
        return &k->b[3 * k->n];
    }
}

static inline void kc_correction_enter(kc_lookahead_t *k, int32_t of, int32_t task)
{
    k->correction.of = of;
    k->correction.task = task;
    k->correction.row = 0;
}

/* Begin with the residual of a vector: T g = e_1, T a[1..] = -(r_1, ..., r_m), or T x = y. */
static inline void kc_correction_begin(kc_lookahead_t *k, int32_t of)
{
    int32_t i, m, *c;

    kc_correction_enter(k, of, KC_TASK_RESIDUAL);
    m = kc_correction_order(k);
    c = &k->b[kc_correction_column(k) * k->n];
    k->correction.turn = of == KC_OF_BETTER ? k->correction.turn : 0;
    k->correction.exps[kc_correction_column(k)] = of == KC_OF_G ? 1 : of == KC_OF_A ? 0 : k->y_exp;
    for (i = 0; i < m; i++) {
        if (of == KC_OF_G) {
            c[i] = i == 0 ? INT32_C(1) << 30 : 0;
        } else {
            c[i] = of == KC_OF_A ? -k->r[1 + i] : k->y[i];
        }
    }
}

/* Row i of T_m v. */
static inline int64_t kc_correction_product(const kc_lookahead_t *k, const int32_t *v, int32_t m, int32_t i)
{
    const int32_t end = m - i - 1 < k->last_lag ? m : i + 1 + k->last_lag;
    const int64_t acc = kc_mac(kc_lookahead_row(k, i, v, i), k->r0, v[i], k->shift);

    return acc + kc_lookahead_dot_forward(k->r, -i, v, i + 1, end, k->shift);
}

/* sum_j g[m - (j - i)] c[j], i < j < m. */
static inline int64_t kc_correction_upper_g(const kc_lookahead_t *k, const int32_t *c, int32_t m, int32_t i)
{
    int64_t acc = 0;
    int32_t j;

    for (j = i + 1; j < m; j++) {
        acc = kc_mac(acc, k->g[m - (j - i)], c[j], k->shift);
    }
    return acc;
}

/* The exponent of k->wide in the current task. */
static inline int32_t kc_correction_top(const kc_lookahead_t *k)
{
    const int32_t *exps = k->correction.exps;
    const int32_t c_exp = exps[kc_correction_column(k)];
    int32_t v_exp;

    (void)kc_correction_vector(k, &v_exp);
    switch (k->correction.task) {
    case KC_TASK_RESIDUAL:
        return kc_lookahead_max(c_exp, v_exp + k->shift) + KC_GUARD;
    case KC_TASK_UPPER_A:
        return k->a_exp + k->shift + c_exp;
    case KC_TASK_UPPER_G:
        return k->g_exp + k->shift + c_exp;
    default:
        return kc_lookahead_max(k->g_exp + exps[1], k->a_exp + exps[2]) + k->shift + KC_GUARD;
    }
}

/* Row i of the current task, to k->wide at exponent top. */
static inline void kc_correction_row(const kc_lookahead_t *k, int32_t m, int32_t i, int32_t top)
{
    const int32_t *exps = k->correction.exps;
    const int32_t *c = &k->b[kc_correction_column(k) * k->n];
    int32_t v_exp;
    const int32_t *v = kc_correction_vector(k, &v_exp);
    int64_t left, right;

    switch (k->correction.task) {
    case KC_TASK_RESIDUAL:
        left = kc_align_to(kc_real_widen(c[i]), exps[kc_correction_column(k)], top);
        right = kc_align_to(kc_correction_product(k, v, m, i), v_exp + k->shift, top);
        break;
    case KC_TASK_UPPER_A:
        left = kc_lookahead_dot_forward(k->a, -i, c, i, m, k->shift);
        right = 0;
        break;
    case KC_TASK_UPPER_G:
        left = kc_correction_upper_g(k, c, m, i);
        right = 0;
        break;
    default:
        left = kc_align_to(kc_lookahead_dot_reversed(k->g, i, &k->b[k->n], i + 1, k->shift),
            k->g_exp + k->shift + exps[1], top);
        right = kc_align_to(kc_lookahead_dot_forward(k->a, m - i, &k->b[2 * k->n], 0, i + 1, k->shift),
            k->a_exp + k->shift + exps[2], top);
        break;
    }
    k->wide[i] = left - right;
}

/* Add the corrections of g and a. */
static inline void kc_correction_add(kc_lookahead_t *k, int32_t m)
{
    const int32_t *exps = k->correction.exps;

    k->g_exp = kc_lookahead_add_vectors(k, m, k->g, k->g_exp, k->b, exps[0], KC_ZERO_EXP, k->g);
    KC_TRACE_ALL(block_step, refined_g, m, k->g, 0, m);
    k->a_exp = kc_lookahead_add_vectors(k, m, &k->a[1], k->a_exp, &k->b[3 * k->n], exps[3], 1, &k->a[1]);
    KC_TRACE_ALL(block_step, refined_a, m, k->a, 1, m + 1);
    k->a[0] = kc_lookahead_unit(k->a_exp);
}

/* Take the corrected solution and correct again if its residual is at most half as large; else end. */
static inline void kc_correction_compare(kc_lookahead_t *k)
{
    const kc_real_t left = kc_lookahead_norm1(k->b, k->correction.exps[0], k->n);
    int32_t i;

    KC_TRACE(refine, norm, k->correction.turn, 0, left.q);
    if (kc_real_lt(kc_real(left.q, left.e + 1), k->correction.found) == 0) {
        k->correction.task = KC_TASK_NONE;
        return;
    }
    k->correction.found = left;
    k->x_exp = k->correction.exps[3];
    for (i = 0; i < k->n; i++) {
        k->x[i] = k->b[3 * k->n + i];
    }
    k->correction.turn++;
    kc_correction_enter(k, KC_OF_X, k->correction.turn < KC_REFINEMENTS ? KC_TASK_UPPER_A : KC_TASK_NONE);
}

/* What follows the residual of a vector. */
static inline void kc_correction_after_residual(kc_lookahead_t *k)
{
    switch (k->correction.of) {
    case KC_OF_G:
        kc_correction_begin(k, KC_OF_A);
        break;
    case KC_OF_A:
        kc_correction_enter(k, KC_OF_G, KC_TASK_UPPER_A);
        break;
    case KC_OF_X:
        k->correction.found = kc_lookahead_norm1(k->b, k->correction.exps[0], k->n);
        kc_correction_enter(k, KC_OF_X, KC_TASK_UPPER_A);
        break;
    default:
        kc_correction_compare(k);
        break;
    }
}

/* What follows the correction of a vector. */
static inline void kc_correction_after_inverse(kc_lookahead_t *k, int32_t m)
{
    switch (k->correction.of) {
    case KC_OF_G:
        kc_correction_enter(k, KC_OF_A, KC_TASK_UPPER_A);
        break;
    case KC_OF_A:
        kc_correction_add(k, m);
        k->correction.task = KC_TASK_NONE;
        break;
    default:
        k->correction.exps[3] = kc_lookahead_add_vectors(k, m, k->x, k->x_exp, k->b, k->correction.exps[0],
            KC_ZERO_EXP, &k->b[3 * k->n]);
        KC_TRACE_ALL(refine, better, k->correction.turn, &k->b[3 * k->n], 0, m);
        kc_correction_begin(k, KC_OF_BETTER);
        break;
    }
}

/* Round the rows of the current task to its column, and continue with the next task. */
static inline void kc_correction_end(kc_lookahead_t *k, int32_t m, int32_t top)
{
    const int32_t task = k->correction.task;
    const int32_t column = task == KC_TASK_UPPER_A ? 1 : task == KC_TASK_UPPER_G ? 2 : kc_correction_column(k);
    int32_t *const out = &k->b[column * k->n];

    k->correction.exps[column] = kc_lookahead_normalise_block(k->wide, top, m, KC_ZERO_EXP, out);
    switch (task) {
    case KC_TASK_RESIDUAL:
        KC_TRACE_ALL(residual, c, m, out, 0, m);
        kc_correction_after_residual(k);
        break;
    case KC_TASK_UPPER_A:
        KC_TRACE_ALL(apply_inverse, first, m, out, 0, m);
        kc_correction_enter(k, k->correction.of, KC_TASK_UPPER_G);
        break;
    case KC_TASK_UPPER_G:
        KC_TRACE_ALL(apply_inverse, second, m, out, 0, m);
        kc_correction_enter(k, k->correction.of, KC_TASK_LOWER);
        break;
    default:
        KC_TRACE_ALL(apply_inverse, c, m, out, 0, m);
        kc_correction_after_inverse(k, m);
        break;
    }
}

/* Do the next rows of the current task. */
static inline void kc_correction_step(kc_lookahead_t *k)
{
    const int32_t m = kc_correction_order(k), top = kc_correction_top(k);
    int32_t rows;

    for (rows = 0; rows < KC_CORRECTION_ROWS && k->correction.row < m; rows++) {
        kc_correction_row(k, m, k->correction.row, top);
        k->correction.row++;
    }
    if (k->correction.row == m) {
        kc_correction_end(k, m, top);
    }
}

#endif
