/* kerncast runtime: what compilers offer beyond C99; a program is right without it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KERNCAST_KC_COMPILER_H
#define KERNCAST_KC_COMPILER_H

/* Intrinsics and inline assembly are written for gcc, clang and armclang. Other compilers take the portable C,
 * even those that define __GNUC__ (IAR, Arm Compiler 5); so do all with KC_PORTABLE=1. */
#if defined(__GNUC__) && !defined(__ICCARM__) && !defined(__CC_ARM) && !(defined(KC_PORTABLE) && KC_PORTABLE)
#define KC_INTRINSICS 1
#else
#define KC_INTRINSICS 0
#endif

/* Unroll factor of the next loop for gcc; clang unrolls without it. */
#if defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#define KC_PRAGMA(text) _Pragma(#text)
#define KC_UNROLL(times) KC_PRAGMA(GCC unroll times)
#else
#define KC_UNROLL(times)
#endif

/* KC_NOINLINE keeps a function out of line: one that is called at several places.
 * KC_RARE does so, and compiles it for size: a case that hardly occurs.
 * KC_INLINE inlines a function even for size: its structure of sums then stays in registers. */
#if defined(__GNUC__)
#define KC_NOINLINE __attribute__((noinline, unused))
#define KC_RARE __attribute__((noinline, cold, unused))
#define KC_INLINE inline __attribute__((always_inline))
#else
#define KC_NOINLINE inline
#define KC_RARE inline
#define KC_INLINE inline
#endif

#endif
