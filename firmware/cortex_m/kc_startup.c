/* Reset, vector table and memory set-up of a Cortex-M.  SPDX-License-Identifier: Apache-2.0 */
#define KC_READ_STACK_POINTER "mov %0, sp"
#include "kc_startup.h"

#define CPACR KC_REGISTER(0xE000ED88u)
#define CPACR_FPU (0xFu << 20) /* and Helium; without either it cannot be set */
#define SHCSR KC_REGISTER(0xE000ED24u)
#define SHCSR_FAULTS (7u << 16) /* memory, bus and usage fault */
#define MPU_CONTROL KC_REGISTER(0xE000ED94u)
#define MPU_ON 5u /* enabled; what no region covers is as without it */
#define MPU_NUMBER KC_REGISTER(0xE000ED98u)
#define MPU_BASE KC_REGISTER(0xE000ED9Cu)
#define MPU_SIZE KC_REGISTER(0xE000EDA0u)
#define MPU_NO_ACCESS(log2_bytes) ((1u << 28) | (((log2_bytes) - 1u) << 1) | 1u)
#define NVIC_ENABLE KC_REGISTER(0xE000E100u + 4u * (KC_BOARD_UART_IRQ / 32u))
#define NVIC_DISABLE KC_REGISTER(0xE000E180u + 4u * (KC_BOARD_UART_IRQ / 32u))
#define NVIC_CLEAR_PENDING KC_REGISTER(0xE000E280u + 4u * (KC_BOARD_UART_IRQ / 32u))
#define NVIC_BIT (1u << (KC_BOARD_UART_IRQ % 32u))

void Reset_Handler(void);
void kc_fault_handler(void);

/* Where SysTick is the counter, its driver has a handler. */
__attribute__((weak, alias("kc_fault_handler"))) void kc_systick_handler(void);

/* The stack may be exhausted when a fault occurs, so the handler starts on a new one. */
__attribute__((naked)) void kc_fault_handler(void)
{
    __asm volatile("ldr r0, =kc_stack_top\n"
                   "mov sp, r0\n"
                   "bl kc_board_fault\n"
                   ".ltorg\n");
}

/* The interrupt only ends WFI: interrupts are masked (Reset_Handler) and none is served.  What comes
 * before WFI leaves it pending, so WFI falls through. */
void kc_sleep(void)
{
    NVIC_ENABLE = NVIC_BIT;
    __asm volatile("dsb\n wfi" ::: "memory");
    NVIC_DISABLE = NVIC_BIT;
    NVIC_CLEAR_PENDING = NVIC_BIT;
}

/* The stack is at the foot of the RAM, and where it ends the next store must fault. */
static void guard_stack(void)
{
#if __ARM_ARCH >= 8
    __asm volatile("msr msplim, %0" :: "r"(kc_stack_bottom));
#elif __ARM_ARCH >= 7 && defined(KC_BOARD_GUARD_LOG2)
    MPU_NUMBER = 0;
    MPU_BASE = KC_BOARD_RAM_BASE - (1u << KC_BOARD_GUARD_LOG2);
    MPU_SIZE = MPU_NO_ACCESS(KC_BOARD_GUARD_LOG2);
    MPU_CONTROL = MPU_ON;
#endif
}

void Reset_Handler(void)
{
    __asm volatile("cpsid i");
#if __ARM_ARCH >= 7 /* an ARMv6-M has neither coprocessors nor faults below HardFault */
    CPACR |= CPACR_FPU;
    /* A used-up stack takes two faults, the second when the first is to be put on the stack.  The
     * first must be below HardFault, or the second has nowhere to go and the core locks up. */
    SHCSR |= SHCSR_FAULTS;
#endif
    guard_stack();
    __asm volatile("dsb\n isb" ::: "memory");
    kc_startup_variables();
    kc_startup_fill_stack();
    (void)main();
}

typedef void (*vector_t)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    vector_t reset;
    vector_t faults[13]; /* NMI to PendSV; no interrupt is ever served */
    vector_t systick;
} vectors = {
    kc_stack_top,
    Reset_Handler,
    { kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler,
      kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler, kc_fault_handler,
      kc_fault_handler, kc_fault_handler, kc_fault_handler },
    kc_systick_handler
};
