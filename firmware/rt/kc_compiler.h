/* kerncast runtime: what compilers offer beyond C99; a program is right without it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KERNCAST_KC_COMPILER_H
#define KERNCAST_KC_COMPILER_H

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
