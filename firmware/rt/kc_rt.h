/* kerncast runtime: the integer primitives in C99, header only.
 *
 * The definitions are in sim/primitives.py of kerncast; every function here equals its definition for all
 * arguments in the stated ranges. No libm, no libc, no undefined behaviour, no dependence on the width
 * of int.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef KERNCAST_KC_RT_H
#define KERNCAST_KC_RT_H

#include <stdint.h>

/* Increased whenever generated code and this runtime are no longer compatible. */
#define KC_RT_ABI 1

/* A compile-time assertion that works in C99. */
#define KC_ASSERT_JOIN_(a, b) a##b
#define KC_ASSERT_JOIN(a, b) KC_ASSERT_JOIN_(a, b)
#if defined(__cplusplus)
#define KC_STATIC_ASSERT(condition, message) static_assert(condition, message)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define KC_STATIC_ASSERT(condition, message) _Static_assert(condition, message)
#else
#define KC_STATIC_ASSERT(condition, message) \
    typedef char KC_ASSERT_JOIN(kc_static_assert_, __LINE__)[(condition) ? 1 : -1]
#endif

#include "kc_cast.h"
#include "kc_arith.h"
#include "kc_block.h"
#include "kc_exp2.h"
#include "kc_abs_sinpi.h"

#endif
