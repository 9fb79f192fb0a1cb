"""formal: define the claims about modules, with parameters and depth."""

from __future__ import annotations

from .prover import Claim

_CAST = ("kc_shift_round", "kc_shift_sticky", "kc_arithmetic_shift", "kc_saturate")
_ROUNDINGS = {0: "floor", 1: "half up", 2: "half to even"}
#: A memory of rows; the modules that write the words of a sample or a model to one.
_BANKS = ("kc_ram", "kc_ram_banked")
_ROWS = ("kc_ram_lane_of", *_BANKS, "kc_ram_word_mask", "kc_ram_wordwise")
_RULES = "valid stays high and the beat is stable until it is accepted"

_COMBINATIONAL = (
    *(Claim("kc_shift_round", f"v / 2^s, {name}: by inequalities", "v: 64 bits, 0 <= s <= 62",
            parameters={"V_BITS": 64, "ROUNDING": number}) for number, name in _ROUNDINGS.items()),
    Claim("kc_shift_sticky", "floor(2 v / 2^s), and a sticky bit below it: whether that is inexact",
          "v: 64 bits, 0 <= s <= 62"),
    Claim("kc_arithmetic_shift", "floor(v / 2^s); v 2^-s for s < 0 where that fits",
          "v: 64 bits, -62 <= s <= 62"),
    Claim("kc_saturate", "no value of [LO, HI] is nearer to v", "v: 64 bits; LO, HI of 16 bits"),
    Claim("kc_wrap", "the 16-bit integer that equals v modulo 2^16", "v: 64 bits"),
    Claim("kc_magnitude", "v, or -v - 1 for v < 0", "v: 64 bits", parameters={"V_BITS": 64}),
    Claim("kc_bit_length", "2^(q-1) <= v < 2^q; 0 for 0", "v: 63 bits"),
    Claim("kc_ram_lane_of", "columns are stored row by row, lane by lane; each vector starts a row",
          "5 columns, 4 lanes", parameters={"COLUMNS": 5, "LANES": 4, "COLUMN_BITS": 3}),
    Claim("kc_ram_word_mask",
          "writes the word to its lane of a row, and 0 behind the last word of a vector",
          "4 words of 16 bits", parameters={"LANES": 4}),
)

_PIPELINES = (
    *(Claim("kc_requantise", f"v / 2^s, {name}, or v 2^-s; saturated; `outside` if that changed it; after "
            f"{clocks} clocks", "v: 24 bits, -62 <= s <= 62", depth=clocks + 2, below=_CAST,
            parameters={"V_BITS": 24, "OUT_BITS": 16, "ROUNDING": number, "CLOCKS": clocks})
      for clocks in (2, 3) for number, name in _ROUNDINGS.items()),
    Claim("kc_scale_add", "base + a b / 2^3, half up, saturated", "a, b: 4 and 5 bits", depth=5,
          below=("kc_shift_round", "kc_saturate"),
          parameters={"A_BITS": 4, "B_BITS": 5, "BASE_BITS": 4, "SHIFT": 3, "OUT_BITS": 4, "LO": -8,
                      "HI": 7}),
    Claim("kc_mac", "acc + floor(a b / 2^SHIFT), or that alone after `first`; unchanged without `valid`",
          "a, b: 6 and 7 bits, acc: 24 bits", depth=4,
          parameters={"A_BITS": 6, "B_BITS": 7, "ACC_BITS": 24, "SHIFT": 3}),
    *(Claim("kc_square_diff", "acc + (u - v)^2, or that alone after `first`; unchanged without `valid`",
            f"u, v: 6 bits {'with' if sign else 'without'} sign", depth=5,
            parameters={"X_BITS": 6, "X_SIGNED": sign, "ACC_BITS": 24})
      for sign in (0, 1)),
    *(Claim("kc_abs_diff", "acc + |u - v|, or that alone after `first`; unchanged without `valid`",
            f"u, v: 16 bits {'with' if sign else 'without'} sign", depth=4, parameters={"X_SIGNED": sign})
      for sign in (0, 1)),
    *(Claim("kc_mul_shift", f"floor(a c / 2^{shift}), after {clocks} clocks", f"a: {a} bits, c: {c} bits",
            depth=clocks + 2, parameters={"A_BITS": a, "C_BITS": c, "SHIFT": shift, "CLOCKS": clocks})
      for clocks, a, c, shift in ((2, 34, 2, 0), (2, 36, 4, 33), (3, 34, 2, 0), (3, 36, 4, 33))),
    Claim("kc_block_scale", "v / 2^s, half up, and the largest magnitude since `first`",
          "v: 32 bits, s: 6 bits", depth=3, below=("kc_shift_round", "kc_magnitude"),
          parameters={"WIDTH": 32}),
    *(Claim("kc_argmin", "no key since `clear` is smaller, or equal and "
            f"{'younger' if highest else 'older'}", "keys: 32 bits, age orders: 8 bits", depth=6,
            parameters={"HIGHEST_ORDER": highest}) for highest in (0, 1)),
    Claim("kc_divide_round", "q with q 2 den <= 2 num + den < (q + 1) 2 den, exactly NUM_BITS + 4 clocks "
          "after the last start", "num, den: 5 bits", depth=14, mode="bmc",
          parameters={"NUM_BITS": 5, "DEN_BITS": 5}),
)

_STREAMS = (
    Claim("kc_affine_stream", "one output beat per input beat, in order, converted with its own offset "
          f"and gain; {_RULES}", "raw: 6 bits, 2 entries", depth=14,
          below=("kc_rom", *_CAST, "kc_requantise", "kc_affine"),
          parameters={"RAW_BITS": 6, "TDATA_BITS": 8, "OFFSET_BITS": 6, "GAIN_BITS": 5, "ENTRIES": 2,
                      "OFFSETS": 0b000101_111101, "GAINS": 0b01011_00111, "SHIFT": 3, "OUT_BITS": 6,
                      "LO": -32, "HI": 31}),
    Claim("kc_rom_sender", f"the entries in order, each once, tlast with the last; {_RULES}",
          "5 entries of 8 bits", depth=8, below=("kc_rom",),
          parameters={"WIDTH": 8, "DEPTH": 5, "TABLE": 0x5A17C3E209}),
    Claim("kc_frame", "each word of a frame is written once, to its address; the frame is held from "
          "tlast on; a frame error if and only if tlast is not with the last word",
          "5 words of 16 bits", depth=10,
          parameters={"WORDS": 5}),
    Claim("kc_ram_wordwise",
          "a value of a row is the last one written, and 0 after the last value of a vector",
          "3 rows of 4 words of 4 bits", depth=10, mode="bmc", below=(*_BANKS, "kc_ram_word_mask"),
          parameters={"WIDTH": 4, "ROWS": 3, "LANES": 4}),
    *(Claim("kc_learner_vectors", "a word of a slot is the last one written, or that of the sample after an "
            "exchange; the buffer has the former words of the slot",
            f"2 slots of {rows} row{'s' if rows > 1 else ''} of 2 words of 4 bits", depth=10,
            mode="bmc", below=(*_BANKS, "kc_ram_word_mask"),
            parameters={"WIDTH": 4, "SLOTS": 2, "ROWS": rows, "LANES": 2}) for rows in (1, 2)),
    Claim("kc_sum_tree", "the sum of the words of log2(LANES) clocks before", "8 words of 6 bits", depth=6,
          parameters={"WIDTH": 6, "LANES": 8}),
    Claim("kc_max_tree", "the largest of the words of log2(LANES) clocks before", "8 words of 6 bits",
          depth=6, parameters={"WIDTH": 6, "LANES": 8}),
    Claim("kc_sample_buffer", "each column of a sample is written once; the sample is held until `done`, "
          "with its target, if tlast is with the last beat; otherwise one frame error",
          "3 columns of 4 bits and a target", depth=12,
          below=("kc_rom", *_CAST, "kc_requantise", "kc_affine", *_ROWS),
          parameters={"COLUMNS": 3, "TARGET": 1, "RAW_BITS": 4, "TDATA_BITS": 4, "X_BITS": 4,
                      "OFFSET_BITS": 2, "GAIN_BITS": 2, "LO": -8, "HI": 7}),
    Claim("kc_sample_buffer", "the same for two samples at a time; the newer is not written over the "
          "older", "3 columns of 4 bits, 2 lanes", depth=14,
          below=("kc_rom", *_CAST, "kc_requantise", "kc_affine", *_ROWS),
          parameters={"COLUMNS": 3, "SLOTS": 2, "LANES": 2, "RAW_BITS": 4, "TDATA_BITS": 4, "X_BITS": 4,
                      "OFFSET_BITS": 2, "GAIN_BITS": 2, "LO": -8, "HI": 7}),
    Claim("kc_model_store", "each word of a model is written once, to its address; the model is held from "
          "the last beat of a valid frame to the first of the next; an invalid frame is one frame error",
          "3 vectors of 2 columns of 6 bits", depth=12, below=_ROWS,
          parameters={"WORD": 6, "VECTORS": 3, "COLUMNS": 2, "TAG": 0x25, "EXPONENT_MIN": -2,
                      "EXPONENT_MAX": 3}),
    Claim("kc_model_store", "the same in rows", "3 vectors of 3 columns of 6 bits, 2 lanes", depth=15,
          below=_ROWS,
          parameters={"WORD": 6, "VECTORS": 3, "COLUMNS": 3, "LANES": 2, "TAG": 0x25, "EXPONENT_MIN": -2,
                      "EXPONENT_MAX": 3}),
    Claim("kc_model_store", "the same on a grid; other vectors, and fewer than all, are an invalid frame",
          "3 vectors of 1 column of 6 bits, step 5", depth=12, below=_ROWS,
          parameters={"WORD": 6, "VECTORS": 3, "COLUMNS": 1, "TAG": 0x25, "EXPONENT_MIN": -2,
                      "EXPONENT_MAX": 3, "GRID_STEP": 5}),
    Claim("kc_model_store", "the same on a grid, two vectors in a row",
          "5 vectors of 1 column of 6 bits, step 5", depth=16, below=_ROWS,
          parameters={"WORD": 6, "VECTORS": 5, "COLUMNS": 1, "VECTOR_LANES": 2, "TAG": 0x25,
                      "EXPONENT_MIN": -2, "EXPONENT_MAX": 3, "GRID_STEP": 5}),
    Claim("kc_state_writer", "each word of a model, and each slot, is written once, to its address; slots "
          "are accepted only after a complete model; an invalid frame is one frame error, and nothing of it "
          "is written after the fault", "3 slots of 2 columns of 6 bits", depth=8,
          below=("kc_ram_lane_of",), parameters={"WORD": 6, "SLOTS": 3, "COLUMNS": 2, "DISTANCE_BITS": 9,
                                                "TAG": 0x25}),
    Claim("kc_state_writer", "the same in rows", "3 slots of 3 columns of 6 bits, 2 lanes", depth=8,
          below=("kc_ram_lane_of",), parameters={"WORD": 6, "SLOTS": 3, "COLUMNS": 3, "LANES": 2,
                                                "DISTANCE_BITS": 9, "TAG": 0x25}),
    Claim("kc_solution_sender", "the exponent, then every word once, in order, scaled and saturated; tlast "
          f"with the last; for a failed solution only 0; {_RULES}", "2 words of 4 bits", depth=11,
          below=(*_CAST, "kc_requantise"),
          parameters={"W": 4, "WORDS": 2, "SCALE": 0x60000000, "LO": -8, "HI": 7}),
    Claim("kc_solution_sender", "the same, with words that are sent as they are", "2 words of 4 bits",
          depth=11, below=(*_CAST, "kc_requantise"),
          parameters={"W": 4, "WORDS": 2, "SCALED": 0, "LO": -8, "HI": 7}),
    Claim("kc_model_sender", "tag, count, exponent, then values and coefficient for each input beat, which "
          f"is accepted once; {_RULES}", "2 columns of 8 bits", depth=8,
          parameters={"WORD": 8, "VECTORS": 3, "COLUMNS": 2, "TAG": 0xA5}),
    Claim("kc_beat_take", "beat AT is taken out and kept, the one before it receives its tlast; a frame "
          f"without beat AT becomes one beat longer; {_RULES}", "beat 3 of 4 bits", depth=9,
          parameters={"WIDTH": 4, "AT": 3}),
    Claim("kc_beat_take", "the same, but a frame without beat AT passes, and the value is 0",
          "beat 1 of 4 bits", depth=6, parameters={"WIDTH": 4, "AT": 1, "STRICT": 0}),
    Claim("kc_beat_insert", f"one more beat is behind beat AT - 1, and receives its tlast; {_RULES}",
          "beat 3 of 4 bits", depth=6, parameters={"WIDTH": 4, "USER_BITS": 2, "AT": 3}),
    Claim("kc_beat_insert", "the same, but a frame that ends with beat AT - 1 passes", "beat 1 of 4 bits",
          depth=6, parameters={"WIDTH": 4, "USER_BITS": 2, "AT": 1, "ALWAYS": 0}),
    Claim("kc_state_reader", f"{_RULES}, and so are the addresses that it reads",
          "4 slots of 3 columns, 2 lanes", depth=7, below=("kc_ram_lane_of",),
          parameters={"SLOTS": 4, "COLUMNS": 3, "LANES": 2}),
    Claim("kc_registers", "AXI4-Lite: exactly one response per request, stable until accepted; an error "
          "or interrupt cause stays until a one is written or the core is reset; a refused access is an "
          "error; a command lasts one clock",
          "all", depth=6, parameters={"ERRORS": 2}),
    Claim("kc_soft_reset", "valid stays high until the beat is accepted, even in a soft reset; the core "
          "is reset only between output frames; the rest of an interrupted input frame is dropped, until "
          "`discard`",
          "2 inputs, 2 outputs", depth=8, parameters={"INPUTS": 2, "OUTPUTS": 2}),
)

CLAIMS = (*_COMBINATIONAL, *_PIPELINES, *_STREAMS)

#: Faults, one at a time: module, original text, replacement. Each must break a claim of its module.
MUTANTS = (
    ("kc_shift_round", "half && (!tie || floor[0])", "half && (!tie || !floor[0])"),
    ("kc_arithmetic_shift", "v >>> $unsigned(s)", "v >> $unsigned(s)"),
    ("kc_saturate", "wide > HI ? HI", "wide >= HI ? LO"),
    ("kc_wrap", "v[BITS-1:0]", "{1'b0, v[BITS-2:0]}"),
    ("kc_bit_length", "|any[7:6] : |any[3:2]", "|any[7:6] : any[3]"),
    ("kc_shift_sticky", "shifted[0] || |lost", "shifted[0]"),
    ("kc_requantise", "{1'b0, s[2:0]} + 4'd2", "{1'b0, s[2:0]} + 4'd1"),
    ("kc_mac", "first_reg ?", "first ?"),
    ("kc_square_diff", "X_SIGNED != 0 && u[X_BITS-1]", "u[X_BITS-1]"),
    ("kc_abs_diff", "-diff_reg : diff_reg", "~diff_reg : diff_reg"),
    ("kc_mul_shift", "(high_reg << LEFT) +", "(high_reg << LEFT) |"),
    ("kc_block_scale", "size > used_reg", "size < used_reg"),
    ("kc_argmin", "key == min_key_reg && goes_first", "key == min_key_reg"),
    ("kc_divide_round", "{1'b0, num, 1'b0} + TWICE_BITS'(den)", "{1'b0, num, 1'b0}"),
    ("kc_affine_stream", "else if (m_axis_tready) begin", "else begin"),
    ("kc_rom_sender", "!valid_reg || !m_axis_tready", "1'b1"),
    ("kc_frame", "frame_error_reg <= last != s_axis_tlast", "frame_error_reg <= s_axis_tlast && !last"),
    ("kc_frame", "assign s_axis_tready = state_reg != HOLD", "assign s_axis_tready = 1'b1"),
    ("kc_frame", "frame_error_held_reg <= last != s_axis_tlast",
     "frame_error_held_reg <= s_axis_tlast && !last"),
    ("kc_ram_lane_of", "last || lane == LAST_LANE", "lane == LAST_LANE"),
    ("kc_ram_word_mask", "last ? ~(here - 1'b1) : here", "here"),
    ("kc_ram_wordwise", "mask & {LANES{write_enable}}", "mask"),
    ("kc_learner_vectors", "exchange && inserting", "exchange"),
    ("kc_learner_vectors", "aside_row_reg <= exchange_row", "aside_row_reg <= row"),
    ("kc_sum_tree", "nodes[(2*i+1)*WIDTH +: WIDTH]", "nodes[2*i*WIDTH +: WIDTH]"),
    ("kc_max_tree", "u > v ? u", "u > v ? v"),
    ("kc_sample_buffer", "state_reg == SETTLE && valid_reg[LATENCY-2:0] == 0", "state_reg == SETTLE"),
    ("kc_sample_buffer", "if (done) read_slot_reg <= !read_slot_reg", "read_slot_reg <= 1'b0"),
    ("kc_sample_buffer", "if (last && !good) state_next = DROP", "if (last && !good) state_next = RECEIVE"),
    ("kc_model_store", "vector_reg + 1'b1 == total_reg", "vector_reg == total_reg"),
    ("kc_model_store", "count_next = {COUNT_BITS{1'b0}}", "count_next = count_reg"),
    ("kc_model_store", "row_end && vector_lane == LAST_VECTOR_LANE", "row_end"),
    ("kc_model_store", "if (is_alpha) grid_next = grid_reg + GRID_STEP", "grid_next = grid_reg + GRID_STEP"),
    ("kc_state_writer", "|| last != s_axis_state_tlast", "|| (s_axis_state_tlast && !last)"),
    ("kc_state_writer", "(of_slots && announced != count_reg)", "1'b0"),
    ("kc_solution_sender", "state_reg <= failed ? IDLE : FETCH", "state_reg <= FETCH"),
    ("kc_model_sender", "passes && m_axis_tready", "passes"),
    ("kc_beat_take", "!s_axis_tlast ? WAIT : STRICT ? SHORT : END", "WAIT"),
    ("kc_beat_take", "SHORT: if (taken) state_reg <= END", "SHORT: if (taken) state_reg <= FRONT"),
    ("kc_beat_insert", "last_reg ? FRONT : BEHIND", "FRONT"),
    ("kc_beat_insert", "passes && m_axis_tready", "m_axis_tready"),
    ("kc_state_reader", "taken = state_reg == OFFER && m_axis_state_tready", "taken = state_reg == OFFER"),
    ("kc_soft_reset", "& ~drop_reg;", ";"),
    ("kc_soft_reset", "&& unfinished == 0", ""),
    ("kc_soft_reset", "reset_reg ? {OUTPUTS{1'b0}} : core_m_tvalid", "core_m_tvalid"),
    ("kc_registers", "(cause_reg & ~acknowledge) | cause", "cause"),
    ("kc_soft_reset", "& ~({INPUTS{discard}} & cut)", ""),
    ("kc_registers", "reset_done ? 4'b0100 : ", ""),
    ("kc_registers", "access_reg <= refused ||", "access_reg <= "),
    ("kc_registers", "s_axil_bvalid = bvalid_reg", "s_axil_bvalid = bvalid_reg && s_axil_bready"),
)
