"""sim.spec: the class of a spec, with its validation.

Validation reports all mistakes at once, in the order in which they are in the file, each with its line.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from ..errors import KerncastError, Problem
from .draft import Draft
from .input_rules import with_window
from .keys import (
    TABLES,
    Budget,
    Cg,
    Data,
    Hls,
    Input,
    Kernel,
    Model,
    Numbers,
    Predictor,
    Sweep,
    TargetChoice,
    keys,
)
from .online import Online
from .output import Output
from .problems import table_problems, unknown_table
from .rls import Rls
from .rules import RULES
from .source import KeyPath, Source
from .text import bare
from .toeplitz import Toeplitz

__all__ = ["Budget", "Cg", "Data", "Hls", "Input", "Kernel", "Model", "Numbers", "Online", "Output",
           "Predictor", "Spec", "Sweep", "TargetChoice", "Toeplitz"]

_PLACE = re.compile(r"\[([\w.]+)\] (\w+)")


class Spec(BaseModel):
    """Immutable spec whose values have been validated.

    Parameters
    ----------
    **tables : mapping or table
        The tables of ``kerncast.toml`` by name. Each one is a dict of its keys, or a table of another spec.
        In a dict, ``lam`` can replace the key ``lambda``, which is a keyword of Python.

    Raises
    ------
    KerncastError
        E1xx or E201. One error lists all mistakes.

    Examples
    --------
    >>> spec = Spec(model={"name": "ecg", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
    ...             output={"word": "s12f0"}, kernel={"sigma": 2.0},
    ...             toeplitz={"n": 256, "lam": 0.1, "scheme": "uniform"})
    >>> spec.toeplitz.n
    256
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Model
    input: Input
    output: Output
    kernel: Kernel
    toeplitz: Toeplitz | None = None
    cg: Cg | None = None
    online: Online | None = None
    rls: Rls | None = None
    predictor: Predictor | None = None
    numbers: Numbers = Numbers()
    target: TargetChoice = TargetChoice()
    budget: Budget | None = None
    hls: Hls | None = None
    data: Data | None = None
    sweep: Sweep | None = None
    _source: Source = PrivateAttr(default_factory=lambda: Source("", {}))

    def __init__(self, **tables: Any) -> None:
        source = Source("", {name: _plain(name, value) for name, value in tables.items()
                             if value is not None})
        super().__init__(**_checked(source))

    @classmethod
    def load(cls, path: str | Path) -> Spec:
        """Read and validate a spec file.

        Raise E101 if it cannot be read, E102 if it is not TOML, and E1xx or E201 if it is not valid.
        """
        return cls._from_source(Source.read(Path(path)))

    @classmethod
    def from_text(cls, text: str, name: str = "kerncast.toml") -> Spec:
        """Parse and validate a spec in TOML; error messages call the text `name`."""
        return cls._from_source(Source.parse(text, name))

    @classmethod
    def _from_source(cls, source: Source) -> Spec:
        spec = cls.model_construct(**_checked(source))
        spec._source = source
        return spec

    def __eq__(self, other: object) -> bool:
        """Return whether two specs have equal values, even from different files."""
        return isinstance(other, Spec) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    @property
    def hash(self) -> str:
        """Return the SHA-256 of all values except [sweep], in hexadecimal.

        The values are hashed as canonical JSON.
        """
        values = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"sweep"})
        return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    @property
    def samples(self) -> int | None:
        """Return n, the number of training samples; None unless it is a batch trainer."""
        batch = self.toeplitz or self.cg
        return None if batch is None else batch.n

    @property
    def uniform(self) -> bool:
        """Return whether the inputs are a uniform grid, so that they are not stored."""
        return self.toeplitz is not None and self.toeplitz.scheme == "uniform"

    @property
    def learner(self) -> Online | Rls | None:
        """Return the table of an online learner; None for other algorithms."""
        return self.online or self.rls

    @property
    def passes(self) -> int:
        """Return the number of passes over the training data; 1 for a batch trainer."""
        return 1 if self.learner is None else self.learner.passes

    def to_toml(self) -> str:
        """Return the spec as TOML text, without keys that have their default values."""
        return bare(self)

    @property
    def folder(self) -> Path:
        """Return the folder of the spec's file, to which its paths are relative."""
        return Path(self._source.name).parent

    def summary(self) -> str:
        """Return a line with the name, the algorithm, the sizes and the word length."""
        if self.toeplitz is not None:
            size = f"n = {self.toeplitz.n}, scheme = {self.toeplitz.scheme}, lambda = {self.toeplitz.lam:g}"
        elif self.cg is not None:
            size = f"n = {self.cg.n}, steps = {self.cg.steps}, lambda = {self.cg.lam:g}"
        elif self.predictor is not None:
            size = f"file = {self.predictor.file}"
        elif self.rls is not None:
            size = f"features = {self.rls.features}, forgetting = {self.rls.forgetting:g}"
        else:
            assert self.online is not None  # the rules guarantee one of them
            online = self.online
            size = f"budget = {online.budget}, reduction = {online.title}, eta = {online.eta:g}"
        kernel = ", ".join((f"kernel = {self.kernel.type}",
                            *(f"{k} = {v:g}" for k, v in self.kernel.parameters.items())))
        return (f"{self.model.name}: {self.model.algorithm}, {size}, {kernel}, "
                f"columns = {self.input.columns}, word = {self.numbers.word}, target = {self.target.id}")

    def place(self, *path: str) -> str:
        """Return the place of a key for messages, such as ``ecg.toml:12 [kernel] sigma``."""
        return self._source.where(path)

    def located(self, error: KerncastError) -> KerncastError:
        """Add ``file:line`` to each place in an error that is written as ``[table] key``."""
        return KerncastError([self._located(p) for p in error.problems])

    def _located(self, problem: Problem) -> Problem:
        match = _PLACE.match(problem.where)
        if match is None or not self._source.name:
            return problem
        return replace(problem, where=self._source.where((*match[1].split("."), match[2])))


def _plain(name: str, value: Any) -> Any:
    """Convert a table passed from Python to the dict that a TOML file would contain."""
    if isinstance(value, BaseModel):
        value = value.model_dump(by_alias=True, exclude_none=True)
    if not isinstance(value, Mapping):
        return value
    alias = {field: key for key, field in keys(TABLES[name]).items()} if name in TABLES else {}
    return {alias.get(key, key): _scalar(item) for key, item in value.items() if item is not None}


def _scalar(value: Any) -> Any:
    """Convert NumPy numbers and arrays to Python values."""
    if isinstance(value, (list, tuple)):
        return [_scalar(v) for v in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _checked(source: Source) -> dict[str, Any]:
    """Validate a spec and return its tables.

    Raise one error with all problems, in the order in which they are in the file.
    """
    source = replace(source, values=with_window(source.values))
    found: dict[KeyPath, Problem] = {}
    for name, value in source.values.items():
        if name in TABLES:
            found |= table_problems(name, TABLES[name], value, source)
        else:
            found[(name,)] = unknown_table(name, value, source)
    draft = Draft(source, tuple(found))
    problems = list(found.items())
    for rule in RULES:
        problems += rule(draft)
    if problems:
        # A missing table has no line: it comes last.
        problems.sort(key=lambda item: (item[0][0] not in source.values, source.line(item[0])))
        raise KerncastError(problem for _, problem in problems)
    return {name: TABLES[name].model_validate(dict(value), by_alias=True, by_name=False)
            for name, value in source.values.items()}
