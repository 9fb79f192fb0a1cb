"""Measure how a filled gap changes the solution on a uniform grid.

``python -m kerncast.benchmarks.gaps`` writes docs/measured/gaps.md. The exact solution is that of the samples
which are present: a dense system in float64, whose rows and columns of missing samples are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kerncast import KernelRLSRegressor
from kerncast.benchmarks.banded import planned
from kerncast.benchmarks.solvers import first_row
from kerncast.sim._arrays import Array
from kerncast.sim.diagnostics.simulate import relative_error
from kerncast.sim.model import open_model

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "gaps.md"
N, WORD, SEEDS, NOISE = 256, 16, range(5), 0.03
#: sigma in steps, and lambda.
SYSTEMS = ((3.0, 0.1), (3.0, 0.001), (1.0, 0.1))
#: Longest run of missing samples that one correction solves.
LONGEST = 8

HEAD = """# Missing samples on a uniform grid

`python -m kerncast.benchmarks.gaps` writes this page.

A trainer on a uniform grid needs every sample, so kerncast reports a missing sample as the error E251. This
page compares ways to fill a gap. The exact solution uses only the present samples. Its system omits the rows
and columns of the missing samples, and the coefficients of these samples are zero.

Predictions are the exact values to fill a gap. Train `KernelRLSRegressor` on the present samples, with the
same sigma and lambda, and write its predictions into the file. Here, t and y are arrays of float64 with the
times and the targets. If a sample is missing, y is NaN. The value y = 0 corresponds to the `offset` of
`[output]`. If the spec has `bias = true`, set `fit_intercept=True`.

```python
present = ~np.isnan(y)
host = kerncast.KernelRLSRegressor(sigma=sigma, lam=lam).fit(t[present, None], y[present])
y[~present] = host.predict(t[~present, None])
```

The coefficients of the filled samples are then zero except for rounding, because their targets equal the
fitted values. In the first table, their error therefore equals the error without a gap. Linear interpolation
of one or two samples changes alpha by 2 to 8 %, and the fitted values by less than 0.5 %.

## Filled gaps

The columns `held` (the last present sample), `interpolated` and `predicted` are errors of the integer model
with {word} bits and the banded solver, relative to the exact solution in float64. The targets are a random
combination of kernels at the grid points with {noise:.0f} % noise, in ADC counts of 16 bits. The numbers are
medians over {seeds} signals with n = {n}. The first three are errors of alpha. The others are errors of the
fitted values at the present samples. In the rows `none`, no sample is missing, so the word length alone
causes the error.

| sigma | lambda | gap | held | interpolated | predicted | fitted: held | interpolated | predicted |
| --: | --: | --- | --: | --: | --: | --: | --: | --: |
"""

CORRECTED = """
## Corrections by the coefficients

The coefficients alpha_g of a filled gap also give a correction of its targets: y_g becomes y_g - S^-1
alpha_g, where S is the block of (T + lambda I)^-1 at the gap. Away from both ends, S depends only on the
length of the gap. One correction is then exact for one gap. Nearby gaps affect each other, S is different
near an end, and gaps of more than {longest} samples are corrected in parts. In these cases, several
corrections are necessary. The numbers are errors of alpha in float64, after linear interpolation and 1 to 4
corrections, each with a new solution. The coefficients of missing samples are set to zero, which the first
table does not do.

| sigma | lambda | gap | interpolated | 1 | 2 | 3 | 4 |
| --: | --: | --- | --: | --: | --: | --: | --: |
"""


def signal(sigma: float, seed: int) -> Array:
    """Return a smooth signal with noise, as ADC counts of 16 bits (n,)."""
    random, half = np.random.default_rng(seed), int(10 * sigma)
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / sigma) ** 2)
    y = np.convolve(random.standard_normal(N + 2 * half), kernel, "valid")
    y = y / np.abs(y).max() + NOISE * random.standard_normal(N)
    counts: Array = np.rint(y / np.abs(y).max() * 32000)
    return counts


def run_of(length: int) -> Callable[[int], NDArray[np.bool_]]:
    """Return a function that draws the place of one gap away from both ends."""
    def draw(seed: int) -> NDArray[np.bool_]:
        missing = np.zeros(N, dtype=bool)
        first = np.random.default_rng(seed).integers(60, N - 60 - length)
        missing[first: first + length] = True
        return missing
    return draw


def listed(*samples: int) -> Callable[[int], NDArray[np.bool_]]:
    """Return a function that marks the given samples."""
    return lambda seed: np.isin(np.arange(N), samples)


def share_of(probability: float) -> Callable[[int], NDArray[np.bool_]]:
    """Return a function that marks random samples."""
    return lambda seed: np.random.default_rng(seed).random(N) < probability


GAPS = {"1 sample": run_of(1), "2 samples": run_of(2), "4 samples": run_of(4), "8 samples": run_of(8),
        "12 samples": run_of(12), "the first 2": listed(0, 1), "2 of 3": listed(100, 102),
        "5 % at random": share_of(0.05), "20 % at random": share_of(0.2)}


def held(y: Array, missing: NDArray[np.bool_]) -> Array:
    """Repeat the last present sample; use the first one before it."""
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(N)))
    return y[np.where(last < 0, np.argmin(missing), last)]


def interpolated(y: Array, missing: NDArray[np.bool_]) -> Array:
    """Interpolate linearly between present samples."""
    i = np.arange(N)
    filled: Array = np.interp(i, i[~missing], y[~missing])
    return filled


def predicted(y: Array, missing: NDArray[np.bool_], sigma: float, lam: float) -> Array:
    """Fill with predictions of a regressor that is trained on the present samples."""
    t, filled = np.arange(float(N)).reshape(-1, 1), y.copy()
    if missing.any():
        host = KernelRLSRegressor(sigma=sigma, lam=lam).fit(t[~missing], y[~missing])
        filled[missing] = host.predict(t[missing])
    return filled


def exact(y: Array, missing: NDArray[np.bool_], sigma: float, lam: float) -> Array:
    """Return alpha for each present sample, and 0 for each missing sample."""
    present = ~missing
    matrix = scipy.linalg.toeplitz(first_row(N, sigma, lam))[np.ix_(present, present)]
    alpha = np.zeros(N)
    alpha[present] = scipy.linalg.solve(matrix, y[present], assume_a="pos")
    return alpha


def word_errors(y: Array, alpha: Array, missing: NDArray[np.bool_], sigma: float, lam: float
                ) -> tuple[float, float]:
    """Return the errors of alpha and of the fitted values of the integer model.

    The model trains with the filled targets y (n,). The fitted values are those of present samples.
    """
    plan = planned("banded", WORD, N, sigma, lam)
    model = open_model(plan)
    model.train(None, np.clip(np.rint(y), -32768, 32767).astype(np.int64))
    state = model.state()
    lsb = float(plan.signals["alpha"].format.lsb) * 2.0 ** (15 + int(state["alpha_exp"][0]))
    row = first_row(N, sigma, 0.0)
    fitted, wanted = (scipy.linalg.matmul_toeplitz(row, a)[~missing] for a in (state["alpha"] * lsb, alpha))
    return relative_error(state["alpha"] * lsb, alpha), relative_error(fitted, wanted)


def filled_gaps() -> Iterator[str]:
    """Yield the rows of the table of filled gaps."""
    for sigma, lam in SYSTEMS:
        for name, draw in ({"none": listed()} | GAPS).items():
            errors = []
            for seed in SEEDS:
                y, missing = signal(sigma, seed), draw(seed)
                alpha = exact(y, missing, sigma, lam)
                filled = held(y, missing), interpolated(y, missing), predicted(y, missing, sigma, lam)
                errors.append([word_errors(f, alpha, missing, sigma, lam) for f in filled])
            middle = np.median(errors, axis=0).T.ravel()
            yield f"| {sigma:g} | {lam:g} | {name} | " + " | ".join(f"{e:.1e}" for e in middle) + " |"


def inverse_blocks(row: Array) -> dict[int, Array]:
    """Return S^-1 of a gap away from both ends, by its length."""
    inverse = scipy.linalg.inv(scipy.linalg.toeplitz(row))
    middle = len(row) // 2
    return {m: scipy.linalg.inv(inverse[middle: middle + m, middle: middle + m])
            for m in range(1, LONGEST + 1)}


def parts(missing: NDArray[np.bool_]) -> Iterator[slice]:
    """Yield the runs of missing samples, in parts of at most `LONGEST` samples."""
    i = 0
    while i < N:
        length = 0
        while length < LONGEST and i + length < N and missing[i + length]:
            length += 1
        if length:
            yield slice(i, i + length)
        i += max(length, 1)


def corrected_gaps() -> Iterator[str]:
    """Yield the rows of the table of corrections."""
    for sigma, lam in SYSTEMS:
        row = first_row(N, sigma, lam)
        inverses = inverse_blocks(row)
        for name, draw in GAPS.items():
            errors = []
            for seed in SEEDS:
                y, missing, found = signal(sigma, seed), draw(seed), list[float]()
                alpha, y = exact(y, missing, sigma, lam), interpolated(y, missing)
                for _ in range(5):
                    solution = scipy.linalg.solve_toeplitz(row, y)
                    found.append(relative_error(np.where(missing, 0, solution), alpha))
                    for part in parts(missing):
                        y[part] -= inverses[part.stop - part.start] @ solution[part]
                errors.append(found)
            shown = (f"{e:.1e}" if e > 1e-10 else "< 1e-10" for e in np.median(errors, axis=0))
            yield f"| {sigma:g} | {lam:g} | {name} | {' | '.join(shown)} |"


def main() -> None:
    """Write the page."""
    head = HEAD.format(n=N, word=WORD, noise=100 * NOISE, seeds=len(SEEDS))
    PAGE.write_text(head + "\n".join(filled_gaps()) + "\n" + CORRECTED.format(longest=LONGEST)
                    + "\n".join(corrected_gaps()) + "\n")


if __name__ == "__main__":
    main()
