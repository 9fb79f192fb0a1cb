"""codegen.rtl: render a SystemVerilog testbench that replays the test vectors.

Each stream has a memory file with its beats. A source sends a frame after all beats of the earlier input and
output frames were transferred. A sink compares the received beats with its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...sim.backend import Raw, field_arrays
from ...sim.formats import Format
from ...sim.plan import Plan
from ...sim.replay.vectors import Call, Vectors
from ...sim.statuses import TRAINED, DeviceStatus
from ..c.context import context
from .axi import Ports
from .common import model_head, render_files
from .core import RtlCore
from .frames import model_frame, sample_frame, solution_frames, state_frames, target_frame
from .predictor import framed
from .ranged import system_frame

#: Modules of hw/rtl that every testbench needs.
MODULES = ("kc_tb_source", "kc_tb_sink")
#: Name of the memory file with the pulses of the commands.
COMMANDS = "commands"
#: Clocks after which no further sample is replayed: a minute of an interpreted simulator.
_MOST_CLOCKS = 200_000
#: Beats of a stream at most, which bounds the size of its file.
_MOST_BEATS = 4096
#: Clocks without any progress after which a simulation fails, as a multiple of the longest operation.
_PATIENCE = 4


@dataclass(frozen=True)
class Frame:
    """Frame of a stream, or a pulse on the command inputs.

    Parameters
    ----------
    port : str
        Signal name prefix of the stream, or :data:`COMMANDS`.
    words : list of int
        Unsigned beats; for a pulse, one value with a bit for each command.
    user : int
        ``tuser`` of every beat.
    users : tuple of int
        ``tuser`` of each beat, if they differ.
    """

    port: str
    words: list[int]
    user: int = 0
    users: tuple[int, ...] = ()


def render_testbench(plan: Plan, core: RtlCore, ports: Ports, vectors: Vectors) -> dict[str, str]:
    """Render the testbench of a core and the testbench's memory files.

    Parameters
    ----------
    plan : Plan
    core : RtlCore
    ports : Ports
    vectors : Vectors
        Calls and their expected results. The testbench replays as many of the first samples as an
        interpreting simulator processes within about one minute.

    Returns
    -------
    dict of str to str
        Texts by file name; empty if the core cannot replay any of the calls.
    """
    frames = list(_SCRIPTS[core.name](plan, core, vectors))
    if not frames:
        return {}
    top = f"{plan.name}_{core.name}_tb"
    beats: dict[str, list[str]] = {stream.port: [] for stream in ports.streams}
    if ports.commands:
        beats[COMMANDS] = []
    transferred = 0
    for frame in frames:
        beats[frame.port] += [_beat(transferred, frame, k) for k in range(len(frame.words))]
        transferred += len(frame.words)
    memories = {port: f"{top}_{port}.mem" for port in beats}
    values: dict[str, Any] = context(plan, str(plan.evidence.get("spec", "of no file"))) | ports.context(plan)
    values |= {
        "top": top, "beats": {port: len(lines) for port, lines in beats.items()},
        "memories": memories, "commands_port": COMMANDS,
        "limit": _PATIENCE * core.cycles(plan) + 100_000}
    files = render_files({f"{top}.sv": "testbench.sv", f"{top}.core": "testbench.core"}, values)
    # A simulator warns of an empty memory file; nothing reads the first beat of an idle stream.
    return files | {memories[port]: _memory(top, port, lines) for port, lines in beats.items()}


def _memory(top: str, port: str, lines: list[str]) -> str:
    """Return the text of the memory file of a stream."""
    head = f"// {top}, {port}: beats transferred before, tuser, tlast, tdata, all hexadecimal\n"
    return head + "".join(line + "\n" for line in lines or [_beat(0, Frame(port, [0]), 0)])


def _beat(after: int, frame: Frame, k: int) -> str:
    """Return the line of a memory file for beat `k` of a frame.

    `after` is the number of beats that must have been transferred before.
    """
    user = frame.users[k] if frame.users else frame.user
    return f"{after:08x}_{user:02x}_{int(k == len(frame.words) - 1):02x}_{frame.words[k]:08x}"


def _status(status: int) -> int:
    """Return a device status as the 3-bit value of ``tuser``."""
    return int(status) & 7


def _samples(plan: Plan, clocks: int, available: int) -> int:
    """Return the number of samples to replay if each takes `clocks` clock cycles."""
    return max(1, min(available, _MOST_CLOCKS // clocks, _MOST_BEATS // (plan.sizes["D"] + 1)))


def _word(plan: Plan, value: int) -> int:
    """Return a fixed-point value of W bits as an unsigned beat."""
    return int(value) & ((1 << plan.word) - 1)


def _word_range(plan: Plan) -> tuple[int, int]:
    word = Format(True, plan.word, 0)
    return word.lo, word.hi


def _predictor(plan: Plan, core: RtlCore, vectors: Vectors) -> Iterator[Frame]:
    """Yield the frames that load the final model and replay its predictions."""
    changes = [k for k, call in enumerate(vectors.calls) if call.name != "predict"]
    calls = vectors.calls[changes[-1] + 1 if changes else 0:]
    x = [(row, call, k) for call in calls if call.x_raw is not None for k, row in enumerate(call.x_raw)]
    if not x:
        return
    yield Frame("s_axis_model", model_frame(plan, vectors.state))
    for row, call, k in x[:_samples(plan, core.cycles(plan), len(x))]:
        yield Frame("s_axis_x", sample_frame(plan, row))
        yield Frame("m_axis_f", _reply(plan, call, k), _status(call.expected["status"][k]))


def _reply(plan: Plan, call: Call, k: int) -> list[int]:
    """Return the beats of a prediction: the outputs, then label and margin of classes."""
    words = np.atleast_1d(call.expected["f"][k]).tolist()
    words += [call.expected[name][k] for name in ("label", "margin") if name in call.expected]
    return [_word(plan, word) for word in words]


def _learner(plan: Plan, core: RtlCore, vectors: Vectors) -> Iterator[Frame]:
    """Yield the frames that replay updates and predictions.

    If all of them are replayed, the final state is read and compared, too.
    """
    left = _samples(plan, core.cycles(plan), 1 << 30)
    for call in vectors.calls:
        if call.x_raw is None or left == 0:
            continue
        count = min(left, len(call.x_raw))
        left -= count
        for k in range(count):
            target = None if call.y_raw is None else call.y_raw[k]
            yield Frame("s_axis_x", sample_frame(plan, call.x_raw[k], target), int(target is not None))
            yield Frame("m_axis_f", _answer(plan, call, k, target), _status(call.expected["status"][k]))
    if left:
        for of_slots, words in enumerate(state_frames(plan, vectors.state)):
            yield Frame(COMMANDS, [1 << of_slots])
            yield Frame("m_axis_state", words, of_slots)


def _answer(plan: Plan, call: Call, k: int, target: Raw | None) -> list[int]:
    """Return the beats of a reply: the prediction, and the error of a target."""
    if framed(plan):
        return _reply(plan, call, k)
    f = int(call.expected["f"][k])
    if target is None:
        return [_word(plan, f)]
    from ...sim.model.base import fixed_targets
    from ...sim.primitives import saturate

    [y] = fixed_targets(plan, np.atleast_1d(target))
    return [_word(plan, f), _word(plan, saturate(int(y) - f, *_word_range(plan)))]


def _training(vectors: Vectors) -> Call | None:
    """Return the training call; None unless the vectors contain exactly one."""
    calls = [call for call in vectors.calls if call.name == "train"]
    return calls[0] if len(calls) == 1 else None


def _trained(plan: Plan, call: Call, vectors: Vectors) -> tuple[int, list[int]]:
    """Return the expected status of the core after training, and its model frame.

    The host, not the core, certifies the solution. Therefore, the core never returns the status INACCURATE.
    """
    status = int(call.expected["status"][0])
    if status in TRAINED:
        core_status = DeviceStatus.OK if status == DeviceStatus.INACCURATE else status
        return core_status, model_frame(plan, vectors.state)
    return status, model_frame(plan, field_arrays(plan, {}))


def _trainer(plan: Plan, core: RtlCore, vectors: Vectors) -> Iterator[Frame]:
    """Yield the frames of one training run of the trainer core."""
    call = _training(vectors)
    if call is None or call.y_raw is None or len(call.y_raw) != plan.sizes["n"]:
        return
    if call.x_raw is not None:
        yield Frame("s_axis_x", [word for row in call.x_raw for word in sample_frame(plan, row)])
    yield Frame("s_axis_y", target_frame(plan, call.y_raw))
    status, frame = _trained(plan, call, vectors)
    yield Frame("m_axis_model", frame, _status(status))


def _solver(plan: Plan, core: RtlCore, vectors: Vectors) -> Iterator[Frame]:
    """Yield the frames that solve the system of the training run."""
    # Here, because the model brings its compiler, a second's start, along.
    from ...sim.model.base import fixed_targets
    from ...sim.model.toeplitz.first_row import row_of
    from ...sim.model.toeplitz.signals import solve_signal

    call = _training(vectors)
    if call is None or call.y_raw is None or len(call.y_raw) != plan.sizes["n"]:
        return
    if plan.outputs > 1:
        for y in fixed_targets(plan, call.y_raw).reshape(plan.outputs, -1):
            found = solve_signal(plan, y)
            yield Frame("s_axis_y", [_word(plan, word) for word in y])
            yield Frame("m_axis_alpha", [_word(plan, word) for word in (found.exponent, *found.alpha)],
                        _status(found.status))
        return
    status, frame = _trained(plan, call, vectors)
    if not plan.banded:
        yield Frame("s_axis_r", [_word(plan, word) for word in row_of(plan, vectors.state)])
    yield Frame("s_axis_y", system_frame(plan, fixed_targets(plan, call.y_raw)))
    head = model_head(plan)
    alpha = frame[head + plan.sizes["D"]::plan.sizes["D"] + 1]
    yield Frame("m_axis_alpha", [*frame[2:head if status in TRAINED else 3], *alpha], _status(status))


def _stream(plan: Plan, core: RtlCore, vectors: Vectors) -> Iterator[Frame]:
    """Yield the frames of a record, and of its first samples again.

    The second record restarts the stream.
    """
    if not vectors.stream or vectors.streamed is None:
        return
    taps, y = plan.stream_taps, vectors.streamed[:min(_MOST_BEATS, _MOST_CLOCKS // core.cycles(plan))]
    for count in (len(y), taps + taps // 2):
        count = min(count, len(y))
        ready = slice(taps - 1, count)
        yield Frame("s_axis_y", target_frame(plan, y[:count]))
        if count >= taps:
            users = tuple(_status(status) for status in vectors.stream["status"][ready])
            yield Frame("m_axis_f", [_word(plan, f) for f in vectors.stream["f"][ready]], users=users)


def _fitted(plan: Plan, core: RtlCore, vectors: Vectors) -> Iterator[Frame]:
    """Yield the frames of the fitted values of the training run, signal by signal."""
    from ...sim.model.base import fixed_targets
    from ...sim.model.toeplitz.fitted import fitted_words

    call = _training(vectors)
    if call is None or call.y_raw is None or "f" not in vectors.fitted:
        return
    n, state = plan.sizes["n"], vectors.state
    signals = zip(fixed_targets(plan, call.y_raw).reshape(-1, n), state["alpha"].reshape(-1, n),
                  solution_frames(plan, state), strict=True)
    for y, alpha, solution in signals:
        status, values = fitted_words(plan, y, alpha, int(state["alpha_exp"][0]))
        yield Frame("s_axis_y", [_word(plan, word) for word in y])
        yield Frame("s_axis_alpha", solution)
        yield Frame("m_axis_f", [_word(plan, f) for f in values], users=tuple(map(_status, status)))


_SCRIPTS: dict[str, Callable[[Plan, RtlCore, Vectors], Iterator[Frame]]] = {
    "predictor": _predictor, "learner": _learner, "trainer": _trainer, "solver": _solver,
    "stream": _stream, "fitted": _fitted}
