/* Reset, vector table and memory set-up of a Cortex-M.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_board.h"
#include "kc_board_config.h"

#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define CPACR_FPU (0xFu << 20)
#define SHCSR (*(volatile uint32_t *)0xE000ED24u)
#define SHCSR_FAULTS (7u << 16) /* memory, bus and usage fault */
#define MPU_CONTROL (*(volatile uint32_t *)0xE000ED94u)
#define MPU_ON 5u /* enabled; what no region covers is as without it */
#define MPU_NUMBER (*(volatile uint32_t *)0xE000ED98u)
#define MPU_BASE (*(volatile uint32_t *)0xE000ED9Cu)
#define MPU_SIZE (*(volatile uint32_t *)0xE000EDA0u)
#define MPU_NO_ACCESS(log2_bytes) ((1u << 28) | (((log2_bytes) - 1u) << 1) | 1u)

extern uint32_t kc_data_load[], kc_data_start[], kc_data_end[], kc_bss_start[], kc_bss_end[];

void Reset_Handler(void);
void kc_fault_handler(void);

/* No stack may be left when a fault comes, so the handler starts on a fresh one. */
__attribute__((naked)) void kc_fault_handler(void)
{
    __asm volatile("ldr r0, =kc_stack_top\n"
                   "mov sp, r0\n"
                   "bl kc_board_fault\n"
                   ".ltorg\n");
}

static void paint_stack(void)
{
    uint32_t *top;
    __asm volatile("mov %0, sp" : "=r"(top));
    for (uint32_t *at = kc_stack_bottom; at < top; at++) {
        *(volatile uint32_t *)at = KC_BOARD_PAINT;
    }
}

void Reset_Handler(void)
{
    __asm volatile("cpsid i");
    CPACR |= CPACR_FPU;
    /* A used-up stack takes two faults, the second when the first is to be put on the stack.  The
     * first must be below HardFault, or the second has nowhere to go and the core locks up. */
    SHCSR |= SHCSR_FAULTS;
    /* The stack is at the foot of the RAM, and a store below it must fault, on every board. */
    MPU_NUMBER = 0;
    MPU_BASE = KC_BOARD_RAM_BASE - (1u << KC_BOARD_GUARD_LOG2);
    MPU_SIZE = MPU_NO_ACCESS(KC_BOARD_GUARD_LOG2);
    MPU_CONTROL = MPU_ON;
    __asm volatile("dsb\n isb" ::: "memory");
    const uint32_t *from = kc_data_load;
    for (uint32_t *to = kc_data_start; to < kc_data_end; to++) {
        *(volatile uint32_t *)to = *from;
        from++;
    }
    for (uint32_t *to = kc_bss_start; to < kc_bss_end; to++) {
        *(volatile uint32_t *)to = 0;
    }
    paint_stack();
    (void)main();
}

typedef void (*vector_t)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    vector_t reset;
    vector_t faults[14]; /* NMI to SysTick; no interrupt is ever served */
} vectors = {
    kc_stack_top,
    Reset_Handler,
    { kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler,
      kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler,
      kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler }
};
