/* System calls of Linux on Hexagon.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_LINUX_H
#define KC_LINUX_H

#include <stdint.h>

#define KC_LINUX_READ 63
#define KC_LINUX_WRITE 64
#define KC_LINUX_EXIT 93

/* The result, or a negative number. */
static inline int32_t kc_linux_call(int32_t number, uint32_t a, uint32_t b, uint32_t c)
{
    register uint32_t r0 __asm("r0") = a;
    register uint32_t r1 __asm("r1") = b;
    register uint32_t r2 __asm("r2") = c;
    register int32_t r6 __asm("r6") = number;
    __asm volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
    return (int32_t)r0;
}

#endif
