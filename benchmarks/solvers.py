"""Compare the Toeplitz solvers: Levinson, Schur and look-ahead.

    python -m kerncast.benchmarks.solvers [--n 64 512] [--ahead 64 256] [--json]

The first table is for Gaussian first rows on a uniform grid. It contains the relative error of alpha with
respect to float64 (median of four right-hand sides), the bytes of the model, and the error due to rounding r
and y, which no solver can avoid. The second table is for systems with singular or indefinite leading blocks,
in which r and y are exact in every format. It contains the error of look-ahead in float64, in float32 and in
32-bit block floating point, or `inf` for a breakdown. The models in the last two formats are identical to the
generated C.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kerncast.sim._arrays import Array
from kerncast.sim.backend import STATUSES
from kerncast.sim.diagnostics.simulate import relative_error
from kerncast.sim.model import open_model
from kerncast.sim.model.toeplitz.lookahead import Lookahead
from kerncast.sim.model.toeplitz.lookahead_f32 import BLOCK
from kerncast.sim.model.toeplitz.lookahead_f32 import Lookahead as LookaheadF32
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.toeplitz.lookahead import lookahead
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

Row = dict[str, Any]

WORDS = (16, 24, 32)
SIGMAS, LAMBDAS = (1.0, 3.0, 10.0), (1.0, 0.1, 0.01, 0.001)
SEEDS = range(4)
FULL = 32767


# ---- positive definite: Levinson and Schur in integers ----
def targets(n: int, seed: int) -> NDArray[np.int64]:
    """Return s16f0 targets in ADC counts: a random walk or noise."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return rng.integers(-FULL, FULL, n, endpoint=True)
    walk = np.cumsum(rng.normal(size=n))
    return np.rint(walk / np.abs(walk).max() * FULL).astype(np.int64)


def first_row(n: int, sigma: float, lam: float) -> Array:
    """Return the first row of T + lambda I."""
    row: Array = np.exp(-0.5 * (np.arange(n) / sigma) ** 2)
    row[0] += lam
    return row


def trained(solver: str, word: int, n: int, sigma: float, lam: float) -> tuple[float, str, int]:
    """Return the median error, the worst status, and the bytes of the model structure."""
    plan = make_plan(Spec(
        model={"name": "bench", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0"}, kernel={"sigma": sigma}, numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": solver}))
    errors, worst = [], 0
    for seed in SEEDS:
        model, y = open_model(plan), targets(n, seed)
        status = int(model.train(None, y)["status"][0])
        state = model.state()
        # Without the unit of y: a relative error does not see it.
        alpha = state["alpha"] * 2.0 ** int(state["alpha_exp"][0])
        exact = scipy.linalg.solve_toeplitz(first_row(n, sigma, lam), y)
        scale = float(plan.signals["alpha"].format.lsb) * 2.0**15
        errors.append(relative_error(alpha * scale, exact) if state["trained"][0] else np.inf)
        worst = max(worst, status, key=lambda s: (s not in (0,), s == DeviceStatus.NOT_POSITIVE_DEFINITE))
    return float(np.median(errors)), STATUSES[worst], plan.state_bytes


def rounding_alone(word: int, n: int, sigma: float, lam: float) -> float:
    """Return the median error of a float64 solution with rounded r and y."""
    full, errors = 2.0 ** (word - 1), []
    for seed in SEEDS:
        y = targets(n, seed) / 2.0**15
        row = first_row(n, sigma, lam) / (1 + lam)
        short = np.rint(row * full) / full
        found = scipy.linalg.solve_toeplitz(short, np.rint(y * full / 2) / (full / 2))
        errors.append(relative_error(found, scipy.linalg.solve_toeplitz(row, y)))
    return float(np.median(errors))


def positive_definite(sizes: list[int]) -> Iterator[Row]:
    """Yield the rows of the first table, for each size, sigma, lambda and word length."""
    for word in WORDS:
        for n in sizes:
            for sigma in SIGMAS:
                for lam in LAMBDAS:
                    row: Row = {"bits": word, "n": n, "sigma": sigma, "lambda": lam}
                    for solver in ("levinson", "schur"):
                        row[solver], row[f"{solver} status"], row[f"{solver} bytes"] = trained(
                            solver, word, n, sigma, lam)
                    yield row | {"rounding of r, y": rounding_alone(word, n, sigma, lam)}


# ---- indefinite: look-ahead ----
def indefinite(n: int) -> Iterator[tuple[str, Array]]:
    """Yield names and first rows of indefinite systems."""
    t = np.arange(n)
    tail = 0.2 * 0.9 ** t[4:] * np.cos(t[4:])
    yield "0, 1, 1, .3, ...", np.concatenate(([0.0, 1.0, 1.0, 0.3], tail))
    yield "third minor 0", np.where(t == 2, -0.5, 0.5**t)
    for sigma, m in ((1.0, 3), (1.0, 7), (1.0, 20), (3.0, 3), (3.0, 7)):
        gauss = first_row(n, sigma, 0.0)
        values = np.linalg.eigvalsh(scipy.linalg.toeplitz(gauss[:m]))
        yield f"gauss {sigma:g}, minor {m}", gauss - np.where(t == 0, values[m // 2], 0.0)
    yield "noise", np.random.default_rng(n).uniform(-1, 1, n)
    yield "gauss 3, lambda .01", first_row(n, 3.0, 0.01)


def looking_ahead(sizes: list[int]) -> Iterator[Row]:
    """Yield the rows of the second table: condition number, block steps, errors."""
    for n in sizes:
        for name, row in indefinite(n):
            y = np.rint(np.random.default_rng(1).uniform(-1, 1, n) * 2.0**24).astype(np.int64) << 6
            r = np.rint(row * 2.0**24).astype(np.int64) << 6  # words of 31 bits, exact in float32 too
            real_r, real_y = r / 2.0**30, y / 2.0**30
            T = scipy.linalg.toeplitz(real_r)
            exact, floats, words = np.linalg.solve(T, real_y), LookaheadF32(n), Lookahead(n)
            status, x = floats.solve(real_r.astype(np.float32), real_y.astype(np.float32))
            word_status, word_x, e = words.solve(int(r[0]), r, y, 0)
            reference = lookahead(real_r, real_y, BLOCK)
            yield {"system": name, "n": n, "condition": float(np.linalg.cond(T)),
                   "blocks": int((words.fields()["blocks"] > 1).sum()),
                   "float64": relative_error(reference.x, exact) if reference.ok else np.inf,
                   "float32": relative_error(x.astype(np.float64), exact) if status == 0 else np.inf,
                   "words of 32 bits": (relative_error(word_x * 2.0 ** (e - 31), exact)
                                        if word_status == 0 else np.inf)}


# ---- printing ----
HEAD = """# Solvers of Toeplitz systems

`python -m kerncast.benchmarks.solvers` writes this page.
Each figure is the relative error of the solution, compared with float64."""
MEANING = {
    "Positive definite": """\
The Schur algorithm is more accurate for wide kernels, and needs two to three times the RAM of Levinson's
recursion. The columns `bytes` list the RAM of the solver. The last column is the error that the rounding of r
and y to the word length alone would cause.""",
    "Look-ahead": """\
The look-ahead solver solves systems that Levinson's recursion must reject, because a leading minor is zero or
nearly zero. The column `blocks` counts the steps that skip such minors. 32-bit fixed-point arithmetic is more
accurate than float32."""}


def show(rows: list[Row]) -> None:
    """Print a Markdown table."""
    print("| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(f"{v:.1e}" if isinstance(v, float) and k not in ("sigma", "lambda") else
                                f"{v:g}" if isinstance(v, float) else str(v) for k, v in row.items()) + " |")


def main() -> None:
    """Run all measurements, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--ahead", type=int, nargs="+", default=[64, 256, 512, 1024], help="n of look-ahead")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {"Positive definite": list(positive_definite(chosen.n)),
              "Look-ahead": list(looking_ahead(chosen.ahead))}
    if chosen.json:
        print(json.dumps(tables))
        return
    print(HEAD)
    for title, rows in tables.items():
        print(f"\n## {title}\n\n{MEANING[title]}\n")
        show(rows)


if __name__ == "__main__":
    main()
