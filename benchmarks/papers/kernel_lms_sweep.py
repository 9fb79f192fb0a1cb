"""Reproduce figures 5, 6 and 8 of report 836: error and time against N_max."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sim.diagnostics.simulate import y_values
from ...sim.kernels import Gaussian
from ...sim.model import open_model
from ...sim.model.statuses import SATURATED
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.reference.online.kernel_lms import KernelLMS
from ...sim.reference.result import Status
from ...sim.spec import Spec
from .common import Array

#: sigma is not printed; 0.5 with rho = 0 gives the printed error of the reference.
SIGMA, ETA = 0.5, 0.1
TRAINING, PRESENTATIONS = 100, 10
GRID = np.linspace(-3, 3, 601)
BUDGETS = tuple(range(4, 25, 2))
#: Title, and what the learner is given.
TECHNIQUES: dict[str, dict[str, str]] = {
    "KLMS": {"reduction": "klms"}, "MKLMS": {"reduction": "mklms"},
    "FKLMS": {"reduction": "fklms"}, "FMKLMS": {"reduction": "fmklms"},
    "LS": {"reduction": "ls"}, "regularised LS": {"reduction": "ls_regularised"},
    "fast KLMS": {"reduction": "fklms", "metric": "fast_klms"},
    "fast MKLMS": {"reduction": "fklms", "metric": "fast_mklms"},
    "NT": {"reduction": "nt"},
}
WORDS = (16, 32)
#: Techniques that the integer model has.
FIXED = ("FKLMS", "FMKLMS", "fast KLMS", "fast MKLMS", "NT")
X_WORD, Y_WORD = "s16f13", "s16f14"


class Room(NamedTuple):
    """Declared headroom with which no value saturates.

    Attributes
    ----------
    y : str
        Format of the output with twice the range of f. In float64, f reaches 7 for FKLMS and 40 for fast
        KLMS.
    margin : float
        Value of ``[numbers] margin``: bits above the range of alpha in the first realisation.
    """

    y: str = Y_WORD
    margin: float = 0.6


#: Techniques whose coefficients grow during learning, in some realisations far more than in the first.
ROOM = {"FKLMS": Room("s16f13", 2.6), "FMKLMS": Room(margin=2.6), "fast KLMS": Room("s16f10", 4.6),
        "fast MKLMS": Room(margin=2.6)}
STEPS = 2.0**13  # of x in 1
MEASURED = 500  # samples whose time is taken


@dataclass
class Sweep:
    """Errors by technique, dictionary size and realisation, and CPU seconds per run.

    Attributes
    ----------
    error : dict
        MSE on the grid by technique, each of shape (sizes, realisations).
    seconds : dict
        Mean CPU seconds over the realisations by technique, each of shape (sizes,).
    diverged : dict
        Number of diverged runs by technique.
    reference : ndarray of shape (realisations,)
        MSE without reduction.
    """

    reference: Array
    error: dict[str, Array] = field(default_factory=dict)
    seconds: dict[str, Array] = field(default_factory=dict)
    diverged: dict[str, int] = field(default_factory=dict)

    def mean(self, technique: str) -> Array:
        """Return the mean MSE of a technique by dictionary size, as plotted in the report."""
        return np.asarray(self.error[technique].mean(axis=1))


def samples(seed: int) -> Array:
    """Return rounded uniform inputs (100, 1). They are the same for all techniques."""
    X = np.random.default_rng(seed).uniform(-3, 3, (TRAINING, 1))
    return np.asarray(raw(X, X_WORD) / STEPS)


def learned(reduction: str, budget: int, seed: int, **parts: Any) -> KernelLMS:
    """Train a learner with ten passes over a hundred samples, and return it."""
    X = samples(seed)
    learner = KernelLMS(1, Gaussian(SIGMA), ETA, 0.0, reduction, budget, **parts)
    for _ in range(PRESENTATIONS):
        learner.learn(X, np.sinc(X[:, 0]))
    return learner


def mean_square(f: Array) -> float:
    """Return the MSE over the 601 points of the grid."""
    return float(np.mean((f - np.sinc(GRID)) ** 2))


def reference_errors(realisations: int) -> Array:
    """Return the MSE without reduction, shape (realisations,)."""
    grid = GRID[:, np.newaxis]
    return np.array([mean_square(learned("none", 0, seed).predict(grid)) for seed in range(realisations)])


def swept(realisations: int) -> Sweep:
    """Run every technique with every dictionary size, and return the results."""
    found = Sweep(reference_errors(realisations))
    for title, parts in TECHNIQUES.items():
        error, taken, diverged = np.zeros((len(BUDGETS), realisations)), np.zeros(len(BUDGETS)), 0
        for row, budget in enumerate(BUDGETS):
            start = time.process_time()
            learners = [learned(budget=budget, seed=seed, **parts) for seed in range(realisations)]
            taken[row] = (time.process_time() - start) / realisations
            error[row] = [mean_square(learner.predict(GRID[:, np.newaxis])) for learner in learners]
            diverged += sum(learner.status is not Status.OK for learner in learners)
        found.error[title], found.seconds[title], found.diverged[title] = error, taken, diverged
        print(f"{title}: done", flush=True)
    return found


def raw(x: Array, word: str) -> Any:
    """Round values to ADC counts of a format."""
    return np.round(x * 2.0 ** int(word.split("f")[1])).astype(np.int64)


class Fixed(NamedTuple):
    """MSE and saturation of an integer technique by dictionary size and realisation."""

    error: Array
    saturated: NDArray[np.bool]


def fixed_point_plan(word: int, budget: int, technique: str, room: Room) -> Plan:
    """Return the plan of a technique in fixed point.

    The range of alpha is that of the first realisation.
    """
    X = samples(0)
    spec = Spec(model={"name": "sinc", "algorithm": "kernel_lms"}, input={"word": X_WORD},
                output={"word": room.y}, kernel={"sigma": SIGMA},
                numbers={"word": word, "margin": room.margin},
                online={"budget": budget, "eta": ETA, "passes": PRESENTATIONS, **TECHNIQUES[technique]})
    return make_plan(spec, raw(X, X_WORD), raw(np.sinc(X[:, 0]), room.y))


def fixed_point_runs(word: int, realisations: int, technique: str, room: Room | None = None,
                     budgets: tuple[int, ...] = BUDGETS) -> Fixed:
    """Run an integer technique, by default with the headroom that it needs."""
    room, grid = room or ROOM.get(technique, Room()), raw(GRID[:, np.newaxis], X_WORD)
    found = Fixed(np.zeros((len(budgets), realisations)), np.zeros((len(budgets), realisations), dtype=bool))
    for row, budget in enumerate(budgets):
        plan = fixed_point_plan(word, budget, technique, room)
        model = open_model(plan)
        for seed in range(realisations):
            model.reset()
            X = samples(seed)
            x_raw, y_raw = raw(X, X_WORD), raw(np.sinc(X[:, 0]), room.y)
            outputs = [model.update(x_raw, y_raw) for _ in range(PRESENTATIONS)] + [model.predict(grid)]
            found.saturated[row, seed] = any(np.any(o["status"] == SATURATED) for o in outputs)
            found.error[row, seed] = mean_square(y_values(plan, outputs[-1]["f"]))
    return found


def growth(budgets: tuple[int, ...], reduction: str) -> tuple[Array, float]:
    """Measure the seconds per sample for large dictionaries; fit the exponent of N.

    The dictionary is full. The reduction ``integer`` is the compiled integer FKLMS with 16 bits.
    """
    taken = []
    for budget in budgets:
        X: Any = np.random.default_rng(budget).uniform(-3, 3, (2 * budget + MEASURED, 3))
        y: Any = np.sin(X.sum(axis=1))
        learn: Callable[[Any, Any], object]
        if reduction == "integer":
            spec = Spec(model={"name": "growth", "algorithm": "kernel_lms"}, numbers={"word": 16},
                        input={"word": X_WORD, "columns": 3}, output={"word": Y_WORD},
                        kernel={"sigma": 1.0}, online={"budget": budget, "eta": ETA})
            learn, X, y = open_model(make_plan(spec)).update, raw(X, X_WORD), raw(y, Y_WORD)
        else:
            learn = KernelLMS(3, Gaussian(1.0), ETA, 0.0, reduction, budget).learn
        learn(X[:-MEASURED], y[:-MEASURED])
        start = time.process_time()
        learn(X[-MEASURED:], y[-MEASURED:])
        taken.append((time.process_time() - start) / MEASURED)
    return np.array(taken), float(np.polyfit(np.log(budgets), np.log(taken), 1)[0])
