/* Polled access to a UART, as Zephyr documents it. The program ends when the other end has gone. */
#ifndef KC_STANDIN_ZEPHYR_UART_H
#define KC_STANDIN_ZEPHYR_UART_H

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include <zephyr/device.h>

static inline int uart_poll_in(const struct device *dev, unsigned char *p_char)
{
    struct pollfd line = { dev->input, POLLIN, 0 };

    if (poll(&line, 1, 1) <= 0) {
        return -1;
    }
    if (read(dev->input, p_char, 1) != 1) {
        exit(0);
    }
    return 0;
}

static inline void uart_poll_out(const struct device *dev, unsigned char out_char)
{
    if (write(dev->output, &out_char, 1) != 1) {
        exit(0);
    }
}

#endif
