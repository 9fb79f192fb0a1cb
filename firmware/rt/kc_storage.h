/* kerncast runtime: storage interface of saved states.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_STORAGE_H
#define KERNCAST_KC_STORAGE_H

#include <stdint.h>

/* Bytes per write, at a multiple of this number: a multiple of the programming unit of the memory, at least
 * 16. Read a slot with the same value that wrote it. */
#ifndef KC_STATE_BLOCK
#define KC_STATE_BLOCK 32u
#endif

/* Bytes of a slot that a saved state of `bytes` bytes occupies. */
#define KC_STATE_SLOT(bytes) (((bytes) + KC_STATE_BLOCK - 1u) / KC_STATE_BLOCK * KC_STATE_BLOCK)

/* Non-volatile memory with two slots, 0 and 1, of KC_STATE_SLOT(<P>_SAVED_STATE_BYTES) bytes each. The slots
 * must not share an erase sector or a page that is rewritten as a whole: a power cut while one slot is
 * erased or written may destroy its whole sector, and the other slot must survive.
 * A function returns 0 on success. `read` returns another value on an ECC error that cannot be corrected.
 * Each function must have finished when it returns, because the order of the writes makes a save power-fail
 * safe. */
typedef struct {
    void *context; /* passed to the functions */

    /* Read `count` bytes of a slot from its byte `at`. */
    int32_t (*read)(void *context, uint32_t slot, uint32_t at, uint8_t *bytes, uint32_t count);

    /* Erase a whole slot. Null if bytes can be overwritten without an erase. */
    int32_t (*erase)(void *context, uint32_t slot);

    /* Write `count` bytes of a slot from its byte `at`. */
    int32_t (*write)(void *context, uint32_t slot, uint32_t at, const uint8_t *bytes, uint32_t count);
} kc_storage_t;

#endif
