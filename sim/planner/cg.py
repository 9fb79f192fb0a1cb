"""sim.planner: formats and shifts of conjugate gradients, from analytic bounds.

The system is not scaled, because every vector has its own block exponent. A sum of two vectors is computed in
steps of ``2**(e - 61)``, where e is the larger exponent, so the sum is below ``2**62``.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt

from ..formats import MAX_SHIFT, Format
from ..plan import SIZE_KEYS, Field, Operations, Plan, Signal
from ..spec import Spec
from .cast_modes import cast_modes
from .certify import BOUND_FIELD, norm_bits
from .classes import learner_constants, learner_options, learner_outputs
from .counts import TRAINER_FIELDS, memory, operations
from .inputs import plan_inputs
from .kernel import kernel_tables, plan_kernel, word_error
from .log2 import ceil_log2_sqrt, floor_log2
from .words import WORD_CLASSES, WordClass

#: Bits to which q is cut, so that its products with a quotient of 31 bits fit.
Q_BITS = 32


def _mantissa(value: Fraction) -> tuple[int, int]:
    """Return mantissa m and exponent e of a value: ``value ~ m 2**(e - 31)``.

    The mantissa is normalised: ``2**30 <= m < 2**31``.
    """
    e = floor_log2(value) + 1
    return min(round(value * Fraction(2) ** (31 - e)), 2**31 - 1), e


def _product_constants(n: int, w: int, kernel: Format, lam: Fraction) -> dict[str, int]:
    """Return the constants of the product (K + lambda I) p.

    A component of ``K p`` is below ``n 2**(W - 1 - kernel.frac) 2**e``, where e is the exponent of p.
    """
    # n < 2**count: the sum of n terms of 2**(2 W - 2), shifted by mac_shift, stays below 2**62.
    count = n.bit_length()
    mac_shift = max(0, 2 * w - 2 + count - MAX_SHIFT)
    mantissa, lam_exp = _mantissa(lam)
    product_exp = max(count + w - 1 - kernel.frac, lam_exp)
    row_shift = product_exp - 61 + w - 1 + kernel.frac - mac_shift
    lam_shift = min(product_exp - lam_exp - 31 + w, MAX_SHIFT)
    # What is hidden: dropped bits of n products, lambda's rounding, and five floors.
    hidden = Fraction(n if mac_shift else 0) / Fraction(2) ** row_shift + Fraction(2) ** (w - 1 - lam_shift)
    return {"mac_shift": mac_shift, "dot_shift": max(0, w - 1 + Q_BITS - 1 + count - MAX_SHIFT),
            "product_exp": product_exp, "row_shift": row_shift, "lambda_mantissa": mantissa,
            "lambda_shift": lam_shift, "residual_slack": ceil(hidden) + 5}


def _bound_constants(n: int, outputs: int, w: int, kernel: Format, error: int, lam: Fraction,
                     product_exp: int, tolerance: float) -> dict[str, int]:
    """Return the constants of the certified bound; see :mod:`..model.bound`.

    The exact kernel matrix is positive semidefinite. The rounding errors of the n values of a row bound how
    far an eigenvalue of the fixed-point matrix is below 0. If this is not smaller than lambda, no bound
    exists, and `bound_gain` is 0. The norms are taken over all outputs together.
    """
    least = lam - (n - 1) * error * kernel.lsb
    gain = up = 0
    if least > 0:
        up = 30 - floor_log2(1 / least)
        gain = min(ceil(Fraction(2) ** up / least), 2**31 - 1)
    return {"norm_bits": norm_bits(n * outputs), "no_bound": 1 << 62, "bound_gain": gain,
            "bound_shift": up + 62 - w - product_exp,
            "tolerance": max(1, int(Fraction(tolerance) * 2**16))}


def _constants(spec: Spec, words: WordClass, kernel: Format,
               error: int) -> tuple[dict[str, int], dict[str, object]]:
    assert spec.cg is not None
    n, lam, w = spec.cg.n, Fraction(spec.cg.lam), words.bits
    c = _product_constants(n, w, kernel, lam)
    f_shift = kernel.frac + 1 - c["mac_shift"]
    # |alpha|_2 <= |y|_2 / lambda, as far as a prediction's sum can be shifted into place.
    reach = MAX_SHIFT - (2 * w - 2 + n.bit_length() - c["mac_shift"])
    alpha_exp_max = min(ceil_log2_sqrt(4 * n / lam**2) + 2, f_shift + reach)
    c |= {"steps": spec.cg.steps, "step_exp": c["mac_shift"] - c["dot_shift"] + Q_BITS - w,
          "alpha_exp_min": f_shift - MAX_SHIFT, "alpha_exp_max": alpha_exp_max, "f_shift": f_shift}
    c |= _bound_constants(n, learner_outputs(spec), w, kernel, error, lam, c["product_exp"],
                          spec.cg.tolerance)
    return c, {"alpha": {"decided_by": "analytic", "bound": 2 * sqrt(n) / float(lam)}}


def _signals(spec: Spec, w: int) -> dict[str, Signal]:
    fmt = Format(True, w, w - 1)
    return {name: Signal(fmt, *cast_modes(spec, name), fmt.lo, fmt.hi,
                         f"full scale of y, block exponent {name}_exp")
            for name in ("alpha", "r", "p")}


def _memory(word: str, x_word: str, sizes: dict[str, int], classes: bool) -> dict[str, tuple[Field, ...]]:
    """Return the members of the model and trainer structures.

    The vectors of several outputs are stored one after another; targets that are classes are stored as
    labels.
    """
    several = "C" in sizes
    block, each = ("C*n", "C") if several else ("n", "1")
    of_each, by_output = (" of each output", ", by output") if several else ("", "")
    solution = [BOUND_FIELD, ("alpha", word, block, f"expansion coefficients{by_output}"),
                ("centers", x_word, "n*D", "training inputs")]
    exponent = "1", "block exponent of alpha"
    target = ("y", "uint8_t", "n", "labels") if classes else ("y", word, block, f"targets{by_output}")
    own = [("own_exp", "int32_t", "C", "block exponent of alpha of each output during the iteration")]
    return {
        "memory": memory([*solution, ("alpha_exp", "int16_t", *exponent),
                          ("trained", "uint16_t", "1", "1 after a training")], sizes, SIZE_KEYS["kernel_cg"]),
        "workspace": memory([
            *solution, ("alpha_exp", "int32_t", *exponent), *TRAINER_FIELDS,
            ("wide", "int64_t", block, "scratch: q = (K + lambda I) p, and blocks before rounding"),
            target,
            ("r", word, block, "residual; after a training, the residual of alpha, computed again"),
            ("p", word, block, "direction"),
            ("rr", "int64_t", each, f"r . r{of_each}{'; 0 after its last step' if several else ''}"),
            ("r_exp", "int32_t", each, f"block exponent of r{of_each}"),
            ("p_exp", "int32_t", each, f"block exponent of p{of_each}"),
            ("taken", "int32_t", each, f"number of steps{of_each}"),
            *(own if several else ()),
        ], sizes, SIZE_KEYS["kernel_cg"])}


def _operations(steps: int, sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    # A product with K + lambda I: every kernel value of a triangle once, for its two places, and n for
    # lambda; one a step, and one for the residual of the answer.  A step besides: n each for p . q, r . r
    # and the three blocks, and two quotients.  At the ends: r . r, and 2n squares of the two norms.  Outputs
    # share the kernel values alone.
    products, times = f"{steps + 1}*n*(n+1)//2", "C*" if "C" in sizes else ""
    row = f"({steps + 1}*n*(n+1) + {5 * steps + 3}*n)" if times else \
        f"{steps + 1}*n*(n+1) + {5 * steps + 3}*n"
    return operations({
        "train": {"kernel_values": products, "distance_terms": f"D*{products}",
                  "multiplications": f"{times}{row} + 2", "divisions": f"{times}{2 * steps}"},
        "predict": {"kernel_values": "n", "distance_terms": "n*D", "multiplications": f"{times}n"},
    }, sizes)


def plan_cg(spec: Spec) -> Plan:
    """Return the plan of kernel regularised least squares by conjugate gradients.

    Raises
    ------
    KerncastError
        E204 if a format cannot represent a signal, E206 if the model is too large for 32-bit indices.
    """
    assert spec.cg is not None
    words = WORD_CLASSES[spec.numbers.word]
    inputs = plan_inputs(spec, words)
    x, signals, constants = inputs.x, inputs.signals | _signals(spec, words.bits), dict(inputs.constants)
    kernel = plan_kernel(spec, words, x)
    error = word_error(spec, words, kernel.get("kernel_out_shift", 0))
    ours, evidence = _constants(spec, words, signals["kernel"].format, error)
    constants |= ours | kernel | learner_constants(spec, inputs.y)
    sizes, outputs = {"n": spec.cg.n, "D": spec.input.columns}, learner_outputs(spec)
    sizes |= {"C": outputs} if outputs > 1 else {}
    types = signals["alpha"].format.c_type, x.signal.format.c_type
    return Plan(
        name=spec.model.name, algorithm="kernel_cg", word=words.bits,
        options={**spec.kernel.options, "lambda": repr(spec.cg.lam),
                 "rounding": spec.numbers.rounding, **learner_options(spec)},
        sizes=sizes, signals=signals, constants=constants, tables=kernel_tables(spec, words),
        **_memory(*types, sizes, bool(spec.output.classes)),
        operations=_operations(spec.cg.steps, sizes), units=inputs.units, evidence=evidence)
