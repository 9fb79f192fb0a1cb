/* kerncast runtime: the integer primitives in C99, header only.
 *
 * The definitions are in sim/primitives.py of kerncast; every function here equals its definition for all
 * arguments in the stated ranges. No libm, no libc, no undefined behaviour, no dependence on the width
 * of int.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef KERNCAST_KC_RT_H
#define KERNCAST_KC_RT_H

#include <stdint.h>

#include "kc_cast.h"
#include "kc_arith.h"
#include "kc_block.h"
#include "kc_exp2.h"
#include "kc_abs_sinpi.h"

#endif
