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

template <int Bits>
using sint = ap_int<Bits>;
template <int Bits>
using uint = ap_uint<Bits>;

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
    bool read_nb(T &word)
    {
        if (words.empty()) {
            return false;
        }
        word = read();
        return true;
    }
    bool empty() const { return words.empty(); }

private:
    std::deque<T> words;
};
#endif

#if __has_include(<ap_axi_sdata.h>)
template <int Bits, int User>
using beat = hls::axis<ap_uint<Bits>, User, 0, 0>;
#else
// Replacement of hls::axis with the side channels that the cores use.
template <int Bits, int User>
struct beat {
    ap_uint<Bits> data;
    ap_uint<Bits / 8> keep, strb;
    ap_uint<User> user;
    ap_uint<1> last;
};
#endif

// Read a word if there is one.
template <class T>
bool try_read(stream<T> &from, T &word)
{
    return from.read_nb(word);
}

// A beat of a frame; `keep` marks its valid bytes.
template <int Bits, int User>
beat<Bits, User> make_beat(uint<Bits> data, uint<Bits / 8> keep, uint<User> user, bool last)
{
    beat<Bits, User> made;

    made.data = data;
    made.keep = keep;
    made.strb = keep;
    made.user = user;
    made.last = last ? 1 : 0;
    return made;
}

} // namespace kc

#endif
