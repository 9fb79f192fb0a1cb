/* kerncast runtime: kc_simd.h for Hexagon register pairs, four words per instruction.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_SIMD_Q6_H
#define KERNCAST_KC_SIMD_Q6_H

#include <hexagon_protos.h>
#include <stdint.h>

/* Four words in memory order, aligned to four bytes, as the CPU core requires. */
typedef int64_t kc_q6_four_t __attribute__((may_alias, aligned(4)));

#define kc_q6_find_8 kc_portable_find_8
#define kc_q6_widen_8 kc_portable_widen_8
#define kc_q6_saturate_8 kc_portable_saturate_8
#define kc_q6_dec_if_gt_u8 kc_portable_dec_if_gt_u8

/* 1 if both pointers are aligned for loads of four words, else 0. */
static inline int32_t kc_q6_loads(const int16_t *u, const int16_t *v)
{
    return (((uintptr_t)u | (uintptr_t)v) & 3U) == 0U ? 1 : 0;
}

static inline const kc_q6_four_t *kc_q6_fours(const int16_t *words)
{
    return (const kc_q6_four_t *)(const void *)words;
}

#define kc_q6_saturate_unsigned kc_portable_saturate_unsigned

/* kc_portable_saturate_16 */
static inline int32_t kc_q6_saturate_16(int32_t v)
{
    return Q6_R_sath_R(v);
}

/* acc and the squares of four differences, in 64 bits. */
static inline int64_t kc_q6_square_diff(int64_t acc, int64_t u, int64_t v)
{
    const int64_t d = Q6_P_vsubh_PP(u, v);

    return Q6_P_vrmpyhacc_PP(acc, d, d);
}

/* kc_portable_square_diffs */
static inline uint32_t kc_q6_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    const int32_t fours = kc_q6_loads(u, v) != 0 ? n / 4 : 0;
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < fours; i++) {
        acc = kc_q6_square_diff(acc, kc_q6_fours(u)[i], kc_q6_fours(v)[i]);
    }
    return (uint32_t)acc + kc_portable_square_diffs(&u[4 * fours], &v[4 * fours], n - 4 * fours);
}

/* kc_portable_square_diff_rows: four long rows at a time share the loads of u. */
static inline void kc_q6_square_diff_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    const int32_t fours = n / 4;
    const int32_t together = n % 4 == 0 && kc_q6_loads(u, v) != 0 ? 4 : INT32_MAX;

    for (; rows >= together; rows -= 4) {
        const kc_q6_four_t *a = kc_q6_fours(u), *b = kc_q6_fours(v);
        int64_t first = 0, second = 0, third = 0, fourth = 0;
        int32_t i;

#pragma clang loop unroll(disable)
        for (i = 0; i < fours; i++) {
            first = kc_q6_square_diff(first, a[i], b[i]);
            second = kc_q6_square_diff(second, a[i], b[i + fours]);
            third = kc_q6_square_diff(third, a[i], b[i + 2 * fours]);
            fourth = kc_q6_square_diff(fourth, a[i], b[i + 3 * fours]);
        }
        *d++ = (uint32_t)first;
        *d++ = (uint32_t)second;
        *d++ = (uint32_t)third;
        *d++ = (uint32_t)fourth;
        v += 4 * n;
    }
    for (; rows > 0; rows--) {
        *d++ = kc_q6_square_diffs(u, v, n);
        v += n;
    }
}

/* 1 if both pointers are aligned for loads of eight bytes, else 0. */
static inline int32_t kc_q6_loads_8(const uint8_t *u, const uint8_t *v)
{
    return (((uintptr_t)u | (uintptr_t)v) & 3U) == 0U ? 1 : 0;
}

static inline const kc_q6_four_t *kc_q6_eights(const uint8_t *words)
{
    return (const kc_q6_four_t *)(const void *)words;
}

/* acc and the squares of eight differences, as two sums. */
static inline int64_t kc_q6_square_diff_8(int64_t acc, int64_t u, int64_t v, uint32_t sign)
{
    const int64_t d = sign != 0U ? Q6_P_vabsdiffb_PP(u, v) : Q6_P_vabsdiffub_PP(u, v);

    return Q6_P_vrmpybuacc_PP(acc, d, d);
}

/* The sum of both sums. */
static inline uint32_t kc_q6_sum(int64_t sums)
{
    return (uint32_t)sums + (uint32_t)((uint64_t)sums >> 32);
}

/* kc_portable_square_diffs_8 */
static inline uint32_t kc_q6_square_diffs_8(const uint8_t *u, const uint8_t *v, int32_t n, uint32_t sign)
{
    const int32_t eights = kc_q6_loads_8(u, v) != 0 ? n / 8 : 0;
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < eights; i++) {
        acc = kc_q6_square_diff_8(acc, kc_q6_eights(u)[i], kc_q6_eights(v)[i], sign);
    }
    return kc_q6_sum(acc) + kc_portable_square_diffs_8(&u[8 * eights], &v[8 * eights], n - 8 * eights, sign);
}

/* kc_portable_square_diff_rows_8: four long rows at a time share the loads of u. */
static inline void kc_q6_square_diff_rows_8(const uint8_t *restrict u, const uint8_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d, uint32_t sign)
{
    const int32_t eights = n / 8;
    const int32_t together = n % 8 == 0 && kc_q6_loads_8(u, v) != 0 ? 4 : INT32_MAX;

    for (; rows >= together; rows -= 4) {
        const kc_q6_four_t *a = kc_q6_eights(u), *b = kc_q6_eights(v);
        int64_t first = 0, second = 0, third = 0, fourth = 0;
        int32_t i;

#pragma clang loop unroll(disable)
        for (i = 0; i < eights; i++) {
            first = kc_q6_square_diff_8(first, a[i], b[i], sign);
            second = kc_q6_square_diff_8(second, a[i], b[i + eights], sign);
            third = kc_q6_square_diff_8(third, a[i], b[i + 2 * eights], sign);
            fourth = kc_q6_square_diff_8(fourth, a[i], b[i + 3 * eights], sign);
        }
        *d++ = kc_q6_sum(first);
        *d++ = kc_q6_sum(second);
        *d++ = kc_q6_sum(third);
        *d++ = kc_q6_sum(fourth);
        v += 4 * n;
    }
    for (; rows > 0; rows--) {
        *d++ = kc_q6_square_diffs_8(u, v, n, sign);
        v += n;
    }
}

#endif
