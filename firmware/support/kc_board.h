/* Board support: the functions that the agent's main needs, and the folder that defines each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_BOARD_H
#define KC_BOARD_H

#include <stdint.h>

#include "kc_board_config.h"
#include "kc_hil_agent.h"

#define KC_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

extern const kc_hil_board_t kc_board;
int main(void);

/* Generated from the board's file: clocks and pins. */
void kc_board_setup(void);

/* firmware/uart/: bring it up, once, before anything is sent; wait for one byte; send some. */
void kc_uart_init(void);
uint8_t kc_uart_receive(void);
void kc_uart_send(const uint8_t *bytes, uint32_t count);

/* firmware/counter/: measure between the two; ticks since start, all ones where it overran.
 * A counter runs only while it measures: a running one would keep an emulator's clock moving while
 * the agent sleeps. */
void kc_counter_start(void);
uint64_t kc_counter_stop(void);

/* The folder of the architecture: sleep until the UART interrupts, or shorter. */
void kc_sleep(void);

/* Likewise, where it runs under Linux: bytes read or written, or a negative number; end of the program. */
int32_t kc_system_read(uint32_t file, void *bytes, uint32_t count);
int32_t kc_system_write(uint32_t file, const void *bytes, uint32_t count);
void kc_system_exit(uint32_t status);

/* Called by the architecture's fault handler: report the fault to the host and stop. */
void kc_board_fault(void);

#endif
