"""sim.model: what the integer models have in common: their constants, predictions and refusals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backend import Outputs, refused_training, refused_update
from ..data import raw
from ..jit import jit
from ..plan import Plan
from ..primitives import Words
from ..replay.saved_state import Saving
from ..replay.trace import TRACED_CALLS, Trace
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
from .statuses import NOT_TRAINED, OK, SATURATED
from .trace_hooks import Log, trace_all


@jit
def _convert_targets(raw: Words, i: InputConstants, out: Words, log: Log) -> None:
    for m in range(raw.shape[0]):
        out[m] = convert_y(raw[m], i, log)


@jit
def convert_inputs(raw: Words, i: InputConstants, out: Words, log: Log) -> None:
    """All samples' raw words (n, D) to x words."""
    for m in range(raw.shape[0]):
        convert_x(raw[m], i, out[m], log)
        trace_all(log, at.INPUT_X, m, out[m], 0, out.shape[1])


class Expansion(NamedTuple):
    """The integers of a prediction: vectors held, shifts, the bias in y words, and the cast to f."""

    held: int
    mac_shift: int
    f_shift: int
    bias: int
    f: Cast


@jit
def _expand_all(raw: Words, i: InputConstants, x: Words, v: Words, alpha: Words, to: Expansion,
                k: KernelConstants, f: Words, status: Words, log: Log) -> None:
    """Words f (m,) and statuses (m,) of raw inputs (m, D); x (D,) is room for the sample at hand."""
    for m in range(raw.shape[0]):
        convert_x(raw[m], i, x, log)
        trace_all(log, at.INPUT_X, 0, x, 0, x.shape[0])
        f[m], saturated = expand(x, v, alpha, to.held, k, to.mac_shift, to.f_shift, to.bias, to.f, log)
        status[m] = SATURATED if saturated else OK


class IntegerModel(Saving):
    """A plan's integer model; a subclass trains or learns.

    Parameters
    ----------
    plan : Plan

    Attributes
    ----------
    ranges : Ranges
        The range log of everything computed so far.
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
        """Back to the initial state."""
        raise NotImplementedError

    def _members(self) -> dict[str, NDArray[Any]]:
        """The arrays that the device's model structure shows, by member; more than the plan has, maybe."""
        raise NotImplementedError

    def load(self, state: Outputs) -> None:
        """Take over a state."""
        for name, array in self._members().items():
            if name in state:
                array[...] = state[name].reshape(array.shape)

    def train(self, x_raw: NDArray[np.int64] | None, y_raw: NDArray[np.int64]) -> Outputs:
        """Not a batch trainer: refused."""
        return refused_training()

    def _targets(self, y_raw: Words) -> Words:
        """Raw targets (n,) as y words."""
        y = np.zeros(len(y_raw), dtype=np.int64)
        _convert_targets(y_raw, self._input, y, self.ranges.log)
        return y

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Not an online learner: every sample is refused."""
        return refused_update(y_raw)

    def _predict(self, x_raw: NDArray[np.int64], v: Words, alpha: Words, count: int, f_shift: int,
                 bias: int = 0) -> Outputs:
        """The expansion of `count` vectors, none for an untrained model, at raw inputs (m, D)."""
        x_raw, log = raw.inputs(self.plan, x_raw), self.ranges.log
        f, status = (np.zeros(len(x_raw), dtype=np.int64) for _ in range(2))
        if count == 0:
            return {"status": np.full(len(x_raw), NOT_TRAINED, dtype=np.int64), "f": f}
        x = np.zeros(self.plan.sizes["D"], dtype=np.int64)
        to = Expansion(count, self.plan.integer("mac_shift"), f_shift, bias, cast_of(self.plan, "f"))
        _expand_all(x_raw, self._input, x, v, alpha, to, self._kernel, f, status, log)
        return {"status": status, "f": f}

    def trace(self, limit: int) -> Trace:
        """See :class:`~kerncast.sim.replay.trace.TracedBackend`."""
        return self.ranges.trace(limit)

    def close(self) -> None:
        """Nothing to close."""
