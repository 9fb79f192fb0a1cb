"""proofs: list the mutants that are equivalent to the original, with the reasons."""

from __future__ import annotations

_HALF = "half = (int64_t) ((((uint64_t) v) >> (s - 1)) & 1U)"
_BELOW = "const uint64_t below = ((uint64_t) v) & ((1ULL << (s - 1)) - 1U)"
_EVEN = "(below == 0U) && ((((uint64_t) floor_) & 1U) == 0U)"
_ALIGN = "return (s >= 0) ? (kc_shift_floor(v, s)) : (v * (1LL << (-s)));"
_NARROW = ("return kc_saturate((s < 0) ? (kc_arithmetic_shift(v, s)) : (kc_shift_round(v, s, rounding)), "
           "lo, hi);")
_SATURATE = "return (v < lo) ? (lo) : ((v > hi) ? (hi) : (v));"
_LOW = "const uint64_t low = ((uint64_t) v) & ((sign << 1) - 1U)"
_FRACTION_16 = "const uint32_t fraction = ((uint32_t) t) & 0xFFFFFU"
_FRACTION_32 = "const uint32_t fraction = (uint32_t) t"
_LINE = "const uint32_t line = (uint32_t) (((((uint64_t) z) << (bits - 2)) * 0xB17217F8LU) >> 32)"
_TAIL = ("const uint32_t tail = (bits < 8) ? "
         "(line - ((uint32_t) ((((uint64_t) line) * line) >> (31 + bits)))) : (line)")
_FALL = "const uint32_t fall = (step + tail) - ((uint32_t) ((((uint64_t) step) * tail) >> (30 + bits)))"
_VALUE = ("const uint32_t value = "
          "head - ((fall + ((uint32_t) ((((uint64_t) head) * fall) >> 32))) >> (bits - 2))")
_WORD = "const int64_t word = kc_shift_round(words[i], s, 1)"
_LARGER = "kc_magnitude(word) > used"
_FIRST_BIT = "bit = 1LL << 30"
_SIZE = "const int64_t size = (num < 0) ? (-num) : (num)"

_SIZE_OF = "return acc + ((u > v) ? (u - v) : (v - u));"
_TURN = "const int64_t turn = (low < 0x80000000LL) ? (low) : (0x100000000LL - low)"
_ENTRY = "const int32_t index = (int32_t) (turn >> 23)"
_HALF_SQUARE = "const int64_t half = (b * b) >> 39"
_SIXTH = "const int64_t sixth = (((b * half) >> 38) * 0x5555) >> 16"

_SUM = "sum = (((uint64_t) high) << (32 - s)) + ((uint64_t) rest)"

_BIT = "the value is one bit, 0 or 1"
_LAST_BIT = "the last bit is kept by every conversion"
_AND = "the other operand is uint64_t, and & converts both"
_ZERO = "a shift by 0 is no change, either way"
_RAIL = "at the limit both branches return the limit"
_SMALL = "the values fit: "
_CUT = "((uint32_t) ("
_ABOVE = "2^31 squared is above every v: that bit stays 0"
_CONVERTS = "the assignment converts by itself"
_IN_RANGE = "in the range of the claim nothing overflows; outside it, unsigned arithmetic wraps"
_WIDER = "what is computed in 64 bits is the same modulo 2^32"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("kc_shift_round", "int64_t half", "int32_t half"): _BIT,
    ("kc_shift_round", _HALF, "half = (((uint64_t) v) >> (s - 1)) & 1U"): _BIT,
    ("kc_shift_round", _HALF, "half = (int32_t) ((((uint64_t) v) >> (s - 1)) & 1U)"): _BIT,
    ("kc_shift_round", _BELOW, _BELOW.replace("((uint64_t) v)", "v")): _AND,
    ("kc_shift_round", _EVEN, _EVEN.replace("((uint64_t) floor_)", "floor_")): _LAST_BIT,
    ("kc_shift_round", _EVEN, _EVEN.replace("uint64_t", "uint32_t")): _LAST_BIT,
    ("kc_arithmetic_shift", _ALIGN, _ALIGN.replace("s >= 0", "s > 0")): _ZERO,
    ("kc_arithmetic_shift", _ALIGN, _ALIGN.replace("s >= 0", "s >= 1")): _ZERO,
    ("kc_saturate", _SATURATE, _SATURATE.replace("v < lo", "v <= lo")): _RAIL,
    ("kc_saturate", _SATURATE, _SATURATE.replace("v > hi", "v >= hi")): _RAIL,
    ("kc_wrap", _LOW, _LOW.replace("((uint64_t) v)", "v")): _AND,
    ("kc_wrap", _LOW, _LOW.replace("sign << 1", "sign << 2")):
        "what is above the sign bit is masked again in the next line",
    ("kc_requantise", _NARROW, _NARROW.replace("s < 0", "s <= 0")): _ZERO,
    ("kc_requantise", _NARROW, _NARROW.replace("s < 0", "s < 1")): _ZERO,
    ("kc_square_diff", "const int64_t d = u - v", "const int64_t d = v - u"): "only its square is used",
    ("kc_mul_shift", _SUM, _SUM.replace("((uint64_t) high)", "high")): _IN_RANGE,
    ("kc_mul_shift", _SUM, _SUM.replace("((uint64_t) rest)", "rest")): _CONVERTS,
    ("kc_mul_shift", "return (int64_t) sum;", "return sum;"): _CONVERTS,
    ("kc_abs_diff", _SIZE_OF, _SIZE_OF.replace("u > v", "u >= v")): "both arms are 0 where u = v",
    ("kc_mul_shift", "s >= 32", "s > 32"): "both formulas hold for s = 32",
    ("kc_mul_shift", "s >= 32", "s >= 33"): "both formulas hold for s = 32",
    ("kc_bit_length", "int32_t length = 0", "int16_t length = 0"): f"{_SMALL}0 <= length <= 62",
    ("kc_bit_length", "int32_t step", "int16_t step"): f"{_SMALL}0 <= step <= 32",
    ("kc_divide", _SIZE, _SIZE.replace("num < 0", "num <= 0")): "-0 is 0",
    ("kc_divide", _SIZE, _SIZE.replace("num < 0", "num < 1")): "-0 is 0",
    ("kc_divide", "int32_t up", "int16_t up"): f"{_SMALL}0 <= up <= 61",
    ("kc_divide", "int32_t up_den", "int16_t up_den"): f"{_SMALL}0 <= up_den <= 61",
    ("kc_exp2_16", _FRACTION_16, _FRACTION_16.replace("((uint32_t) t)", "t")): "the mask leaves 20 bits",
    ("kc_exp2_32", _FRACTION_32, _FRACTION_32.replace("(uint32_t) t", "t")): _CONVERTS,
    ("kc_exp2_32", _LINE, _LINE.replace("(uint32_t) (", "").replace(">> 32)", ">> 32")): _CONVERTS,
    ("kc_exp2_32", _TAIL, _TAIL.replace(_CUT, "(").replace("(31 + bits)))", "(31 + bits))")): _WIDER,
    ("kc_exp2_32", _TAIL, _TAIL.replace("bits < 8", "bits < 7")): "no table has an index of 7 bits",
    ("kc_exp2_32", _FALL, _FALL.replace(_CUT, "(").replace("(30 + bits)))", "(30 + bits))")): _WIDER,
    ("kc_exp2_32", _VALUE, _VALUE.replace(_CUT, "(").replace(">> 32)))", ">> 32))")): _WIDER,
    ("kc_block_scale_16", "int64_t used = 0", "int32_t used = 0"): f"{_SMALL}used < 2^15",
    ("kc_block_scale_32", "int64_t used = 0", "int32_t used = 0"): f"{_SMALL}used < 2^31",
    ("kc_block_scale_16", "words[i] = (int16_t) word", "words[i] = word"): _CONVERTS,
    ("kc_block_scale_32", "words[i] = (int32_t) word", "words[i] = word"): _CONVERTS,
    ("kc_block_scale_16", _WORD, _WORD.replace("int64_t", "int32_t")): f"{_SMALL}|word| <= 2^15",
    ("kc_block_scale_32", _WORD, _WORD.replace("int64_t", "int32_t")): f"{_SMALL}-2^31 <= word < 2^31",
    ("kc_block_scale_16", _LARGER, _LARGER.replace(">", ">=")): "the largest of equals is the same",
    ("kc_block_scale_32", _LARGER, _LARGER.replace(">", ">=")): "the largest of equals is the same",
    ("kc_isqrt_ceil", "int64_t bit", "int32_t bit"): f"{_SMALL}bit <= 2^30",
    ("kc_isqrt_ceil", _FIRST_BIT, _FIRST_BIT.replace("1LL", "2LL")): _ABOVE,
    ("kc_isqrt_ceil", _FIRST_BIT, _FIRST_BIT.replace("30", "31")): _ABOVE,
    ("kc_divide", "int64_t d", "int32_t d"): f"{_SMALL}2^30 <= d < 2^31",
    ("kc_abs_sinpi", _TURN, _TURN.replace("low <", "low <=")): "both arms are 2^31 there",
    ("kc_abs_sinpi", _TURN, _TURN.replace("0x80000000LL", "0x80000001LL")): "both arms are 2^31 there",
    ("kc_abs_sinpi", _ENTRY, _ENTRY.replace("const int32_t", "const int16_t")): f"{_SMALL}index <= 256",
    ("kc_abs_sinpi", _ENTRY, _ENTRY.replace("(int32_t) (turn >> 23)", "turn >> 23")): f"{_SMALL}index <= 256",
    ("kc_abs_sinpi", _ENTRY, _ENTRY.replace("(int32_t)", "(int16_t)")): f"{_SMALL}index <= 256",
    ("kc_abs_sinpi", _HALF_SQUARE, _HALF_SQUARE.replace("int64_t", "int32_t")): f"{_SMALL}half < 2^23",
    ("kc_abs_sinpi", _SIXTH, _SIXTH.replace("int64_t", "int32_t")): f"{_SMALL}sixth < 2^14",
}
