// kerncast: words, streams and beats of Catapult.  SPDX-License-Identifier: Apache-2.0
//
// Apart from pragmas, this is the only file that differs between the dialects: vitis.hpp has the same names.
#ifndef KERNCAST_HLS_DIALECT_HPP
#define KERNCAST_HLS_DIALECT_HPP

#include <ac_channel.h>
#include <ac_int.h>

namespace kc {

template <int Bits>
using sint = ac_int<Bits, true>;
template <int Bits>
using uint = ac_int<Bits, false>;

template <class T>
using stream = ac_channel<T>;

// One transfer of a channel: the word, and the side channels of AXI4-Stream that the cores use.
template <int Bits, int User>
struct beat {
    ac_int<Bits, false> data;
    ac_int<Bits / 8, false> keep;
    ac_int<User, false> user;
    ac_int<1, false> last;
};

// Read a word if there is one.
template <class T>
bool try_read(stream<T> &from, T &word)
{
    return from.nb_read(word);
}

// A beat of a frame; `keep` marks its valid bytes.
template <int Bits, int User>
beat<Bits, User> make_beat(uint<Bits> data, uint<Bits / 8> keep, uint<User> user, bool last)
{
    beat<Bits, User> made;

    made.data = data;
    made.keep = keep;
    made.user = user;
    made.last = last ? 1 : 0;
    return made;
}

} // namespace kc

#endif
