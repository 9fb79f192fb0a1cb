/* Cycles, counted by the simulator between two writes; see firmware/emulators/kc_simavr.c.
 * The chip itself does not have a counter that is long enough; it reports none.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

#define MARK (*(volatile uint8_t *)0x3Eu)   /* GPIOR0 */
#define COUNT (*(volatile uint8_t *)0x4Au)  /* GPIOR1: a byte each time */
#define COUNTED (*(volatile uint8_t *)0x4Bu) /* GPIOR2 */

void kc_counter_start(void)
{
    COUNTED = 0;
    MARK = 1;
}

uint64_t kc_counter_stop(void)
{
    uint64_t count = 0;
    MARK = 0;
    if (COUNTED == 0u) {
        return UINT64_MAX;
    }
    for (uint8_t i = 0; i < 64u; i = (uint8_t)(i + 8u)) {
        count |= (uint64_t)COUNT << i;
    }
    return count;
}
