"""lab.fitting: improve the hyperparameters of a spec on its data."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...sim._files import MAX_SPEC, read_text
from ...sim._output_files import write_whole
from ...sim.data import Dataset, load_dataset, with_lags
from ...sim.diagnostics.held_out import status_of
from ...sim.diagnostics.quality import Quality, quality
from ...sim.errors import KerncastError, fail
from ...sim.planner import make_plan
from ...sim.spec import Spec
from ...sim.spec.edit import edited
from ...sim.spec.types import suggest_name
from ..one_output import refuse_several
from ..workflow import test_inputs
from .novelty import ORIGIN, novelty_threshold
from .search import Candidate, Report, Search, applied, rounded
from .tuners import TUNERS, Changes

#: Fewest samples to select on.
MIN_SAMPLES = 8


@dataclass(frozen=True)
class Judgement:
    """Evaluation of a spec on all of its data.

    Attributes
    ----------
    status : str
        Status of the training on all samples, or the error code if the spec is rejected.
    quality : Quality or None
        Error on held-out samples, compared with baselines; None if the spec is rejected.
    ram : int
        RAM of model and trainer in bytes.
    """

    status: str
    quality: Quality | None
    ram: int

    @property
    def error(self) -> float:
        """Return the error on held-out samples; infinite if the spec is rejected."""
        return float("inf") if self.quality is None else self.quality.error

    def as_dict(self) -> dict[str, Any]:
        """Return the evaluation as a dictionary for ``--json``."""
        return {"status": self.status, "ram": self.ram,
                "held_out": None if self.quality is None else self.quality.as_dict()}


@dataclass(frozen=True)
class Fit:
    """Result of a search: a better spec, or the spec as written if none was found.

    Attributes
    ----------
    spec, new : Spec
        The spec as written, and the recommended one.
    changes : dict
        Recommended values that differ from the spec as written.
    before, after : Judgement
        Evaluations of both specs.
    candidates : int
        Number of specs that were evaluated.
    judged : str
        Description of how candidates were evaluated.
    sampled : str
        Description of the samples on which candidates were evaluated; empty if all were used.
    stopped : str
        Reason why the search ended early; empty if it was completed.
    ahead : str
        If the model smooths a signal: a command that drafts a model to predict its next sample.
    novelty : str
        Origin of the threshold of the novelty; empty if the spec has none.
    """

    spec: Spec
    new: Spec
    changes: Changes
    before: Judgement
    after: Judgement
    candidates: int
    judged: str
    sampled: str
    stopped: str
    ahead: str = ""
    novelty: str = ""

    @property
    def verdict(self) -> str:
        """Return one or two sentences on the quality of the recommended spec."""
        own = "" if self.after.quality is None else self.after.quality.verdict.replace(
            "Run kerncast fit, or use the baseline.", "No better values were found; use the baseline.")
        if self.ahead and self.after.quality is not None and not self.after.quality.gains:
            why = ("A filter is enough to smooth this signal." if self.after.quality.best_is_filter else
                   "Smoothing does not improve this signal.")
            own += f" {why} To predict its next sample: {self.ahead}"
        if self.after.status != "ok":
            return f"No values with status \"ok\" were found. {own}"
        if all("novelty" in key for _, key in self.changes):
            return f"No better values were found. {own}"
        if self.after.error > self.before.error:
            return (f"The error is larger than before, but the status before was {self.before.status}. "
                    f"Only values with status \"ok\" are recommended. {own}")
        return own

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for ``--json``."""
        return {"name": self.spec.model.name, "changes": {
                    ".".join(filter(None, path)): value for path, value in self.changes.items()},
                "before": self.before.as_dict(), "after": self.after.as_dict(), "verdict": self.verdict,
                "novelty": self.novelty, "candidates": self.candidates, "selected": self.judged,
                "sampled": self.sampled, "stopped": self.stopped}

    def write(self, source: Path, path: Path) -> None:
        """Write the recommended spec to a file, with the comments of the old one.

        Parameters
        ----------
        source : Path
            File of the spec as written.
        path : Path
            File to write. The paths of data files are made relative to its folder.
        """
        moved = {("data", key): Path(os.path.relpath(source.parent / value, path.parent)).as_posix()
                 for key, value in _files(self.new).items()} if path.parent.resolve() != \
            source.parent.resolve() else {}
        changes = {**self.changes, **moved}
        wanted = Spec(**applied(self.spec, changes))
        try:
            text = edited(read_text(source, MAX_SPEC, "utf-8-sig"), changes)
            if Spec.from_text(text) != wanted:
                raise ValueError
        except (KerncastError, ValueError):  # tables written in another way than [table]
            text = wanted.to_toml()
        write_whole(path, text)


def _files(spec: Spec) -> dict[str, str]:
    """Return the paths of a spec's data files by key."""
    data = spec.data
    assert data is not None
    return {key: value for key, value in (("file", data.file), ("test", data.test)) if value is not None}


def fit_spec(spec: Spec, base: Path, samples: int | None, report: Report) -> Fit:
    """Search for better hyperparameters of a spec.

    Each candidate is evaluated with the integer model on held-out samples. The recommended spec has status
    ok. On all data, its error is not larger than that of the spec as written, unless the latter does not have
    status ok.

    Parameters
    ----------
    spec : Spec
    base : Path
        Folder to which the paths of the spec's data files are relative.
    samples : int or None
        Maximum number of samples for the evaluation of candidates. If None, it is chosen to limit the time.
    report : callable
        Progress callback; receives the number of evaluated candidates, and the maximum number.

    Raises
    ------
    KerncastError
        E124 for several outputs of a regression, E240 to E247 if the data are invalid, E238 if `samples` or
        the number of samples is too small, E279 if the model was trained elsewhere.
    """
    if spec.model.algorithm not in TUNERS:
        raise fail("E279", "this model was trained elsewhere", where="[model] algorithm",
                   value=spec.model.algorithm, allowed="an algorithm that trains on the device",
                   remedy="run kerncast sim to measure its error; to improve it, use the tool that "
                          "trained it")
    if spec.output.targets > 1:
        refuse_several(spec, "a search for better values")
    data = load_dataset(spec, base)
    for count, where in ((samples, "--samples"), (len(data.y_raw), "[data]")):
        if count is not None and count < MIN_SAMPLES:
            raise fail("E238", "too few samples for an error on held-out samples", where=where, value=count,
                       allowed=f"{MIN_SAMPLES} or more", remedy="use more samples")
    search = Search(spec, data, samples, report)
    steps = search.run()
    before = judgement(spec, data)
    chosen, after = _accepted(steps, spec, data, before)
    threshold = novelty_threshold(chosen.spec, data) if after.status == "ok" else {}
    changes = chosen.changes | threshold
    return Fit(spec, Spec(**applied(spec, changes)) if threshold else chosen.spec, differing(spec, changes),
               before, after, len(search.found), search.judged, search.sampled, search.stopped,
               _ahead(spec, base), ORIGIN if threshold else "")


def _ahead(spec: Spec, base: Path) -> str:
    """Return the command that writes a spec to predict the next sample of a signal.

    The text is empty if the model does not smooth a signal from a file.
    """
    data = spec.data
    if data is None or data.file is None or not spec.uniform:
        return ""
    options = [f"--{key.replace('_', '-')} {shlex.quote(str(value))}"
               for key in ("target_column", "time", "decimal", "separator", "rows")
               if (value := getattr(data, key)) is not None]
    name = suggest_name(f"{spec.model.name}_next")
    file = shlex.quote(str(base / data.file))
    return " ".join(["kerncast init", name, "--data", file, "--lags 8", *options])


def differing(spec: Spec, changes: Changes) -> Changes:
    """Return those changes that differ from the values of a spec."""
    tables = spec.model_dump(mode="json", by_alias=True)
    return {(table, key): value for (table, key), value in changes.items()
            if not key or ((table, "") not in changes and (tables.get(table) or {}).get(key) != value)}


def judgement(spec: Spec, data: Dataset) -> Judgement:
    """Evaluate a spec on all of its data."""
    try:
        data = with_lags(spec, data)
        plan = make_plan(spec, data.x_raw, data.y_raw)
        status = status_of(spec, plan, data, test_inputs(plan, data))
        return Judgement(status, quality(spec, data), plan.ram_bytes)
    except KerncastError as error:
        return Judgement(error.problems[0].code, None, 0)


def _larger_lambda(spec: Spec) -> list[Changes]:
    """Return changes of a batch trainer to larger values of lambda."""
    return [{(name, "lambda"): rounded(factor * batch.lam)} for factor in (2, 4, 16)
            for name, batch in (("toeplitz", spec.toeplitz), ("cg", spec.cg)) if batch is not None]


def _remedied(step: Candidate, spec: Spec, data: Dataset) -> tuple[Candidate, Judgement]:
    """Evaluate a candidate on all data; apply remedies if its status is not ok.

    Training on all samples may need more steps, a longer word length or a larger lambda than training on
    fewer samples.
    """
    after = judgement(step.spec, data)
    remedies = (*TUNERS[step.spec.model.algorithm].remedies(step.spec), *_larger_lambda(step.spec))
    for remedy in remedies if after.status != "ok" else ():
        changes = {**step.changes, **remedy}
        try:
            other = replace(step, spec=Spec(**applied(spec, changes)), changes=changes)
        except KerncastError:  # this spec does not allow the remedy
            continue
        found = judgement(other.spec, data)
        if ("numbers", "word") not in remedy and found.status == "ok":
            return other, found
    return step, after


def _accepted(steps: list[Candidate], spec: Spec, data: Dataset,
              before: Judgement) -> tuple[Candidate, Judgement]:
    """Return the first candidate whose error on all data is not larger than before.

    If no candidate qualifies, the spec as written is returned. If its status is not ok, a candidate with
    status ok is preferred, even with a larger error.
    """
    worse = None
    for step in (step for step in steps if step.ok and step.changes):
        each, after = _remedied(step, spec, data)
        if after.status == "ok" and np.isfinite(after.error):
            if after.error <= before.error:
                return each, after
            worse = worse or (each, after)
    if before.status != "ok" and worse is not None:
        return worse
    return Candidate(spec, {}, before.status == "ok", before.error, before.error), before
