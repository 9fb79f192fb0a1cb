/* The firmware's only task: hand bytes to the agent.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"

extern const kc_hil_port_t kc_hil_port; /* generated for the plan */

static kc_hil_agent_t agent;

int main(void)
{
    kc_board_setup();
    kc_uart_init();
    kc_hil_agent_init(&agent, &kc_hil_port, &kc_board);
    for (;;) {
        kc_hil_agent_take(&agent, kc_uart_receive());
    }
}
