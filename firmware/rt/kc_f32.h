/* kerncast runtime: what the float32 algorithms share, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * Step by step sim/model/f32.py.  Every operation is rounded once to float: no libm, nothing fused
 * (-ffp-contract=off), nothing in a wider format.
 */
#ifndef KERNCAST_KC_F32_H
#define KERNCAST_KC_F32_H

#include <float.h>
#include <stdint.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "float must be computed as float: on x86 add -msse2 -mfpmath=sse"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define KC_F32_LARGEST 0x1p20f /* so a fixed one is below 2^61 */

static inline float kc_f32_size(float v)
{
    return v < 0.0f ? -v : v;
}

/* The larger of two; a where b is no number. */
static inline float kc_f32_most(float a, float b)
{
    return b > a ? b : a;
}

/* The largest magnitude; that of a NaN is not met. */
static inline float kc_f32_largest(const float *v, int32_t count)
{
    float most = 0.0f;
    int32_t i;

    for (i = 0; i < count; i++) {
        most = kc_f32_most(most, kc_f32_size(v[i]));
    }
    return most;
}

/* The sum of magnitudes; no number where one of them is none. */
static inline float kc_f32_total(const float *v, int32_t count)
{
    float acc = 0.0f;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc += kc_f32_size(v[i]);
    }
    return acc;
}

/* The nearest number to v in [-most, most]. */
static inline float kc_f32_within(float v, float most)
{
    if (v > most) {
        return most;
    }
    return v < -most ? -most : v;
}

/* 2^-t for 0 <= t < 31; exactly 1 at 0.  A polynomial of degree 6 over 2^31, times a power of two. */
static inline float kc_f32_exp2(float t)
{
    const float up = t + 0.5f;
    const int32_t n = (int32_t)up;
    const uint32_t power = (uint32_t)1 << (31 - n);
    const float r = t - (float)n;
    float v = 0x1.41fbacp-44f * r + -0x1.5f3e54p-41f;

    v = v * r + 0x1.3b2d4ep-38f;
    v = v * r + -0x1.c6aee8p-36f;
    v = v * r + 0x1.ebfbdcp-34f;
    v = v * r + -0x1.62e430p-32f;
    v = v * r + 0x1p-31f;
    return v * (float)power;
}

/* v, in [-LARGEST, LARGEST], in steps of 2^-40, toward zero. */
static inline int64_t kc_f32_fixed(float v)
{
    const float steps = kc_f32_within(v, KC_F32_LARGEST) * 0x1p40f;

    return (int64_t)steps;
}

#endif
