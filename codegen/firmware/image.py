"""codegen: build a board's firmware image.

The image consists of the generated library and glue code, the HIL agent and the board support. The build
folder is ``OUT/build/<board>-<compiler><optimisation>/``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from ...sim.backend import answer_width
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.replay.saved_state import slot_bytes
from ...sim.spec.types import Optimisation
from ..build.toolchains import Toolchain, choose_toolchain
from ..build.tools import refusal
from ..c.context import context
from ..c.trace_hooks import TRACE_ON
from ..resources import environment, firmware_files, resource
from .call_graph import call_graph
from .footprint import Footprint, footprint, sections
from .hil_table import link_table, render_header
from .targets import Board, driver_files, load_arch, load_board, load_target

OPTIMISATIONS = get_args(Optimisation)
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
#: A table of places within a function would read as calls of it, in the search for the deepest stack.
OURS = ("-fno-jump-tables",)
FREESTANDING = ("-ffreestanding", "-ffp-contract=off", "-nostdlib", "-ffunction-sections", "-fdata-sections",
                "-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-g0")

#: Online learners and predictors process samples in batches that fit the board's buffer, up to this number.
BATCH_BYTES = 4096
BATCH_SAMPLES = 128
#: What the agent and the board take at most besides their two frames.
AGENT_BYTES = 1024

#: Files of the generated C's runtime that the agent uses.
AGENT_HEADERS = ("firmware/rt/kc_crc.h", "firmware/rt/kc_storage.h")

_SCRIPT = "board.ld"
#: What has no place in a program of the library alone: how the names of its files begin.
_START_UP = "kc_startup."
#: Tables whose functions the agent calls, of the library and of the machine; see kc_hil_agent.h.
_CALLBACK_TABLES = {"kc_hil_agent.o": ("kc_hil_port", "kc_board")}


@dataclass(frozen=True)
class FirmwareImage:
    """Firmware image, and its sizes in bytes.

    Parameters
    ----------
    elf : Path
    board : Board
    compiler : str
        ``gcc``, ``clang`` or ``zig``.
    version : str
        The compiler's version.
    optimise : str
        ``-O0`` to ``-O3``, ``-Os``.
    flash_bytes, ram_bytes : int
        Size of the whole image: flash includes code, constants and initial values; RAM includes static data
        without the stack.
    stack_bytes : int
        RAM reserved for the stack.
    toolchain : Toolchain
    objects : tuple of str
        Names of the object files, which are in the folder of `elf`.
    calls : mapping of str to str
        The library's function for each call; see :func:`library_calls`.
    """

    elf: Path
    board: Board
    compiler: str
    version: str
    optimise: str
    flash_bytes: int
    ram_bytes: int
    stack_bytes: int
    toolchain: Toolchain
    objects: tuple[str, ...]
    calls: Mapping[str, str]

    @property
    def _callable(self) -> list[str]:
        """List the objects of the library and of everything that it may call."""
        return [name for name in self.objects if not name.startswith(_START_UP)]

    def library(self, *calls: str) -> Footprint:
        """Measure the footprint of the library in a program that makes only these calls."""
        return footprint(self.toolchain, self.elf.parent, self._callable,
                         [self.optimise, *FREESTANDING, *self.toolchain.flags],
                         [self.calls[call] for call in calls])

    @cached_property
    def library_bytes(self) -> int:
        """Return the flash size of the generated library, including all of its functions."""
        return self.library(*self.calls).flash

    @cached_property
    def worst_stack(self) -> dict[str, int] | None:
        """Return the maximum stack usage of each call in bytes.

        The result is None if the compiler does not report stack usage. Interrupts are not included, nor are
        the storage functions of the application, which save and restore call.
        """
        if not self.toolchain.reports_stack_usage:
            return None
        runtime = load_target(self.board.target).runtime_stack_bytes
        graph = call_graph([self.elf.parent / name for name in self._callable], runtime)
        return {call: graph.max_stack(function) for call, function in self.calls.items()}

    @cached_property
    def deepest_stack(self) -> int | None:
        """Return the maximum stack usage of the whole image, starting at main, in bytes.

        The result is None if the compiler does not report stack usage, if a function has no known frame size,
        or if a call chain has no bound.
        """
        if not self.toolchain.reports_stack_usage:
            return None
        runtime = load_target(self.board.target).runtime_stack_bytes
        try:
            objects = [self.elf.parent / name for name in self._callable]
            return call_graph(objects, runtime, _CALLBACK_TABLES).max_stack("main")
        except KerncastError:
            return None


def library_calls(plan: Plan) -> dict[str, str]:
    """Map each call of the protocol to its function in the generated library."""
    p = plan.name
    if plan.fixed:
        return {"predict": f"{p}_model_predict"}
    learn = {"train": f"{p}_train"} if plan.trains else {"update": f"{p}_{plan.update_name}"}
    learn |= {"stream": f"{p}_stream_push"} if plan.stream_taps else {}
    return {"init": f"{p}_model_init", **learn, "predict": f"{p}_model_predict", "save": f"{p}_state_save",
            "restore": f"{p}_state_restore"}


def buffer_samples(plan: Plan, batch_bytes: int = BATCH_BYTES) -> int:
    """Return the number of samples in a board's buffer.

    For a batch trainer, this is the number of training samples n.
    """
    if plan.trains:
        return plan.sizes["n"]
    row = max(plan.sizes["D"] * plan.signals["x_raw"].format.c_bits // 8,
              plan.targets * plan.signals["y_raw"].format.c_bits // 8,
              answer_width(plan) * plan.signals["y"].format.c_bits // 8)
    return max(1, min(BATCH_SAMPLES, batch_bytes // row))


def fits_saved_states(plan: Plan, board: Board) -> bool:
    """Report whether a board has enough RAM for two saved states.

    The result is false if the plan has no saved state.
    """
    return saved_states_fit(plan, board.memory.ram_bytes - board.memory.stack_bytes, board.memory.batch_bytes,
                            board.uart.max_payload or link_table().max_payload)


def saved_states_fit(plan: Plan, room: int, batch_bytes: int, payload: int) -> bool:
    """Report whether model, buffers, agent and two saved states fit into `room` bytes.

    The result is false if the plan has no saved state. `payload` is the maximum payload of the agent.
    """
    if plan.fixed:
        return False
    sample = sum(plan.signals[name].format.c_bits // 8 * count for name, count in (
        ("x_raw", plan.sizes["D"]), ("y_raw", plan.targets), ("y", answer_width(plan)))) + 1
    buffers = buffer_samples(plan, batch_bytes) * sample
    held = plan.ram_bytes + plan.stream_bytes + buffers + 2 * slot_bytes(plan)
    return held + 2 * payload + AGENT_BYTES <= room


def render_port(plan: Plan, batch_bytes: int = BATCH_BYTES, *, slots: bool = True) -> str:
    """Render ``<name>_hil_port.c``, the agent's interface to the library.

    If `slots` is true, the port includes two slots for saved states.
    """
    values = context(plan, str(plan.evidence.get("spec", "of no file")))
    return environment().get_template("firmware/hil_port.c.j2").render(
        values, file=f"{plan.name}_hil_port.c", capacity=buffer_samples(plan, batch_bytes), slots=slots)


def render_board_files(board: Board) -> dict[str, str]:
    """Render the files that depend only on the board and the protocol.

    Returns texts by file name.
    """
    env = environment()
    files = {
        "kc_hil_protocol.h": render_header(),
        "kc_board_config.h": env.get_template("firmware/kc_board_config.h.j2").render(board=board),
        "kc_board_setup.c": env.get_template("firmware/kc_board_setup.c.j2").render(board=board),
    }
    script = load_arch(load_target(board.target).arch).linker_script
    if script is not None:
        files[_SCRIPT] = env.get_template(f"firmware/{script}.j2").render(board=board)
    return files


def shipped_sources(board: Board) -> dict[str, str]:
    """Read the sources of agent, board support and drivers; return texts by file name."""
    arch = load_target(board.target).arch
    folders = ("agent", "support", arch, *load_arch(arch).shared)
    entries = [entry for folder in folders for entry in firmware_files(folder).values()
               if entry.name.endswith((".c", ".h", ".S"))]
    entries += [*driver_files(board), *(resource(path) for path in AGENT_HEADERS)]
    return {entry.name: entry.read_text(encoding="utf-8") for entry in sorted(entries, key=lambda e: e.name)}


def build_firmware(out_dir: Path | str, plan: Plan, board: str = "mps2-an386", *,
                   compiler: str = "auto", optimise: str = "-O2",
                   build_dir: Path | str | None = None, traced: bool = False) -> FirmwareImage:
    """Build a firmware image with the HIL agent and the library in `out_dir`.

    Parameters
    ----------
    out_dir : path
        Folder of the generated library.
    plan : Plan
        The plan from which the library was generated.
    board : str
        A board id.
    compiler : {"auto", "gcc", "clang", "zig"}
        ``auto`` selects the best one installed.
    optimise : str
        One of `OPTIMISATIONS`.
    build_dir : path, optional
        Folder of the build; by default a separate folder in ``out_dir/build``.
    traced : bool
        Whether to compile the trace hooks.

    Raises
    ------
    KerncastError
        E305 if `out_dir` contains no library, E320 if a compiler fails, E322 if the board is unknown,
        E325 if the compiler or the optimisation level is unknown, E326 if the image does not fit, E328
        if its stack may overflow, E511 if the compiler is not installed.
    """
    out = Path(out_dir)
    sources = sorted(out.glob(f"{plan.name}_*.c"))
    if not sources:
        raise fail("E305", "the folder contains no generated library", where=str(out),
                   value=f"no {plan.name}_*.c", allowed="a folder made by kerncast gen",
                   remedy="generate it: kerncast gen SPEC -o FOLDER")
    chosen = load_board(board)
    files = {f"{plan.name}_hil_port.c": render_port(plan, chosen.memory.batch_bytes,
                                                      slots=fits_saved_states(plan, chosen))}
    return _refuse_deep_stack(build_image(
        files, sources, [out], chosen, compiler=compiler, optimise=optimise,
        build_dir=Path(build_dir) if build_dir else out / "build", traced=traced, calls=library_calls(plan)))


def _refuse_deep_stack(image: FirmwareImage) -> FirmwareImage:
    """Raise E328 if an image may exceed the board's stack; else return the image."""
    needed, kept = image.deepest_stack, image.stack_bytes
    if needed is not None and 0 < kept < needed:  # no bytes: an operating system keeps them
        raise fail("E328", "the image may need more stack than the board reserves", where=image.board.id,
                   value=f"{needed} bytes at {image.optimise} of {image.compiler}", allowed=f"{kept} bytes",
                   remedy="raise memory.stack_bytes in the board file, or choose another optimisation "
                          "level or board")
    return image


def build_image(files: Mapping[str, str], library: Sequence[Path], includes: Sequence[Path],
                board: Board, *, compiler: str = "auto", optimise: str = "-O2", build_dir: Path,
                traced: bool = False, calls: Mapping[str, str] = MappingProxyType({})) -> FirmwareImage:
    """Build a firmware image from an arbitrary port of the agent.

    Use :func:`build_firmware` for a generated library.

    Parameters
    ----------
    files : mapping of str to str
        Texts of additional sources and headers by file name. One of them defines ``kc_hil_port``.
    library : sequence of Path
        C files of the library under test.
    includes : sequence of Path
        Folders of the library's headers.
    board, compiler, optimise, build_dir, traced
        As in :func:`build_firmware`. The image is written to a subfolder of `build_dir`.
    calls : mapping of str to str
        The library's functions whose footprint is to be measured.
    """
    if optimise not in OPTIMISATIONS:
        raise fail("E325", "no such optimisation level", where="optimise", value=optimise,
                   allowed=", ".join(OPTIMISATIONS), remedy="choose one of the allowed values")
    toolchain = choose_toolchain(compiler, load_target(board.target))
    hooks = "-trace" if traced else ""
    folder = (build_dir / f"{board.id}-{toolchain.name}{optimise}{hooks}").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    texts = {**shipped_sources(board), **render_board_files(board), **files}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    flags = [optimise, *WARNINGS, *FREESTANDING, *toolchain.flags, "-I.",
             *([f"-D{TRACE_ON}"] if traced else []), *_sizes(board),
             *(f"-I{_relative_path(folder, path)}" for path in includes)]
    ours = sorted(name for name in texts if name.endswith((".c", ".S")))
    theirs = [_relative_path(folder, path) for path in library]
    objects = [name for source in (*ours, *theirs)
               for name in toolchain.compile([source], [*flags, *(OURS if source in ours else ()),
                                                        *_stack_usage_flags(toolchain, source)], folder)]
    _link(toolchain, objects, folder, board)
    whole = sections(folder / "firmware.elf")
    return FirmwareImage(
        elf=folder / "firmware.elf", board=board, compiler=toolchain.name, version=toolchain.version,
        optimise=optimise, flash_bytes=whole.flash, ram_bytes=whole.ram,
        stack_bytes=board.memory.stack_bytes, toolchain=toolchain, objects=tuple(objects), calls=calls)


def _stack_usage_flags(toolchain: Toolchain, source: str) -> tuple[str, ...]:
    """Return the compiler flag that reports stack frames; none for start-up code.

    Start-up code runs before the stack is set up, so it has no stack frame.
    """
    return ("-fstack-usage",) if toolchain.reports_stack_usage and not source.startswith(_START_UP) else ()


def _sizes(board: Board) -> list[str]:
    payload = board.uart.max_payload
    return [] if payload is None else [f"-DKC_HIL_MAX_PAYLOAD={payload}u"]


def _relative_path(folder: Path, path: Path) -> str:
    """Return `path` relative to `folder`.

    Object files must not contain absolute paths.
    """
    return os.path.relpath(path.absolute(), folder).replace(os.sep, "/")


def _link(toolchain: Toolchain, objects: Sequence[str], folder: Path, board: Board) -> None:
    script = _SCRIPT if (folder / _SCRIPT).is_file() else None
    done = toolchain.link(objects, script, "firmware.elf", folder)
    if done.returncode == 0:
        return
    lines = [line.rpartition("/ld: ")[2] for line in done.stderr.splitlines()]
    overflow = ([line for line in lines if "overflow" in line]  # with the bytes; else the stack lies outside
                or sorted({line for line in lines if "not within region" in line}))
    if overflow:
        memory = board.memory
        raise fail("E326", "the image does not fit the board", where=board.id,
                   value="; ".join(overflow),
                   allowed=f"{memory.flash_bytes} bytes of flash, {memory.ram_bytes} of RAM",
                   remedy="choose fewer samples or centers, a shorter word length, or a larger board")
    raise refusal(toolchain.name, "the linker rejected the image", done)
