"""sim.planner: the plan of an imported model.

Vectors, coefficients and intercept become integers.

The vectors are converted like samples, to ADC counts and then to x, so that a sample equal to a vector is at
distance 0.  The coefficients share the smallest exponent that fits the largest, in lsb of y, so that the
shift from their products to y is an integer.  All are known, so no bound on data is needed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._arrays import Words
from ..data.predictor_file import TrainedModel
from ..data.raw import quantise
from ..errors import KerncastError, fail
from ..formats import MAX_SHIFT, Format, Overflow, Rounding
from ..plan import ConstantTable, Operations, Plan, Signal
from ..primitives import requantise
from ..spec import Spec
from .counts import MOST_BYTES, operations
from .inputs import plan_inputs
from .kernel import kernel_tables, plan_kernel
from .log2 import ceil_log2, floor_log2
from .words import WORD_CLASSES, Affine


def vector_words(spec: Spec, x: Affine, vectors: NDArray[np.float64]) -> Words:
    """Convert real vectors (N, D) to x (N, D); raise E246 if out of range."""
    fmt, s = spec.input.format, x.signal
    steps = np.array(spec.input.gains) * float(fmt.lsb)
    try:
        raw = quantise(vectors, steps, spec.input.offsets, fmt, "vectors")
    except KerncastError as error:
        remedy = "pass samples with the range of the model's centers, or an [input] word that holds these"
        raise KerncastError([replace(p, remedy=remedy) for p in error.problems]) from None
    words = [[requantise((int(word) - offset) * gain, x.shift, s.rounding.value, s.lo, s.hi)
              for word, offset, gain in zip(row, x.offset, x.gain, strict=True)] for row in raw]
    return np.array(words, dtype=np.int64).reshape(raw.shape)


def _rounded(value: Fraction) -> int:
    """Return the nearest integer, rounding half up."""
    return int((value + Fraction(1, 2)) // 1)


def _exponent(alpha: list[Fraction], bits: int) -> int:
    """Return the smallest e for which all coefficients fit the signed format.

    Their LSB is 2**e.
    """
    most, hi = max(map(abs, alpha)), (1 << (bits - 1)) - 1
    if most == 0:
        return 0
    e = floor_log2(most / hi)
    return e if _rounded(most / Fraction(2) ** e) <= hi else e + 1


def _too_far_apart(value: str, allowed: str) -> Exception:
    return fail("E278", "the scales of coefficients, kernel values and predictions differ too much",
                where="[output] word", value=value, allowed=allowed,
                remedy="give [output] word a full scale close to the largest prediction, or set [numbers] "
                       "word = 32")


def _sum_shifts(alpha: list[int], e: int, kernel: Signal) -> tuple[int, int]:
    """Return `mac_shift` and `f_shift`; raise E278.

    With them sums fit, and become y.
    """
    most = sum(map(abs, alpha)) * max(abs(kernel.lo), abs(kernel.hi))
    mac_shift = max(0, ceil_log2(most) - MAX_SHIFT) if most else 0
    f_shift = kernel.format.frac - e - mac_shift
    if not 0 <= f_shift <= MAX_SHIFT:
        raise _too_far_apart(f"a shift of {f_shift} bits", f"0 to {MAX_SHIFT} bits")
    return mac_shift, f_shift


def _alpha_signal(y: Signal, e: int, bits: int) -> Signal:
    """Return the signal of the coefficients, with an LSB of 2**e LSB of y."""
    fmt = Format(True, bits, y.format.frac - e)
    return Signal(fmt, Rounding.HALF_UP, Overflow.SATURATE, fmt.lo, fmt.hi, y.unit)


def _operations(sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    return operations({"predict": {"kernel_values": "N", "distance_terms": "N*D", "multiplications": "N"}},
                      sizes)


def _options(spec: Spec, model: TrainedModel) -> dict[str, str]:
    named = {"class_0": str(model.classes[0]), "class_1": str(model.classes[1])} if model.classes else {}
    return {**spec.kernel.options, "rounding": spec.numbers.rounding, **named}


def _refuse_oversize(sizes: dict[str, int], bits: int) -> None:
    total = sizes["N"] * (sizes["D"] + 1) * Format(True, bits, 0).c_bits // 8
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

    Returns
    -------
    Plan
        Vectors and coefficients are its tables ``v`` and ``alpha``, the intercept its constant ``bias``.  A
        vector whose coefficient is rounded to 0 is omitted.

    Raises
    ------
    KerncastError
        E204 if a format cannot hold a signal, E206 if the model is too large to be addressed, E246 if a
        vector does not fit the ADC counts, E278 if no shift leads to y.
    """
    words = WORD_CLASSES[spec.numbers.word]
    _refuse_oversize({"N": len(model.alpha), "D": spec.input.columns}, words.bits)
    inputs = plan_inputs(spec, words)
    x, y, signals = inputs.x, inputs.y, dict(inputs.signals)
    real = [Fraction(a) / y.lsb for a in model.alpha.tolist()]
    e = max(_exponent(real, words.bits), signals["kernel"].format.frac - MAX_SHIFT)
    rounded = [_rounded(a / Fraction(2) ** e) for a in real]
    held = [i for i, word in enumerate(rounded) if word] or [0]
    alpha = [rounded[i] for i in held]
    mac_shift, f_shift = _sum_shifts(alpha, e, signals["kernel"])
    bias = _rounded(Fraction(model.bias) / y.lsb)
    if abs(bias) >= 1 << 60:
        raise _too_far_apart(f"an intercept of {bias} LSB of y", "at most 60 bits")
    signals["alpha"] = _alpha_signal(y.signal, e, words.bits)
    most = float(max(map(abs, real)) / 2**y.signal.format.frac)
    sizes = {"N": len(held), "D": spec.input.columns}
    v = vector_words(spec, x, model.vectors[held])
    return Plan(
        name=spec.model.name, algorithm="kernel_predictor", word=words.bits, options=_options(spec, model),
        sizes=sizes, signals=signals,
        constants={**inputs.constants, "mac_shift": mac_shift, "f_shift": f_shift, "bias": bias,
                   **plan_kernel(spec, words, x)},
        tables={**kernel_tables(spec, words),
                "alpha": ConstantTable(signals["alpha"].format, tuple(alpha)),
                "centers": ConstantTable(x.signal.format, tuple(int(word) for word in v.ravel()))},
        memory=(), operations=_operations(sizes), units=inputs.units,
        evidence={"alpha": {"decided_by": "analytic", "bound": most},
                  "trained": {**model.as_dict(), "vectors": model.vectors.tolist(), "held": held}})
