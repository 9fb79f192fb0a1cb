/* kerncast runtime: sums over the lags of a band.  SPDX-License-Identifier: Apache-2.0
 *
 * l[j - 1] belongs to lag j = 1, ..., count. kc_band_before_* adds l[j - 1] p[-j], kc_band_after_* adds
 * l[j - 1] p[j]. The portable C is the definition; ARMv7E-M takes two products of 16-bit words per instruction.
 * Define KC_PORTABLE as 1 to force portable C.
 */
#ifndef KERNCAST_KC_BAND_H
#define KERNCAST_KC_BAND_H

#include <stdint.h>

#include "kc_arith.h"
#include "kc_i32.h"
#include "kc_simd.h"
#include "kc_table.h"

/* ---- words of 16 bits; no product is shifted ---- */

static inline int64_t kc_band_before_16_ref(KC_TABLE int16_t *l, const int16_t *p, int32_t count)
{
    int64_t acc = 0;
    int32_t j;

    KC_UNROLL(8)
    for (j = 1; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[-j], 0);
    }
    return acc;
}

static inline int64_t kc_band_after_16_ref(KC_TABLE int16_t *l, const int16_t *p, int32_t count)
{
    int64_t acc = 0;
    int32_t j;

    KC_UNROLL(8)
    for (j = 1; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[j], 0);
    }
    return acc;
}

#if defined(__ARM_FEATURE_DSP) && defined(__ARMEL__) && !(defined(KC_PORTABLE) && KC_PORTABLE)
static inline int64_t kc_band_before_16(const int16_t *l, const int16_t *p, int32_t count)
{
    const kc_pair_t *a = kc_dsp_pairs(l), *b = kc_dsp_pairs(p);
    int64_t acc = 0;
    int32_t j;

    KC_UNROLL(8)
    for (j = 0; j < count / 2; j++) {
        acc = __smlaldx(a[j], b[-1 - j], acc);
    }
    return count % 2 == 0 ? acc : kc_mac_i32(acc, l[count - 1], p[-count], 0);
}

static inline int64_t kc_band_after_16(const int16_t *l, const int16_t *p, int32_t count)
{
    const kc_pair_t *a = kc_dsp_pairs(l), *b = kc_dsp_pairs(p + 1);
    int64_t acc = 0;
    int32_t j;

    KC_UNROLL(8)
    for (j = 0; j < count / 2; j++) {
        acc = __smlald(a[j], b[j], acc);
    }
    return count % 2 == 0 ? acc : kc_mac_i32(acc, l[count - 1], p[count], 0);
}
#else
#define kc_band_before_16 kc_band_before_16_ref
#define kc_band_after_16 kc_band_after_16_ref
#endif

/* ---- words of 32 bits; each product is shifted right by s; fast for 2 <= s <= 31 and count < 2^s ---- */

static inline int64_t kc_band_before_32_ref(KC_TABLE int32_t *l, const int32_t *p, int32_t count, int32_t s)
{
    int64_t acc = 0;
    int32_t j;

    for (j = 1; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[-j], s);
    }
    return acc;
}

static inline int64_t kc_band_after_32_ref(KC_TABLE int32_t *l, const int32_t *p, int32_t count, int32_t s)
{
    int64_t acc = 0;
    int32_t j;

    for (j = 1; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[j], s);
    }
    return acc;
}

/* floor(product / 2^s) = high 2^(32 - s) + floor(low / 2^s), and 2^s of the latter fit 32 bits. */
static inline int64_t kc_band_before_32(KC_TABLE int32_t *l, const int32_t *p, int32_t count, int32_t s)
{
    int64_t high = 0;
    uint32_t low = 0;
    int32_t j;

    if (s < 2 || count >> s != 0) {
        return kc_band_before_32_ref(l, p, count, s);
    }
    KC_UNROLL(4)
    for (j = 1; j <= count; j++) {
        const int64_t product = (int64_t)l[j - 1] * p[-j];

        high += (int32_t)kc_shift_floor(product, 32);
        low += (uint32_t)product >> s;
    }
    return high * (INT64_C(1) << (32 - s)) + low;
}

static inline int64_t kc_band_after_32(KC_TABLE int32_t *l, const int32_t *p, int32_t count, int32_t s)
{
    int64_t high = 0;
    uint32_t low = 0;
    int32_t j;

    if (s < 2 || count >> s != 0) {
        return kc_band_after_32_ref(l, p, count, s);
    }
    KC_UNROLL(4)
    for (j = 1; j <= count; j++) {
        const int64_t product = (int64_t)l[j - 1] * p[j];

        high += (int32_t)kc_shift_floor(product, 32);
        low += (uint32_t)product >> s;
    }
    return high * (INT64_C(1) << (32 - s)) + low;
}

#endif
