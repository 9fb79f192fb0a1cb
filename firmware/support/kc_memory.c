/* The four functions that compilers call even where there is no C library.
 * The empty asm keeps a compiler from recognising its own memcpy in the loop and calling it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);

#define KEEP_LOOP() __asm volatile("" ::: "memory")

void *memcpy(void *to, const void *from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if ((((uintptr_t)t | (uintptr_t)f) & 3u) == 0u) {
        for (; count >= 4u; count -= 4u, t += 4, f += 4) {
            *(uint32_t *)(void *)t = *(const uint32_t *)(const void *)f;
            KEEP_LOOP();
        }
    }
    for (; count != 0u; count--) {
        *t++ = *f++;
        KEEP_LOOP();
    }
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if ((uintptr_t)t <= (uintptr_t)f) {
        return memcpy(to, from, count); /* it copies upwards */
    }
    while (count != 0u) {
        count--;
        t[count] = f[count];
        KEEP_LOOP();
    }
    return to;
}

void *memset(void *to, int value, size_t count)
{
    uint8_t *t = to;
    for (; count != 0u; count--) {
        *t++ = (uint8_t)value;
        KEEP_LOOP();
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
    const uint8_t *p = a;
    const uint8_t *q = b;
    for (; count != 0u; count--, p++, q++) {
        if (*p != *q) {
            return *p < *q ? -1 : 1;
        }
    }
    return 0;
}
