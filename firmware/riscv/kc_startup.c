/* Reset, traps and memory set-up of a 32-bit RISC-V in machine mode.  SPDX-License-Identifier: Apache-2.0 */
#define KC_READ_STACK_POINTER "mv %0, sp"
#include "kc_startup.h"

/* The interrupt controller that SiFive's parts have, and QEMU's board; machine mode of the first core. */
#define PLIC 0x0C000000u
#define PLIC_PRIORITY KC_REGISTER(PLIC + 4u * KC_BOARD_UART_IRQ)
#define PLIC_ENABLE KC_REGISTER(PLIC + 0x2000u + 4u * (KC_BOARD_UART_IRQ / 32u))
#define PLIC_THRESHOLD KC_REGISTER(PLIC + 0x200000u)
#define PLIC_CLAIM KC_REGISTER(PLIC + 0x200004u)
#define EXTERNAL_INTERRUPT (1u << 11) /* in mie */
#define PMP_LOCKED_NOTHING 0x98u /* an aligned power of two, barred from machine mode too */

void Reset_Handler(void);
void kc_fault_handler(void);
void kc_start(void);

/* The stack may be exhausted when a trap occurs, so the handler starts on a new one. */
__attribute__((naked, aligned(4))) void kc_fault_handler(void)
{
    __asm volatile("la sp, kc_stack_top\n"
                   "j kc_board_fault\n");
}

__attribute__((naked, section(".vectors"), used)) void Reset_Handler(void)
{
    __asm volatile("la sp, kc_stack_top\n"
                   "j kc_start\n");
}

/* Interrupts are masked and none is served: it only ends WFI. */
void kc_sleep(void)
{
    uint32_t claim;
    PLIC_PRIORITY = 1;
    PLIC_ENABLE = 1u << (KC_BOARD_UART_IRQ % 32u);
    /* Last: QEMU looks for interrupts that are pending already at this write, but not at that of ENABLE. */
    PLIC_THRESHOLD = 0;
    __asm volatile("csrs mie, %0\n wfi" :: "r"(EXTERNAL_INTERRUPT) : "memory");
    claim = PLIC_CLAIM;
    PLIC_CLAIM = claim;
}

void kc_start(void)
{
    __asm volatile("csrw mie, zero\n"
                   "csrw mtvec, %0" :: "r"(kc_fault_handler));
#ifdef KC_BOARD_GUARD_LOG2
    /* The stack is at the foot of the RAM, and a store below it must trap. */
    __asm volatile("csrw pmpaddr0, %0\n"
                   "csrw pmpcfg0, %1" ::
                   "r"(((KC_BOARD_RAM_BASE - (1u << KC_BOARD_GUARD_LOG2)) >> 2)
                       | ((1u << (KC_BOARD_GUARD_LOG2 - 3u)) - 1u)),
                   "r"(PMP_LOCKED_NOTHING));
#endif
    kc_startup_variables();
    kc_startup_fill_stack();
    (void)main();
}
