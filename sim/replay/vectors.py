"""sim.replay: test vectors (calls with ADC counts and expected results).

Every back end replays the same calls. All results and the final state must equal the expected ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from .._json import parse_json
from ..backend import (
    Backend,
    Comparison,
    FittedBackend,
    Outputs,
    Raw,
    StreamBackend,
    fitted_of,
    stream_of,
    workspace_of,
)
from ..errors import fail
from ..plan import Plan

_CALLS = ("train", "update", "predict")


@dataclass(frozen=True)
class Call:
    """Call of a back end, with its arguments and the expected result.

    Parameters
    ----------
    name : str
        ``train``, ``update`` or ``predict``.
    x_raw : ndarray of int64, shape (m, D), or None
    y_raw : ndarray of int64, shape (m,), or None
    expected : dict
        Result of the integer model.
    """

    name: str
    x_raw: Raw | None
    y_raw: Raw | None
    expected: Outputs

    def run(self, backend: Backend) -> Outputs:
        """Run the call on a back end and return its result."""
        return _answer(backend, self.name, self.x_raw, self.y_raw)

    def as_dict(self, answer: str = "expected") -> dict[str, Any]:
        """Return the call as a dictionary for JSON; the key `answer` has the result."""
        return {"call": self.name, "x": _listed(self.x_raw), "y": _listed(self.y_raw),
                answer: {k: v.tolist() for k, v in self.expected.items()}}

    @classmethod
    def from_dict(cls, written: dict[str, Any], answer: str = "expected") -> Call:
        """Create a call from a dictionary that :meth:`as_dict` returned.

        Raise KeyError, TypeError, ValueError or OverflowError if it is not valid.
        """
        name, x, y = written["call"], written["x"], written["y"]
        call = cls(name, None if x is None else _array(x), None if y is None else _array(y),
                   arrays(written[answer]))
        call._check_shapes(answer)
        return call

    def _check_shapes(self, answer: str) -> None:
        """Check that the lengths of the arguments and of the result agree.

        Raise ValueError, KeyError or TypeError if they do not. A training with too few samples is valid, and
        its result is a status.
        """
        if self.name not in _CALLS:
            raise ValueError(f"no such call: {self.name}")
        if (self.y_raw is None) != (self.name == "predict") or (self.x_raw is None and self.name != "train"):
            raise ValueError(f"{self.name} does not have these arguments x and y")
        if self.name == "train":
            samples = {1}
        else:
            samples = {len(words) for words in (self.x_raw, self.y_raw) if words is not None}
            samples.add(len(self.expected["f"]))
        samples.add(len(self.expected["status"]))
        if len(samples) != 1:
            raise ValueError(f"{self.name}: x, y and {answer} have different lengths")


class Model(Backend, Protocol):
    """Back end that has a plan, such as the result of :func:`...model.open_model`."""

    plan: Plan


def _answer(backend: Backend, name: str, x_raw: Raw | None, y_raw: Raw | None) -> Outputs:
    if name == "train":
        assert y_raw is not None
        return backend.train(x_raw, y_raw)
    assert x_raw is not None
    if name == "update":
        assert y_raw is not None
        return backend.update(x_raw, y_raw)
    return backend.predict(x_raw)


@dataclass(frozen=True)
class Vectors:
    """Test vectors: calls in order, and the final state of model and trainer.

    `workspace` and `fitted` are empty if the plan has no trainer, or if the last training failed. `fitted` is
    also empty if the trainer does not compute fitted values. `stream` has the values of a stream of the last
    training's targets, if the plan has a stream.
    """

    plan_hash: str
    calls: tuple[Call, ...]
    state: Outputs
    workspace: Outputs = field(default_factory=dict)
    fitted: Outputs = field(default_factory=dict)
    stream: Outputs = field(default_factory=dict)

    @property
    def streamed(self) -> Raw | None:
        """Return the targets of the last training, which the stream reads."""
        return _last_targets(self.calls)

    def check(self, plan: Plan, where: str) -> None:
        """Raise E309 if the vectors belong to another plan, E211 if their members differ."""
        if self.plan_hash != plan.hash:
            raise fail("E309", "the vectors belong to another plan", where=where, value=self.plan_hash,
                       allowed=plan.hash, remedy="generate the folder again: kerncast gen SPEC -o FOLDER")
        parts = {member.name for member in plan.memory}
        if set(self.state) != parts:
            raise fail("E211", "the initial state in the vector file does not fit this model", where=where,
                       value=", ".join(sorted(self.state)) or "nothing", allowed=", ".join(sorted(parts)),
                       remedy="generate the folder again: kerncast gen SPEC -o FOLDER")

    def to_json(self) -> str:
        """Return the vectors as JSON, with one call per line; the text is deterministic."""
        lines = [json.dumps(call.as_dict()) for call in self.calls]
        last = {"state": self.state, "workspace": self.workspace, "fitted": self.fitted,
                "stream": self.stream}
        ends = [f'"{name}": ' + json.dumps({k: v.tolist() for k, v in members.items()})
                for name, members in last.items() if members or name == "state"]
        return (f'{{"plan": "{self.plan_hash}",\n"calls": [\n' + ",\n".join(lines)
                + "\n],\n" + ",\n".join(ends) + "}\n")

    @classmethod
    def from_json(cls, text: str, where: str = "vectors.json") -> Vectors:
        """Parse the text of :meth:`to_json`; raise E211 if it is damaged."""
        try:
            whole = parse_json(text)
            calls = tuple(Call.from_dict(c) for c in whole["calls"])
            return cls(str(whole["plan"]), calls, arrays(whole["state"]), arrays(whole.get("workspace", {})),
                       arrays(whole.get("fitted", {})), arrays(whole.get("stream", {})))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise fail("E211", "this is not a vector file", where=where, value=repr(error),
                       allowed="a generated vectors.json",
                       remedy="generate the folder again: kerncast gen SPEC -o FOLDER") from None


def _listed(words: Raw | None) -> Any:
    return None if words is None else words.tolist()


def _array(words: Any) -> Raw:
    """Convert a list of integers to an array; raise TypeError for other values."""
    array = np.array(words)
    if array.size and array.dtype.kind != "i":
        raise TypeError(f"{array.dtype} instead of integers")
    return array.astype(np.int64)


def arrays(words: dict[str, Any]) -> Outputs:
    """Convert lists of integers to arrays; raise TypeError for other values."""
    return {k: _array(v) for k, v in words.items()}


def make_vectors(model: Model, calls: list[tuple[str, Raw | None, Raw | None]]) -> Vectors:
    """Run calls (name, x_raw, y_raw) on a model, and record the results as vectors."""
    answered = tuple(Call(name, x, y, _answer(model, name, x, y)) for name, x, y in calls)
    return Vectors(model.plan.hash, answered, model.state(), workspace_of(model),
                   fitted_of(model, model.plan), stream_of(model, model.plan, _last_targets(answered)))


def _last_targets(calls: tuple[Call, ...]) -> Raw | None:
    return next((call.y_raw for call in reversed(calls) if call.name == "train"), None)


def usual_calls(plan: Plan, x_raw: Raw | None, y_raw: Raw, x_test: Raw,
                passes: int = 1) -> list[tuple[str, Raw | None, Raw | None]]:
    """Return the calls of a demo or a regression test: train or learn, then predict.

    For a model trained elsewhere, the calls only predict.
    """
    if plan.fixed:
        seen = [x_test] if x_raw is None or x_raw is x_test else [x_raw, x_test]
        return [("predict", x, None) for x in seen]
    if plan.trains:
        return [("train", x_raw, y_raw), ("predict", x_test, None)]
    learn: tuple[str, Raw | None, Raw | None] = ("update", x_raw, y_raw)
    return [*[learn] * passes, ("predict", x_test, None)]


def replay(backend: Backend, vectors: Vectors,
           progress: Callable[[Iterator[Call]], Iterator[Call]] = lambda calls: calls) -> Comparison:
    """Run vectors on a back end; compare all results and the final state.

    Parameters
    ----------
    backend : Backend
        Calls that it does not support are skipped.
    vectors : Vectors
        The calls with their expected results.
    progress : callable, optional
        Function that wraps the iterator of calls in order to show progress.
    """
    result = Comparison()
    backend.reset()
    for i, call in enumerate(progress(iter(vectors.calls))):
        if call.name in backend.calls:
            answer = call.run(backend)
            result.add(f"call {i} {call.name}", call.expected, answer)
            result.answers.append(answer)
    if "state" in backend.calls:
        result.add("state", vectors.state, backend.state())
        compare_trainer(result, vectors, backend)
    return result


def compare_trainer(result: Comparison, vectors: Vectors, backend: Backend) -> None:
    """Compare the parts of the results that only some back ends have."""
    found = workspace_of(backend)
    if found:
        result.add("workspace", vectors.workspace, found)
    if vectors.fitted and isinstance(backend, FittedBackend):
        result.add("fitted", vectors.fitted, backend.fitted())
    if vectors.stream and vectors.streamed is not None and isinstance(backend, StreamBackend):
        result.add("stream", vectors.stream, backend.stream(vectors.streamed))


def limit_predictions(vectors: Vectors, samples: int) -> Vectors:
    """Limit each call of predict to `samples` samples, so that slow back ends finish."""
    def first(call: Call) -> Call:
        if call.name != "predict" or call.x_raw is None:
            return call
        return Call(call.name, call.x_raw[:samples], None,
                    {name: words[:samples] for name, words in call.expected.items()})

    return replace(vectors, calls=tuple(first(call) for call in vectors.calls))
