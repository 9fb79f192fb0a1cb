"""hw: open a back end by its name."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..codegen.build.host import HostBackend
from ..codegen.build.toolchains import COMPILERS
from ..codegen.firmware.image import OPTIMISATIONS
from ..codegen.firmware.targets import Board, board_ids, load_board
from ..codegen.generate import generate, write_c
from ..sim.backend import Backend, Outputs
from ..sim.errors import fail
from ..sim.model import open_model
from ..sim.plan import Plan
from ..sim.replay.trace import no_hooks

#: What may follow a simulator's name; without it learner or trainer where there is one, else the predictor.
_RTL_CORES = ("predictor", "learner", "trainer", "solver")

#: How a back end is named, with what it is; what stands before the first colon has its row in `_OPENERS`.
NAMES = {
    "model": "integer model in Python",
    "model:fxpmath": "integer model in plain fxpmath (n <= 32)",
    f"host[:{'|'.join(COMPILERS[1:])}][:-O0|-O2|...]": "generated C on this machine",
    "wasm[:-O0|-O2|...]": "generated C as WebAssembly, which also runs in browsers",
    "emu:ID[:EMULATOR]": "firmware image on an emulated board",
    "board:[ID@]PORT": "firmware on a physical board at a serial port",
    "rtl:icarus|verilator[:CORE]": f"SystemVerilog in a simulator; CORE: {', '.join(_RTL_CORES)}",
    "hls:vitis|catapult": "HLS C++ in C simulation",
}

#: What names a board and no port: those begin as in /dev/ttyACM0, COM3 or socket://.
_BOARD_ID = re.compile(r"[a-z][a-z0-9-]*")


def open_backend(plan: Plan, name: str, *, source: str | Path | None = None,
                 build_dir: str | Path | None = None, state: Outputs | None = None,
                 traced: bool = False, flash: str = "", waves: Path | None = None) -> Backend:
    """Open a back end by name.

    Parameters
    ----------
    plan : Plan
    name : str
        A name of one of the forms in :data:`NAMES`, such as ``emu:mps2-an386:qemu``.
    source : path, optional
        A folder generated from this plan. By default, the code is generated into a temporary folder, which
        `close` removes.
    build_dir : path, optional
        Folder of the build. By default, a subfolder of the generated folder.
    state : dict, optional
        State of a trained model, for an RTL or HLS back end that cannot train.
    traced : bool
        Whether to compile the trace hooks, which the method ``trace`` requires.
    flash : str
        Tool that flashes a physical board before it is used, ``auto``, or empty to flash nothing.
    waves : path, optional
        Folder for the waveforms of an RTL simulation, one file per call.

    Raises
    ------
    KerncastError
        The errors of :func:`check_name`; E424 for waveforms, E433 for trace hooks, E4xx of boards, E5xx of
        tools.
    """
    _refuse_what_it_lacks(name, traced, waves)
    kind, _, rest = name.partition(":")
    opener = _OPENERS[kind]
    if kind == "model" or (kind == "board" and not flash):
        return opener(_Wanted(plan, rest, Path(), Path(), state, traced))
    if source is not None:
        source, build = Path(source), Path(build_dir or Path(source) / "build")
        return opener(_Wanted(plan, rest, source, build, state, traced, flash, waves))
    folder = tempfile.TemporaryDirectory(prefix="kerncast-")
    made = Path(folder.name) / "source"
    build = Path(build_dir or made / "build")
    try:
        wanted = _written(plan, kind, made)
        return _Owning(opener(_Wanted(plan, rest, wanted, build, state, traced, flash, waves)), folder)
    except BaseException:
        folder.cleanup()
        raise


def _written(plan: Plan, kind: str, folder: Path) -> Path | None:
    """Write what a back end builds, unless it writes its C files itself."""
    if kind in ("host", "wasm"):
        return None
    (generate if kind in ("rtl", "hls") else write_c)(plan, folder)
    return folder


def _refuse_what_it_lacks(name: str, traced: bool, waves: Path | None) -> None:
    check_name(name)
    kind = name.partition(":")[0]
    if traced and (kind in ("rtl", "hls") or name == "model:fxpmath"):
        raise no_hooks(name)
    if waves is not None and kind != "rtl":
        raise fail("E424", "only an RTL simulation can write waveforms", where="back end", value=name,
                   allowed="rtl:icarus or rtl:verilator", remedy="omit --waves")


def check_name(name: str) -> None:
    """Raise an error if a name is not a back end. This call opens no back end.

    Raises
    ------
    KerncastError
        E417 for an unknown emulator, E322 for an unknown board, E325 for an unknown optimisation level, and
        E420 for an unknown back end; E421 if the port of a physical board is missing.
    """
    kind, _, rest = name.partition(":")
    if kind not in _OPENERS or (kind in ("emu", "board", "rtl", "hls") and not rest):
        raise _unknown(name)
    if kind == "model" and rest not in ("", "fxpmath"):
        raise _unknown(name)
    if kind == "host":
        _host_choices(rest)
    if kind == "wasm" and rest:
        _check_level(name, rest)
    if kind == "emu":
        from .hil.board_backend import emulated
        from .hil.emulators import require_entry

        board, emulator, _, optimise = emulated(name)
        require_entry(board, emulator)
        _check_level(name, optimise)
    if kind == "board":
        resolve_board(rest)
    if kind == "hls":
        from .hls.headers import known_dialect

        known_dialect(rest)
    if kind == "rtl":
        from .rtl.simulators import known_simulator

        simulator, _, core = rest.partition(":")
        known_simulator(simulator)
        if core and core not in _RTL_CORES:
            raise _unknown(name)


# ---- boards ----
class BoardAt(NamedTuple):
    """Board and its serial port.

    Parameters
    ----------
    board : Board or None
        The board, or None if its ID is to be read from the board at the port.
    port : str
        Name of the serial port.
    """

    board: Board | None
    port: str


def resolve_board(text: str, flash: str = "") -> BoardAt:
    """Return the board and the serial port of ``[ID@]PORT``.

    Parameters
    ----------
    text : str
        The part of a back end's name after ``board:``, such as ``microbit@/dev/ttyACM0`` or
        ``/dev/ttyACM0``.
    flash : str
        The tool that flashes the board; empty for none.

    Raises
    ------
    KerncastError
        E322 if the board is unknown, E421 if the port is missing, E418 if a board without an ID is to be
        flashed.
    """
    name, at, port = text.rpartition("@")
    named = name if at else text if _BOARD_ID.fullmatch(text) else None
    board = load_board(named) if named else None
    if not port or port == named:
        raise fail("E421", "the port of this board is missing", where="back end", value=f"board:{text}",
                   allowed="board:ID@PORT, such as board:microbit@/dev/ttyACM0, or board:PORT",
                   remedy="name the port; kerncast targets --ports lists the ports of this machine")
    if flash and board is None:
        raise fail("E418", "--flash needs the ID of the board", where="--flash", value=flash,
                   allowed="board:ID@PORT",
                   remedy="add the ID of the board; kerncast targets lists the boards")
    return BoardAt(board, port)


def board_id(text: str) -> tuple[str, str]:
    """Return the board ID and the port for which a firmware image is to be built.

    `text` is ``ID`` or the name of a back end, ``board:ID@PORT`` or ``emu:ID``. If it contains no port, the
    placeholder ``PORT`` is returned.
    """
    kind, colon, rest = text.partition(":")
    name, _, port = (rest if colon and kind in ("board", "emu") else text).partition("@")
    return name, port or "PORT"


def check_flash(name: str, flash: str) -> None:
    """Raise E418 if --flash is used with a back end that is not a physical board.

    Parameters
    ----------
    name : str
        Name of the back end.
    flash : str
        The tool that flashes the board; empty for none.
    """
    if flash and not name.startswith("board:"):
        raise fail("E418", "only a physical board can be flashed", where="--flash",
                   value=f"{name} --flash {flash}", allowed="board:ID@PORT",
                   remedy="omit --flash, or name a physical board and its port")


def with_port(name: str, port: str | None) -> str:
    """Add the value of the option --port to a back end's name.

    This option is the old form of ``board:ID@PORT``.

    Raises
    ------
    KerncastError
        E420 if the back end is not a physical board, or if its name contains another port.
    """
    if port is None:
        return name
    found = name if not port else at_port(name, [port])
    if port and not found.endswith(f"@{port}"):
        raise fail("E420", "only a physical board has a port", where="--port", value=f"{name} --port {port}",
                   allowed="board:ID@PORT", remedy="omit --port, or name a physical board")
    return found


def at_port(name: str, ports: Sequence[str]) -> str:
    """Add a port to the name of a physical board that has none.

    Parameters
    ----------
    name : str
        Name of a back end. A name other than ``board:ID`` is returned unchanged.
    ports : sequence of str
        Each entry is ``PORT``, or ``ID=PORT`` for a specific board. The last matching entry is used.
    """
    kind, _, rest = name.partition(":")
    if kind != "board" or not _BOARD_ID.fullmatch(rest):
        return name
    fitting = [port for board, port in map(_port_of, ports) if board in ("", rest)]
    return f"{name}@{fitting[-1]}" if fitting else name


def _port_of(text: str) -> tuple[str, str]:
    """Return the board ID and the port of ``[ID=]PORT``.

    The ID is empty if it is missing.
    """
    board, _, port = text.partition("=")
    return (board, port) if board in board_ids() else ("", text)


class _Wanted(NamedTuple):
    """Arguments to open a back end; `rest` is the part of the name after its colon."""

    plan: Plan
    rest: str
    source: Path | None  # host and wasm need none
    build: Path
    state: Outputs | None
    traced: bool
    flash: str = ""
    waves: Path | None = None


class _Owning:
    """Wrapper of a back end that removes a temporary folder when it is closed."""

    def __init__(self, backend: Backend, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._backend, self._folder = backend, folder
        self.name, self.calls = backend.name, backend.calls
        self.train, self.update, self.predict = backend.train, backend.update, backend.predict
        self.state, self.reset = backend.state, backend.reset
        self.save, self.restore = backend.save, backend.restore

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the wrapped back end, such as ``costs`` or ``plan_hash``."""
        return getattr(self._backend, name)

    def close(self) -> None:
        """Close the back end and remove the temporary folder."""
        try:
            self._backend.close()
        finally:
            self._folder.cleanup()


def _unknown(name: str) -> Exception:
    return fail("E420", "there is no such back end", where="back end", value=name,
                allowed="; ".join(NAMES), remedy="choose one of the allowed forms")


def _model(wanted: _Wanted) -> Backend:
    if wanted.rest == "fxpmath":
        from ..sim.fxp_model import open_fxp_model

        return open_fxp_model(wanted.plan)
    return open_model(wanted.plan)


def _host_choices(rest: str) -> tuple[str, str]:
    """Return the compiler and the optimisation level of a name ``host:...``.

    Raises E420 if the compiler is unknown, and E325 if the optimisation level is unknown.
    """
    parts = rest.split(":") if rest else []
    flags = [p for p in parts if p.startswith("-")]
    compilers = [p for p in parts if not p.startswith("-")]
    if len(compilers) > 1 or any(c not in COMPILERS for c in compilers):
        raise _unknown(f"host:{rest}")
    for flag in flags if len(flags) < 2 else ["".join(flags)]:
        _check_level(f"host:{rest}", flag)
    return (*compilers, "auto")[0], (*flags, "-O2")[0]


def _check_level(name: str, optimise: str) -> None:
    if optimise not in OPTIMISATIONS:
        raise fail("E325", "there is no such optimisation level", where="back end", value=name,
                   allowed="one of " + ", ".join(OPTIMISATIONS), remedy="choose one of the allowed values")


def _host(wanted: _Wanted) -> Backend:
    compiler, optimise = _host_choices(wanted.rest)
    return HostBackend(wanted.plan, wanted.source, compiler=compiler, flags=(optimise,),
                       build_dir=wanted.build, traced=wanted.traced)


def _wasm(wanted: _Wanted) -> Backend:
    from .wasm import WasmBackend

    return WasmBackend(wanted.plan, wanted.source, flags=(wanted.rest or "-O2",), build_dir=wanted.build,
                       traced=wanted.traced)


def _emulator(wanted: _Wanted) -> Backend:
    from .hil.board_backend import open_board

    assert wanted.source is not None
    return open_board(wanted.source, f"emu:{wanted.rest}", plan=wanted.plan, build_dir=wanted.build,
                      traced=wanted.traced)


def _board(wanted: _Wanted) -> Backend:
    from .hil.board_backend import open_port
    from .hil.flash import open_loaded

    assert wanted.source is not None
    board, port = resolve_board(wanted.rest, wanted.flash)
    if not wanted.flash or board is None:
        return open_port(port, wanted.plan, board=board, traced=wanted.traced)
    return open_loaded(board, port, wanted.plan, wanted.source, wanted.flash, build_dir=wanted.build,
                       traced=wanted.traced)[0]


def _rtl(wanted: _Wanted) -> Backend:
    from ..codegen.rtl import LEARNER, TRAINER
    from .rtl.core_backend import CoreBackend
    from .rtl.learner_backend import LearnerBackend
    from .rtl.predictor_backend import RtlBackend
    from .rtl.trainer_backend import SolverBackend, TrainerBackend

    simulator, _, core = wanted.rest.partition(":")
    backend: CoreBackend
    if core == "learner" or (not core and LEARNER.fits(wanted.plan)):
        backend = LearnerBackend(wanted.plan, simulator, wanted.build, wanted.source, wanted.waves)
    else:
        state = open_model(wanted.plan).state() if wanted.state is None else wanted.state
        trains = core == "trainer" or (not core and TRAINER.fits(wanted.plan))
        kind = TrainerBackend if trains else SolverBackend if core == "solver" else RtlBackend
        backend = kind(wanted.plan, state, simulator, wanted.build, wanted.source, wanted.waves)
    backend.name = f"rtl:{wanted.rest}"
    return backend


def _hls(wanted: _Wanted) -> Backend:
    from .hls.backend import HlsBackend

    return HlsBackend(wanted.plan, wanted.rest, state=wanted.state, source=wanted.source,
                      build_dir=wanted.build)


_OPENERS: dict[str, Callable[[_Wanted], Backend]] = {
    "model": _model, "host": _host, "wasm": _wasm, "emu": _emulator, "board": _board, "rtl": _rtl,
    "hls": _hls}
