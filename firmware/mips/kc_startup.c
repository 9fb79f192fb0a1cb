/* Start and system calls of a MIPS program under Linux (o32).  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define SYSTEM_EXIT 4001
#define SYSTEM_READ 4003
#define SYSTEM_WRITE 4004

void Reset_Handler(void);

/* The result, or -1: the kernel tells an error in a3. */
static int32_t call(int32_t number, uint32_t a, uint32_t b, uint32_t c)
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

int32_t kc_system_read(uint32_t file, void *bytes, uint32_t count)
{
    return call(SYSTEM_READ, file, (uint32_t)(uintptr_t)bytes, count);
}

int32_t kc_system_write(uint32_t file, const void *bytes, uint32_t count)
{
    return call(SYSTEM_WRITE, file, (uint32_t)(uintptr_t)bytes, count);
}

void kc_system_exit(uint32_t status)
{
    for (;;) {
        (void)call(SYSTEM_EXIT, status, 0, 0);
    }
}

void kc_sleep(void)
{
    kc_system_exit(1); /* nothing but a fault waits without reading */
}

void Reset_Handler(void)
{
    kc_system_exit((uint32_t)main());
}
