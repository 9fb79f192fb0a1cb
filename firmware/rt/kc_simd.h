/* kerncast runtime: distances to many vectors at once.  SPDX-License-Identifier: Apache-2.0
 *
 * The portable C is the definition. If the compiler announces an instruction set listed below, its level
 * returns the same values with fewer instructions. Define KC_PORTABLE as 1 to force portable C.
 */
#ifndef KERNCAST_KC_SIMD_H
#define KERNCAST_KC_SIMD_H

#include <stdint.h>

#include "kc_compiler.h"
#include "kc_i32.h"

/* Number of distances computed at a time if no buffer holds all of them. */
#define KC_DIST_BATCH 32

/* The sum of (u - v)^2 over n columns; |u - v| < 2^15 and the sum fits 32 bits. A difference of -2^15 is
 * excluded, because dual-multiply instructions saturate the sum of two such squares. */
static inline uint32_t kc_portable_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    uint32_t acc = 0;
    int32_t c;

    KC_UNROLL(4)
    for (c = 0; c < n; c++) {
        acc = kc_square_diff_i32(acc, u[c], v[c]);
    }
    return acc;
}

/* The same for each of `rows` adjacent vectors. */
static inline void kc_portable_square_diff_rows(const int16_t *u, const int16_t *v, int32_t n, int32_t rows,
    uint32_t *d)
{
    int32_t i;

    for (i = 0; i < rows; i++) {
        d[i] = kc_portable_square_diffs(u, &v[i * n], n);
    }
}

/* kc_portable_square_diffs of bytes: `sign` is 0x80 if they are signed, else 0. */
static inline uint32_t kc_portable_square_diffs_8(const uint8_t *u, const uint8_t *v, int32_t n,
    uint32_t sign)
{
    uint32_t acc = 0;
    int32_t c;

    KC_UNROLL(4)
    for (c = 0; c < n; c++) {
        const uint32_t a = u[c] ^ sign;
        const uint32_t b = v[c] ^ sign;

        acc = kc_square_diff_i32(acc, (int32_t)a, (int32_t)b);
    }
    return acc;
}

/* The same for each of `rows` adjacent vectors. */
static inline void kc_portable_square_diff_rows_8(const uint8_t *u, const uint8_t *v, int32_t n,
    int32_t rows, uint32_t *d, uint32_t sign)
{
    int32_t i;

    for (i = 0; i < rows; i++) {
        d[i] = kc_portable_square_diffs_8(u, &v[i * n], n, sign);
    }
}

/* v saturated to 16 bits. */
static inline int32_t kc_portable_saturate_16(int32_t v)
{
    return kc_saturate_i32(v, INT16_MIN, INT16_MAX);
}

/* v limited to 0 to 2^bits - 1, 1 <= bits <= 30; bits is a literal. */
static inline int32_t kc_portable_saturate_unsigned(int32_t v, uint32_t bits)
{
    const uint32_t hi = (UINT32_C(1) << bits) - 1U;

    return kc_saturate_i32(v, 0, (int32_t)hi);
}

/* n bytes, limited to 2^bits - 1, 1 <= bits <= 8; bits is a literal. */
static inline void kc_portable_saturate_8(const uint8_t *bytes, uint8_t *limited, int32_t n, uint32_t bits)
{
    const uint32_t hi = (UINT32_C(1) << bits) - 1U;
    int32_t i;

    KC_UNROLL(8)
    for (i = 0; i < n; i++) {
        limited[i] = (uint8_t)kc_saturate_i32(bytes[i], 0, (int32_t)hi);
    }
}

/* n bytes, limited to 2^bits - 1, as words of 16 bits; 1 <= bits <= 8; bits is a literal. */
static inline void kc_portable_widen_8(const uint8_t *bytes, uint16_t *words, int32_t n, uint32_t bits)
{
    const uint32_t hi = (UINT32_C(1) << bits) - 1U;
    int32_t i;

    KC_UNROLL(8)
    for (i = 0; i < n; i++) {
        words[i] = (uint16_t)kc_saturate_i32(bytes[i], 0, (int32_t)hi);
    }
}

/* Index of the first `word` in words[from..count), or count. */
static inline int32_t kc_find_16(const uint16_t *words, int32_t from, int32_t count, uint16_t word)
{
    while (from < count && words[from] != word) {
        from++;
    }
    return from;
}

/* The same for bytes. */
static inline int32_t kc_portable_find_8(const uint8_t *words, int32_t from, int32_t count, uint8_t word)
{
    while (from < count && words[from] != word) {
        from++;
    }
    return from;
}

/* Decrement each of `count` words that is above the limit. */
static inline void kc_dec_if_gt_u16(uint16_t *words, int32_t count, uint16_t limit)
{
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i < count; i++) {
        words[i] = (uint16_t)(words[i] - (words[i] > limit ? 1 : 0));
    }
}

/* The same for bytes. */
static inline void kc_portable_dec_if_gt_u8(uint8_t *words, int32_t count, uint8_t limit)
{
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i < count; i++) {
        words[i] = (uint8_t)(words[i] - (words[i] > limit ? 1 : 0));
    }
}

#if !KC_INTRINSICS
#define KC_SIMD portable
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define KC_SIMD helium
#include "kc_simd_helium.h"
#elif defined(__ARM_FEATURE_DSP) && defined(__ARMEL__)
#define KC_SIMD dsp
#include "kc_simd_dsp.h"
#elif defined(__hexagon__) && defined(__HVX__) && __HVX_LENGTH__ == 128
#define KC_SIMD hvx
#include "kc_simd_hvx.h"
#elif defined(__hexagon__)
#define KC_SIMD q6
#include "kc_simd_q6.h"
#elif defined(__mips_dspr2) && defined(__MIPSEL__)
#define KC_SIMD dspr2
#include "kc_simd_dspr2.h"
#else
#define KC_SIMD portable
#endif

#define KC_SIMD_TEXT_(level) #level
#define KC_SIMD_TEXT(level) KC_SIMD_TEXT_(level)
#define KC_SIMD_NAME KC_SIMD_TEXT(KC_SIMD)
#define KC_SIMD_JOIN_(level, name) kc_##level##_##name
#define KC_SIMD_JOIN(level, name) KC_SIMD_JOIN_(level, name)
#define kc_find_8 KC_SIMD_JOIN(KC_SIMD, find_8)
#define kc_dec_if_gt_u8 KC_SIMD_JOIN(KC_SIMD, dec_if_gt_u8)
#define kc_saturate_16 KC_SIMD_JOIN(KC_SIMD, saturate_16)
#define kc_saturate_unsigned KC_SIMD_JOIN(KC_SIMD, saturate_unsigned)
#define kc_widen_8 KC_SIMD_JOIN(KC_SIMD, widen_8)
#define kc_saturate_8 KC_SIMD_JOIN(KC_SIMD, saturate_8)
#define kc_square_diffs KC_SIMD_JOIN(KC_SIMD, square_diffs)
#define kc_square_diff_rows KC_SIMD_JOIN(KC_SIMD, square_diff_rows)
#define kc_square_diff_rows_8 KC_SIMD_JOIN(KC_SIMD, square_diff_rows_8)

#endif
