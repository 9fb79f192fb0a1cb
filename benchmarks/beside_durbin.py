"""benchmarks.beside_durbin: compare Durbin's recursion with CMSIS-DSP.

The function is ``arm_levinson_durbin_q31``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.linalg import solve_toeplitz

from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import HEADERS, build
from kerncast.codegen.generate import generate
from kerncast.codegen.rtl.solver import first_row
from kerncast.sim._arrays import Array
from kerncast.sim.plan import Field
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

#: sigma in samples, lambda, n.
SYSTEMS = ((3.0, 0.1, 64), (3.0, 0.1, 256), (3.0, 0.1, 1024), (1.0, 0.1, 256), (0.5, 0.1, 256),
           (0.5, 1.0, 256))

#: The generated solver with its loop left at its first half.
OURS = """
#include "ecg_levinson.c"
ecg_trainer_t trainer;
int durbin(void) __attribute__((noinline));
int durbin(void)
{
    int32_t n;

    ecg_levinson_begin(&trainer);
    for (n = 1; n < ECG_TRAIN_SAMPLES; n++) {
        trainer.step = n;
        if (ecg_predictor_step(&trainer) == 0) {
            return -n;
        }
    }
    return trainer.a_exp;
}
int main(void) { return durbin(); }
"""

THEIRS = """
#include "arm_math.h"
#include "dsp/filtering_functions.h"
int durbin(void) __attribute__((noinline));
q31_t phi[@N@], a[@N@], err;
int durbin(void) { arm_levinson_durbin_q31(phi, a, &err, @N@ - 1); return 0; }
int main(void) { return durbin(); }
"""


def cmsis_flags(sources: Path) -> list[str]:
    """Return the compiler flags of CMSIS-DSP's sources."""
    return [*(f"-I{sources.parent / name}" for name in ("Include", "PrivateInclude")), "-D__GNUC_PYTHON__"]


def durbin_rows(sources: Path, example: str) -> Iterator[str]:
    """Measure one row of the table per system.

    Parameters
    ----------
    sources : Path
        Folder of CMSIS-DSP's sources.
    example : str
        A spec of a Toeplitz trainer on a uniform grid, called ecg, with sigma = 3.0, lambda = 0.1, n = 256.
    """
    for sigma, lam, n in SYSTEMS:
        text = (example.replace("word = 16", "word = 32").replace("sigma = 3.0", f"sigma = {sigma}")
                .replace("lambda = 0.1", f"lambda = {lam}").replace("n = 256", f"n = {n}"))
        row, ours, count = _ours(Spec.from_text(text, "ecg.toml"), n)
        exact = -solve_toeplitz(row[:-1], row[1:])
        theirs, their_count, their_exact = _theirs(sources, row, n)
        yield (f"| {sigma:g} | {lam:g} | {n:,} | {abs(exact).max():.2f} | {count / (n - 1):,.0f} | "
               f"{_error(ours, exact)} | {their_count / (n - 1):,.0f} | {_error(theirs, their_exact)} |")


def _error(found: Array, exact: Array) -> str:
    return f"{np.linalg.norm(found - exact) / np.linalg.norm(exact):.1e}"


def _ours(spec: Spec, n: int) -> tuple[Array, Array, int]:
    """Return the first row, the polynomial from the device, and the instruction count."""
    plan = make_plan(spec)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "c"
        generate(plan, folder)
        (folder / "main.c").write_text(OURS)
        used = sorted(path for path in folder.glob("*.c") if path.name != "ecg_levinson.c")
        core = CortexM(build(folder, used, "-O2")[0])
    place_of, row = _offsets(plan.workspace), first_row(plan)
    core.write("trainer", row.astype(np.int32), place_of["r"])
    core.start_counting()
    a_exp, count = core.call("durbin")
    if a_exp < 0:
        raise SystemExit(f"n = {n}: the recursion refused step {-a_exp}")
    r = row.astype(float) / 2**31
    a = core.read("trainer", np.int32, n, place_of["a"]).astype(float)[1:] * 2.0 ** (a_exp - 31)
    r[0] = 1.0
    return r, a, count


def _offsets(memory: tuple[Field, ...]) -> dict[str, int]:
    """Return the offset of each member of a structure."""
    at, found = 0, {}
    for field in memory:
        found[field.name] = at
        at += field.bytes
    return found


def _theirs(sources: Path, row: Array, n: int) -> tuple[Array, int, Array]:
    """Return CMSIS-DSP's polynomial, its instruction count, and the exact polynomial.

    The first row is halved, so that r[0] is representable.
    """
    phi = np.round(row * 2**30).astype(np.int32)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, text in {**HEADERS, "stdlib.h": "int abs(int value);\n"}.items():
            (folder / name).write_text(text)
        (folder / "main.c").write_text(THEIRS.replace("@N@", str(n)))
        used = [next(sources.rglob(f"{name}.c")) for name in (
            "arm_levinson_durbin_q31", "arm_divide_q15", "arm_abs_q15")]
        image, _ = build(folder, [*used, folder / "main.c"], "-O2", *cmsis_flags(sources), "-std=gnu11", "-w")
        core = CortexM(image)
    core.write("phi", phi)
    core.start_counting()
    count = core.call("durbin")[1]
    a = core.read("a", np.int32, n - 1).astype(float) / 2**31
    exact = solve_toeplitz(phi[:-1].astype(float), phi[1:].astype(float))
    return a, count, exact
