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
#include "kc_compiler.h"
#include "kc_i32.h"
#include "kc_simd.h"
#include "kc_table.h"

/* Shifts by less than a register: kc_shift_floor(v, s) and v 2^s; 0 <= s <= 30. */
static inline int64_t kc_band_right(int64_t v, int32_t s)
{
    const int32_t high = (int32_t)kc_shift_floor(v, 32);
    const uint32_t low = (uint32_t)((uint64_t)v & UINT32_MAX);
    const int32_t top = high < 0 ? ~(~high >> s) : high >> s;

    return (top * (INT64_C(1) << 32)) | (int64_t)((((uint32_t)high << 1) << (31 - s)) | (low >> s));
}

static inline int64_t kc_band_left(int32_t v, int32_t s)
{
    const int32_t quarter = v < 0 ? ~(~v >> 2) : v >> 2;
    const int32_t top = quarter < 0 ? ~(~quarter >> (30 - s)) : quarter >> (30 - s);

    return (top * (INT64_C(1) << 32)) | (int64_t)((uint32_t)v << s);
}

/* ---- A sum with `frac` bits below the LSB of a word of w bits, rounded to the word: it is raised first, so that
 * the words from the lowest to the highest are 0 to 2^w - 1 and one comparison finds a sum that does not fit. ---- */

static inline uint64_t kc_band_raise(int64_t acc, int32_t w, int32_t frac, int32_t rounding)
{
    const uint64_t half = rounding == KC_FLOOR ? 0U : UINT64_C(1) << (frac - 1);

    return (UINT64_C(1) << (w - 1 + frac)) + half + (uint64_t)acc;
}

/* 1 if the rounded sum fits the word, else 0. */
static inline int32_t kc_band_fits(uint64_t raised, int32_t w, int32_t frac)
{
    const uint32_t high = (uint32_t)(raised >> 32), low = (uint32_t)(raised & UINT32_MAX);

    return (w + frac < 32 ? (high | (low >> ((w + frac) & 31))) : high >> ((w + frac) & 31)) == 0U ? 1 : 0;
}

/* The word of a sum that fits. */
static inline int32_t kc_band_word(uint64_t raised, int32_t w, int32_t frac, int32_t rounding)
{
    const uint32_t word = (uint32_t)((raised >> frac) & UINT32_MAX);
    const uint32_t tie = rounding == KC_HALF_EVEN && (raised & ((UINT64_C(1) << frac) - 1U)) == 0U ? 1U : 0U;

    return (int32_t)((word & ~tie) - (UINT32_C(1) << (w - 1)));
}

/* ---- words of 16 bits; no product is shifted ---- */

static inline int64_t kc_band_before_16_ref(KC_TABLE int16_t *l, const int16_t *p, int32_t count)
{
    int64_t acc = 0;
    int32_t j = 1, k;

    for (; j <= count - 7; j += 8) {
        KC_UNROLL(8)
        for (k = 0; k < 8; k++) {
            acc = kc_mac_i32(acc, l[j + k - 1], p[-j - k], 0);
        }
    }
    KC_UNROLL(8)
    for (; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[-j], 0);
    }
    return acc;
}

static inline int64_t kc_band_after_16_ref(KC_TABLE int16_t *l, const int16_t *p, int32_t count)
{
    int64_t acc = 0;
    int32_t j = 1, k;

    for (; j <= count - 7; j += 8) {
        KC_UNROLL(8)
        for (k = 0; k < 8; k++) {
            acc = kc_mac_i32(acc, l[j + k - 1], p[j + k], 0);
        }
    }
    KC_UNROLL(8)
    for (; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[j], 0);
    }
    return acc;
}

/* Sums over the lags on either side of two adjacent rows. */
typedef struct {
    int64_t row, next;
} kc_band_two_t;

/* Rows at p and p + 1 of 2^31 p[0] + sum_j r[j - 1] (p[-j] + p[j]): a row shares its loads with the next. */
static inline kc_band_two_t kc_band_both_16_ref(KC_TABLE int32_t *r, const int16_t *p, int32_t count)
{
    int32_t left = p[0], right = p[1]; /* p[1 - j] and p[j] */
    kc_band_two_t sums;
    int32_t j;

    sums.row = left * (INT64_C(1) << 31);
    sums.next = right * (INT64_C(1) << 31);
    KC_UNROLL(8)
    for (j = 1; j <= count; j++) {
        const int32_t before = p[-j], after = p[j + 1];

        sums.row = kc_mac_i32(sums.row, r[j - 1], before + right, 0);
        sums.next = kc_mac_i32(sums.next, r[j - 1], left + after, 0);
        left = before;
        right = after;
    }
    return sums;
}

#if KC_INTRINSICS && defined(__ARM_FEATURE_DSP) && defined(__ARMEL__)
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

/* A sum of two words would take a register more: each has its product. Of two lags at a time, no word moves to
 * another register. */
static inline kc_band_two_t kc_band_both_16(const int32_t *r, const int16_t *p, int32_t count)
{
    int32_t left = p[0], right = p[1]; /* p[1 - j] and p[j] */
    int64_t row = left * (INT64_C(1) << 31), next = right * (INT64_C(1) << 31);
    kc_band_two_t sums;
    int32_t j;

    KC_UNROLL(4)
    for (j = 1; j < count; j += 2) {
        const int32_t before = p[-j], after = p[j + 1];

        row = kc_mac_i32(kc_mac_i32(row, r[j - 1], before, 0), r[j - 1], right, 0);
        next = kc_mac_i32(kc_mac_i32(next, r[j - 1], left, 0), r[j - 1], after, 0);
        left = p[-j - 1];
        right = p[j + 2];
        row = kc_mac_i32(kc_mac_i32(row, r[j], left, 0), r[j], after, 0);
        next = kc_mac_i32(kc_mac_i32(next, r[j], before, 0), r[j], right, 0);
    }
    sums.row = j > count ? row : kc_mac_i32(row, r[j - 1], p[-j] + right, 0);
    sums.next = j > count ? next : kc_mac_i32(next, r[j - 1], left + p[j + 1], 0);
    return sums;
}
#else
#define kc_band_before_16 kc_band_before_16_ref
#define kc_band_after_16 kc_band_after_16_ref
#define kc_band_both_16 kc_band_both_16_ref
#endif

/* ---- the same for columns in RAM, which some targets read with other instructions than tables ---- */

static inline int64_t kc_band_before_ram_16(const int16_t *l, const int16_t *p, int32_t count)
{
#ifdef KC_TABLE_APART
    int64_t acc = 0;
    int32_t j;

    for (j = 1; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[-j], 0);
    }
    return acc;
#else
    return kc_band_before_16(l, p, count);
#endif
}

static inline int64_t kc_band_after_ram_16(const int16_t *l, const int16_t *p, int32_t count)
{
#ifdef KC_TABLE_APART
    int64_t acc = 0;
    int32_t j;

    for (j = 1; j <= count; j++) {
        acc = kc_mac_i32(acc, l[j - 1], p[j], 0);
    }
    return acc;
#else
    return kc_band_after_16(l, p, count);
#endif
}

/* One row next to an end, shifted right by s: `before` lags on one side, `after` on the other. */
static inline int64_t kc_band_edge_16(KC_TABLE int32_t *r, const int16_t *p, int32_t before, int32_t after,
    int32_t s)
{
    int64_t acc = 0;
    int32_t j;

    KC_UNROLL(4)
    for (j = 1; j <= before; j++) {
        acc = kc_mac_i32(acc, r[j - 1], p[-j], 0);
    }
    KC_UNROLL(4)
    for (j = 1; j <= after; j++) {
        acc = kc_mac_i32(acc, r[j - 1], p[j], 0);
    }
    return kc_shift_floor(acc, s);
}

/* ---- words of 32 bits: a head of lags in sums of two products, and the rest in one; the plan proves that
 * they fit 63 bits. Each sum is shifted right by s: 0 without a head, else 2 to 31; at most 2^s sums ---- */

/* Sums in steps of 2^s, of which the upper and the lower 32 bits are added apart:
 * floor(v / 2^s) = high 2^(32 - s) + floor(low / 2^s), and 2^s of the latter fit 32 bits. */
typedef struct {
    int64_t high;
    uint32_t low;
} kc_band_sum_t;

static inline void kc_band_add(kc_band_sum_t *sum, int64_t v, int32_t s)
{
    sum->high += (int32_t)kc_shift_floor(v, 32);
    sum->low += (uint32_t)((uint64_t)v & UINT32_MAX) >> s;
}

/* The sum and floor(rest / 2^s). */
static inline int64_t kc_band_total(kc_band_sum_t sum, int64_t rest, int32_t s)
{
    if (s == 0) {
        return rest;
    }
    kc_band_add(&sum, rest, s);
    return sum.high * (INT64_C(1) << (32 - s)) + sum.low;
}

static inline int64_t kc_band_before_32(KC_TABLE int32_t *l, const int32_t *p, int32_t count, int32_t head,
    int32_t s)
{
    const int32_t first = count < head ? count : head;
    kc_band_sum_t sum = {0, 0};
    int64_t rest = 0;
    int32_t j;

    for (j = 1; j < first; j += 2) {
        kc_band_add(&sum, kc_mac_i32((int64_t)l[j - 1] * p[-j], l[j], p[-j - 1], 0), s);
    }
    KC_UNROLL(32)
    for (; j <= count; j++) { /* one lag if the head ends there */
        rest = kc_mac_i32(rest, l[j - 1], p[-j], 0);
    }
    return kc_band_total(sum, rest, s);
}

static inline int64_t kc_band_after_32(KC_TABLE int32_t *l, const int32_t *p, int32_t count, int32_t head,
    int32_t s)
{
    const int32_t first = count < head ? count : head;
    kc_band_sum_t sum = {0, 0};
    int64_t rest = 0;
    int32_t j;

    for (j = 1; j < first; j += 2) {
        kc_band_add(&sum, kc_mac_i32((int64_t)l[j - 1] * p[j], l[j], p[j + 1], 0), s);
    }
    KC_UNROLL(32)
    for (; j <= count; j++) { /* one lag if the head ends there */
        rest = kc_mac_i32(rest, l[j - 1], p[j], 0);
    }
    return kc_band_total(sum, rest, s);
}

/* The same with l in RAM. */
static inline int64_t kc_band_before_ram_32(const int32_t *l, const int32_t *p, int32_t count, int32_t head,
    int32_t s)
{
#ifdef KC_TABLE_APART
    const int32_t first = count < head ? count : head;
    kc_band_sum_t sum = {0, 0};
    int64_t rest = 0;
    int32_t j;

    for (j = 1; j < first; j += 2) {
        kc_band_add(&sum, kc_mac_i32((int64_t)l[j - 1] * p[-j], l[j], p[-j - 1], 0), s);
    }
    for (; j <= count; j++) {
        rest = kc_mac_i32(rest, l[j - 1], p[-j], 0);
    }
    return kc_band_total(sum, rest, s);
#else
    return kc_band_before_32(l, p, count, head, s);
#endif
}

static inline int64_t kc_band_after_ram_32(const int32_t *l, const int32_t *p, int32_t count, int32_t head,
    int32_t s)
{
#ifdef KC_TABLE_APART
    const int32_t first = count < head ? count : head;
    kc_band_sum_t sum = {0, 0};
    int64_t rest = 0;
    int32_t j;

    for (j = 1; j < first; j += 2) {
        kc_band_add(&sum, kc_mac_i32((int64_t)l[j - 1] * p[j], l[j], p[j + 1], 0), s);
    }
    for (; j <= count; j++) {
        rest = kc_mac_i32(rest, l[j - 1], p[j], 0);
    }
    return kc_band_total(sum, rest, s);
#else
    return kc_band_after_32(l, p, count, head, s);
#endif
}

/* One row next to an end, as kc_band_edge_16: a head of lags one by one, and the rest. */
static inline int64_t kc_band_edge_32(KC_TABLE int32_t *r, const int32_t *p, int32_t before, int32_t after,
    int32_t head, int32_t s)
{
    const int32_t less = before < after ? before : after, both = less < head ? less : head;
    kc_band_sum_t sum = {0, 0};
    int64_t rest = 0;
    int32_t j;

    for (j = 1; j <= both; j++) {
        kc_band_add(&sum, kc_mac_i32((int64_t)r[j - 1] * p[-j], r[j - 1], p[j], 0), s);
    }
    for (; j <= head; j++) {
        kc_band_add(&sum, j <= before || j <= after ? (int64_t)r[j - 1] * p[j <= before ? -j : j] : 0, s);
    }
    KC_UNROLL(8)
    for (j = head + 1; j <= before; j++) {
        rest = kc_mac_i32(rest, r[j - 1], p[-j], 0);
    }
    KC_UNROLL(8)
    for (j = head + 1; j <= after; j++) {
        rest = kc_mac_i32(rest, r[j - 1], p[j], 0);
    }
    return kc_band_total(sum, rest, s);
}

/* floor(2^31 v / 2^s) */
static inline int64_t kc_band_one(int32_t v, int32_t s)
{
    return s > 0 ? kc_band_left(v, 31 - s) : v * (INT64_C(1) << 31);
}

/* Rows at p and p + 1, as kc_band_both_16: a head of lags one by one, and the rest. */
static KC_INLINE kc_band_two_t kc_band_both_32(KC_TABLE int32_t *r, const int32_t *p, int32_t count,
    int32_t head, int32_t s)
{
    kc_band_sum_t row = {0, 0}, next = {0, 0};
    kc_band_two_t sums = {0, 0}; /* of the rest */
    int32_t left, right;
    int32_t j;

    for (j = 1; j <= head; j++) {
        kc_band_add(&row, kc_mac_i32((int64_t)r[j - 1] * p[-j], r[j - 1], p[j], 0), s);
        kc_band_add(&next, kc_mac_i32((int64_t)r[j - 1] * p[1 - j], r[j - 1], p[1 + j], 0), s);
    }
    left = p[1 - j];
    right = p[j];
    KC_UNROLL(8)
    for (; j <= count; j++) {
        const int32_t before = p[-j], after = p[j + 1];

        sums.row = kc_mac_i32(kc_mac_i32(sums.row, r[j - 1], before, 0), r[j - 1], right, 0);
        sums.next = kc_mac_i32(kc_mac_i32(sums.next, r[j - 1], left, 0), r[j - 1], after, 0);
        left = before;
        right = after;
    }
    sums.row = kc_band_total(row, sums.row, s) + kc_band_one(p[0], s);
    sums.next = kc_band_total(next, sums.next, s) + kc_band_one(p[1], s);
    return sums;
}

#endif
