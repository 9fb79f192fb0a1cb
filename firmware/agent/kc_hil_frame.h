/* Frames of the HIL link: COBS with a zero byte as delimiter, CRC-32 (that of zlib).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_HIL_FRAME_H
#define KC_HIL_FRAME_H

#include <stdint.h>

#include "kc_hil_protocol.h"

/* Longest request, without COBS: the decoder never stores more. */
#define KC_HIL_REQUEST_MAX (KC_HIL_HEADER + KC_HIL_MAX_PAYLOAD + KC_HIL_CRC)
#define KC_HIL_REPLY_MAX (KC_HIL_REPLY_HEADER + KC_HIL_MAX_PAYLOAD + KC_HIL_CRC)

typedef enum {
    KC_HIL_PENDING,  /* no frame is complete */
    KC_HIL_COMPLETE, /* `data[0..length)` is a frame, CRC included but not checked */
    KC_HIL_BROKEN,   /* a delimiter inside a run */
    KC_HIL_OVERLONG  /* the frame did not fit */
} kc_hil_event_t;

typedef struct {
    uint8_t  data[KC_HIL_REQUEST_MAX];
    uint16_t length;    /* bytes decoded */
    uint8_t  code;      /* COBS code of the present run, 0 before the first */
    uint8_t  remaining; /* bytes that the present run still needs */
    uint8_t  overlong;  /* bytes were dropped */
    uint8_t  complete;  /* the last byte ended a frame: the next byte starts a new one */
} kc_hil_decoder_t;

typedef void (*kc_hil_send_t)(const uint8_t *bytes, uint32_t count);

void kc_hil_decoder_init(kc_hil_decoder_t *decoder);

/* Process one received byte.  Never writes outside `data`; a zero always ends the frame, so the decoder
 * resynchronises at the first delimiter after any fault. */
kc_hil_event_t kc_hil_decoder_take(kc_hil_decoder_t *decoder, uint8_t byte);

/* Send `count` bytes as one frame with a delimiter before and after, without a buffer. */
void kc_hil_frame_send(const uint8_t *bytes, uint32_t count, kc_hil_send_t send);

#endif
