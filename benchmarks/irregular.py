"""Compare methods for training on irregularly sampled signals.

    python -m kerncast.benchmarks.irregular

One of the methods interpolates the kernel on a uniform grid. Errors are relative 2-norms with respect to
exact kernel regression on the same samples. Times are those of one thread.
"""

from __future__ import annotations

import platform
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy.interpolate import CubicSpline
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from kerncast import KernelRLSRegressor, ToeplitzRLSRegressor, load_samples
from kerncast.sim._arrays import Array
from kerncast.sim.diagnostics.simulate import relative_error

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "irregular.md"

N, SEEDS = 500, range(5)
JITTERS, SIGMAS, LAMBDAS = (0.01, 0.1, 0.3), (2.0, 5.0, 20.0), (1.0, 0.1, 0.01)
GRIDS = ("grid_linear", "grid_cubic")
LOST, LOST_SIGMA, LOST_LAMBDA = (0.1, 0.3, 0.5), 2.5, 0.003
SIZES = ((1000, 2.0), (4000, 2.0), (16000, 2.0), (16000, 100.0), (108000, 2.0))
LARGEST_EXACT = 4000

HEAD = """# Signals at irregular times

`python -m kerncast.benchmarks.irregular` writes this page. `ToeplitzRLSRegressor` and `ToeplitzRLSClassifier`
accept one column of samples, taken at any times and in any order. They interpolate the kernel matrix from a
uniform grid, K = W T W', and solve the system by conjugate gradients. The products use the FFT (fast Fourier
transform). Below 1,000 samples, the estimators use a Cholesky factorisation instead, which is faster.
`scheme="auto"` chooses this interpolation if the samples are not on a uniform grid.

`KernelRLSRegressor` factorises the band of K exactly. Use this estimator if the kernel spans few samples, and
the grid if the kernel spans many samples. Errors are relative errors in the 2-norm, compared with exact
kernel regression.

"""


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the duration of a function in seconds.

    The second run is timed, because the first one may compile.
    """
    work()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_of(work: Callable[[], Any]) -> int:
    """Return the peak memory of Python and NumPy in bytes while a function runs."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def noisy(times: Array, sigma: float, rng: np.random.Generator) -> Array:
    """Return a noisy sum of two sines that are slow compared with the kernel width."""
    clean = np.sin(times / (2 * sigma)) + 0.5 * np.sin(times / (5 * sigma) + 1)
    return np.asarray(clean + 0.1 * rng.normal(size=len(times)))


def jitter_errors(jitter: float, sigma: float, lam: float, seed: int) -> list[float]:
    """Return the errors of alpha, then the errors of f between the samples.

    In each group, the first error is for times that are treated as uniform; the others are for methods that
    use a grid.
    """
    rng = np.random.default_rng(seed)
    even = np.arange(N, dtype=np.float64)
    t = even + jitter * rng.normal(size=N)
    y, new = noisy(t, sigma, rng), np.sort(rng.uniform(0, N - 1, N))[:, np.newaxis]
    exact = KernelRLSRegressor(sigma, lam).fit(t[:, np.newaxis], y)
    models = [ToeplitzRLSRegressor(sigma, lam, scheme="uniform").fit(even[:, np.newaxis], y)]
    models += [ToeplitzRLSRegressor(sigma, lam, scheme=grid).fit(t[:, np.newaxis], y) for grid in GRIDS]
    f = exact.predict(new)
    return ([relative_error(model.dual_coef_, exact.dual_coef_) for model in models]
            + [relative_error(model.predict(new), f) for model in models])


def jitter_table() -> str:
    """Return a table of median errors for each jitter, sigma and lambda."""
    lines = ["## Jitter", "",
             f"The data are {N} samples with an average spacing of one step. The jitter of the sampling",
             "times is normally distributed, with the given standard deviation. `uniform` ignores this",
             f"jitter. Each number is the median over {len(SEEDS)} random draws of the data.",
             "",
             "With interpolation from the grid, the error is small at any jitter. The scheme `uniform` is",
             "accurate enough only for a wide kernel and a jitter of 1 %.", "",
             "| jitter | sigma, steps | lambda | alpha: uniform | grid_linear | grid_cubic | f: uniform | "
             "grid_linear | grid_cubic |", "|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for jitter in JITTERS:
        for sigma in SIGMAS:
            for lam in LAMBDAS:
                errors = np.median([jitter_errors(jitter, sigma, lam, seed) for seed in SEEDS], axis=0)
                shown = " | ".join(f"{100 * error:.2g} %" for error in errors)
                lines.append(f"| {100 * jitter:g} % | {sigma:g} | {lam:g} | {shown} |")
    return "\n".join([*lines, "", ""])


def lost_errors(part: float, seed: int) -> list[float]:
    """Return the RMS errors of several methods at the missing samples of an ECG."""
    ecg = load_samples("ecg")
    rng = np.random.default_rng(seed)
    kept = rng.uniform(size=len(ecg.y)) >= part
    kept[[0, -1]] = True
    X, y, wanted = ecg.X[kept], ecg.y[kept], ecg.X[~kept]
    sigma, lam = LOST_SIGMA, LOST_LAMBDA
    exact = KernelRLSRegressor(sigma, lam, fit_intercept=True).fit(X, y)
    grid = ToeplitzRLSRegressor(sigma, lam, fit_intercept=True).fit(X, y)
    biased = ToeplitzRLSRegressor(sigma, lam, fit_intercept=True, scheme="diagonal_mean_biased").fit(X, y)
    even = np.linspace(X[0, 0], X[-1, 0], len(X))[:, np.newaxis]
    uniform = ToeplitzRLSRegressor(sigma, lam, fit_intercept=True).fit(even, y)
    found = [model.predict(wanted) for model in (exact, grid, uniform, biased)]
    found += [np.interp(wanted[:, 0], X[:, 0], y), CubicSpline(X[:, 0], y)(wanted[:, 0])]
    return [float(np.sqrt(np.mean((f - ecg.y[~kept]) ** 2))) for f in found]


def lost_table() -> str:
    """Return a table of the errors for an ECG with missing samples."""
    ecg = load_samples("ecg")
    lines = ["## Lost samples", "",
             f"The signal is the {ecg.title} ({ecg.licence}), in its own units (-112 to 250).",
             "Samples are removed at random. Each number is the root mean square error at the removed",
             f"samples, as the median over {len(SEEDS)} random draws of these samples. The models have a",
             f"bias, sigma = {LOST_SIGMA:g} steps and lambda = {LOST_LAMBDA:g}. This lambda is close to the",
             "value that leave-one-out cross-validation selects.",
             "",
             "| lost | exact | grid_cubic | kept samples taken for uniform | diagonal_mean_biased | "
             "straight lines | cubic spline |", "|--:|--:|--:|--:|--:|--:|--:|"]
    for part in LOST:
        errors = np.median([lost_errors(part, seed) for seed in SEEDS], axis=0)
        lines.append(f"| {100 * part:g} % | " + " | ".join(f"{error:.3g}" for error in errors) + " |")
    return "\n".join([*lines, "", ""])


def cost_row(name: str, model: Any, X: Array, y: Array, new: Array) -> str:
    """Return a row with the seconds of fit and predict, and the peak memory in bytes."""
    fit, predict = seconds_of(lambda: model.fit(X, y)), seconds_of(lambda: model.predict(new))
    peak = peak_of(lambda: model.fit(X, y).predict(new))
    return f"| {len(X):,} | {name} | {fit:.3g} s | {predict:.3g} s | {peak / 1e6:,.1f} MB |"


def cost_table() -> str:
    """Return a table of time and memory by number of samples."""
    lines = ["## Cost", "",
             "Lambda is 0.1 and the jitter is 10 %. The last row is for the ECG above, repeated to this",
             "length, at equidistant times. Each model predicts at new times, as many as there are samples.",
             "",
             "For a narrow kernel, the banded factorisation is fastest. For a wide kernel, the grid needs",
             "only a fraction of the time and memory of the banded factorisation.", "",
             "| samples | sigma, steps | | fit | predict | memory |", "|--:|--:|---|--:|--:|--:|"]
    rng, lam = np.random.default_rng(0), 0.1
    for n, sigma in SIZES:
        t = np.arange(n) + 0.1 * rng.normal(size=n)
        X, y, new = t[:, np.newaxis], noisy(t, sigma, rng), np.sort(rng.uniform(0, n, n))[:, np.newaxis]
        models = {"grid_cubic": ToeplitzRLSRegressor(sigma, lam),
                  "exact, banded": KernelRLSRegressor(sigma, lam, solver="banded")}
        if n <= LARGEST_EXACT:
            models["exact, Cholesky"] = KernelRLSRegressor(sigma, lam, solver="cholesky")
            models["scikit-learn KernelRidge"] = KernelRidge(alpha=lam, kernel="rbf", gamma=0.5 / sigma**2)
        lines += [cost_row(f"{sigma:g} | {name}", model, X, y, new) for name, model in models.items()]
    n, sigma = SIZES[-1]
    X, y = np.arange(float(n))[:, np.newaxis], np.resize(load_samples("ecg").y, n)
    lines.append(cost_row(f"{sigma:g} | ECG, uniform", ToeplitzRLSRegressor(sigma, lam), X, y, X))
    return "\n".join([*lines, "", ""])


def main() -> None:
    """Run all measurements, and write the page."""
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    with threadpool_limits(1):
        text = HEAD + jitter_table() + lost_table() + cost_table()
    text += (f"The measurements ran on one thread of {cpu} with Python {platform.python_version()}, "
             f"{versions}.\n")
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
