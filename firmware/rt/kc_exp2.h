/* kerncast runtime: 2^-t from tables.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_EXP2_H
#define KERNCAST_KC_EXP2_H

#include <stdint.h>

#include "kc_cast.h"

/* 2^-t as u16f15; t has 20 fraction bits and lies below 17.0; 129 entries u16f16. */
static inline int64_t kc_exp2_16(int64_t t, const uint16_t *table)
{
    const int32_t whole = (int32_t)(t >> 20);
    const int32_t index = (int32_t)((t >> 13) & 0x7F);
    const int64_t rest = t & 0x1FFF;
    const int64_t left = table[index];
    const int64_t drop = (left - table[index + 1]) * rest;

    return kc_shift_round(left - (drop >> 13), whole + 1, KC_HALF_UP);
}

/* 2^-t as u32f31; t has 32 fraction bits and lies below 33.0; 256 entries u32f31 each. */
static inline int64_t kc_exp2_32(int64_t t, const uint32_t *coarse, const uint32_t *fine)
{
    const int32_t whole = (int32_t)(t >> 32);
    const int64_t high = coarse[(t >> 24) & 0xFF];
    const int64_t head = (high * fine[(t >> 16) & 0xFF]) >> 30;
    const int64_t tail = ((t & 0xFFFF) * INT64_C(0xB17217F8)) >> 32; /* z ln 2 */

    return kc_shift_round(head - ((head * tail) >> 32), whole + 1, KC_HALF_UP);
}

#endif
