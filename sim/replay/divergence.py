"""sim.replay: find the first difference between a back end and the integer model.

The difference is found by bisection. Neither side stores its intermediate values: each one computes a hash of
the first values, up to a limit, and reports the next value (:mod:`.trace`). The call is repeated with other
limits until the number of equal values is known. The number of runs is twice the binary logarithm of the
number of values, and the device needs only constant memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..backend import Comparison
from .trace import NO_LIMIT, Event, Trace, TracedBackend, no_hooks
from .vectors import Call, Vectors, compare_trainer

Report = Callable[[str], None]


@dataclass(frozen=True)
class Divergence:
    """First difference between a back end and the integer model.

    Parameters
    ----------
    call : int
        Number of the call in the vectors, counted from 0.
    name : str
        ``train``, ``update`` or ``predict``.
    sample : int or None
        Number of the sample within the call; None for ``train``.
    equal : int
        Number of equal values in the call before the difference.
    model, device : Event or None
        The first values that differ in value or position; None for a side that has no further values.
    """

    call: int
    name: str
    sample: int | None
    equal: int
    model: Event | None
    device: Event | None

    @property
    def event(self) -> Event:
        """Return the value of the model, or of the device if the model has none."""
        event = self.model or self.device
        assert event is not None
        return event

    def as_dict(self) -> dict[str, Any]:
        """Return the divergence as a dictionary for ``--json``."""
        place = self.event.as_dict()
        del place["word"]
        return {"call": self.call, "name": self.name, "sample": self.sample, "equal": self.equal, **place,
                "model": self.model and self.model.as_dict(), "device": self.device and self.device.as_dict()}


def find_divergence(model: TracedBackend, device: TracedBackend, vectors: Vectors,
                    report: Report = lambda _: None) -> tuple[Comparison, Divergence | None]:
    """Replay vectors on a back end with trace hooks; return the first difference.

    Parameters
    ----------
    model, device : TracedBackend
        The integer model, and the back end that is compared with it.
    vectors : Vectors
        The calls to replay.
    report : callable, optional
        Progress callback, which is called with a description of each step.

    Returns
    -------
    Comparison
        Comparison of the results, of the final state, and of the traced values up to the divergence.
    Divergence or None
        None if all traced values are equal; the comparison can still contain results that differ.

    Raises
    ------
    KerncastError
        E433 if a back end has no trace hooks.
    """
    for backend in (model, device):
        if "trace" not in backend.calls:
            raise no_hooks(backend.name)
    result, found = Comparison(), None
    model.reset()
    device.reset()
    for i, call in enumerate(vectors.calls):
        report(f"call {i} {call.name}")
        device.trace(NO_LIMIT)
        model.trace(NO_LIMIT)
        result.add(f"call {i} {call.name}", call.expected, call.run(device))
        call.run(model)
        theirs, ours = device.trace(0), model.trace(0)
        if found is None:
            result.words += ours.count
            if (theirs.count, theirs.folded) != (ours.count, ours.folded):
                found = i, min(theirs.count, ours.count)
    result.add("state", vectors.state, device.state())
    compare_trainer(result, vectors, device)
    if found is None:
        return result, None
    result.mismatches += 1
    return result, _bisect(model, device, vectors, *found, report)


def _bisect(model: TracedBackend, device: TracedBackend, vectors: Vectors, i: int, count: int,
            report: Report) -> Divergence:
    """Find the divergence in call `i`; both sides have at least `count` values."""
    call, earlier = vectors.calls[i], _needed(vectors.calls[:i + 1])
    tries = 0

    def probe(limit: int) -> tuple[Trace, Trace]:
        nonlocal tries
        tries += 1
        report(f"call {i} {call.name}: value {limit} of {count}, "
               f"try {tries} of about {count.bit_length() + 2}")
        ours, theirs = (_probe(backend, earlier, call, limit) for backend in (model, device))
        return ours, theirs

    ours, theirs = probe(count)
    equal = count  # if one side simply ended
    if ours.folded != theirs.folded:
        equal, last = 0, count
        while last - equal > 1:
            middle = (equal + last) // 2
            ours, theirs = probe(middle)
            if ours.folded == theirs.folded:
                equal = middle
            else:
                last = middle
        ours, theirs = probe(equal)
    return Divergence(i, call.name, _sample(model, earlier, call, equal), equal, ours.event, theirs.event)


def _needed(calls: Sequence[Call]) -> list[Call]:
    """Return the earlier calls on which the state before the last call depends."""
    if calls[-1].name == "train":
        return []
    before = [call for call in calls[:-1] if call.name != "predict"]
    trained = [k for k, call in enumerate(before) if call.name == "train"]
    return before[trained[-1]:] if trained else before


def _prepare(backend: TracedBackend, earlier: Sequence[Call]) -> None:
    backend.reset()
    for call in earlier:
        call.run(backend)


def _probe(backend: TracedBackend, earlier: Sequence[Call], call: Call, limit: int) -> Trace:
    _prepare(backend, earlier)
    backend.trace(limit)
    call.run(backend)
    return backend.trace(0)


def _sample(model: TracedBackend, earlier: Sequence[Call], call: Call, number: int) -> int | None:
    """Return the index of the sample for which a call computes value `number`.

    `number` counts the values of the call's trace. The result is None if the call trains or has no inputs.
    """
    if call.name == "train" or call.x_raw is None:
        return None
    _prepare(model, earlier)
    model.trace(0)
    last = len(call.x_raw) - 1
    for sample in range(last):
        one = slice(sample, sample + 1)
        y = None if call.y_raw is None else call.y_raw[one]
        Call(call.name, call.x_raw[one], y, {}).run(model)
        number -= model.trace(0).count
        if number < 0:
            return sample
    return last
