/* kerncast runtime: CRC-32 of the link's frames and of saved states.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_CRC_H
#define KERNCAST_KC_CRC_H

#include <stdint.h>

/* CRC-32 (as in zlib: reflected, polynomial 0xEDB88320), continued from `crc`; start with 0.
 * Four bits at a time: a table of 64 bytes instead of 1024. */
static inline uint32_t kc_crc32(uint32_t crc, const uint8_t *bytes, uint32_t count)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u,
        0x4DB26158u, 0x5005713Cu, 0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
        0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu
    };
    uint32_t left = ~crc;
    uint32_t i;

    for (i = 0; i < count; i++) {
        left ^= bytes[i];
        left = (left >> 4) ^ table[left & 15u];
        left = (left >> 4) ^ table[left & 15u];
    }
    return ~left;
}

#endif
