/* Two slots for saved states in RAM.  SPDX-License-Identifier: Apache-2.0 */
#include "kc_hil_store.h"

#define ERASED 0xFFu

/* Without a sum that could overflow. */
static int lies_inside(const kc_hil_store_t *store, uint32_t slot, uint32_t at, uint32_t count)
{
    return slot < 2u && at <= store->slots[slot].bytes && count <= store->slots[slot].bytes - at;
}

static int32_t read(void *context, uint32_t slot, uint32_t at, uint8_t *bytes, uint32_t count)
{
    const kc_hil_store_t *store = context;
    if (!lies_inside(store, slot, at, count)) {
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = store->slots[slot].data[at + i];
    }
    return 0;
}

static int32_t erase(void *context, uint32_t slot)
{
    const kc_hil_store_t *store = context;
    if (slot >= 2u) {
        return 1;
    }
    for (uint32_t i = 0; i < store->slots[slot].bytes; i++) {
        store->slots[slot].data[i] = ERASED;
    }
    return 0;
}

/* Behave like flash: write whole blocks, and reject a block in which a byte is already written. */
static int32_t write(void *context, uint32_t slot, uint32_t at, const uint8_t *bytes, uint32_t count)
{
    kc_hil_store_t *store = context;
    if (!lies_inside(store, slot, at, count) || at % KC_STATE_BLOCK != 0 || count != KC_STATE_BLOCK) {
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (store->slots[slot].data[at + i] != ERASED) {
            return 1;
        }
        store->slots[slot].data[at + i] = bytes[i];
    }
    store->written = slot;
    return 0;
}

kc_storage_t kc_hil_store_open(kc_hil_store_t *store)
{
    const kc_storage_t storage = { store, read, erase, write };
    return storage;
}
