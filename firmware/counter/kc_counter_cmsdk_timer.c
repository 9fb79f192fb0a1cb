/* The 32-bit timer of ARM's CMSDK as a counter.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define CONTROL KC_REGISTER(KC_BOARD_COUNTER_BASE + 0x00u)
#define VALUE KC_REGISTER(KC_BOARD_COUNTER_BASE + 0x04u)
#define RELOAD KC_REGISTER(KC_BOARD_COUNTER_BASE + 0x08u)
#define INTERRUPT KC_REGISTER(KC_BOARD_COUNTER_BASE + 0x0Cu)
#define RUN 0x09u /* count, and note when zero was passed */
#define FROM 0xFFFFFFFFu

void kc_counter_start(void)
{
    CONTROL = 0;
    RELOAD = FROM;
    VALUE = FROM;
    INTERRUPT = 1;
    CONTROL = RUN;
}

uint64_t kc_counter_stop(void)
{
    const uint32_t value = VALUE;
    const uint32_t passed_zero = INTERRUPT;
    CONTROL = 0;
    return passed_zero != 0u ? UINT64_MAX : (uint64_t)(FROM - value);
}
