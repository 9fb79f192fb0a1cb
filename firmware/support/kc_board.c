/* The board as the agent uses it: UART, counter and stack usage.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#if KC_BOARD_STACK_BYTES > 0
static uint32_t stack_used(void)
{
    const uint32_t *at = kc_stack_bottom;
    while (at < kc_stack_top && *at == KC_STACK_FILL) {
        at++;
    }
    return (uint32_t)((uintptr_t)kc_stack_top - (uintptr_t)at);
}
#else
#define stack_used 0
#endif

#if KC_BOARD_HAS_COUNTER
#define counter_start kc_counter_start
#define counter_stop kc_counter_stop
#else
#define counter_start 0
#define counter_stop 0
#endif

const kc_hil_board_t kc_board = {
    KC_BOARD_ID, KC_BOARD_UART_WINDOW,
    kc_uart_send, counter_start, counter_stop, stack_used, KC_BOARD_STACK_BYTES
};

void kc_board_fault(void)
{
    kc_hil_agent_send_nak(KC_HIL_ST_FAULT, kc_uart_send);
    for (;;) {
        kc_sleep();
    }
}
