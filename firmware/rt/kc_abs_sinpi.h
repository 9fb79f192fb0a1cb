/* kerncast runtime: |sin(pi t)| from a table.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_ABS_SINPI_H
#define KERNCAST_KC_ABS_SINPI_H

#include <stdint.h>

#include "kc_cast.h"
#include "kc_table.h"

/* |sin(pi t / 2^32)| as u32f31, t >= 0, of which the low 32 bits count; 257 entries u32f31. */
static inline int64_t kc_abs_sinpi(int64_t t, KC_TABLE uint32_t *table)
{
    const int64_t low = t & INT64_C(0xFFFFFFFF);
    const int64_t turn = low < INT64_C(0x80000000) ? low : INT64_C(0x100000000) - low;
    const int32_t index = (int32_t)(turn >> 23);
    const int64_t s = table[index];
    const int64_t c = table[256 - index];
    const int64_t b = ((turn & 0x7FFFFF) * INT64_C(0xC90FDAA2)) >> 24; /* pi = 0xC90FDAA2 / 2^30 */
    const int64_t half = (b * b) >> 39; /* b^2 / 2 */
    const int64_t sixth = (((b * half) >> 38) * 0x5555) >> 16; /* b^3 / 6 */

    return s + kc_shift_round(c * (b - sixth) - s * half, 38, KC_HALF_UP);
}

#endif
