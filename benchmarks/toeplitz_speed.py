"""Compare the speed of Toeplitz solvers and first rows with other libraries.

``python -m kerncast.benchmarks.toeplitz_speed`` runs everything on one thread. The compared programs take
turns in several rounds, and the minimum CPU time of each is used, so that other work on the machine affects
all of them equally. A program whose memory is measured runs in a separate process; its peak resident set size
is given.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from kerncast import ToeplitzRLSRegressor, first_row, solve_toeplitz
from kerncast.sim._arrays import Array
from kerncast.sim.data.builtin import ecg_recording

Call = Callable[[], Any]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "toeplitz-speed.md"

SIGMA, LAM = 3.0, 0.1       # of the systems on a grid, in steps
# Rows, sigma, lambda, rounds and least ratio: an easy system, a harder one, one that pcg gives up.
PCG_SYSTEMS = ((100_000, SIGMA, LAM, 6, 30.0), (20_000, 5.0, 1e-4, 4, 0.0), (20_000, 5.0, 1e-8, 4, 0.0))
DIMENSIONS, WIDTH = 54, 5.0  # of the samples whose diagonals are summed
ECG_SAMPLES = 108_000


def turns(calls: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """Run the calls in turn; return the minimum CPU time of each in seconds.

    The first round is not counted.
    """
    seconds = dict.fromkeys(calls, float("inf"))
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = process_time()
            call()
            if turn:
                seconds[name] = min(seconds[name], process_time() - start)
    return seconds


def system(n: int, columns: int = 1, sigma: float = SIGMA, lam: float = LAM) -> tuple[Array, Array]:
    """Return the first column of T + lambda I on a grid, and a right-hand side."""
    r = first_row(np.arange(float(n)), sigma, "uniform")
    r[0] += lam
    return r, np.random.default_rng(0).normal(size=(n, columns)).squeeze()


def samples(n: int) -> Array:
    """Return random samples with 54 columns, as in the data set Covertype."""
    return np.random.default_rng(0).normal(size=(n, DIMENSIONS))


# ---- Levinson and conjugate gradients ----
def levinson_rows() -> list[str]:
    """Return rows that compare Levinson's recursion in kerncast and in SciPy."""
    rows = []
    for n, columns, rounds, least in ((1000, 1, 40, 0.0), (10_000, 1, 8, 5.0), (10_000, 8, 2, 0.0)):
        r, Y = system(n, columns)
        seconds = turns({"ours": lambda r=r, Y=Y: solve_toeplitz(r, Y, "levinson"),
                         "scipy": lambda r=r, Y=Y: scipy.linalg.solve_toeplitz(r, Y)}, rounds)
        rows.append(line(f"symmetric, n = {n:,}, {columns} right-hand side{'s' * (columns > 1)}",
                         "scipy.linalg.solve_toeplitz", seconds["ours"], seconds["scipy"], least))
    rng, n = np.random.default_rng(1), 10_000
    column, row = (rng.normal(size=n) / np.arange(1.0, n + 1) for _ in range(2))
    column[0] = row[0] = 3.0
    y = rng.normal(size=n)
    seconds = turns({"ours": lambda: solve_toeplitz(column, y, r_row=row),
                     "scipy": lambda: scipy.linalg.solve_toeplitz((column, row), y)}, 5)
    rows.append(line(f"without symmetry, n = {n:,}", "scipy.linalg.solve_toeplitz", seconds["ours"],
                     seconds["scipy"]))
    return rows


def pcg_rows(systems: Sequence[tuple[int, float, float, int, float]] = PCG_SYSTEMS) -> list[str]:
    """Return rows that compare conjugate gradients, auto and Levinson."""
    rows = []
    for n, sigma, lam, rounds, least in systems:
        r, y = system(n, 1, sigma, lam)
        found = {method: solve_toeplitz(r, y, method) for method in ("pcg", "auto", "levinson")}
        seconds = turns({method: lambda method=method, r=r, y=y: solve_toeplitz(r, y, method)
                         for method in found}, rounds)
        ratio = seconds["levinson"] / seconds["auto"]
        rows.append(f"| n = {n:,}, sigma = {sigma:g}, lambda = {lam:g} | {found['pcg'].status} | "
                    f"{found['pcg'].iterations} | {scaled(seconds['pcg'])} | "
                    f"{found['auto'].method}: {found['auto'].status} | {scaled(seconds['auto'])} | "
                    f"{found['levinson'].status} | {scaled(seconds['levinson'])} | {ratio:.2g} |")
        require(f"n = {n:,}", ratio, least)
    return rows


def agreement() -> str:
    """Return the largest difference between the solutions as text."""
    r, y = system(10_000)
    exact = scipy.linalg.solve_toeplitz(r, y)
    found = {name: np.abs(solve_toeplitz(r, y, name).x - exact).max() / np.abs(exact).max()
             for name in ("levinson", "pcg")}
    return ", ".join(f"{name} {error:.1e}" for name, error in found.items())


# ---- first rows ----
def one_by_one(X: Array) -> Array:
    """Return the mean of each diagonal of K, computed one after the other."""
    n, scale = len(X), X.dtype.type(-0.5 / WIDTH**2)
    means = np.empty(n)
    for j in range(n):
        difference = X[: n - j] - X[j:]
        means[j] = np.exp((difference * difference).sum(axis=1) * scale).mean()
    return means


def first_row_rows(n: int = 10_000) -> tuple[list[str], str]:
    """Return rows on the speed of the diagonal means, and the errors of their values.

    Speed and values are compared with those of a plain loop.
    """
    X = samples(n)
    single = X.astype(np.float32)
    seconds = turns({
        "float32": lambda: first_row(X, WIDTH, "diagonal_mean", dtype="float32"),
        "float64": lambda: first_row(X, WIDTH, "diagonal_mean"),
        "rff": lambda: first_row(X, WIDTH, "rff", features=256),
        "loop32": lambda: one_by_one(single), "loop64": lambda: one_by_one(X)}, 3)
    single_loop, double_loop = "loop over diagonals, float32", "loop over diagonals, float64"
    rows = [line("float32", single_loop, seconds["float32"], seconds["loop32"], 18.0),
            line("float64", double_loop, seconds["float64"], seconds["loop64"]),
            line("float32", double_loop, seconds["float32"], seconds["loop64"], 18.0),
            line("256 random features", double_loop, seconds["rff"], seconds["loop64"])]
    exact = one_by_one(X)
    biased = exact * (1.0 - np.arange(len(X)) / len(X))
    found = {"float64": (first_row(X, WIDTH, "diagonal_mean"), exact),
             "float32": (first_row(X, WIDTH, "diagonal_mean", dtype="float32"), exact),
             "256 random features": (first_row(X, WIDTH, "rff", features=256), biased)}
    return rows, ", ".join(f"{name} {np.abs(r - wanted).max():.1e}" for name, (r, wanted) in found.items())


# ---- look-ahead ----
def lookahead_rows() -> list[str]:
    """Return rows on systems with singular leading minors: Levinson and look-ahead."""
    rng, rows = np.random.default_rng(2), []
    shifted = first_row(np.arange(300.0), 2.0)
    shifted[0] -= scipy.linalg.eigvalsh(scipy.linalg.toeplitz(shifted[:7]))[3]
    random = rng.normal(size=1000)
    random[:3] = 1.0  # the minors of order 2 and 3 are 0
    for name, r in (("[1, 2, 3, 4]", np.arange(1.0, 5.0)), ("[0, 1, .3]", np.array([0, 1, 0.3])),
                    ("[1, 1, .5, .2]", np.array([1, 1, 0.5, 0.2])),
                    ("an eigenvalue of a minor taken off r_0, n = 300", shifted),
                    ("random, r_0 = r_1 = r_2, n = 1,000", random)):
        y, T = rng.normal(size=len(r)), scipy.linalg.toeplitz(r)
        plain, solution = solve_toeplitz(r, y, "levinson"), solve_toeplitz(r, y)
        exact = np.linalg.solve(T, y)
        error = np.linalg.norm(solution.x - exact) / np.linalg.norm(exact) / np.linalg.cond(T)
        residual = np.linalg.norm(y - T @ solution.x) / np.linalg.norm(y)
        if not (solution.ok and residual <= 1e-11 and error <= 1e-14):
            MISSED.append(f"{name}: {solution.status}, residual {residual:.1e}, error {error:.1e}")
        rows.append(f"| {name} | {plain.status} | {solution.method}: {solution.status} | {residual:.1e} | "
                    f"{error:.1e} |")
    return rows


# ---- in a separate process ----
def large_pcg() -> dict[str, Any]:
    """Measure conjugate gradients on a system with a million rows."""
    r, y = system(1_000_000)
    start = perf_counter()
    solution = solve_toeplitz(r, y)
    return {"seconds": perf_counter() - start, "ok": solution.ok and solution.method == "pcg"}


def large_means() -> dict[str, Any]:
    """Measure the diagonal means of a kernel matrix for 100,000 samples."""
    X = samples(100_000)
    start = perf_counter()
    r = first_row(X, WIDTH, "diagonal_mean_biased", dtype="float32")
    return {"seconds": perf_counter() - start, "ok": bool(r[0] == 1.0)}


def long_ecg() -> dict[str, Any]:
    """Measure fit and prediction of an ECG with 108,000 samples."""
    signal = ecg_recording("benchmark")
    y = np.resize(signal, ECG_SAMPLES) + np.random.default_rng(0).normal(0.0, 10.0, ECG_SAMPLES)
    t = np.arange(float(ECG_SAMPLES))[:, np.newaxis]
    start = perf_counter()
    model = ToeplitzRLSRegressor(sigma=2.0, lam=0.5, fit_intercept=True).fit(t, y)
    smooth = model.predict(t)
    seconds = perf_counter() - start
    better = np.std(smooth - np.resize(signal, ECG_SAMPLES)) < 9.0
    return {"seconds": seconds, "ok": bool(model.status_ == "ok" and better)}


ALONE = {"pcg, n = 1,000,000": (large_pcg, 10, 1000),
         "means of diagonals, n = 100,000, 54 columns, float32": (large_means, None, 500),
         "ToeplitzRLSRegressor, ECG of 108,000 samples, fit and predict": (long_ecg, 10, None)}


def alone_rows() -> list[str]:
    """Return rows with wall-clock seconds and peak resident set size.

    Each measurement runs in a separate process.
    """
    rows = []
    for name, (_, most_seconds, most_megabytes) in ALONE.items():
        done = subprocess.run([sys.executable, __file__, "--alone", name], check=True, capture_output=True,
                              text=True)
        found = json.loads(done.stdout)
        wanted = [f"{most} {unit}" for most, unit in ((most_seconds, "s"), (most_megabytes, "MB")) if most]
        if not (found["ok"] and found["seconds"] <= (most_seconds or 1e9)
                and found["megabytes"] <= (most_megabytes or 1e9)):
            MISSED.append(f"{name}: not solved within {' and '.join(wanted)}")
        rows.append(f"| {name} | {scaled(found['seconds'])} | {found['megabytes']:.0f} MB |")
    return rows


# ---- the page ----
HEAD = f"""# Speed of the Toeplitz solvers

`python -m kerncast.benchmarks.toeplitz_speed` writes this page. The methods run one after the other on one
thread. Each reported time is the smallest processor time of several rounds. The matrix is T + lambda I, for a
uniform grid and a Gaussian kernel of width sigma (in steps). Unless a row states otherwise, sigma = {SIGMA:g}
and lambda = {LAM:g}. The right-hand sides are random; pcg stands for preconditioned conjugate gradients.

"""
PCG_HEAD = """## Conjugate gradients

The preconditioner of conjugate gradients (pcg) is Strang's circulant, and the tolerance is 1e-10. If pcg
does not converge, auto then solves the system by Levinson's recursion. A ratio below 1 shows the cost of the
failed attempt.

| system | pcg | steps | | auto | | Levinson | | auto faster by |
|---|---|--:|--:|---|--:|---|--:|--:|
"""


MISSED: list[str] = []


def require(what: str, ratio: float, least: float) -> None:
    """Record a ratio that is below its required value."""
    if ratio < least:
        MISSED.append(f"{what}: faster by {ratio:.2g}, below {least:g}")


def line(what: str, library: str, ours: float, theirs: float, least: float = 0.0) -> str:
    """Return a row with both times and their ratio."""
    ratio = theirs / ours
    require(what, ratio, least)
    return f"| {what} | {scaled(ours)} | {library} | {scaled(theirs)} | {ratio:.1f} |"


def scaled(seconds: float) -> str:
    """Format seconds with three digits, in s or ms."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def page() -> str:
    """Run all measurements, and return the page."""
    ratios = "| | kerncast | compared with | | faster by |\n|---|--:|---|--:|--:|\n"
    means, difference = first_row_rows()
    text = HEAD + "## Solvers\n\n" + ratios + "\n".join(levinson_rows())
    text += f"\n\nThe largest relative differences from scipy at n = 10,000 are: {agreement()}.\n\n"
    text += PCG_HEAD + "\n".join(pcg_rows()) + "\n\n"
    text += f"## Means of diagonals, n = 10,000, {DIMENSIONS} columns\n\n" + ratios + "\n".join(means)
    text += f"\n\nThe largest differences from the loop are: {difference} (biased means).\n\n"
    text += "## At scale, each in its own process\n\n| | time | peak memory |\n"
    text += "|---|--:|--:|\n" + "\n".join(alone_rows())
    text += ("\n\nThe times are wall-clock times. The ECG consists of the 1,024 samples of PyWavelets, "
             "repeated and with\nadded noise. The longer ECG recording of scipy, with 108,000 samples, is no "
             "longer part of scipy.\n"
             "\n"
             "## Singular leading minors\n\n"
             "Levinson's recursion rejects these systems, and `method=\"auto\"` solves them with the "
             "look-ahead solver. "
             "`error / cond`\nis the relative error divided by the condition number.\n\n"
             "| first column | plain Levinson | auto | residual | error / cond |\n"
             "|---|---|---|--:|--:|\n")
    text += "\n".join(lookahead_rows())
    cpu = next((row.split(":")[1].strip() for row in Path("/proc/cpuinfo").read_text().splitlines()
                if row.startswith("model name")), platform.machine())
    versions = ", ".join(f"{name} {sys.modules[name].__version__}" for name in ("numba", "numpy", "scipy"))
    return f"{text}\n\nThe measurements ran on {cpu} with Python {platform.python_version()}, {versions}.\n"


def main() -> int:
    """Run all measurements, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--alone", choices=ALONE, help="run one task and print its seconds and megabytes")
    alone = parser.parse_args().alone
    with threadpool_limits(1):
        if alone:
            found = ALONE[alone][0]()
            found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            print(json.dumps(found))
            return 0
        PAGE.write_text(text := page(), encoding="utf-8")
    print("\n".join([text, *MISSED]))
    return int(bool(MISSED))


if __name__ == "__main__":
    sys.exit(main())
