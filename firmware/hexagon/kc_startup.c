/* Start and system calls of a Hexagon program under Linux.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define SYSTEM_READ 63
#define SYSTEM_WRITE 64
#define SYSTEM_EXIT 93

void Reset_Handler(void);

static int32_t call(int32_t number, uint32_t a, uint32_t b, uint32_t c)
{
    register uint32_t r0 __asm("r0") = a;
    register uint32_t r1 __asm("r1") = b;
    register uint32_t r2 __asm("r2") = c;
    register int32_t r6 __asm("r6") = number;
    __asm volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
    return (int32_t)r0;
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
