/* Trace hooks.  The model's are in sim/model/trace_hooks.py.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_hil_trace.h"

#define MULTIPLIER 0x2545F491u
#define START 1u

static kc_hil_trace_t now = { 0, 0, START, 0, 0, 0, 0, 0 };
static kc_hil_trace_t last;

/* The hash after 32 more bits: combined, rotated by 13, multiplied modulo 2^32. */
static uint32_t fold(uint32_t hash, uint32_t half)
{
    hash ^= half;
    hash = (hash << 13) | (hash >> 19);
    return hash * MULTIPLIER;
}

const kc_hil_trace_t *kc_hil_trace_take(uint32_t limit)
{
    const kc_hil_trace_t begin = { limit, 0, START, 0, 0, 0, 0, 0 };

    last = now;
    now = begin;
    return &last;
}

void kc_hil_trace_event(const char *operation, const char *signal, int32_t step, int32_t index,
                        int64_t word)
{
    if (now.count < now.limit) {
        now.hash = fold(now.hash, (uint32_t)step);
        now.hash = fold(now.hash, (uint32_t)index);
        now.hash = fold(now.hash, (uint32_t)((uint64_t)word & 0xFFFFFFFFu));
        now.hash = fold(now.hash, (uint32_t)((uint64_t)word >> 32));
    } else if (now.count == now.limit) {
        now.operation = operation;
        now.signal = signal;
        now.step = step;
        now.index = index;
        now.word = word;
    }
    now.count++;
}
