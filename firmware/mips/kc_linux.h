/* System calls of Linux on MIPS (o32).  SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_LINUX_H
#define KC_LINUX_H

#include <stdint.h>

#define KC_LINUX_EXIT 4001
#define KC_LINUX_READ 4003
#define KC_LINUX_WRITE 4004

/* Return the result, or a negative number if the kernel sets the error flag in a3. */
static inline int32_t kc_linux_call(int32_t number, uint32_t a, uint32_t b, uint32_t c)
{
    register uint32_t a0 __asm("$4") = a;
    register uint32_t a1 __asm("$5") = b;
    register uint32_t a2 __asm("$6") = c;
    register uint32_t a3 __asm("$7") = 0;
    register int32_t v0 __asm("$2") = number;
    __asm volatile("syscall" : "+r"(v0), "+r"(a3) : "r"(a0), "r"(a1), "r"(a2)
                   : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25",
                     "hi", "lo", "memory");
    return a3 != 0u ? -1 : v0;
}

#endif
