/* USART of the STM32F1, F2 and F4.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define STATUS KC_REGISTER(KC_BOARD_UART_BASE + 0x00u)
#define DATA KC_REGISTER(KC_BOARD_UART_BASE + 0x04u)
#define DIVIDER KC_REGISTER(KC_BOARD_UART_BASE + 0x08u)
#define CONTROL KC_REGISTER(KC_BOARD_UART_BASE + 0x0Cu)
#define RX_FULL (1u << 5)
#define TX_EMPTY (1u << 7)
#define ENABLE 0x202Cu /* USART, transmitter, receiver, receive interrupt */

void kc_uart_init(void)
{
    DIVIDER = KC_BOARD_UART_CLOCKS_A_BIT;
    CONTROL = ENABLE;
}

uint8_t kc_uart_receive(void)
{
    while ((STATUS & RX_FULL) == 0u) {
        kc_sleep();
    }
    return (uint8_t)DATA; /* after the status was read, which ends an overrun too */
}

void kc_uart_send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while ((STATUS & TX_EMPTY) == 0u) {
        }
        DATA = bytes[i];
    }
}
