/* kerncast runtime: kc_simd.h for ARMv7E-M, two words per instruction.  SPDX-License-Identifier: Apache-2.0
 * */
#ifndef KERNCAST_KC_SIMD_DSP_H
#define KERNCAST_KC_SIMD_DSP_H

#include <arm_acle.h>
#include <stdint.h>

/* Two words in memory order, aligned as one word. */
typedef int16x2_t kc_pair_t __attribute__((may_alias, aligned(2)));

/* Four bytes, aligned as one byte. */
typedef uint8x4_t kc_four_t __attribute__((may_alias, aligned(1)));

static inline const kc_pair_t *kc_dsp_pairs(const int16_t *words)
{
    return (const kc_pair_t *)(const void *)words;
}

/* kc_portable_saturate_16 */
static inline int32_t kc_dsp_saturate_16(int32_t v)
{
    return (int32_t)__builtin_arm_ssat(v, 16);
}

/* acc and the squares of two differences; the sum may leave int32, but not uint32. */
static inline int32_t kc_dsp_square_diff(int32_t acc, int16x2_t u, int16x2_t v)
{
    const int16x2_t d = __ssub16(u, v);

    return __smlad(d, d, acc);
}

/* kc_portable_square_diffs */
static inline uint32_t kc_dsp_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    const kc_pair_t *a = kc_dsp_pairs(u), *b = kc_dsp_pairs(v);
    int32_t acc = 0;
    int32_t left;

    for (left = n / 8; left > 0; left--) {
        acc = kc_dsp_square_diff(acc, a[0], b[0]);
        acc = kc_dsp_square_diff(acc, a[1], b[1]);
        acc = kc_dsp_square_diff(acc, a[2], b[2]);
        acc = kc_dsp_square_diff(acc, a[3], b[3]);
        a += 4;
        b += 4;
    }
    for (left = n / 2 % 4; left > 0; left--) {
        acc = kc_dsp_square_diff(acc, *a++, *b++);
    }
    return n % 2 == 0 ? (uint32_t)acc : kc_square_diff_i32((uint32_t)acc, u[n - 1], v[n - 1]);
}

/* kc_portable_square_diff_rows of up to 8 columns: u stays in registers. */
static inline void kc_dsp_short_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    const kc_pair_t *a = kc_dsp_pairs(u);
    const int16x2_t first = n > 1 ? a[0] : 0, second = n > 3 ? a[1] : 0;
    const int16x2_t third = n > 5 ? a[2] : 0, fourth = n > 7 ? a[3] : 0;
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i < rows; i++) {
        const kc_pair_t *b = kc_dsp_pairs(&v[i * n]);
        int32_t acc = n > 1 ? kc_dsp_square_diff(0, first, b[0]) : 0;

        acc = n > 3 ? kc_dsp_square_diff(acc, second, b[1]) : acc;
        acc = n > 5 ? kc_dsp_square_diff(acc, third, b[2]) : acc;
        acc = n > 7 ? kc_dsp_square_diff(acc, fourth, b[3]) : acc;
        d[i] = n % 2 == 0 ? (uint32_t)acc : kc_square_diff_i32((uint32_t)acc, u[n - 1], v[i * n + n - 1]);
    }
}

/* Sums of four rows. */
typedef struct {
    int32_t d0, d1, d2, d3;
} kc_dsp_four_t;

/* Two columns of u and of four rows that are `pairs` apart. */
static inline kc_dsp_four_t kc_dsp_four(kc_dsp_four_t d, int16x2_t u, const kc_pair_t *v, int32_t pairs)
{
    d.d0 = kc_dsp_square_diff(d.d0, u, v[0]);
    d.d1 = kc_dsp_square_diff(d.d1, u, v[pairs]);
    d.d2 = kc_dsp_square_diff(d.d2, u, v[2 * pairs]);
    d.d3 = kc_dsp_square_diff(d.d3, u, v[3 * pairs]);
    return d;
}

/* Eight columns of them. */
static inline kc_dsp_four_t kc_dsp_four_long(kc_dsp_four_t d, const kc_pair_t *u, const kc_pair_t *v,
    int32_t pairs)
{
    d = kc_dsp_four(d, u[0], &v[0], pairs);
    d = kc_dsp_four(d, u[1], &v[1], pairs);
    d = kc_dsp_four(d, u[2], &v[2], pairs);
    return kc_dsp_four(d, u[3], &v[3], pairs);
}

/* kc_portable_square_diff_rows: four long rows at a time share the loads of u. */
static inline void kc_dsp_square_diff_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    const int32_t pairs = n / 2;

    if (n <= 8) {
        kc_dsp_short_rows(u, v, n, rows, d);
        return;
    }
    for (; n % 2 == 0 && rows >= 4; rows -= 4) {
        const kc_pair_t *a = kc_dsp_pairs(u), *b = kc_dsp_pairs(v);
        kc_dsp_four_t sums = {0, 0, 0, 0};
        int32_t left;

        for (left = pairs / 16; left > 0; left--) {
            sums = kc_dsp_four_long(sums, a, b, pairs);
            sums = kc_dsp_four_long(sums, &a[4], &b[4], pairs);
            sums = kc_dsp_four_long(sums, &a[8], &b[8], pairs);
            sums = kc_dsp_four_long(sums, &a[12], &b[12], pairs);
            a += 16;
            b += 16;
        }
        for (left = pairs / 4 % 4; left > 0; left--) {
            sums = kc_dsp_four_long(sums, a, b, pairs);
            a += 4;
            b += 4;
        }
        for (left = pairs % 4; left > 0; left--) {
            sums = kc_dsp_four(sums, *a++, b++, pairs);
        }
        *d++ = (uint32_t)sums.d0;
        *d++ = (uint32_t)sums.d1;
        *d++ = (uint32_t)sums.d2;
        *d++ = (uint32_t)sums.d3;
        v = (const int16_t *)(const void *)(b + 3 * pairs);
    }
    for (; rows > 0; rows--) {
        *d++ = kc_dsp_square_diffs(u, v, n);
        v += n;
    }
}

/* kc_portable_find_8, eight bytes at a time. */
static inline int32_t kc_dsp_find_8(const uint8_t *words, int32_t from, int32_t count, uint8_t word)
{
    const uint8x4_t ones = UINT32_C(0x01010101);
    const uint8x4_t wanted = word * ones;

    for (; from + 8 <= count; from += 8) {
        const kc_four_t *four = (const kc_four_t *)(const void *)&words[from];

        if ((__uqsub8(ones, four[0] ^ wanted) | __uqsub8(ones, four[1] ^ wanted)) != 0U) {
            break; /* 1 - 0 is left where a byte is the word, else nothing */
        }
    }
    return kc_portable_find_8(words, from, count, word);
}

/* kc_portable_dec_if_gt_u8: the differences' signs choose the bytes of SEL. */
static inline void kc_dsp_dec_if_gt_u8(uint8_t *words, int32_t count, uint8_t limit)
{
    const uint8x4_t limits = limit * UINT32_C(0x01010101);
    kc_four_t *four = (kc_four_t *)(void *)words;
    int32_t left;

    KC_UNROLL(2)
    for (left = count / 4; left > 0; left--) {
        const uint8x4_t x = *four;

        (void)__usub8(limits, x);
        *four++ = x - __sel(0, UINT32_C(0x01010101));
    }
    kc_portable_dec_if_gt_u8(&words[count - count % 4], count % 4, limit);
}

#endif
