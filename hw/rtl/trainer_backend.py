"""hw: the generated trainer and predictor in an RTL simulator, as a back end that trains and predicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...codegen.rtl import TRAINER, rtl_sources
from ...codegen.rtl.solver import first_row
from ...codegen.rtl.trainer import trainer_cycles
from ...sim import raw
from ...sim.backend import Outputs, Raw, field_arrays
from ...sim.errors import fail
from ...sim.model.first_row import diagonal_row
from ...sim.model.kernel import cast_of, convert_y, input_constants, kernel_constants
from ...sim.model.ranges import Ranges
from ...sim.model.statuses import INACCURATE, OK
from ...sim.model.toeplitz import certified_accurate
from ...sim.plan import Plan
from .simulate import RtlBackend, model_frame, sample_frames
from .simulators import Operation, Simulation

#: Words of a model's frame before the first vector: tag, count, exponent.
_HEAD = 3


def target_frame(plan: Plan, y_raw: Raw) -> list[int]:
    """The frame of raw targets (n,): beats, unsigned."""
    mask = (1 << plan.signals["y_raw"].format.bits) - 1
    return [int(word) & mask for word in y_raw]


def training_script(plan: Plan, x_raw: Raw | None, y_raw: Raw) -> list[Operation]:
    """What trains the core: the samples in one frame, unless they are a grid, the targets, and the model."""
    samples: list[Operation] = []
    if x_raw is not None:
        samples = [("samples", [word for frame in sample_frames(plan, x_raw) for word in frame])]
    return [*samples, ("targets", target_frame(plan, y_raw)), ("model",)]


def trained_state(plan: Plan, frame: list[int]) -> Outputs:
    """The members of the model structure that a model's frame tells; the others are zero.

    Raises
    ------
    KerncastError
        E432 where it is not a frame of this plan.
    """
    sign = 1 << (plan.word - 1)
    words = (np.array(frame, dtype=np.int64) ^ sign) - sign
    columns, signed = plan.sizes["D"], plan.signals["x"].format.signed
    whole = len(frame) == _HEAD + (columns + 1) * plan.sizes["n"]
    vectors = words[_HEAD:].reshape(-1, columns + 1) if whole else words[:0].reshape(0, columns + 1)
    v = vectors[:, :-1].ravel()
    found = {"trained": 1, "alpha_exp": words[_HEAD - 1], "alpha": vectors[:, -1],
             "v": v if signed else v & (2 * sign - 1)}
    found = {name: value for name, value in found.items() if name in {f.name for f in plan.memory}}
    state = field_arrays(plan, found if whole else {})
    if frame != model_frame(plan, state):
        raise fail("E432", "the model that the core sent is none of this plan", where=f"{plan.name}_trainer",
                   value=f"{len(frame)} words", allowed="a frame as the predictor takes it",
                   remedy="generate the folder again")
    return state


def judged(plan: Plan, y_raw: Raw, status: int, state: Outputs) -> int:
    """The status of a training: the core solves, and leaves it to its host to certify the solution."""
    if status != OK:
        return status
    constants, log = input_constants(plan), Ranges(plan).log
    y = np.array([convert_y(int(word), constants, log) for word in y_raw], dtype=np.int64)
    alpha, exponent = state["alpha"], int(state["alpha_exp"][0])
    return OK if certified_accurate(plan, y, _row(plan, state), alpha, exponent) else INACCURATE


def _row(plan: Plan, state: Outputs) -> Raw:
    """The first row (n,) of the grid, or of the samples in the model."""
    if plan.options["scheme"] == "uniform":
        return first_row(plan)
    row, biased = np.zeros(plan.sizes["n"], dtype=np.int64), plan.options["scheme"] == "diagonal_mean_biased"
    diagonal_row(row, state["v"].reshape(-1, plan.sizes["D"]), biased,
                 plan.integer("lambda_rho"), kernel_constants(plan), cast_of(plan, "r"), Ranges(plan).log)
    return row


class TrainerBackend(RtlBackend):
    """The generated trainer, and the predictor with the model that it made.

    The certificate, which says INACCURATE, is computed here, from the words of the core.

    Parameters
    ----------
    plan : Plan
    model_state : dict
        The model structure before the first training.
    simulator : str
        ``icarus`` or ``verilator``.
    build_dir : path
        Everything is built and written below it.
    source : path
        A generated folder whose ``rtl`` is simulated.

    Raises
    ------
    KerncastError
        E306, E307 where the plan has no trainer; as :class:`.simulate.RtlBackend` else.
    """

    calls = frozenset({"train", "predict", "restore"})

    def __init__(self, plan: Plan, model_state: Outputs, simulator: str, build_dir: str | Path,
                 source: str | Path) -> None:
        super().__init__(plan, model_state, simulator, build_dir, source)
        self._given = model_state
        self._trainer = Simulation(rtl_sources(source, plan, TRAINER), f"{plan.name}_trainer", simulator,
                                   Path(build_dir) / f"rtl-{simulator}" / "trainer")

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """See :class:`~kerncast.sim.backend.Backend`."""
        x_raw, y_raw = raw.training_set(self.plan, x_raw, y_raw)
        script = training_script(self.plan, x_raw, y_raw)
        [[status, *frame]] = self._trainer.run(script, 2 * trainer_cycles(self.plan) + 1000)
        self._state = trained_state(self.plan, frame)
        return {"status": np.array([judged(self.plan, y_raw, status, self._state)], dtype=np.int64)}

    def reset(self) -> None:
        """Back to the model that was given."""
        self._state = self._given
