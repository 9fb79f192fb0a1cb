/* kerncast runtime: kc_outputs.h for ARMv7E-M, two products per instruction.  SPDX-License-Identifier: Apache-2.0
 * */
#ifndef KERNCAST_KC_OUTPUTS_DSP_H
#define KERNCAST_KC_OUTPUTS_DSP_H

#include "kc_simd_dsp.h"

#if KC_DSP_LDM

/* acc + the lower word of a pair * the lower word of k. */
static inline int64_t kc_dsp_add_lower(int64_t acc, int16x2_t pair, int32_t k)
{
    __asm__("smlalbb %Q0, %R0, %1, %2" : "+r"(acc) : "r"(pair), "r"(k));
    return acc;
}

/* acc + the upper word of a pair * the lower word of k. */
static inline int64_t kc_dsp_add_upper(int64_t acc, int16x2_t pair, int32_t k)
{
    __asm__("smlaltb %Q0, %R0, %1, %2" : "+r"(acc) : "r"(pair), "r"(k));
    return acc;
}

#define KC_DSP_ADD_ROW(k) \
    "smlalbb %Q[first], %R[first], %[pair], " k "\n\t" \
    "smlaltb %Q[second], %R[second], %[pair], " k "\n\t"
#define KC_DSP_ADD_ROWS(k, next) \
    "ldr %[pair], [%[alpha]]\n\t" KC_DSP_ADD_ROW(k) \
    "ldr %[pair], [%[alpha], %[stride]]\n\t" KC_DSP_ADD_ROW(next) \
    "add %[alpha], %[alpha], %[stride], lsl #1\n\t"

/* kc_portable_add_outputs of two columns, with the lower word of k as a signed one. */
static inline void kc_dsp_add_two(const int16_t *alpha, int32_t columns, const int32_t *k, int32_t rows,
    int64_t *acc)
{
    const int32_t *const end = &k[rows];
    const int32_t *const fours = &k[rows & ~3];
    int64_t first = acc[0], second = acc[1];

    if (k != fours) {
        int32_t pair; /* the coefficients of a row */

        /* Four rows at a time: no compiler loads their k by one instruction. */
        __asm__ volatile(
            "1:\n\t"
            "ldmia %[k]!, {r4, r5, r6, r8}\n\t"
            KC_DSP_ADD_ROWS("r4", "r5")
            KC_DSP_ADD_ROWS("r6", "r8")
            "cmp %[k], %[fours]\n\t"
            "bne 1b\n\t"
            : [first] "+r"(first), [second] "+r"(second), [alpha] "+r"(alpha), [k] "+r"(k), [pair] "=&r"(pair)
            : [stride] "r"(2 * columns), [fours] "r"(fours)
            : "r4", "r5", "r6", "r8", "cc", "memory");
    }
    for (; k < end; k++) {
        const int16x2_t pair = *kc_dsp_pairs(alpha);

        first = kc_dsp_add_lower(first, pair, *k);
        second = kc_dsp_add_upper(second, pair, *k);
        alpha += columns;
    }
    acc[0] = first;
    acc[1] = second;
}

/* kc_portable_add_outputs */
static KC_NOINLINE void kc_dsp_add_outputs(const int16_t *alpha, int32_t columns, const int32_t *k,
    int32_t rows, int64_t *acc)
{
    int32_t all = 0;
    int32_t c, j;

    for (c = 0; c + 2 <= columns; c += 2) {
        kc_dsp_add_two(&alpha[c], columns, k, rows, &acc[c]);
    }
    if (c < columns) {
        kc_portable_add_two(&alpha[c], columns, k, rows, &acc[c], 0);
    }
    KC_UNROLL(4)
    for (j = 0; j < rows; j++) {
        all |= k[j];
    }
    for (j = 0; all > INT16_MAX && j < rows; j++) {
        const int32_t lacking = k[j] > INT16_MAX ? INT32_C(1) << 16 : 0; /* 2^15 was multiplied as -2^15 */

        for (c = 0; lacking != 0 && c < (columns & ~1); c++) {
            acc[c] += (int64_t)alpha[j * columns + c] * lacking;
        }
    }
}

#define kc_add_outputs kc_dsp_add_outputs

#endif

/* Add from k / 2^15, rounded half up, to two coefficients; returns not 0 if one saturated. 0 <= k < 2^15. */
static inline int32_t kc_dsp_project_two(kc_pair_t *alpha, const kc_pair_t *from, int32_t k)
{
    const int16x2_t pair = *from;
    const int16x2_t old = *alpha;
    int32_t lower, upper; /* products, from which bits 15 to 30 are the steps */
    int16x2_t steps, sum;

    __asm__("smlabb %0, %1, %2, %3" : "=r"(lower) : "r"(pair), "r"(k), "r"(INT32_C(1) << 14));
    __asm__("smlatb %0, %1, %2, %3" : "=r"(upper) : "r"(pair), "r"(k), "r"(INT32_C(1) << 14));
    __asm__("pkhtb %0, %1, %2, asr #15" : "=r"(steps) : "r"((uint32_t)upper << 1), "r"(lower));
    sum = __qadd16(old, steps);
    *alpha = sum;
    return (int32_t)sum ^ (int32_t)__sadd16(old, steps);
}

/* kc_portable_project_outputs */
static inline int32_t kc_dsp_project_outputs(int16_t *alpha, const int16_t *from, int32_t columns, int32_t k,
    int32_t shift, int32_t rounding)
{
    int32_t excess = 0;
    int32_t c;

    if (shift != 15 || rounding != KC_HALF_UP || k > INT16_MAX) {
        return kc_portable_project_outputs(alpha, from, columns, k, shift, rounding);
    }
    KC_UNROLL(8)
    for (c = 0; c < (columns & ~1); c += 2) {
        excess |= kc_dsp_project_two((kc_pair_t *)(void *)&alpha[c], kc_dsp_pairs(&from[c]), k);
    }
    if (c < columns) {
        excess |= kc_portable_project_outputs(&alpha[c], &from[c], 1, k, shift, rounding);
    }
    return excess;
}

#define kc_project_outputs kc_dsp_project_outputs

/* kc_portable_sum_squares */
static inline int64_t kc_dsp_sum_squares(const int16_t *words, int32_t n)
{
    int64_t sum = 0;
    int32_t i;

    for (i = 0; i + 1 < n; i += 2) {
        const int16x2_t pair = *kc_dsp_pairs(&words[i]);

        sum = __smlald(pair, pair, sum);
    }
    if (i < n) {
        sum += (int64_t)words[i] * words[i];
    }
    return sum;
}

#define kc_sum_squares kc_dsp_sum_squares

#endif
