/* kerncast runtime: state and corrections of look-ahead Levinson in float32, header only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One step of iterative refinement replaces v by v + T_m^-1 (c - T_m v). T_m^-1 is applied by the
 * Gohberg-Semencul formula (G. Heinig, K. Rost, "Algebraic Methods for Toeplitz-like Matrices and Operators",
 * 1984) in products with triangular Toeplitz matrices; T_{m-1} may be singular. The four columns of k->b hold
 * the residual, two products, and a second residual or the corrected solution.
 */
#ifndef KERNCAST_KC_LOOKAHEAD_F32_CORRECT_H
#define KERNCAST_KC_LOOKAHEAD_F32_CORRECT_H

#include "kc_f32.h"

#define KC_F32_BLOCK 4 /* maximum number of rows of a step */
#define KC_F32_REFINEMENTS 4
#define KC_F32_CORRECTION_ROWS 8 /* rows per step: with them a step takes no longer than one that solves a block */

#define KC_F32_TASK_NONE 0
#define KC_F32_TASK_RESIDUAL 1 /* c - T_m v */
#define KC_F32_TASK_UPPER 2 /* the upper triangular factors of T_m^-1, times the residual */
#define KC_F32_TASK_LOWER 3 /* the lower triangular ones, times these products */

#define KC_F32_OF_G 0 /* the first column of the inverse */
#define KC_F32_OF_A 1 /* the predictor */
#define KC_F32_OF_X 2 /* the solution */
#define KC_F32_OF_BETTER 3 /* the corrected solution, in column 3 */

typedef struct {
    int32_t n;
    float *r; /* n + 1: first row of T; the last entry is set to zero */
    const float *y; /* n: right-hand side */
    float *a; /* n + 1: predictor */
    float *g; /* n: first column of the inverse */
    float *b; /* KC_F32_BLOCK * n: columns of T_m^-1 C, and workspace for corrections */
    float *x; /* n: receives the solution */
    uint16_t *blocks; /* n: receives the sizes of the steps */
    int32_t steps; /* receives their count */
    int32_t positive; /* receives 1 if every step was single with a positive eps, else 0 */
    int32_t order; /* rows solved so far */
    float eps; /* prediction error power after the last step */
    float level; /* largest |r_i| */
    float recent[KC_F32_BLOCK]; /* |eps| of the last KC_F32_BLOCK regular orders */
    /* A correction in progress: v += T_m^-1 (c - T_m v), some rows of one product per step. */
    int32_t task; /* KC_F32_TASK_*: the product that the next rows belong to */
    int32_t of; /* KC_F32_OF_*: the vector v */
    int32_t row; /* the next row */
    int32_t turn; /* corrections of the solution so far */
    float found; /* 1-norm of the residual of the solution */
} kc_lookahead_f32_t;

/* The column that holds the residual. */
static inline float *kc_correction_f32_residual(const kc_lookahead_f32_t *k)
{
    return k->of == KC_F32_OF_A ? &k->b[3 * k->n] : k->b;
}

/* The order of T_m: the rows of the current block included. */
static inline int32_t kc_correction_f32_order(const kc_lookahead_f32_t *k)
{
    return k->of < KC_F32_OF_X ? k->order + k->blocks[k->steps] : k->n;
}

/* The vector that is corrected. */
static inline const float *kc_correction_f32_vector(const kc_lookahead_f32_t *k)
{
    switch (k->of) {
    case KC_F32_OF_G:
        return k->g;
    case KC_F32_OF_A:
        return &k->a[1];
    case KC_F32_OF_X:
        return k->x;
    default:
        return &k->b[3 * k->n];
    }
}

static inline void kc_correction_f32_enter(kc_lookahead_f32_t *k, int32_t of, int32_t task)
{
    k->of = of;
    k->task = task;
    k->row = 0;
}

/* Begin with the residual of a vector: T g = e_1, T a[1..] = -(r_1, ..., r_m), or T x = y. */
static inline void kc_correction_f32_begin(kc_lookahead_f32_t *k, int32_t of)
{
    float *c;
    int32_t i, m;

    kc_correction_f32_enter(k, of, KC_F32_TASK_RESIDUAL);
    m = kc_correction_f32_order(k);
    c = kc_correction_f32_residual(k);
    k->turn = of == KC_F32_OF_BETTER ? k->turn : 0;
    for (i = 0; i < m; i++) {
        if (of == KC_F32_OF_G) {
            c[i] = i == 0 ? 1.0f : 0.0f;
        } else {
            c[i] = of == KC_F32_OF_A ? -k->r[1 + i] : k->y[i];
        }
    }
}

/* Row i of c - T_m v, in place. */
static inline void kc_correction_f32_residual_row(const kc_lookahead_f32_t *k, float *c, int32_t m, int32_t i)
{
    const float *v = kc_correction_f32_vector(k);
    float acc = c[i];
    int32_t j;

    for (j = 0; j < m; j++) {
        acc -= k->r[i >= j ? i - j : j - i] * v[j];
    }
    c[i] = acc;
}

/* Row i of the products of the upper triangular factors and the residual. */
static inline void kc_correction_f32_upper_row(const kc_lookahead_f32_t *k, const float *c, int32_t m,
    int32_t i)
{
    float up = c[i];
    float down = 0.0f;
    int32_t j;

    for (j = i + 1; j < m; j++) {
        up += k->a[j - i] * c[j];
        down += k->g[m - (j - i)] * c[j];
    }
    k->b[k->n + i] = up;
    k->b[2 * k->n + i] = down;
}

/* Row i of T_m^-1 by the residual, from these products. */
static inline void kc_correction_f32_lower_row(const kc_lookahead_f32_t *k, float *c, int32_t m, int32_t i)
{
    const float *first = &k->b[k->n];
    const float *second = &k->b[2 * k->n];
    float acc = 0.0f;
    int32_t j;

    for (j = 0; j <= i; j++) {
        acc += k->g[i - j] * first[j];
        acc -= k->a[m - (i - j)] * second[j];
    }
    c[i] = acc;
}

/* Add the corrections of g and a; eps from the new predictor. */
static inline void kc_correction_f32_add(kc_lookahead_f32_t *k, int32_t m)
{
    int32_t i;

    k->eps = k->r[0];
    for (i = 0; i < m; i++) {
        k->g[i] += k->b[i];
        k->a[1 + i] += k->b[3 * k->n + i];
        k->eps += k->r[1 + i] * k->a[1 + i];
    }
}

/* Take the corrected solution and correct again if its residual is at most half as large; else end. */
static inline void kc_correction_f32_compare(kc_lookahead_f32_t *k)
{
    const float left = kc_f32_norm1(k->b, k->n);
    int32_t i;

    if (!(left < 0.5f * k->found)) {
        k->task = KC_F32_TASK_NONE;
        return;
    }
    k->found = left;
    for (i = 0; i < k->n; i++) {
        k->x[i] = k->b[3 * k->n + i];
    }
    k->turn++;
    kc_correction_f32_enter(k, KC_F32_OF_X, k->turn < KC_F32_REFINEMENTS ? KC_F32_TASK_UPPER : KC_F32_TASK_NONE);
}

/* What follows the residual of a vector. */
static inline void kc_correction_f32_after_residual(kc_lookahead_f32_t *k)
{
    switch (k->of) {
    case KC_F32_OF_G:
        kc_correction_f32_begin(k, KC_F32_OF_A);
        break;
    case KC_F32_OF_A:
        kc_correction_f32_enter(k, KC_F32_OF_G, KC_F32_TASK_UPPER);
        break;
    case KC_F32_OF_X:
        k->found = kc_f32_norm1(k->b, k->n);
        kc_correction_f32_enter(k, KC_F32_OF_X, KC_F32_TASK_UPPER);
        break;
    default:
        kc_correction_f32_compare(k);
        break;
    }
}

/* What follows the correction of a vector. */
static inline void kc_correction_f32_after_inverse(kc_lookahead_f32_t *k, int32_t m)
{
    int32_t i;

    switch (k->of) {
    case KC_F32_OF_G:
        kc_correction_f32_enter(k, KC_F32_OF_A, KC_F32_TASK_UPPER);
        break;
    case KC_F32_OF_A:
        kc_correction_f32_add(k, m);
        k->task = KC_F32_TASK_NONE;
        break;
    default:
        for (i = 0; i < m; i++) {
            k->b[3 * k->n + i] = k->x[i] + k->b[i];
        }
        kc_correction_f32_begin(k, KC_F32_OF_BETTER);
        break;
    }
}

/* Do the next rows of the current task. */
static inline void kc_correction_f32_step(kc_lookahead_f32_t *k)
{
    const int32_t m = kc_correction_f32_order(k);
    const int32_t task = k->task;
    float *c = kc_correction_f32_residual(k);
    int32_t rows;

    for (rows = 0; rows < KC_F32_CORRECTION_ROWS && k->row < m; rows++) {
        if (task == KC_F32_TASK_RESIDUAL) {
            kc_correction_f32_residual_row(k, c, m, k->row);
        } else if (task == KC_F32_TASK_UPPER) {
            kc_correction_f32_upper_row(k, c, m, k->row);
        } else {
            kc_correction_f32_lower_row(k, c, m, k->row);
        }
        k->row++;
    }
    if (k->row < m) {
        return;
    }
    if (task == KC_F32_TASK_RESIDUAL) {
        kc_correction_f32_after_residual(k);
    } else if (task == KC_F32_TASK_UPPER) {
        kc_correction_f32_enter(k, k->of, KC_F32_TASK_LOWER);
    } else {
        kc_correction_f32_after_inverse(k, m);
    }
}

#endif
