"""sim.planner: formats and shifts of the Toeplitz trainer, from analytic bounds.

The system is scaled so that ``r_0 + lambda = 1``.  For a positive semidefinite T then
``|a|_2 <= sqrt((1 + lambda) / lambda)`` and ``|x|_2 <= |y|_2 (1 + lambda) / lambda``; each
bound gives the range of a block exponent, and that range the fraction bits of the 64-bit
numerators, so that no partial sum overflows.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, sqrt

from ..errors import fail
from ..formats import Format, Overflow, Rounding
from ..plan import Field, Operations, Plan, Signal
from ..spec import Spec
from .certify import certify_constants, residual_shift, row_loss
from .casts import cast_modes
from .counts import memory, operations
from .exact import ceil_log2, ceil_log2_sqrt
from .inputs import (
    WORD_CLASSES,
    WordClass,
    common_constants,
    common_signals,
    kernel_tables,
    plan_input,
    plan_kernel,
    plan_output,
    units,
)

#: Exponent of an empty alpha block: small targets keep their bits.
ALPHA_EXP_MIN = -8


def _finer_bits(lam: float, word: int) -> int:
    """Fraction bits of alpha beyond the word, so that a large lambda does not cost it bits.

    As many as keep 2**(31 + bits) / (1 + lambda) below 2**31, and `f_shift` below 63.
    """
    return min(max(ceil_log2(1 + Fraction(lam)) - 1, 0), 54 - word)


def _levinson_constants(spec: Spec, words: WordClass) -> tuple[dict[str, int], dict[str, object]]:
    """Shifts and exponent ranges; E205 where no choice of shifts holds."""
    assert spec.toeplitz is not None
    n, lam, w = spec.toeplitz.n, spec.toeplitz.lam, words.bits
    log_n = ceil_log2(n)
    mac_shift = 0 if 2 * w - 2 + log_n <= 61 else log_n
    power = (1 + Fraction(lam)) / Fraction(lam)
    a_bound, alpha_bound = sqrt(power), sqrt(n) * float(power)
    a_exp_max = ceil_log2_sqrt(power) + 2
    alpha_exp_max = ceil_log2_sqrt(n * power**2) + 3
    xi_frac = 61 - log_n - a_exp_max
    mu_frac = 61 - log_n - alpha_exp_max
    rho = round(Fraction(2**31) / (1 + Fraction(lam)))
    if a_exp_max > w - 2 or min(xi_frac, mu_frac) < w - 2 or rho >= 2**31:
        raise fail("E205", f"lambda is too small for {n} samples at {w} bits: the bound on alpha "
                   f"({alpha_bound:.3g} times full scale) leaves no bits",
                   where="[toeplitz] lambda", value=lam,
                   allowed="larger values, or a longer word",
                   remedy="raise lambda, lower n, or set [numbers] word = 32")
    finer = _finer_bits(lam, w)
    alpha_rho = min(round(Fraction(2 ** (31 + finer)) / (1 + Fraction(lam))), 2**31 - 1)
    constants = {
        "lambda_rho": rho, "alpha_rho": alpha_rho, "mac_shift": mac_shift,
        "solver_word": w, "solver_shift": mac_shift, "xi_frac": xi_frac, "mu_frac": mu_frac,
        "eps_min": int(Fraction(2**xi_frac, 2) / power), "a_exp_min": 0, "a_exp_max": a_exp_max,
        "alpha_exp_min": ALPHA_EXP_MIN, "alpha_exp_max": alpha_exp_max,
        "alpha_frac": w - 1 + finer, "f_shift": w - mac_shift + finer,
    }
    evidence: dict[str, object] = {
        "a": {"decided_by": "analytic", "bound": a_bound},
        "alpha": {"decided_by": "analytic", "bound": alpha_bound},
    }
    return constants, evidence


def _signals(spec: Spec, words: WordClass, c: dict[str, int]) -> dict[str, Signal]:
    assert spec.toeplitz is not None
    w = words.bits
    fmt = Format(True, w, w - 1)

    def signal(name: str, fmt: Format, unit: str, lo: int | None = None) -> Signal:
        return Signal(fmt, *cast_modes(spec, name), fmt.lo if lo is None else lo, fmt.hi, unit)

    return {
        "r": signal("r", fmt, "1 + lambda", 0), "a": signal("a", fmt, "1, block exponent a_exp"),
        "xi": signal("a", fmt, "1"),
        "eps": Signal(Format(True, 64, c["xi_frac"]), Rounding.FLOOR, Overflow.SATURATE, 0,
                      1 << c["xi_frac"], "1 + lambda"),
        "mu": Signal(Format(True, 64, c["mu_frac"]), Rounding.FLOOR, Overflow.SATURATE,
                     -(1 << 62), 1 << 62, "full scale of y"),
        "alpha": signal("alpha", Format(True, w, w - 1 + _finer_bits(spec.toeplitz.lam, w)),
                        "full scale of y, block exponent alpha_exp"),
    }


def _memory(scheme: str, word: str, x_word: str, sizes: dict[str, int]) -> tuple[Field, ...]:
    fields = [("eps", "int64_t", "1", "prediction error power after the last step"),
              ("bound", "int64_t", "1", "|alpha - exact solution|_2 is at most this, in words of alpha"),
              ("r", word, "n", "first row over 1 + lambda; r[0] is the implicit 1"),
              ("a", word, "n", "predictor polynomial; a[0] is the implicit 1"),
              ("alpha", word, "n", "expansion coefficients")]
    if scheme != "uniform":
        fields.append(("v", x_word, "n*D", "training inputs"))
    fields += [("a_exp", "int16_t", "1", "block exponent of a"),
               ("alpha_exp", "int16_t", "1", "block exponent of alpha"),
               ("trained", "uint16_t", "1", "1 after a successful training")]
    return memory(fields, sizes)


def _operations(scheme: str, sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    uniform = scheme == "uniform"
    # Multiplications: 2 (n-1)^2 of the recursion's four loops; two for each eps, one for each word
    # of r and alpha.  Divisions: one for each xi and c, and one for each mean of a diagonal.
    return operations({
        "train": {"kernel_values": "n-1" if uniform else "n*(n-1)//2",
                  "distance_terms": "n-1" if uniform else "D*n*(n-1)//2",
                  "multiplications": "3*n**2+3*n-1",
                  "divisions": "2*n-1" if uniform else "3*n-2"},
        "predict": {"kernel_values": "n", "distance_terms": "n*D", "multiplications": "n"},
    }, sizes)


def _step(spec: Spec, x_gain: int, x_shift: int, x_hi: int) -> int:
    """The grid step in x words; E204 where the grid does not fit the raw or the x words."""
    assert spec.toeplitz is not None
    raw, step, n = Format.parse(spec.input.word), spec.toeplitz.step, spec.toeplitz.n
    last = spec.input.offsets[0] + (n - 1) * step
    if last > raw.hi:
        raise fail("E204", "the last grid point does not fit the raw input word",
                   where="[input] word", value=f"{raw}, last point {last}",
                   allowed=f"words up to {raw.hi}", remedy="use a longer word or a smaller n")
    scaled = step * x_gain
    if scaled % (1 << x_shift) or (n - 1) * (scaled >> x_shift) > x_hi:
        raise fail("E204", "the format of x cannot hold the grid exactly", where="[input] word",
                   value=f"{raw}, step {step}", allowed=f"steps that are multiples of {1 << x_shift}"
                   f", at most {x_hi} in all",
                   remedy="use a shorter raw word, a larger step, or [numbers] word = 32")
    return scaled >> x_shift


def _nonzero(n: int, c: dict[str, int | tuple[int, ...]]) -> int:
    """Entries of the uniform first row, besides r[0], whose kernel value is not zero."""
    step, end = c["x_step"], c["kernel_d2_end"]
    assert isinstance(step, int) and isinstance(end, int)
    return min(n - 1, isqrt(end - 1) // step)


def plan_toeplitz(spec: Spec) -> Plan:
    """The plan of a Toeplitz regularised-least-squares trainer.

    Raises
    ------
    KerncastError
        E204 where a format cannot hold a signal, E205 where lambda leaves no bits.
    """
    assert spec.toeplitz is not None
    words = WORD_CLASSES[spec.numbers.word]
    x, y = plan_input(spec, words), plan_output(spec, words)
    constants: dict[str, int | tuple[int, ...]] = common_constants(x, y)
    levinson, evidence = _levinson_constants(spec, words)
    constants |= levinson | plan_kernel(spec, words, x.lsb)
    loss = Fraction(0)
    if spec.toeplitz.scheme == "uniform":
        constants["x_step"] = _step(spec, x.gain[0], x.shift, x.signal.hi)
        loss = row_loss(words.bits, _nonzero(spec.toeplitz.n, constants))
    sizes = {"n": spec.toeplitz.n, "D": spec.input.columns}
    signals = common_signals(spec, words, x, y) | _signals(spec, words, levinson)
    shift = residual_shift(words.bits, spec.toeplitz.n, levinson["alpha_frac"], ALPHA_EXP_MIN)
    constants |= certify_constants(words.bits, spec.toeplitz.n, Fraction(spec.toeplitz.lam), loss,
                                   shift, spec.toeplitz.tolerance)
    return Plan(
        name=spec.model.name, algorithm="toeplitz_rls", word=words.bits,
        options={"kernel": spec.kernel.type, "scheme": spec.toeplitz.scheme,
                 "sigma": repr(spec.kernel.sigma), "lambda": repr(spec.toeplitz.lam),
                 "rounding": spec.numbers.rounding, "scaling": spec.toeplitz.scaling},
        sizes=sizes, signals=signals,
        constants=constants, tables=kernel_tables(words), memory=_memory(
            spec.toeplitz.scheme, f"int{words.bits}_t", x.signal.format.c_type, sizes),
        operations=_operations(spec.toeplitz.scheme, sizes), units=units(spec, x, y), evidence=evidence)
