/* UART 16550 with registers of a byte each.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define REGISTER(offset) (*(volatile uint8_t *)(uintptr_t)(KC_BOARD_UART_BASE + (offset)))
#define DATA REGISTER(0)            /* divider, low, while DIVIDER_LATCH is set */
#define INTERRUPT_ENABLE REGISTER(1) /* divider, high */
#define FIFO_CONTROL REGISTER(2)
#define LINE_CONTROL REGISTER(3)
#define LINE_STATUS REGISTER(5)
#define RX_INTERRUPT 1u
#define FIFO_ON 7u /* and emptied */
#define DIVIDER_LATCH 0x80u
#define EIGHT_BITS 3u
#define RX_FULL 1u
#define TX_EMPTY 0x20u
#define DIVIDER ((KC_BOARD_UART_CLOCKS_A_BIT + 8u) / 16u)

void kc_uart_init(void)
{
    LINE_CONTROL = DIVIDER_LATCH;
    DATA = (uint8_t)(DIVIDER & 0xFFu);
    INTERRUPT_ENABLE = (uint8_t)(DIVIDER >> 8);
    LINE_CONTROL = EIGHT_BITS;
    FIFO_CONTROL = FIFO_ON;
    INTERRUPT_ENABLE = RX_INTERRUPT;
}

uint8_t kc_uart_receive(void)
{
    while ((LINE_STATUS & RX_FULL) == 0u) {
        kc_sleep();
    }
    return DATA;
}

void kc_uart_send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while ((LINE_STATUS & TX_EMPTY) == 0u) {
        }
        DATA = bytes[i];
    }
}
