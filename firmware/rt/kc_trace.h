/* kerncast runtime: trace hooks for bisection; they expand to nothing unless KC_TRACE_ON is defined.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNCAST_KC_TRACE_H
#define KERNCAST_KC_TRACE_H

#ifdef KC_TRACE_ON
#include "kc_hil_trace.h"
#else
#define KC_TRACE(operation, signal, step, index, word) ((void)0)
#define KC_TRACE_ALL(operation, signal, step, words, first, last) ((void)0)
#endif

#endif
