"""hw: back end that runs the generated HLS C++ in C simulation."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from ...codegen.hls import FOLDER, LEARNER, SOLVER, STREAM, TRAINER, refuse_unfit, render_hls, sources
from ...codegen.hls.vectors import lambda_words, line
from ...codegen.rtl import model_frame
from ...sim.backend import Outputs, Raw, answer_width, answered, field_arrays
from ...sim.data import raw
from ...sim.errors import KerncastError, fail
from ...sim.model import open_model
from ...sim.model.base import fixed_targets
from ...sim.model.toeplitz.ranged import asked_plan
from ...sim.model.toeplitz.signals import Solution, join_signals
from ...sim.model.toeplitz.trainer import certified_accurate
from ...sim.plan import Plan
from ...sim.replay.saved_state import decode
from ...sim.statuses import TRAINED, DeviceStatus
from ..rtl.learner_backend import learned_state
from .first_row import first_row
from .headers import known_dialect
from .simulation import Testbench, build


class HlsBackend:
    """Back end that runs the generated HLS C++ in C simulation.

    The simulated cores are those that support the plan: the trainer or the solver, the learner, and the
    predictor. After training, the host certifies the solution (status INACCURATE). It also computes the first
    row if the inputs are not a uniform grid.

    Parameters
    ----------
    plan : Plan
    dialect : str
        ``vitis`` or ``catapult``.
    state : dict, optional
        State of a trained model for predictions. It is ignored if the plan has a core that trains.
    source : path, optional
        A generated folder, whose subfolder ``hls/<dialect>`` is compiled. If either is missing, the C++ is
        generated.
    build_dir : path, optional
        Folder of the build; by default a temporary folder.
    compiler : str
        ``auto``, or the name of a C++ compiler.
    flags : tuple of str
        Compiler flags.

    Attributes
    ----------
    program : Path
        The compiled testbench. It can also replay a file of test vectors.

    Raises
    ------
    KerncastError
        E311 if no core supports the plan, E420 if the dialect is unknown, E501 if the header files are
        missing, E511 if the compiler is missing, E320 if the compiler rejects the C++.
    """

    def __init__(self, plan: Plan, dialect: str, *, state: Outputs | None = None,
                 source: str | Path | None = None, build_dir: str | Path | None = None,
                 compiler: str = "auto", flags: tuple[str, ...] = ("-O1",)) -> None:
        refuse_unfit(plan)
        self.plan, self.name = plan, f"hls:{known_dialect(dialect)}"
        self._learns, self._trains = LEARNER.fits(plan), SOLVER.fits(plan)
        self.calls = frozenset({"predict"} | ({"update", "state"} if self._learns else {"restore"})
                               | ({"train"} if self._trains else set()))
        if STREAM.fits(plan):  # only then it is a StreamBackend
            self.stream = self._stream
        if plan.ranged and self._trains:  # only then it is a LambdaBackend
            self.train_with = self._train_with
        self._head = 1 + plan.bias  # exponent of alpha, intercept
        self._given = open_model(plan).state() if state is None or self._trains else state
        self._folder = tempfile.TemporaryDirectory(prefix="kerncast-")
        work = Path(build_dir or self._folder.name) / f"hls-{dialect}"
        given = None if source is None else Path(source) / FOLDER / dialect
        folder = given if given is not None and given.is_dir() else _written(plan, dialect, work)
        self.program = work / "testbench"
        try:
            build(dialect, [folder / name for name in sources(plan)], self.program, compiler=compiler,
                  flags=flags)
        except BaseException:
            self._folder.cleanup()
            raise
        self._bench = Testbench(self.program)
        self.reset()

    def reset(self) -> None:
        """Reset to the empty model of a learner, or to the given state."""
        if self._learns:
            self._bench.call("forget")
        else:
            self._load(self._given)

    def _load(self, state: Outputs) -> None:
        self._model = state
        self._bench.call(line("load", model_frame(self.plan, state)))

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train on a set of samples; see :class:`~kerncast.sim.backend.Backend`."""
        return self._trained(self.plan, x_raw, y_raw)

    def _train_with(self, lam: int, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train with an integer lambda; see :class:`~kerncast.sim.backend.LambdaBackend`."""
        return self._trained(asked_plan(self.plan, lam), x_raw, y_raw)

    def _trained(self, plan: Plan, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train by a plan with the lambda of this training."""
        if not self._trains:
            raise self._refusal("train")
        x_raw, y_raw = raw.training_set(plan, x_raw, y_raw)
        y = fixed_targets(plan, y_raw)
        row, v = first_row(plan, x_raw)
        if plan.outputs > 1:
            status, members = join_signals(plan, [self._solved(own) for own in y.reshape(plan.outputs, -1)])
            return self._certified(plan, y, status, members)
        if TRAINER.fits(plan):
            status, _, _, *words = self._bench.call(line("train", [*lambda_words(plan), *y_raw.tolist()]))
            words[self._head:] = words[self._head + 1::2]
        else:
            system = [*(lambda_words(plan) if plan.banded else row.tolist()), *y.tolist()]
            status, *words = self._bench.call(line("solve", system))
        words = _signed(plan.word, words)
        return self._certified(plan, y, status, {
            "trained": 1, "alpha": words[self._head:], "alpha_exp": words[0],
            "bias": words[self._head - 1], "centers": v})

    def _solved(self, y: Raw) -> Solution:
        """Solve for one signal y (n,) in fixed point."""
        status, exponent, *alpha = self._bench.call(line("solve", y.tolist()))
        return Solution(status, exponent, np.array(alpha, dtype=np.int64))

    def _certified(self, plan: Plan, y: Raw, status: int, members: dict[str, object]) -> Outputs:
        """Load the trained model, whose solution the host certifies.

        If the system was not solved, the model does not change.
        """
        if status not in TRAINED:
            self._load(self._model)
            return {"status": np.array([status], dtype=np.int64)}
        state = field_arrays(plan, members)
        self._load(state)
        if status == DeviceStatus.OK and not certified_accurate(plan, y, state):
            status = DeviceStatus.INACCURATE
        return {"status": np.array([status], dtype=np.int64)}

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from samples in order; see :class:`~kerncast.sim.backend.Backend`."""
        if not self._learns:
            raise self._refusal("update")
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        y_raw = y_raw.reshape(len(x_raw), -1)
        width = 1 + answer_width(self.plan)
        rows = [self._bench.call(line("learn", [*x, *y]))[:width]
                for x, y in zip(x_raw.tolist(), y_raw.tolist(), strict=True)]
        found = np.array(rows, dtype=np.int64).reshape(-1, width)
        return answered(self.plan, found[:, 0], found[:, 1:])

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for the given inputs; see :class:`~kerncast.sim.backend.Backend`."""
        name = "ask" if self._learns else "predict"
        rows = [self._bench.call(line(name, x)) for x in raw.inputs(self.plan, x_raw).tolist()]
        found = np.array(rows, dtype=np.int64).reshape(-1, 1 + answer_width(self.plan))
        return answered(self.plan, found[:, 0], found[:, 1:])

    def state(self) -> Outputs:
        """Return the model structure; see :class:`~kerncast.sim.backend.Backend`."""
        if not self._learns:
            raise self._refusal("state")
        words = self._bench.call("state")
        split = 3 + words[1] * (self.plan.sizes["D"] + self.plan.outputs)
        return learned_state(self.plan, [words[:split], words[split:]])

    def _stream(self, y_raw: Raw) -> Outputs:
        """Smooth a record; see :class:`~kerncast.sim.backend.StreamBackend`."""
        f = np.zeros(len(y_raw), dtype=np.int64)
        status = np.full(len(y_raw), int(DeviceStatus.PENDING), dtype=np.int64)
        pairs = self._bench.call(line("stream", y_raw.tolist())) if len(y_raw) else []
        if len(y_raw) >= self.plan.stream_taps:
            first = self.plan.stream_taps - 1
            status[first:], f[first:] = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return {"status": status, "f": f}

    def save(self) -> bytes:
        """Raise E431, because the cores cannot save their state."""
        raise self._refusal("save")

    def restore(self, image: bytes) -> None:
        """Restore a state; see :class:`~kerncast.sim.backend.Backend`.

        Raises E431 if the core is a learner, because it cannot load a state.
        """
        if self._learns:
            raise self._refusal("restore")
        self._load(decode(self.plan, image, f"back end {self.name}").state)

    def close(self) -> None:
        """End the testbench, and remove its temporary folder."""
        self._bench.close()
        self._folder.cleanup()

    def _refusal(self, call: str) -> KerncastError:
        return fail("E431", "the plan has no HLS C++ core for this call", where=f"back end {self.name}",
                    value=call, allowed=", ".join(sorted(self.calls)), remedy="use another back end")


def _written(plan: Plan, dialect: str, work: Path) -> Path:
    """Write the HLS C++ of a plan below `work`; return its folder."""
    for name, text in render_hls(plan, dialect).items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return work / FOLDER / dialect


def _signed(bits: int, words: list[int]) -> list[int]:
    sign = 1 << (bits - 1)
    return [((word & (2 * sign - 1)) ^ sign) - sign for word in words]
