/* kerncast runtime: distances of bytes for kc_simd_dsp.h.  SPDX-License-Identifier: Apache-2.0
 *
 * SXTAB16 and UXTAB16 add every other byte to two words: to -u they add v.
 */
#ifndef KERNCAST_KC_SIMD_DSP_8_H
#define KERNCAST_KC_SIMD_DSP_8_H

/* Groups of four columns that are negated at a time. */
#define KC_DSP_GROUPS 16

/* -u of four bytes: columns 0 and 2, and columns 1 and 3. */
typedef struct {
    int16x2_t even, odd;
} kc_dsp_negated_t;

/* `use` with the instruction that adds signed bytes, or unsigned ones; `sign` is a literal. */
#define KC_DSP_CHOOSE(sign, use) \
    if ((sign) != 0U) { \
        use("sxtab16"); \
    } else { \
        use("uxtab16"); \
    }

static inline uint8x4_t kc_dsp_bytes(const uint8_t *words)
{
    return *(const kc_four_t *)(const void *)words;
}

#define KC_DSP_ADD_EVEN(add) __asm__(add " %0, %1, %2" : "=r"(sum) : "r"(a), "r"(v))
#define KC_DSP_ADD_ODD(add) __asm__(add " %0, %1, %2, ror #8" : "=r"(sum) : "r"(a), "r"(v))

/* a + bytes 0 and 2 of v; compilers disagree on the signs of the intrinsics. */
static KC_INLINE int16x2_t kc_dsp_add_even(int16x2_t a, uint8x4_t v, uint32_t sign)
{
    int16x2_t sum;

    KC_DSP_CHOOSE(sign, KC_DSP_ADD_EVEN)
    return sum;
}

/* a + bytes 1 and 3 of v; no intrinsic rotates. */
static KC_INLINE int16x2_t kc_dsp_add_odd(int16x2_t a, uint8x4_t v, uint32_t sign)
{
    int16x2_t sum;

    KC_DSP_CHOOSE(sign, KC_DSP_ADD_ODD)
    return sum;
}

#if KC_DSP_LDM
#define KC_DSP_NEGATE(add) \
    __asm__ volatile("ldmia %[u]!, {r10, r11}\n\tmvn r10, r10\n\tmvn r11, r11\n\t" \
            add " r4, %[one], r10\n\t" add " r5, %[one], r10, ror #8\n\t" \
            add " r6, %[one], r11\n\t" add " r8, %[one], r11, ror #8\n\t" \
            "stmia %[to]!, {r4, r5, r6, r8}" \
            : [u] "+r"(u), [to] "+r"(negated) : [one] "r"(one) \
            : "r4", "r5", "r6", "r8", "r10", "r11", "memory")
#endif

/* -u of `groups` of four bytes: 1 + (-1 - u), or -255 + (255 - u). */
static KC_INLINE void kc_dsp_negate(const uint8_t *u, int32_t groups, uint32_t sign,
    kc_dsp_negated_t *negated)
{
    const int16x2_t one = sign != 0U ? INT32_C(0x00010001) : -INT32_C(0x00FE00FF); /* or -255 */
    int32_t i;

#if KC_DSP_LDM
    if (groups % 2 == 0 && ((uintptr_t)(const void *)u & 3U) == 0U) {
        KC_UNROLL(2)
        for (i = groups / 2; i > 0; i--) {
            KC_DSP_CHOOSE(sign, KC_DSP_NEGATE)
        }
        return;
    }
#endif
    for (i = 0; i < groups; i++) {
        const uint8x4_t w = ~kc_dsp_bytes(&u[4 * i]);

        negated[i].even = kc_dsp_add_even(one, w, sign);
        negated[i].odd = kc_dsp_add_odd(one, w, sign);
    }
}

#define KC_DSP_ADD_GROUP(add) \
    __asm__("ldr %1, %3\n\t" add " %2, %4, %1\n\t" add " %1, %5, %1, ror #8\n\t" \
            "smlad %0, %2, %2, %0\n\tsmlad %0, %1, %1, %0" \
            : "+r"(acc), "=&r"(w), "=&r"(d) : "m"(*four), "r"(u.even), "r"(u.odd))

/* acc and the squares of the differences of four columns. One block of assembler: a compiler that may
 * interleave four rows needs more registers than there are. */
static KC_INLINE int32_t kc_dsp_square_diff_8(int32_t acc, kc_dsp_negated_t u, const uint8_t *v,
    uint32_t sign)
{
    const kc_four_t *four = (const kc_four_t *)(const void *)v;
    uint8x4_t w;
    int16x2_t d;

    KC_DSP_CHOOSE(sign, KC_DSP_ADD_GROUP)
    return acc;
}

#if KC_DSP_LDM
/* Only gcc gives three operands in memory one register of address. */
#if defined(__clang__)
#define KC_DSP_THREE 0
#else
#define KC_DSP_THREE 1
#endif
#define KC_DSP_LOAD_NEGATED "ldmia %[u]!, {r4, r5, r6, r8}\n\t"
#define KC_DSP_ADD_ROW_8(add, v, acc) \
    "ldmia %[" v "]!, {r10, r11}\n\t" add " r12, r4, r10\n\t" add " r10, r5, r10, ror #8\n\t" \
    add " lr, r6, r11\n\t" add " r11, r8, r11, ror #8\n\t" \
    "smlad %[" acc "], r12, r12, %[" acc "]\n\tsmlad %[" acc "], r10, r10, %[" acc "]\n\t" \
    "smlad %[" acc "], lr, lr, %[" acc "]\n\tsmlad %[" acc "], r11, r11, %[" acc "]\n\t"
#define KC_DSP_ADD_ROWS_8(add) \
    __asm__(KC_DSP_LOAD_NEGATED KC_DSP_ADD_ROW_8(add, "v", "d0") KC_DSP_ADD_ROW_8(add, "w", "d1") \
            : [u] "+r"(u), [v] "+r"(v), [w] "+r"(w), [d0] "+r"(d0), [d1] "+r"(d1) : : KC_DSP_TAKEN)

#define KC_DSP_ADD_ONE_8(add) \
    __asm__(KC_DSP_LOAD_NEGATED KC_DSP_ADD_ROW_8(add, "v", "acc") \
            : [u] "+r"(u), [v] "+r"(v), [acc] "+r"(acc) : : KC_DSP_TAKEN)

/* acc and the squares of `groups` of columns, an even number, of an aligned row. */
static KC_INLINE int32_t kc_dsp_one_row_8(int32_t acc, const kc_dsp_negated_t *u, int32_t groups,
    const uint8_t *v, uint32_t sign)
{
    int32_t left;

    for (left = groups / 2; left > 0; left--) {
        KC_DSP_CHOOSE(sign, KC_DSP_ADD_ONE_8)
    }
    return acc;
}

#if KC_DSP_THREE
#define KC_DSP_ADD_PAIRS_8(add, v, acc) \
    "ldrd r10, r11, %[" v "]\n\t" \
    add " r12, r4, r10\n\tsmlad %[" acc "], r12, r12, %[" acc "]\n\t" \
    add " r10, r5, r10, ror #8\n\tsmlad %[" acc "], r10, r10, %[" acc "]\n\t" \
    add " r12, r6, r11\n\tsmlad %[" acc "], r12, r12, %[" acc "]\n\t" \
    add " r11, r8, r11, ror #8\n\tsmlad %[" acc "], r11, r11, %[" acc "]\n\t"
#define KC_DSP_ADD_THREE_8(add) \
    __asm__(KC_DSP_LOAD_NEGATED KC_DSP_ADD_PAIRS_8(add, "v0", "d0") KC_DSP_ADD_PAIRS_8(add, "v1", "d1") \
                KC_DSP_ADD_PAIRS_8(add, "v2", "d2") \
            : [u] "+r"(u), [d0] "+r"(d0), [d1] "+r"(d1), [d2] "+r"(d2) \
            : [v0] "Uv"(*kc_dsp_eight(v)), [v1] "Uv"(*kc_dsp_eight(&v[n])), \
              [v2] "Uv"(*kc_dsp_eight(&v[2 * n])) \
            : "r4", "r5", "r6", "r8", "r10", "r11", "r12", "memory")

static KC_INLINE const kc_quad_t *kc_dsp_eight(const uint8_t *words)
{
    return (const kc_quad_t *)(const void *)words;
}

/* The sums of squares of `groups` of columns, an even number, of three aligned rows that are n bytes apart; n
 * is a literal, so that one register is the address of all three. */
static KC_INLINE void kc_dsp_three_rows_8(const kc_dsp_negated_t *u, int32_t groups, const uint8_t *v,
    int32_t n, uint32_t *d, uint32_t sign)
{
    int32_t d0 = 0, d1 = 0, d2 = 0, left;

    KC_UNROLL(8)
    for (left = groups / 2; left > 0; left--) {
        KC_DSP_CHOOSE(sign, KC_DSP_ADD_THREE_8)
        v += 8;
    }
    d[0] = (uint32_t)d0;
    d[1] = (uint32_t)d1;
    d[2] = (uint32_t)d2;
}
#endif

/* Add the squares of `groups` of columns to d[0] and d[1], or to 0, of two aligned rows n bytes apart. */
static KC_INLINE void kc_dsp_two_rows_8(const kc_dsp_negated_t *u, int32_t groups, const uint8_t *v,
    int32_t n, uint32_t *d, uint32_t sign, int32_t are_first)
{
    const uint8_t *w = &v[n];
    int32_t d0 = are_first != 0 ? 0 : (int32_t)d[0], d1 = are_first != 0 ? 0 : (int32_t)d[1];
    int32_t left;

    KC_UNROLL(8)
    for (left = groups / 2; left > 0; left--) {
        KC_DSP_CHOOSE(sign, KC_DSP_ADD_ROWS_8)
    }
    for (left = groups % 2; left > 0; left--) {
        d0 = kc_dsp_square_diff_8(d0, *u, v, sign);
        d1 = kc_dsp_square_diff_8(d1, *u, w, sign);
        u++;
        v += 4;
        w += 4;
    }
    d[0] = (uint32_t)d0;
    d[1] = (uint32_t)d1;
}
#else
/* Four columns of u and of four rows that are n bytes apart. */
static KC_INLINE kc_dsp_four_t kc_dsp_four_8(kc_dsp_four_t d, const kc_dsp_negated_t *u, const uint8_t *v,
    int32_t n, uint32_t sign)
{
    const kc_dsp_negated_t w = *u;

    d.d0 = kc_dsp_square_diff_8(d.d0, w, v, sign);
    d.d1 = kc_dsp_square_diff_8(d.d1, w, &v[n], sign);
    d.d2 = kc_dsp_square_diff_8(d.d2, w, &v[2 * n], sign);
    d.d3 = kc_dsp_square_diff_8(d.d3, w, &v[3 * n], sign);
    return d;
}
#endif

/* Add the squares of `groups` of columns to d, or to 0 if they are the first, of rows n bytes apart. */
static KC_INLINE void kc_dsp_add_groups_8(const kc_dsp_negated_t *u, int32_t groups, const uint8_t *v,
    int32_t n, int32_t rows, uint32_t *d, uint32_t sign, int32_t are_first)
{
    int32_t i, j;

#if KC_DSP_LDM
    if (n % 4 == 0 && ((uintptr_t)(const void *)v & 3U) == 0U) {
#if KC_DSP_THREE
        if (__builtin_constant_p(n) && n <= 256 && n % 8 == 0 && are_first != 0) {
            for (; rows >= 3; rows -= 3) {
                kc_dsp_three_rows_8(u, groups, v, n, d, sign);
                d += 3;
                v += 3 * n;
            }
        } else
#endif
        {
            for (; rows >= 2; rows -= 2) {
                kc_dsp_two_rows_8(u, groups, v, n, d, sign, are_first);
                d += 2;
                v += 2 * n;
            }
        }
        for (; rows > 0 && groups % 2 == 0; rows--) {
            *d = (uint32_t)kc_dsp_one_row_8(are_first != 0 ? 0 : (int32_t)*d, u, groups, v, sign);
            d++;
            v += n;
        }
    }
#else
    for (; rows >= 4; rows -= 4) {
        kc_dsp_four_t sums = {0, 0, 0, 0};
        const kc_dsp_negated_t *a = u;
        const uint8_t *at = v;

        if (are_first == 0) {
            sums.d0 = (int32_t)d[0];
            sums.d1 = (int32_t)d[1];
            sums.d2 = (int32_t)d[2];
            sums.d3 = (int32_t)d[3];
        }
        for (j = groups / 4; j > 0; j--) {
            sums = kc_dsp_four_8(sums, a, at, n, sign);
            sums = kc_dsp_four_8(sums, &a[1], &at[4], n, sign);
            sums = kc_dsp_four_8(sums, &a[2], &at[8], n, sign);
            sums = kc_dsp_four_8(sums, &a[3], &at[12], n, sign);
            a += 4;
            at += 16;
        }
        for (j = groups % 4; j > 0; j--) {
            sums = kc_dsp_four_8(sums, a, at, n, sign);
            a++;
            at += 4;
        }
        *d++ = (uint32_t)sums.d0;
        *d++ = (uint32_t)sums.d1;
        *d++ = (uint32_t)sums.d2;
        *d++ = (uint32_t)sums.d3;
        v += 4 * n;
    }
#endif
    for (i = 0; i < rows; i++) {
        int32_t acc = are_first != 0 ? 0 : (int32_t)d[i];

        for (j = 0; j < groups; j++) {
            acc = kc_dsp_square_diff_8(acc, u[j], &v[4 * j], sign);
        }
        d[i] = (uint32_t)acc;
        v += n;
    }
}

/* kc_portable_square_diff_rows_8: 64 columns of all rows at a time. */
static inline void kc_dsp_square_diff_rows_8(const uint8_t *restrict u, const uint8_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d, uint32_t sign)
{
    const int32_t rest = n % 4;
    kc_dsp_negated_t negated[KC_DSP_GROUPS];
    int32_t at, i;

    for (i = 0; (rest > 0 || n < 4) && i < rows; i++) {
        d[i] = kc_portable_square_diffs_8(&u[n - rest], &v[i * n + n - rest], rest, sign);
    }
    if (n <= 4 * KC_DSP_GROUPS) { /* n is a literal: so is the number of groups */
        kc_dsp_negate(u, n / 4, sign, negated);
        kc_dsp_add_groups_8(negated, n / 4, v, n, rows, d, sign, rest == 0 ? 1 : 0);
        return;
    }
    for (at = 0; at < n - rest; at += 4 * KC_DSP_GROUPS) {
        const int32_t left = (n - at) / 4, groups = left < KC_DSP_GROUPS ? left : KC_DSP_GROUPS;

        kc_dsp_negate(&u[at], groups, sign, negated);
        kc_dsp_add_groups_8(negated, groups, &v[at], n, rows, d, sign, rest == 0 && at == 0 ? 1 : 0);
    }
}

#endif
