"""sim.planner: warnings for a plan that is valid but probably gives poor results.

A warning does not reject a plan, because a run may still be useful: for example, the first steps of conjugate
gradients.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..errors import Problem
from ..plan import Plan
from ..spec.keys import TABLE_OF

#: Largest rounding error without a warning, relative to the targets and to the kernel's width.
_PERCENT = 1e-2
#: Part of the stable range of eta without a warning.
_NEAR = Fraction(9, 10)
#: Factor of a projection above which a learner amplifies what it removes.
_AMPLIFIES = 2
#: Largest prediction gap, relative to the range of the estimator's predictions, without a warning.
MAX_RELATIVE_GAP = 0.01
_LONGER = "raise lambda, or set a longer word length: [numbers] word = 24 or 32"


def cautions(plan: Plan) -> tuple[Problem, ...]:
    """Return the warnings of a plan.

    If the evidence of the plan contains the results of a run, the warnings of the run are included.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    tuple of Problem
        Warnings with the codes W201 to W209.
    """
    if plan.fixed:
        return (*_coarse(plan), *_apart(plan))
    if plan.second_order:
        return tuple(_coarse(plan))
    lost = tuple(_lambda_lost(plan))
    emptied = tuple(_nothing_stays(plan))
    return (*lost, *(() if lost else _no_bound(plan)), *(emptied or _nothing_shown(plan)), *_coarse(plan),
            *_unstable(plan), *_amplifying(plan))


def _key(plan: Plan, key: str) -> str:
    return f"[{TABLE_OF[plan.algorithm]}] {key}"


def _lambda_lost(plan: Plan) -> Iterator[Problem]:
    """Warn if lambda is below one LSB of the matrix (W201)."""
    if not plan.trains or plan.looks_ahead or plan.banded:
        return
    lam, lsb = Fraction(plan.options["lambda"]), plan.signals["kernel"].format.lsb
    if plan.algorithm == "toeplitz_rls":  # r over 1 + lambda
        lsb = Fraction(1, 1 << (plan.integer("solver_word") - 1)) * (1 + lam)
    if lam < lsb:
        remedy = _LONGER if not plan.polynomial else (
            "scale the inputs with [input] offset and gain, so that kernel values are near 1; or " + _LONGER)
        yield Problem("W201", "lambda is less than one LSB of the kernel values: rounding may make the "
                              "matrix indefinite", _key(plan, "lambda"), plan.options["lambda"],
                      f"at least {float(lsb):.3g}, preferably a hundred times this", remedy)


def _no_bound(plan: Plan) -> Iterator[Problem]:
    """Warn if the error of the trained model has no bound (W202)."""
    if plan.constants.get("bound_gain") != 0:
        return
    if plan.plain_means:
        yield Problem("W202", "scheme = \"diagonal_mean\" has no certified bound: the best possible status "
                              "is INACCURATE", _key(plan, "scheme"), "diagonal_mean",
                      "diagonal_mean_biased, or uniform for a sampled signal",
                      "use diagonal_mean_biased, or accept results without a bound")
    else:
        yield Problem("W202", "no certified bound: rounding all kernel values may change an eigenvalue by "
                              "more than lambda; the best possible status is INACCURATE",
                              _key(plan, "lambda"),
                      plan.options["lambda"], "a larger lambda, or a longer word length", _LONGER)


def _nothing_shown(plan: Plan) -> Iterator[Problem]:
    """Warn if all predictions, or all changes of coefficients, round to 0 (W203)."""
    y, half = Fraction(plan.evidence["y"]["bound"]), plan.signals["y"].format.lsb / 2
    key, found = ("lambda", plan.options["lambda"]) if plan.trains else ("eta", plan.options["eta"])
    if plan.trains:  # |f_i| <= |k_i| |alpha| <= n max|k| max|y| / lambda
        signal = plan.signals["kernel"]
        reach = plan.sizes["n"] * signal.format.value(max(-signal.lo, signal.hi)) * y / Fraction(found)
    else:
        reach = y * Fraction(found)
        half = Fraction(0) if plan.in_float32 else plan.signals["alpha"].format.lsb / 2
    if reach < half:
        size, end, verb = ("large", "below", "lower") if plan.trains else ("small", "above", "raise")
        limit = Fraction(found) * (reach / half if plan.trains else half / reach)
        yield Problem("W203", f"{key} is so {size} that every prediction rounds to 0",
                      _key(plan, key), found, f"{end} {float(limit):.3g}",
                      f"{verb} {key}, or set a longer word length: [numbers] word = 32")
    elif plan.evidence["f"]["seen"] == 0 and plan.evidence["y"].get("rms") != 0:  # targets that are not 0
        yield Problem("W203", "every prediction of the run rounds to 0", "[output] word",
                      str(plan.signals["y_raw"].format), "targets that use the range of `word` in [output]",
                      f"choose `word` and `offset` in [output] so that the targets fill the range, set {key} "
                      "closer to "
                      "1, or set [numbers] word = 32")


def _nothing_stays(plan: Plan) -> Iterator[Problem]:
    """Warn if every new coefficient is discarded, so all predictions are 0 (W207).

    The first prediction is 0, so the first coefficient has the magnitude eta |y|. If a limit discards this
    coefficient for every y, the model stays empty.
    """
    if plan.trains:
        return
    full_scale = Fraction(plan.units["y"]) * 2 ** plan.signals["y"].format.frac
    y, seen = (plan.evidence["y"][name] for name in ("bound", "seen"))
    most = Fraction(plan.options["eta"]) * Fraction(y if seen is None else seen) * full_scale
    keys = ("truncation", *(("max_deterioration",) if plan.metric == "magnitude" else ()))
    for key in keys:
        if key in plan.options and Fraction(plan.options[key]) >= most > 0:  # and not: targets that are all 0
            yield Problem("W207", "every coefficient is evicted as soon as it is learnt, so every prediction "
                                  "will be 0", _key(plan, key), plan.options[key],
                          f"below eta times the largest y, {float(most):.3g}",
                          f"lower {key}: start with a hundredth of this bound")


def _coarse(plan: Plan) -> Iterator[Problem]:
    """Warn if the format of targets (W204) or inputs (W205) is too coarse."""
    word = plan.word
    longer = f", or set [numbers] word = {24 if word == 16 else 32}" if word < 32 else ""
    y, x = (plan.evidence[name].get("rounding", 0.0) for name in ("y", "x"))
    if y > _PERCENT:
        bound = "; the certified bound does not include this error" if plan.trains else ""
        yield Problem("W204", f"the RMS rounding error of the targets is {y:.2g} of their RMS{bound}",
                      "[output] word", str(plan.signals["y_raw"].format), f"at most {_PERCENT:g}",
                      f"choose `word` and `offset` in [output] so that the targets fill the range{longer}")
    if x > _PERCENT:
        yield Problem("W205", f"the RMS rounding error of the inputs is {x:.2g} of the kernel width",
                      "[input] word", str(plan.signals["x_raw"].format), f"at most {_PERCENT:g}",
                      f"choose `word` and `offset` in [input] so that the inputs fill the range{longer}")


def _unstable(plan: Plan) -> Iterator[Problem]:
    """Warn if eta is near or beyond the stability limit of the learning rule (W206)."""
    if plan.trains:
        return
    eta, bound = Fraction(plan.options["eta"]), 2 / (1 + Fraction(plan.options["rho"]))
    if eta < _NEAR * bound:
        return
    where = "outside" if eta >= bound else "near the end of"
    yield Problem("W206", f"eta is {where} the stable range, which ends below 2 / (1 + rho)",
                  _key(plan, "eta"), plan.options["eta"], f"below {float(bound):.6g} for this rho",
                  "start with eta = 0.1; with a reduction, the learner may diverge even below this bound")


def _amplifying(plan: Plan) -> Iterator[Problem]:
    """Warn if stored vectors overlap so much that projection amplifies errors (W209)."""
    if "guard" in plan.options:
        return
    overlap = plan.evidence.get("x", {}).get("overlap", 0.0)
    if plan.newest_only:
        overlap *= float(plan.options["eta"])  # only steps of the last sample are projected: see online.bound
    if overlap > _AMPLIFIES:
        yield Problem("W209", f"the kernels of the {plan.sizes['N']} stored vectors overlap strongly: the "
                              f"projection of an evicted vector adds back {overlap:.3g} times its "
                              "contribution, so the learner may diverge, and the status would still be OK",
                      "[kernel] sigma", plan.options.get("sigma", ""),
                      f"at most {_AMPLIFIES} times",
                      'set [online] guard = true or reduction = "nt", or lower sigma or the dictionary size')


def _apart(plan: Plan) -> Iterator[Problem]:
    """Warn if predictions differ from the original estimator (W208)."""
    found = plan.evidence.get("apart")
    if found is not None:
        word = found["word"]
        remedy = f"set [numbers] word = {word}: pass word={word} to the same call" if word else (
            "even 32 bits are not enough: pass input and output formats whose range the data fill, or fit a "
            "model with smaller coefficients")
        labels = found.get("labels", 0)
        more = f", and {labels} label{'s'[:labels != 1]}," if labels else ""
        yield Problem("W208", f"predictions{more} differ from the estimator's by up to {found['share']:.2g} "
                              "of their range on the samples given", "[numbers] word", str(plan.word),
                      f"at most {MAX_RELATIVE_GAP:g}{' and equal labels' if labels else ''}", remedy)
