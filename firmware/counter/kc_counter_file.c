/* A count that the emulator offers as a file: its number is the counter's base.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

static uint64_t started;

static uint64_t reading(void)
{
    uint64_t count = 0;
    (void)kc_system_read(KC_BOARD_COUNTER_BASE, &count, sizeof count);
    return count;
}

void kc_counter_start(void)
{
    started = reading();
}

uint64_t kc_counter_stop(void)
{
    return reading() - started;
}
