/* Learns gestures from labelled examples and classifies others.  SPDX-License-Identifier: Apache-2.0
 * The readings come over the UART. On a board with a sensor, its interrupt calls on_reading(). */
#include "gestures.h"
#include "kc_board.h"

#define REST 26                                 /* 1 g, in steps of 1/26 g */

static gestures_model_t model;
static gestures_delay_t line;

static void on_start(void)                      /* the user presses the button: the sensor has been at rest */
{
    gestures_delay_init(&line);
    for (int i = 0; i < GESTURES_DELAY_LENGTH * GESTURES_DELAY_DECIMATE; i++) {
        (void)gestures_delay_push(&line, REST);
    }
}

static void on_reading(int8_t reading)          /* 16 readings make a sample */
{
    (void)gestures_delay_push(&line, reading);
}

static uint8_t on_label(uint8_t label)          /* the user names the gesture: learn it */
{
    gestures_out_t before[GESTURES_OUTPUTS];

    return KC_USABLE(gestures_delay_update(&model, &line, label, before)) ? label : 0xFFu;
}

static uint8_t on_release(void)                 /* the user releases the button: which gesture was it? */
{
    gestures_out_t margin;
    uint8_t label;
    kc_status_t status = gestures_model_classify(&model, gestures_delay_window(&line), &label, &margin);

    return KC_USABLE(status) ? label : 0xFFu;
}

int main(void)
{
    uint8_t reply = 'R';                        /* ready */

    kc_board_setup();
    kc_uart_init();
    gestures_model_init(&model);
    kc_uart_send(&reply, 1);
    for (;;) {
        switch (kc_uart_receive()) {
        case 's':
            on_start();
            break;
        case 'r':
            on_reading((int8_t)kc_uart_receive());
            break;
        case 'l':
            reply = on_label(kc_uart_receive());
            kc_uart_send(&reply, 1);
            break;
        default:
            reply = on_release();
            kc_uart_send(&reply, 1);
            break;
        }
    }
}
