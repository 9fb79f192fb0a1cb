/* Standard input and output of a program under Linux.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define INPUT 0u
#define OUTPUT 1u

static uint8_t waiting[64];
static uint32_t taken, come;

void kc_uart_init(void)
{
}

uint8_t kc_uart_receive(void)
{
    if (taken == come) {
        const int32_t count = kc_system_read(INPUT, waiting, sizeof waiting);
        if (count <= 0) {
            kc_system_exit(0); /* the host has hung up */
        }
        come = (uint32_t)count;
        taken = 0;
    }
    taken++;
    return waiting[taken - 1u];
}

void kc_uart_send(const uint8_t *bytes, uint32_t count)
{
    while (count != 0u) {
        const int32_t sent = kc_system_write(OUTPUT, bytes, count);
        if (sent <= 0) {
            kc_system_exit(1);
        }
        bytes += sent;
        count -= (uint32_t)sent;
    }
}
