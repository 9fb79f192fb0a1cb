/* kerncast runtime: where models are saved, and how it went.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_STORAGE_H
#define KERNCAST_KC_STORAGE_H

#include <stdint.h>

/* Bytes that are written at a time, at a multiple of as many: a multiple of what the memory programs at
 * once, and no fewer than 16.  The same memory is read with the same number. */
#ifndef KC_STATE_BLOCK
#define KC_STATE_BLOCK 32u
#endif

/* What `bytes` bytes take of a slot. */
#define KC_STATE_SLOT(bytes) (((bytes) + KC_STATE_BLOCK - 1u) / KC_STATE_BLOCK * KC_STATE_BLOCK)

/* Memory that keeps what it holds without power: two slots, 0 and 1, of KC_STATE_SLOT(<P>_SAVED_BYTES) bytes
 * each.  They must share no erase sector, nor a page that is rewritten as a whole: while one slot is erased or
 * written, a power cut may spoil all of its sector, and the state in the other must stay.
 * A function returns 0 where it did what it was asked; `read` anything else where ECC cannot correct.  None
 * may run on after it has returned: the order of the writes is what a power cut is survived by. */
typedef struct {
    void *context; /* handed to the functions */

    /* Read `count` bytes of a slot from its byte `at`. */
    int32_t (*read)(void *context, uint32_t slot, uint32_t at, uint8_t *bytes, uint32_t count);

    /* Make a whole slot ready to be written, once: flash.  0 (null) where bytes can be written over others. */
    int32_t (*erase)(void *context, uint32_t slot);

    /* Write `count` bytes of a slot from its byte `at`. */
    int32_t (*write)(void *context, uint32_t slot, uint32_t at, const uint8_t *bytes, uint32_t count);
} kc_storage_t;

/* How saving or restoring went.  Where neither slot will do, the larger of both is the answer. */
typedef enum {
    KC_STATE_OK = 0,
    KC_STATE_NONE = 1,          /* nothing was saved here, or no save was ever completed */
    KC_STATE_OTHER_VERSION = 2, /* of another format, or of code of another ABI */
    KC_STATE_OTHER_PLAN = 3,    /* saved by a model of another plan */
    KC_STATE_TRUNCATED = 4,     /* not as long as a state of this plan */
    KC_STATE_DAMAGED = 5,       /* the checksum does not match */
    KC_STATE_INCONSISTENT = 6,  /* whole, but words of it are none that the algorithm leaves */
    KC_STATE_STORAGE = 7,       /* the storage failed */
    KC_STATE_BAD_ARGUMENT = 8   /* a null pointer */
} kc_state_status_t;

#endif
