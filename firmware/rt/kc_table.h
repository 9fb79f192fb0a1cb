/* kerncast runtime: where tables lie.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_TABLE_H
#define KERNCAST_KC_TABLE_H

/* A table is constant.  An AVR would copy it to its RAM, unless the compiler is told to leave it in flash
 * and read it there; avr-gcc knows the word for that in its own C (-std=gnu99) only. */
#if defined(__AVR__) && defined(__FLASH) && !defined(__STRICT_ANSI__)
#define KC_TABLE const __flash
#else
#define KC_TABLE const
#endif

#endif
