/* Features of a window of readings: mean, deviation and mean absolute difference of each channel.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdint.h>

#define WINDOW_CHANNELS 6                       /* three of an accelerometer, three of a gyroscope */
#define WINDOW_READINGS 100                     /* ten seconds at 10 Hz */
#define WINDOW_FEATURES (3 * WINDOW_CHANNELS)

/* Zero is an empty window. Readings are 12-bit ADC counts; they are summed and not stored. */
typedef struct {
    int32_t sum[WINDOW_CHANNELS];
    uint32_t squares[WINDOW_CHANNELS];
    int32_t changes[WINDOW_CHANNELS];           /* sum of absolute differences */
    int16_t last[WINDOW_CHANNELS];
    int32_t count;
} window_t;

/* Add a reading. Returns 1 after the last one of a window, with the features in x; else 0. */
int window_push(window_t *w, const int16_t reading[WINDOW_CHANNELS], int8_t x[WINDOW_FEATURES]);

#endif
