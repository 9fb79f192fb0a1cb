/* kerncast runtime: the building blocks of kc_rows.h for ARMv7E-M.  SPDX-License-Identifier: Apache-2.0
 *
 * Each function has a portable C definition of the same name in kc_rows.h. Compilers do not select these
 * instructions by themselves, and no header offers intrinsics for them.
 */
#ifndef KERNCAST_KC_ROWS_DSP_H
#define KERNCAST_KC_ROWS_DSP_H

#include <stdint.h>

#include "kc_arith.h"

#define kc_quotient kc_dsp_divide

static inline kc_two_t kc_ldpair_inc(const int32_t **p)
{
    kc_two_t two;

    __asm__ volatile("ldrd %0, %1, [%2], #8" : "=&r"(two.first), "=&r"(two.second), "+r"(*p) : : "memory");
    return two;
}

static inline kc_two_t kc_ldpair_dec(const int32_t **p)
{
    kc_two_t two;

    __asm__ volatile("ldrd %0, %1, [%2, #-8]!" : "=&r"(two.first), "=&r"(two.second), "+r"(*p) : : "memory");
    return two;
}

static inline void kc_stpair_inc(int32_t **p, kc_two_t two)
{
    __asm__ volatile("strd %1, %2, [%0], #8" : "+r"(*p) : "r"(two.first), "r"(two.second) : "memory");
}

static inline void kc_stpair_dec(int32_t **p, kc_two_t two)
{
    __asm__ volatile("strd %1, %2, [%0, #-8]!" : "+r"(*p) : "r"(two.first), "r"(two.second) : "memory");
}

static inline int32_t kc_high_add(int32_t acc, int32_t a, int32_t b)
{
    int32_t sum;

    __asm__("smmlar %0, %1, %2, %3" : "=r"(sum) : "r"(a), "r"(b), "r"(acc));
    return sum;
}

static inline int64_t kc_product_add(int64_t acc, int32_t a, int32_t b)
{
    __asm__("smlal %Q0, %R0, %1, %2" : "+r"(acc) : "r"(a), "r"(b));
    return acc;
}

/* The next 16 quotient bits of (rest 2^16 + next) / d, d >= 2^31, rest < d; updates rest. */
static inline uint32_t kc_dsp_digit(uint32_t *rest, uint32_t next, uint32_t d)
{
    const uint32_t upper = d >> 16;
    uint32_t digit = *rest / upper;
    const uint32_t product = digit * (d & 0xFFFFU);
    uint32_t left = ((*rest - digit * upper) << 16) | next;

    if (left < product) { /* the digit is too large, by two at most */
        digit--;
        left += d;
        if (left >= d && left < product) { /* no carry: it still is */
            digit--;
            left += d;
        }
    }
    *rest = left - product;
    return digit;
}

/* kc_divide with two 32-bit divisions. */
static inline int64_t kc_dsp_divide(int64_t num, int64_t den, int32_t *exponent)
{
    const int64_t size = num < 0 ? -num : num;
    uint64_t n; /* |num| and den, as kc_divide shifts them, times 2 */
    uint32_t d, q, rest;
    int32_t up, up_den;

    *exponent = 0;
    if (num == 0) {
        return 0;
    }
    up = kc_normalisation_shift(size);
    up_den = kc_normalisation_shift(den);
    d = (uint32_t)(((uint64_t)den << up_den) >> 31) << 1;
    n = (uint64_t)size << (up + 1);
    *exponent = up_den - up;
    if ((uint32_t)(n >> 32) >= d / 2U) { /* n / 2, and farther from 0 where that is the floor */
        n = ((n >> 2) + (num < 0 ? (n >> 1) & 1U : 0U)) << 1;
        *exponent += 1;
    }
    rest = (uint32_t)(n >> 32);
    q = kc_dsp_digit(&rest, (uint32_t)n >> 16, d) << 16;
    q += kc_dsp_digit(&rest, (uint32_t)n & 0xFFFFU, d);
    return num < 0 ? -(int64_t)q - (rest != 0U ? 1 : 0) : (int64_t)q;
}

#endif
