/* kerncast runtime: a Gram matrix and its inverse in float32, header only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One square array holds both matrices: K below the diagonal, the inverse of K + jitter I on and above it.
 * For a free slot, row and column of the inverse are 0. A column is checked against K before a projection
 * uses it, and a bordering before it is kept; if a check fails, the inverse is rebuilt by bordering vector
 * by vector.
 */
#ifndef KERNCAST_KC_GRAM_F32_H
#define KERNCAST_KC_GRAM_F32_H

#include "kc_f32.h"

#define KC_GRAM_F32_DRIFT 0x1p-5f

typedef struct {
    int32_t n; /* order of the array */
    float *a; /* n * n: below the diagonal K, on and above it the inverse of K + jitter I */
    float *u; /* n: room for a vector, as are rest and step */
    float *rest;
    float *step;
    float one; /* 1 + jitter */
    float jitter;
} kc_gram_f32_t;

/* out = K^-1 v */
static inline void kc_gram_f32_times_inverse(const kc_gram_f32_t *g, int32_t count, const float *v,
    float *out)
{
    int32_t i, j;

    for (i = 0; i < count; i++) {
        out[i] = 0.0f;
    }
    for (i = 0; i < count; i++) {
        const float *row = &g->a[i * g->n];
        const float here = v[i];
        float acc = row[i] * here;

        for (j = i + 1; j < count; j++) {
            acc += row[j] * v[j];
            out[j] += row[j] * here;
        }
        out[i] += acc;
    }
}

/* rest = c - (K + jitter I) v */
static inline void kc_gram_f32_residual(const kc_gram_f32_t *g, int32_t count, const float *v, const float *c)
{
    int32_t i, j;

    for (i = 0; i < count; i++) {
        const float *row = &g->a[i * g->n];
        const float here = v[i];
        float acc = c[i] - g->one * here;

        for (j = 0; j < i; j++) {
            acc -= row[j] * v[j];
            g->rest[j] -= row[j] * here;
        }
        g->rest[i] = acc;
    }
}

/* K^-1 += u u' / scale */
static inline void kc_gram_f32_rank_one(const kc_gram_f32_t *g, int32_t count, float scale)
{
    int32_t i, j;

    for (i = 0; i < count; i++) {
        float *row = &g->a[i * g->n];
        const float part = g->u[i] / scale;

        for (j = i; j < count; j++) {
            row[j] += part * g->u[j];
        }
    }
}

/* Clear row and column `slot` of the inverse. */
static inline void kc_gram_f32_clear(const kc_gram_f32_t *g, int32_t count, int32_t slot)
{
    int32_t j;

    for (j = 0; j < slot; j++) {
        g->a[j * g->n + slot] = 0.0f;
    }
    for (j = slot; j < count; j++) {
        g->a[slot * g->n + j] = 0.0f;
    }
}

/* Border the inverse with the free `slot`, whose kernel row is k, k[slot] = 0; 0 if that failed, else 1. */
static inline int32_t kc_gram_f32_border(const kc_gram_f32_t *g, int32_t count, int32_t slot, const float *k)
{
    float s = g->one;
    int32_t i;

    kc_gram_f32_times_inverse(g, count, k, g->u);
    kc_gram_f32_residual(g, count, g->u, k);
    g->rest[slot] = 0.0f;
    if (!(kc_f32_norm1(g->rest, count) <= KC_GRAM_F32_DRIFT * (float)count)) {
        return 0;
    }
    kc_gram_f32_times_inverse(g, count, g->rest, g->step);
    for (i = 0; i < count; i++) {
        g->u[i] += g->step[i];
        s -= k[i] * g->u[i];
    }
    if (!(s >= 0.5f * g->jitter)) {
        return 0;
    }
    g->u[slot] = -1.0f;
    kc_gram_f32_rank_one(g, count, s);
    return 1;
}

/* Rebuild the inverse from K vector by vector; a vector that cannot be bordered is kept uncoupled. */
static inline void kc_gram_f32_rebuild(const kc_gram_f32_t *g, int32_t count)
{
    int32_t slot;

    for (slot = 0; slot < count; slot++) {
        kc_gram_f32_clear(g, slot + 1, slot);
        if (kc_gram_f32_border(g, slot + 1, slot, &g->a[slot * g->n]) == 0) {
            g->a[slot * g->n + slot] = 1.0f / g->one;
        }
    }
}

/* Insert the kernel row k of a new vector into the free `slot`; 1 if the inverse was rebuilt. */
static inline int32_t kc_gram_f32_insert(const kc_gram_f32_t *g, int32_t count, int32_t slot, const float *k)
{
    const int32_t bordered = kc_gram_f32_border(g, count, slot, k);
    int32_t j;

    for (j = 0; j < slot; j++) {
        g->a[slot * g->n + j] = k[j];
    }
    for (j = slot + 1; j < count; j++) {
        g->a[j * g->n + slot] = k[j];
    }
    if (bordered == 0) {
        kc_gram_f32_rebuild(g, count);
    }
    return bordered == 0 ? 1 : 0;
}

/* Copy column `slot` of the inverse to u; 1 if it passes the check, its residual in rest. */
static inline int32_t kc_gram_f32_column(const kc_gram_f32_t *g, int32_t count, int32_t slot)
{
    int32_t j;

    for (j = 0; j < slot; j++) {
        g->u[j] = g->a[j * g->n + slot];
        g->step[j] = 0.0f;
    }
    for (j = slot; j < count; j++) {
        g->u[j] = g->a[slot * g->n + j];
        g->step[j] = 0.0f;
    }
    g->step[slot] = 1.0f;
    kc_gram_f32_residual(g, count, g->u, g->step);
    if (!(kc_f32_norm1(g->rest, count) <= KC_GRAM_F32_DRIFT * (float)count)) {
        return 0;
    }
    return g->u[slot] >= 0.5f ? 1 : 0;
}

#endif
