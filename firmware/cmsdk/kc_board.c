/* UART, counter and stack mark on ARM's CMSDK peripherals.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#include "kc_board_config.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define UART_DATA REGISTER(KC_BOARD_UART_BASE + 0x00u)
#define UART_STATE REGISTER(KC_BOARD_UART_BASE + 0x04u)
#define UART_CONTROL REGISTER(KC_BOARD_UART_BASE + 0x08u)
#define UART_INTERRUPT REGISTER(KC_BOARD_UART_BASE + 0x0Cu)
#define UART_DIVIDER REGISTER(KC_BOARD_UART_BASE + 0x10u)
#define UART_TX_FULL 1u
#define UART_RX_FULL 2u
#define UART_RX_INTERRUPT 2u
#define UART_ENABLE 0x0Bu /* transmitter, receiver, receive interrupt */

#define TIMER_CONTROL REGISTER(KC_BOARD_COUNTER_BASE + 0x00u)
#define TIMER_VALUE REGISTER(KC_BOARD_COUNTER_BASE + 0x04u)
#define TIMER_RELOAD REGISTER(KC_BOARD_COUNTER_BASE + 0x08u)
#define TIMER_INTERRUPT REGISTER(KC_BOARD_COUNTER_BASE + 0x0Cu)
#define TIMER_RUN 0x09u /* count, and note when zero was passed */
#define TIMER_FROM 0xFFFFFFFFu

#define NVIC_ENABLE REGISTER(0xE000E100u)
#define NVIC_CLEAR_PENDING REGISTER(0xE000E280u)

void kc_board_init(void)
{
    /* The interrupt only ends WFI: interrupts are masked (Reset_Handler) and none is served. */
    UART_DIVIDER = KC_BOARD_UART_DIVIDER;
    UART_CONTROL = UART_ENABLE;
    NVIC_ENABLE = 1u << KC_BOARD_UART_IRQ;
}

uint8_t kc_board_receive(void)
{
    while ((UART_STATE & UART_RX_FULL) == 0u) {
        /* A byte that comes before WFI leaves the interrupt pending, so WFI falls through. */
        __asm volatile("wfi" ::: "memory");
        UART_INTERRUPT = UART_RX_INTERRUPT;
        NVIC_CLEAR_PENDING = 1u << KC_BOARD_UART_IRQ;
    }
    return (uint8_t)UART_DATA;
}

static void board_send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while ((UART_STATE & UART_TX_FULL) != 0u) {
        }
        UART_DATA = bytes[i];
    }
}

/* The timer runs only while an operation is measured: a running timer would keep an emulator's
 * clock moving while the agent sleeps. */
static void counter_start(void)
{
    TIMER_CONTROL = 0;
    TIMER_RELOAD = TIMER_FROM;
    TIMER_VALUE = TIMER_FROM;
    TIMER_INTERRUPT = 1;
    TIMER_CONTROL = TIMER_RUN;
}

static uint64_t counter_stop(void)
{
    const uint32_t value = TIMER_VALUE;
    const uint32_t passed_zero = TIMER_INTERRUPT;
    TIMER_CONTROL = 0;
    return passed_zero != 0u ? UINT64_MAX : (uint64_t)(TIMER_FROM - value);
}

static uint32_t stack_used(void)
{
    const uint32_t *at = kc_stack_bottom;
    while (at < kc_stack_top && *at == KC_BOARD_PAINT) {
        at++;
    }
    return (uint32_t)((uintptr_t)kc_stack_top - (uintptr_t)at);
}

const kc_hil_board_t kc_board = {
    board_send, counter_start, counter_stop, stack_used, KC_BOARD_STACK_BYTES
};

void kc_board_fault(void)
{
    kc_hil_agent_cry(KC_HIL_ST_FAULT, board_send);
    for (;;) {
        __asm volatile("wfi");
    }
}
