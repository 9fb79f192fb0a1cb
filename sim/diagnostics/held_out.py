"""sim.diagnostics: predictions for samples that the training did not see.

The integer model trains and predicts. The data and the algorithm decide which samples are held out:

=================================  =====================================================================
data and algorithm                 samples that are predicted
=================================  =====================================================================
the clean signal is known          the training samples; they are compared with the clean signal
test samples are given             the test samples
toeplitz_rls on a uniform grid     each sample, by a model trained without it (leave-one-out)
other batch trainers               each of four folds, by a model trained on the other three
online learners                    each sample before it is learnt, except the first quarter
a model trained elsewhere          the samples of [data]
=================================  =====================================================================

The leave-one-out errors of (K + lambda I) alpha = y need no further training. Let M be the inverse of the
matrix, which has an additional row and column of ones if the model has an intercept. The error for sample i
is ``alpha_i / M_ii`` (C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006,
equation 5.12), where ``lambda alpha = y - f``. The predictions f are those of the integer model, so the
result includes its rounding errors.

Folds consist of blocks of consecutive samples, because neighbouring samples of a signal are similar. If the
targets are classes, which may be sorted, the folds are chosen at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Raw
from ..backend import STATUSES, Outputs
from ..candidates import chosen_plan
from ..data import Dataset
from ..model import open_model
from ..plan import Plan
from ..planner import make_plan
from ..reference.backend import FloatReference
from ..spec import Spec
from .classes import labels_of
from .simulate import UNTRAINED, fit_backend, grid, status_of_both, worst_status, y_values

#: Most samples of a batch trainer that are left out or divided into folds; of more, a part is used.
MAX_SAMPLES = 2048
#: Fewest samples from which some can be held out.
MIN_SAMPLES = 8
FOLDS = 4
#: Blocks of consecutive samples in each fold.
BLOCKS = 5
#: The first quarter of a stream does not count.
WARM_UP = 4

Rows = NDArray[np.int64]


class Judged(StrEnum):
    """Method of evaluating predictions; the value of each member is the text to print."""

    CLEAN = "relative to the clean signal"
    TEST = "on the test samples"
    LEFT_OUT = "on each sample, by a model trained without it"
    FOLDS = "on the held-out samples of four folds"
    AHEAD = "on each sample before it is learnt"
    GIVEN = "on the samples of [data]"


@dataclass(frozen=True)
class HeldOut:
    """Held-out samples with their predictions.

    Attributes
    ----------
    judged : Judged
        The method of evaluation.
    status : str
        The worst status of all training runs.
    y, f : ndarray of float64, shape (k,)
        Targets and predictions of the integer model, in units of y; labels for [output] classes.
    X_train, X : ndarray of float64, shapes (m, D) and (k, D)
        Inputs for training and for prediction, in units of x.
    y_train : ndarray of float64, shape (m,)
        Training targets, in the same units as `y`. With folds, and for streams, all samples are listed here,
        including those that are predicted.
    folds : tuple of ndarray of int64
        Indices of the samples in each fold; empty if folds are not used.
    first : int
        Index of the first sample of a stream that is evaluated; earlier samples are used only for training.
    classes : bool
        Whether the targets are labels, or have exactly two values.
    labels : int
        Number of classes if targets and predictions are labels, otherwise 0.
    sampled : str
        Description of the subset of the data that is used; empty if all data are used.
    """

    judged: Judged
    status: str
    y: Array
    f: Array
    X_train: Array
    X: Array
    y_train: Array
    folds: tuple[Rows, ...] = ()
    first: int = 0
    classes: bool = False
    labels: int = 0
    sampled: str = ""

    @property
    def trained(self) -> bool:
        """Return whether every training run produced a model."""
        return self.status not in UNTRAINED


def judged_by(spec: Spec, data: Dataset) -> Judged:
    """Choose the method of evaluating a spec's predictions on a data set."""
    if spec.predictor is not None:
        return Judged.GIVEN
    if data.clean is not None:
        return Judged.CLEAN
    if data.y_test_raw is not None:
        return Judged.TEST
    if spec.learner is not None and spec.output.classes is None:
        return Judged.AHEAD  # classes may be sorted: then the sample before predicts each label
    return Judged.LEFT_OUT if spec.uniform else Judged.FOLDS


def held_out(spec: Spec, data: Dataset, most: int = MAX_SAMPLES,
             judged: Judged | None = None) -> HeldOut | None:
    """Train the integer model and predict held-out samples.

    Parameters
    ----------
    spec : Spec
    data : Dataset
        Samples in the formats of the spec.
    most : int
        Maximum number of samples to use for leave-one-out errors or folds.
    judged : Judged, optional
        Method of evaluation; by default the result of :func:`judged_by`.

    Returns
    -------
    HeldOut or None
        None if there are too few samples to hold any out.

    Raises
    ------
    KerncastError
        Errors of the spec or of its plan.
    """
    judged = judged or judged_by(spec, data)
    if judged in (Judged.LEFT_OUT, Judged.FOLDS, Judged.AHEAD) and len(data.y_raw) < MIN_SAMPLES:
        return None
    sampled = ""
    if judged in (Judged.LEFT_OUT, Judged.FOLDS):
        spec, data, sampled = part_of(spec, data, most)
    if judged is Judged.FOLDS:
        found = _in_folds(spec, data)
    else:
        plan = make_plan(spec, data.x_raw, data.y_raw)
        found = {Judged.CLEAN: _against_clean, Judged.TEST: _on_test, Judged.LEFT_OUT: _left_out,
                 Judged.AHEAD: _ahead, Judged.GIVEN: _given}[judged](spec, plan, data)
    return replace(found, classes=judged is not Judged.CLEAN and are_classes(spec, data),
                   labels=len(spec.output.classes or ()), sampled=sampled)


def are_classes(spec: Spec, data: Dataset) -> bool:
    """Return whether the targets are labels, or have exactly two values."""
    return spec.output.classes is not None or len(np.unique(data.y_raw)) == 2


def part_of(spec: Spec, data: Dataset, most: int) -> tuple[Spec, Dataset, str]:
    """Select at most `most` samples; return their spec, the samples and a description.

    From a uniform grid, the function selects consecutive samples from the region where the targets vary most.
    From a stream, it selects the first samples. From other data, it selects equally spaced blocks of
    consecutive samples; if the targets are classes, each block is a single sample.
    """
    n = len(data.y_raw)
    if n <= most:
        return spec, data, ""
    if spec.learner is not None and spec.output.classes is None:
        rows, what = np.arange(most), f"the first {most:,} of {n:,} samples"
    elif spec.uniform:
        starts = np.arange(0, n - most + 1, max(1, most // 4))
        first = int(max(starts, key=lambda i: float(np.std(data.y_raw[i:i + most]))))
        rows, what = first + np.arange(most), f"{most:,} consecutive samples of {n:,}, from sample {first:,}"
    else:
        length = 1 if are_classes(spec, data) else max(1, most // (FOLDS * BLOCKS))
        blocks = -(-most // length)
        starts = np.linspace(0, n - length, blocks).astype(np.int64)
        rows = np.unique(starts[:, None] + np.arange(length))[:most]
        what = f"{len(rows):,} of {n:,} samples"
    x = data.x_raw[:len(rows)] if spec.uniform else data.x_raw[rows]
    clean = None if data.clean is None else data.clean[rows]
    return of_size(spec, len(rows)), replace(data, x_raw=x, y_raw=data.y_raw[rows], clean=clean), what


def of_size(spec: Spec, n: int) -> Spec:
    """Return the spec with n training samples, if its algorithm is a batch trainer.

    Any other spec is returned unchanged.
    """
    tables = {name: table.model_copy(update={"n": n})
              for name, table in (("toeplitz", spec.toeplitz), ("cg", spec.cg)) if table is not None}
    return spec.model_copy(update=tables)


def _train(spec: Spec, plan: Plan, data: Dataset, at: Raw) -> tuple[str, Array]:
    """Train the integer model, and predict for the inputs `at`.

    Return the worst status, and the predictions in units of y or as labels.
    """
    model = open_model(plan)
    learned = fit_backend(model, plan, None if plan.uniform else data.x_raw, data.y_raw, spec.passes)
    answers = model.predict(at)
    return status_of_both(learned, answers), _predicted(plan, answers)


def _predicted(plan: Plan, answers: Outputs) -> Array:
    """Convert predictions to units of y, or to labels if the model has classes."""
    f = y_values(plan, answers["f"])
    return labels_of(plan, f).astype(np.float64) if plan.decision else f


def _targets(reference: FloatReference, y_raw: Raw) -> Array:
    """Convert targets to units of y, or to labels if the model has classes."""
    return y_raw.astype(np.float64) if reference.plan.decision else reference.targets(y_raw)


def status_of(spec: Spec, plan: Plan, data: Dataset, at: Raw) -> str:
    """Train on all samples, and predict for inputs `at`; return the worst status."""
    return _train(spec, plan, data, at)[0]


def _worst(*statuses: str) -> str:
    codes = np.array([code for code, name in STATUSES.items() if name in statuses])
    return worst_status({"status": codes})


def _against_clean(spec: Spec, plan: Plan, data: Dataset) -> HeldOut:
    assert data.clean is not None
    status, f = _train(spec, plan, data, grid(plan) if plan.uniform else data.x_raw)
    reference = FloatReference(plan)
    X = reference.inputs(data.x_raw)
    return HeldOut(Judged.CLEAN, status, data.clean, f, X, X, _targets(reference, data.y_raw))


def _on_test(spec: Spec, plan: Plan, data: Dataset) -> HeldOut:
    assert data.x_test_raw is not None and data.y_test_raw is not None
    status, f = _train(spec, plan, data, data.x_test_raw)
    reference = FloatReference(plan)
    return HeldOut(Judged.TEST, status, _targets(reference, data.y_test_raw), f, reference.inputs(data.x_raw),
                   reference.inputs(data.x_test_raw), _targets(reference, data.y_raw))


def _left_out(spec: Spec, plan: Plan, data: Dataset) -> HeldOut:
    model = open_model(plan)
    learned, answers = model.train(None, data.y_raw), model.predict(grid(plan))
    status, f = status_of_both(learned, answers), _predicted(plan, answers)
    plan = chosen_plan(plan, model.state())
    reference = FloatReference(plan)
    X, y = reference.inputs(grid(plan)), _targets(reference, data.y_raw)
    column = reference.first_column(None)
    n = len(y)
    A = column[np.abs(np.subtract.outer(np.arange(n), np.arange(n)))]
    if plan.bias:
        A = np.block([[A, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    without = y - (y - f) / (plan.lam * _diagonal_of_inverse(A)[:n])
    return HeldOut(Judged.LEFT_OUT, status, y, without, X, X, y)


def _diagonal_of_inverse(A: Array) -> Array:
    """Return the diagonal of the inverse of A; NaN if A is singular."""
    try:
        return np.asarray(np.diagonal(np.linalg.inv(A)))
    except np.linalg.LinAlgError:
        return np.full(len(A), np.nan)


def _ahead(spec: Spec, plan: Plan, data: Dataset) -> HeldOut:
    model = open_model(plan)
    answers = model.update(data.x_raw, data.y_raw)
    status = status_of_both(answers, model.predict(data.x_raw[-1:]))
    first = len(data.y_raw) // WARM_UP
    reference = FloatReference(plan)
    X, y = reference.inputs(data.x_raw), _targets(reference, data.y_raw)
    return HeldOut(Judged.AHEAD, status, y[first:], _predicted(plan, answers)[first:], X, X[first:], y,
                   first=first)


def _given(spec: Spec, plan: Plan, data: Dataset) -> HeldOut:
    answers = open_model(plan).predict(data.x_raw)
    reference = FloatReference(plan)
    X, y = reference.inputs(data.x_raw), _targets(reference, data.y_raw)
    return HeldOut(Judged.GIVEN, worst_status(answers), y, _predicted(plan, answers), X, X, y)


def _in_folds(spec: Spec, data: Dataset) -> HeldOut:
    """Predict each fold by a model that is trained on the other folds."""
    n = len(data.y_raw)
    folds = tuple(make_folds(n, shuffled=are_classes(spec, data)))
    f, worst = np.zeros(n), []
    for fold in folds:
        rest = np.setdiff1d(np.arange(n), fold)
        rows = replace(data, x_raw=data.x_raw[rest], y_raw=data.y_raw[rest])
        smaller = of_size(spec, len(rest))
        plan = make_plan(smaller, rows.x_raw, rows.y_raw)
        status, f[fold] = _train(smaller, plan, rows, data.x_raw[fold])
        worst.append(status)
    reference = FloatReference(make_plan(of_size(spec, n), data.x_raw, data.y_raw))
    X, y = reference.inputs(data.x_raw), _targets(reference, data.y_raw)
    return HeldOut(Judged.FOLDS, _worst(*worst), y, f, X, X, y, folds=folds)


def make_folds(n: int, shuffled: bool) -> Iterator[Rows]:
    """Yield the sample indices of each fold: consecutive blocks, or a random choice."""
    order = np.random.default_rng(0).permutation(n) if shuffled else np.arange(n)
    blocks = np.array_split(order, min(FOLDS * BLOCKS, n))
    for i in range(FOLDS):
        yield np.sort(np.concatenate(blocks[i::FOLDS]))
