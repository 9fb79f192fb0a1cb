// kerncast: words, streams and beats of Vitis HLS.  SPDX-License-Identifier: Apache-2.0
//
// Apart from pragmas, this is the only file that differs between the dialects: catapult.hpp has the same
// names.
#ifndef KERNCAST_HLS_DIALECT_HPP
#define KERNCAST_HLS_DIALECT_HPP

#include <ap_int.h>

#ifndef __has_include
#define __has_include(header) 1
#endif
#if __has_include(<hls_stream.h>)
#include <hls_stream.h>
#else
#include <deque>
#endif
#if __has_include(<ap_axi_sdata.h>)
#include <ap_axi_sdata.h>
#endif

namespace kc {

template <int BITS>
using sint = ap_int<BITS>;
template <int BITS>
using uint = ap_uint<BITS>;

#if __has_include(<hls_stream.h>)
template <class T>
using stream = hls::stream<T>;
#else
// Replacement of hls::stream for C simulation if the folder of ap_int.h does not contain it.
template <class T>
class stream {
public:
    void write(const T &word) { words.push_back(word); }
    T read()
    {
        const T word = words.front();
        words.pop_front();
        return word;
    }
    bool empty() const { return words.empty(); }

private:
    std::deque<T> words;
};
#endif

#if __has_include(<ap_axi_sdata.h>)
template <int BITS, int USER>
using beat = hls::axis<ap_uint<BITS>, USER, 0, 0>;
#else
// Replacement of hls::axis with the side channels that the cores use.
template <int BITS, int USER>
struct beat {
    ap_uint<BITS> data;
    ap_uint<BITS / 8> keep, strb;
    ap_uint<USER> user;
    ap_uint<1> last;
};
#endif

// A beat of a frame, all of its bytes valid.
template <int BITS, int USER>
beat<BITS, USER> make_beat(uint<BITS> data, uint<USER> user, bool last)
{
    beat<BITS, USER> made;

    made.data = data;
    made.keep = -1;
    made.strb = -1;
    made.user = user;
    made.last = last ? 1 : 0;
    return made;
}

} // namespace kc

#endif
