"""hw: the generated predictor in an RTL simulator, as a back end that answers predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...codegen.rtl import generate_rtl, model_frame, predictor_cycles, rtl_sources
from ...sim import raw
from ...sim.backend import Outputs, Raw
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.saved_state import decode
from .simulators import Operation, Simulation

__all__ = ["RtlBackend", "model_frame", "outputs", "sample_frames"]


def sample_frames(plan: Plan, x_raw: Raw) -> list[list[int]]:
    """The frames of raw inputs (m, D): beats, unsigned."""
    mask = (1 << plan.signals["x_raw"].format.bits) - 1
    return [[int(word) & mask for word in row] for row in x_raw]


def outputs(plan: Plan, answers: list[list[int]]) -> Outputs:
    """Words and statuses of answers, signed: ``f`` and ``status``, both (m,)."""
    found = np.array(answers, dtype=np.int64).reshape(-1, 2)
    sign = 1 << (plan.word - 1)
    return {"status": found[:, 1], "f": (found[:, 0] ^ sign) - sign}


class RtlBackend:
    """The generated predictor in an RTL simulator, with a model that was trained elsewhere.

    Parameters
    ----------
    plan : Plan
    model_state : dict
        The trained model structure, as :meth:`~kerncast.sim.backend.Backend.state` gives it.
    simulator : str
        ``icarus`` or ``verilator``.
    build_dir : path
        Everything is built and written below it.
    source : path, optional
        A generated folder whose ``rtl`` is simulated; without it the core is generated afresh.

    Raises
    ------
    KerncastError
        E420 for an unknown simulator, E432 where it refuses the core, E501 and E513 for what is
        missing.
    """

    calls = frozenset({"predict", "restore"})

    def __init__(self, plan: Plan, model_state: Outputs, simulator: str = "icarus",
                 build_dir: str | Path = "build", source: str | Path | None = None) -> None:
        self.plan = plan
        self.name = f"rtl:{simulator}"
        self._state = model_state
        work = Path(build_dir) / f"rtl-{simulator}"
        if source is None:
            source = work / "source"
            generate_rtl(plan, source)
        self._simulation = Simulation(rtl_sources(source, plan), f"{plan.name}_predictor", simulator,
                                      work / "sim")

    def predict(self, x_raw: Raw) -> Outputs:
        """See :class:`~kerncast.sim.backend.Backend`."""
        columns = self.plan.sizes["D"]
        if x_raw.ndim != 2 or x_raw.shape[1] != columns:
            raise fail("E248", "the inputs have the wrong shape", where=f"back end {self.name}",
                       value=x_raw.shape, allowed=f"(m, {columns})",
                       remedy="give one row a sample, one column an input")
        x_raw = raw.inputs(self.plan, x_raw)
        frame = model_frame(self.plan, self._state)
        operations: list[Operation] = [("model", frame), ("sent",)]
        # One sample at a time: a source that waits with the next one costs time at every clock.
        for words in sample_frames(self.plan, x_raw):
            operations += [("sample", words), ("answers", 1)]
        limit = 2 * len(frame) + 4 * predictor_cycles(self.plan) + 100
        return outputs(self.plan, [a for found in self._simulation.run(operations, limit) for a in found])

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Not in this core: refused with E431."""
        raise self._refusal("train")

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Not in this core: refused with E431."""
        raise self._refusal("update")

    def state(self) -> Outputs:
        """Not in this core, whose model cannot be read back: refused with E431."""
        raise self._refusal("state")

    def save(self) -> bytes:
        """Not in this core, whose model cannot be read back: refused with E431."""
        raise self._refusal("save")

    def restore(self, image: bytes) -> None:
        """See :class:`~kerncast.sim.backend.Backend`."""
        self._state = decode(self.plan, image, f"back end {self.name}").state

    def reset(self) -> None:
        """Nothing to do: the model given is loaded afresh for every call."""

    def close(self) -> None:
        """Nothing runs between two calls."""

    def _refusal(self, call: str) -> KerncastError:
        return fail("E431", "the predictor in SystemVerilog answers predictions only",
                    where=f"back end {self.name}", value=call, allowed="predict",
                    remedy="train on another back end and pass its state")
