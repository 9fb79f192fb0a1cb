/* Frames of the HIL link.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_hil_frame.h"

#define COBS_FULL 0xFFu /* code of a run of 254 bytes without a zero after it */

void kc_hil_decoder_init(kc_hil_decoder_t *decoder)
{
    decoder->length = 0;
    decoder->code = 0;
    decoder->remaining = 0;
    decoder->overlong = 0;
    decoder->complete = 0;
}

static void store(kc_hil_decoder_t *decoder, uint8_t byte)
{
    if (decoder->length < KC_HIL_REQUEST_MAX) {
        decoder->data[decoder->length] = byte;
        decoder->length++;
    } else {
        decoder->overlong = 1;
    }
}

static kc_hil_event_t finish(kc_hil_decoder_t *decoder)
{
    decoder->complete = 1;
    if (decoder->code == 0) {
        return KC_HIL_PENDING; /* two delimiters in a row: no frame between them */
    }
    if (decoder->overlong != 0) {
        return KC_HIL_OVERLONG;
    }
    return decoder->remaining != 0 ? KC_HIL_BROKEN : KC_HIL_COMPLETE;
}

kc_hil_event_t kc_hil_decoder_take(kc_hil_decoder_t *decoder, uint8_t byte)
{
    if (decoder->complete != 0) {
        kc_hil_decoder_init(decoder);
    }
    if (byte == 0) {
        return finish(decoder);
    }
    if (decoder->remaining != 0) {
        store(decoder, byte);
        decoder->remaining--;
        return KC_HIL_PENDING;
    }
    /* A code byte: the previous run ends with an implied zero, unless it was full or this is the first run. */
    if (decoder->code != 0 && decoder->code != COBS_FULL) {
        store(decoder, 0);
    }
    decoder->code = byte;
    decoder->remaining = (uint8_t)(byte - 1u);
    return KC_HIL_PENDING;
}

void kc_hil_frame_send(const uint8_t *bytes, uint32_t count, kc_hil_send_t send)
{
    static const uint8_t delimiter = 0;
    uint32_t at = 0;
    send(&delimiter, 1);
    for (;;) {
        uint32_t end = at;
        while (end < count && bytes[end] != 0 && end - at < COBS_FULL - 1u) {
            end++;
        }
        const uint8_t code = (uint8_t)(end - at + 1u);
        send(&code, 1);
        if (end > at) {
            send(&bytes[at], end - at);
        }
        if (end == count) {
            break; /* the implied zero of the last run is not part of the frame */
        }
        at = code == COBS_FULL ? end : end + 1u;
    }
    send(&delimiter, 1);
}
