/* SysTick, which most Cortex-M have, as a counter: 24 bits, and the rest by its exception, the only
 * one that is ever served, and only while measuring.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define CONTROL KC_REGISTER(0xE000E010u)
#define RELOAD KC_REGISTER(0xE000E014u)
#define VALUE KC_REGISTER(0xE000E018u)
#define RUN 7u /* count at the processor's clock, exception at zero */
#define TOP 0xFFFFFFu
#define ICSR KC_REGISTER(0xE000ED04u)
#define ICSR_PENDING (1u << 26)
#define ICSR_CLEAR (1u << 25)

static volatile uint32_t rounds;

void kc_systick_handler(void);

void kc_systick_handler(void)
{
    rounds++;
}

void kc_counter_start(void)
{
    CONTROL = 0;
    rounds = 0;
    RELOAD = TOP;
    VALUE = 0; /* any value clears it */
    CONTROL = RUN;
    __asm volatile("cpsie i" ::: "memory");
}

uint64_t kc_counter_stop(void)
{
    uint32_t value;
    uint32_t passed;
    __asm volatile("cpsid i" ::: "memory");
    value = VALUE;
    passed = rounds;
    /* A round may have ended since interrupts were masked.  An emulator that serves no exception
     * hands out every round here, one by one. */
    while ((ICSR & ICSR_PENDING) != 0u) {
        ICSR = ICSR_CLEAR;
        value = VALUE;
        passed++;
    }
    CONTROL = 0;
    /* It starts at 0, and the first tick takes it to the top. */
    return (uint64_t)passed * (TOP + 1u) + ((0u - value) & TOP);
}
