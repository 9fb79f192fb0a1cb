"""Measure how the cost of the paper's NS-form and of other solvers grows with N.

NS-form is the nonstandard form of a matrix in a wavelet basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ...sim.diagnostics.simulate import relative_error
from ...sim.reference.result import Solution
from ...sim.reference.systems.system import DenseSystem, System, ToeplitzSystem
from ...sim.reference.toeplitz.auto import solve_toeplitz
from ...sim.reference.wavelet import wavelet
from .common import Array, seconds

Row = dict[str, Any]

SIGMA = 0.4  # exp(-d^2 / SIGMA^2)
GAMMA = 1.0
SMALL, LARGE = (256, 512, 1024, 2048, 4096), (16384, 65536, 262144)
REGIMES = {"finer": "**Finer samples of [-1, 1]**: the kernel stays as wide as the interval.",
           "longer": "**A longer signal** with the sample spacing of the paper, 2/255: sigma is equal to 51 "
                     "samples."}
CUT = 1e-12  # tolerance of the iteration that solves what a band leaves
EXACT = 1e-14  # tolerance of the iteration that stands for the exact solution of long signals


def first_column(n: int, regime: str) -> Array:
    """Return the first column of Z on the paper's interval, or on a longer one.

    If `regime` is ``finer``, the points are closer for larger n; otherwise, the interval is longer.
    """
    step = 2 / (n - 1) if regime == "finer" else 2 / 255
    r: Array = np.exp(-(step * np.arange(n) / SIGMA) ** 2)
    r[0] += 1 / GAMMA
    return r


def targets(n: int, regime: str) -> Array:
    """Return the targets: sin(10 x) / x as in the paper, or sin(10 x).

    The latter is used on longer intervals, because it does not decay.
    """
    if regime == "longer":
        return np.asarray(np.sin(10 * (2 / 255) * np.arange(n)))
    return np.asarray(10 * np.sinc(10 * np.linspace(-1, 1, n) / np.pi))


# ---- banded Cholesky ----
def banded(r: Array, width: int, y: Array) -> Array:
    """Solve the system with `width` diagonals on each side of the main diagonal."""
    return np.asarray(scipy.linalg.solveh_banded(
        np.repeat(r[: width + 1, np.newaxis], len(r), axis=1), y, lower=True, check_finite=False))


def bandwidth(r: Array, y: Array, exact: Array, error: float) -> int:
    """Return the smallest bandwidth for which the truncation error is at most `error`.

    The banded solver is not used to compute the error.
    """
    def cut_is_too_much(width: int) -> bool:
        cut = np.where(np.arange(len(r)) <= width, r, 0.0)
        found = solve_toeplitz(cut, y, "pcg", tolerance=CUT)
        return not (found.ok and relative_error(found.x, exact) <= error)

    low, high = 0, len(r) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if cut_is_too_much(middle) else (low, middle)
    return high


def banded_operations(n: int, width: int) -> int:
    """Return the multiplications of banded factorisation and both substitutions."""
    lengths = np.minimum(width, n - 1 - np.arange(n))
    return int((lengths * (lengths + 3) // 2).sum() + 2 * (lengths + 1).sum())


# ---- the table ----
def measured(n: int, regime: str, t: float, basis: str) -> Row:
    """Measure the NS-form of the Toeplitz matrix for one size."""
    r, y = first_column(n, regime), targets(n, regime)
    exact = (solve_toeplitz(r, y, "pcg", tolerance=EXACT).x if n > SMALL[-1] else
             scipy.linalg.solve_toeplitz(r, y))
    found = _ours(ToeplitzSystem(r), y, t, basis)
    return {"N": n, "basis": basis, "levels": found.iterations, "n_e": sum(found.nonzeros),
            "operations": found.operations, "bytes": found.bytes, "error": relative_error(found.x, exact),
            "time": seconds(lambda: _ours(ToeplitzSystem(r), y, t, basis)),
            "pcg time": seconds(lambda: solve_toeplitz(r, y, "pcg"))}


def _ours(system: System, y: Array, t: float, basis: str) -> Solution:
    found = wavelet(system, y, threshold=t, basis=basis)
    assert found.ok, found.why
    return found


def beside(n: int, regime: str, t: float) -> Row:
    """Measure the other solvers for one size.

    The bandwidth of the banded solver is the one with the same error as the NS-form.
    """
    row = measured(n, regime, t, "db10")
    r, y = first_column(n, regime), targets(n, regime)
    Z = scipy.linalg.toeplitz(r)
    width = bandwidth(r, y, scipy.linalg.solve_toeplitz(r, y), row["error"])
    return row | {
        "whole time": seconds(lambda: _ours(DenseSystem(Z), y, t, "db10")),
        "band": width, "band entries": n * (width + 1),
        "band operations": banded_operations(n, width),
        "band time": seconds(lambda: banded(r, width, y)),
        "dense operations": n * (n * n + 3 * n + 2) // 6 + n * (n + 1),
        "dense time": seconds(lambda: scipy.linalg.cho_solve(scipy.linalg.cho_factor(Z), y)),
        "levinson time": seconds(lambda: solve_toeplitz(r, y, "levinson"))}


def small(regime: str, t: float) -> list[Row]:
    """Measure all solvers at sizes for which the matrix fits in memory."""
    beside(SMALL[0], regime, t)  # compiles
    return [beside(n, regime, t) for n in SMALL]


def large(regime: str, t: float, basis: str) -> list[Row]:
    """Measure the growth up to sizes for which the matrix does not fit in memory."""
    found = [measured(n, regime, t, basis) for n in (SMALL[0], SMALL[-1], *LARGE)]
    unit = found[1]["time"] / found[1]["N"]
    return [row | {"growth": row["time"] / row["N"] / unit} for row in found]
