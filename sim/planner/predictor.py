"""sim.planner: the plan of a model trained elsewhere.

The vectors, the coefficients and the intercept are converted to integers. The conversion of the vectors is
that of the samples, to ADC counts and then to x, so that a sample that equals a vector has distance 0. All
coefficients share one exponent, which is the smallest one that fits the largest coefficient. Their LSB is a
power of two times the LSB of y, so that a shift converts their products to y. All coefficients are known, so
the formats do not depend on bounds on the data.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Words
from ..choices import SIGN
from ..data.predictor_file import TrainedModel
from ..data.raw import quantise
from ..decisions import pair_slots, spread
from ..errors import KerncastError, fail
from ..formats import MAX_SHIFT, Format, Overflow, Rounding
from ..plan import ConstantTable, Operations, Plan, Signal
from ..primitives import requantise
from ..spec import Spec
from .classes import min_margin, min_margin_option, rounded
from .counts import MOST_BYTES, operations
from .inputs import input_options, plan_inputs
from .kernel import kernel_tables, plan_kernel
from .log2 import ceil_log2, floor_log2
from .words import WORD_CLASSES, Affine


def vector_words(spec: Spec, x: Affine, vectors: NDArray[np.float64]) -> Words:
    """Convert floating-point vectors (N, D) to x; raise E246 if out of range."""
    fmt, s = spec.input.format, x.signal
    steps = np.array(spec.input.gains) * float(fmt.lsb)
    try:
        raw = quantise(vectors, steps, spec.input.offsets, fmt, "vectors")
    except KerncastError as error:
        remedy = ("pass samples that cover the range of the model's centers, or an [input] word that can "
                  "represent them")
        raise KerncastError([replace(p, remedy=remedy) for p in error.problems]) from None
    words = [[requantise((int(word) - offset) * gain, x.shift, s.rounding.value, s.lo, s.hi)
              for word, offset, gain in zip(row, x.offset, x.gain, strict=True)] for row in raw]
    return np.array(words, dtype=np.int64).reshape(raw.shape)


def _exponent(alpha: list[Fraction], bits: int) -> int:
    """Return the smallest exponent with which all coefficients fit `bits` signed bits.

    For the exponent e, the LSB of the coefficients is 2**e.
    """
    most, hi = max(map(abs, alpha), default=Fraction(0)), (1 << (bits - 1)) - 1
    if most == 0:
        return 0
    e = floor_log2(most / hi)
    return e if rounded(most / Fraction(2) ** e) <= hi else e + 1


def _too_far_apart(value: str, allowed: str) -> Exception:
    return fail("E278", "the scales of coefficients, kernel values and predictions differ too much",
                where="[output] word", value=value, allowed=allowed,
                remedy="choose a format for `word` in [output] whose full scale is close to the largest "
                       "prediction, or set [numbers] word = 32")


def _sum_shifts(sums: list[int], e: int, kernel: Signal) -> tuple[int, int]:
    """Return `mac_shift` and `f_shift`, the shifts of the products and of their sum.

    With these shifts, the sums of every output fit the accumulator and are converted to y. `sums` contains
    the sum of the magnitudes of the coefficients of each output. Raise E278 if no shifts satisfy this.
    """
    most = max(sums) * max(abs(kernel.lo), abs(kernel.hi))
    mac_shift = max(0, ceil_log2(most) - MAX_SHIFT) if most else 0
    f_shift = kernel.format.frac - e - mac_shift
    if not 0 <= f_shift <= MAX_SHIFT:
        raise _too_far_apart(f"a shift of {f_shift} bits", f"0 to {MAX_SHIFT} bits")
    return mac_shift, f_shift


def _alpha_signal(y: Signal, e: int, bits: int) -> Signal:
    """Return the signal of the coefficients, whose LSB is 2**e times the LSB of y."""
    fmt = Format(True, bits, y.format.frac - e)
    return Signal(fmt, Rounding.HALF_UP, Overflow.SATURATE, fmt.lo, fmt.hi, y.unit)


def _operations(sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    products = "N*M" if "M" in sizes else "N*C" if "C" in sizes else "N"
    return operations({"predict": {"kernel_values": "N", "distance_terms": "N*D",
                                   "multiplications": products}}, sizes)


def _options(spec: Spec, model: TrainedModel) -> dict[str, str]:
    named = {f"class_{label}": str(name) for label, name in enumerate(model.classes)}
    if spec.output.classes:
        named["decision"] = model.decision or SIGN
    return {**spec.kernel.options, **input_options(spec), "rounding": spec.numbers.rounding, **named,
            **min_margin_option(spec)}


class _Coefficients(NamedTuple):
    """Integer coefficients (N, M) of the vectors `held`.

    Their LSB is ``2**exponent`` times the LSB of y. `sums` contains the sum of their magnitudes for each
    output. `largest` is the largest magnitude of the original coefficients, relative to the full scale of y.
    """

    alpha: Words
    held: list[int]
    exponent: int
    sums: list[int]
    largest: float


def _coefficients(model: TrainedModel, y: Affine, bits: int, lowest: int) -> _Coefficients:
    """Round the coefficients to integers with an exponent of at least `lowest`."""
    real = [Fraction(a) / y.lsb for a in model.alpha.ravel().tolist()]
    e = max(_exponent(real, bits), lowest)
    whole = np.array([rounded(a / Fraction(2) ** e) for a in real], dtype=np.int64).reshape(
        len(model.alpha), -1)
    held = np.flatnonzero(whole.any(axis=1)).tolist() or [0]
    sums = np.abs(spread(whole, model.groups)).sum(axis=0).tolist()
    return _Coefficients(whole[held], held, e, sums,
                         float(max(map(abs, real)) / 2**y.signal.format.frac))


def _intercepts(model: TrainedModel, y: Affine) -> list[int]:
    """Return the intercept of each output in LSB of y; raise E278 for a large one."""
    bias = [rounded(Fraction(b) / y.lsb) for b in np.atleast_1d(model.bias).tolist()]
    if max(map(abs, bias)) >= 1 << 60:
        raise _too_far_apart(f"an intercept of {max(bias, key=abs)} LSB of y", "at most 60 bits")
    return bias


def _several(model: TrainedModel, held: list[int], bias: list[int]) -> dict[str, ConstantTable]:
    """Return the additional tables of a model with several outputs.

    They contain the intercepts, and, for one output per pair of classes, the indices of the coefficients.
    """
    short = all(-(1 << 31) <= b < 1 << 31 for b in bias)
    tables = {"bias": ConstantTable(Format(True, 32 if short else 64, 0), tuple(bias))}
    if not model.groups:
        return tables
    classes = len(model.groups)
    owner = np.repeat(np.arange(classes), model.groups)[held]
    ends = np.cumsum(np.bincount(owner, minlength=classes))
    slots = pair_slots(classes)
    return {**tables, "slot": _unsigned(slots.ravel().tolist()), "group_end": _unsigned(ends.tolist())}


def _unsigned(values: list[int]) -> ConstantTable:
    """Return a table in the shortest unsigned format that can represent the values."""
    bits = next(bits for bits in (8, 16, 32) if max(values) < 1 << bits)
    return ConstantTable(Format(False, bits, 0), tuple(values))


def _refuse_oversize(sizes: dict[str, int], bits: int) -> None:
    total = sizes["N"] * (sizes["D"] + sizes["M"]) * Format(True, bits, 0).c_bits // 8
    if total > MOST_BYTES:
        raise fail("E206", "the model is larger than any device can address", where="[predictor] file",
                   value=f"{total} bytes for {sizes['N']} centers, D = {sizes['D']}",
                   allowed=f"{MOST_BYTES} bytes", remedy="train a model with fewer centers")


def plan_predictor(spec: Spec, model: TrainedModel) -> Plan:
    """Return the plan of a kernel expansion with constant vectors and coefficients.

    Parameters
    ----------
    spec : Spec
        A spec with algorithm ``kernel_predictor``.
    model : TrainedModel
        The model, in floating point.

    Returns
    -------
    Plan
        Plan with vectors and coefficients in the tables ``v`` and ``alpha``, and the intercept in the
        constant ``bias``.  A vector whose coefficient is rounded to 0 is omitted.

    Raises
    ------
    KerncastError
        E204 if a format cannot represent a signal, E206 if the model is too large for 32-bit indices, E246 if
        a vector exceeds the range of the ADC counts, E278 if no shift converts the sums to y.
    """
    words = WORD_CLASSES[spec.numbers.word]
    columns = model.alpha.reshape(len(model.alpha), -1).shape[1]
    _refuse_oversize({"N": len(model.alpha), "D": spec.input.columns, "M": columns}, words.bits)
    inputs = plan_inputs(spec, words)
    x, y, signals = inputs.x, inputs.y, dict(inputs.signals)
    c = _coefficients(model, y, words.bits, signals["kernel"].format.frac - MAX_SHIFT)
    held, bias, several = c.held, _intercepts(model, y), model.alpha.ndim == 2
    mac_shift, f_shift = _sum_shifts(c.sums, c.exponent, signals["kernel"])
    signals["alpha"] = _alpha_signal(y.signal, c.exponent, words.bits)
    sizes = {"N": len(held), "D": spec.input.columns, **({"C": len(bias)} if several else {}),
             **({"M": columns} if model.groups else {})}
    v = vector_words(spec, x, model.vectors[held])
    return Plan(
        name=spec.model.name, algorithm="kernel_predictor", word=words.bits, options=_options(spec, model),
        sizes=sizes, signals=signals,
        constants={**inputs.constants, "mac_shift": mac_shift, "f_shift": f_shift,
                   **({} if several else {"bias": bias[0]}), **min_margin(spec, y),
                   **plan_kernel(spec, words, x)},
        tables={**kernel_tables(spec, words),
                "alpha": ConstantTable(signals["alpha"].format, tuple(c.alpha.ravel().tolist())),
                **(_several(model, held, bias) if several else {}),
                "centers": ConstantTable(x.signal.format, tuple(int(word) for word in v.ravel()))},
        memory=(), operations=_operations(sizes), units=inputs.units,
        evidence={"alpha": {"decided_by": "analytic", "bound": c.largest},
                  "trained": {**model.as_dict(), "vectors": model.vectors.tolist(), "held": held}})
