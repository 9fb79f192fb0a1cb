"""lab.fitting: search for hyperparameters, evaluated with the integer model.

First, the kernel width is scanned in factors of 4 around the value in the spec and around the default
width for the samples, together with a few values of the second hyperparameter. From the best point, each
hyperparameter is multiplied or divided by a factor as long as the error decreases; smaller factors follow.
The range is not limited by a grid. Then, the variants of the algorithm are evaluated. After a variant is
adopted, the hyperparameters are searched again. The Matern kernels are evaluated last, near the width that
smooths as much as the best kernel so far, because a scan of their widths would take too long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...codegen.firmware.targets import load_target
from ...codegen.generate import check_memory
from ...sim.data import Dataset, with_lags
from ...sim.diagnostics.held_out import Judged, held_out, judged_by, of_size, part_of
from ...sim.diagnostics.quality import error_of
from ...sim.errors import KerncastError
from ...sim.jit import COMPILED
from ...sim.planner import make_plan
from ...sim.reference.selection.width import grid_or_spread_width
from ...sim.spec import Spec
from .tuners import TUNERS, Changes, Number, Variant

#: Candidates at most, and seconds of processor time after which the search ends with what it has.
MAX_CANDIDATES, MAX_SECONDS = 160, 30.0
#: Factors of the scan of the width, and of the second number; then those of the moves.
_SCAN, _SECOND = (0.0625, 0.25, 1.0, 4.0, 16.0), (0.1, 1.0, 10.0)
_MOVES = (2.0, 1.25)
_DIGITS = 4
#: The error of a candidate with a remedy counts 5 % more.
_OF_REMEDY = 1.05
#: Multiply-accumulates of one candidate, which limit the samples it is judged on.
_WORK = 4e7 if COMPILED else 4e5
_LEAST_SAMPLES, _MOST_SAMPLES = 64, {"toeplitz_rls": 1024 if COMPILED else 256, "kernel_cg": 800,
                                     "kernel_lms": 20_000, "online_kernel_rls": 20_000}

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Candidate:
    """Spec that was evaluated on held-out samples.

    Attributes
    ----------
    spec : Spec
    changes : dict
        Values that differ from the spec as written.
    ok : bool
        Whether the status is ok.
    error : float
        Error on held-out samples; infinite if there is no model.
    rms : float
        RMS error on the same samples. It ranks classifiers that have the same error rate.
    remedied : bool
        Whether a remedy that needs more memory or time was applied, to obtain status ok. Such a candidate is
        better than another one only if its error is 5 % lower.
    """

    spec: Spec
    changes: Changes
    ok: bool
    error: float
    rms: float
    remedied: bool = False

    def improves(self, other: Candidate, gain: float) -> bool:
        """Report whether the error is lower than the error of `other` by a relative gain.

        A candidate with status ok is always better than one without. If `gain` is 0, the RMS error decides
        between equal errors.
        """
        if self.ok != other.ok:
            return self.ok
        return self.error < other.error * (1 - gain) or (gain == 0 and self.order <= other.order)

    @property
    def order(self) -> tuple[bool, float, float]:
        """Return the sort key of a candidate; the best candidate has the smallest key."""
        factor = _OF_REMEDY if self.remedied else 1.0
        return not self.ok, factor * self.error, factor * self.rms


@dataclass
class Search:
    """Search that evaluates each candidate once.

    Attributes
    ----------
    base : Spec
        The spec as written.
    data : Dataset
    samples : int or None
        Maximum number of samples for the evaluation. If None, it is chosen to limit the time.
    report : callable
        Progress callback; receives the number of evaluated candidates, and the maximum number.
    found : dict
        The evaluated candidates, by their tables as JSON.
    longer : bool
        Whether a longer word length may be recommended. This is the case only if no candidate has status ok
        at the word length of the spec.
    stopped : str
        Reason why the search ended early; empty if it was completed.
    """

    base: Spec
    data: Dataset
    samples: int | None
    report: Report
    found: dict[str, Candidate] = field(default_factory=dict)
    longer: bool = False
    stopped: str = ""

    def __post_init__(self) -> None:
        self.judged, self.part, self.sampled = selection(self.base, self.data, self.samples)
        self._most, self._least = MAX_CANDIDATES, np.inf
        self._start = float("inf")  # of the second candidate: the first one may compile the integer model

    def run(self) -> list[Candidate]:
        """Run the search; return the successive best candidates, the final one first."""
        self._most = MAX_CANDIDATES // 2  # the variants get the rest
        best = self._moved(self._scanned(self.judge({})))
        self._most = MAX_CANDIDATES
        if not best.ok:
            self.longer = True
            best = self._moved(self._scanned(self.judge(best.changes)))
        steps = [best]
        for _ in range(2):
            before = best
            for variant in TUNERS[best.spec.model.algorithm].variants(best.spec):
                if variant.ordered and self.judged is not Judged.AHEAD:
                    continue
                other = self._evaluated(best, variant)
                if other.improves(best, variant.gain):
                    steps.append(best := self._moved(other))
            if best is before or self.finished:
                break
        return steps[::-1]

    def _evaluated(self, best: Candidate, variant: Variant) -> Candidate:
        """Return the best candidate of a variant."""
        other = self.judge({**best.changes, **variant.changes})
        if variant.rescan:
            return self._moved(self._scanned(other))
        if variant.others:
            others = [self.judge({**best.changes, **changes}) for changes in variant.others]
            return self._moved(min([other, *others], key=lambda each: each.order), _MOVES[:1])
        return other

    @property
    def finished(self) -> bool:
        """Report whether the maximum number of candidates or the time limit is reached."""
        if len(self.found) >= self._most:
            if self._most == MAX_CANDIDATES:
                self.stopped = f"stopped after {MAX_CANDIDATES} candidates"
            return True
        if time.process_time() - self._start > MAX_SECONDS:
            self.stopped = f"stopped after {MAX_SECONDS:.0f} s of processor time"
        return bool(self.stopped)

    def judge(self, changes: Changes) -> Candidate:
        """Evaluate a candidate; apply remedies if its status is not ok."""
        made = self._judged(changes)
        if made.ok or made.error >= self._least:
            return made
        for remedy in TUNERS[made.spec.model.algorithm].remedies(made.spec):
            if ("numbers", "word") in remedy and not self.longer:
                continue
            other = self._judged({**changes, **remedy})
            if other.ok:
                return replace(other, remedied=True)
        return made

    def _judged(self, changes: Changes) -> Candidate:
        values = applied(self.base, changes)
        key = json.dumps(values, sort_keys=True)
        if key not in self.found:
            if self.finished:
                return Candidate(self.base, {}, False, np.inf, np.inf)
            self.found[key] = self._run(values, changes)
            self._start = min(self._start, time.process_time())
            self.report(len(self.found), MAX_CANDIDATES)
        return self.found[key]

    def _run(self, values: dict[str, Any], changes: Changes) -> Candidate:
        try:
            spec = Spec(**values)
            data, part = with_lags(spec, self.data), with_lags(spec, self.part)
            plan = make_plan(spec, data.x_raw, data.y_raw)
            check_memory(plan, load_target(spec.target.id))
            samples = len(part.y_raw)
            made = held_out(of_size(spec, samples), part, samples, self.judged)
        except KerncastError:
            return Candidate(self.base, changes, False, np.inf, np.inf)
        if made is None or not made.trained:
            return Candidate(spec, changes, False, np.inf, np.inf)
        rms = float(np.sqrt(np.mean((made.f - made.y) ** 2)))
        error = error_of(made, made.f)
        if not np.isfinite(error):
            return Candidate(spec, changes, False, np.inf, np.inf)
        if made.status == "ok":
            self._least = min(self._least, error)
        return Candidate(spec, changes, made.status == "ok", error, rms)

    # ---- moves ----
    def _numbers(self, spec: Spec) -> list[Number]:
        """Return the hyperparameters of a spec that the search varies."""
        tables = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
        return [each for each in TUNERS[spec.model.algorithm].numbers
                if each.key in tables.get(each.table, {})]

    def _times(self, start: Candidate, number: Number, factor: float) -> Changes:
        tables = start.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
        value = float(np.clip(tables[number.table][number.key] * factor, number.lo, number.hi))
        return {**start.changes, (number.table, number.key): rounded(value)}

    def _scanned(self, start: Candidate) -> Candidate:
        """Return the best candidate of a coarse scan over the first two hyperparameters."""
        numbers, best = self._numbers(start.spec), start
        for width in self._widths(start.spec) if len(numbers) > 1 else (1.0,):
            for other in _SECOND:
                changes: Changes = dict(start.changes)
                for number, factor in zip(numbers, (width, other)[-len(numbers):], strict=True):
                    if factor != 1.0:
                        changes |= self._times(start, number, factor)
                best = min(best, self.judge(changes), key=lambda each: each.order)
        return best

    def _widths(self, spec: Spec) -> list[float]:
        """Return the factors for the scan of the kernel width.

        They cover values around the width in the spec, and around the default width for the samples.
        """
        assert spec.kernel.sigma is not None
        step = np.array(spec.input.gains) * float(spec.input.format.lsb)
        X = (with_lags(spec, self.part).x_raw - np.array(spec.input.offsets)) * step
        own = grid_or_spread_width(X) / spec.kernel.sigma
        return [*_SCAN, *(own * factor for factor in _SCAN[1:])]

    def _moved(self, start: Candidate, factors: tuple[float, ...] = _MOVES) -> Candidate:
        """Multiply or divide each hyperparameter by factors while the error decreases."""
        best = start
        if not np.isfinite(best.error):
            return best
        for factor in factors:
            moving = True
            while moving and not self.finished:
                moving = False
                for number in self._numbers(best.spec):
                    for step in (factor, 1 / factor):
                        other = self.judge(self._times(best, number, step))
                        while other.order < best.order:
                            best, moving = other, True
                            other = self.judge(self._times(best, number, step))
        return best


def selection(spec: Spec, data: Dataset, samples: int | None) -> tuple[Judged, Dataset, str]:
    """Return how candidates are evaluated, the samples, and a description of them.

    Test samples are not used, because the search selects the best candidate.
    """
    judged = judged_by(spec, data)
    if judged is Judged.TEST:
        judged = Judged.LEFT_OUT if spec.uniform else Judged.FOLDS
    training = Dataset(data.x_raw, data.y_raw, None, None, data.clean, data.title, data.licence)
    _, part, sampled = part_of(spec, training, samples or most_samples(spec))
    return judged, part, sampled


def most_samples(spec: Spec) -> int:
    """Return the maximum number of samples for the evaluation of a candidate."""
    columns, most = spec.input.columns, _MOST_SAMPLES[spec.model.algorithm]
    if spec.cg is not None:
        return int(np.clip((_WORK / (spec.cg.steps * columns)) ** 0.5, _LEAST_SAMPLES, most))
    if spec.rls is not None:
        return int(np.clip(_WORK / spec.rls.features**2, 10 * _LEAST_SAMPLES, most))
    if spec.online is not None:
        return int(np.clip(_WORK / (spec.online.budget * columns), 10 * _LEAST_SAMPLES, most))
    return most


def rounded(value: float) -> float:
    """Round a value to the number of digits that are printed.

    Therefore, the printed value is the one that was evaluated.
    """
    return float(f"{value:.{_DIGITS}g}")


def applied(spec: Spec, changes: Changes) -> dict[str, Any]:
    """Return the tables of a spec after changes."""
    values: dict[str, Any] = spec.model_dump(mode="json", by_alias=True, exclude_none=True,
                                             exclude_defaults=True)
    for (table, key), value in changes.items():
        if not key:
            values.pop(table, None)
        elif value is None:
            values.get(table, {}).pop(key, None)
        else:
            values.setdefault(table, {})[key] = value
    return values
