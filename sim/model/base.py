"""sim.model: constants, predictions and errors that the integer models share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backend import Outputs, field_arrays, refused_training, refused_update
from ..data import raw
from ..jit import jit
from ..plan import Plan
from ..primitives import Words
from ..replay.saved_state import Saving
from ..replay.trace import TRACED_CALLS, Trace
from ..window import Window, window
from . import trace_hooks as at
from .kernel import (
    Cast,
    InputConstants,
    KernelConstants,
    cast_of,
    convert_x,
    convert_y,
    input_constants,
    kernel_constants,
)
from .predict import expand
from .ranges import Ranges
from .statuses import NOT_TRAINED, OK, SATURATED, TRAINED
from .trace_hooks import Log, trace_all


@jit
def _convert_targets(raw: Words, i: InputConstants, out: Words, log: Log) -> None:
    for m in range(raw.shape[0]):
        out[m] = convert_y(raw[m], i, log)


def fixed_targets(plan: Plan, y_raw: Words) -> Words:
    """Convert targets from ADC counts to y (n,); (n, C) gives flat (C, n)."""
    counts = np.ascontiguousarray(np.asarray(y_raw, dtype=np.int64).T).ravel()
    y = np.zeros(len(counts), dtype=np.int64)
    _convert_targets(counts, input_constants(plan), y, Ranges(plan).log)
    return y


@jit
def convert_inputs(raw: Words, i: InputConstants, out: Words, log: Log) -> None:
    """Convert the ADC counts of all samples (n, D) to x."""
    for m in range(raw.shape[0]):
        convert_x(raw[m], i, out[m], log)
        trace_all(log, at.INPUT_X, m, out[m], 0, out.shape[1])


class Expansion(NamedTuple):
    """Constants of a prediction.

    They are the number of vectors that a prediction reads, the position of the first one (:class:`Window`),
    the shifts, the bias in LSBs of y, and the cast to f.
    """

    vectors: int
    low: int
    high: int
    step: int
    mac_shift: int
    f_shift: int
    bias: int
    f: Cast


@jit
def _expand_all(raw: Words, i: InputConstants, x: Words, v: Words, alpha: Words, to: Expansion,
                k: KernelConstants, f: Words, status: Words, log: Log) -> None:
    """Predict for ADC counts of shape (m, D), and write f (m,) and the statuses (m,).

    x (D,) is work space for the current sample.
    """
    for m in range(raw.shape[0]):
        convert_x(raw[m], i, x, log)
        trace_all(log, at.INPUT_X, 0, x, 0, x.shape[0])
        first = min(max(x[0] - to.low, 0), to.high) // to.step
        f[m], saturated = expand(x, v, alpha, first, to.vectors, k, to.mac_shift, to.f_shift, to.bias, to.f,
                                 log)
        status[m] = SATURATED if saturated else OK


class IntegerModel(Saving):
    """Base class of a plan's integer model; a subclass trains or learns.

    Parameters
    ----------
    plan : Plan

    Attributes
    ----------
    ranges : Ranges
        The ranges of all values that have been computed so far.
    """

    name = "model"
    calls = TRACED_CALLS

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.ranges = Ranges(plan)
        self._kernel = kernel_constants(plan)
        self._input = input_constants(plan)
        self.reset()

    def reset(self) -> None:
        """Reset the model to its initial state."""
        raise NotImplementedError

    def _members(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model structure by the name of the member.

        The result can contain members that the plan does not have.
        """
        raise NotImplementedError

    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        for name, array in self._members().items():
            if name in state:
                array[...] = state[name].reshape(array.shape)

    def train(self, x_raw: NDArray[np.int64] | None, y_raw: NDArray[np.int64]) -> Outputs:
        """Raise an error: this model is not a batch trainer."""
        return refused_training()

    def _targets(self, y_raw: Words) -> Words:
        """Convert target ADC counts (n,) to y."""
        y = np.zeros(len(y_raw), dtype=np.int64)
        _convert_targets(y_raw, self._input, y, self.ranges.log)
        return y

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Reject every sample: this model is not an online learner."""
        return refused_update(y_raw)

    def _predict(self, x_raw: NDArray[np.int64], v: Words, alpha: Words, count: int, f_shift: int,
                 bias: int = 0) -> Outputs:
        """Evaluate the kernel expansion of `count` vectors at ADC counts (m, D).

        An untrained model has no vectors.
        """
        x_raw, log = raw.inputs(self.plan, x_raw), self.ranges.log
        f, status = (np.zeros(len(x_raw), dtype=np.int64) for _ in range(2))
        if count == 0:
            return {"status": np.full(len(x_raw), NOT_TRAINED, dtype=np.int64), "f": f}
        x = np.zeros(self.plan.sizes["D"], dtype=np.int64)
        read = window(self.plan) or Window(count, 0, 0, 1)
        to = Expansion(read.vectors, read.low, read.high, read.step, self.plan.integer("mac_shift"), f_shift,
                       bias, cast_of(self.plan, "f"))
        _expand_all(x_raw, self._input, x, v, alpha, to, self._kernel, f, status, log)
        return {"status": status, "f": f}

    def trace(self, limit: int) -> Trace:
        """Return the trace; see :class:`~kerncast.sim.replay.trace.TracedBackend`."""
        return self.ranges.trace(limit)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class BatchModel(IntegerModel):
    """Base class of the integer models of batch trainers; a subclass solves."""

    def reset(self) -> None:
        """Reset the model to the untrained state."""
        self._trained = self._solved = False

    @property
    def _unset(self) -> frozenset[str]:
        """Return members of the trainer structure that this model does not compute."""
        return frozenset()

    def train(self, x_raw: NDArray[np.int64] | None, y_raw: NDArray[np.int64]) -> Outputs:
        """Train with ADC counts x_raw (n, D), unused on the uniform grid, and y_raw (n,).

        If there is no solution, the model is unchanged.

        Returns
        -------
        dict
            ``status`` (1,).
        """
        given = raw.whole_set(self.plan, x_raw, y_raw)
        if given is None:
            return super().train(x_raw, y_raw)
        before = dict(vars(self))
        self.reset()
        status = self._solve(given[0], self._targets(given[1]))
        solved = self._trained = status in TRAINED
        if not solved:
            vars(self).update(before)
        self._solved = solved
        return {"status": np.array([status], dtype=np.int64)}

    def _solve(self, x_raw: NDArray[np.int64] | None, y: Words) -> int:
        """Solve for alpha with inputs in ADC counts and targets y (n,); return a status."""
        raise NotImplementedError

    def workspace(self) -> Outputs:
        """Return the members of the trainer structure after the last training.

        The result is empty before the first training. It is also empty after a training without a solution,
        because its members on the device are then incomplete.
        """
        if not self._solved:
            return {}
        others = {f.name for f in self.plan.memory} | self._unset
        found = {name: array.ravel() for name, array in self._members().items() if name not in others}
        return {f.name: found[f.name] for f in self.plan.workspace if f.name in found}

    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        super().load(state)
        self._trained = bool(state["trained"][0])

    def state(self) -> Outputs:
        """Return every member of the device's model structure."""
        return field_arrays(self.plan, self._members() | {"trained": int(self._trained)})
