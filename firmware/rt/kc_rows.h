/* kerncast runtime: rows of Levinson's recursion.  SPDX-License-Identifier: Apache-2.0
 *
 * The functions named kc_wide_ are the definitions. Those without it give the same words with fewer
 * instructions, where bounds of the magnitudes show that a word holds every sum. Where the compiler's own
 * macros announce ARMv7E-M, kc_rows_dsp.h offers what they consist of; KC_PORTABLE, defined as 1, forces
 * the portable C.
 */
#ifndef KERNCAST_KC_ROWS_H
#define KERNCAST_KC_ROWS_H

#include <stdint.h>

#include "kc_arith.h"
#include "kc_short.h"

/* Two words, one after the other. */
typedef struct {
    int32_t first, second;
} kc_two_t;

#if defined(__ARM_FEATURE_DSP) && defined(__ARMEL__) && !(defined(KC_PORTABLE) && KC_PORTABLE)
#include "kc_rows_dsp.h"
#else
#define kc_quotient kc_divide

/* Two words at p, which moves on behind them. */
static inline kc_two_t kc_take(const int32_t **p)
{
    const kc_two_t two = {(*p)[0], (*p)[1]};

    *p += 2;
    return two;
}

/* The two words before p, which moves back to them. */
static inline kc_two_t kc_take_back(const int32_t **p)
{
    const kc_two_t two = {(*p)[-2], (*p)[-1]};

    *p -= 2;
    return two;
}

/* Two words to p, which moves on behind them. */
static inline void kc_put(int32_t **p, kc_two_t two)
{
    (*p)[0] = two.first;
    (*p)[1] = two.second;
    *p += 2;
}

/* Two words before p, which moves back to them. */
static inline void kc_put_back(int32_t **p, kc_two_t two)
{
    *p -= 2;
    (*p)[0] = two.first;
    (*p)[1] = two.second;
}

/* acc + floor(a b / 2^32 + 1/2), which 32 bits hold. */
static inline int32_t kc_high_add(int32_t acc, int32_t a, int32_t b)
{
    return (int32_t)(acc + kc_shift_floor((int64_t)a * b + INT64_C(0x80000000), 32));
}

/* acc + a b, which 64 bits hold. */
static inline int64_t kc_product_add(int64_t acc, int32_t a, int32_t b)
{
    return acc + (int64_t)a * b;
}
#endif

/* ---- scalars of the recursion ---- */

/* No less than the largest |u + floor(v c / 2^s + 1/2)| of words u, v of magnitudes at most `most`;
 * most < 2^32, |c| <= 2^s. */
static inline int64_t kc_grown(int64_t most, int64_t c, int32_t s)
{
    return most + (int64_t)(((uint64_t)(uint32_t)most * (uint32_t)kc_magnitude(c)) >> s) + 4;
}

/* v / 2^s of a word, rounded; 0 <= s <= 62. */
static inline int32_t kc_word_round(int64_t v, int32_t s, int32_t rounding)
{
    const int32_t word = (int32_t)v;
    int32_t twice;

    if (rounding != KC_HALF_UP || s < 1 || s > 31) {
        return (int32_t)kc_shift_round(v, s, rounding);
    }
    twice = word < 0 ? ~(~word >> (s - 1)) : word >> (s - 1);
    return (twice < 0 ? ~(~twice >> 1) : twice >> 1) + (int32_t)((uint32_t)twice & 1U);
}

/* kc_narrow of a quotient to words of one + `bits` bits; |v| <= 2^31. */
static inline int32_t kc_quotient_narrow(int64_t v, int32_t s, int32_t bits, int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    const int32_t lo = (int32_t)-one, hi = (int32_t)(one - 1);

    if (rounding != KC_HALF_UP || s < 2 || s > 32) {
        return (int32_t)kc_narrow(v, s, rounding, lo, hi);
    }
    /* The bit that is cut off first is below 1/2. */
    return kc_short_saturate(kc_word_round(kc_shift_floor(v, 1), s - 1, rounding), lo, hi);
}

static inline int64_t kc_larger_64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline uint32_t kc_larger_32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* kc_magnitude; compilers find no such form of v < 0 ? ~v : v. */
static inline uint32_t kc_size_32(int32_t v)
{
    return (uint32_t)v ^ (v < 0 ? UINT32_MAX : UINT32_C(0));
}

/* The largest of `used` and the magnitudes of four words. */
static inline uint32_t kc_used_32(uint32_t used, kc_two_t a, kc_two_t b)
{
    const uint32_t a0 = kc_size_32(a.first), a1 = kc_size_32(a.second);
    const uint32_t b0 = kc_size_32(b.first), b1 = kc_size_32(b.second);

    if ((a0 | a1 | b0 | b1) <= used) { /* so it is most often */
        return used;
    }
    return kc_larger_32(used, kc_larger_32(kc_larger_32(a0, a1), kc_larger_32(b0, b1)));
}

/* ---- the sum of floor(u[i] v[count - 1 - i] / 2^s) over i = 0, ..., count - 1 ---- */

static inline int64_t kc_wide_dot_reversed_32(const int32_t *u, const int32_t *v, int32_t count, int32_t s)
{
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc = kc_mac(acc, u[i], v[count - 1 - i], s);
    }
    return acc;
}

/* Sums of the upper halves of products, and of floor(lower / 2^s). */
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

/* A floor is high 2^(32 - s) + floor(low / 2^s); 32 bits hold 2^s of the latter. */
static inline int64_t kc_dot_reversed_32(const int32_t *u, const int32_t *v, int32_t count, int32_t s)
{
    kc_halves_t sums = {0, 0};
    int64_t low = 0;

    if (s < 2 || s > 30) {
        return kc_wide_dot_reversed_32(u, v, count, s);
    }
    v += count;
    while (count > 0) {
        const int32_t part = count >> s != 0 ? INT32_C(1) << s : count;
        int32_t left;

        sums.low = 0;
        for (left = part / 4; left > 0; left--) {
            const kc_two_t u01 = kc_take(&u), v10 = kc_take_back(&v);
            const kc_two_t u23 = kc_take(&u), v32 = kc_take_back(&v);

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
        acc = kc_short_mac(acc, *u++, *--v, s);
    }
    return acc;
}

/* ---- a_i += xi a_{n-i} for 0 < i < n, both ends at once, in words of a sign and `bits` bits;
 * the largest magnitude met, before the cast ---- */

static inline int64_t kc_wide_step_up_32(int32_t *a, int32_t n, int64_t xi, int32_t bits,
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

        used = kc_larger_64(used, kc_larger_64(kc_magnitude(first), kc_magnitude(last)));
        a[i] = (int32_t)kc_saturate(first, -one, one - 1);
        a[n - i] = (int32_t)kc_saturate(last, -one, one - 1);
    }
    return used;
}

/* a + b (turn + rest / 2^32), rounded half up. */
static inline int32_t kc_turned(int32_t a, int32_t b, int32_t turn, int32_t rest)
{
    return turn == 0 ? kc_high_add(a, rest, b) : a + kc_high_add(turn * b, rest, b);
}

static inline int64_t kc_lean_step_up_32(int32_t *a, int32_t n, int32_t turn, int32_t rest)
{
    const int32_t *from = &a[1], *back_from = &a[n];
    int32_t *p = &a[1], *q = &a[n];
    uint32_t used = 0;
    int32_t left;

    for (left = (n - 1) / 4; left > 0; left--) {
        const kc_two_t u = kc_take(&from), v = kc_take_back(&back_from);
        const kc_two_t first = {kc_turned(u.first, v.second, turn, rest),
                                kc_turned(u.second, v.first, turn, rest)};
        const kc_two_t last = {kc_turned(v.first, u.second, turn, rest),
                               kc_turned(v.second, u.first, turn, rest)};

        kc_put(&p, first);
        kc_put_back(&q, last);
        used = kc_used_32(used, first, last);
    }
    for (; p < q; p++) {
        const int32_t u = *p, v = q[-1];
        const kc_two_t both = {kc_turned(u, v, turn, rest), kc_turned(v, u, turn, rest)};

        *p = both.first;
        q--;
        *q = both.second;
        used = kc_used_32(used, both, both);
    }
    return used;
}

/* Where no sum is larger than `most`. */
static inline int64_t kc_step_up_32(int32_t *a, int32_t n, int64_t xi, int32_t bits,
    int64_t most, int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    const int32_t turn = 2 * xi >= one ? 1 : (2 * xi < -one ? -1 : 0);
    /* xi = one (turn + rest / 2^32) */
    const int32_t rest = (int32_t)((xi - turn * one) * (INT64_C(1) << (32 - bits)));

    if (rounding != KC_HALF_UP || most >= one) {
        return kc_wide_step_up_32(a, n, xi, bits, rounding);
    }
    return turn == 0 ? kc_lean_step_up_32(a, n, 0, rest) : kc_lean_step_up_32(a, n, turn, rest);
}

static inline int64_t kc_wide_step_up_16(int16_t *a, int32_t n, int64_t xi, int32_t bits,
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

        used = kc_larger_64(used, kc_larger_64(kc_magnitude(first), kc_magnitude(last)));
        a[i] = (int16_t)kc_saturate(first, -one, one - 1);
        a[n - i] = (int16_t)kc_saturate(last, -one, one - 1);
    }
    return used;
}

static inline int64_t kc_step_up_16(int16_t *a, int32_t n, int64_t xi, int32_t bits,
    int64_t most, int32_t rounding)
{
    const int32_t one = (int32_t)(INT32_C(1) << bits), factor = (int32_t)xi;
    uint32_t used = 0;
    int32_t i;

    if (most >= one) {
        return kc_wide_step_up_16(a, n, xi, bits, rounding);
    }
    for (i = 1; i <= n / 2; i++) {
        const int32_t left = a[i], right = a[n - i];
        const kc_two_t both = {kc_short_shift_round(left * one + factor * right, bits, rounding),
                               kc_short_shift_round(right * one + factor * left, bits, rounding)};

        a[i] = (int16_t)both.first;
        a[n - i] = (int16_t)both.second;
        used = kc_used_32(used, both, both);
    }
    return used;
}

/* ---- x_i += c a_{n-i} / 2^s for 0 <= i < n, rounded, in words of a sign and `bits` bits;
 * the largest magnitude met, before the cast ---- */

static inline int64_t kc_wide_add_reversed_32(int32_t *x, const int32_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    int64_t used = 0;
    int32_t i;

    for (i = 0; i < n; i++) {
        const int64_t whole = x[i] + kc_shift_round(c * a[n - i], s, rounding);

        used = kc_larger_64(used, kc_magnitude(whole));
        x[i] = (int32_t)kc_saturate(whole, -one, one - 1);
    }
    return used;
}

/* x + a c / 2^s, rounded half up, with s = 32 + down, and for down = 0 with s = 32 - up. */
static inline int32_t kc_scaled(int32_t x, int32_t a, int32_t c, int32_t up, int32_t down)
{
    if (down == 0) {
        return kc_high_add(x, a * (int32_t)(INT32_C(1) << up), c);
    }
    return x + kc_short_shift_round((int32_t)kc_shift_floor((int64_t)a * c, 32), down, KC_HALF_UP);
}

static inline int64_t kc_lean_add_reversed_32(int32_t *x, const int32_t *a, int32_t n, int32_t c, int32_t up,
    int32_t down)
{
    const int32_t *from = x, *back = &a[n + 1];
    uint32_t used = 0;
    int32_t left;

    for (left = n / 4; left > 0; left--) {
        const kc_two_t a10 = kc_take_back(&back), a32 = kc_take_back(&back);
        const kc_two_t x01 = kc_take(&from), x23 = kc_take(&from);
        const kc_two_t first = {kc_scaled(x01.first, a10.second, c, up, down),
                                kc_scaled(x01.second, a10.first, c, up, down)};
        const kc_two_t last = {kc_scaled(x23.first, a32.second, c, up, down),
                               kc_scaled(x23.second, a32.first, c, up, down)};

        kc_put(&x, first);
        kc_put(&x, last);
        used = kc_used_32(used, first, last);
    }
    for (left = n % 4; left > 0; left--) {
        const int32_t word = kc_scaled(*x, *--back, c, up, down);
        const kc_two_t both = {word, word};

        *x++ = word;
        used = kc_used_32(used, both, both);
    }
    return used;
}

/* No less than the largest floor(|a c| / 2^s) of words a of magnitudes at most `most` < 2^32; |c| <= 2^31. */
static inline int64_t kc_largest_product(int64_t most, int64_t c, int32_t s)
{
    return (int64_t)((((uint64_t)most + 1U) * ((uint64_t)kc_magnitude(c) + 1U)) >> s);
}

/* Where x are at most x_most and a at most a_most. */
static inline int64_t kc_add_reversed_32(int32_t *x, const int32_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int64_t x_most, int64_t a_most, int32_t rounding)
{
    const int64_t most = x_most + kc_largest_product(a_most, c, s) + 2;

    if (rounding != KC_HALF_UP || s < 2 || (most >> bits) != 0 || (s <= 32 && (a_most >> (s - 1)) != 0)) {
        return kc_wide_add_reversed_32(x, a, n, c, s, bits, rounding);
    }
    return s <= 32 ? kc_lean_add_reversed_32(x, a, n, (int32_t)c, 32 - s, 0)
                   : kc_lean_add_reversed_32(x, a, n, (int32_t)c, 0, s - 32);
}

static inline int64_t kc_wide_add_reversed_16(int16_t *x, const int16_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int32_t rounding)
{
    const int64_t one = INT64_C(1) << bits;
    int64_t used = 0;
    int32_t i;

    for (i = 0; i < n; i++) {
        const int64_t whole = x[i] + kc_shift_round(c * a[n - i], s, rounding);

        used = kc_larger_64(used, kc_magnitude(whole));
        x[i] = (int16_t)kc_saturate(whole, -one, one - 1);
    }
    return used;
}

static inline int64_t kc_add_reversed_16(int16_t *x, const int16_t *a, int32_t n, int64_t c, int32_t s,
    int32_t bits, int64_t x_most, int64_t a_most, int32_t rounding)
{
    const int64_t most = x_most + kc_largest_product(a_most, c, s) + 2;
    uint32_t used = 0;
    int32_t i;

    if (s > 30 || (most >> bits) != 0) {
        return kc_wide_add_reversed_16(x, a, n, c, s, bits, rounding);
    }
    for (i = 0; i < n; i++) {
        const int32_t word = x[i] + kc_short_shift_round((int32_t)c * a[n - i], s, rounding);
        const kc_two_t both = {word, word};

        x[i] = (int16_t)word;
        used = kc_used_32(used, both, both);
    }
    return used;
}

#endif
