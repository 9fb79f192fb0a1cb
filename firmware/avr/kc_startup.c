/* AVR start-up code that is missing in avr-libc.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define SLEEP_CONTROL (*(volatile uint8_t *)0x53u) /* SMCR */
#define SLEEP_IDLE 1u

void kc_fill_stack(void);

/* Fill the stack with KC_STACK_FILL. No stack is available yet, so this is assembler. */
__attribute__((naked, used, section(".init1"))) void kc_fill_stack(void)
{
    __asm volatile("ldi r24, 0xA5\n"
                   "ldi r25, 0x5A\n"
                   "ldi r18, hi8(kc_stack_top)\n"
                   "ldi r26, lo8(kc_stack_bottom)\n"
                   "ldi r27, hi8(kc_stack_bottom)\n"
                   "1: st X+, r24\n"
                   "st X+, r25\n"
                   "st X+, r24\n"
                   "st X+, r25\n"
                   "cpi r26, lo8(kc_stack_top)\n"
                   "cpc r27, r18\n"
                   "brlo 1b\n");
}

/* The only interrupt, enabled only here, is that of the UART.  The instruction after sei is carried out
 * first, so no interrupt can occur between the two. */
void kc_sleep(void)
{
    SLEEP_CONTROL = SLEEP_IDLE;
    __asm volatile("sei\n sleep\n cli" ::: "memory");
}
