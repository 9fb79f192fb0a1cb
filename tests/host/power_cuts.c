/* Saves of a generated model that power cuts interrupt; compiled with -DMODEL=<prefix> and -include <prefix>.h.
 *
 * The memory counts every byte that it erases or writes.  When `left` runs out, power fails: of the page at
 * hand some bytes are new, some old and, where the page was erased first, some blank; nothing is done after. */
#include <stdint.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define MODEL_T JOIN(MODEL, _model_t)
#define SAVE JOIN(MODEL, _state_save)
#define RESTORE JOIN(MODEL, _state_restore)
#define INIT JOIN(MODEL, _model_init)
#define MOST 65536u

/* OVERWRITES: EEPROM, byte over byte.  REWRITES: it erases a page and writes it, with what it held besides.
 * CORRECTS: flash with ECC; of what was cut off, or never erased, nothing is read until it is erased. */
enum { OVERWRITES, REWRITES, ERASES_TO_ONES, ERASES_TO_ZEROS, CORRECTS, KINDS };

typedef struct {
    uint8_t slots[2][MOST];
    int32_t unreadable[2];
    uint32_t bytes, page, kind, mixes;
    int64_t left; /* bytes until power fails */
    int64_t done;
    uint64_t chance;
} memory_t;

static memory_t memory;

static uint32_t draw(void)
{
    memory.chance ^= memory.chance << 13;
    memory.chance ^= memory.chance >> 7;
    memory.chance ^= memory.chance << 17;
    return (uint32_t)(memory.chance >> 32);
}

static uint8_t blank(void)
{
    return memory.kind == ERASES_TO_ZEROS ? 0u : 0xFFu;
}

/* Change one byte, or leave of it what a power cut leaves; 0 while there is power. */
static int32_t change(uint8_t *cell, uint8_t byte)
{
    if (memory.left > 0) {
        memory.left--;
        memory.done++;
        *cell = byte;
        return 0;
    }
    if (memory.left == 0 && memory.mixes != 0u) { /* bits of the byte at hand, in any mixture */
        const uint8_t mask = (uint8_t)draw();
        *cell = (uint8_t)((*cell & mask) | (byte & ~mask));
    }
    if (memory.left == 0 && memory.kind == CORRECTS) {
        memory.unreadable[cell < memory.slots[1] ? 0 : 1] = 1;
    }
    memory.left = -1;
    return 1;
}

static int32_t read_slot(void *context, uint32_t slot, uint32_t at, uint8_t *bytes, uint32_t count)
{
    (void)context;
    if (memory.left < 0 || slot > 1u || at + count > memory.bytes || memory.unreadable[slot] != 0) {
        return 1;
    }
    memcpy(bytes, &memory.slots[slot][at], count);
    return 0;
}

static int32_t erase_slot(void *context, uint32_t slot)
{
    const uint32_t from = memory.mixes != 0u ? draw() % memory.bytes : 0u; /* cells fade in no order */
    uint32_t i;

    (void)context;
    for (i = 0; i < memory.bytes; i++) {
        if (memory.left < 0 || change(&memory.slots[slot][(from + i) % memory.bytes], blank()) != 0) {
            return 1;
        }
    }
    memory.unreadable[slot] = 0;
    return 0;
}

/* One page, its bytes one by one, or in any order where they mix. */
static int32_t write_page(uint8_t *cells, const uint8_t *bytes, uint32_t count)
{
    const uint32_t from = memory.mixes != 0u ? draw() % count : 0u;
    uint32_t i;

    for (i = 0; i < count; i++) {
        const uint32_t k = (from + i) % count;
        const uint8_t byte = memory.kind == ERASES_TO_ZEROS  ? (uint8_t)(cells[k] | bytes[k])
                             : memory.kind >= ERASES_TO_ONES ? (uint8_t)(cells[k] & bytes[k]) : bytes[k];
        if (memory.left < 0 || change(&cells[k], byte) != 0) {
            return 1;
        }
    }
    return 0;
}

static int32_t write_slot(void *context, uint32_t slot, uint32_t at, const uint8_t *bytes, uint32_t count)
{
    uint32_t first = at / memory.page * memory.page;

    (void)context;
    if (memory.left < 0 || slot > 1u || at + count > memory.bytes) {
        return 1;
    }
    for (; first < at + count; first += memory.page) {
        const uint32_t end = first + memory.page < memory.bytes ? first + memory.page : memory.bytes;
        const uint32_t lo = first > at ? first : at, hi = end < at + count ? end : at + count;
        uint8_t whole[MOST];
        uint32_t i;

        if (memory.kind != REWRITES) {
            if (write_page(&memory.slots[slot][lo], &bytes[lo - at], hi - lo) != 0) {
                return 1;
            }
            continue;
        }
        memcpy(whole, &memory.slots[slot][first], end - first);
        memcpy(&whole[lo - first], &bytes[lo - at], hi - lo);
        for (i = first; i < end; i++) {
            if (change(&memory.slots[slot][i], blank()) != 0) {
                return 1;
            }
        }
        if (write_page(&memory.slots[slot][first], whole, end - first) != 0) {
            return 1;
        }
    }
    return 0;
}

static kc_storage_t storage_of(void)
{
    const kc_storage_t storage = { 0, read_slot, memory.kind >= ERASES_TO_ONES ? erase_slot : 0, write_slot };
    return storage;
}

static void power(int64_t left)
{
    memory.left = left;
    memory.done = 0;
}

typedef struct {
    int64_t cuts, places, lost, wrong;
} tally_t;

/* What comes back must be one of two states, or nothing where `may_lack`; a model refused is not touched. */
static void judge(const MODEL_T *before, const MODEL_T *after, int may_lack, tally_t *tally)
{
    const kc_storage_t storage = storage_of();
    MODEL_T found, untouched;
    kc_status_t status;

    memset(&found, 0xA5, sizeof found);
    untouched = found;
    power(INT64_MAX);
    status = RESTORE(&found, &storage);
    if (status != KC_OK) {
        tally->lost += may_lack == 0;
        tally->wrong += memcmp(&found, &untouched, sizeof found) != 0;
    } else if (memcmp(&found, before, sizeof found) != 0 || may_lack != 0) {
        tally->wrong += memcmp(&found, after, sizeof found) != 0;
    }
}

/* Cut the save of `state` behind `cut` bytes; 1 where it was finished before. */
static int cut_save(const MODEL_T *state, int64_t cut, tally_t *tally)
{
    const kc_storage_t storage = storage_of();

    power(cut);
    if (SAVE(state, &storage) == KC_OK && memory.left >= 0) {
        return 1;
    }
    tally->cuts++;
    return 0;
}

/* A new memory, with noise where nothing was written yet, and `saves` states in it. */
static void prepare(const MODEL_T *states, int saves)
{
    const kc_storage_t storage = storage_of();
    uint32_t i;
    int k;

    for (i = 0; i < memory.bytes; i++) {
        memory.slots[0][i] = (uint8_t)draw();
        memory.slots[1][i] = (uint8_t)draw();
    }
    memory.unreadable[0] = memory.unreadable[1] = memory.kind == CORRECTS ? 1 : 0;
    for (k = 0; k < saves; k++) {
        power(INT64_MAX);
        (void)SAVE(&states[k], &storage);
    }
}

void power_cuts(const MODEL_T *states, uint32_t page, uint32_t kind, uint32_t mixes, uint64_t seed,
    tally_t *tally);

/* Cut a save behind every byte of it: the first, the second and the third save of a memory; then cut the next
 * save, too, and let the one after that through.  `states` are six. */
void power_cuts(const MODEL_T *states, uint32_t page, uint32_t kind, uint32_t mixes, uint64_t seed,
    tally_t *tally)
{
    int saves;

    memory.bytes = KC_STATE_SLOT(SAVED);
    memory.page = page;
    memory.kind = kind;
    memory.mixes = mixes;
    memory.chance = seed * 2u + 1u;
    for (saves = 0; saves < 3; saves++) {
        int64_t cut, length = 0;
        int done = 0;

        for (cut = 0; done == 0; cut++) {
            const MODEL_T *newest = &states[saves > 0 ? saves - 1 : 0];
            MODEL_T last;
            kc_storage_t storage;

            prepare(states, saves);
            done = cut_save(&states[saves], cut, tally);
            judge(newest, &states[saves], saves == 0 && done == 0, tally);
            storage = storage_of();
            if (saves > 0) { /* power fails again, at another byte */
                INIT(&last);
                power(INT64_MAX);
                (void)RESTORE(&last, &storage);
                if (cut_save(&states[3], length == 0 ? cut / 2 : draw() % length, tally) == 0) {
                    judge(&last, &states[3], 0, tally);
                }
            }
            power(INT64_MAX);
            tally->lost += SAVE(&states[4], &storage) != KC_OK;
            judge(&states[4], &states[4], 0, tally);
            length = cut;
        }
        tally->places += length;
    }
}
