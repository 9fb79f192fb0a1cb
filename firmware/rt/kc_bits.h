/* kerncast runtime: magnitude and bit length.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_BITS_H
#define KERNCAST_KC_BITS_H

#include <stdint.h>

/* v or -v - 1, whichever is not negative: it has the bit length of v and cannot overflow. */
static inline int64_t kc_magnitude(int64_t v)
{
    return v < 0 ? ~v : v;
}

/* Bits of v without leading zeros; 0 <= v. */
static inline int32_t kc_bit_length(int64_t v)
{
    int32_t length = 0;
    int32_t step;

    for (step = 32; step != 0; step /= 2) {
        if ((v >> step) != 0) {
            v >>= step;
            length += step;
        }
    }
    return v != 0 ? length + 1 : length;
}

#endif
