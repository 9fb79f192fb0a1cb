"""sim.diagnostics: compare the error on held-out samples with baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array
from ..data import Dataset
from ..spec import Spec
from .baselines import FILTER, baselines
from .held_out import HeldOut, held_out

#: Errors that differ by less than this share count as equal.
_SAME = 0.05
#: So do mean errors that differ by less than this number of standard errors.
_CLEAR = 2.0
#: The two measures.
ERROR_RATE, RMS_ERROR = "error rate", "RMS error"


@dataclass(frozen=True)
class Quality:
    """Errors of a model and of baselines on held-out samples.

    Attributes
    ----------
    judged : str
        Text that describes the predicted samples; see :class:`.Judged`.
    measure : str
        "error rate" or "RMS error".
    samples : int
        Number of predictions.
    sampled : str
        Description of the subset of the data that is used; empty if all data are used.
    error : float
        RMS error in units of y, or error rate; infinite if training failed.
    status : str
        The worst status of all training runs.
    baselines : dict of str to float
        Error of each baseline by its name, in ascending order.
    clear : bool
        Whether the difference from the best baseline is large compared with its standard error.
    """

    judged: str
    measure: str
    samples: int
    sampled: str
    error: float
    status: str
    baselines: dict[str, float]
    clear: bool = True

    @property
    def is_rate(self) -> bool:
        """Return whether the error is an error rate.

        If so, the accuracy is printed instead of the error.
        """
        return self.measure == ERROR_RATE

    @property
    def shown(self) -> str:
        """Return the name of the printed metric."""
        return "accuracy" if self.is_rate else self.measure

    @property
    def best(self) -> tuple[str, float]:
        """Return the name of the best baseline, and its error."""
        return next(iter(self.baselines.items()))

    @property
    def beats_baselines(self) -> bool:
        """Return whether no baseline has a smaller error."""
        return self.error <= self.best[1]

    @property
    def gains(self) -> bool:
        """Return whether the error is clearly below the error of every baseline."""
        return self.clear and self.error < self.best[1] * (1 - _SAME)

    @property
    def best_is_filter(self) -> bool:
        """Return whether the best baseline is a filter, which needs no training."""
        return FILTER in self.best[0]

    @property
    def verdict(self) -> str:
        """Return a short text that states whether the model is better than the baselines."""
        name, least = self.best
        if self.error == np.inf:
            return f"There is no model. Until there is one, use this baseline: {name}."
        if self.error > least * (1 + _SAME):
            trivial = "mean" if "mean" in self.baselines else "majority class"
            lost = trivial if self.error > self.baselines.get(trivial, np.inf) else name
            return (f"Not good: a baseline has a smaller error than the model ({lost}). "
                    "Run kerncast fit, or use the baseline.")
        if self.error > least:
            return f"No gain: the error of a baseline is {1 - least / self.error:.1%} smaller ({name})."
        if self.error >= least * (1 - _SAME):
            return f"No gain: the error is about that of the best baseline ({name})."
        less = 1 - self.error / least
        if not self.clear:
            return (f"No clear gain: the error is {less:.0%} below that of the best baseline ({name}), which "
                    f"may be chance with {self.samples} samples.")
        return f"Good: the error is {less:.0%} below that of the best baseline ({name})."

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as a dictionary for ``--json``."""
        rate = {"accuracy": 1 - self.error} if self.is_rate else {}
        return {"judged_by": self.judged, "measure": self.measure, "samples": self.samples,
                "sampled": self.sampled, "status": self.status, "error": self.error, **rate,
                "baselines": self.baselines, "beats_baselines": self.beats_baselines, "clear": self.clear,
                "verdict": self.verdict}


def losses(found: HeldOut, f: Array) -> Array:
    """Return the squared error of each prediction (k,), or 1 for each wrong class."""
    if not found.classes:
        return np.asarray((f - found.y) ** 2)
    if found.labels:
        return np.asarray(f != found.y, dtype=np.float64)
    middle = float(np.mean(np.unique(found.y_train)))
    return np.asarray((f > middle) != (found.y > middle), dtype=np.float64)


def error_of(found: HeldOut, f: Array) -> float:
    """Return the RMS error of predictions (k,), or the error rate of a classifier."""
    mean = float(np.mean(losses(found, f)))
    return mean if found.classes else float(np.sqrt(mean))


def is_clear(found: HeldOut, f: Array) -> bool:
    """Return whether the model's mean loss differs clearly from that of predictions f."""
    change = losses(found, f) - losses(found, found.f)
    return bool(abs(change.mean()) > _CLEAR * change.std() / np.sqrt(len(change)))


def quality(spec: Spec, data: Dataset) -> Quality | None:
    """Train the integer model; compare its held-out error with the baselines.

    Parameters
    ----------
    spec : Spec
    data : Dataset
        Samples in the formats of the spec.

    Returns
    -------
    Quality or None
        None if there are too few samples to hold any out.

    Raises
    ------
    KerncastError
        Errors of the spec or of its plan.
    """
    found = held_out(spec, data)
    return None if found is None else judge(found, is_lagged(spec))


def is_lagged(spec: Spec) -> bool:
    """Return whether the inputs of a spec are previous samples of one signal."""
    return spec.data is not None and bool(spec.data.lagged)


def judge(found: HeldOut, lagged: bool) -> Quality:
    """Compare held-out predictions with baselines; see :func:`quality`."""
    others = sorted(baselines(found, lagged, lambda f: error_of(found, f)),
                    key=lambda each: error_of(found, each.f))
    return Quality(found.judged, ERROR_RATE if found.classes else RMS_ERROR, len(found.y), found.sampled,
                   _finite(error_of(found, found.f)) if found.trained else float("inf"), found.status,
                   {each.name: error_of(found, each.f) for each in others},
                   not found.trained or is_clear(found, others[0].f))


def _finite(error: float) -> float:
    return error if np.isfinite(error) else float("inf")

