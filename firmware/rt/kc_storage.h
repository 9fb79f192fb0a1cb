/* kerncast runtime: storage interface and statuses of saved states.  SPDX-License-Identifier: Apache-2.0 */
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

/* Status of saving or restoring. If neither slot is usable, the larger of both statuses is returned. */
typedef enum {
    KC_STATE_OK = 0,
    KC_STATE_NONE = 1,          /* no saved state, or no save was completed */
    KC_STATE_OTHER_VERSION = 2, /* another format version or ABI */
    KC_STATE_OTHER_PLAN = 3,    /* saved by a model of another plan */
    KC_STATE_TRUNCATED = 4,     /* not the length of a state of this plan */
    KC_STATE_DAMAGED = 5,       /* the checksum does not match */
    KC_STATE_INCONSISTENT = 6,  /* the checksum matches, but a value is out of range */
    KC_STATE_STORAGE = 7,       /* the storage failed */
    KC_STATE_BAD_ARGUMENT = 8   /* a null pointer */
} kc_state_status_t;

#endif
