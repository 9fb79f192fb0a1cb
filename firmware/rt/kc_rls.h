/* kerncast runtime: normal equations of recursive least squares.  SPDX-License-Identifier: Apache-2.0
 *
 * The portable C is the definition. If the compiler announces ARMv7E-M, kc_rls_dsp.h returns the same values
 * with fewer instructions. Define KC_PORTABLE as 1 to force portable C.
 */
#ifndef KERNCAST_KC_RLS_H
#define KERNCAST_KC_RLS_H

#include <stdint.h>

#include "kc_arith.h"
#include "kc_compiler.h"
#include "kc_i32.h"
#include "kc_table.h"

/* The largest magnitude, and the index of its first value. */
typedef struct {
    int64_t size;
    int32_t index;
} kc_largest_t;

/* The same of 32 bits, and the place of its first value. */
typedef struct {
    int32_t size;
    const int32_t *at;
} kc_largest_32_t;

/* The larger in magnitude of `most` and the value v at a place, the former of equals. */
static KC_INLINE kc_largest_32_t kc_portable_larger_32(kc_largest_32_t most, int32_t v, const int32_t *at)
{
    /* 64 bits, so that an overwritten -2^31 is defined */
    const int32_t size = v < 0 ? (int32_t)-(int64_t)v : v;

    if (size > most.size) {
        most.size = size;
        most.at = at;
    }
    return most;
}

/* The sum of u v over n columns, modulo 2^32. */
static inline uint32_t kc_portable_dot_low(KC_TABLE int16_t *u, const int16_t *v, int32_t n)
{
    uint32_t acc = 0;
    int32_t c;

    KC_UNROLL(4)
    for (c = 0; c < n; c++) {
        acc += (uint32_t)((int32_t)u[c] * v[c]);
    }
    return acc;
}

/* r_ij <- r_ij - floor(r_ij fading / 2^32) + floor(phi_i phi_j / 2^s), modulo 2^32, for the upper triangle of
 * an n x n matrix, row by row; 0 <= fading < 2^31, 0 <= s <= 30. */
static inline void kc_portable_fade_add_triangle(int32_t *r, const int16_t *phi, int32_t n, int32_t fading,
    int32_t s)
{
    int32_t i, j;

    for (i = 0; i < n; i++) {
        KC_UNROLL(4)
        for (j = i; j < n; j++) {
            const int32_t product = kc_shift_round_i32((int32_t)phi[i] * phi[j], s, KC_FLOOR);
            const int64_t faded = kc_shift_floor((int64_t)*r * fading, 32);

            *r = (int32_t)kc_wrap(*r - faded + product, 32);
            r++;
        }
    }
}

/* The least k with num / den <= 2^k; 0 < num, 0 < den < 2^31. */
static inline int32_t kc_power_above_32(int32_t num, int32_t den)
{
    const int32_t up = 31 - kc_bit_length(num), up_den = 31 - kc_bit_length(den);
    const uint32_t n = (uint32_t)num << up, d = (uint32_t)den << up_den;

    return up_den - up + (n > d ? 1 : 0);
}

/* The same for num < 2^62. */
static inline int32_t kc_power_above(int64_t num, int32_t den)
{
    int32_t up, up_den;
    int64_t n, d;

    if (num <= INT32_MAX) {
        return kc_power_above_32((int32_t)num, den);
    }
    up = kc_normalisation_shift(num);
    up_den = kc_normalisation_shift(den);
    n = num * (INT64_C(1) << up);
    d = den * (INT64_C(1) << up_den);
    return up_den - up + (n > d ? 1 : 0);
}

/* v - v fading / 2^32, the product rounded toward 0; |v| < 2^62, 0 <= fading < 2^31. */
static inline int64_t kc_fade(int64_t v, int32_t fading)
{
    const uint64_t size = (uint64_t)(v < 0 ? -v : v);
    const uint32_t high = (uint32_t)(size >> 32), low = (uint32_t)size, factor = (uint32_t)fading;
    const int64_t faded = (int64_t)((uint64_t)high * factor + (((uint64_t)low * factor) >> 32));

    return v < 0 ? v + faded : v - faded;
}

/* The larger in magnitude of `most` and v, the former of equals. */
static inline kc_largest_t kc_larger(kc_largest_t most, int64_t v, int32_t index)
{
    const int64_t size = v < 0 ? -v : v;

    if (size > most.size) {
        most.size = size;
        most.index = index;
    }
    return most;
}

/* v - v fading / 2^32, the product rounded toward 0; |v| < 2^31, 0 <= fading < 2^31. */
static inline int32_t kc_portable_fade_32(int32_t v, int32_t fading)
{
    const uint32_t up = v < 0 ? UINT32_MAX : 0U;

    return v - (int32_t)kc_shift_floor((int64_t)v * fading + up, 32);
}

/* v + floor(error phi / 2^15); |v| < 2^31 - 2^29, |error| < 2^29. */
static inline int32_t kc_portable_add_product(int32_t v, int32_t error, int16_t phi)
{
    return v + (int32_t)kc_shift_floor((int64_t)error * phi, 15);
}

/* v + floor(a b / 2^32), which fits 32 bits. */
static inline int32_t kc_portable_add_high(int32_t v, int32_t a, int32_t b)
{
    return (int32_t)(v + kc_shift_floor((int64_t)a * b, 32));
}

/* a + b modulo 2^32 */
static inline int32_t kc_portable_add_wrapped(int32_t a, int32_t b)
{
    return (int32_t)kc_wrap((int64_t)a + b, 32);
}

/* b_j <- b_j + floor(r_j factor / 2^(32 or 1)) for n adjacent entries, and the larger in magnitude of `most`
 * and the results; `high` chooses 32. */
static KC_INLINE kc_largest_32_t kc_portable_add_row(int32_t *b, const int32_t *r, int32_t n, int32_t factor,
    int32_t high, kc_largest_32_t most)
{
    int32_t j;

    KC_UNROLL(4)
    for (j = 0; j < n; j++) {
        b[j] = (int32_t)(b[j] + kc_shift_floor((int64_t)r[j] * factor, high != 0 ? 32 : 1));
        most = kc_portable_larger_32(most, b[j], &b[j]);
    }
    return most;
}

/* The same for the entries above the diagonal of a column, whose distances are next, next - 1, ... */
static KC_INLINE kc_largest_32_t kc_portable_add_above(int32_t *b, const int32_t *r, int32_t next, int32_t count,
    int32_t factor, int32_t high, kc_largest_32_t most)
{
    int32_t j;

    for (j = 0; j < count; j++) {
        most = kc_portable_add_row(&b[j], r, 1, factor, high, most);
        r += next - j;
    }
    return most;
}

#if KC_INTRINSICS && defined(__ARM_FEATURE_DSP) && defined(__ARMEL__)
#include "kc_rls_dsp.h"
#define kc_dot_low kc_dsp_dot_low
#define kc_fade_add_triangle kc_dsp_fade_add_triangle
#define kc_larger_32 kc_dsp_larger_32
#define kc_fade_32 kc_dsp_fade_32
#define kc_add_high kc_dsp_add_high
#define kc_add_product kc_dsp_add_product
#define kc_add_wrapped kc_dsp_add_wrapped
#define kc_add_row kc_dsp_add_row
#define kc_add_above kc_dsp_add_above
#else
#define kc_dot_low kc_portable_dot_low
#define kc_fade_add_triangle kc_portable_fade_add_triangle
#define kc_larger_32 kc_portable_larger_32
#define kc_fade_32 kc_portable_fade_32
#define kc_add_high kc_portable_add_high
#define kc_add_product kc_portable_add_product
#define kc_add_wrapped kc_portable_add_wrapped
#define kc_add_row kc_portable_add_row
#define kc_add_above kc_portable_add_above
#endif

/* The place of the diagonal in row i of the upper triangle of an n x n matrix, row by row. */
static inline uint32_t kc_diagonal(int32_t n, int32_t i)
{
    return (uint32_t)i * (uint32_t)(2 * n + 1 - i) / 2U;
}

/* Features up to `first` precede the inputs. The magnitudes of the inputs count 2^scale times. */
typedef struct {
    int32_t first, scale;
} kc_inputs_t;

/* The largest before the inputs, as a bound for the inputs; if it has 31 bits, it stays the largest. */
static KC_INLINE kc_largest_32_t kc_scale_largest(kc_largest_32_t most, int32_t scale)
{
    most.size = most.size < (INT32_C(1) << 30) ? kc_shift_round_i32(most.size, scale, KC_FLOOR) : INT32_MAX;
    return most;
}

/* Add factor / 2^(32 or 1) times column i of a symmetric matrix to b, each product rounded to minus infinity;
 * the place of the largest of the results. The matrix is its upper triangle, row by row; the products and
 * |b_j| are below 2^30. */
static KC_INLINE const int32_t *kc_add_column(int32_t *b, const int32_t *r, int32_t n, int32_t i,
    int32_t factor, int32_t high, kc_inputs_t inputs)
{
    const int32_t *const row = &r[kc_diagonal(n, i)];
    int32_t start = 0, end = inputs.first;
    kc_largest_32_t most = {0, b};

    while (start < n) {
        if (start < i) {
            const int32_t *const above = &r[kc_diagonal(n, start) + (uint32_t)(i - start)];
            const int32_t count = (i < end ? i : end) - start;

            most = kc_add_above(&b[start], above, n - 1 - start, count, factor, high, most);
            start += count;
        }
        most = kc_add_row(&b[start], &row[start - i], end - start, factor, high, most);
        most = kc_scale_largest(most, inputs.scale);
        start = end;
        end = n;
    }
    return most.at;
}

/* kc_add_column with factor / 2^32 */
static KC_NOINLINE const int32_t *kc_add_column_high(int32_t *b, const int32_t *r, int32_t n, int32_t i,
    int32_t factor, kc_inputs_t inputs)
{
    return kc_add_column(b, r, n, i, factor, 1, inputs);
}

/* kc_add_column with factor / 2 */
static KC_NOINLINE const int32_t *kc_add_column_half(int32_t *b, const int32_t *r, int32_t n, int32_t i,
    int32_t factor, kc_inputs_t inputs)
{
    return kc_add_column(b, r, n, i, factor, 0, inputs);
}

/* Subtract step / 2^s times column i from b of 64 bits. */
static KC_RARE void kc_subtract_column_64(int64_t *b, const int32_t *r, int32_t n, int32_t i, int64_t step,
    int32_t s)
{
    int32_t j;

    r += i;
    for (j = 0; j < n; j++) {
        b[j] -= kc_shift_floor(*r * step, s);
        r += j < i ? n - 1 - j : 1;
    }
}

#endif
