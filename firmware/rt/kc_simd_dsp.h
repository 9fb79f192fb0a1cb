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

/* Columns of a pass of a long row: a loop of few is shorter. */
#if defined(__OPTIMIZE_SIZE__)
#define KC_DSP_MANY INT32_MAX
#define KC_DSP_SOME INT32_MAX
#else
#define KC_DSP_MANY 32
#define KC_DSP_SOME 16
#endif

/* kc_portable_saturate_16 */
static inline int32_t kc_dsp_saturate_16(int32_t v)
{
    return (int32_t)__builtin_arm_ssat(v, 16);
}

/* kc_portable_saturate_unsigned */
#define kc_dsp_saturate_unsigned(v, bits) ((int32_t)__builtin_arm_usat(v, bits))

/* acc and the squares of two differences; the sum may leave int32, but not uint32. */
static inline int32_t kc_dsp_square_diff(int32_t acc, int16x2_t u, int16x2_t v)
{
    const int16x2_t d = __ssub16(u, v);

    return __smlad(d, d, acc);
}

/* Four words in memory order, aligned as two words. */
typedef int64_t kc_quad_t __attribute__((may_alias, aligned(4)));

/* The first two and the last two of them. */
typedef struct {
    int16x2_t first, last;
} kc_dsp_halves_t;

/* 1 if both may be read by LDRD, which faults at an odd halfword. */
static inline int32_t kc_dsp_are_aligned(const int16_t *u, const int16_t *v)
{
    return (((uintptr_t)(const void *)u | (uintptr_t)(const void *)v) & 3U) == 0U;
}

static inline const kc_quad_t *kc_dsp_quads(const int16_t *words)
{
    return (const kc_quad_t *)(const void *)words;
}

/* LDRD: no compiler makes it of an access that is aligned to 4 bytes only. */
static inline kc_dsp_halves_t kc_dsp_load(const kc_quad_t *words)
{
    kc_dsp_halves_t halves;

    __asm__("ldrd %0, %1, %2" : "=r"(halves.first), "=r"(halves.last) : "Uv"(*words));
    return halves;
}

/* acc and the squares of four differences. */
static inline int32_t kc_dsp_square_diff_quad(int32_t acc, kc_dsp_halves_t u, const kc_quad_t *v)
{
    const kc_dsp_halves_t w = kc_dsp_load(v);

    acc = kc_dsp_square_diff(acc, u.first, w.first);
    return kc_dsp_square_diff(acc, u.last, w.last);
}

/* acc and the squares of the differences of four columns. */
static inline int32_t kc_dsp_add_four(int32_t acc, const int16_t *u, const int16_t *v)
{
    return kc_dsp_square_diff_quad(acc, kc_dsp_load(kc_dsp_quads(u)), kc_dsp_quads(v));
}

/* kc_portable_square_diffs */
static inline uint32_t kc_dsp_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    const int16_t *const end = &u[n];
    int32_t acc = 0;

    if (kc_dsp_are_aligned(u, v) != 0) {
        int32_t left;

        for (left = n / KC_DSP_SOME; left > 0; left--) {
            acc = kc_dsp_add_four(acc, u, v);
            acc = kc_dsp_add_four(acc, &u[4], &v[4]);
            acc = kc_dsp_add_four(acc, &u[8], &v[8]);
            acc = kc_dsp_add_four(acc, &u[12], &v[12]);
            u += 16;
            v += 16;
        }
        for (left = n % KC_DSP_SOME / 4; left > 0; left--) {
            acc = kc_dsp_add_four(acc, u, v);
            u += 4;
            v += 4;
        }
    }
    for (; end - u >= 2; u += 2) {
        acc = kc_dsp_square_diff(acc, *kc_dsp_pairs(u), *kc_dsp_pairs(v));
        v += 2;
    }
    return n % 2 == 0 ? (uint32_t)acc : kc_square_diff_i32((uint32_t)acc, *u, *v);
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

/* Four columns of u and of four rows that are n words apart. */
static KC_INLINE kc_dsp_four_t kc_dsp_four(kc_dsp_four_t d, const int16_t *u, const int16_t *v, int32_t n)
{
    const kc_dsp_halves_t w = kc_dsp_load(kc_dsp_quads(u));

    d.d0 = kc_dsp_square_diff_quad(d.d0, w, kc_dsp_quads(v));
    d.d1 = kc_dsp_square_diff_quad(d.d1, w, kc_dsp_quads(&v[n]));
    d.d2 = kc_dsp_square_diff_quad(d.d2, w, kc_dsp_quads(&v[2 * n]));
    d.d3 = kc_dsp_square_diff_quad(d.d3, w, kc_dsp_quads(&v[3 * n]));
    return d;
}

/* Sixteen columns of them. */
static KC_INLINE kc_dsp_four_t kc_dsp_four_long(kc_dsp_four_t d, const int16_t *u, const int16_t *v,
    int32_t n)
{
    d = kc_dsp_four(d, u, v, n);
    d = kc_dsp_four(d, &u[4], &v[4], n);
    d = kc_dsp_four(d, &u[8], &v[8], n);
    return kc_dsp_four(d, &u[12], &v[12], n);
}

/* The last two columns of them. */
static KC_INLINE kc_dsp_four_t kc_dsp_four_last(kc_dsp_four_t d, const int16_t *u, const int16_t *v,
    int32_t n)
{
    const int16x2_t w = *kc_dsp_pairs(u);

    d.d0 = kc_dsp_square_diff(d.d0, w, *kc_dsp_pairs(v));
    d.d1 = kc_dsp_square_diff(d.d1, w, *kc_dsp_pairs(&v[n]));
    d.d2 = kc_dsp_square_diff(d.d2, w, *kc_dsp_pairs(&v[2 * n]));
    d.d3 = kc_dsp_square_diff(d.d3, w, *kc_dsp_pairs(&v[3 * n]));
    return d;
}

/* kc_portable_square_diff_rows: four long rows at a time share the loads of u. */
static inline void kc_dsp_square_diff_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    if (n <= 8) {
        kc_dsp_short_rows(u, v, n, rows, d);
        return;
    }
    if (n % 2 == 0 && kc_dsp_are_aligned(u, v) != 0) {
        for (; rows >= 4; rows -= 4) {
            const int16_t *a = u;
            kc_dsp_four_t sums = {0, 0, 0, 0};
            int32_t left;

            for (left = n / KC_DSP_MANY; left > 0; left--) {
                sums = kc_dsp_four_long(sums, a, v, n);
                sums = kc_dsp_four_long(sums, &a[16], &v[16], n);
                a += 32;
                v += 32;
            }
            for (left = n % KC_DSP_MANY / 4; left > 0; left--) {
                sums = kc_dsp_four(sums, a, v, n);
                a += 4;
                v += 4;
            }
            if (n % 4 != 0) {
                sums = kc_dsp_four_last(sums, a, v, n);
                v += 2;
            }
            *d++ = (uint32_t)sums.d0;
            *d++ = (uint32_t)sums.d1;
            *d++ = (uint32_t)sums.d2;
            *d++ = (uint32_t)sums.d3;
            v += 3 * n;
        }
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
