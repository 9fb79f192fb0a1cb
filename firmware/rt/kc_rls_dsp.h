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

/* LDRD and STRD: the address stays in its register. */
static KC_INLINE kc_two_t kc_dsp_load_two(const int32_t *p)
{
    kc_two_t two;

    __asm__ volatile("ldrd %0, %1, [%2]" : "=&r"(two.first), "=&r"(two.second) : "r"(p) : "memory");
    return two;
}

static KC_INLINE void kc_dsp_store_two(int32_t *p, kc_two_t two)
{
    __asm__ volatile("strd %0, %1, [%2]" : : "r"(two.first), "r"(two.second), "r"(p) : "memory");
}

/* One entry of kc_portable_fade_add_row. */
static KC_INLINE void kc_dsp_fade_add_one(int32_t *r, int16_t phi, int32_t left, int32_t fading)
{
    *r = __smlawb(left, phi, kc_dsp_fade(*r, fading));
}

/* kc_portable_fade_add_two_rows: both rows share each pair of columns. */
static KC_INLINE void kc_dsp_fade_add_two_rows(int32_t *r, const int16_t *phi, int32_t n, int32_t fading,
    int32_t s)
{
    const int32_t scale = INT32_C(1) << (s <= 16 ? 16 - s : 0), upper = phi[0] * scale, lower = phi[1] * scale;
    int32_t *q = &r[n + 1];
    int32_t pairs;

    if (s > 16) {
        kc_portable_fade_add_two_rows(r, phi, n, fading, s);
        return;
    }
    kc_dsp_fade_add_one(&r[0], phi[0], upper, fading);
    kc_dsp_fade_add_one(&r[1], phi[1], upper, fading);
    kc_dsp_fade_add_one(&r[n], phi[1], lower, fading);
    r += 2;
    phi += 2;
    for (pairs = n / 2 - 1; pairs > 0; pairs--) {
        const int16x2_t two = *kc_dsp_pairs(phi);

        kc_stpair_inc(&r, kc_dsp_fade_add(kc_dsp_load_two(r), two, upper, fading));
        kc_stpair_inc(&q, kc_dsp_fade_add(kc_dsp_load_two(q), two, lower, fading));
        phi += 2;
    }
    if (n % 2 != 0) {
        kc_dsp_fade_add_one(r, *phi, upper, fading);
        kc_dsp_fade_add_one(q, *phi, lower, fading);
    }
}

/* kc_portable_add_product */
static KC_INLINE int32_t kc_dsp_add_product(int32_t v, int32_t error, int16_t phi)
{
    return __smlawb(2 * error, phi, v);
}

/* kc_portable_add_wrapped */
static KC_INLINE int32_t kc_dsp_add_wrapped(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* kc_portable_larger_32: a branch that is hardly taken costs less than a conditional move. */
static KC_INLINE kc_largest_32_t kc_dsp_larger_32(kc_largest_32_t most, int32_t v, const int32_t *at)
{
    int32_t size; /* |v|, or |v| - 1 */

    __asm__("eor %0, %1, %1, asr #31" : "=r"(size) : "r"(v));
    if (__builtin_expect(size >= most.size, 0)) {
        return kc_portable_larger_32(most, v, at);
    }
    return most;
}

/* b + floor(r factor / 2^(32 or 1)) */
static KC_INLINE int32_t kc_dsp_add(int32_t b, int32_t r, int32_t factor, int32_t high)
{
    int32_t sum;

    if (high != 0) {
        __asm__("smmla %0, %1, %2, %3" : "=r"(sum) : "r"(r), "r"(factor), "r"(b));
        return sum;
    }
    r = (int32_t)((uint32_t)r * (uint32_t)factor);
    __asm__("add %0, %1, %2, asr #1" : "=r"(sum) : "r"(b), "r"(r));
    return sum;
}

/* kc_portable_add_row */
static KC_INLINE kc_largest_32_t kc_dsp_add_row(int32_t *b, const int32_t *r, int32_t n, int32_t factor,
    int32_t high, kc_largest_32_t most)
{
    const int32_t *const end = &b[n];

    while (b < end - 1) {
        const kc_two_t old = kc_dsp_load_two(b), column = kc_ldpair_inc(&r);
        const kc_two_t sums = {kc_dsp_add(old.first, column.first, factor, high),
                               kc_dsp_add(old.second, column.second, factor, high)};

        kc_dsp_store_two(b, sums);
        most = kc_dsp_larger_32(most, sums.first, b);
        most = kc_dsp_larger_32(most, sums.second, b + 1);
        b += 2;
    }
    if (b < end) {
        *b = kc_dsp_add(*b, *r, factor, high);
        most = kc_dsp_larger_32(most, *b, b);
    }
    return most;
}

/* kc_portable_add_above */
static KC_INLINE kc_largest_32_t kc_dsp_add_above(int32_t *b, const int32_t *r, int32_t n, int32_t count,
    int32_t factor, int32_t high)
{
    const int32_t *const end = &b[count];
    kc_largest_32_t most = {0, b};
    int32_t next = n - 1;

    while (b < end - 1) {
        const kc_two_t old = kc_dsp_load_two(b);
        const kc_two_t sums = {kc_dsp_add(old.first, r[0], factor, high),
                               kc_dsp_add(old.second, r[next], factor, high)};

        kc_dsp_store_two(b, sums);
        most = kc_dsp_larger_32(most, sums.first, b);
        most = kc_dsp_larger_32(most, sums.second, b + 1);
        b += 2;
        r += 2 * next - 1;
        next -= 2;
    }
    if (b < end) {
        *b = kc_dsp_add(*b, *r, factor, high);
        most = kc_dsp_larger_32(most, *b, b);
    }
    return most;
}

#endif
