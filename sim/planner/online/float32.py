"""sim.planner.online: the online learner in float32: KLMS, MKLMS and FKLMS.

All have a fixed N_max.

Inputs, distances and targets are those of the integer learner. Kernel values and all later values are
float32; the plan stores the bits of float constants as integers.

The inverse of KLMS and MKLMS is that of K + jitter I.  The jitter is 2^-17 N, rounded up to a power of
two: 128 rounding errors for each of the N terms of an eigenvalue, which may be as large as N.  On the sinc
task of Mitchinson, Dodd and Harrison, "Reduction of Kernel Models", one update in a thousand then
recomputes the inverse, and one in a hundred with half the jitter; the error of the fit is the same.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from ...choices import FLOAT32_FRAC
from ...errors import fail
from ...plan import SIZE_KEYS, Field, Operations, Plan
from ...spec import Online, Spec
from ..counts import memory, operations
from ..inputs import input_options, plan_inputs
from ..kernel import exponent_scale, kernel_tables, periodic_constants
from ..log2 import ceil_log2, floor_log2
from ..words import WORD_CLASSES, Affine, WordClass

#: Jitter for each vector, before it is rounded up to a power of two.
JITTER = Fraction(1, 2**17)
#: From this power of two on, 2**-t, a kernel value is zero; below it float32 adds nothing to a 1.
_T_END = 30
#: Maximum bits of a distance in float32; a finer distance would not change a kernel value.
_DISTANCE_BITS = 31


def float_bits(value: Fraction) -> int:
    """Return the bits of the float32 nearest to a positive number, ties to even."""
    exponent = floor_log2(value) - 23
    mantissa = round(value / Fraction(2) ** exponent)  # 2**24 carries into the exponent by itself
    return ((exponent + 150) << 23) + mantissa - (1 << 23)


def _kernel_constants(spec: Spec, words: WordClass, x: Affine) -> dict[str, int]:
    """Return constants of ``t = floor(d2 / 2**d2_shift) * scale``.

    t is below _T_END if d2 < d2_end.
    """
    scale = exponent_scale(spec, words, x.lsb)
    end = min(floor(_T_END / scale), words.distance.hi)
    if end < 1:
        raise fail("E204", "sigma does not fit the resolution of the inputs", where="[kernel] sigma",
                   value=spec.kernel.sigma, allowed="a fifth of an LSB of x or more",
                   remedy="change sigma or the gain of the input")
    shift = max(0, end.bit_length() - _DISTANCE_BITS)
    return {"kernel_f32": float_bits(scale * 2**shift), "kernel_d2_shift": shift, "kernel_d2_end": end,
            **periodic_constants(spec, words, x.lsb)}


def _rule_constants(online: Online, words: WordClass) -> dict[str, int]:
    """Return constants of the learning rule, and of the conversion from float32."""
    eta, rho = Fraction(online.eta), Fraction(online.rho)
    found = {"eta_f32": float_bits(eta), "f_shift": FLOAT32_FRAC - (words.bits - 2)}
    if rho:
        found["decay_f32"] = float_bits(1 - eta * rho)
        if found["decay_f32"] == float_bits(Fraction(1)):
            raise fail("E204", "rho is too small for float32: the coefficients would never decay",
                       where="[online] rho", value=online.rho,
                       allowed=f"0, or at least {2.0**-24 / online.eta:.2g}",
                       remedy="set rho = 0, or raise it")
    return found


def _jitter_constants(budget: int) -> dict[str, int]:
    jitter = Fraction(2) ** ceil_log2(budget * JITTER)
    return {"one_f32": float_bits(1 + jitter), "jitter_f32": float_bits(jitter)}


def _memory(metric: str, words: WordClass, x_word: str, sizes: dict[str, int]) -> tuple[Field, ...]:
    index = "uint8_t" if sizes["N"] <= 1 << 8 else "uint16_t"
    fields = [("alpha", "float", "N", "coefficients, in units of y's full scale"),
              ("centers", x_word, "N*D", "dictionary: the centers"),
              ("age_order", index, "N", "age order: 0 is the oldest"),
              ("count", "uint16_t", "1", "number of centers")]
    if metric == "fklms":
        distance = words.distance.c_type
        fields += [("scratch_row", distance, "N", "distances to the current sample"),
                   ("nearest_d2", distance, "N", "distance to the nearest older center"),
                   ("nearest_idx", index, "N",
                    "slot of the nearest older center; its own slot if there is none")]
    else:
        fields += [("gram", "float", "N*N", "kernel matrix below, its inverse on and above the diagonal"),
                   ("k", "float", "N", "kernel values of the current sample"),
                   ("u", "float", "N", "current column of the inverse"),
                   ("rest", "float", "N", "residual of a product with the inverse"),
                   ("step", "float", "N", "scratch vector"),
                   ("rebuilds", "uint32_t", "1", "number of times the inverse was computed again")]
    return memory(fields, sizes, SIZE_KEYS["kernel_lms"])


def _operations(online: Online, sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    """Return operation counts; in the worst case the inverse is recomputed twice."""
    predict = {"kernel_values": "N", "distance_terms": "N*D", "multiplications": "N"}
    rule = "N+2" + ("+N" if online.rho else "")
    if online.parts[1] == "fklms":
        quiet = {"kernel_values": "2*N-1", "distance_terms": "D*(2*N-1)", "multiplications": f"{rule}+N-1"}
        worst = quiet | {"distance_terms": "D*(2*N-1 + (N-1)*(N-2)//2)"}
        return operations({"update": worst, "predict": predict, "update_without_searches": quiet}, sizes)
    # N^2 each: a column checked, a bordering (three), two changes of rank one; couplings are c (N - c).
    # A new inverse, one vector at a time, needs 7/6 N^3 + 5/2 N^2 + 10/3 N multiplications.
    decay = "+N" if online.rho else ""
    quiet = {"kernel_values": "N", "distance_terms": "N*D",
             "multiplications": f"5*N**2+N**2//4+7*N+4{decay}", "divisions": "3*N+1"}
    worst = quiet | {"multiplications": f"(7*N**3+33*N**2+50*N)//3+2*(N**2//4)+5{decay}",
                     "divisions": "N**2+5*N+1"}
    return operations({"update": worst, "predict": predict, "update_without_rebuilds": quiet}, sizes)


def plan_lms_f32(spec: Spec) -> Plan:
    """Return the plan of an online learner in float32, which does not depend on data.

    Raises
    ------
    KerncastError
        E204 if sigma or rho does not fit, E206 for a state that no device can address.
    """
    assert spec.online is not None
    online, words = spec.online, WORD_CLASSES[spec.numbers.word]
    inputs = plan_inputs(spec, words)
    x = inputs.x
    sizes = {"N": online.budget, "D": spec.input.columns}
    projection, metric = online.parts
    constants = dict(inputs.constants)
    constants |= _rule_constants(online, words) | _kernel_constants(spec, words, x)
    if metric != "fklms":
        constants |= _jitter_constants(online.budget)
    tables = {name: table for name, table in kernel_tables(spec, words).items() if name == "sine"}
    return Plan(
        name=spec.model.name, algorithm="kernel_lms", word=words.bits,
        options={**spec.kernel.options, "reduction": online.reduction, "projection": projection,
                 "metric": metric, "eta": repr(online.eta), "rho": repr(online.rho), "newest_only": "0",
                 **input_options(spec), "rounding": spec.numbers.rounding},
        sizes=sizes,
        signals={name: s for name, s in inputs.signals.items() if name not in ("kernel", "accumulator")},
        constants=constants, tables=tables, memory=_memory(metric, words, x.signal.format.c_type, sizes),
        operations=_operations(online, sizes), units=inputs.units, evidence={})
