/* kerncast runtime: block floating point.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_BLOCK_H
#define KERNCAST_KC_BLOCK_H

#include <stdint.h>

#include "kc_arith.h"

/* Shift words[first..last) right by s (half up) in place; returns the largest magnitude. */
static inline int64_t kc_block_scale_16(int16_t *words, int32_t first, int32_t last, int32_t s)
{
    int64_t used = 0;
    int32_t i;

    for (i = first; i < last; i++) {
        const int64_t word = kc_shift_round(words[i], s, KC_HALF_UP);

        words[i] = (int16_t)word;
        if (kc_magnitude(word) > used) {
            used = kc_magnitude(word);
        }
    }
    return used;
}

/* The same for 32-bit words. */
static inline int64_t kc_block_scale_32(int32_t *words, int32_t first, int32_t last, int32_t s)
{
    int64_t used = 0;
    int32_t i;

    for (i = first; i < last; i++) {
        const int64_t word = kc_shift_round(words[i], s, KC_HALF_UP);

        words[i] = (int32_t)word;
        if (kc_magnitude(word) > used) {
            used = kc_magnitude(word);
        }
    }
    return used;
}

#endif
