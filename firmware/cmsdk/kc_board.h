/* Board support for ARM's CMSDK peripherals (the MPS2 family): what the agent's main needs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_BOARD_H
#define KC_BOARD_H

#include <stdint.h>

#include "kc_hil_agent.h"

extern const kc_hil_board_t kc_board;

/* Bring up the UART; called once, before anything is sent. */
void kc_board_init(void);

/* Wait for one byte, asleep. */
uint8_t kc_board_receive(void);

/* Tell the host that the processor took a fault, and stop. */
void kc_board_fault(void);

int main(void);

#endif
