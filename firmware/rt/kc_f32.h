/* kerncast runtime: helpers of the float32 algorithms, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * Every operation is rounded once to float: no libm, no fused multiply-add (-ffp-contract=off), no wider
 * format. The results equal those of the float32 model exactly.
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

#define KC_F32_LIMIT 0x1p20f /* of kc_f32_clip before kc_f32_fixed, which then stays below 2^61 */

static inline float kc_f32_abs(float v)
{
    return v < 0.0f ? -v : v;
}

/* The larger of two numbers; a if b is a NaN. */
static inline float kc_f32_max(float a, float b)
{
    return b > a ? b : a;
}

/* The largest magnitude; NaNs are ignored. */
static inline float kc_f32_max_abs(const float *v, int32_t count)
{
    float max_abs = 0.0f;
    int32_t i;

    for (i = 0; i < count; i++) {
        max_abs = kc_f32_max(max_abs, kc_f32_abs(v[i]));
    }
    return max_abs;
}

/* The sum of magnitudes; a NaN if one of them is. */
static inline float kc_f32_norm1(const float *v, int32_t count)
{
    float acc = 0.0f;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc += kc_f32_abs(v[i]);
    }
    return acc;
}

/* v limited to [-limit, limit]. */
static inline float kc_f32_clip(float v, float limit)
{
    if (v > limit) {
        return limit;
    }
    return v < -limit ? -limit : v;
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

/* v, clipped to KC_F32_LIMIT, in steps of 2^-40, rounded toward zero. */
static inline int64_t kc_f32_fixed(float v)
{
    const float steps = kc_f32_clip(v, KC_F32_LIMIT) * 0x1p40f;

    return (int64_t)steps;
}

#endif
