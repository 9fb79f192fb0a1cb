/* UART of SiFive's parts (FE310).  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define TX_DATA KC_REGISTER(KC_BOARD_UART_BASE + 0x00u)
#define RX_DATA KC_REGISTER(KC_BOARD_UART_BASE + 0x04u) /* reading takes the byte */
#define TX_CONTROL KC_REGISTER(KC_BOARD_UART_BASE + 0x08u)
#define RX_CONTROL KC_REGISTER(KC_BOARD_UART_BASE + 0x0Cu)
#define INTERRUPT_ENABLE KC_REGISTER(KC_BOARD_UART_BASE + 0x10u)
#define DIVIDER KC_REGISTER(KC_BOARD_UART_BASE + 0x18u)
#define TX_FULL 0x80000000u
#define RX_EMPTY 0x80000000u
#define ENABLE 1u /* interrupt as soon as there is a byte */
#define RX_INTERRUPT 2u

void kc_uart_init(void)
{
    DIVIDER = KC_BOARD_UART_CLOCKS_A_BIT - 1u;
    TX_CONTROL = ENABLE;
    RX_CONTROL = ENABLE;
    INTERRUPT_ENABLE = RX_INTERRUPT;
}

uint8_t kc_uart_receive(void)
{
    uint32_t word = RX_DATA;
    while ((word & RX_EMPTY) != 0u) {
        kc_sleep();
        word = RX_DATA;
    }
    return (uint8_t)word;
}

void kc_uart_send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while ((TX_DATA & TX_FULL) != 0u) {
        }
        TX_DATA = bytes[i];
    }
}
