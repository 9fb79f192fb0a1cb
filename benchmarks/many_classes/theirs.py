"""benchmarks.many_classes: measure the classifiers of other libraries.

emlearn learns and classifies every sample on the emulated Cortex-M4. The labels of the other libraries are
those of the scikit-learn model that they convert; the core classifies samples of the first order, too, and
must find the same labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kerncast.benchmarks.beside import CMSIS, PACKAGES
from kerncast.benchmarks.beside_durbin import cmsis_flags
from kerncast.benchmarks.many_classes import others
from kerncast.benchmarks.many_classes.machine import COUNTED, Program
from kerncast.benchmarks.many_classes.ours import MACHINES, Row, machine_of
from kerncast.benchmarks.many_classes.tasks import Split, Task
from kerncast.sim._arrays import Raw

EMLEARN, (M2CGEN, MICROMLGEN) = "emlearn==0.23.2", PACKAGES
#: Task -> numbers of samples that emlearn's neighbours store.
HELD = {"digits": (100, 1000), "speakers": (100, 270), "activities": (16, 40)}
FORESTS = (10, 100)
#: Factor of the inputs of forests: emlearn truncates thresholds to integers.
FINER = 16


def nearest_row(task: Task, held: int, include: Path) -> Row:
    """Measure emlearn's nearest neighbour among the first `held` samples."""

    def taught(split: Split, count: int) -> Program:
        made = Program({"main.c": others.nearest(split, held)}, "int16", (f"-I{include}",))
        for x, label in zip(split.x[:count], split.y[:count].tolist(), strict=True):
            made.learn(x, label)
        return made

    accuracies = tuple(split.accuracy(taught(split, held).labels(split.x_test)) for split in task.splits())
    split, before = task.split(0), held - 10
    last = list(zip(split.x[before:held], split.y[before:held].tolist(), strict=True))
    cost = taught(split, before).cost(split.x_test, last)
    return Row(f"{EMLEARN}, nearest of {held:,}", "device", accuracies, cost)


def forest_row(task: Task, count: int) -> Row:
    """Measure emlearn's random forest."""
    from sklearn.ensemble import RandomForestClassifier

    programs = []
    for seed, split in enumerate(task.splits()):
        finer = Split(FINER * split.x, split.y, FINER * split.x_test, split.y_test)
        forest = RandomForestClassifier(count, random_state=seed).fit(finer.x, finer.y)
        programs.append((Program({"main.c": others.trees(finer, forest)}, "int16"), finer))
    accuracies = tuple(split.accuracy(made.labels(split.x_test)) for made, split in programs)
    made, split = programs[0]
    return Row(f"{EMLEARN}, {count} trees", "computer", accuracies, made.cost(split.x_test))


def converted_row(task: Task, method: str, kind: str, fit: Callable[[Split], Any],
                  label: Callable[[Any, Raw], Raw], source: Callable[[Split, Any, str], tuple[str, str]],
                  *flags: str, files: tuple[Path, ...] = ()) -> Row:
    """Measure a converted model of scikit-learn.

    Parameters
    ----------
    task, method
    kind : str
        Type of the sample.
    fit, label : callable
        Model of the samples to learn; its label of each sample.
    source : callable
        Name and text of the program, with a free or a real exponential.
    """
    models = [(fit(split), split) for split in task.fits()]
    accuracies = tuple(split.accuracy(label(model, split.x_test)) for model, split in models)
    model, split = models[0]
    free, real = (Program(dict([source(split, model, name)]), kind, flags, files)
                  for name in others.EXPONENTIALS)
    found, expected = real.labels(split.x_test[:COUNTED]), label(model, split.x_test[:COUNTED])
    if not np.array_equal(found, expected):
        raise SystemExit(f"{task.name}, {method}: the labels {found} are not scikit-learn's, {expected}")
    return Row(method, "computer", accuracies, free.cost(split.x_test))


def one_against_rest(task: Task, split: Split) -> list[Any]:
    """Return a support vector classifier for each class against the rest."""
    from sklearn.svm import SVC

    sigma, c = MACHINES[task.name]
    return [SVC(gamma=0.5 / sigma**2, C=c).fit(split.x, split.y == label) for label in range(task.classes)]


def first_accepting(machines: list[Any], x: Raw) -> Raw:
    """Return the first class whose classifier accepts a sample, or 0."""
    return np.argmax([machine.decision_function(x) > 0 for machine in machines], axis=0)


def logistic(split: Split) -> Any:
    """Return a logistic regression, fitted to the training samples."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=10_000).fit(split.x, split.y)


def their_rows(task: Task, sources: Path, include: Path) -> Iterator[Row]:
    """Measure every row of other libraries.

    Parameters
    ----------
    task
    sources, include : Path
        Folder of CMSIS-DSP's sources; folder of emlearn's headers.
    """
    predict: Callable[[Any, Raw], Raw] = lambda model, x: model.predict(x)  # noqa: E731
    gamma = 0.5 / MACHINES[task.name][0]**2
    flags = [*cmsis_flags(sources), "-std=gnu11"]
    for held in HELD[task.name]:
        yield nearest_row(task, held, include)
    for count in FORESTS:
        yield forest_row(task, count)
    yield converted_row(task, f"{M2CGEN}, SVC", "float64", partial(machine_of, task), predict,
                        lambda *made: ("main.c", others.m2cgen(*made)), "-std=gnu11")
    yield converted_row(task, f"{MICROMLGEN}, SVC", "float32", partial(machine_of, task), predict,
                        lambda *made: ("main.cpp", others.micromlgen(*made)), "-std=gnu++11")
    yield converted_row(task, f"{CMSIS}, SVM one against rest", "float32", partial(one_against_rest, task),
                        first_accepting,
                        lambda split, machines, name: ("main.c", others.cmsis(split, machines, gamma, name)),
                        *flags, files=(next(sources.rglob("arm_svm_rbf_predict_f32.c")),))
    yield converted_row(task, f"{M2CGEN}, logistic regression", "float64", logistic, predict,
                        lambda *made: ("main.c", others.m2cgen(*made)), "-std=gnu11")
    yield converted_row(task, f"{CMSIS}, logistic regression", "float32", logistic, predict,
                        lambda split, model, name: ("main.c", others.linear(split, model)), *flags,
                        files=(next(sources.rglob("arm_dot_prod_f32.c")),))
