// kerncast: words, streams and beats of Catapult.  SPDX-License-Identifier: Apache-2.0
//
// Apart from pragmas, this is the only file that differs between the dialects: vitis.hpp has the same names.
#ifndef KERNCAST_HLS_DIALECT_HPP
#define KERNCAST_HLS_DIALECT_HPP

#include <ac_channel.h>
#include <ac_int.h>

namespace kc {

template <int BITS>
using sint = ac_int<BITS, true>;
template <int BITS>
using uint = ac_int<BITS, false>;

template <class T>
using stream = ac_channel<T>;

// One transfer of a channel: the word, and the side channels of AXI4-Stream that the cores use.
template <int BITS, int USER>
struct beat {
    ac_int<BITS, false> data;
    ac_int<USER, false> user;
    ac_int<1, false> last;
};

// A beat of a frame.
template <int BITS, int USER>
beat<BITS, USER> make_beat(uint<BITS> data, uint<USER> user, bool last)
{
    beat<BITS, USER> made;

    made.data = data;
    made.user = user;
    made.last = last ? 1 : 0;
    return made;
}

} // namespace kc

#endif
