/* RISC-V's count of retired instructions.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

static uint64_t started;

static uint64_t instructions(void)
{
    uint32_t high, low, again;
    do {
        __asm volatile("csrr %0, minstreth\n"
                       "csrr %1, minstret\n"
                       "csrr %2, minstreth" : "=r"(high), "=r"(low), "=r"(again));
    } while (high != again);
    return ((uint64_t)high << 32) | low;
}

void kc_counter_start(void)
{
    started = instructions();
}

uint64_t kc_counter_stop(void)
{
    return instructions() - started;
}
