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

/* Columns that LDM loads at a time. LDRD loads them if size counts, or if registers are not free: without
 * optimisation, or where r9 is the base of data. */
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && defined(__thumb2__) && !defined(__ARM_RWPI)
#define KC_DSP_LDM 1
#define KC_DSP_COLUMNS 8
#else
#define KC_DSP_LDM 0
#define KC_DSP_COLUMNS INT32_MAX
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

#if KC_DSP_LDM
/* LDM needs registers in ascending order, so they are named here; r7 is left to a frame pointer. */
#define KC_DSP_LOAD_U "ldmia %[u]!, {r4, r5, r6, r8}\n\t"
#define KC_DSP_DIFFS(v) \
    "ldmia %[" v "]!, {r10, r11, r12, lr}\n\t" \
    "ssub16 r10, r4, r10\n\t" \
    "ssub16 r11, r5, r11\n\t" \
    "ssub16 r12, r6, r12\n\t" \
    "ssub16 lr, r8, lr\n\t"
#define KC_DSP_FIRST(acc) "smuad %[" acc "], r10, r10\n\t"
#define KC_DSP_NEXT(acc) "smlad %[" acc "], r10, r10, %[" acc "]\n\t"
#define KC_DSP_REST(acc) \
    "smlad %[" acc "], r11, r11, %[" acc "]\n\t" \
    "smlad %[" acc "], r12, r12, %[" acc "]\n\t" \
    "smlad %[" acc "], lr, lr, %[" acc "]\n\t"
#define KC_DSP_TAKEN "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "memory"

/* acc and the squares of the differences of eight columns; u and v then point behind them. */
static KC_INLINE int32_t kc_dsp_add_eight(int32_t acc, const int16_t **u, const int16_t **v)
{
    __asm__(KC_DSP_LOAD_U KC_DSP_DIFFS("v") KC_DSP_NEXT("acc") KC_DSP_REST("acc")
            : [u] "+r"(*u), [v] "+r"(*v), [acc] "+r"(acc) : : KC_DSP_TAKEN);
    return acc;
}

/* All columns of two adjacent rows, n >= 8 and even: the sums d[0] and d[1]; v then points at the second row. */
static KC_INLINE void kc_dsp_two_rows(const int16_t *u, const int16_t **v, int32_t n, uint32_t *d)
{
    const int16_t *w = &(*v)[n];
    int32_t d0, d1, left;

    __asm__(KC_DSP_LOAD_U KC_DSP_DIFFS("v") KC_DSP_FIRST("d0") KC_DSP_REST("d0")
            KC_DSP_DIFFS("w") KC_DSP_FIRST("d1") KC_DSP_REST("d1")
            : [u] "+r"(u), [v] "+r"(*v), [w] "+r"(w), [d0] "=&r"(d0), [d1] "=&r"(d1) : : KC_DSP_TAKEN);
    KC_UNROLL(8)
    for (left = n / 8 - 1; left > 0; left--) {
        __asm__(KC_DSP_LOAD_U KC_DSP_DIFFS("v") KC_DSP_NEXT("d0") KC_DSP_REST("d0")
                KC_DSP_DIFFS("w") KC_DSP_NEXT("d1") KC_DSP_REST("d1")
                : [u] "+r"(u), [v] "+r"(*v), [w] "+r"(w), [d0] "+r"(d0), [d1] "+r"(d1) : : KC_DSP_TAKEN);
    }
    for (left = n % 8 / 2; left > 0; left--) {
        d0 = kc_dsp_square_diff(d0, *kc_dsp_pairs(u), *kc_dsp_pairs(*v));
        d1 = kc_dsp_square_diff(d1, *kc_dsp_pairs(u), *kc_dsp_pairs(w));
        u += 2;
        *v += 2;
        w += 2;
    }
    d[0] = (uint32_t)d0;
    d[1] = (uint32_t)d1;
}
#endif

/* kc_portable_square_diffs */
static inline uint32_t kc_dsp_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    const int16_t *const end = &u[n];
    int32_t acc = 0;

    if (kc_dsp_are_aligned(u, v) != 0) {
        int32_t left;

#if KC_DSP_LDM
        KC_UNROLL(2)
        for (left = n / KC_DSP_COLUMNS; left > 0; left--) {
            acc = kc_dsp_add_eight(acc, &u, &v);
        }
        if (n % KC_DSP_COLUMNS == 0) {
            return (uint32_t)acc;
        }
#endif
        for (left = n % KC_DSP_COLUMNS / 4; left > 0; left--) {
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

/* kc_portable_square_diff_rows: two or four rows at a time share the loads of u. */
static inline void kc_dsp_square_diff_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    if (n <= 8) {
        kc_dsp_short_rows(u, v, n, rows, d);
        return;
    }
    if (n % 2 == 0 && kc_dsp_are_aligned(u, v) != 0) {
#if KC_DSP_LDM
        if (n >= 2 * KC_DSP_COLUMNS) {
            const int16_t *const end = &v[(rows - rows % 2) * n];
            const int16_t *a = v;

            while (a < end) {
                kc_dsp_two_rows(u, &a, n, d);
                a += n;
                d += 2;
            }
            v = end;
            rows %= 2;
        }
#endif
        for (; rows >= 4; rows -= 4) {
            const int16_t *a = u;
            kc_dsp_four_t sums = {0, 0, 0, 0};
            int32_t left;

            for (left = n / 4; left > 0; left--) {
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

/* Four bytes, each limited to 2^bits - 1; bits is a literal. */
static inline uint8x4_t kc_dsp_limit_8(uint8x4_t w, uint32_t bits)
{
    const uint8x4_t room = ((UINT32_C(1) << 8) - (UINT32_C(1) << bits)) * UINT32_C(0x01010101);

    return bits < 8U ? __uqsub8(__uqadd8(w, room), room) : w;
}

/* kc_portable_widen_8, four bytes at a time: UXTB16 takes every other byte, PKHBT and PKHTB restore the order. */
static inline void kc_dsp_widen_8(const uint8_t *bytes, uint16_t *words, int32_t n, uint32_t bits)
{
    const kc_four_t *four = (const kc_four_t *)(const void *)bytes;
    kc_pair_t *pairs = (kc_pair_t *)(void *)words;
    int32_t left;

    KC_UNROLL(4)
    for (left = n / 4; left > 0; left--) {
        const uint8x4_t w = kc_dsp_limit_8(*four, bits);
        uint16x2_t even, odd; /* compilers disagree on the signs of __uxtb16 */

        __asm__("uxtb16 %0, %1" : "=r"(even) : "r"(w));
        __asm__("uxtb16 %0, %1, ror #8" : "=r"(odd) : "r"(w));
        __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(pairs[0]) : "r"(even), "r"(odd));
        __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(pairs[1]) : "r"(odd), "r"(even));
        four++;
        pairs += 2;
    }
    kc_portable_widen_8(&bytes[n - n % 4], &words[n - n % 4], n % 4, bits);
}

/* kc_portable_saturate_8, four bytes at a time. */
static inline void kc_dsp_saturate_8(const uint8_t *bytes, uint8_t *limited, int32_t n, uint32_t bits)
{
    const kc_four_t *four = (const kc_four_t *)(const void *)bytes;
    kc_four_t *to = (kc_four_t *)(void *)limited;
    int32_t left;

    KC_UNROLL(4)
    for (left = n / 4; left > 0; left--) {
        *to = kc_dsp_limit_8(*four, bits);
        four++;
        to++;
    }
    kc_portable_saturate_8(&bytes[n - n % 4], &limited[n - n % 4], n % 4, bits);
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

#include "kc_simd_dsp_8.h"

#endif
