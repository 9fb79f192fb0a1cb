"""hw: back end that runs the generated predictor in an RTL simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...codegen.rtl import PREDICTOR, predictor_cycles
from ...codegen.rtl.frames import model_frame, sample_frames
from ...sim.backend import Outputs, Raw, answer_width, answered
from ...sim.data import raw
from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.replay.saved_state import decode
from .core_backend import CoreBackend
from .simulators import Operation


def outputs(plan: Plan, answers: list[list[int]]) -> Outputs:
    """Decode replies; see :func:`~kerncast.sim.backend.answered`.

    Each reply consists of the values of its frame, and the status.
    """
    found = np.array(answers, dtype=np.int64).reshape(-1, answer_width(plan) + 1)
    sign = 1 << (plan.word - 1)
    return answered(plan, found[:, -1], (found[:, :-1] ^ sign) - sign)


class RtlBackend(CoreBackend):
    """Back end that runs the generated predictor with a given model.

    Parameters
    ----------
    model_state : dict
        State of the trained model, as returned by :meth:`~kerncast.sim.backend.Backend.state`.
    plan, simulator, build_dir, source, waves
        As in :class:`.core_backend.CoreBackend`.
    """

    calls = frozenset({"predict", "restore"})

    def __init__(self, plan: Plan, model_state: Outputs, simulator: str = "icarus",
                 build_dir: str | Path = "build", source: str | Path | None = None,
                 waves: str | Path | None = None) -> None:
        super().__init__(plan, PREDICTOR, simulator, build_dir, source, waves)
        self._state = model_state

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for the given inputs; see :class:`~kerncast.sim.backend.Backend`."""
        columns = self.plan.sizes["D"]
        if x_raw.ndim != 2 or x_raw.shape[1] != columns:
            raise fail("E248", "the inputs have the wrong shape", where=f"back end {self.name}",
                       value=x_raw.shape, allowed=f"(m, {columns})",
                       remedy="pass one row per sample and one column per input")
        x_raw = raw.inputs(self.plan, x_raw)
        frame = model_frame(self.plan, self._state)
        operations: list[Operation] = [("model", frame), ("sent",)]
        # One sample at a time: a source that waits with the next one costs time at every clock.
        for words in sample_frames(self.plan, x_raw):
            operations += [("sample", words), ("answers", 1)]
        limit = 2 * len(frame) + 4 * predictor_cycles(self.plan) + 100
        return outputs(self.plan, [a for found in self._simulation.run(operations, limit) for a in found])

    def restore(self, image: bytes) -> None:
        """Restore the state from an image; see :class:`~kerncast.sim.backend.Backend`."""
        self._state = decode(self.plan, image, f"back end {self.name}").state

    def reset(self) -> None:
        """Do nothing, because every call loads the given model."""
