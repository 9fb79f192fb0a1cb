"""benchmarks.many_classes: choose parameters by cross-validation.

``python -m kerncast.benchmarks.many_classes.choose`` prints the best parameters of each learner, trainer and
classifier, which `ours.py` then states.  Only orders that are not measured are used, and of their samples
only those to learn from.  Of parameters with the same accuracy, those with the smallest squared error are
chosen.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from kerncast.benchmarks.many_classes.ours import LEARNERS, Tables, batch_spec, learner_spec
from kerncast.benchmarks.many_classes.tasks import CHOOSING, TASKS, Split, Task
from kerncast.lab.drafting import WIDER
from kerncast.sim._arrays import Raw
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.statuses import DeviceStatus

FOLDS, STEPS = 5, 16
#: Kernel widths, by the median distance of two samples; random features have the one of ``kerncast init``.
WIDTHS, OF_FEATURES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4), (WIDER,)
#: Values of the keys of learners.
GRIDS = {"eta": (0.2, 0.5, 0.8), "quantise": (0.5, 0.7, 0.9), "linear_ridge": (10.0, 100.0, 1000.0, 10000.0),
         "ridge": (0.001, 0.003, 0.01, 0.03, 0.1), "steps": (10, 20, 40)}
LAMBDAS, COSTS = (0.05, 0.2, 0.5, 1.0), (1.0, 10.0, 100.0)

#: Accuracy, and the negated squared error.
Score = tuple[float, float]


def folds(task: Task) -> list[Split]:
    """Return five splits into training samples and held-out samples.

    A task with few samples is split in three orders.
    """
    found = []
    for seed in range(CHOOSING, CHOOSING + (3 if len(task.split(CHOOSING).y) < 100 else 1)):
        split = task.split(seed)
        at = np.arange(len(split.y)) % FOLDS
        found += [Split(split.x[at != k], split.y[at != k], split.x[at == k], split.y[at == k])
                  for k in range(FOLDS)]
    return found


def median_distance(x: Raw) -> float:
    """Return the median distance of two of at most 300 samples."""
    few = x[:300].astype(float)
    return float(np.median(np.linalg.norm(few[:, None] - few[None], axis=2)))


def scored(task: Task, parts: list[Split], outputs: Callable[[Split], np.ndarray]) -> Score:
    """Return accuracy and negated squared error on held-out samples.

    `outputs` returns an array of shape (m, classes).
    """
    right, errors = [], []
    for part in parts:
        f = outputs(part)
        right.append(np.mean(np.argmax(f, axis=1) == part.y_test))
        errors.append(np.mean((f - np.where(np.arange(task.classes) == part.y_test[:, None], 1, -1))**2))
    return float(np.mean(right)), -float(np.mean(errors))


def _keys(tables: Tables) -> tuple[str, ...]:
    """Return the keys of a learner that are chosen with sigma."""
    if "rls" in tables:
        return ("ridge", "steps")
    return ("eta", "quantise", "linear_ridge") if "linear" in tables["online"] else ("eta", "quantise")


def learner(task: Task, tables: Tables, parts: list[Split], sigma: float, *point: float) -> Score:
    """Return the score of an online learner in float64, at the values of its keys.

    Values for which no plan exists have no score.
    """
    table = "rls" if "rls" in tables else "online"
    chosen = {"kernel": {"sigma": sigma},
              table: {**tables[table], **dict(zip(_keys(tables), point, strict=True))}}

    def outputs(part: Split) -> np.ndarray:
        spec = learner_spec(task, chosen)
        reference = FloatReference(make_plan(spec, part.x, part.y))
        reference.update(part.x, part.y)
        return reference.predict(part.x_test)

    try:
        return scored(task, parts, outputs)
    except KerncastError:
        return 0.0, -math.inf


def trainer(task: Task, parts: list[Split], sigma: float, lam: float) -> Score:
    """Return the batch trainer's score; accuracy 0 if its integer status is not OK."""
    done = []

    def outputs(part: Split) -> np.ndarray:
        plan = make_plan(batch_spec(task, sigma, lam, STEPS, len(part.y)), part.x, part.y)
        model, reference = open_model(plan), FloatReference(plan)
        done.append(int(model.train(part.x, part.y)["status"][0]) == DeviceStatus.OK)
        reference.train(part.x, part.y)
        return reference.predict(part.x_test)

    score = scored(task, parts, outputs)
    return score if all(done) else (0.0, score[1])


def machine(task: Task, sigma: float, c: float) -> Score:
    """Return the score of scikit-learn's support vector classifier."""
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    split = task.split(CHOOSING)
    return float(np.mean(cross_val_score(SVC(gamma=0.5 / sigma**2, C=c), split.x, split.y, cv=FOLDS))), 0.0


def searches(task: Task) -> Iterator[tuple[str, Callable[..., Score], tuple[tuple[float, ...], ...]]]:
    """Yield name, score and grid of each method, the kernel widths first."""
    parts, distance = folds(task), median_distance(task.split(CHOOSING).x)
    widths, few = (tuple(round(factor * distance, 1) for factor in each) for each in (WIDTHS, OF_FEATURES))
    for (name, title), tables in LEARNERS.items():
        if name == task.name:
            yield (f"{title}: sigma, {', '.join(_keys(tables))}",
                   lambda *point, tables=tables: learner(task, tables, parts, *point),
                   (few if "rls" in tables else widths, *(GRIDS[key] for key in _keys(tables))))
    yield "kernel_cg: sigma, lambda", lambda *point: trainer(task, parts, *point), (widths, LAMBDAS)
    yield "SVC: sigma, C", lambda *point: machine(task, *point), (widths, COSTS)


def main() -> None:
    """Print the best parameters of every method; the arguments select tasks."""
    for task in TASKS:
        if sys.argv[1:] and task.name not in sys.argv[1:]:
            continue
        for name, score, grid in searches(task):
            (found, _), point = max(((score(*point), point) for point in itertools.product(*grid)),
                                    key=lambda pair: pair[0])
            values = ", ".join(f"{value:g}" for value in point)
            print(f"{task.name}, {name}: {values}, {found:.1%}", flush=True)


if __name__ == "__main__":
    main()
