/* kerncast runtime: kc_simd.h for MIPS DSPr2, two words per instruction.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_SIMD_DSPR2_H
#define KERNCAST_KC_SIMD_DSPR2_H

#include <stdint.h>

typedef int16_t kc_dspr2_words_t __attribute__((vector_size(4)));

/* Two words in memory order, aligned to two and to four bytes. */
typedef kc_dspr2_words_t kc_dspr2_pair_t __attribute__((may_alias, aligned(2)));
typedef kc_dspr2_words_t kc_dspr2_whole_t __attribute__((may_alias, aligned(4)));

#define kc_dspr2_find_8 kc_portable_find_8
#define kc_dspr2_widen_8 kc_portable_widen_8
#define kc_dspr2_saturate_8 kc_portable_saturate_8
#define kc_dspr2_dec_if_gt_u8 kc_portable_dec_if_gt_u8

#define kc_dspr2_saturate_unsigned kc_portable_saturate_unsigned

/* kc_portable_saturate_16 */
static inline int32_t kc_dspr2_saturate_16(int32_t v)
{
    return __builtin_mips_shll_s_w(v, 16) >> 16;
}

/* acc and the squares of two differences, in 64 bits. */
static inline int64_t kc_dspr2_square_diff(int64_t acc, kc_dspr2_words_t u, kc_dspr2_words_t v)
{
    const kc_dspr2_words_t d = u - v;

    return __builtin_mips_dpa_w_ph(acc, d, d);
}

/* kc_portable_square_diffs */
static inline uint32_t kc_dspr2_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    const kc_dspr2_pair_t *a = (const kc_dspr2_pair_t *)(const void *)u;
    const kc_dspr2_pair_t *b = (const kc_dspr2_pair_t *)(const void *)v;
    int64_t acc = 0;
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i < n / 2; i++) {
        acc = kc_dspr2_square_diff(acc, a[i], b[i]);
    }
    return n % 2 == 0 ? (uint32_t)acc : kc_square_diff_i32((uint32_t)acc, u[n - 1], v[n - 1]);
}

/* kc_portable_square_diff_rows: four rows at a time, an accumulator each, share the loads of u. */
static inline void kc_dspr2_square_diff_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    const int32_t pairs = n / 2;
    const int32_t together = n % 2 == 0 && (((uintptr_t)u | (uintptr_t)v) & 3U) == 0U ? 4 : INT32_MAX;

    for (; rows >= together; rows -= 4) {
        const kc_dspr2_whole_t *a = (const kc_dspr2_whole_t *)(const void *)u;
        const kc_dspr2_whole_t *b = (const kc_dspr2_whole_t *)(const void *)v;
        int64_t first = 0, second = 0, third = 0, fourth = 0;
        int32_t i;

        KC_UNROLL(4)
        for (i = 0; i < pairs; i++) {
            first = kc_dspr2_square_diff(first, a[i], b[i]);
            second = kc_dspr2_square_diff(second, a[i], b[i + pairs]);
            third = kc_dspr2_square_diff(third, a[i], b[i + 2 * pairs]);
            fourth = kc_dspr2_square_diff(fourth, a[i], b[i + 3 * pairs]);
        }
        *d++ = (uint32_t)first;
        *d++ = (uint32_t)second;
        *d++ = (uint32_t)third;
        *d++ = (uint32_t)fourth;
        v += 4 * n;
    }
    for (; rows > 0; rows--) {
        *d++ = kc_dspr2_square_diffs(u, v, n);
        v += n;
    }
}

typedef int8_t kc_dspr2_bytes_t __attribute__((vector_size(4)));

/* Four bytes in memory order, aligned to one and to four bytes. */
typedef int32_t kc_dspr2_four_t __attribute__((may_alias, aligned(1)));
typedef int32_t kc_dspr2_aligned_t __attribute__((may_alias, aligned(4)));

/* Four bytes as unsigned bytes in the same order: the sign bits are inverted. */
static inline kc_dspr2_bytes_t kc_dspr2_in_order(int32_t four, uint32_t sign)
{
    return (kc_dspr2_bytes_t)(four ^ (int32_t)(sign * UINT32_C(0x01010101)));
}

static inline kc_dspr2_bytes_t kc_dspr2_load_8(const uint8_t *words, uint32_t sign)
{
    return kc_dspr2_in_order(*(const kc_dspr2_four_t *)(const void *)words, sign);
}

/* acc and the squares of four differences, in 64 bits. */
static inline int64_t kc_dspr2_square_diff_8(int64_t acc, kc_dspr2_bytes_t u, kc_dspr2_bytes_t v)
{
    acc = kc_dspr2_square_diff(acc, __builtin_mips_preceu_ph_qbr(u), __builtin_mips_preceu_ph_qbr(v));
    return kc_dspr2_square_diff(acc, __builtin_mips_preceu_ph_qbl(u), __builtin_mips_preceu_ph_qbl(v));
}

/* kc_portable_square_diffs_8 */
static inline uint32_t kc_dspr2_square_diffs_8(const uint8_t *u, const uint8_t *v, int32_t n, uint32_t sign)
{
    int64_t acc = 0;
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i + 4 <= n; i += 4) {
        acc = kc_dspr2_square_diff_8(acc, kc_dspr2_load_8(&u[i], sign), kc_dspr2_load_8(&v[i], sign));
    }
    return (uint32_t)acc + kc_portable_square_diffs_8(&u[i], &v[i], n - i, sign);
}

/* kc_portable_square_diff_rows_8: four rows at a time, an accumulator each, share the loads of u. */
static inline void kc_dspr2_square_diff_rows_8(const uint8_t *restrict u, const uint8_t *restrict v,
    int32_t n, int32_t rows, uint32_t *restrict d, uint32_t sign)
{
    const int32_t fours = n / 4;
    const int32_t together = n % 4 == 0 && (((uintptr_t)u | (uintptr_t)v) & 3U) == 0U ? 4 : INT32_MAX;

    for (; rows >= together; rows -= 4) {
        const kc_dspr2_aligned_t *a = (const kc_dspr2_aligned_t *)(const void *)u;
        const kc_dspr2_aligned_t *b = (const kc_dspr2_aligned_t *)(const void *)v;
        int64_t first = 0, second = 0, third = 0, fourth = 0;
        int32_t i;

        for (i = 0; i < fours; i++) {
            const kc_dspr2_bytes_t x = kc_dspr2_in_order(a[i], sign);

            first = kc_dspr2_square_diff_8(first, x, kc_dspr2_in_order(b[i], sign));
            second = kc_dspr2_square_diff_8(second, x, kc_dspr2_in_order(b[i + fours], sign));
            third = kc_dspr2_square_diff_8(third, x, kc_dspr2_in_order(b[i + 2 * fours], sign));
            fourth = kc_dspr2_square_diff_8(fourth, x, kc_dspr2_in_order(b[i + 3 * fours], sign));
        }
        *d++ = (uint32_t)first;
        *d++ = (uint32_t)second;
        *d++ = (uint32_t)third;
        *d++ = (uint32_t)fourth;
        v += 4 * n;
    }
    for (; rows > 0; rows--) {
        *d++ = kc_dspr2_square_diffs_8(u, v, n, sign);
        v += n;
    }
}

#endif
