"""sim.interop: ``kerncast.plan``, the plan of a spec, a spec file or an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from ..backend import Raw
from ..errors import KerncastError, fail
from ..plan import Plan
from ..planner import make_plan
from ..planner.warnings import cautions
from ..spec import Spec
from .convert import WORDS, convert_estimator, is_estimator
from .gap import Gap, prediction_gap


def plan(spec: Spec | str | Path | Any, x_raw: Raw | ArrayLike | None = None,
         y_raw: Raw | None = None, **choices: Any) -> Plan:
    """Decide every format, shift, table and size for a spec or fitted estimator.

    For an estimator, the predictions of the plan are compared with those of the estimator. The function warns
    if the gap is too large (W208); see :func:`kerncast.cautions`.

    Parameters
    ----------
    spec : Spec, path or estimator
        A spec, the path of a ``kerncast.toml``, or a fitted estimator of a kind that :func:`kerncast.export`
        supports. The plan of an estimator is that of a predictor.
    x_raw, y_raw : array_like of int, optional
        ADC counts of representative data, shapes (m, D) and (m,). They determine the range of alpha of an
        online learner; the formats of a Toeplitz trainer depend on bounds only. For an estimator, `x_raw`
        contains samples in the units of its training data.
    **choices
        Options for an estimator; see :func:`kerncast.sim.interop.convert.convert_estimator`.

    Returns
    -------
    Plan

    Raises
    ------
    KerncastError
        E113 if options are passed with a spec, E122 and E270 to E274 for an estimator, and the errors of
        :func:`kerncast.sim.planner.make_plan`.
    """
    if is_estimator(spec):
        made = of_estimator(spec, x_raw, choices)
        warn_apart(made)
        return made
    if choices:
        raise fail("E113", "a spec cannot be combined with these choices", where=", ".join(choices),
                   value=", ".join(map(str, choices.values())),
                   allowed="these choices together with an estimator",
                   remedy="write these choices into the spec")
    return make_plan(spec, x_raw, y_raw)


def of_estimator(estimator: object, X: ArrayLike | None, choices: Mapping[str, Any]) -> Plan:
    """Return the plan of an estimator.

    If the prediction gap is too large, the evidence of the plan contains a word length that is sufficient.
    """
    made, gap = _beside(estimator, X, choices)
    if gap.is_small:
        return made
    enough = 0
    for word in (w for w in WORDS if w > made.word and not enough):
        with suppress(KerncastError):
            enough = word if _beside(estimator, X, {**choices, "word": word})[1].is_small else 0
    labels = {"labels": gap.labels} if gap.labels else {}
    found = {"share": float(f"{gap.share:.2g}"), "word": enough, **labels}
    return replace(made, evidence={**made.evidence, "apart": found})


def warn_apart(made: Plan) -> None:
    """Warn (W208) if the prediction gap of a plan is too large.

    The warning points to the line of the user's call.
    """
    for problem in cautions(made):
        if problem.code == "W208":
            warnings.warn(str(problem), stacklevel=3)


def _beside(estimator: object, X: ArrayLike | None, choices: Mapping[str, Any]) -> tuple[Plan, Gap]:
    """Return the plan of an estimator and its prediction gap."""
    given = convert_estimator(estimator, X, **choices)
    made = make_plan(given.spec, given.x_raw, model=given.model)
    return made, prediction_gap(made, given.x_raw, given.f)
