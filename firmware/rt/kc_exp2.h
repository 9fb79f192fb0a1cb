/* kerncast runtime: 2^-t from tables.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_EXP2_H
#define KERNCAST_KC_EXP2_H

#include <stdint.h>

#include "kc_table.h"

/* 2^-t as u16f15; t has 20 fraction bits and is below 16.0; 2^bits + 1 entries u22f21. */
static inline int64_t kc_exp2_16(int64_t t, KC_TABLE uint32_t *table, int32_t bits)
{
    const uint32_t fraction = (uint32_t)t & 0xFFFFFU;
    const uint32_t index = fraction >> (20 - bits);
    const uint32_t rest = fraction & ((UINT32_C(1) << (20 - bits)) - 1U);
    const uint32_t left = table[index];
    const uint32_t drop = ((left - table[index + 1]) * rest) >> (20 - bits);
    const uint32_t half = (left - drop) >> ((t >> 20) + 5);

    return (half >> 1) + (half & 1U);
}

/* 2^-t as u32f31; t has 32 fraction bits and is below 32.0; 2^bits entries each. */
static inline int64_t kc_exp2_32(int64_t t, KC_TABLE uint32_t *coarse, KC_TABLE uint32_t *fine, int32_t bits)
{
    const uint32_t fraction = (uint32_t)t;
    const uint32_t z = fraction & ((UINT32_C(1) << (32 - 2 * bits)) - 1U);
    const uint32_t line = (uint32_t)((((uint64_t)z << (bits - 2)) * UINT32_C(0xB17217F8)) >> 32); /* z ln 2 */
    const uint32_t tail = bits < 8 ? line - (uint32_t)(((uint64_t)line * line) >> (31 + bits)) : line;
    const uint32_t step = fine[(fraction >> (32 - 2 * bits)) & ((UINT32_C(1) << bits) - 1U)];
    const uint32_t fall = step + tail - (uint32_t)(((uint64_t)step * tail) >> (30 + bits));
    const uint32_t head = coarse[fraction >> (32 - bits)];
    const uint32_t value = head - ((fall + (uint32_t)(((uint64_t)head * fall) >> 32)) >> (bits - 2));
    const uint32_t half = ((value >> 1) | UINT32_C(0x80000000)) >> (t >> 32); /* add the leading 1,
        shift right */

    return (half >> 1) + (half & 1U);
}

#endif
