/* RAM initialisation of bare-metal start-up code, with the linker script's symbols.
 * KC_READ_STACK_POINTER is the instruction that copies the stack pointer to %0.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_STARTUP_H
#define KC_STARTUP_H

#include "kc_board.h"

extern uint32_t kc_data_load[], kc_data_start[], kc_data_end[], kc_bss_start[], kc_bss_end[];

/* Variables get their initial values, or 0. */
static inline void kc_startup_variables(void)
{
    const uint32_t *from = kc_data_load;
    for (uint32_t *to = kc_data_start; to < kc_data_end; to++) {
        *(volatile uint32_t *)to = *from;
        from++;
    }
    for (uint32_t *to = kc_bss_start; to < kc_bss_end; to++) {
        *(volatile uint32_t *)to = 0;
    }
}

/* The free part of the stack is painted: what is below this function's own frame. */
static inline void kc_startup_fill_stack(void)
{
    uint32_t *top;
    __asm volatile(KC_READ_STACK_POINTER : "=r"(top));
    for (uint32_t *at = kc_stack_bottom; at < top; at++) {
        *(volatile uint32_t *)at = KC_STACK_FILL;
    }
}

#endif
