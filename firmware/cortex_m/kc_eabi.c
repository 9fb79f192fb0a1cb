/* The names under which ARM's ABI lets a compiler call the functions of kc_memory.c.  gcc's runtime has
 * none of them, and clang, which links with it, calls them.  SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);

void __aeabi_memcpy(void *to, const void *from, size_t count);
void __aeabi_memmove(void *to, const void *from, size_t count);
void __aeabi_memset(void *to, size_t count, int value);
void __aeabi_memclr(void *to, size_t count);

/* The same for what is known to be aligned to 4 or 8 bytes. */
#define ALIGNED(name, arguments) \
    __attribute__((alias(#name))) void name##4 arguments; \
    __attribute__((alias(#name))) void name##8 arguments

void __aeabi_memcpy(void *to, const void *from, size_t count)
{
    (void)memcpy(to, from, count);
}
ALIGNED(__aeabi_memcpy, (void *to, const void *from, size_t count));

void __aeabi_memmove(void *to, const void *from, size_t count)
{
    (void)memmove(to, from, count);
}
ALIGNED(__aeabi_memmove, (void *to, const void *from, size_t count));

void __aeabi_memset(void *to, size_t count, int value)
{
    (void)memset(to, value, count);
}
ALIGNED(__aeabi_memset, (void *to, size_t count, int value));

void __aeabi_memclr(void *to, size_t count)
{
    (void)memset(to, 0, count);
}
ALIGNED(__aeabi_memclr, (void *to, size_t count));
