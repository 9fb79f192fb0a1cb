/* Trace hooks: the words that generated code computes, in order, so that two runs can be compared.
 * An event is a word with its operation, step, signal and index.  No list is kept: events are
 * counted, the first `limit` of them folded into a hash, and the one after these remembered.
 * Included by generated code that is compiled with KC_TRACE_ON, and only then.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_HIL_TRACE_H
#define KC_HIL_TRACE_H

#include <stdint.h>

typedef struct {
    uint32_t limit;        /* events that the hash covers */
    uint32_t count;        /* events so far */
    uint32_t hash;
    const char *operation; /* of event number `limit`; null if it did not occur */
    const char *signal;
    int32_t step, index;
    int64_t word;
} kc_hil_trace_t;

/* Return the trace since the last call and start a new one. */
const kc_hil_trace_t *kc_hil_trace_take(uint32_t limit);

/* Record one event. */
void kc_hil_trace_event(const char *operation, const char *signal, int32_t step, int32_t index,
                        int64_t word);

/* Trace a word of a signal at a step of an operation. */
#define KC_TRACE(operation, signal, step, index, word) \
    kc_hil_trace_event(#operation, #signal, (int32_t)(step), (int32_t)(index), (int64_t)(word))

/* Trace words[first..last), in order. */
#define KC_TRACE_ALL(operation, signal, step, words, first, last) \
    do { \
        int32_t kc_at; \
        for (kc_at = (int32_t)(first); kc_at < (int32_t)(last); kc_at++) { \
            KC_TRACE(operation, signal, step, kc_at, (words)[kc_at]); \
        } \
    } while (0)

#endif
