/* kerncast runtime: saved states in two slots, little-endian, power-fail safe.
 *
 * Layout: docs/saved-state.md of kerncast. A save first invalidates the first block of the slot and writes
 * that block last, so that a slot which a power cut left incomplete is never valid. If the header is longer
 * than one block, every byte of it is known to the reader except the sequence number, which the CRC protects.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KERNCAST_KC_STATE_H
#define KERNCAST_KC_STATE_H

#include <stdint.h>

#include "kc_config.h"
#include "kc_crc.h"
#include "kc_simd.h"
#include "kc_storage.h"

#define KC_STATE_MAGIC 0x5453434Bu /* "KCST" */
#define KC_STATE_VERSION 2u
#define KC_STATE_HASH 32u   /* bytes of a plan's hash */
#define KC_STATE_HEADER 48u /* bytes before the payload */
#define KC_STATE_BLANK 0xFFu

#if KC_STATE_BLOCK < 16
#error "KC_STATE_BLOCK must hold the magic number and the sequence number: 16 bytes"
#endif

/* The part of the header that is common to all states of a plan. */
typedef struct {
    const uint8_t *plan_hash;
    uint32_t abi;
    uint32_t payload; /* bytes */
} kc_state_kind_t;

/* Writer of a state into a slot. */
typedef struct {
    const kc_storage_t *storage;
    uint32_t slot;
    uint32_t at; /* bytes written so far */
    uint32_t crc;
    int32_t failed;
    uint8_t first[KC_STATE_BLOCK]; /* written last */
    uint8_t block[KC_STATE_BLOCK];
} kc_state_writer_t;

/* Reader of a state from a slot. */
typedef struct {
    const kc_storage_t *storage;
    uint32_t slot;
    uint32_t at; /* bytes read so far */
    uint32_t crc;
    int32_t failed;
    int32_t sound; /* 0 if a value was out of range */
    uint8_t block[KC_STATE_BLOCK];
} kc_state_reader_t;

/* The next sequence number; wraps to 0 after 2^32 - 1. */
static inline uint32_t kc_state_following(uint32_t sequence)
{
    return sequence == 0xFFFFFFFFu ? 0u : sequence + 1u;
}

/* 1 if a is newer than b in serial-number arithmetic, else 0. */
static inline int32_t kc_state_later(uint32_t a, uint32_t b)
{
    const uint64_t ahead = (UINT64_C(0x100000000) + a - b) & 0xFFFFFFFFu;

    return ahead != 0u && ahead < 0x80000000u ? 1 : 0;
}

/* 1 if the storage has all required functions, else 0. */
static inline int32_t kc_state_usable(const kc_storage_t *storage)
{
    return storage != 0 && storage->read != 0 && storage->write != 0 ? 1 : 0;
}

static KC_NOINLINE void kc_state_put_byte(kc_state_writer_t *w, uint8_t byte)
{
    const uint32_t within = w->at % KC_STATE_BLOCK;
    uint8_t *const block = w->at < KC_STATE_BLOCK ? w->first : w->block;

    block[within] = byte;
    w->crc = kc_crc32(w->crc, &byte, 1u);
    w->at++;
    if (w->at > KC_STATE_BLOCK && within == KC_STATE_BLOCK - 1u && w->failed == 0) {
        w->failed = w->storage->write(w->storage->context, w->slot, w->at - KC_STATE_BLOCK, w->block,
            KC_STATE_BLOCK);
    }
}

/* Write the low `bytes` bytes of a value, least significant byte first. */
static KC_NOINLINE void kc_state_put(kc_state_writer_t *w, uint64_t word, uint32_t bytes)
{
    uint32_t i;

    for (i = 0; i < bytes; i++) {
        kc_state_put_byte(w, (uint8_t)((word >> (8u * i)) & 0xFFu));
    }
}

/* Invalidate the first block of the slot and write the header. */
static inline void kc_state_begin(kc_state_writer_t *w, const kc_storage_t *storage, uint32_t slot,
    const kc_state_kind_t *kind, uint32_t sequence)
{
    uint32_t i;

    w->storage = storage;
    w->slot = slot;
    w->at = 0u;
    w->crc = 0u;
    for (i = 0; i < KC_STATE_BLOCK; i++) {
        w->first[i] = KC_STATE_BLANK;
    }
    w->failed = storage->erase != 0 ? storage->erase(storage->context, slot)
                                    : storage->write(storage->context, slot, 0u, w->first, KC_STATE_BLOCK);
    kc_state_put(w, KC_STATE_MAGIC, 4u);
    kc_state_put(w, KC_STATE_VERSION, 2u);
    kc_state_put(w, kind->abi, 2u);
    kc_state_put(w, sequence, 4u);
    kc_state_put(w, kind->payload, 4u);
    for (i = 0; i < KC_STATE_HASH; i++) {
        kc_state_put_byte(w, kind->plan_hash[i]);
    }
}

/* Write the CRC, pad the last block, then write the first block; 0 on success. */
static inline int32_t kc_state_finish(kc_state_writer_t *w)
{
    kc_state_put(w, w->crc, 4u);
    while (w->at % KC_STATE_BLOCK != 0u) {
        kc_state_put_byte(w, KC_STATE_BLANK);
    }
    if (w->failed == 0) {
        w->failed = w->storage->write(w->storage->context, w->slot, 0u, w->first, KC_STATE_BLOCK);
    }
    return w->failed;
}

static KC_NOINLINE uint8_t kc_state_take_byte(kc_state_reader_t *r)
{
    const uint32_t within = r->at % KC_STATE_BLOCK;
    uint8_t byte;

    if (within == 0u && r->failed == 0) {
        r->failed = r->storage->read(r->storage->context, r->slot, r->at, r->block, KC_STATE_BLOCK);
    }
    byte = r->failed == 0 ? r->block[within] : 0u;
    r->crc = kc_crc32(r->crc, &byte, 1u);
    r->at++;
    return byte;
}

/* Read an unsigned value of `bytes` bytes. */
static KC_NOINLINE uint64_t kc_state_take(kc_state_reader_t *r, uint32_t bytes)
{
    uint64_t word = 0u;
    uint32_t i;

    for (i = 0; i < bytes; i++) {
        word |= (uint64_t)kc_state_take_byte(r) << (8u * i);
    }
    return word;
}

/* Read a signed value of `bytes` bytes in two's complement. */
static inline int64_t kc_state_take_signed(kc_state_reader_t *r, uint32_t bytes)
{
    const uint64_t word = kc_state_take(r, bytes);
    const uint64_t sign = UINT64_C(1) << (8u * bytes - 1u);

    return (word & sign) == 0u ? (int64_t)word : -(int64_t)((sign - 1u) & ~word) - 1;
}

/* Mark the state as unsound unless the value is in [lo, hi]. */
static inline void kc_state_expect(kc_state_reader_t *r, int64_t word, int64_t lo, int64_t hi)
{
    if (word < lo || word > hi) {
        r->sound = 0;
    }
}

/* Read a value at a given position without moving the reader. */
static inline uint64_t kc_state_peek(kc_state_reader_t *r, uint32_t at, uint32_t bytes)
{
    uint64_t word = 0u;
    uint8_t found[8] = {0};
    uint32_t i;

    if (r->failed == 0) {
        r->failed = r->storage->read(r->storage->context, r->slot, at, found, bytes);
    }
    for (i = 0; i < bytes; i++) {
        word |= (uint64_t)found[i] << (8u * i);
    }
    return word;
}

/* Mark the state as unsound unless the position in the age order is below `held` and was not seen before;
 * `seen` has one bit per position. */
static inline void kc_state_expect_age_order(kc_state_reader_t *r, uint8_t *seen, int64_t order, int64_t held)
{
    if (order < 0 || order >= held || (((uint32_t)seen[order / 8] >> (order % 8)) & 1u) != 0u) {
        r->sound = 0;
    } else {
        seen[order / 8] = (uint8_t)(seen[order / 8] | (1u << (order % 8)));
    }
}

/* Check the header of a slot and stop before its payload. */
static inline kc_status_t kc_state_open(kc_state_reader_t *r, const kc_storage_t *storage,
    uint32_t slot,
    const kc_state_kind_t *kind, uint32_t *sequence)
{
    uint32_t magic, version, abi, payload, i;
    uint32_t other = 0u;

    r->storage = storage;
    r->slot = slot;
    r->at = 0u;
    r->crc = 0u;
    r->failed = 0;
    r->sound = 1;
    magic = (uint32_t)kc_state_take(r, 4u);
    version = (uint32_t)kc_state_take(r, 2u);
    abi = (uint32_t)kc_state_take(r, 2u);
    *sequence = (uint32_t)kc_state_take(r, 4u);
    payload = (uint32_t)kc_state_take(r, 4u);
    for (i = 0; i < KC_STATE_HASH; i++) {
        other |= (uint32_t)kc_state_take_byte(r) ^ kind->plan_hash[i];
    }
    if (r->failed != 0) {
        return KC_STATE_STORAGE;
    }
    if (magic != KC_STATE_MAGIC) {
        return KC_STATE_NONE;
    }
    if (version != KC_STATE_VERSION || abi != kind->abi) {
        return KC_STATE_OTHER_VERSION;
    }
    if (other != 0u) {
        return KC_STATE_OTHER_PLAN;
    }
    return payload != kind->payload ? KC_STATE_TRUNCATED : KC_OK;
}

/* Check the CRC after the payload, and that every value was in range. */
static inline kc_status_t kc_state_close(kc_state_reader_t *r)
{
    const uint32_t crc = r->crc;
    const uint32_t found = (uint32_t)kc_state_take(r, 4u);

    if (r->failed != 0) {
        return KC_STATE_STORAGE;
    }
    if (found != crc) {
        return KC_STATE_DAMAGED;
    }
    return r->sound != 0 ? KC_OK : KC_STATE_INCONSISTENT;
}

#endif
