/* kerncast runtime: storage of constant tables.  SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_TABLE_H
#define KERNCAST_KC_TABLE_H

/* An AVR copies constants to RAM unless __flash keeps them in flash; avr-gcc has __flash with -std=gnu99
 * only. */
#if defined(__AVR__) && defined(__FLASH) && !defined(__STRICT_ANSI__)
#define KC_TABLE const __flash
#define KC_TABLE_APART /* pointers to tables and to RAM differ */
#else
#define KC_TABLE const
#endif

#endif
