/* Features of a window of readings.  SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

#define STEP 8                                  /* ADC counts per step of a feature */

static uint32_t root(uint64_t square)           /* the largest integer whose square is at most this */
{
    uint32_t found = 0;

    for (uint32_t bit = UINT32_C(1) << 31; bit != 0; bit >>= 1) {
        uint64_t next = (uint64_t)found | bit;
        if (next * next <= square) {
            found = (uint32_t)next;
        }
    }
    return found;
}

static int8_t saturate(int32_t value)
{
    return (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
}

int window_push(window_t *w, const int16_t reading[WINDOW_CHANNELS], int8_t x[WINDOW_FEATURES])
{
    const int32_t n = WINDOW_READINGS;

    for (int c = 0; c < WINDOW_CHANNELS; c++) {
        int32_t v = reading[c];
        int32_t change = w->count == 0 ? 0 : v - w->last[c];
        w->sum[c] += v;
        w->squares[c] += (uint32_t)(v * v);
        w->changes[c] += change < 0 ? -change : change;
        w->last[c] = reading[c];
    }
    if (++w->count < n) {
        return 0;
    }
    for (int c = 0; c < WINDOW_CHANNELS; c++) {
        uint64_t variance = (uint64_t)n * w->squares[c] - (uint64_t)((int64_t)w->sum[c] * w->sum[c]);
        x[3 * c] = saturate(w->sum[c] / (n * STEP));
        x[3 * c + 1] = saturate((int32_t)root(variance) / (n * STEP));
        x[3 * c + 2] = saturate(w->changes[c] / ((n - 1) * STEP));
    }
    *w = (window_t){0};
    return 1;
}
