/* Runs the image of an AVR with libsimavr: its USART 0 is standard input and output.
 *     kc_simavr MCU HZ IMAGE
 * Counts cycles: from a write of 1 to GPIOR0 to a write of 0, which also puts the count where the
 * firmware reads it: a 1 in GPIOR2, and then a byte in each reading of GPIOR1, the lowest first.
 * SPDX-License-Identifier: Apache-2.0 OR GPL-3.0-or-later */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#define GPIOR0 0x3E
#define GPIOR1 0x4A
#define GPIOR2 0x4B
#define IDLE 256 /* runs of a sleeping core after which nothing can be under way but the host */

static avr_irq_t *input;
static int accepts; /* the USART takes another byte */
static uint8_t bytes[256];
static ssize_t come, given;
static avr_cycle_count_t started, counted;

static void fetch(void)
{
    come = read(STDIN_FILENO, bytes, sizeof bytes);
    given = 0;
    if (come <= 0) {
        exit(0); /* the host has hung up */
    }
}

static int waiting(int timeout)
{
    struct pollfd line = { STDIN_FILENO, POLLIN, 0 };
    return poll(&line, 1, timeout) > 0;
}

static void on_xon(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)value, (void)context;
    accepts = 1;
    if (given == come && waiting(0)) {
        fetch();
    }
    while (accepts && given < come) {
        avr_raise_irq(input, bytes[given++]);
    }
}

static void on_xoff(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)value, (void)context;
    accepts = 0;
}

static void on_output(struct avr_irq_t *irq, uint32_t value, void *context)
{
    const uint8_t byte = (uint8_t)value;
    (void)irq, (void)context;
    if (write(STDOUT_FILENO, &byte, 1) != 1) {
        exit(0);
    }
}

static void on_mark(struct avr_t *avr, avr_io_addr_t address, uint8_t value, void *context)
{
    (void)context;
    avr->data[address] = value;
    if (value != 0) {
        started = avr->cycle;
    } else {
        counted = avr->cycle - started;
        avr->data[GPIOR2] = 1;
    }
}

static uint8_t on_count(struct avr_t *avr, avr_io_addr_t address, void *context)
{
    const uint8_t byte = (uint8_t)counted;
    (void)avr, (void)address, (void)context;
    counted >>= 8;
    return byte;
}

static void on_sleep(avr_t *avr, avr_cycle_count_t cycles)
{
    (void)avr, (void)cycles; /* time passes without waiting for it */
}

static avr_t *start(const char *mcu, uint32_t hz, const char *image)
{
    const uint32_t quiet = 0;
    static elf_firmware_t firmware; /* zero */
    avr_t *avr;
    if (elf_read_firmware(image, &firmware) != 0) {
        fprintf(stderr, "%s is no image\n", image);
        exit(1);
    }
    avr = avr_make_mcu_by_name(mcu);
    if (avr == NULL || avr_init(avr) != 0) {
        fprintf(stderr, "libsimavr has no %s\n", mcu);
        exit(1);
    }
    avr->log = LOG_ERROR;
    avr->sleep = on_sleep;
    firmware.frequency = hz;
    avr_load_firmware(avr, &firmware);
    (void)avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), (void *)&quiet);
    avr_register_io_write(avr, GPIOR0, on_mark, NULL);
    avr_register_io_read(avr, GPIOR1, on_count, NULL);
    return avr;
}

static void connect(avr_t *avr)
{
    input = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_output, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), on_xon, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), on_xoff, NULL);
}

int main(int count, char **arguments)
{
    int asleep = 0;
    int state = cpu_Running;
    avr_t *avr;
    if (count != 4) {
        fprintf(stderr, "kc_simavr MCU HZ IMAGE\n");
        return 1;
    }
    avr = start(arguments[1], (uint32_t)strtoul(arguments[2], NULL, 10), arguments[3]);
    connect(avr);
    while (state != cpu_Done && state != cpu_Crashed) {
        asleep = state == cpu_Sleeping ? asleep + 1 : 0;
        if (asleep > IDLE) { /* the USART signals that it accepts a byte only when the CPU core reads its status */
            (void)waiting(given == come ? -1 : 0);
            on_xon(NULL, 0, NULL);
            asleep = 0;
        }
        state = avr_run(avr);
    }
    fprintf(stderr, "the core stopped at 0x%04X\n", (unsigned)avr->pc);
    return 1;
}
