"""codegen.rtl: the predictor, a kernel expansion that is loaded over a stream."""

from __future__ import annotations

from typing import Any

from ...sim.backend import answer_width
from ...sim.errors import KerncastError, fail
from ...sim.formats import Format
from ...sim.plan import Plan
from ...sim.planner.words import WORD_CLASSES
from ...sim.window import Window, window
from ..c.context import context, real_value
from . import axi
from .axi import Ports, Stream
from .common import (
    LONGEST,
    MOST_WORDS,
    address_bits,
    affine,
    cast_format,
    expansion_magnitudes,
    literal,
    model_tag,
    most_vectors,
    primitives,
    render_files,
    signed_bits,
    vectors,
)
from .core import RtlCore

#: What every predictor is made of, besides the exponential of its word class; below comes before above.
MODULES = ("kc_shift_round", "kc_shift_sticky", "kc_arithmetic_shift", "kc_saturate", "kc_requantise",
           "kc_mac",
           "kc_mul_shift", "kc_rom", "kc_ram", "kc_ram_lane_of", "kc_ram_word_mask", "kc_ram_banked",
           "kc_ram_wordwise",
           "kc_sum_tree", "kc_affine", "kc_sample_buffer", "kc_model_store")
#: What the distances of a kernel are made of besides.
_OWN = {"squares": ("kc_square_diff",), "absolutes": ("kc_abs_diff",),
        "sines": ("kc_abs_diff", "kc_abs_sinpi")}

# Clocks of the parts, as their headers state them.
_MUL_SHIFT = 4
_EXP2 = {16: 6, 24: 8, 32: 7}
# Bits of t that the exponential takes.
_T_BITS = {16: 24, 24: 37, 32: 37}
# Bits of t of a Matern kernel; clocks of the root of a distance, and of the product with the exponential.
_MATERN_BITS = {16: 25, 24: 38, 32: 38}
_ROOT, _PRODUCT = 35, 4
_DISTANCE = {"squares": 3, "absolutes": 2, "sines": 12}
_COLUMN, _READ, _MAC, _NARROW = 1, 2, 2, 3
_BASE, _POWER = 3, 2
# Around the sample: conversion (5), hand-over, answer, output register.
_AROUND = 8
# Of samples that wait: clocks more than those of the rows, and of the words; less than those of two alone.
_NEXT, _TAKEN, _TWO = 1, 5, 4
#: From a sample on a grid to the first vector that its kernel reaches.
_LOCATE = 4


def reciprocal(read: Window) -> tuple[int, int]:
    """Return a factor and a right shift that divide by the grid step.

    The quotient is exact up to `high`: the factor exceeds 2**shift / step by less than 1, hence the product
    exceeds it by less than 1 / step.
    """
    shift = read.high.bit_length() + read.step.bit_length()
    return -(-(1 << shift) // read.step), shift


def _window_rows(read: Window, lanes: int, stored: int) -> int:
    """Return the maximum number of rows of `lanes` vectors that a window spans."""
    return min((read.vectors + 2 * lanes - 2) // lanes, -(-stored // lanes))


def kernel_latency(plan: Plan) -> int:
    """Return the clock cycles from a distance, or product, to its kernel value."""
    if "kernel_degree" in plan.constants:
        return _BASE + _POWER * (plan.integer("kernel_degree") - 1) + _NARROW
    if plan.matern:
        waits, root = _matern_waits(plan), _ROOT if plan.rooted else 0
        return _MUL_SHIFT + root + waits["matern_sum"] + 1 + waits["matern_q_wait"] + _PRODUCT
    return _MUL_SHIFT + _EXP2[plan.word]


def _matern_waits(plan: Plan) -> dict[str, int]:
    """Return the clock cycles from t to p(x).

    Also those that p(x) and the exponential wait for each other.
    """
    exponential, to_sum = _EXP2[16 if plan.word == 16 else 32], 4 if plan.matern == 1 else 11
    ahead = exponential - (to_sum + 1)
    return {"matern_sum": to_sum, "matern_q_wait": max(0, ahead), "matern_e_wait": max(0, -ahead)}


def kernel_template(plan: Plan) -> str:
    """Return the template of the module that maps a distance to its kernel value."""
    return "polynomial.sv" if plan.polynomial else "matern.sv" if plan.matern else "kernel.sv"


def distance_latency(plan: Plan) -> int:
    """Return the clock cycles from a vector's last column to its distance, or product."""
    return _COLUMN + _DISTANCE.get(plan.distance, _MAC)


def _intercept(plan: Plan) -> tuple[int, int] | None:
    """Return the range of the intercepts in LSB of y, or None if there are none."""
    if plan.bias:
        y = plan.signals["y"].format
        return y.lo, y.hi
    fixed = intercepts(plan)
    return (min(fixed), max(fixed)) if any(fixed) else None


def intercepts(plan: Plan) -> tuple[int, ...]:
    """Return the constant intercept of each output in LSB of y."""
    if not plan.fixed:
        return (0,) * plan.outputs
    return plan.tables["bias"].values if "bias" in plan.tables else (plan.integer("bias"),)


def framed(plan: Plan) -> bool:
    """Report whether a reply has several beats: several outputs, or label and margin."""
    return "C" in plan.sizes or bool(plan.decision)


def _framing(plan: Plan) -> int:
    """Return the clock cycles from the sums to the last of several beats.

    The outputs are cast one per clock cycle, and sent when all are known.
    """
    return plan.outputs + _narrow_clocks(plan) + answer_width(plan)


def _narrow_clocks(plan: Plan) -> int:
    """Return the clock cycles from the sum over the vectors to f."""
    return _NARROW + (_intercept(plan) is not None)


def _expansion_latency(plan: Plan) -> int:
    to_sum = distance_latency(plan) + kernel_latency(plan) + _READ + _MAC
    return to_sum if framed(plan) else to_sum + _narrow_clocks(plan)


def predictor_overhead(plan: Plan) -> int:
    """Return the clock cycles of a prediction except those that read its operands."""
    return _expansion_latency(plan) + _AROUND + (_framing(plan) - 1 if framed(plan) else 0)


def rows_of_vectors(plan: Plan, lanes: int = 1, count: int | None = None) -> int:
    """Return the clock cycles to read the stored vectors, ``ceil(D / lanes) * count``.

    By default `count` is the maximum number of stored vectors.
    """
    return -(-plan.sizes["D"] // lanes) * (vectors(plan) if count is None else count)


def read_clocks(plan: Plan, lanes: int = 1, count: int | None = None) -> int:
    """Return the clock cycles to read the vectors for a sample.

    The vectors of a :func:`window` are located first. Vectors of one column are read `lanes` at a time.
    """
    grid = window(plan)
    if grid is not None:
        return _LOCATE + _window_rows(grid, lanes, vectors(plan))
    if plan.sizes["D"] == 1:
        return -(-rows_of_vectors(plan, 1, count) // lanes)
    return rows_of_vectors(plan, lanes, count)


def predictor_cycles(plan: Plan, lanes: int = 1, count: int | None = None) -> int:
    """Return the clock cycles from a sample's first beat to its whole reply.

    No other sample is in progress, and neither side stalls.

    Parameters
    ----------
    plan : Plan
    lanes : int
        Hardware multipliers, a power of two.
    count : int, optional
        Stored vectors, at least one; by default as many as fit.

    Returns
    -------
    int
        ``D + ceil(D / lanes) * count + overhead + log2(lanes)``; with one column ``ceil(count / lanes)``
        rows, and on a grid with a :func:`window` only the rows of the window.
    """
    return plan.sizes["D"] + read_clocks(plan, lanes, count) + predictor_overhead(plan) + levels(lanes)


def predictor_period(plan: Plan, lanes: int = 1, count: int | None = None) -> float:
    """Return the mean number of clock cycles between replies at maximum throughput.

    Samples are always available, and replies are accepted at once.

    A sample is received while the vectors are read for the previous one; while its result is summed, the
    vectors are read for the next one.  At most two samples are in progress, which limits the throughput of
    models with few vectors.

    Returns
    -------
    float
        ``rows + 1``, or ``D + 5`` if the words of a sample take longer, or the clocks of a reply of several
        beats; more if summing few rows takes longer than reading them: then it is the mean of two replies.
    """
    rows, columns = read_clocks(plan, lanes, count), plan.sizes["D"]
    of_two = rows + predictor_overhead(plan) + levels(lanes) - _TWO
    return max(rows + _NEXT, columns + _TAKEN, of_two / 2, _framing(plan) if framed(plan) else 0)


def levels(lanes: int) -> int:
    """Return the number of levels of the adder tree over the lanes."""
    return lanes.bit_length() - 1


def no_candidates(plan: Plan, core: str) -> KerncastError:
    """Return the error for a trainer that compares pairs of sigma and lambda."""
    return fail("E307", f"the SystemVerilog {core} does not compare candidates",
                where="[toeplitz] candidates", value=plan.options["candidates"],
                allowed="one pair of sigma and lambda", remedy="remove `candidates`, or train and predict "
                                                               "in C")


def _refusal(plan: Plan) -> KerncastError | None:
    """Return the error if the predictor does not support a plan, otherwise None.

    The predictor needs integers, and vectors within the memory size.
    """
    if plan.second_order:
        return fail("E307", "the SystemVerilog predictor does not support random features",
                    where="[model] algorithm", value=plan.algorithm, allowed="another algorithm",
                    remedy="use the core learner, which also predicts, or predict in C")
    if plan.in_float32:
        return fail("E307", "the SystemVerilog predictor does not support float32",
                    where="[online] reduction",
                    value=plan.reduction, allowed="an integer reduction",
                    remedy="choose a reduction without _f32")
    if plan.linear:
        return fail("E307", "the SystemVerilog predictor does not support a linear part",
                    where="[online] linear", value=plan.options["linear"], allowed="none",
                    remedy="omit this key, or predict in C")
    if plan.tunes:
        return no_candidates(plan, "predictor")
    if plan.bias and plan.outputs > 1:
        return fail("E307", "the SystemVerilog predictor does not support trained intercepts of several "
                            "outputs", where="[toeplitz] bias", value="true", allowed="false, or one output",
                    remedy="remove `bias` or `outputs`, or predict in C")
    if plan.pairwise:
        return fail("E307", "the SystemVerilog predictor does not support voting between pairs of classes",
                    where="[output] classes", value=len(plan.class_names),
                    allowed="one output per class, or two classes",
                    remedy="predict in C, or train a OneVsRestClassifier, which has one output per class")
    words = plan.sizes["D"] + (plan.outputs if framed(plan) else 0)
    if vectors(plan) * words > MOST_WORDS:
        return fail("E306", "the model is too large for the SystemVerilog predictor",
                    where=plan.size_key,
                    value=f"{vectors(plan)} centers of {words} values",
                    allowed=f"at most {MOST_WORDS} values in all",
                    remedy="lower the number of centers, or use fewer columns or outputs")
    if vectors(plan) > most_vectors(plan):
        return fail("E306", "the number of centers does not fit a beat of the SystemVerilog predictor",
                    where=plan.size_key, value=f"{vectors(plan)} vectors",
                    allowed=f"up to {most_vectors(plan)}, since [numbers] word = {plan.word}",
                    remedy="use fewer centers, or a longer word length")
    return None


def _sum_context(plan: Plan, f: Format) -> dict[str, Any]:
    """Return the widths of the sum with the intercept; `sum` is None without one.

    The sum over the vectors saturates one LSB beyond the largest value that an intercept can bring back into
    the range of f.
    """
    found = _intercept(plan)
    if found is None:
        return {"sum": None, "intercept_text": ""}
    lo, hi = found
    limits = (f.lo, f.hi) if f == LONGEST else (f.lo - hi - 1, f.hi - lo + 1)
    bits = signed_bits((limits[0] + lo, limits[1] + hi))
    text = "" if plan.bias or framed(plan) else f"intercept = {lo} LSB of y"
    return {"intercept_text": text, "sum": {
        "intercepts": [literal(value, bits) for value in intercepts(plan)],
        "lo": literal(limits[0], 64), "hi": literal(limits[1], 64), "whole_bits": signed_bits(limits),
        "bits": bits, "intercept": f"{bits}'(intercept)" if plan.bias else literal(lo, bits)}}


def _acc_bits(plan: Plan) -> int:
    """Return the width that holds every sum over the vectors, its cast, and a product."""
    most = max(expansion_magnitudes(plan))
    return min(64, max(signed_bits((-most, most)), 2 * plan.word + 1 - plan.integer("mac_shift")))


def expansion_context(plan: Plan) -> dict[str, Any]:
    """Build the template context: widths, and names as in the C templates."""
    words, held, columns = WORD_CLASSES[plan.word], vectors(plan), plan.sizes["D"]
    distance, x = plan.signals["distance"].format, plan.signals["x"].format
    f = cast_format(plan, "f")
    polynomial = "kernel_degree" in plan.constants
    exponents = [plan.integer(name) if name in plan.constants else 0
                 for name in ("alpha_exp_min", "alpha_exp_max")]
    values, read = context(plan, str(plan.evidence.get("spec", "of no file"))), window(plan)
    return values | affine(plan) | _sum_context(plan, f) | {
        "W": plan.word, "vectors": held, "locate_clocks": _LOCATE,
        "divide": reciprocal(read) if read else None,
        "raw": plan.signals["x_raw"].format, "x": x,
        "x_lo": literal(plan.signals["x"].lo, 64), "x_hi": literal(plan.signals["x"].hi, 64),
        "f_bits": f.bits, "f_lo": literal(f.lo, 64), "f_hi": literal(f.hi, 64),
        "f_shift": literal(plan.integer("f_shift"), plan.word),
        "exponents": [literal(e, plan.word) for e in exponents],
        "distance_bits": distance.bits - (distance.signed and plan.signals["distance"].lo == 0),
        "distance_latency": distance_latency(plan), "acc_bits": _acc_bits(plan),
        "sum_left": int(plan.integer("f_shift") < exponents[1]),
        "k_lo": literal(plan.signals["kernel"].lo, 64), "k_hi": literal(plan.signals["kernel"].hi, 64),
        "out_shift": literal(plan.integer("kernel_out_shift") if polynomial else 0, 7),
        "t_bits": (_MATERN_BITS if plan.matern else _T_BITS)[plan.word], "t_end": words.t_end,
        "e_bits": 16 if plan.word == 16 else 32, **(_matern_waits(plan) if plan.matern else {}),
        "rounding": {name: plan.signals[name].rounding.value for name in ("x", "f")},
        "column_bits": address_bits(columns), "count_bits": held.bit_length(),
        "alpha_address_bits": address_bits(held),
        "kernel_c_text": real_value(plan, "kernel_c"),
        "exp2_cut": plan.constants.get("exp2_cut", 0), "kernel_latency": kernel_latency(plan),
        "expansion_latency": _expansion_latency(plan), **reply_context(plan),
        "narrow_clocks": _narrow_clocks(plan),
        "model": "model" if plan.bias else "one" if plan.outputs > 1 else "s_axis_model",
        "overhead": predictor_overhead(plan), "cycles": predictor_cycles(plan),
        "prediction": {n: (predictor_cycles(plan, n), predictor_period(plan, n)) for n in (1, 2, 4)},
        "exponent_text": f"{exponents[0]} to {exponents[1]}" if exponents[0] != exponents[1]
        else str(exponents[0]),
        "tag": f"0x{model_tag(plan):0{plan.word // 4}x}", "modules": predictor_modules(plan),
    }


_LABELS = {"sign": "1 if f > 0, else 0", "argmax": "that of the largest output; in a tie, the lowest such "
                                                   "label"}


def reply_context(plan: Plan) -> dict[str, Any]:
    """Return the template context of the frame of a reply."""
    label, bits = _LABELS.get(plan.decision, ""), plan.word + 1
    least = plan.integer("min_margin") if "min_margin" in plan.constants else 0
    if "min_margin" in plan.constants:
        label += f", or {len(plan.class_names)} (unknown) if the margin is below {least}"
    f = str(plan.signals["f"].format)
    outputs = f"{plan.outputs} outputs ({f})" if plan.outputs > 1 else f"the output ({f})"
    return {"framed": framed(plan), "reply_beats": answer_width(plan), "reply_clocks": _framing(plan),
            "word_rail": literal((1 << (plan.word - 1)) - 1, bits),
            "min_margin_literal": literal(least, bits),
            "reply_text": outputs + (f", label, margin ({f})" if plan.decision else ""), "label_text": label}


def predictor_modules(plan: Plan) -> tuple[str, ...]:
    """List the modules of hw/rtl that a predictor needs, dependencies first."""
    first = MODULES.index("kc_affine")
    own = _OWN.get(plan.distance, ())
    exp2 = (f"kc_exp2_{16 if plan.word == 16 else 32}",) if own else ()
    exp2 = (*exp2, "kc_bit_length", "kc_isqrt_ceil") if plan.rooted else exp2
    return (*MODULES[:first], *own, *exp2, *MODULES[first:], *(("kc_beat_take",) if plan.bias else ()),
            *(("kc_alpha_take",) if plan.outputs > 1 else ()))


def _ports(plan: Plan) -> Ports:
    """List the streams in the order of the template."""
    return Ports("predictor", (Stream("x", True, plan.signals["x_raw"].format.c_bits),
                               Stream("model", True, plan.word), Stream("f", False, plan.word, 3)),
                 ("x", "f"), (("error_x", "a sample frame has tlast at the wrong beat"),
                              ("error_model", "a rejected model")),
                 lanes=True)


def _render(plan: Plan) -> dict[str, str]:
    p, values = plan.name, expansion_context(plan) | _ports(plan).context(plan)
    modules = (*predictor_modules(plan), *axi.MODULES)
    values |= {"modules": modules}
    files = primitives(modules) | render_files({
        f"{p}_distance.sv": "distance.sv", f"{p}_kernel.sv": kernel_template(plan),
        f"{p}_expansion.sv": "expansion.sv",
        f"{p}_predictor.sv": "predictor.sv", f"{p}_predictor_axi.sv": "axi.sv",
        f"{p}_predictor.f": "predictor.f", "README.md": "predictor.md"}
        | ({f"{p}_outputs.sv": "outputs.sv"} if framed(plan) else {})
        | axi.software_files(p, "predictor"), values)
    return files | axi.package_files(p, "predictor", values, files)


PREDICTOR = RtlCore("predictor", _refusal, _render, _ports, predictor_cycles, predictor_period)
