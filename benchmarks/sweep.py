"""Measure the points per second of ``kerncast sweep`` with one and two workers.

Times are CPU times, and the best of several runs is used, so that other work on the machine has little
influence. The speed-up with two workers is the ratio of two CPU times: that of a single process, and that of
the busiest of the three processes, as if each had its own CPU core. The ratio of wall-clock times is given,
too.
"""

import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np

from kerncast.lab.sweep import Settings, evaluate, make_settings, run_sweep
from kerncast.lab.sweep.measures import MEASURES
from kerncast.sim.data.builtin import equalisation
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "sweep.md"
RUNS = 2
SAMPLES = 2000
STREAM = """
[model]
name = "stream"
algorithm = "kernel_lms"
[input]
word = "s12f8"
columns = 5
[output]
word = "s3f0"
[kernel]
sigma = 0.7
[online]
budget = 32
eta = 0.7
[data]
file = "stream.csv"
"""
TOEPLITZ_GRID = ["kernel.sigma=1.0..6.0/8", "toeplitz.lambda=0.01..1.0/8", "numbers.word=16,24,32"]
STREAM_GRID = ["kernel.sigma=0.4..1.2/12", "numbers.word=16,24,32",
               "numbers.rounding=floor,half_up,half_even", "numbers.exp_table=small,large"]


TEXT = """# Sweeps

A sweep evaluates a grid of designs with the integer model.
`python -m kerncast.benchmarks.sweep` writes this page, and
`kerncast sweep --help` lists all options.

    kerncast sweep examples/ecg.toml --grid numbers.word=16,24,32 --grid toeplitz.refine=0,1,2 \\
        --grid kernel.sigma=1.0..6.0/8 --constraint 'error <= float + 1' --constraint 'ram <= 8 kB'

You can also write the same grid in the spec. The grid does not change the generated code:

    [sweep]
    constraints = ["error <= float + 1", "ram <= 8 kB"]

    [sweep.grid]
    numbers.word = [16, 24, 32]
    toeplitz.refine = [0, 1, 2]
    kernel.sigma = "1.0..6.0/8"

You can sweep every key of the spec. The integer model reads the formats of a point at run time, so no point
needs its own compilation. If you sweep `input.word` or `output.word`, the samples are rounded as if the
sensor had that word length. A point that the planner rejects is also a result. The summary counts such points
by error code.

Results are stored in `sweep.db` (SQLite) in the folder of the run, one row per point. Rerun the same command
to resume. The rows are the same whether they are computed by one process, several processes (`--jobs`) or a
dask.distributed cluster (`--scheduler`).

If the grid is too large, `--trials N` evaluates at most N points. Three quarters of the points come from a
search (the tree-structured Parzen estimator of optuna). The other points start from the best design, and
change one key at a time to a cheaper value. The same seed selects the same points on any number of workers.

Only one sweep at a time can run in a folder. A second sweep is rejected (E377). If a sweep is killed, no lock
and no worker process remain. Each row has a checksum. Readers reject a damaged `sweep.db` (E366). If you
rerun the sweep on a damaged file, it keeps all valid points and recomputes the others. It reports this, and
renames the damaged file to `damaged-1.db`.

## Measures

| name | unit | | what |
| --- | --- | --- | --- |
{measures}

In a limit, `float` stands for the error of the float64 model of the unchanged spec. `operations` and `energy`
refer to the call that learns. Append `.train`, `.update` or `.predict` to measure another call. The energy
model assumes 3.1 pJ x (W/32)^2 for a multiplication of W bits, and 10 pJ x W/32 for two SRAM accesses (M.
Horowitz, "Computing's energy problem", ISSCC 2014, 45 nm). Use the energy model to compare designs, not to
predict battery life. `--confirm` builds the best design for this machine and the emulated board, compares
every value, and reports the measured flash, RAM and counts.

## Speed

The table lists the CPU time of one process on {where}. Each time is the best of {runs} runs, and includes
writing the results. The column `float64` states whether the error of float64 was also computed. FKLMS
(fast kernel least mean squares) is the online learner.

| sweep | float64 | points | points/s | ms per point |
| --- | --- | --: | --: | --: |
{rows}

Points that differ only in number formats or in settings of the solver share the float64 model, whose error is
computed once. The two grids contain 64 and 12 different float64 models, and nothing is cached between runs.

By the CPU time of the busiest process, two workers are {speed} times as fast as one. By wall-clock time, they
are {wall} times as fast, at a load of {load} on {cores} cores.
"""


def stream(folder: Path) -> Spec:
    """Return a spec of FKLMS on 2,000 windows of the equaliser example."""
    x, y = equalisation(SAMPLES, 5)
    words = np.column_stack([np.rint(x * 256), y]).astype(int)
    lines = [",".join(map(str, row)) for row in words]
    (folder / "stream.csv").write_text("x0,x1,x2,x3,x4,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return Spec.from_text(STREAM)


def toeplitz(_: Path) -> Spec:
    """Return the spec of the ECG example with n = 128."""
    text = (ROOT / "examples" / "ecg.toml").read_text(encoding="utf-8")
    return Spec.from_text(text.replace("n = 256", "n = 128"))


def once(folder: Path, settings: Settings, name: str, jobs: int = 1) -> tuple[int, float, float]:
    """Run a sweep in a new folder.

    Returns the number of points, the CPU seconds of the busiest process, and the wall-clock seconds.
    """
    import psutil

    def spent() -> list[float]:
        family = [psutil.Process(), *psutil.Process().children(recursive=True)]
        return [sum(p.cpu_times()[:2]) for p in family]

    evaluate.clear_float_cache()
    before, start = spent(), time.perf_counter()
    run = run_sweep(settings, folder / name, jobs=jobs)
    wall, after = time.perf_counter() - start, spent()
    before += [0.0] * (len(after) - len(before))
    return len(run.points), max(b - a for a, b in zip(before, after, strict=True)), wall


def best(folder: Path, spec: Spec, grid: list[str], objectives: list[str], jobs: int = 1
         ) -> tuple[int, float, float]:
    """Return the best result of several runs of :func:`once`, after a warm-up run."""
    def asked(keys: list[str]) -> Settings:
        return make_settings(spec, folder, grid=keys, objectives=objectives, constraints=["ram <= 1 MB"])

    once(folder, asked(grid[1:]), f"{time.perf_counter_ns()}", jobs)
    runs = [once(folder, asked(grid), f"{time.perf_counter_ns()}", jobs) for _ in range(RUNS)]
    return runs[0][0], min(run[1] for run in runs), min(run[2] for run in runs)


def main() -> None:
    """Run all measurements, and write the page."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, spec, grid in (("Toeplitz, n = 128", toeplitz(folder), TOEPLITZ_GRID),
                                  (f"FKLMS, N = 32, {SAMPLES:,} samples", stream(folder), STREAM_GRID)):
            for objectives in (["error", "ram"], ["excess", "ram"]):
                count, cpu, _ = best(folder, spec, grid, objectives)
                beside = "yes" if objectives[0] == "excess" else "no"
                each = f"{count / cpu:.0f} | {1000 * cpu / count:.1f}"
                rows.append(f"| {title} | {beside} | {count:,} | {each} |")
                print(rows[-1], flush=True)
        _, one, wall = best(folder, toeplitz(folder), TOEPLITZ_GRID, ["error", "ram"])
        _, two, wall_two = best(folder, toeplitz(folder), TOEPLITZ_GRID, ["error", "ram"], jobs=2)
    load = os.getloadavg()[0]
    PAGE.write_text(page(rows, one / two, wall / wall_two, load), encoding="utf-8")
    print(f"two workers: {one / two:.2f} by CPU time, {wall / wall_two:.2f} by the wall, load {load:.1f}")


def page(rows: list[str], speed: float, wall: float, load: float) -> str:
    """Return the text of the page."""
    measures = [f"| `{name}` | {unit or '-'} | {origin} | {about} |"
                for name, (unit, origin, about) in MEASURES.items()]
    where = f"{platform.machine()}, Python {platform.python_version()}"
    return TEXT.format(measures="\n".join(measures), rows="\n".join(rows), runs=RUNS, where=where,
                       speed=f"{speed:.2f}", wall=f"{wall:.2f}", load=f"{load:.0f}", cores=os.cpu_count())


if __name__ == "__main__":
    main()
