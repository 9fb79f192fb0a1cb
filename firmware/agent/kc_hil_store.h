/* Two slots for saved states in RAM, for tests: they behave like flash, but lose their contents without power.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KC_HIL_STORE_H
#define KC_HIL_STORE_H

#include <stdint.h>

#include "kc_storage.h"

typedef struct {
    uint8_t *data;
    uint32_t bytes;
} kc_hil_memory_t;

typedef struct {
    kc_hil_memory_t slots[2];
    uint32_t written; /* the slot that was written last */
} kc_hil_store_t;

/* Return the slots as a storage; their contents do not change. */
kc_storage_t kc_hil_store_open(kc_hil_store_t *store);

#endif
