/* kerncast runtime: look-ahead Levinson in float32, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * Step by step sim/model/lookahead_f32.py, which says what is computed and why.  Every operation is
 * rounded once to float: no libm, nothing fused (-ffp-contract=off), nothing in a wider format.
 */
#ifndef KERNCAST_KC_LOOKAHEAD_F32_H
#define KERNCAST_KC_LOOKAHEAD_F32_H

#include "kc_f32.h"

#define KC_BLOCK 4 /* rows that one step may take at most */
#define KC_REFINEMENTS 4
#define KC_GOOD 0x1p-7f
#define KC_NEAR_BEST 0x1p-3f
#define KC_SINGULAR 0x1p-20f
#define KC_ACCEPTED 0x1p-10f
#define KC_MOST 0x1p126f

typedef struct {
    int32_t n;
    float *r; /* n + 1: first row of T; the last one is room for a zero */
    const float *y; /* n: right-hand side */
    float *a; /* n + 1: predictor */
    float *g; /* n: first column of the inverse */
    float *b; /* KC_BLOCK * n: columns of T_m^-1 C, and room for corrections */
    float *x; /* n: receives the solution */
    uint16_t *blocks; /* n: receives the sizes of the steps */
    int32_t steps; /* receives their count */
    int32_t positive; /* receives 1 where every step was single and its eps positive, else 0 */
} kc_lookahead_f32_t;

typedef float kc_block_t[KC_BLOCK][KC_BLOCK];

/* sum_i first[-i] second[i], i < count: a row of a Toeplitz matrix times a vector. */
static inline float kc_lookahead_f32_dot(const float *first, const float *second, int32_t count)
{
    float acc = 0.0f;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc += first[-i] * second[i];
    }
    return acc;
}

/* From m to m + 1 by Durbin's update; the new eps. */
static inline float kc_lookahead_f32_single(const kc_lookahead_f32_t *k, int32_t m, float eps)
{
    float *a = k->a;
    const float c = (k->y[m] - kc_lookahead_f32_dot(&k->r[m], k->x, m)) / eps;
    const float xi = -kc_lookahead_f32_dot(&k->r[m + 1], a, m + 1) / eps;
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

/* One step of Gauss and Jordan's elimination: column c of `rest` to that of the identity; 0 if it cannot. */
static inline int32_t kc_lookahead_f32_eliminate(kc_block_t rest, kc_block_t inverse, int32_t p, int32_t c)
{
    int32_t i, j, pivot = c;
    float head;

    for (i = c + 1; i < p; i++) {
        if (kc_f32_size(rest[i][c]) > kc_f32_size(rest[pivot][c])) {
            pivot = i;
        }
    }
    head = rest[pivot][c];
    if (!(kc_f32_size(head) > 0.0f)) {
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
static inline float kc_lookahead_f32_invert(kc_block_t S, kc_block_t inverse, int32_t p)
{
    kc_block_t rest;
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
            row += kc_f32_size(inverse[i][j]);
        }
        norm = kc_f32_most(norm, row);
    }
    return norm > 0.0f ? 1.0f / norm : 0.0f; /* 0 where a pivot was beyond the numbers */
}

/* B = T_m^-1 C and S = T_p - C'B, where T_{m+p} = [[T_m, C], [C', T_p]]. */
static inline void kc_lookahead_f32_complement(const kc_lookahead_f32_t *k, int32_t m, int32_t p, float eps,
    kc_block_t S)
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
            S[i][j] = r[i - j] - kc_lookahead_f32_dot(&r[m + i], &k->b[j * k->n], m);
            S[j][i] = S[i][j];
        }
    }
    S[0][0] = eps; /* what it is, without the rounding of a long sum */
}

/* From T_m v = c to m + p rows: [v - B z; z], S z = (the new rows of c) - C'v. */
static inline void kc_lookahead_f32_border(const kc_lookahead_f32_t *k, int32_t m, int32_t p, float *v,
    float *fresh, kc_block_t inverse)
{
    int32_t i, j;

    for (i = 0; i < p; i++) {
        fresh[i] -= kc_lookahead_f32_dot(&k->r[m + i], v, m);
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

/* c -= T_m v */
static inline void kc_lookahead_f32_residual(const float *r, const float *v, float *c, int32_t m)
{
    int32_t i, j;

    for (i = 0; i < m; i++) {
        float acc = c[i];

        for (j = 0; j < m; j++) {
            acc -= r[i >= j ? i - j : j - i] * v[j];
        }
        c[i] = acc;
    }
}

/* c = T_m^-1 c from g and a (G. Heinig, K. Rost, 1984; T_{m-1} may be singular). */
static inline void kc_lookahead_f32_again(const float *a, const float *g, float *c, float *first,
    float *second, int32_t m)
{
    int32_t i, j;

    for (i = 0; i < m; i++) {
        float up = c[i];
        float down = 0.0f;

        for (j = i + 1; j < m; j++) {
            up += a[j - i] * c[j];
            down += g[m - (j - i)] * c[j];
        }
        first[i] = up;
        second[i] = down;
    }
    for (i = 0; i < m; i++) {
        float acc = 0.0f;

        for (j = 0; j <= i; j++) {
            acc += g[i - j] * first[j];
            acc -= a[m - (i - j)] * second[j];
        }
        c[i] = acc;
    }
}

/* From m to m + p; the new eps. */
static inline float kc_lookahead_f32_step(const kc_lookahead_f32_t *k, int32_t m, int32_t p,
    kc_block_t inverse)
{
    float *dg = k->b, *first = &k->b[k->n], *second = &k->b[2 * k->n], *da = &k->b[3 * k->n];
    float fresh[KC_BLOCK];
    float eps = k->r[0];
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
    m += p;
    /* One step of refinement on T g = e_1 and T a[1..] = -(r_1, ..., r_m). */
    for (i = 0; i < m; i++) {
        dg[i] = i == 0 ? 1.0f : 0.0f;
        da[i] = -k->r[1 + i];
    }
    kc_lookahead_f32_residual(k->r, k->g, dg, m);
    kc_lookahead_f32_residual(k->r, &k->a[1], da, m);
    kc_lookahead_f32_again(k->a, k->g, dg, first, second, m);
    kc_lookahead_f32_again(k->a, k->g, da, first, second, m);
    for (i = 0; i < m; i++) {
        k->g[i] += dg[i];
        k->a[1 + i] += da[i];
        eps += k->r[1 + i] * k->a[1 + i];
    }
    return eps;
}

/* Rows to take: the shortest of the best conditioned blocks, and its inverse; 0 if none will do. */
static inline int32_t kc_lookahead_f32_choose(kc_block_t S, kc_block_t inverse, int32_t most, float level)
{
    float best = 0.0f;
    int32_t p;

    for (p = 1; p <= most; p++) {
        best = kc_f32_most(best, kc_lookahead_f32_invert(S, inverse, p));
    }
    if (!(best > KC_SINGULAR * level)) {
        return 0;
    }
    for (p = 1; p <= most; p++) {
        if (kc_lookahead_f32_invert(S, inverse, p) >= KC_NEAR_BEST * best) {
            return p;
        }
    }
    return 0;
}

/* Correct x by T^-1 (y - T x) as long as that at least halves the residual, which comes back. */
static inline float kc_lookahead_f32_refine(const kc_lookahead_f32_t *k)
{
    float *rest = k->b, *first = &k->b[k->n], *second = &k->b[2 * k->n], *better = &k->b[3 * k->n];
    float found, left;
    int32_t i, turn;

    for (i = 0; i < k->n; i++) {
        rest[i] = k->y[i];
    }
    kc_lookahead_f32_residual(k->r, k->x, rest, k->n);
    found = kc_f32_total(rest, k->n);
    for (turn = 0; turn < KC_REFINEMENTS; turn++) {
        kc_lookahead_f32_again(k->a, k->g, rest, first, second, k->n);
        for (i = 0; i < k->n; i++) {
            better[i] = k->x[i] + rest[i];
            rest[i] = k->y[i];
        }
        kc_lookahead_f32_residual(k->r, better, rest, k->n);
        left = kc_f32_total(rest, k->n);
        if (!(left < 0.5f * found)) {
            break;
        }
        found = left;
        for (i = 0; i < k->n; i++) {
            k->x[i] = better[i];
        }
    }
    return found;
}

/* Solve T x = y; 1, or 0 where no block of up to KC_BLOCK rows is well conditioned, or x is no answer. */
static inline int32_t kc_lookahead_f32_solve(kc_lookahead_f32_t *k)
{
    const float level = kc_f32_largest(k->r, k->n);
    float recent[KC_BLOCK]; /* |eps| at the last regular m, as many as a block may skip */
    float eps = k->r[0], found;
    kc_block_t S, inverse;
    int32_t m = 0, p;

    for (p = 0; p < KC_BLOCK; p++) {
        recent[p] = level;
    }
    k->r[k->n] = 0.0f; /* it enters the last predictor alone, which may then be anything */
    k->a[0] = 1.0f;
    k->steps = 0;
    k->positive = 1;
    while (m < k->n) {
        p = 1;
        if (!(kc_f32_size(eps) > KC_GOOD * kc_f32_largest(recent, KC_BLOCK))) {
            const int32_t most = k->n - m < KC_BLOCK ? k->n - m : KC_BLOCK;

            kc_lookahead_f32_complement(k, m, most, eps, S);
            p = kc_lookahead_f32_choose(S, inverse, most, level);
            if (p == 0) {
                return 0;
            }
        }
        if (p > 1 || !(eps > 0.0f)) {
            k->positive = 0;
        }
        eps = p == 1 ? kc_lookahead_f32_single(k, m, eps) : kc_lookahead_f32_step(k, m, p, inverse);
        m += p;
        recent[k->steps % KC_BLOCK] = kc_f32_size(eps);
        k->blocks[k->steps] = (uint16_t)p;
        k->steps++;
    }
    found = kc_lookahead_f32_refine(k);
    return found <= KC_ACCEPTED * kc_f32_total(k->y, k->n) && found <= KC_MOST;
}

#endif
