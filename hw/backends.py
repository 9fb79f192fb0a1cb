"""hw: one door to every back end: a name opens it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..codegen.firmware import OPTIMISATIONS
from ..codegen.generate import generate
from ..codegen.host import HostBackend
from ..sim.backend import Backend, Outputs
from ..sim.errors import fail
from ..sim.model import open_model
from ..sim.plan import Plan
from ..sim.trace import no_hooks

#: How a back end is named, with what it is.
NAMES = {
    "model": "integer model in Python",
    "model:fxpmath": "integer model in plain fxpmath (n <= 32)",
    "host[:gcc|clang|zig][:-O0|-O2|...]": "generated C on this machine",
    "emu:BOARD[:EMULATOR]": "firmware image on an emulated board",
    "board:PORT": "firmware on a real board at a serial port",
    "rtl:icarus|verilator": "generated SystemVerilog in a simulator (prediction)",
}


def open_backend(plan: Plan, name: str, *, source: str | Path | None = None,
                 build_dir: str | Path | None = None, state: Outputs | None = None,
                 traced: bool = False) -> Backend:
    """Open a back end by name.

    Parameters
    ----------
    plan : Plan
    name : str
        One of :data:`NAMES`, such as ``host:clang:-O0`` or ``emu:mps2-an386:qemu``.
    source : path, optional
        A folder generated from this plan; without it one is generated and removed on `close`.
    build_dir : path, optional
        Where images and simulators are built; beside the source by default.
    state : dict, optional
        A trained model structure, for a back end that only predicts (RTL).
    traced : bool
        With trace hooks: it answers ``trace``.

    Returns
    -------
    Backend
        Close it after use.

    Raises
    ------
    KerncastError
        E420 unknown name, E325 unknown level, E433 no trace hooks, E5xx without a tool, E4xx by the board.
    """
    kind, _, rest = name.partition(":")
    opener = _OPENERS.get(kind)
    if opener is None or (kind in ("emu", "board", "rtl") and not rest):
        raise _unknown(name)
    if traced and (kind == "rtl" or name == "model:fxpmath"):
        raise no_hooks(name)
    if kind in ("model", "board"):
        return opener(_Wanted(plan, rest, Path(), Path(), state, traced))
    if source is not None:
        build = Path(build_dir or Path(source) / "build")
        return opener(_Wanted(plan, rest, Path(source), build, state, traced))
    folder = tempfile.TemporaryDirectory(prefix="kerncast-")
    try:
        made = Path(folder.name) / "source"
        generate(plan, made)
        build = Path(build_dir or made / "build")
        return _Owning(opener(_Wanted(plan, rest, made, build, state, traced)), folder)
    except BaseException:
        folder.cleanup()
        raise


class _Wanted(NamedTuple):
    """What a back end is opened from; `rest` is its name after the first colon."""

    plan: Plan
    rest: str
    source: Path
    build: Path
    state: Outputs | None
    traced: bool


class _Owning:
    """A back end together with the folder that was made for it."""

    def __init__(self, backend: Backend, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._backend, self._folder = backend, folder
        self.name, self.calls = backend.name, backend.calls
        self.train, self.update, self.predict = backend.train, backend.update, backend.predict
        self.state, self.reset = backend.state, backend.reset
        self.save, self.restore = backend.save, backend.restore

    def __getattr__(self, name: str) -> Any:
        """What else the back end has, such as ``costs`` of a board or ``plan_hash`` of the host's C."""
        return getattr(self._backend, name)

    def close(self) -> None:
        """Close the back end and remove the folder."""
        try:
            self._backend.close()
        finally:
            self._folder.cleanup()


def _unknown(name: str) -> Exception:
    return fail("E420", "there is no such back end", where="back end", value=name,
                allowed="; ".join(NAMES), remedy="choose one of these forms")


def _model(wanted: _Wanted) -> Backend:
    if wanted.rest == "fxpmath":
        from ..sim.fxp_model import open_fxp_model

        return open_fxp_model(wanted.plan)
    if wanted.rest:
        raise _unknown(f"model:{wanted.rest}")
    return open_model(wanted.plan)


def _host(wanted: _Wanted) -> Backend:
    parts = wanted.rest.split(":") if wanted.rest else []
    flags = tuple(p for p in parts if p.startswith("-"))
    compilers = [p for p in parts if not p.startswith("-")]
    if len(compilers) > 1 or any(c not in ("auto", "gcc", "clang", "zig") for c in compilers):
        raise _unknown(f"host:{wanted.rest}")
    if len(flags) > 1 or any(flag not in OPTIMISATIONS for flag in flags):
        raise fail("E325", "there is no such optimisation level", where="back end",
                   value=f"host:{wanted.rest}", allowed="one of " + ", ".join(OPTIMISATIONS),
                   remedy="choose one of these")
    return HostBackend(wanted.plan, wanted.source, compiler=(*compilers, "auto")[0],
                       flags=flags or ("-O2",), build_dir=wanted.build, traced=wanted.traced)


def _emulator(wanted: _Wanted) -> Backend:
    from .hil.board_backend import open_board

    return open_board(wanted.source, f"emu:{wanted.rest}", plan=wanted.plan, build_dir=wanted.build,
                      traced=wanted.traced)


def _board(wanted: _Wanted) -> Backend:
    from .hil.board_backend import open_port

    return open_port(wanted.rest, wanted.plan, traced=wanted.traced)


def _rtl(wanted: _Wanted) -> Backend:
    from .rtl.simulate import RtlBackend

    state = open_model(wanted.plan).state() if wanted.state is None else wanted.state
    return RtlBackend(wanted.plan, state, wanted.rest, wanted.build, wanted.source)


_OPENERS: dict[str, Callable[[_Wanted], Backend]] = {
    "model": _model, "host": _host, "emu": _emulator, "board": _board, "rtl": _rtl}
