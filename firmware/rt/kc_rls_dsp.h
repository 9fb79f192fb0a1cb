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

/* Four adjacent words. */
typedef struct {
    kc_two_t first, last;
} kc_two_pairs_t;

static KC_INLINE kc_two_pairs_t kc_dsp_load_four(const int32_t *p)
{
    kc_two_pairs_t four;

    __asm__ volatile("ldrd %0, %1, [%2]" : "=&r"(four.first.first), "=&r"(four.first.second) : "r"(p) : "memory");
    __asm__ volatile("ldrd %0, %1, [%2, #8]"
                     : "=&r"(four.last.first), "=&r"(four.last.second)
                     : "r"(p)
                     : "memory");
    return four;
}

/* p then points behind them. */
static KC_INLINE void kc_dsp_store_four(int32_t **p, kc_two_pairs_t four)
{
    __asm__ volatile("strd %0, %1, [%2, #8]"
                     :
                     : "r"(four.last.first), "r"(four.last.second), "r"(*p)
                     : "memory");
    __asm__ volatile("strd %1, %2, [%0], #16"
                     : "+r"(*p)
                     : "r"(four.first.first), "r"(four.first.second)
                     : "memory");
}

/* One entry of kc_portable_fade_add_triangle; left is a feature times 2^(16 - s). */
static KC_INLINE void kc_dsp_fade_add_one(int32_t *r, int16_t phi, int32_t left, int32_t fading)
{
    *r = __smlawb(left, phi, kc_dsp_fade(*r, fading));
}

/* The places in two adjacent rows and their columns, and what their products share. */
typedef struct {
    int32_t *above, *below;
    const int16_t *phi;
    int32_t upper, lower, fading;
} kc_two_rows_t;

/* Two columns of both rows. */
static KC_INLINE void kc_dsp_fade_add_four(kc_two_rows_t *at)
{
    int16x2_t two;

    /* the compiler would compute the last address, although the loop ends there */
    __asm__ volatile("ldr %0, [%1], #4" : "=&r"(two), "+r"(at->phi) : : "memory");
    kc_stpair_inc(&at->above, kc_dsp_fade_add(kc_dsp_load_two(at->above), two, at->upper, at->fading));
    kc_stpair_inc(&at->below, kc_dsp_fade_add(kc_dsp_load_two(at->below), two, at->lower, at->fading));
}

/* kc_portable_fade_add_triangle: two rows share each pair of columns. */
static KC_INLINE void kc_dsp_fade_add_triangle(int32_t *r, const int16_t *phi, int32_t n, int32_t fading,
    int32_t s)
{
    const int32_t scale = INT32_C(1) << (s <= 16 ? 16 - s : 0);
    const int16_t *const end = &phi[n], *const pairs = &phi[n - 1], *const quads = &phi[n - 3];
    int32_t width;

    if (s > 16) {
        kc_portable_fade_add_triangle(r, phi, n, fading, s);
        return;
    }
    for (width = n; width > 1; width -= 2) {
        const int16x2_t two = *kc_dsp_pairs(phi);
        kc_two_rows_t at = {r, &r[width], &phi[2], phi[0] * scale, phi[1] * scale, fading};

        kc_stpair_inc(&at.above, kc_dsp_fade_add(kc_dsp_load_two(at.above), two, at.upper, fading));
        *at.below = __smlawt(at.lower, (int32_t)two, kc_dsp_fade(*at.below, fading));
        at.below++;
        while (at.phi < quads) {
            kc_dsp_fade_add_four(&at);
            kc_dsp_fade_add_four(&at);
        }
        if (at.phi < pairs) {
            kc_dsp_fade_add_four(&at);
        }
        if (n % 2 != 0) {
            kc_dsp_fade_add_one(at.above, *at.phi, at.upper, fading);
            kc_dsp_fade_add_one(at.below, *at.phi, at.lower, fading);
            at.below++;
        }
        r = at.below;
        phi += 2;
    }
    if (phi < end) {
        kc_dsp_fade_add_one(r, *phi, phi[0] * scale, fading);
    }
}

/* kc_portable_fade_32: v 2^32 - v fading, and all but 1 for what is rounded down, in one SMLAL */
static KC_INLINE int32_t kc_dsp_fade_32(int32_t v, int32_t fading)
{
    uint32_t low;
    int32_t high = v;

    __asm__("mvn %0, %1, asr #31" : "=r"(low) : "r"(v));
    __asm__("smlal %0, %1, %2, %3" : "+r"(low), "+r"(high) : "r"(v), "r"(-fading));
    return high;
}

/* kc_portable_add_high */
static KC_INLINE int32_t kc_dsp_add_high(int32_t v, int32_t a, int32_t b)
{
    int32_t sum;

    __asm__("smmla %0, %1, %2, %3" : "=r"(sum) : "r"(a), "r"(b), "r"(v));
    return sum;
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
    int32_t size; /* |v|, or |v| - 1 if v < 0 */

    __asm__("eor %0, %1, %1, asr #31" : "=r"(size) : "r"(v));
    if (__builtin_expect(size >= most.size, 0)) {
        __asm__("sub %0, %0, %1, asr #31" : "+r"(size) : "r"(v));
        if (size > most.size) {
            most.size = size;
            most.at = at;
        }
    }
    return most;
}

/* b + floor(r factor / 2^(32 or 1)) */
static KC_INLINE int32_t kc_dsp_add(int32_t b, int32_t r, int32_t factor, int32_t high)
{
    int32_t sum;

    if (high != 0) {
        return kc_dsp_add_high(b, r, factor);
    }
    r = (int32_t)((uint32_t)r * (uint32_t)factor);
    __asm__("add %0, %1, %2, asr #1" : "=r"(sum) : "r"(b), "r"(r));
    return sum;
}

/* b + floor(r factor / 2^(32 or 1)) of two entries */
static KC_INLINE kc_two_t kc_dsp_add_two(kc_two_t b, kc_two_t r, int32_t factor, int32_t high)
{
    const kc_two_t sums = {kc_dsp_add(b.first, r.first, factor, high),
                           kc_dsp_add(b.second, r.second, factor, high)};

    return sums;
}

/* kc_portable_larger_32 of two entries at b */
static KC_INLINE kc_largest_32_t kc_dsp_larger_two(kc_largest_32_t most, kc_two_t sums, const int32_t *b)
{
    return kc_dsp_larger_32(kc_dsp_larger_32(most, sums.first, b), sums.second, b + 1);
}

/* The last entries of kc_portable_add_row, fewer than four */
static KC_INLINE kc_largest_32_t kc_dsp_add_rest(int32_t *b, const int32_t *r, int32_t n, int32_t factor,
    int32_t high, kc_largest_32_t most)
{
    if ((n & 2) != 0) {
        const kc_two_t sums = kc_dsp_add_two(kc_dsp_load_two(b), kc_dsp_load_two(r), factor, high);

        kc_dsp_store_two(b, sums);
        most = kc_dsp_larger_two(most, sums, b);
        b += 2;
        r += 2;
    }
    if ((n & 1) != 0) {
        *b = kc_dsp_add(*b, *r, factor, high);
        most = kc_dsp_larger_32(most, *b, b);
    }
    return most;
}

/* Four entries at *b, which then points behind them */
static KC_INLINE kc_largest_32_t kc_dsp_update_four(int32_t **b, kc_two_pairs_t r, int32_t factor, int32_t high,
    kc_largest_32_t most)
{
    kc_two_pairs_t four = kc_dsp_load_four(*b);

    four.first = kc_dsp_add_two(four.first, r.first, factor, high);
    four.last = kc_dsp_add_two(four.last, r.last, factor, high);
    kc_dsp_store_four(b, four);
    return kc_dsp_larger_two(kc_dsp_larger_two(most, four.first, *b - 4), four.last, *b - 2);
}

/* kc_portable_add_row */
static KC_INLINE kc_largest_32_t kc_dsp_add_row(int32_t *b, const int32_t *r, int32_t n, int32_t factor,
    int32_t high, kc_largest_32_t most)
{
    const int32_t *const end = &b[n - 3];

    while (b < end) {
        const kc_two_t first = kc_ldpair_inc(&r);
        const kc_two_pairs_t row = {first, kc_ldpair_inc(&r)};

        most = kc_dsp_update_four(&b, row, factor, high, most);
    }
    return kc_dsp_add_rest(b, r, n, factor, high, most);
}

/* kc_portable_add_above */
static KC_INLINE kc_largest_32_t kc_dsp_add_above(int32_t *b, const int32_t *r, int32_t next, int32_t count,
    int32_t factor, int32_t high, kc_largest_32_t most)
{
    const int32_t *const end = &b[count - 3];

    while (b < end) {
        const int32_t *const later = &r[2 * next];
        const kc_two_pairs_t column = {{r[0], r[next]}, {later[-1], later[next - 3]}};

        most = kc_dsp_update_four(&b, column, factor, high, most);
        r = &later[2 * next - 6];
        next -= 4;
    }
    if ((count & 2) != 0) {
        const kc_two_t column = {r[0], r[next]};
        const kc_two_t sums = kc_dsp_add_two(kc_dsp_load_two(b), column, factor, high);

        kc_dsp_store_two(b, sums);
        most = kc_dsp_larger_two(most, sums, b);
        b += 2;
        r += 2 * next - 1;
    }
    return kc_dsp_add_rest(b, r, count & 1, factor, high, most);
}

#endif
