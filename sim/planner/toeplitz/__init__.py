"""sim.planner.toeplitz: the plan of the Toeplitz trainer.

The solver has the word length W. With refinement all other values have 32 bits, the next word length of the
exponential; with only a bias, all values have the solver's word length.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..._arrays import Raw
from ...choices import LOOKAHEADS
from ...errors import fail
from ...formats import Format, Overflow, Rounding
from ...plan import ConstantTable, Plan, Signal
from ...spec import Spec
from ...window import grid_window
from ..cast_modes import cast_modes
from ..certify import certify_constants, residual_shift, row_loss
from ..inputs import Inputs, plan_inputs
from ..kernel import far, kernel_tables, plan_kernel, word_error
from ..log2 import ceil_log2
from ..words import WORD_CLASSES, Affine
from .automatic import plan_automatic
from .banded import (
    BAND,
    Band,
    band_head,
    band_loss,
    band_residual_shift,
    band_table,
    banded_constants,
    banded_tables,
    factorise,
    first_row,
    refined_row,
)
from .fitted import fitted_plan
from .geometric import geometric_certificate, geometric_tables, has_geometric_factor, rho_word
from .intercept import intercept_plan
from .levinson import ALPHA_EXP_MIN, bounds, levinson_constants, products_shift, static_exponents
from .lookahead import ALPHA_EXP_MAX, lookahead_constants
from .memory import corrected, model_memory, trainer_memory
from .operations import operations_of
from .ranged import lowest, ranged_band, ranged_certificate, ranged_constants, ranged_fitted, scale_bits
from .schur import schur_constants, schur_signals
from .stream import stream_plan
from .tuning import evidence_constants, plan_tuned

#: Bits of r, y and alpha where a shorter solver is refined.
REFINED = 32


def _finer_bits(spec: Spec, word: int) -> int:
    """Return extra fraction bits of alpha, which compensate a large lambda.

    The number is that of the smallest lambda of all candidates. It keeps 2**(31 + bits) / (1 + lambda)
    below 2**31, and `f_shift` below 63.
    """
    assert spec.toeplitz is not None
    least = min([spec.toeplitz.lam, *(lam for _, lam in spec.toeplitz.candidates or ())])
    return min(max(ceil_log2(1 + Fraction(least)) - 1, 0), 54 - word)


def _constants(spec: Spec, word: int) -> dict[str, int]:
    """Return constants of the solver, and of alpha at a word length."""
    assert spec.toeplitz is not None
    n, lam = spec.toeplitz.n, Fraction(spec.toeplitz.lam)
    if spec.toeplitz.solver in LOOKAHEADS:
        solver, top = lookahead_constants(spec.toeplitz.solver, lam, n), ALPHA_EXP_MAX
    elif spec.toeplitz.solver == "banded":
        solver = banded_constants(spec)
        top = solver.pop("x_exp_max")
        if corrected(spec):
            solver |= {"solver_word": spec.numbers.word, "x_exp_min": ALPHA_EXP_MIN, "x_exp_max": top}
            top += 2
    else:
        solver = levinson_constants(spec, spec.numbers.word)
        top = solver["x_exp_max"] + (2 if corrected(spec) else 0)
    if spec.toeplitz.solver == "schur":
        solver |= schur_constants(spec)
    mac_shift = products_shift(word, n)
    finer = 0 if corrected(spec) else _finer_bits(spec, word)
    own = {"alpha_frac": word - 1 + finer, "alpha_exp_min": ALPHA_EXP_MIN, "alpha_exp_max": top,
           "mac_shift": mac_shift, "f_shift": word - mac_shift + finer}
    if corrected(spec):
        reach = 62 - (2 * word - 2 + ceil_log2(n) - mac_shift)  # of a prediction's sum, shifted up
        own |= {"refine": spec.toeplitz.refine, "alpha_exp_max": min(top, own["f_shift"] + reach)}
    elif spec.toeplitz.solver != "banded":
        own["alpha_scale"] = min(round(Fraction(2 ** (31 + finer)) / (1 + lam)), 2**31 - 1)
    return solver | own


def _signals(spec: Spec, word: int, c: dict[str, int]) -> dict[str, Signal]:
    fmt, short = Format(True, word, word - 1), Format(True, spec.numbers.word, spec.numbers.word - 1)

    def signal(name: str, fmt: Format, unit: str, lo: int | None = None) -> Signal:
        return Signal(fmt, *cast_modes(spec, name), fmt.lo if lo is None else lo, fmt.hi, unit)

    assert spec.toeplitz is not None
    common = {"r": signal("r", fmt, "1 + lambda", 0),
              "alpha": signal("alpha", Format(True, word, c["alpha_frac"]),
                              "full scale of y, block exponent alpha_exp")}
    if spec.toeplitz.solver in LOOKAHEADS:
        return common
    if spec.toeplitz.solver == "banded":
        unit = "1 + lambda" if spec.toeplitz.lambda_range is None else str(1 << scale_bits(spec))
        exact = Signal(BAND, Rounding.HALF_UP, Overflow.SATURATE, 0, BAND.hi, unit)
        return common | {"r": exact, "z": Signal(short, *cast_modes(spec, "a"), short.lo, short.hi,
                                                 "full scale of y, its own block exponent")}
    generators = schur_signals(spec) if spec.toeplitz.solver == "schur" else {}
    return common | generators | {
        "a": signal("a", short, "1, block exponent a_exp"),
        "xi": signal("a", short, "1"),
        "eps": Signal(Format(True, 64, c["xi_frac"]), Rounding.FLOOR, Overflow.SATURATE, 0,
                      1 << c["xi_frac"], "1 + lambda"),
        "innov": Signal(Format(True, 64, c["innov_frac"]), Rounding.FLOOR, Overflow.SATURATE,
                     -(1 << 62), 1 << 62, "full scale of y"),
    }


def _step(spec: Spec, x_gain: int, x_shift: int, x_hi: int) -> int:
    """Return the grid step as an integer of x.

    Raise E204 if the grid exceeds the range.
    """
    assert spec.toeplitz is not None
    raw, step, n = spec.input.format, spec.toeplitz.step, spec.toeplitz.n
    last = spec.input.offsets[0] + (n - 1) * step
    if last > raw.hi:
        raise fail("E204", "the last grid point does not fit the ADC format",
                   where="[input] word", value=f"{raw}, last point {last}",
                   allowed=f"ADC counts up to {raw.hi}", remedy="use a wider format or a smaller n")
    scaled = step * x_gain
    if scaled % (1 << x_shift) or (n - 1) * (scaled >> x_shift) > x_hi:
        raise fail("E204", "the format of x cannot represent the grid exactly", where="[input] word",
                   value=f"{raw}, step {step}", allowed=f"steps that are multiples of {1 << x_shift}"
                   f", at most {x_hi} in all",
                   remedy="use a shorter format, a larger step, or [numbers] word = 32")
    return scaled >> x_shift


def _lags(spec: Spec, x: Affine, end: int | tuple[int, ...]) -> dict[str, int]:
    """Return the last lag at which r may be nonzero, and the step of a grid.

    The kernel is zero from the distance `end` on.
    """
    assert spec.toeplitz is not None and isinstance(end, int)
    n = spec.toeplitz.n
    if spec.toeplitz.scheme != "uniform":
        return {"last_lag": n - 1}
    step, last = _step(spec, x.gain[0], x.shift, x.signal.hi), far(spec, end)
    return {"x_step": step, "last_lag": n - 1 if last is None else min(n - 1, last // step)}


def _loss(spec: Spec, word: int, c: dict[str, int | tuple[int, ...]]) -> Fraction:
    """Return how far the smallest eigenvalue of T may be below 0.

    On the grid, and for biased means, T is positive semidefinite except for its rounding errors. Unbiased
    means of diagonals do not have this property, so there is no bound.
    """
    assert spec.toeplitz is not None
    if spec.toeplitz.scheme == "diagonal_mean":
        return Fraction(1)
    last_lag = c["last_lag"]
    assert isinstance(last_lag, int)
    error = word_error(spec, WORD_CLASSES[word]) + (spec.toeplitz.scheme != "uniform")
    return row_loss(word, last_lag, error)


def _reach_seen(spec: Spec, x_raw: Raw | None, y_raw: Raw | None) -> float | None:
    """Return the largest coefficient of the scaled system in a run.

    The run uses block exponents.
    """
    from ...model.toeplitz.trainer import ToeplitzModel  # the engine is loaded only where a run is asked for

    assert spec.toeplitz is not None
    if y_raw is None or len(y_raw) != spec.toeplitz.n:
        return None
    block = spec.toeplitz.model_copy(update={"scaling": "block"})
    model = ToeplitzModel(plan_toeplitz(spec.model_copy(update={"toeplitz": block})))
    model.train(x_raw, y_raw)
    state, frac = model.state(), model.plan.integer("alpha_frac")
    most = float(np.abs(state["alpha"]).max()) * 2.0 ** (int(state["alpha_exp"][0]) - frac)
    return most * (1 + spec.toeplitz.lam) or None


def _static(spec: Spec, x_raw: Raw | None, y_raw: Raw | None) -> tuple[dict[str, int], dict[str, object]]:
    """Return the static exponents and the source of the decision."""
    design = spec.numbers.ranges.get("alpha")
    seen = None if design is not None else _reach_seen(spec, x_raw, y_raw)
    lam = spec.toeplitz.lam if spec.toeplitz is not None else 0.0
    if design is not None:
        _refuse_beyond_bound(spec, design)
        return static_exponents(spec, design * (1 + lam)), {"decided_by": "design", "range": design}
    if seen is not None:
        reach = seen * 2.0**spec.numbers.margin
        return static_exponents(spec, reach), {"decided_by": "simulated", "range": reach / (1 + lam),
                                               "seen": seen / (1 + lam)}
    return static_exponents(spec, None), {"decided_by": "analytic", "bound": bounds(spec)["alpha"]}


def _refuse_beyond_bound(spec: Spec, design: float) -> None:
    assert spec.toeplitz is not None
    bound = bounds(spec)["alpha"] / (1 + spec.toeplitz.lam)
    if design > bound:
        raise fail("E118", "the range is larger than any coefficient can be", where="[numbers.ranges] alpha",
                   value=design, allowed=f"up to {bound:.6g}, the bound sqrt(n) / lambda",
                   remedy="give the range that alpha needs in operation, or remove the line: the planner "
                          "then derives the range from the data")


def _analytic(spec: Spec) -> dict[str, object]:
    """Return the analytic bounds of the signals `a` and `alpha`.

    The result is empty for look-ahead and banded solvers, which derive their bounds in another way.
    """
    assert spec.toeplitz is not None
    if spec.toeplitz.solver in (*LOOKAHEADS, "banded"):
        return {}
    return {name: {"decided_by": "analytic", "bound": bound} for name, bound in bounds(spec).items()}


def plan_toeplitz(spec: Spec, x_raw: Raw | None = None, y_raw: Raw | None = None) -> Plan:
    """Return the plan of a Toeplitz regularised least squares trainer.

    Parameters
    ----------
    spec : Spec
    x_raw, y_raw : ndarray of int64, optional
        ADC counts of a training set, from which static scaling derives its range.

    Raises
    ------
    KerncastError
        E118 for a design range beyond the bound, E204 if a format cannot hold a signal, E205 if lambda
        leaves too few bits.
    """
    assert spec.toeplitz is not None
    if spec.toeplitz.solver == "auto":
        return plan_automatic(spec, lambda named: plan_toeplitz(named, x_raw, y_raw))
    if spec.toeplitz.candidates is not None:
        return plan_tuned(spec, lambda alone: _plan(alone, x_raw, y_raw))
    return _plan(spec, x_raw, y_raw)


def _plan(spec: Spec, x_raw: Raw | None, y_raw: Raw | None) -> Plan:
    """Return the plan with one pair of sigma and lambda."""
    assert spec.toeplitz is not None
    words = WORD_CLASSES[REFINED if spec.toeplitz.refine else spec.numbers.word]
    inputs = plan_inputs(spec, words)
    x, constants = inputs.x, dict(inputs.constants)
    solver = _constants(lowest(spec), words.bits)
    evidence = _analytic(spec)
    if spec.toeplitz.scaling == "static":
        exponents, evidence["alpha"] = _static(spec, x_raw, y_raw)
        solver |= exponents
    constants |= solver | plan_kernel(spec, words, x)
    lags = _lags(spec, x, constants["kernel_d2_end"])
    constants |= lags
    within = grid_window(spec.toeplitz.n, lags["x_step"], lags["last_lag"]) if "x_step" in lags else None
    if spec.toeplitz.lambda_range is None:
        constants |= fitted_plan(spec, inputs.signals["y"].format, solver)
    sizes = {"n": spec.toeplitz.n, "D": spec.input.columns}
    sizes |= {"K": spec.toeplitz.pairs} if spec.toeplitz.candidates is not None else {}
    sizes |= {"C": spec.output.targets} if spec.output.targets > 1 else {}
    tables = dict(kernel_tables(spec, words))
    if spec.toeplitz.solver == "banded":
        planned = _geometric if has_geometric_factor(spec) else (
            _banded if spec.toeplitz.lambda_range is None else _ranged)
        more, factor = planned(spec, inputs, solver["alpha_frac"], constants)
        constants |= more
        tables |= factor
    else:
        constants |= certify_constants(
            words.bits, spec.toeplitz.n, Fraction(spec.toeplitz.lam), _loss(spec, words.bits, constants),
            residual_shift(words.bits, spec.toeplitz.n, solver["alpha_frac"], ALPHA_EXP_MIN),
            spec.toeplitz.tolerance)
    if spec.toeplitz.stream_lag is not None:
        f = inputs.signals["f"]
        more, taps, reasons = stream_plan(spec, x.lsb, lags["x_step"], words.bits, f, inputs.y.shift)
        constants |= more
        tables |= taps
        evidence |= reasons
    return Plan(
        name=spec.model.name, algorithm="toeplitz_rls", word=words.bits,
        options=_options(spec), sizes=sizes,
        signals=inputs.signals | _signals(spec, words.bits, solver),
        constants=constants, tables=tables,
        memory=model_memory(spec, words.bits, x.signal.format.c_type, sizes),
        workspace=trainer_memory(spec, words.bits, x.signal.format.c_type, sizes, constants),
        operations=operations_of(spec, sizes, constants, within),
        units=inputs.units, evidence=evidence)


def _banded(spec: Spec, inputs: Inputs, alpha_frac: int, c: dict[str, int | tuple[int, ...]]
            ) -> tuple[dict[str, int], dict[str, ConstantTable]]:
    """Return constants and tables of the banded solver and its certificate."""
    assert spec.toeplitz is not None
    step, word = c["x_step"], inputs.y.signal.format.bits
    assert isinstance(step, int)
    band: Band = first_row(spec, inputs.x.lsb, step)
    factor = factorise(band.row, spec.toeplitz.n, spec.numbers.word + 8)
    constants, tables = banded_tables(spec, band, factor)
    if spec.toeplitz.refine:  # the residual belongs to a longer row than the factor
        band = refined_row(spec, inputs.x.lsb, step, REFINED)
        tables["band"] = band_table(band)
        constants["residual_band"] = len(band.row) - 1
    if spec.toeplitz.candidates is not None:
        constants |= evidence_constants(factor.pivots, spec.toeplitz.n, spec.toeplitz.lam, word,
                                        constants["pivot_frac"])
    if spec.toeplitz.bias:
        more, tables["weight"] = intercept_plan(spec, factor, inputs.y)
        constants |= more
    shift = band_residual_shift(word, len(band.row) - 1, alpha_frac)
    rows = spec.toeplitz.n * spec.output.targets  # the norm is that of all outputs together
    certificate = certify_constants(BAND.bits, rows, Fraction(spec.toeplitz.lam), band_loss(band),
                                    shift, spec.toeplitz.tolerance)
    head = band_head(tables["band"], word) if shift else 0
    return constants | certificate | {"band_head": head, "residual_slack": head + 2 if shift else 0}, tables


def _geometric(spec: Spec, inputs: Inputs, alpha_frac: int, c: dict[str, int | tuple[int, ...]]
               ) -> tuple[dict[str, int], dict[str, ConstantTable]]:
    """Return constants and tables of the geometric factor and its certificate."""
    step, ridge = c["x_step"], c["ridge_scale"]
    assert isinstance(step, int) and isinstance(ridge, int)
    rho = rho_word(spec, inputs.x.lsb, step)
    constants, tables = geometric_tables(spec, rho)
    return constants | geometric_certificate(spec, rho, ridge, alpha_frac), tables


def _ranged(spec: Spec, inputs: Inputs, alpha_frac: int, c: dict[str, int | tuple[int, ...]]
            ) -> tuple[dict[str, int], dict[str, ConstantTable]]:
    """Return constants and tables of the banded solver for a range of lambda.

    They include those of its certificate.
    """
    step, top, y = c["x_step"], c["alpha_exp_max"], inputs.signals["y"].format
    assert spec.toeplitz is not None and isinstance(step, int) and isinstance(top, int)
    band = ranged_band(spec, first_row(lowest(spec), inputs.x.lsb, step))
    shift = band_residual_shift(y.bits, len(band.row) - 1, alpha_frac)
    if shift and y.bits == 16:
        raise fail("E205", "lambda_range: the smallest lambda leaves too few bits for the residual",
                   where="[toeplitz] lambda_range", value=list(spec.toeplitz.lambda_range or ()),
                   allowed="a smaller lambda at the low end", remedy="lower the smallest lambda")
    constants, tables = ranged_constants(spec, band)
    head = band_head(tables["band"], y.bits) if shift else 0
    return constants | ranged_certificate(spec, constants, band_loss(band), shift, head) | ranged_fitted(
        spec, y, alpha_frac, top, constants), tables


def _options(spec: Spec) -> dict[str, str]:
    assert spec.toeplitz is not None
    t = spec.toeplitz
    return {**spec.kernel.options, "scheme": t.scheme,
            "lambda": repr(t.lam), "rounding": spec.numbers.rounding, "solver": t.solver,
            "scaling": t.scaling, "refine": str(t.refine), "bias": str(int(t.bias))} | (
        {"factor": "geometric"} if t.solver == "banded" and has_geometric_factor(spec) else {}) | (
        {} if t.lambda_range is None else {"lambda_range": ":".join(map(repr, t.lambda_range))})
