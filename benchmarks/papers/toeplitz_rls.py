"""Reproduce the results of "Efficient Approximate RLS by Toeplitz Matrix".

    python -m kerncast.benchmarks.papers.toeplitz_rls [--copy mnist_10k=FOLDER]

On the available data, the page repeats Table 1 (with counted operations), Figure 2 (test error against n) and
Figure 3 (speed-up) for Gaussian elimination, conjugate gradients and the Toeplitz matrix. The memory of each
method is added. As in the paper, samples are shuffled and scaled to [-1, 1], and sigma and lambda are
selected on a grid for each method. Unlike in the paper, they are selected on separate samples, and not on the
test set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...sim.kernels import Gaussian
from ...sim.reference.first_row import kernel_first_row
from ...sim.reference.result import Solution
from ...sim.reference.solvers.cg import cg
from ...sim.reference.solvers.elimination import elimination
from ...sim.reference.systems.system import DenseSystem, KernelSystem
from ...sim.reference.toeplitz.auto import solve_toeplitz
from .common import DOCS, Array, arguments, loaded, seconds, shuffled
from .toeplitz_rls_page import LAMS, WIDTHS, Cell, page

SIZES = (250, 500, 1000, 2000, 4000)
#: Data set, its two classes (None: all), the positive one, and the sizes of the training sets.
SETS: tuple[tuple[str, tuple[int, int] | None, int, tuple[int, ...]], ...] = (
    ("mnist_10k", (3, 8), 3, SIZES[:3]), ("fashion_mnist", (2, 6), 6, SIZES), ("shuttle", None, 1, SIZES))
HELD = {"mnist_10k": 480}  # to select on, and to test on; elsewhere
HELD_USUALLY = 2000
MOST_STEPS, TOLERANCE = 100, 1e-6  # of conjugate gradients, as in the paper

@dataclass(frozen=True)
class Split:
    """Samples for training, for selecting hyperparameters, and for the test."""

    X: Array
    y: Array
    select: tuple[Array, Array]
    test: tuple[Array, Array]


def stopped_like_matlab(A: DenseSystem, y: Array) -> Solution:
    """Run conjugate gradients until the tolerance or the maximum of steps is reached."""
    found = cg(A, y, "none", TOLERANCE, MOST_STEPS)
    return found if found.ok else cg(A, y, "none", steps=MOST_STEPS)


def timed_like_matlab(A: DenseSystem, y: Array, steps: int) -> Solution:
    """Run conjugate gradients for a fixed number of steps, to measure the time."""
    limit = {"tolerance": TOLERANCE, "max_steps": MOST_STEPS} if steps < MOST_STEPS else {"steps": steps}
    return cg(A, y, "none", **limit)


def solvers(K: Array, rows: dict[str, Array], y: Array, lam: float) -> dict[str, Callable[[], Solution]]:
    """Return the solver of each method for K + lambda I or its Toeplitz approximation."""
    A = DenseSystem(K + lam * np.eye(len(K)))
    first = {scheme: np.concatenate(([r[0] + lam], r[1:])) for scheme, r in rows.items()}
    return {"GE": partial(elimination, A, y), "CG": partial(stopped_like_matlab, A, y),
            "TB": partial(solve_toeplitz, first["diagonal_mean"], y),
            "TB biased": partial(solve_toeplitz, first["diagonal_mean_biased"], y),
            "CG(5)": partial(cg, A, y, "none", steps=5)}


def best_models(split: Split) -> dict[str, Cell]:
    """Select sigma and lambda for each method; return the test errors and the times."""
    least: dict[str, tuple[float, float, float]] = {}
    unsolved: Counter[str] = Counter()
    for sigma in WIDTHS * np.sqrt(split.X.shape[1]):
        kernel = Gaussian(float(sigma))
        K, rows = matrix_and_rows(kernel, split.X)
        other = kernel_between(kernel, split.select[0], split.X)
        for lam in LAMS:
            for name, solve in solvers(K, rows, split.y, lam).items():
                solution = solve()
                unsolved[name] += not solution.ok
                wrong = error_rate(other, solution, split.select[1])
                least[name] = min(least.get(name, (2.0, 0.0, 0.0)), (wrong, float(sigma), lam))
    return {name: measured(split, name, sigma, lam, unsolved[name])
            for name, (_, sigma, lam) in least.items()}


def measured(split: Split, name: str, sigma: float, lam: float, unsolved: int) -> Cell:
    """Return the test error and the time of one method with given hyperparameters."""
    kernel = Gaussian(sigma)
    K, rows = matrix_and_rows(kernel, split.X)
    solve = solvers(K, rows, split.y, lam)[name]
    solution = solve()
    if name == "CG":
        A = DenseSystem(K + lam * np.eye(len(K)))
        solve = partial(timed_like_matlab, A, split.y, solution.iterations)
    taken = seconds(solve)
    make = partial(kernel_first_row, split.X, kernel, "diagonal_mean") if name.startswith("TB") else \
        KernelSystem(kernel, split.X, 0.0).dense
    wrong = error_rate(kernel_between(kernel, split.test[0], split.X), solution, split.test[1])
    edges = WIDTHS[[0, -1]] * np.sqrt(split.X.shape[1])
    return Cell(sigma, sigma in edges, lam, unsolved, wrong, solution, taken, taken + seconds(make))


def matrix_and_rows(kernel: Gaussian, X: Array) -> tuple[Array, dict[str, Array]]:
    """Return K, and the first rows of T by Lemma 2 and by biased sums over diagonals."""
    r = kernel_first_row(X, kernel, "diagonal_mean")
    share = np.arange(len(X), 0, -1) / len(X)
    return KernelSystem(kernel, X, 0.0).dense(), {"diagonal_mean": r, "diagonal_mean_biased": r * share}


def kernel_between(kernel: Gaussian, U: Array, V: Array) -> Array:
    """Return the kernel matrix between two sets of samples."""
    both = KernelSystem(kernel, np.concatenate((U, V)), 0.0)
    return both.block(slice(0, len(U)), slice(len(U), len(U) + len(V)))


def error_rate(K: Array, solution: Solution, y: Array) -> float:
    """Return the fraction of misclassified samples; 1 if there is no solution."""
    return float(np.mean(np.sign(K @ solution.x) != y)) if solution.ok else 1.0


def splits(X: Array, y: Array, sizes: tuple[int, ...], held: int) -> dict[int, Split]:
    """Return training sets of increasing size.

    The samples for selection and test are the same for all of them.
    """
    select, test = (X[:held], y[:held]), (X[held: 2 * held], y[held: 2 * held])
    rest = slice(2 * held, None)
    return {n: Split(X[rest][:n], y[rest][:n], select, test) for n in sizes}


def main() -> None:
    """Run all measurements, and write the page and its figures."""
    copies = arguments(__doc__)
    found: dict[str, dict[int, dict[str, Cell]]] = {}
    for name, classes, positive, sizes in SETS:
        if (samples := loaded(name, copies)) is None:
            continue
        samples = samples if classes is None else samples.of_classes(*classes)
        X, y = shuffled(samples, positive)
        found[samples.title] = {}
        for n, split in splits(X, y, sizes, HELD.get(name, HELD_USUALLY)).items():
            found[samples.title][n] = best_models(split)
            told = ", ".join(f"{m} {c.error:.2%}" for m, c in found[samples.title][n].items())
            print(f"{name}, n = {n}: {told}", flush=True)
    (DOCS / "papers" / "toeplitz-rls.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
