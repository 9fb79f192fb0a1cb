/* kerncast runtime: sums over the 16-bit coefficients of several outputs, header only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The portable C is the definition; kc_outputs_dsp.h has the same values for ARMv7E-M.
 */
#ifndef KERNCAST_KC_OUTPUTS_H
#define KERNCAST_KC_OUTPUTS_H

#include "kc_simd.h"

/* acc[c] += sum_j alpha[j columns + c] k[j] for one column, and for the next unless it is the last. */
static inline void kc_portable_add_two(const int16_t *alpha, int32_t columns, const int32_t *k, int32_t rows,
    int64_t *acc, int32_t next)
{
    const int16_t *row = alpha;
    int64_t sum = acc[0];
    int64_t other = acc[next];
    int32_t j;

    for (j = 0; j + 4 <= rows; j += 4) {
        sum = kc_mac_i32(sum, row[0], k[j], 0);
        other = kc_mac_i32(other, row[next], k[j], 0);
        sum = kc_mac_i32(sum, row[columns], k[j + 1], 0);
        other = kc_mac_i32(other, row[columns + next], k[j + 1], 0);
        sum = kc_mac_i32(sum, row[2 * columns], k[j + 2], 0);
        other = kc_mac_i32(other, row[2 * columns + next], k[j + 2], 0);
        sum = kc_mac_i32(sum, row[3 * columns], k[j + 3], 0);
        other = kc_mac_i32(other, row[3 * columns + next], k[j + 3], 0);
        row = &row[4 * columns];
    }
    for (; j < rows; j++) {
        sum = kc_mac_i32(sum, row[0], k[j], 0);
        other = kc_mac_i32(other, row[next], k[j], 0);
        row = &row[columns];
    }
    acc[next] = other;
    acc[0] = sum;
}

/* acc[c] += sum_j alpha[j columns + c] k[j] for all columns; at most KC_DIST_BATCH rows, 0 <= k <= 2^15. */
static inline void kc_portable_add_outputs(const int16_t *alpha, int32_t columns, const int32_t *k,
    int32_t rows, int64_t *acc)
{
    int32_t c;

    for (c = 0; c < columns; c += 2) {
        kc_portable_add_two(&alpha[c], columns, k, rows, &acc[c], c + 1 < columns ? 1 : 0);
    }
}

/* The sum of n squares. */
static inline int64_t kc_portable_sum_squares(const int16_t *words, int32_t n)
{
    int64_t sum = 0;
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i < n; i++) {
        sum += (int64_t)words[i] * words[i];
    }
    return sum;
}

/* alpha[c] += from[c] k / 2^shift, rounded, for all columns; returns not 0 if a sum saturated.
 * 0 <= k <= 2^15. The loop is unrolled for at most 16 columns. */
static inline int32_t kc_portable_project_outputs(int16_t *alpha, const int16_t *from, int32_t columns,
    int32_t k, int32_t shift, int32_t rounding)
{
    int32_t excess = 0;
    int32_t c;

    KC_UNROLL(16)
    for (c = 0; c < columns; c++) {
        const int32_t whole = alpha[c] + kc_shift_round_i32(from[c] * k, shift, rounding);
        const int32_t word = kc_saturate_i32(whole, INT16_MIN, INT16_MAX);

        alpha[c] = (int16_t)word;
        excess |= whole - word;
    }
    return excess;
}

#if defined(KERNCAST_KC_SIMD_DSP_H)
#include "kc_outputs_dsp.h"
#endif

#ifndef kc_add_outputs
#define kc_add_outputs kc_portable_add_outputs
#endif
#ifndef kc_project_outputs
#define kc_project_outputs kc_portable_project_outputs
#endif
#ifndef kc_sum_squares
#define kc_sum_squares kc_portable_sum_squares
#endif

#endif
