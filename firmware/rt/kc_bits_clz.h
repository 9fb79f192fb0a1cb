/* kerncast runtime: kc_bit_length by the count-leading-zeros instruction.
 * SPDX-License-Identifier: Apache-2.0
 *
 * kc_bits.h is the definition. Define KC_PORTABLE as 1 to force it.
 */
#ifndef KERNCAST_KC_BITS_CLZ_H
#define KERNCAST_KC_BITS_CLZ_H

#include "kc_bits.h"
#include "kc_compiler.h"

#if KC_INTRINSICS && defined(__ARM_FEATURE_CLZ)
/* kc_bit_length */
static inline int32_t kc_clz_bit_length(int64_t v)
{
    const uint32_t high = (uint32_t)((uint64_t)v >> 32), low = (uint32_t)v;

    return high != 0U ? 64 - __builtin_clz(high) : (low != 0U ? 32 - __builtin_clz(low) : 0);
}
#define kc_bit_length kc_clz_bit_length
#endif

#endif
