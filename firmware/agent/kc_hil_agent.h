/* The HIL agent: answers frames from the host, one at a time.
 * It depends neither on the library (see kc_hil_port_t, generated) nor on the machine (kc_hil_board_t,
 * board support), so it runs on a board, in an emulator and in a test on the host.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_HIL_AGENT_H
#define KC_HIL_AGENT_H

#include <stdint.h>

#include "kc_hil_frame.h"
#include "kc_hil_store.h"
#include "kc_hil_trace.h"

/* An operation on the first `count` samples of the buffers. */
typedef uint32_t (*kc_hil_operation_t)(uint32_t count);

/* The library under test.  A null pointer means that its algorithm does not have the operation. */
typedef struct {
    const char *name;
    const uint8_t *plan_hash; /* 32 bytes */
    uint16_t abi;
    uint8_t word_bits;
    uint32_t capacity;    /* capacity of x, y, results and statuses, in samples */
    uint32_t train_count; /* exact number of samples of a training */
    kc_hil_memory_t x, y, results, statuses;
    const kc_hil_memory_t *fields; /* members of the model structure, never written by the agent */
    uint16_t field_count;
    kc_hil_operation_t train;   /* returns the status of the library */
    kc_hil_operation_t fitted;  /* fills the results; returns the status of the library */
    kc_hil_operation_t stream;  /* returns how many statuses were not OK */
    kc_hil_operation_t update;  /* likewise */
    kc_hil_operation_t predict; /* likewise */
    void (*reset)(void);
    const kc_hil_trace_t *(*trace)(uint32_t limit); /* null without trace hooks */
    kc_hil_store_t *store;      /* for saved states; null if the RAM is too small for them */
    kc_hil_operation_t save;    /* to the store; returns the status of the library */
    kc_hil_operation_t restore; /* likewise */
} kc_hil_port_t;

/* The machine. */
typedef struct {
    const char *name; /* id of the board */
    uint8_t window;   /* requests buffered while the agent is busy, including the current one */
    kc_hil_send_t send;
    void (*counter_start)(void);     /* null without a counter */
    uint64_t (*counter_stop)(void);  /* ticks since start; all ones after an overflow */
    uint32_t (*stack_used)(void);    /* null if the stack is not filled with a pattern */
    uint32_t stack_total;
} kc_hil_board_t;

typedef struct {
    const kc_hil_port_t *port;
    const kc_hil_board_t *board;
    kc_hil_decoder_t decoder;
    uint8_t  reply[KC_HIL_REPLY_MAX]; /* to the last request; sent again for a duplicate */
    uint32_t reply_length;
    uint32_t last_crc;
    uint16_t last_sequence;
    uint8_t  in_session; /* HELLO was received */
    uint64_t ticks;
    uint64_t overhead;
} kc_hil_agent_t;

/* Initialise, measure the counter's own overhead, send READY. */
void kc_hil_agent_init(kc_hil_agent_t *agent, const kc_hil_port_t *port,
                       const kc_hil_board_t *board);

/* Process one received byte; replies when it completes a frame. */
void kc_hil_agent_take(kc_hil_agent_t *agent, uint8_t byte);

/* Send an unsolicited NAK from a fault handler; uses only `send`. */
void kc_hil_agent_send_nak(uint8_t status, kc_hil_send_t send);

#endif
