/* kerncast runtime: kc_simd.h for Helium (MVE), eight words per instruction.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_SIMD_HELIUM_H
#define KERNCAST_KC_SIMD_HELIUM_H

#include <arm_mve.h>
#include <stdint.h>

#include "kc_simd_dsp.h"

#define kc_helium_saturate_16 kc_dsp_saturate_16
#define kc_helium_saturate_unsigned kc_dsp_saturate_unsigned
#define kc_helium_find_8 kc_dsp_find_8
#define kc_helium_saturate_8 kc_dsp_saturate_8
#define kc_helium_dec_if_gt_u8 kc_dsp_dec_if_gt_u8

/* acc and the squares of eight differences; the sum may leave int32, but not uint32. */
static inline int32_t kc_helium_square_diff(int32_t acc, int16x8_t u, int16x8_t v)
{
    const int16x8_t d = vsubq_s16(u, v);

    return vmladavaq_s16(acc, d, d);
}

/* kc_portable_square_diffs: columns beyond n are loaded as 0. */
static inline uint32_t kc_helium_square_diffs(const int16_t *u, const int16_t *v, int32_t n)
{
    int32_t acc = 0;
    int32_t left;

    for (left = n; left >= 8; left -= 8) {
        acc = kc_helium_square_diff(acc, vldrhq_s16(u), vldrhq_s16(v));
        u += 8;
        v += 8;
    }
    if (left > 0) {
        const mve_pred16_t few = vctp16q((uint32_t)left);

        acc = kc_helium_square_diff(acc, vldrhq_z_s16(u, few), vldrhq_z_s16(v, few));
    }
    return (uint32_t)acc;
}

/* kc_portable_square_diff_rows: two rows at a time share the loads of u. The loop does not count `rows` itself
 * down: gcc 12 at -Os would assume that the remainder is more than 0. */
static inline void kc_helium_square_diff_rows(const int16_t *restrict u, const int16_t *restrict v, int32_t n,
    int32_t rows, uint32_t *restrict d)
{
    int32_t pairs;

    for (pairs = rows / 2; pairs > 0; pairs--) {
        const int16_t *a = u;
        int32_t first = 0, second = 0;
        int32_t left;

        for (left = n; left >= 8; left -= 8) {
            const int16x8_t x = vldrhq_s16(a);

            first = kc_helium_square_diff(first, x, vldrhq_s16(v));
            second = kc_helium_square_diff(second, x, vldrhq_s16(v + n));
            a += 8;
            v += 8;
        }
        if (left > 0) {
            const mve_pred16_t few = vctp16q((uint32_t)left);
            const int16x8_t x = vldrhq_z_s16(a, few);

            first = kc_helium_square_diff(first, x, vldrhq_z_s16(v, few));
            second = kc_helium_square_diff(second, x, vldrhq_z_s16(v + n, few));
            v += left;
        }
        v += n;
        *d++ = (uint32_t)first;
        *d++ = (uint32_t)second;
    }
    if (rows % 2 != 0) {
        *d = kc_helium_square_diffs(u, v, n);
    }
}

/* kc_portable_widen_8, eight bytes at a time. */
static inline void kc_helium_widen_8(const uint8_t *bytes, uint16_t *words, int32_t n, uint32_t bits)
{
    const uint16x8_t hi = vdupq_n_u16((uint16_t)((UINT32_C(1) << bits) - 1U));
    int32_t left;

    for (left = n; left >= 8; left -= 8) {
        vstrhq_u16(words, vminq_u16(vldrbq_u16(bytes), hi));
        bytes += 8;
        words += 8;
    }
    if (left > 0) {
        const mve_pred16_t few = vctp16q((uint32_t)left);

        vstrhq_p_u16(words, vminq_u16(vldrbq_z_u16(bytes, few), hi), few);
    }
}

/* acc and the squares of sixteen differences; the magnitude of a difference is an unsigned byte. */
static inline uint32_t kc_helium_square_diff_8(uint32_t acc, uint8x16_t u, uint8x16_t v, uint32_t sign)
{
    const uint8x16_t d = sign != 0U
        ? vreinterpretq_u8_s8(vabdq_s8(vreinterpretq_s8_u8(u), vreinterpretq_s8_u8(v))) : vabdq_u8(u, v);

    return vmladavaq_u8(acc, d, d);
}

/* kc_portable_square_diffs_8: columns beyond n are loaded as 0. */
static inline uint32_t kc_helium_square_diffs_8(const uint8_t *u, const uint8_t *v, int32_t n, uint32_t sign)
{
    uint32_t acc = 0;
    int32_t left;

    for (left = n; left >= 16; left -= 16) {
        acc = kc_helium_square_diff_8(acc, vldrbq_u8(u), vldrbq_u8(v), sign);
        u += 16;
        v += 16;
    }
    if (left > 0) {
        const mve_pred16_t few = vctp8q((uint32_t)left);

        acc = kc_helium_square_diff_8(acc, vldrbq_z_u8(u, few), vldrbq_z_u8(v, few), sign);
    }
    return acc;
}

/* kc_portable_square_diff_rows_8: two rows at a time share the loads of u. */
static inline void kc_helium_square_diff_rows_8(const uint8_t *restrict u, const uint8_t *restrict v,
    int32_t n, int32_t rows, uint32_t *restrict d, uint32_t sign)
{
    int32_t pairs;

    for (pairs = rows / 2; pairs > 0; pairs--) {
        const uint8_t *a = u;
        uint32_t first = 0, second = 0;
        int32_t left;

        for (left = n; left >= 16; left -= 16) {
            const uint8x16_t x = vldrbq_u8(a);

            first = kc_helium_square_diff_8(first, x, vldrbq_u8(v), sign);
            second = kc_helium_square_diff_8(second, x, vldrbq_u8(v + n), sign);
            a += 16;
            v += 16;
        }
        if (left > 0) {
            const mve_pred16_t few = vctp8q((uint32_t)left);
            const uint8x16_t x = vldrbq_z_u8(a, few);

            first = kc_helium_square_diff_8(first, x, vldrbq_z_u8(v, few), sign);
            second = kc_helium_square_diff_8(second, x, vldrbq_z_u8(v + n, few), sign);
            v += left;
        }
        v += n;
        *d++ = first;
        *d++ = second;
    }
    if (rows % 2 != 0) {
        *d = kc_helium_square_diffs_8(u, v, n, sign);
    }
}

#endif
