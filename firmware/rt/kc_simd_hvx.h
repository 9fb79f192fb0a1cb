/* kerncast runtime: kc_simd.h for Hexagon HVX, 64 words per instruction.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_SIMD_HVX_H
#define KERNCAST_KC_SIMD_HVX_H

#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <stdint.h>

#include "kc_simd_q6.h"

#define KC_HVX_WORDS 64

#define kc_hvx_saturate_16 kc_q6_saturate_16
#define kc_hvx_saturate_unsigned kc_q6_saturate_unsigned
#define kc_hvx_find_8 kc_q6_find_8
#define kc_hvx_widen_8 kc_q6_widen_8
#define kc_hvx_saturate_8 kc_q6_saturate_8
#define kc_hvx_dec_if_gt_u8 kc_q6_dec_if_gt_u8

/* Squares of the differences of `vectors` times 64 columns, as 32 sums; two squares fit int32. */
static inline HVX_Vector kc_hvx_row(const int16_t *u, const int16_t *v, int32_t vectors)
{
    const HVX_UVector *a = (const HVX_UVector *)(const void *)u;
    const HVX_UVector *b = (const HVX_UVector *)(const void *)v;
    HVX_Vector acc = Q6_V_vzero();
    int32_t i;

    for (i = 0; i < vectors; i++) {
        const HVX_Vector d = Q6_Vh_vsub_VhVh(a[i], b[i]);

        acc = Q6_Vw_vadd_VwVw(acc, Q6_Vw_vdmpy_VhVh_sat(d, d));
    }
    return acc;
}

/* Pairwise sums of a and of b, interleaved in groups of `bytes`. */
static inline HVX_Vector kc_hvx_merge(HVX_Vector a, HVX_Vector b, int32_t bytes)
{
    const HVX_VectorPair both = Q6_W_vshuff_VVR(b, a, -bytes);

    return Q6_Vw_vadd_VwVw(Q6_V_lo_W(both), Q6_V_hi_W(both));
}

/* Add sums that are `bytes` apart: half as many remain. */
static inline HVX_Vector kc_hvx_fold(HVX_Vector a, int32_t bytes)
{
    return Q6_Vw_vadd_VwVw(a, Q6_V_vror_VR(a, bytes));
}

/* Interleaved sums of two, four and eight rows. */
static inline HVX_Vector kc_hvx_two(const int16_t *u, const int16_t *v, int32_t n)
{
    return kc_hvx_merge(kc_hvx_row(u, v, n / KC_HVX_WORDS), kc_hvx_row(u, &v[n], n / KC_HVX_WORDS), 4);
}

static inline HVX_Vector kc_hvx_four(const int16_t *u, const int16_t *v, int32_t n)
{
    return kc_hvx_merge(kc_hvx_two(u, v, n), kc_hvx_two(u, &v[2 * n], n), 8);
}

static inline HVX_Vector kc_hvx_eight(const int16_t *u, const int16_t *v, int32_t n)
{
    return kc_hvx_merge(kc_hvx_four(u, v, n), kc_hvx_four(u, &v[4 * n], n), 16);
}

/* The columns behind the last whole vector. */
static inline uint32_t kc_hvx_rest(const int16_t *u, const int16_t *v, int32_t n)
{
    const int32_t rest = n % KC_HVX_WORDS;

    return kc_q6_square_diffs(&u[n - rest], &v[n - rest], rest);
}

/* kc_portable_square_diffs */
static inline uint32_t kc_hvx_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    HVX_Vector sums = kc_hvx_row(u, v, n / KC_HVX_WORDS);
    int32_t bytes;

    for (bytes = 64; bytes >= 4; bytes /= 2) {
        sums = kc_hvx_fold(sums, bytes);
    }
    return (uint32_t)sums[0] + kc_hvx_rest(u, v, n);
}

/* kc_portable_square_diff_rows: eight at a time; the last group may overlap the one before. */
static inline void kc_hvx_square_diff_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    int32_t i, j;

    if (n < KC_HVX_WORDS) {
        kc_q6_square_diff_rows(u, v, n, rows, d);
        return;
    }
    for (i = 0; rows < 8 && i < rows; i++) {
        d[i] = kc_hvx_square_diffs(u, &v[i * n], n);
    }
    for (i = 0; rows >= 8 && i < rows; i += 8) {
        const int32_t first = i + 8 <= rows ? i : rows - 8;
        const int16_t *at = &v[first * n];
        const HVX_Vector sums = kc_hvx_fold(kc_hvx_fold(kc_hvx_eight(u, at, n), 64), 32);

        for (j = 0; j < 8; j++) {
            d[first + j] = (uint32_t)sums[j] + kc_hvx_rest(u, &at[j * n], n);
        }
    }
}

#define KC_HVX_BYTES 128

/* A sample of n bytes: whole vectors, and the rest with as many bytes of 0 as are missing. */
typedef struct {
    const uint8_t *u;
    int32_t n, vectors;
    uint32_t sign;
    HVX_Vector rest;
    HVX_VectorPred is_rest;
} kc_hvx_sample_t;

/* acc and the squares of the differences of 128 bytes, as 32 sums. */
static inline HVX_Vector kc_hvx_square_diff_8(HVX_Vector acc, HVX_Vector u, HVX_Vector v, uint32_t sign,
    HVX_VectorPred counts)
{
    const HVX_Vector signs = Q6_V_vsplat_R((int32_t)(sign * UINT32_C(0x01010101)));
    const HVX_Vector d = Q6_Vub_vabsdiff_VubVub(Q6_V_vxor_VV(u, signs), Q6_V_vxor_VV(v, signs));
    const HVX_Vector counted = Q6_V_vmux_QVV(counts, d, Q6_V_vzero());

    return Q6_Vuw_vrmpyacc_VuwVubVub(acc, counted, counted);
}

/* Squares of the differences of a row, as 32 sums. It reads 128 bytes from the beginning of its rest on. */
static inline HVX_Vector kc_hvx_row_8(const kc_hvx_sample_t *x, const uint8_t *v)
{
    const HVX_UVector *a = (const HVX_UVector *)(const void *)x->u;
    const HVX_UVector *b = (const HVX_UVector *)(const void *)v;
    HVX_Vector acc = Q6_V_vzero();
    int32_t i;

    for (i = 0; i < x->vectors; i++) {
        acc = kc_hvx_square_diff_8(acc, a[i], b[i], x->sign, Q6_Q_vsetq2_R(KC_HVX_BYTES));
    }
    return x->n % KC_HVX_BYTES == 0 ? acc : kc_hvx_square_diff_8(acc, x->rest, b[i], x->sign, x->is_rest);
}

/* Interleaved sums of four rows. */
static inline HVX_Vector kc_hvx_four_8(const kc_hvx_sample_t *x, const uint8_t *v)
{
    const HVX_Vector first = kc_hvx_merge(kc_hvx_row_8(x, v), kc_hvx_row_8(x, &v[x->n]), 4);
    const HVX_Vector last = kc_hvx_merge(kc_hvx_row_8(x, &v[2 * x->n]), kc_hvx_row_8(x, &v[3 * x->n]), 4);

    return kc_hvx_merge(first, last, 8);
}

/* kc_portable_square_diff_rows_8: eight at a time; the last group may overlap the one before. The last row
 * is apart, because its rest reads beyond it. */
static inline void kc_hvx_square_diff_rows_8(const uint8_t *restrict u, const uint8_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d, uint32_t sign)
{
    kc_hvx_sample_t x = {u, n, n / KC_HVX_BYTES, sign, Q6_V_vzero(), Q6_Q_vsetq_R(n % KC_HVX_BYTES)};
    int32_t i, j;

    if (n < KC_HVX_BYTES / 2 || rows < 9) {
        kc_q6_square_diff_rows_8(u, v, n, rows, d, sign);
        return;
    }
    __builtin_memcpy(&x.rest, &u[n - n % KC_HVX_BYTES], (uint32_t)(n % KC_HVX_BYTES)); /* n is a literal */
    for (i = 0; i < rows - 1; i += 8) {
        const int32_t first = i + 8 < rows ? i : rows - 9;
        const uint8_t *at = &v[first * n];
        const HVX_Vector eight = kc_hvx_merge(kc_hvx_four_8(&x, at), kc_hvx_four_8(&x, &at[4 * n]), 16);
        const HVX_Vector sums = kc_hvx_fold(kc_hvx_fold(eight, 64), 32);

        for (j = 0; j < 8; j++) {
            d[first + j] = (uint32_t)sums[j];
        }
    }
    d[rows - 1] = kc_q6_square_diffs_8(u, &v[(rows - 1) * n], n, sign);
}

#endif
