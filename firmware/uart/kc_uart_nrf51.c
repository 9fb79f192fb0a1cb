/* UART of Nordic's nRF51.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define START_RX KC_REGISTER(KC_BOARD_UART_BASE + 0x000u)
#define START_TX KC_REGISTER(KC_BOARD_UART_BASE + 0x008u)
#define RX_READY KC_REGISTER(KC_BOARD_UART_BASE + 0x108u)
#define TX_READY KC_REGISTER(KC_BOARD_UART_BASE + 0x11Cu)
#define INTERRUPTS KC_REGISTER(KC_BOARD_UART_BASE + 0x304u)
#define ENABLE KC_REGISTER(KC_BOARD_UART_BASE + 0x500u)
#define RX_DATA KC_REGISTER(KC_BOARD_UART_BASE + 0x518u)
#define TX_DATA KC_REGISTER(KC_BOARD_UART_BASE + 0x51Cu)
#define BAUD KC_REGISTER(KC_BOARD_UART_BASE + 0x524u)
#define RX_INTERRUPT (1u << 2)
#define ENABLED 4u
/* Baud * 2^32 / clock; the lower 12 bits do not count. */
#define BAUD_WORD ((((uint64_t)KC_BOARD_UART_BAUD << 32) / KC_BOARD_UART_CLOCK_HZ + 0x800u) & 0xFFFFF000u)

void kc_uart_init(void)
{
    BAUD = (uint32_t)BAUD_WORD;
    ENABLE = ENABLED;
    INTERRUPTS = RX_INTERRUPT;
    START_RX = 1;
    START_TX = 1;
}

uint8_t kc_uart_receive(void)
{
    while (RX_READY == 0u) {
        kc_sleep();
    }
    RX_READY = 0; /* before the byte is taken: taking it raises the event for the next one */
    return (uint8_t)RX_DATA;
}

void kc_uart_send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        TX_READY = 0;
        TX_DATA = bytes[i];
        while (TX_READY == 0u) {
        }
    }
}
