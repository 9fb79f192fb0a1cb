/* Start, end and sleep of a program under Linux.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"
#include "kc_linux.h"

void Reset_Handler(void);

int32_t kc_system_read(uint32_t file, void *bytes, uint32_t count)
{
    return kc_linux_call(KC_LINUX_READ, file, (uint32_t)(uintptr_t)bytes, count);
}

int32_t kc_system_write(uint32_t file, const void *bytes, uint32_t count)
{
    return kc_linux_call(KC_LINUX_WRITE, file, (uint32_t)(uintptr_t)bytes, count);
}

void kc_system_exit(uint32_t status)
{
    for (;;) {
        (void)kc_linux_call(KC_LINUX_EXIT, status, 0, 0);
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
