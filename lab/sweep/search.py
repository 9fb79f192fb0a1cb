"""lab.sweep: search a large grid with optuna, in batches of points.

optuna receives all results of a batch before it suggests the next batch. The size of a batch does not
depend on the number of workers, and results are reported in the order of the suggestions. Therefore, a search
with the same seed tries the same points for any number of workers, and a repeated search finds its points in
the store.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from ...sim._optional import missing
from .evaluate import Point
from .space import Inputs, Scalar, Space

BATCH = 16
_STARTS = 32
#: Times as many batches as the points would fill: a search near its end asks for much that was tried.
_MOST_BATCHES = 2
#: Of a limit on what a point has not.
_UNKNOWN = 1e9


def check_search() -> Any:
    """Return the module optuna; raise E501 if it is not installed."""
    try:
        return import_module("optuna")
    except ImportError:
        raise missing("a search needs", "optuna", "python -m pip install optuna", "--trials") from None


def search(space: Space, trials: int, seed: int, objectives: Sequence[str],
           over: Callable[[Point], list[float]],
           evaluate: Callable[[list[Inputs]], list[Point]]) -> None:
    """Search a space with a tree-structured Parzen estimator.

    Parameters
    ----------
    space : Space
    trials : int
        Maximum number of points. Fewer are tried if the estimator repeats its suggestions.
    seed : int
    objectives : sequence of str
        Measures to minimise.
    over : callable
        Returns the excess of a point over the limit of each constraint. It is at most 0 if the constraint is
        satisfied.
    evaluate : callable
        Evaluates the inputs of a batch; returns the points in the same order.

    Raises
    ------
    KerncastError
        E501 if optuna is not installed.
    """
    optuna = check_search()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_STARTS)
        study = optuna.create_study(directions=["minimize"] * len(objectives), sampler=sampler)
        tried: set[tuple[Scalar, ...]] = set()
        for _ in range(_MOST_BATCHES * -(-trials // BATCH)):
            asked = [study.ask() for _ in range(min(BATCH, trials - len(tried)))]
            if not asked:
                return
            inputs = [_suggested(space, trial) for trial in asked]
            tried |= {tuple(point.values()) for point in inputs}
            for trial, point in zip(asked, evaluate(inputs), strict=True):
                _report_trial(optuna, study, trial, point, objectives, over)


def _suggested(space: Space, trial: Any) -> Inputs:
    """Return the inputs that a trial suggests.

    Numbers are suggested by their index in ascending order, other values as categories.
    """
    found: Inputs = {}
    for axis in space.axes:
        if axis.numeric and len(axis.values) > 2:
            ordered = sorted(axis.values)
            found[axis.key] = ordered[trial.suggest_int(axis.key, 0, len(ordered) - 1)]
        else:
            at = trial.suggest_categorical(axis.key, list(range(len(axis.values))))
            found[axis.key] = axis.values[at]
    return found


def _report_trial(optuna: Any, study: Any, trial: Any, point: Point, objectives: Sequence[str],
                  over: Callable[[Point], list[float]]) -> None:
    values = [point.measures.get(name) for name in objectives]
    if not point.answers or None in values:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return
    for number, by in enumerate(over(point)):
        trial.set_constraint(str(number), min(by, _UNKNOWN))
    study.tell(trial, values)
