/* kerncast runtime: distances to many vectors at once.  SPDX-License-Identifier: Apache-2.0
 *
 * The portable C is the definition; a level that the compiler's own macros announce gives the same words
 * with fewer instructions.  KC_PORTABLE, defined as 1, forces the portable C.
 */
#ifndef KERNCAST_KC_SIMD_H
#define KERNCAST_KC_SIMD_H

#include <stdint.h>

#include "kc_short.h"

/* Vectors whose distances are taken at once, where there is no row to hold them all. */
#define KC_ROWS 32

/* Before a loop: how often gcc lays out its body where it optimises for speed; clang knows by itself. */
#if defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#define KC_PRAGMA(text) _Pragma(#text)
#define KC_UNROLL(times) KC_PRAGMA(GCC unroll times)
#else
#define KC_UNROLL(times)
#endif

/* The sum of (u - v)^2 over n columns, where |u - v| < 2^15 and 32 bits hold the sum: the `lanes` of
 * sim/widths.py. No difference is -2^15, of which instructions saturate the sum of two squares. */
static inline uint32_t kc_portable_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    uint32_t acc = 0;
    int32_t c;

    KC_UNROLL(4)
    for (c = 0; c < n; c++) {
        acc = kc_short_square_diff(acc, u[c], v[c]);
    }
    return acc;
}

/* The same for each of `rows` vectors, which lie one after the other. */
static inline void kc_portable_square_diff_rows(const int16_t *u, const int16_t *v, int32_t n, int32_t rows,
    uint32_t *d)
{
    int32_t i;

    for (i = 0; i < rows; i++) {
        d[i] = kc_portable_square_diffs(u, &v[i * n], n);
    }
}

/* The word nearest to v. */
static inline int32_t kc_portable_saturate_16(int32_t v)
{
    return kc_short_saturate(v, INT16_MIN, INT16_MAX);
}

/* Where `word` first stands among words[from..count), or count. */
static inline int32_t kc_find_16(const uint16_t *words, int32_t from, int32_t count, uint16_t word)
{
    while (from < count && words[from] != word) {
        from++;
    }
    return from;
}

/* The same of bytes. */
static inline int32_t kc_portable_find_8(const uint8_t *words, int32_t from, int32_t count, uint8_t word)
{
    while (from < count && words[from] != word) {
        from++;
    }
    return from;
}

/* Take 1 off each of `count` words above a limit. */
static inline void kc_lower_above_16(uint16_t *words, int32_t count, uint16_t limit)
{
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i < count; i++) {
        words[i] = (uint16_t)(words[i] - (words[i] > limit ? 1 : 0));
    }
}

/* The same of bytes. */
static inline void kc_portable_lower_above_8(uint8_t *words, int32_t count, uint8_t limit)
{
    int32_t i;

    KC_UNROLL(4)
    for (i = 0; i < count; i++) {
        words[i] = (uint8_t)(words[i] - (words[i] > limit ? 1 : 0));
    }
}

#if defined(KC_PORTABLE) && KC_PORTABLE
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
#define kc_lower_above_8 KC_SIMD_JOIN(KC_SIMD, lower_above_8)
#define kc_saturate_16 KC_SIMD_JOIN(KC_SIMD, saturate_16)
#define kc_square_diffs KC_SIMD_JOIN(KC_SIMD, square_diffs)
#define kc_square_diff_rows KC_SIMD_JOIN(KC_SIMD, square_diff_rows)

#endif
