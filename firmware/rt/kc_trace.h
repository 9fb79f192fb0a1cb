/* kerncast runtime: trace hooks, for finding where two runs part: nothing, unless they are asked for.
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
