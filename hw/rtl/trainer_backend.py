"""hw: back ends that run the generated trainer or solver in an RTL simulator.

Each back end includes a predictor.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from ...codegen.rtl import FITTED, SOLVER, TRAINER, model_tag
from ...codegen.rtl.common import model_head, signed
from ...codegen.rtl.fitted import fitted_cycles
from ...codegen.rtl.frames import model_frame, sample_frames, solution_frames, target_frame
from ...codegen.rtl.ranged import system_frame
from ...codegen.rtl.trainer import trainer_cycles
from ...sim.backend import Outputs, Raw, field_arrays, fitted_answer
from ...sim.data import raw
from ...sim.errors import fail
from ...sim.model.base import fixed_targets
from ...sim.model.kernel import convert_x, input_constants
from ...sim.model.ranges import Ranges
from ...sim.model.toeplitz.first_row import row_of
from ...sim.model.toeplitz.ranged import asked_plan
from ...sim.model.toeplitz.signals import Solution, join_signals
from ...sim.model.toeplitz.trainer import certified_accurate
from ...sim.plan import Plan
from ...sim.statuses import TRAINED, DeviceStatus
from .predictor_backend import RtlBackend
from .simulators import Operation, Simulation

#: The exponent of alpha in a model's frame, before an intercept.
_EXPONENT = 2


def training_script(plan: Plan, x_raw: Raw | None, y_raw: Raw) -> list[Operation]:
    """Return a script for one training.

    It sends the samples, unless they are on a uniform grid, and the targets. Then it receives the model.
    """
    samples: list[Operation] = []
    if x_raw is not None:
        samples = [("samples", [word for frame in sample_frames(plan, x_raw) for word in frame])]
    return [*samples, ("targets", target_frame(plan, y_raw)), ("model",)]


def trained_state(plan: Plan, frame: list[int]) -> Outputs:
    """Decode the state of a trained model from a model frame.

    Members of the state that the frame does not contain are zero.

    Raises
    ------
    KerncastError
        E432 if the frame does not belong to this plan.
    """
    sign = 1 << (plan.word - 1)
    words = signed(plan.word, np.array(frame, dtype=np.int64))
    columns, negative = plan.sizes["D"], plan.signals["x"].format.signed
    head = model_head(plan)
    whole = len(frame) == head + (columns + 1) * plan.sizes["n"]
    vectors = words[head:].reshape(-1, columns + 1) if whole else words[:0].reshape(0, columns + 1)
    v = vectors[:, :-1].ravel()
    found = {"trained": 1, "alpha_exp": words[_EXPONENT], "bias": words[head - 1], "alpha": vectors[:, -1],
             "centers": v if negative else v & (2 * sign - 1)}
    found = {name: value for name, value in found.items() if name in {f.name for f in plan.memory}}
    state = field_arrays(plan, found if whole else {})
    if frame != model_frame(plan, state):
        raise fail("E432", "the core sent a frame that is not a model of this plan",
                   where=f"{plan.name}_trainer",
                   value=f"a frame of {len(frame)} values", allowed="a frame that the predictor accepts",
                   remedy="generate the folder again: kerncast gen SPEC -o FOLDER")
    return state


def training_status(plan: Plan, y_raw: Raw, status: int, state: Outputs) -> int:
    """Return the status of a training run, including the check of the error bound.

    The core returns `status`; the host computes the certified bound of the solution.
    """
    if status != DeviceStatus.OK:
        return status
    certain = certified_accurate(plan, fixed_targets(plan, y_raw), state)
    return DeviceStatus.OK if certain else DeviceStatus.INACCURATE


class TrainerBackend(RtlBackend):
    """Back end that runs a generated trainer, and a predictor with the trained model.

    The host certifies the solution (status INACCURATE).

    Parameters
    ----------
    plan, model_state, simulator, build_dir, source, waves
        As in :class:`.predictor_backend.RtlBackend`. `model_state` is the state before training.
    """

    calls = frozenset({"train", "predict", "restore"})
    _core = TRAINER

    def __init__(self, plan: Plan, model_state: Outputs, simulator: str, build_dir: str | Path,
                 source: str | Path | None = None, waves: str | Path | None = None) -> None:
        self._core.refuse_unfit(plan)
        super().__init__(plan, model_state, simulator, build_dir, source, waves)
        self._given = model_state
        self._trainer = self._built(self._core)
        self._solved: Raw | None = None  # the targets of the last training, if it gave a solution
        if FITTED.fits(plan):  # only then it is a FittedBackend
            self.fitted = self._fitted

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train on a set of samples; see :class:`~kerncast.sim.backend.Backend`."""
        return self._train(self.plan, x_raw, y_raw)

    def _train(self, plan: Plan, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train by a plan with the lambda of this training."""
        x_raw, y_raw = raw.training_set(plan, x_raw, y_raw)
        status, found = self._trained(plan, x_raw, y_raw)
        self._solved = fixed_targets(plan, y_raw) if status in TRAINED else None
        if status in TRAINED:  # otherwise the model stays as it was
            self._state = found
        return {"status": np.array([training_status(plan, y_raw, status, found)], dtype=np.int64)}

    def reset(self) -> None:
        """Reset the model to its initial state."""
        self._state = self._given

    @cached_property
    def _fitter(self) -> Simulation:
        """Simulation of the core of fitted values, which is built at the first call."""
        return self._built(FITTED)

    def _fitted(self) -> Outputs:
        """Return the fitted values; see :class:`~kerncast.sim.backend.FittedBackend`."""
        if self._solved is None:
            return fitted_answer(self.plan, DeviceStatus.OUT_OF_ORDER, ())
        plan, mask = self.plan, (1 << self.plan.word) - 1
        script: list[Operation] = []
        for y, solution in zip(self._solved.reshape(plan.outputs, -1), solution_frames(plan, self._state),
                               strict=True):
            script += [("y", (y & mask).tolist()), ("alpha", solution), ("values",)]
        answers = self._fitter.run(script, 4 * fitted_cycles(plan) + 1000)
        users = [user for users, _ in answers for user in users]
        f = signed(plan.word, np.array([words for _, words in answers], dtype=np.int64))
        status = DeviceStatus.SATURATED if any(users) else DeviceStatus.OK
        return fitted_answer(plan, status, f.T.ravel())

    def _trained(self, plan: Plan, x_raw: Raw | None, y_raw: Raw) -> tuple[int, Outputs]:
        """Train in simulation; return the status of the core and the state of the model."""
        script = training_script(plan, x_raw, y_raw)
        [[status, *frame]] = self._trainer.run(script, 2 * trainer_cycles(plan) + 1000)
        return status, trained_state(plan, frame)


class SolverBackend(TrainerBackend):
    """Back end that runs a generated solver, and a predictor with its solution.

    The host computes the first row, and converts the targets to fixed point. Several outputs are solved one
    after the other, and the host rounds their coefficients to one exponent.

    Parameters
    ----------
    plan, model_state, simulator, build_dir, source, waves
        As in :class:`.predictor_backend.RtlBackend`.
    """

    _core = SOLVER

    def __init__(self, plan: Plan, model_state: Outputs, simulator: str, build_dir: str | Path,
                 source: str | Path | None = None, waves: str | Path | None = None) -> None:
        super().__init__(plan, model_state, simulator, build_dir, source, waves)
        if plan.ranged:  # only then it is a LambdaBackend
            self.train_with = self._train_with

    def _train_with(self, lam: int, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train with an integer lambda; see :class:`~kerncast.sim.backend.LambdaBackend`."""
        return self._train(asked_plan(self.plan, lam), x_raw, y_raw)

    def _trained(self, plan: Plan, x_raw: Raw | None, y_raw: Raw) -> tuple[int, Outputs]:
        mask = (1 << plan.word) - 1
        v = np.zeros((plan.sizes["n"], plan.sizes["D"]), dtype=np.int64)
        for given, words in zip(() if x_raw is None else x_raw, v, strict=x_raw is not None):
            convert_x(given, input_constants(plan), words, Ranges(plan).log)
        script: list[Operation] = []
        for y in fixed_targets(plan, y_raw).reshape(plan.outputs, -1):
            script += [("y", system_frame(plan, y)), ("solution",)]
        if not plan.banded:
            script.insert(0, ("r", [int(word) & mask for word in row_of(plan, {"centers": v})]))
        answers = self._trainer.run(script, 2 * trainer_cycles(plan) + 1000)
        if plan.outputs > 1:
            status, members = join_signals(plan, [Solution(status, *_split(plan, frame))
                                                  for status, *frame in answers])
            return status, field_arrays(plan, members)
        [[status, *frame]] = answers
        if len(frame) == 1:
            return status, field_arrays(plan, {})
        if x_raw is None:
            v = plan.integer("x_step") * np.arange(plan.sizes["n"])[:, np.newaxis]
        head = model_head(plan) - _EXPONENT
        body = np.column_stack([v & mask, frame[head:]]).ravel().tolist()
        return status, trained_state(plan, [model_tag(plan), plan.sizes["n"], *frame[:head], *body])


def _split(plan: Plan, frame: list[int]) -> tuple[int, Raw]:
    """Return the exponent and the coefficients in the solver's frame of one signal."""
    exponent, *alpha = signed(plan.word, np.array(frame, dtype=np.int64)).tolist()
    return exponent, np.array(alpha, dtype=np.int64)
