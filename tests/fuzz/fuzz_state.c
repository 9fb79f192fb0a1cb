/* A generated model under any saved state; compiled with -DMODEL=<prefix> -DBYTES=<size of a state>
 * -DCOLUMNS=<D> -DOUTPUTS=<C> -DCALLS=<what is called of an accepted one> and -include <prefix>.h.
 * An input is a state. Bit 0 of its first byte says whether it gets the checksum that its bytes call for, bit 1
 * whether what is restored is then damaged in RAM. Whatever it is,
 *   - a refused one leaves the model as it was;
 *   - an accepted one is saved again as the same payload;
 *   - the model predicts and learns from it, at inputs of any bytes.
 * The sanitizers see to the memory and to the arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "kc_crc.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define MODEL_T JOIN(MODEL, _model_t)
#define IN_T JOIN(MODEL, _in_t)
#define OUT_T JOIN(MODEL, _out_t)
#define CALL(name) JOIN(MODEL, name)
#define HEADER 48u
#define CRC 4u
#define SLOT KC_STATE_SLOT(BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t slots[2][SLOT];

static void demand(int holds)
{
    if (!holds) {
        abort();
    }
}

static int32_t read_slot(void *context, uint32_t slot, uint32_t at, uint8_t *bytes, uint32_t count)
{
    (void)context;
    demand(slot < 2u && at <= SLOT && count <= SLOT - at);
    memcpy(bytes, &slots[slot][at], count);
    return 0;
}

static int32_t write_slot(void *context, uint32_t slot, uint32_t at, const uint8_t *bytes, uint32_t count)
{
    (void)context;
    demand(slot < 2u && at <= SLOT && count <= SLOT - at);
    memcpy(&slots[slot][at], bytes, count);
    return 0;
}

static void seal(uint8_t *image)
{
    const uint32_t crc = kc_crc32(0, image, BYTES - CRC);
    for (uint32_t i = 0; i < CRC; i++) {
        image[BYTES - CRC + i] = (uint8_t)(crc >> (8u * i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const kc_storage_t storage = { 0, read_slot, 0, write_slot };
    static MODEL_T model, before;
    IN_T x[COLUMNS];
    OUT_T f[OUTPUTS];
    if (size < 1u) {
        return 0;
    }
    memset(slots, 0, sizeof slots);
    memcpy(slots[0], data + 1, size - 1u < BYTES ? size - 1u : BYTES);
    if ((data[0] & 1u) != 0u) {
        seal(slots[0]);
    }
    JOIN(MODEL, _model_init)(&model);
    memcpy(&before, &model, sizeof model);
    if (JOIN(MODEL, _state_restore)(&model, &storage) != 0) {
        demand(memcmp(&before, &model, sizeof model) == 0);
        return 0;
    }
    demand(JOIN(MODEL, _state_save)(&model, &storage) == 0);
    demand(memcmp(&slots[0][HEADER], &slots[1][HEADER], BYTES - HEADER - CRC) == 0);
    if ((data[0] & 2u) != 0u) { /* bytes of the input, at a place that they name */
        const size_t at = (size_t)data[size - 1u] * sizeof model / 256u, count = (data[0] >> 2) % 8u + 1u;
        memcpy((uint8_t *)&model + at, data + size / 2u,
               count < sizeof model - at && count < size - size / 2u ? count : 1u);
    }
    for (uint32_t i = 0; i < sizeof x; i++) {
        ((uint8_t *)x)[i] = data[(size - 1u - i % size)];
    }
    CALLS;
    return 0;
}
