/* USART of an AVR.  SPDX-License-Identifier: Apache-2.0 */
#include <avr/interrupt.h>

#include "kc_board.h"

#define REGISTER(offset) (*(volatile uint8_t *)(uintptr_t)(KC_BOARD_UART_BASE + (offset)))
#define STATUS REGISTER(0)
#define CONTROL REGISTER(1)
#define FORMAT REGISTER(2)
#define DIVIDER_LOW REGISTER(4)
#define DIVIDER_HIGH REGISTER(5)
#define DATA REGISTER(6)
#define RX_FULL 0x80u
#define TX_EMPTY 0x20u
#define DOUBLE_SPEED 2u
#define RX_INTERRUPT 0x80u
#define ENABLE 0x18u /* receiver, transmitter */
#define EIGHT_BITS 6u
#define DIVIDER ((KC_BOARD_UART_CLOCKS_A_BIT + 4u) / 8u - 1u)

#ifdef USART0_RX_vect
ISR(USART0_RX_vect)
#else
ISR(USART_RX_vect)
#endif
{
    CONTROL = ENABLE; /* it has ended the sleep, and the byte is fetched outside */
}

void kc_uart_init(void)
{
    DIVIDER_HIGH = (uint8_t)(DIVIDER >> 8);
    DIVIDER_LOW = (uint8_t)(DIVIDER & 0xFFu);
    STATUS = DOUBLE_SPEED;
    FORMAT = EIGHT_BITS;
    CONTROL = ENABLE;
}

uint8_t kc_uart_receive(void)
{
    while ((STATUS & RX_FULL) == 0u) {
        CONTROL = ENABLE | RX_INTERRUPT;
        kc_sleep();
    }
    CONTROL = ENABLE;
    return DATA;
}

void kc_uart_send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while ((STATUS & TX_EMPTY) == 0u) {
        }
        DATA = bytes[i];
    }
}
