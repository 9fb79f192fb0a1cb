/* kerncast runtime: kc_rls.h for ARMv7E-M.  SPDX-License-Identifier: Apache-2.0
 *
 * Compilers do not select these instructions by themselves.
 */
#ifndef KERNCAST_KC_RLS_DSP_H
#define KERNCAST_KC_RLS_DSP_H

#include <arm_acle.h>
#include <stdint.h>

#include "kc_rows.h"
#include "kc_simd.h"

/* kc_portable_dot_low: SMLAD wraps. */
static KC_INLINE uint32_t kc_dsp_dot_low(const int16_t *u, const int16_t *v, int32_t n)
{
    int32_t acc = 0;
    int32_t c;

    KC_UNROLL(4)
    for (c = 0; c < n - 1; c += 2) {
        acc = __smlad(*kc_dsp_pairs(&u[c]), *kc_dsp_pairs(&v[c]), acc);
    }
    return n % 2 == 0 ? (uint32_t)acc : (uint32_t)acc + (uint32_t)((int32_t)u[n - 1] * v[n - 1]);
}

/* a - floor(b c / 2^32), modulo 2^32 */
static KC_INLINE int32_t kc_dsp_subtract_high(int32_t a, int32_t b, int32_t c)
{
    int32_t high;

    __asm__("smmul %0, %1, %2" : "=r"(high) : "r"(b), "r"(c));
    return (int32_t)((uint32_t)a - (uint32_t)high);
}

/* r - floor(r fading / 2^32) */
static KC_INLINE int32_t kc_dsp_fade(int32_t r, int32_t fading)
{
    return kc_dsp_subtract_high(r, r, fading);
}

/* Two adjacent entries of a row; left is a feature times 2^(16 - s). */
static KC_INLINE kc_two_t kc_dsp_fade_add(kc_two_t r, int16x2_t phi, int32_t left, int32_t fading)
{
    const kc_two_t sums = {__smlawb(left, (int32_t)phi, kc_dsp_fade(r.first, fading)),
                           __smlawt(left, (int32_t)phi, kc_dsp_fade(r.second, fading))};
    return sums;
}

/* kc_portable_fade_add_row */
static KC_INLINE void kc_dsp_fade_add_row(int32_t *r, const int16_t *phi, int32_t n, int32_t left,
    int32_t fading, int32_t s)
{
    const int32_t factor = left * (int32_t)(INT32_C(1) << (s <= 16 ? 16 - s : 0));
    const int32_t *from;
    int32_t quads;

    if (s > 16) {
        kc_portable_fade_add_row(r, phi, n, left, fading, s);
        return;
    }
    if (((uintptr_t)(const void *)phi & 3U) != 0U) { /* LDRD faults at an odd halfword */
        *r = __smlawb(factor, *phi, kc_dsp_fade(*r, fading));
        r++;
        phi++;
        n--;
    }
    from = r;
    KC_UNROLL(2)
    for (quads = n / 4; quads > 0; quads--) {
        const kc_dsp_halves_t four = kc_dsp_load(kc_dsp_quads(phi));
        const kc_two_t first = kc_ldpair_inc(&from), last = kc_ldpair_inc(&from);

        kc_stpair_inc(&r, kc_dsp_fade_add(first, four.first, factor, fading));
        kc_stpair_inc(&r, kc_dsp_fade_add(last, four.last, factor, fading));
        phi += 4;
    }
    for (n %= 4; n > 0; n--) {
        *r = __smlawb(factor, *phi++, kc_dsp_fade(*r, fading));
        r++;
    }
}

/* kc_larger_32: a branch that is hardly taken costs less than a conditional move. */
static KC_INLINE kc_largest_32_t kc_dsp_larger_32(kc_largest_32_t most, int32_t v, int32_t index)
{
    int32_t size; /* |v|, or |v| - 1 */

    __asm__("eor %0, %1, %1, asr #31" : "=r"(size) : "r"(v));
    if (__builtin_expect(size >= most.size, 0)) {
        return kc_larger_32(most, v, index);
    }
    return most;
}

/* b - floor(r factor / 2^(32 or 1)) */
static KC_INLINE int32_t kc_dsp_subtract(int32_t b, int32_t r, int32_t factor, int32_t high)
{
    if (high != 0) {
        return kc_dsp_subtract_high(b, r, factor);
    }
    r = (int32_t)((uint32_t)r * (uint32_t)factor);
    __asm__("sub %0, %0, %1, asr #1" : "+r"(b) : "r"(r));
    return b;
}

/* kc_portable_subtract_row */
static KC_INLINE kc_largest_32_t kc_dsp_subtract_row(int32_t *b, const int32_t *r, int32_t n,
    int32_t factor, int32_t high, int32_t index, kc_largest_32_t most)
{
    const int32_t end = index + n;
    const int32_t *from = b;

    KC_UNROLL(2)
    for (; index < end - 1; index += 2) {
        const kc_two_t old = kc_ldpair_inc(&from), column = kc_ldpair_inc(&r);
        const kc_two_t left = {kc_dsp_subtract(old.first, column.first, factor, high),
                               kc_dsp_subtract(old.second, column.second, factor, high)};

        kc_stpair_inc(&b, left);
        most = kc_dsp_larger_32(most, left.first, index);
        most = kc_dsp_larger_32(most, left.second, index + 1);
    }
    if (index < end) {
        *b = kc_dsp_subtract(*b, *r, factor, high);
        most = kc_dsp_larger_32(most, *b, index);
    }
    return most;
}

/* kc_portable_subtract_above */
static KC_INLINE kc_largest_32_t kc_dsp_subtract_above(int32_t *b, const int32_t *r, int32_t n,
    int32_t count, int32_t factor, int32_t high)
{
    kc_largest_32_t most = {0, 0};
    const int32_t *from = b;
    int32_t next = n - 1;

    KC_UNROLL(2)
    for (; next > n - count; next -= 2) {
        const kc_two_t old = kc_ldpair_inc(&from);
        const kc_two_t left = {kc_dsp_subtract(old.first, r[0], factor, high),
                               kc_dsp_subtract(old.second, r[next], factor, high)};

        kc_stpair_inc(&b, left);
        most = kc_dsp_larger_32(most, left.first, n - 1 - next);
        most = kc_dsp_larger_32(most, left.second, n - next);
        r += 2 * next - 1;
    }
    if (count % 2 != 0) {
        *b = kc_dsp_subtract(*b, *r, factor, high);
        most = kc_dsp_larger_32(most, *b, count - 1);
    }
    return most;
}

#endif
