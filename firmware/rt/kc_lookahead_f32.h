/* kerncast runtime: look-ahead Levinson in float32, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * T. F. Chan, P. C. Hansen, "A look-ahead Levinson algorithm for general Toeplitz systems", IEEE Trans.
 * Signal Processing 40(5), 1992, for symmetric T. Every operation is rounded once to float: no libm, no fused
 * multiply-add (-ffp-contract=off), no wider format.
 */
#ifndef KERNCAST_KC_LOOKAHEAD_F32_H
#define KERNCAST_KC_LOOKAHEAD_F32_H

#include "kc_lookahead_f32_correct.h"

#define KC_F32_GOOD 0x1p-7f
#define KC_F32_NEAR_BEST 0x1p-3f
#define KC_F32_SINGULAR 0x1p-20f
#define KC_F32_ACCEPTED 0x1p-10f
#define KC_RESIDUAL_MAX 0x1p126f

typedef float kc_f32_block_t[KC_F32_BLOCK][KC_F32_BLOCK];

/* sum_i first[-i] second[i], i < count: the product of a Toeplitz row and a vector. */
static inline float kc_lookahead_f32_dot_reversed(const float *first, const float *second, int32_t count)
{
    float acc = 0.0f;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc += first[-i] * second[i];
    }
    return acc;
}

/* One Durbin update from order m to m + 1; returns the new eps. */
static inline float kc_lookahead_f32_single_step(const kc_lookahead_f32_t *k, int32_t m, float eps)
{
    float *a = k->a;
    const float c = (k->y[m] - kc_lookahead_f32_dot_reversed(&k->r[m], k->x, m)) / eps;
    const float xi = -kc_lookahead_f32_dot_reversed(&k->r[m + 1], a, m + 1) / eps;
    int32_t i;

    k->x[m] = 0.0f;
    for (i = 0; i <= m; i++) {
        k->x[i] += c * a[m - i];
        k->g[i] = a[i] / eps;
    }
    a[m + 1] = 0.0f;
    for (i = 0; i <= (m + 1) / 2; i++) {
        const int32_t j = m + 1 - i;
        const float left = a[i];
        const float right = a[j];

        a[i] = left + xi * right;
        a[j] = right + xi * left;
    }
    return eps * (1.0f - xi) * (1.0f + xi);
}

/* Gauss-Jordan elimination of column c: `rest` becomes the identity there; 0 if the pivot is 0. */
static inline int32_t kc_lookahead_f32_eliminate(kc_f32_block_t rest, kc_f32_block_t inverse, int32_t p, int32_t c)
{
    int32_t i, j, pivot = c;
    float head;

    for (i = c + 1; i < p; i++) {
        if (kc_f32_abs(rest[i][c]) > kc_f32_abs(rest[pivot][c])) {
            pivot = i;
        }
    }
    head = rest[pivot][c];
    if (!(kc_f32_abs(head) > 0.0f)) {
        return 0;
    }
    for (j = 0; j < p; j++) {
        const float left = rest[pivot][j];
        const float right = inverse[pivot][j];

        rest[pivot][j] = rest[c][j];
        inverse[pivot][j] = inverse[c][j];
        rest[c][j] = left / head;
        inverse[c][j] = right / head;
    }
    for (i = 0; i < p; i++) {
        const float factor = i == c ? 0.0f : rest[i][c];

        for (j = 0; j < p; j++) {
            rest[i][j] -= factor * rest[c][j];
            inverse[i][j] -= factor * inverse[c][j];
        }
    }
    return 1;
}

/* The inverse of the leading p by p block of S; 1/|S^-1| in the norm of row sums, 0 if singular. */
static inline float kc_lookahead_f32_invert(kc_f32_block_t S, kc_f32_block_t inverse, int32_t p)
{
    kc_f32_block_t rest;
    float norm = 0.0f;
    int32_t i, j;

    for (i = 0; i < p; i++) {
        for (j = 0; j < p; j++) {
            rest[i][j] = S[i][j];
            inverse[i][j] = i == j ? 1.0f : 0.0f;
        }
    }
    for (i = 0; i < p; i++) {
        if (kc_lookahead_f32_eliminate(rest, inverse, p, i) == 0) {
            return 0.0f;
        }
    }
    for (i = 0; i < p; i++) {
        float row = 0.0f;

        for (j = 0; j < p; j++) {
            row += kc_f32_abs(inverse[i][j]);
        }
        norm = kc_f32_max(norm, row);
    }
    return norm > 0.0f ? 1.0f / norm : 0.0f; /* 0 if a pivot overflowed */
}

/* B = T_m^-1 C and S = T_p - C'B, where T_{m+p} = [[T_m, C], [C', T_p]]. */
static inline void kc_lookahead_f32_schur_complement(const kc_lookahead_f32_t *k, int32_t m, int32_t p,
    float eps,
    kc_f32_block_t S)
{
    const float *r = k->r;
    int32_t i, j;

    for (i = 0; i < m; i++) {
        k->b[i] = -k->a[m - i];
    }
    for (j = 1; j < p; j++) {
        const float *last = &k->b[(j - 1) * k->n];
        float *next = &k->b[j * k->n];
        float acc = r[m + j];

        for (i = 0; i < m; i++) {
            acc -= r[1 + i] * last[i];
        }
        for (i = 0; i < m; i++) {
            const float shifted = i == 0 ? 0.0f : last[i - 1];

            next[i] = shifted + last[m - 1] * k->b[i] + acc * k->g[i];
        }
    }
    for (i = 0; i < p; i++) {
        for (j = 0; j <= i; j++) {
            S[i][j] = r[i - j] - kc_lookahead_f32_dot_reversed(&r[m + i], &k->b[j * k->n], m);
            S[j][i] = S[i][j];
        }
    }
    S[0][0] = eps; /* its exact value, without the rounding of a long sum */
}

/* Extend the solution of T_m v = c to m + p rows: [v - B z; z], S z = fresh - C'v; fresh: new rows of c. */
static inline void kc_lookahead_f32_border(const kc_lookahead_f32_t *k, int32_t m, int32_t p, float *v,
    float *fresh, kc_f32_block_t inverse)
{
    int32_t i, j;

    for (i = 0; i < p; i++) {
        fresh[i] -= kc_lookahead_f32_dot_reversed(&k->r[m + i], v, m);
    }
    for (i = 0; i < p; i++) {
        float z = 0.0f;

        for (j = 0; j < p; j++) {
            z += inverse[i][j] * fresh[j];
        }
        v[m + i] = z;
    }
    for (i = 0; i < m; i++) {
        float acc = v[i];

        for (j = 0; j < p; j++) {
            acc -= k->b[j * k->n + i] * v[m + j];
        }
        v[i] = acc;
    }
}

/* One block step from order m to m + p, but for the correction of g and a, which starts here. */
static inline void kc_lookahead_f32_block_step(kc_lookahead_f32_t *k, int32_t m, int32_t p,
    kc_f32_block_t inverse)
{
    float fresh[KC_F32_BLOCK];
    int32_t i;

    for (i = 0; i < p; i++) {
        fresh[i] = m + i == 0 ? 1.0f : 0.0f;
    }
    kc_lookahead_f32_border(k, m, p, k->g, fresh, inverse);
    for (i = 0; i < p; i++) {
        fresh[i] = -k->r[m + 1 + i];
    }
    kc_lookahead_f32_border(k, m, p, &k->a[1], fresh, inverse);
    for (i = 0; i < p; i++) {
        fresh[i] = k->y[m + i];
    }
    kc_lookahead_f32_border(k, m, p, k->x, fresh, inverse);
    kc_correction_f32_begin(k, KC_F32_OF_G);
}

/* Number of rows of the shortest well-conditioned block, and its inverse; 0 if there is none. */
static inline int32_t kc_lookahead_f32_block_size(kc_f32_block_t S, kc_f32_block_t inverse, int32_t max_rows,
    float level)
{
    float best = 0.0f;
    int32_t p;

    for (p = 1; p <= max_rows; p++) {
        best = kc_f32_max(best, kc_lookahead_f32_invert(S, inverse, p));
    }
    if (!(best > KC_F32_SINGULAR * level)) {
        return 0;
    }
    for (p = 1; p <= max_rows; p++) {
        if (kc_lookahead_f32_invert(S, inverse, p) >= KC_F32_NEAR_BEST * best) {
            return p;
        }
    }
    return 0;
}

/* Begin at order 0. */
static inline void kc_lookahead_f32_begin(kc_lookahead_f32_t *k)
{
    int32_t i;

    k->level = kc_f32_max_abs(k->r, k->n);
    for (i = 0; i < KC_F32_BLOCK; i++) {
        k->recent[i] = k->level;
    }
    k->eps = k->r[0];
    k->order = 0;
    k->r[k->n] = 0.0f; /* used by the last predictor only, which is not needed */
    k->a[0] = 1.0f;
    k->steps = 0;
    k->positive = 1;
}

/* End a step of p rows. */
static inline void kc_lookahead_f32_accept(kc_lookahead_f32_t *k, int32_t p)
{
    k->order += p;
    k->recent[k->steps % KC_F32_BLOCK] = kc_f32_abs(k->eps);
    k->steps++;
}

/* Solve one to KC_F32_BLOCK more rows; 1, or 0 if no block of up to KC_F32_BLOCK rows is well conditioned. */
static inline int32_t kc_lookahead_f32_extend(kc_lookahead_f32_t *k)
{
    const int32_t m = k->order;
    kc_f32_block_t S, inverse;
    int32_t p = 1;

    if (!(kc_f32_abs(k->eps) > KC_F32_GOOD * kc_f32_max_abs(k->recent, KC_F32_BLOCK))) {
        const int32_t max_rows = k->n - m < KC_F32_BLOCK ? k->n - m : KC_F32_BLOCK;

        kc_lookahead_f32_schur_complement(k, m, max_rows, k->eps, S);
        p = kc_lookahead_f32_block_size(S, inverse, max_rows, k->level);
        if (p == 0) {
            return 0;
        }
    }
    if (p > 1 || !(k->eps > 0.0f)) {
        k->positive = 0;
    }
    k->blocks[k->steps] = (uint16_t)p;
    if (p > 1) {
        kc_lookahead_f32_block_step(k, m, p, inverse);
    } else {
        k->eps = kc_lookahead_f32_single_step(k, m, k->eps);
        kc_lookahead_f32_accept(k, 1);
    }
    return 1;
}

/* The end of a correction: 1, or 0 if the residual of the solution is too large. */
static inline int32_t kc_lookahead_f32_corrected(kc_lookahead_f32_t *k)
{
    if (k->order < k->n) {
        kc_lookahead_f32_accept(k, k->blocks[k->steps]);
        return 1;
    }
    return k->found <= KC_F32_ACCEPTED * kc_f32_norm1(k->y, k->n) && k->found <= KC_RESIDUAL_MAX ? 1 : 0;
}

/* Do O(n) of the work: solve more rows, or correct. Returns 1, or 0 if there is no solution. */
static inline int32_t kc_lookahead_f32_step(kc_lookahead_f32_t *k)
{
    if (k->task == KC_F32_TASK_NONE && k->order < k->n) {
        return kc_lookahead_f32_extend(k);
    }
    if (k->task == KC_F32_TASK_NONE) {
        kc_correction_f32_begin(k, KC_F32_OF_X);
        return 1;
    }
    kc_correction_f32_step(k);
    return k->task == KC_F32_TASK_NONE ? kc_lookahead_f32_corrected(k) : 1;
}

/* 1 if all rows are solved and the solution is corrected, else 0. */
static inline int32_t kc_lookahead_f32_is_done(const kc_lookahead_f32_t *k)
{
    return k->order == k->n && k->task == KC_F32_TASK_NONE && k->of >= KC_F32_OF_X ? 1 : 0;
}

#endif
