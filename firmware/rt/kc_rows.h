/* kerncast runtime: vector updates of the Levinson recursion.  SPDX-License-Identifier: Apache-2.0
 *
 * kc_*_ref are the reference definitions. kc_*_fast return the same values with fewer instructions, provided
 * that a bound on the magnitudes shows that no sum leaves its word. The function without a suffix checks that
 * bound and calls one of the two. If the compiler announces ARMv7E-M, kc_rows_dsp.h supplies the instructions
 * behind the kc_*_fast functions. Define KC_PORTABLE as 1 to force portable C.
 */
#ifndef KERNCAST_KC_ROWS_H
#define KERNCAST_KC_ROWS_H

#include <stdint.h>

#include "kc_arith.h"
#include "kc_block.h"
#include "kc_compiler.h"
#include "kc_i32.h"

/* Two adjacent words. */
typedef struct {
    int32_t first, second;
} kc_two_t;

#if KC_INTRINSICS && defined(__ARM_FEATURE_DSP) && defined(__ARMEL__)
#include "kc_rows_dsp.h"
#else
#define kc_quotient kc_divide

/* Load two words at p; p then points behind them. */
static inline kc_two_t kc_ldpair_inc(const int32_t **p)
{
    const kc_two_t two = {(*p)[0], (*p)[1]};

    *p += 2;
    return two;
}

/* Load the two words before p; p then points at the first of them. */
static inline kc_two_t kc_ldpair_dec(const int32_t **p)
{
    const kc_two_t two = {(*p)[-2], (*p)[-1]};

    *p -= 2;
    return two;
}

/* Store two words at p; p then points behind them. */
static inline void kc_stpair_inc(int32_t **p, kc_two_t two)
{
    (*p)[0] = two.first;
    (*p)[1] = two.second;
    *p += 2;
}

/* Store two words before p; p then points at the first of them. */
static inline void kc_stpair_dec(int32_t **p, kc_two_t two)
{
    *p -= 2;
    (*p)[0] = two.first;
    (*p)[1] = two.second;
}

/* acc + floor(a b / 2^32 + 1/2); the result fits 32 bits. */
static inline int32_t kc_high_add(int32_t acc, int32_t a, int32_t b)
{
    return (int32_t)(acc + kc_shift_floor((int64_t)a * b + INT64_C(0x80000000), 32));
}

/* acc + a b; the result fits 64 bits. */
static inline int64_t kc_product_add(int64_t acc, int32_t a, int32_t b)
{
    return acc + (int64_t)a * b;
}
#endif

/* ---- scalars of the recursion ---- */

/* Upper bound of |u + floor(v c / 2^s + 1/2)| over words u, v of magnitude at most max_abs;
 * max_abs < 2^32, |c| <= 2^s. */
static inline int64_t kc_growth_bound(int64_t max_abs, int64_t c, int32_t s)
{
    return max_abs + (int64_t)(((uint64_t)(uint32_t)max_abs * (uint32_t)kc_magnitude(c)) >> s) + 4;
}

/* v / 2^s of a word, rounded; 0 <= s <= 62. */
static inline int32_t kc_word_round(int64_t v, int32_t s, int32_t rounding)
{
    const int32_t word = (int32_t)v;
    int32_t twice;

    if (rounding != KC_HALF_UP) {
        return (int32_t)kc_shift_round(v, s, rounding);
    }
    if (s < 1 || s > 31) {
        return s < 1 ? word : 0;
    }
    twice = word < 0 ? ~(~word >> (s - 1)) : word >> (s - 1);
    return (twice < 0 ? ~(~twice >> 1) : twice >> 1) + (int32_t)((uint32_t)twice & 1U);
}

/* v / 2^s rounded half up and saturated; -31 <= s <= 1, |v| <= 2^31. */
static KC_RARE int32_t kc_requantise_up(int64_t v, int32_t s, int32_t lo, int32_t hi)
{
    return (int32_t)kc_saturate(s > 0 ? kc_shift_floor(v + 1, 1) : v * (INT64_C(1) << -s), lo, hi);
}

/* kc_requantise of a quotient to words of one + `bits` bits; |v| <= 2^31. */
static inline int32_t kc_quotient_requantise(int64_t v, int32_t s, int32_t bits, int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    const int32_t lo = (int32_t)-one, hi = (int32_t)(one - 1);

    if (rounding != KC_HALF_UP || s < 2) {
        return rounding == KC_HALF_UP ? kc_requantise_up(v, s, lo, hi)
                                     : (int32_t)kc_requantise(v, s, rounding, lo, hi);
    }
    if (s > 32) {
        return 0;
    }
    /* The bit that is cut off first is below 1/2. */
    return kc_saturate_i32(kc_word_round(kc_shift_floor(v, 1), s - 1, rounding), lo, hi);
}

static inline int64_t kc_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline uint32_t kc_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* kc_magnitude in 32 bits, written so that compilers emit no branch. */
static KC_INLINE uint32_t kc_magnitude_32(int32_t v)
{
    return (uint32_t)v ^ (v < 0 ? UINT32_MAX : UINT32_C(0));
}

/* The maximum of `used` and the magnitudes of four words. */
static KC_INLINE uint32_t kc_max_magnitude_32(uint32_t used, kc_two_t a, kc_two_t b)
{
    const uint32_t a0 = kc_magnitude_32(a.first), a1 = kc_magnitude_32(a.second);
    const uint32_t b0 = kc_magnitude_32(b.first), b1 = kc_magnitude_32(b.second);

    if ((a0 | a1 | b0 | b1) <= used) { /* the usual case */
        return used;
    }
    return kc_max_u32(used, kc_max_u32(kc_max_u32(a0, a1), kc_max_u32(b0, b1)));
}

/* kc_block_scale_16 in 32 bits; by 17 and above, a word becomes 0. */
static KC_NOINLINE int64_t kc_rows_scale_16(int16_t *words, int32_t first, int32_t last, int32_t s)
{
    const int32_t shift = s < 30 ? s : 30;
    uint32_t used = 0;
    int32_t i;

    for (i = first; i < last; i++) {
        const int32_t word = kc_shift_round_i32(words[i], shift, KC_HALF_UP);

        words[i] = (int16_t)word;
        used = kc_max_u32(used, kc_magnitude_32(word));
    }
    return used;
}

static KC_NOINLINE int64_t kc_rows_scale_32(int32_t *words, int32_t first, int32_t last, int32_t s)
{
    return kc_block_scale_32(words, first, last, s);
}

/* ---- the sum of floor(u[i] v[count - 1 - i] / 2^s) over i = 0, ..., count - 1 ---- */

static KC_RARE int64_t kc_dot_reversed_32_ref(const int32_t *u, const int32_t *v, int32_t count, int32_t s)
{
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc = kc_mac(acc, u[i], v[count - 1 - i], s);
    }
    return acc;
}

/* Sums of the upper halves of products and of floor(lower half / 2^s). */
typedef struct {
    int64_t high;
    uint32_t low;
} kc_halves_t;

static inline kc_halves_t kc_halves_add(kc_halves_t sums, int32_t a, int32_t b, int32_t s)
{
    const int64_t product = (int64_t)a * b;

    sums.high = kc_product_add(sums.high, (int32_t)kc_shift_floor(product, 32), 1);
    sums.low += (uint32_t)product >> s;
    return sums;
}

/* floor(product / 2^s) = high 2^(32 - s) + floor(low / 2^s); 2^s of the latter fit 32 bits. */
static inline int64_t kc_dot_reversed_32(const int32_t *u, const int32_t *v, int32_t count, int32_t s)
{
    kc_halves_t sums = {0, 0};
    int64_t low = 0;

    if (s < 2 || s > 30) {
        return kc_dot_reversed_32_ref(u, v, count, s);
    }
    v += count;
    while (count > 0) {
        const int32_t part = count >> s != 0 ? INT32_C(1) << s : count;
        int32_t left;

        sums.low = 0;
        for (left = part / 4; left > 0; left--) {
            const kc_two_t u01 = kc_ldpair_inc(&u), v10 = kc_ldpair_dec(&v);
            const kc_two_t u23 = kc_ldpair_inc(&u), v32 = kc_ldpair_dec(&v);

            sums = kc_halves_add(sums, u01.first, v10.second, s);
            sums = kc_halves_add(sums, u01.second, v10.first, s);
            sums = kc_halves_add(sums, u23.first, v32.second, s);
            sums = kc_halves_add(sums, u23.second, v32.first, s);
        }
        for (left = part % 4; left > 0; left--) {
            sums = kc_halves_add(sums, *u++, *--v, s);
        }
        low += sums.low;
        count -= part;
    }
    return sums.high * (INT64_C(1) << (32 - s)) + low;
}

static inline int64_t kc_dot_reversed_16(const int16_t *u, const int16_t *v, int32_t count, int32_t s)
{
    int64_t acc = 0;

    v += count;
    for (; count > 0; count--) {
        acc = kc_mac_i32(acc, *u++, *--v, s);
    }
    return acc;
}

/* ---- a_i += xi a_{n-i} for 0 < i < n, both ends at once, in words of a sign and `bits` bits;
 * returns the largest magnitude before the cast ---- */

static KC_RARE int64_t kc_step_up_32_ref(int32_t *a, int32_t n, int64_t xi, int32_t bits,
    int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    int64_t used = 0;
    int32_t i;

    for (i = 1; i <= n / 2; i++) {
        const int64_t left = a[i];
        const int64_t right = a[n - i];
        const int64_t first = kc_shift_round(left * one + xi * right, bits, rounding);
        const int64_t last = kc_shift_round(right * one + xi * left, bits, rounding);

        used = kc_max_i64(used, kc_max_i64(kc_magnitude(first), kc_magnitude(last)));
        a[i] = (int32_t)kc_saturate(first, -one, one - 1);
        a[n - i] = (int32_t)kc_saturate(last, -one, one - 1);
    }
    return used;
}

/* a + b (turn + rest / 2^32), rounded half up. */
static inline int32_t kc_rotate_step(int32_t a, int32_t b, int32_t turn, int32_t rest)
{
    return turn == 0 ? kc_high_add(a, rest, b) : a + kc_high_add(turn * b, rest, b);
}

static inline int64_t kc_step_up_32_fast(int32_t *a, int32_t n, int32_t turn, int32_t rest)
{
    const int32_t *from = &a[1], *back_from = &a[n];
    int32_t *p = &a[1], *q = &a[n];
    uint32_t used = 0;
    int32_t left;

    for (left = (n - 1) / 4; left > 0; left--) {
        const kc_two_t u = kc_ldpair_inc(&from), v = kc_ldpair_dec(&back_from);
        const kc_two_t first = {kc_rotate_step(u.first, v.second, turn, rest),
                                kc_rotate_step(u.second, v.first, turn, rest)};
        const kc_two_t last = {kc_rotate_step(v.first, u.second, turn, rest),
                               kc_rotate_step(v.second, u.first, turn, rest)};

        kc_stpair_inc(&p, first);
        kc_stpair_dec(&q, last);
        used = kc_max_magnitude_32(used, first, last);
    }
    for (; p < q; p++) {
        const int32_t u = *p, v = q[-1];
        const kc_two_t both = {kc_rotate_step(u, v, turn, rest), kc_rotate_step(v, u, turn, rest)};

        *p = both.first;
        q--;
        *q = both.second;
        used = kc_max_magnitude_32(used, both, both);
    }
    return used;
}

/* No sum exceeds sum_bound in magnitude. */
static inline int64_t kc_step_up_32(int32_t *a, int32_t n, int64_t xi, int32_t bits,
    int64_t sum_bound, int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    const int32_t turn = 2 * xi >= one ? 1 : (2 * xi < -one ? -1 : 0);
    /* xi = one (turn + rest / 2^32) */
    const int32_t rest = (int32_t)((xi - turn * one) * (INT64_C(1) << (32 - bits)));

    if (rounding != KC_HALF_UP || sum_bound >= one) {
        return kc_step_up_32_ref(a, n, xi, bits, rounding);
    }
    return turn == 0 ? kc_step_up_32_fast(a, n, 0, rest) : kc_step_up_32_fast(a, n, turn, rest);
}

/* No sum of two products with its rounding leaves 32 bits: |a_i|, |xi| <= 2^bits <= 2^15. */
static KC_RARE int64_t kc_step_up_16_ref(int16_t *a, int32_t n, int64_t xi, int32_t bits, int32_t rounding)
{
    const int32_t one = (int32_t)(INT32_C(1) << bits), factor = (int32_t)xi;
    uint32_t used = 0;
    int32_t i;

    for (i = 1; i <= n / 2; i++) {
        const int32_t pair[2] = {a[i], a[n - i]};
        int32_t k;

        for (k = 0; k < 2; k++) {
            const int32_t word = kc_shift_round_i32(pair[k] * one + factor * pair[1 - k], bits, rounding);

            a[k == 0 ? i : n - i] = (int16_t)kc_saturate_i32(word, -one, one - 1);
            used = kc_max_u32(used, kc_magnitude_32(word));
        }
    }
    return used;
}

static inline int64_t kc_step_up_16(int16_t *a, int32_t n, int64_t xi, int32_t bits,
    int64_t sum_bound, int32_t rounding)
{
    const int32_t one = (int32_t)(INT32_C(1) << bits), factor = (int32_t)xi;
    uint32_t used = 0;
    int32_t i;

    if (sum_bound >= one) {
        return kc_step_up_16_ref(a, n, xi, bits, rounding);
    }
    for (i = 1; i <= n / 2; i++) {
        const int32_t left = a[i], right = a[n - i];
        const kc_two_t both = {kc_shift_round_i32(left * one + factor * right, bits, rounding),
                               kc_shift_round_i32(right * one + factor * left, bits, rounding)};

        a[i] = (int16_t)both.first;
        a[n - i] = (int16_t)both.second;
        used = kc_max_magnitude_32(used, both, both);
    }
    return used;
}

/* ---- x_i += c a_{n-i} / 2^s for 0 <= i < n, rounded, in words of a sign and `bits` bits;
 * returns the largest magnitude before the cast ---- */

static KC_RARE int64_t kc_add_reversed_32_ref(int32_t *x, const int32_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    int64_t used = 0;
    int32_t i;

    for (i = 0; i < n; i++) {
        const int64_t whole = x[i] + kc_shift_round(c * a[n - i], s, rounding);

        used = kc_max_i64(used, kc_magnitude(whole));
        x[i] = (int32_t)kc_saturate(whole, -one, one - 1);
    }
    return used;
}

/* x + a c / 2^s, rounded half up, with s = 32 + down, and for down = 0 with s = 32 - up. */
static inline int32_t kc_scale_add_32(int32_t x, int32_t a, int32_t c, int32_t up, int32_t down)
{
    if (down == 0) {
        return kc_high_add(x, a * (int32_t)(INT32_C(1) << up), c);
    }
    return x + kc_shift_round_i32((int32_t)kc_shift_floor((int64_t)a * c, 32), down, KC_HALF_UP);
}

static inline int64_t kc_add_reversed_32_fast(int32_t *x, const int32_t *a, int32_t n, int32_t c, int32_t up,
    int32_t down)
{
    const int32_t *from = x, *back = &a[n + 1];
    uint32_t used = 0;
    int32_t left;

    for (left = n / 4; left > 0; left--) {
        const kc_two_t a10 = kc_ldpair_dec(&back), a32 = kc_ldpair_dec(&back);
        const kc_two_t x01 = kc_ldpair_inc(&from), x23 = kc_ldpair_inc(&from);
        const kc_two_t first = {kc_scale_add_32(x01.first, a10.second, c, up, down),
                                kc_scale_add_32(x01.second, a10.first, c, up, down)};
        const kc_two_t last = {kc_scale_add_32(x23.first, a32.second, c, up, down),
                               kc_scale_add_32(x23.second, a32.first, c, up, down)};

        kc_stpair_inc(&x, first);
        kc_stpair_inc(&x, last);
        used = kc_max_magnitude_32(used, first, last);
    }
    for (left = n % 4; left > 0; left--) {
        const int32_t word = kc_scale_add_32(*x, *--back, c, up, down);
        const kc_two_t both = {word, word};

        *x++ = word;
        used = kc_max_magnitude_32(used, both, both);
    }
    return used;
}

/* Upper bound of floor(|a c| / 2^s) over words a of magnitude at most max_abs < 2^32; |c| <= 2^31. */
static inline int64_t kc_product_bound(int64_t max_abs, int64_t c, int32_t s)
{
    return (int64_t)((((uint64_t)max_abs + 1U) * ((uint64_t)kc_magnitude(c) + 1U)) >> s);
}

/* |x| is at most x_max_abs and |a| at most a_max_abs. */
static inline int64_t kc_add_reversed_32(int32_t *x, const int32_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int64_t x_max_abs, int64_t a_max_abs, int32_t rounding)
{
    const int64_t sum_bound = x_max_abs + kc_product_bound(a_max_abs, c, s) + 2;

    if (rounding != KC_HALF_UP || s < 2 || (sum_bound >> bits) != 0 || (s <= 32 && (a_max_abs >> (s
        - 1)) != 0)) {
        return kc_add_reversed_32_ref(x, a, n, c, s, bits, rounding);
    }
    return s <= 32 ? kc_add_reversed_32_fast(x, a, n, (int32_t)c, 32 - s, 0)
                   : kc_add_reversed_32_fast(x, a, n, (int32_t)c, 0, s - 32);
}

static KC_RARE int64_t kc_add_reversed_16_ref(int16_t *x, const int16_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int32_t rounding)
{
    const int32_t one = (int32_t)(INT32_C(1) << bits);
    uint32_t used = 0;
    int32_t i;

    for (i = 0; i < n; i++) {
        const int32_t whole = x[i] + (int32_t)kc_shift_round((int32_t)c * a[n - i], s, rounding);

        x[i] = (int16_t)kc_saturate_i32(whole, -one, one - 1);
        used = kc_max_u32(used, kc_magnitude_32(whole));
    }
    return used;
}

static inline int64_t kc_add_reversed_16(int16_t *x, const int16_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int64_t x_max_abs, int64_t a_max_abs, int32_t rounding)
{
    const int64_t sum_bound = x_max_abs + kc_product_bound(a_max_abs, c, s) + 2;
    uint32_t used = 0;
    int32_t i;

    if (s > 30 || (sum_bound >> bits) != 0) {
        return kc_add_reversed_16_ref(x, a, n, c, s, bits, rounding);
    }
    for (i = 0; i < n; i++) {
        const int32_t word = x[i] + kc_shift_round_i32((int32_t)c * a[n - i], s, rounding);
        const kc_two_t both = {word, word};

        x[i] = (int16_t)word;
        used = kc_max_magnitude_32(used, both, both);
    }
    return used;
}

#endif
