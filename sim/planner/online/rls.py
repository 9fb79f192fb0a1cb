"""sim.planner.online: formats, tables and bounds of online kernel RLS.

The kernel is approximated by random features.  All features have 16 bits and are at most 1: the constant,
the inputs over a power of two X that is at least every |x|, and cosines.  In terms of the features of the
float64 reference, ``sqrt(2 / M) cos`` and ``x / sigma``, the ridge of a cosine is ``M / 2`` times the
ridge, and that of an input ``(sigma / X)^2`` times. It is at least ``sqrt(P / (1 - lambda^2))`` LSB of R,
about the norm of what rounding adds to R.

*R.*  An update is ``r - floor(mu r) + floor(phi_i phi_j)``, with mu = 1 - lambda, and on the diagonal
``+ floor(mu ridge)``.  So ``|R_ij| <= B = (1 + lsb) / mu + ridge``.  A diagonal entry at the ridge stays
there if phi_i = 0; ``r - floor(mu r)`` never falls with r; so every ``R_ii`` is at least the ridge, and a
step never divides by 0.

*w.*  Of the exact solution, ``ridge w_i^2`` is at most the weighted sum of squared targets, so
``|w_i| <= |y| / sqrt(ridge mu)``.  The format of w includes twice this bound for a cosine.  A step beyond the
range W of the format is not taken, which the status reports.

*beta.*  Let ``p = beta + R w``.  An update gives ``p <- lambda p + y phi`` and errors: R is off by less
than one LSB per entry, and beta by one LSB for each of 4 roundings and each step.  So ``|p_i| <= (|y| + P W
lsb_R + (steps + 4) lsb_beta) / mu``, and ``|beta_i| <= |p_i| + P B W``, for any stream.  The format of beta
includes this range in 60 bits, so beta never saturates.

*32 bits.*  C descends in 32 bits while beta fits them, with the same values.  Without rounding R is positive
semidefinite, and rounding changes an entry by at most ``2 / mu`` LSB.  So ``|R_ij| < 2^((a + b + 1) // 2 +
1)``, where a and b are the bits of ``R_ii + 2 / mu`` and of the largest such sum; a step in 32 bits is taken
only if this bound shows that its products are below 2^30.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isqrt, tau

from ...errors import fail
from ...formats import Format
from ...plan import SIZE_KEYS, ConstantTable, Field, Operations, Plan
from ...spec import Spec
from ...spec.rls import Rls
from ...tables import PI, decimal, sine
from ..classes import learner_constants, learner_options, learner_outputs, range_of_y
from ..counts import memory, operations
from ..inputs import Inputs, plan_inputs
from ..log2 import ceil_log2, floor_log2
from ..words import WORD_CLASSES, Affine
from .novelty import novelty_constants, novelty_members, novelty_operations, novelty_steps

#: Bits of R and w; of mu, as a fraction; fraction bits of a feature and bits of one turn.
BITS, FADING_BITS, PHI_FRAC, TURN_BITS = 32, 32, 15, 20
#: Largest |y|, in full scales: that of its word, which ADC counts beyond their format may reach.
_Y_MOST = 2
_BETA_BITS = 59
_LEAST_R_FRAC = 4
#: Fraction bits of beta beyond those of R: more gain no accuracy, and beta would rarely fit 32 bits.
_BETA_EXTRA = 4
#: Words of the table of directions: the flash of the largest target, 1 MiB.
MOST_DIRECTIONS = 1 << 19


def plan_rls(spec: Spec) -> Plan:
    """Return the plan of online kernel RLS, which does not depend on data.

    Raises
    ------
    KerncastError
        E204 for a ridge or a forgetting factor for which no format of R or beta has a proof, E204 and E206
        for too many columns.
    """
    assert spec.rls is not None
    rls, words = spec.rls, WORD_CLASSES[spec.numbers.word]
    inputs = plan_inputs(spec, words)
    columns = spec.input.columns
    sizes = {"N": 1 + rls.features + (columns if rls.linear else 0), "D": columns, "M": rls.features}
    outputs = learner_outputs(spec)
    sizes |= {"C": outputs} if outputs > 1 else {}
    members = _memory(rls, sizes)
    _refuse_many(sizes)
    tables, phase_shift = _tables(spec, inputs.x)
    constants: dict[str, int | tuple[int, ...]] = dict(inputs.constants)
    constants |= _constants(rls, inputs, sizes, spec.kernel.parameters["sigma"])
    constants |= {"rls_phase_shift": phase_shift} | range_of_y(spec, inputs.y)
    constants |= learner_constants(spec, inputs.y)
    signals = {name: s for name, s in inputs.signals.items() if name not in ("distance", "kernel")}
    accumulator = sizes["N"] << (BITS - 1 + PHI_FRAC)
    signals["accumulator"] = replace(signals["accumulator"], lo=-accumulator, hi=accumulator)
    return Plan(
        name=spec.model.name, algorithm="online_kernel_rls", word=words.bits,
        options={**spec.kernel.options, **rls.options, "rounding": spec.numbers.rounding,
                 **learner_options(spec)},
        sizes=sizes, signals=signals, constants=constants, tables=tables, memory=members,
        operations=_operations(rls, sizes), units=inputs.units, evidence={})


def _refuse_many(sizes: dict[str, int]) -> None:
    """Raise E204 for more directions than the flash of any target can store.

    The check precedes the random draw of the directions.
    """
    most = MOST_DIRECTIONS // sizes["M"]
    if sizes["D"] > most:
        raise fail("E204", "too many columns for this number of features", where="[input] columns",
                   value=sizes["D"], allowed=f"up to {most} with features = {sizes['M']}",
                   remedy="use fewer columns, or lower [rls] features")


# ---- formats ----
def _constants(rls: Rls, inputs: Inputs, sizes: dict[str, int], sigma: float) -> dict[str, int]:
    """Return the shifts, and the ridge and forgetting constants by kind of feature."""
    fading = round((1 - Fraction(rls.forgetting)) * 2**FADING_BITS)
    mu, order = Fraction(fading, 2**FADING_BITS), sizes["N"]
    x = inputs.x.signal
    x_exp = max(x.hi, -x.lo - 1).bit_length() - PHI_FRAC
    scale = inputs.x.lsb * Fraction(2) ** (x_exp + PHI_FRAC)
    asked = {"one": Fraction(rls.ridge), "x": Fraction(rls.ridge) * (Fraction(sigma) / scale) ** 2,
             "cosine": Fraction(rls.ridge) * rls.features / 2}
    if not rls.linear:
        del asked["x"]
    r_frac, ridge, entry = _normal_equations(mu, asked, order)
    w_square = 4 / (Fraction(ridge["cosine"], 2**r_frac) * mu)
    w_frac = BITS - 1 - -(-ceil_log2(w_square) // 2)
    y_frac = inputs.y.signal.format.frac
    beta_frac = _beta_frac(rls.steps, mu, order, entry, r_frac, w_frac)
    found = {f"rls_ridge_{kind}": value for kind, value in ridge.items()}
    found |= {f"rls_fade_{kind}": value * fading >> FADING_BITS for kind, value in ridge.items()}
    return found | novelty_constants(rls, r_frac) | {
        "rls_steps": rls.steps, "rls_fading": fading, "rls_x_exp": x_exp,
        "rls_product_shift": 2 * PHI_FRAC - r_frac, "rls_out_shift": w_frac + PHI_FRAC - y_frac,
        "rls_error_shift": w_frac + PHI_FRAC - beta_frac, "rls_step_shift": r_frac + w_frac - beta_frac}


def _normal_equations(mu: Fraction, asked: dict[str, Fraction],
                      order: int) -> tuple[int, dict[str, int], Fraction]:
    """Return the fraction bits of R, the ridges, and the bound B.

    R has the most fraction bits for which its bound holds. Raise E204 if too few bits are left.
    """
    least = isqrt(int(order / (mu * (2 - mu)))) + 1
    for frac in range(2 * PHI_FRAC, _LEAST_R_FRAC - 1, -1):
        ridge = {kind: max(round(value * 2**frac), least) for kind, value in asked.items()}
        bound = (1 + Fraction(1, 2**frac)) / mu + Fraction(max(ridge.values()), 2**frac)
        if bound * 2**frac < 2 ** (BITS - 1):
            return frac, ridge, bound
    raise fail("E204", "no 32-bit format has enough range for the correlation matrix R",
               where="[rls] ridge",
               value=float(max(asked.values())),
               allowed=f"ridge + 1 / (1 - forgetting) below {2**(BITS - 1 - _LEAST_R_FRAC):,}, with the "
                       "ridge converted to features of magnitude 1",
               remedy="start with ridge = 0.001 and forgetting = 0.999")


def _beta_frac(steps: int, mu: Fraction, order: int, entry: Fraction, r_frac: int, w_frac: int) -> int:
    """Return the largest number of fraction bits of beta for which its bound holds."""
    w_most = Fraction(2) ** (BITS - 1 - w_frac)
    frac = min(w_frac + PHI_FRAC, r_frac + w_frac - 3 - ceil_log2(Fraction(steps)), r_frac + _BETA_EXTRA)
    while True:
        rounding = order * w_most / 2**r_frac + (steps + 4) * Fraction(2) ** -frac
        bound = (_Y_MOST + rounding) / mu + order * entry * w_most
        error = _Y_MOST + order * w_most
        if max(bound * 2 ** (61 - _BETA_BITS), error * 2**PHI_FRAC) * Fraction(2) ** frac <= 2**61:
            return frac
        frac -= 1


def formats(plan: Plan) -> Mapping[str, Format]:
    """Return the formats of R, beta and w, by member."""
    w_frac = plan.integer("rls_out_shift") - PHI_FRAC + plan.signals["y"].format.frac
    return {"rls_r": Format(True, BITS, 2 * PHI_FRAC - plan.integer("rls_product_shift")),
            "rls_beta": Format(True, 64, w_frac + PHI_FRAC - plan.integer("rls_error_shift")),
            "rls_w": Format(True, BITS, w_frac)}


# ---- tables ----
def _tables(spec: Spec, x: Affine) -> tuple[dict[str, ConstantTable], int]:
    """Return the tables, and the shift from a product with x to turns.

    The tables hold directions, phases and the cosine.
    """
    # Not at import: the plans of other algorithms do not need the float reference.
    from ...reference.online.kernel_rls import random_directions

    assert spec.rls is not None
    directions, phases = random_directions(spec.input.columns, spec.rls.features, spec.rls.seed)
    unit = decimal(x.lsb / (2 * Fraction(spec.kernel.parameters["sigma"]))) / PI  # turns per LSB of x
    exact = Fraction(unit)
    frac = 14 - floor_log2(Fraction(float(abs(directions).max())) * exact)
    if not 0 <= frac - TURN_BITS <= 62:
        raise fail("E204", "sigma does not fit the resolution of the inputs", where="[kernel] sigma",
                   value=spec.kernel.parameters["sigma"], allowed="about one LSB of x or more",
                   remedy="raise sigma, or give the input more fraction bits")
    factor = exact * Fraction(2) ** frac
    words = tuple(max(min(_nearest(v, factor), 2**15 - 1), -(2**15 - 1)) for v in directions.ravel().tolist())
    quantised = tuple(round(float(phase) / tau * 2**16) & 0xFFFF for phase in phases)
    return {"directions": ConstantTable(Format(True, 16, 15), words),
            "phases": ConstantTable(Format(False, 16, 16), quantised),
            "cosine": ConstantTable(Format(True, 16, 15), cosine())}, frac - TURN_BITS


def _nearest(value: float, factor: Fraction) -> int:
    """Return the integer nearest to a product, rounding half up.

    The result is exact, and computed faster than a product of Fraction.
    """
    over, under = value.as_integer_ratio()
    under *= factor.denominator
    return (2 * over * factor.numerator + under) // (2 * under)


@cache
def cosine() -> tuple[int, ...]:
    """Return 257 entries of ``cos(2 pi i / 256)`` as s16f15, at most 32767."""
    quarter = sine()
    rounded_quarter = [(32767 * v + (1 << 30)) >> 31 for v in quarter]
    half = [rounded_quarter[256 - 4 * i] for i in range(64)] + [-rounded_quarter[4 * i] for i in range(65)]
    return tuple(half[i] if i <= 128 else half[256 - i] for i in range(257))


# ---- costs ----
def _memory(rls: Rls, sizes: dict[str, int]) -> tuple[Field, ...]:
    size, each = ("N*C", ", one output after the other") if "C" in sizes else ("N", "")
    return memory([("rls_r", "int32_t", "N*(N+1)//2", "normal equations: R, upper triangle, row by row"),
                   ("rls_beta", "int64_t", size, f"residual of the normal equations{each}"),
                   ("rls_w", "int32_t", size, f"coefficients of 1, the cosines, the inputs if linear{each}"),
                   ("trained", "uint16_t", "1", "1 after the first sample"), *novelty_members(rls)],
                  sizes, SIZE_KEYS["online_kernel_rls"])


def _operations(rls: Rls, sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    each = "*C" if "C" in sizes else ""
    features = {"cosines": "M", "multiplications": f"M*(D+1) + N{each}"}
    steps = f"({rls.steps}*C + {novelty_steps(rls)})" if each else str(rls.steps + novelty_steps(rls))
    update = {"cosines": "M", "multiplications": f"M*(D+1) + N{each} + N*(N+1) + 3*N{each}",
              "shifts_and_additions": f"{steps}*2*N"}
    calls = {"update": update, "predict": features}
    if rls.novelty is not None:
        calls["novelty"] = {"cosines": "M", "multiplications": "M*(D+1)", **novelty_operations(rls)}
    return operations(calls, sizes)
