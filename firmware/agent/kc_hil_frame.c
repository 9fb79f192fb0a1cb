/* Frames of the HIL link.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_hil_frame.h"

#define COBS_FULL 0xFFu /* code of a run of 254 bytes without a zero after it */

/* CRC-32 (reflected, 0xEDB88320) four bits at a time: 64 bytes of table instead of 1024. */
static const uint32_t crc_table[16] = {
    0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u,
    0x4DB26158u, 0x5005713Cu, 0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
    0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu
};

uint32_t kc_hil_crc32(const uint8_t *bytes, uint32_t count)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ crc_table[crc & 15u];
        crc = (crc >> 4) ^ crc_table[crc & 15u];
    }
    return ~crc;
}

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
    /* A code byte: the run before it stood for a zero, unless it was full or there was none. */
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
            break; /* the zero that the last run stands for is not part of the frame */
        }
        at = code == COBS_FULL ? end : end + 1u;
    }
    send(&delimiter, 1);
}
