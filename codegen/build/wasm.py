"""codegen: compile the generated C to WebAssembly with zig.

The module runs in browsers and in Python. It imports nothing. It exports its memory, the library's functions,
and ``__heap_base``. The memory from this address upwards belongs to the caller, who stores the model
structure and the arrays of each call there.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ...sim.plan import Plan
from .compilers import WARNINGS, host_compiler
from .library import library_sources
from .tools import refusal, run_tool

#: Bytes of the stack, which lies below everything else: what grows beyond it leaves the memory, and traps.
STACK_BYTES = 1 << 16
#: 32-bit pointers and nothing of an operating system; words of the model are those of any other target.
_TARGET = ("-target", "wasm32-freestanding", "-nostdlib", "-fno-sanitize=undefined")


#: The functions of a batch trainer.
TRAINING_CALLS = ("train", "train_begin", "train_push", "train_run", "train_commit", "train_cancel")


def exports(plan: Plan, traced: bool = False) -> tuple[str, ...]:
    """List the functions and constants that a module exports, except its memory."""
    p = plan.name
    calls = ["model_predict", *(("model_decide",) if plan.decision else ())]
    if not plan.fixed:
        calls += ["model_init", "state_save", "state_restore",
                  *(("train_fitted",) if plan.fits else ()),
                  *(("rls_novelty",) if plan.novelty else ()),
                  *(("stream_init", "stream_push") if plan.stream_taps else ()),
                  *(TRAINING_CALLS if plan.trains else (plan.update_name,))]
    return (*(f"{p}_{call}" for call in calls), f"{p}_plan_hash", "kc_hil_store_open", "__heap_base",
            *(("kc_hil_trace_take",) if traced else ()))


def build_wasm(plan: Plan, source: Path | None = None, *, flags: tuple[str, ...] = ("-O2",),
               build_dir: Path | None = None, traced: bool = False) -> bytes:
    """Build a WebAssembly module of a plan's generated C.

    The same C code and the same version of zig give the same bytes.

    Parameters
    ----------
    plan : Plan
    source : path, optional
        A generated folder. If it is omitted, the code is generated into a temporary folder.
    flags : tuple of str
        Compiler flags for optimisation.
    build_dir : path, optional
        Folder for zig's cache. If it is omitted, the cache is temporary.
    traced : bool
        Whether to compile the trace hooks.

    Returns
    -------
    bytes
        The WebAssembly module.

    Raises
    ------
    KerncastError
        E511 if zig is not installed, E320 if compilation fails, E413 if `source` was generated from another
        plan.
    """
    zig = host_compiler("zig")
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        work = Path(folder)
        sources, own = library_sources(plan, source, work, traced)
        cache, beside = build_dir or work, sources[0].parent
        cache.mkdir(parents=True, exist_ok=True)
        linked = [f"-Wl,--export={name}" for name in exports(plan, traced)]
        done = run_tool([*zig.command, *_TARGET, "-std=c99", "-ffp-contract=off", *WARNINGS, *flags, *own,
                         "-I.", *(os.path.relpath(path, beside) for path in sources), "-Wl,--no-entry",
                         "-Wl,--strip-all", f"-Wl,-z,stack-size={STACK_BYTES}", *linked,
                         "-o", str(work / "module.wasm")], beside, cache)
        if done.returncode != 0:
            raise refusal("zig", "the compiler rejected the generated code", done)
        return (work / "module.wasm").read_bytes()
