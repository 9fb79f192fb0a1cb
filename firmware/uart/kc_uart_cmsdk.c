/* UART of ARM's CMSDK (the MPS2 and MPS3 boards).  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define DATA KC_REGISTER(KC_BOARD_UART_BASE + 0x00u)
#define STATE KC_REGISTER(KC_BOARD_UART_BASE + 0x04u)
#define CONTROL KC_REGISTER(KC_BOARD_UART_BASE + 0x08u)
#define INTERRUPT KC_REGISTER(KC_BOARD_UART_BASE + 0x0Cu)
#define DIVIDER KC_REGISTER(KC_BOARD_UART_BASE + 0x10u)
#define TX_FULL 1u
#define RX_FULL 2u
#define RX_INTERRUPT 2u
#define ENABLE 0x0Bu /* transmitter, receiver, receive interrupt */

#if KC_BOARD_UART_CLOCKS_A_BIT < 16
#error "the CMSDK UART needs at least 16 clocks a bit"
#endif

void kc_uart_init(void)
{
    DIVIDER = KC_BOARD_UART_CLOCKS_A_BIT;
    CONTROL = ENABLE;
}

uint8_t kc_uart_receive(void)
{
    while ((STATE & RX_FULL) == 0u) {
        kc_sleep();
        INTERRUPT = RX_INTERRUPT;
    }
    return (uint8_t)DATA;
}

void kc_uart_send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while ((STATE & TX_FULL) != 0u) {
        }
        DATA = bytes[i];
    }
}
