"""Reproduce the results of the slides "Regularized Least Squares".

    python -m kerncast.benchmarks.papers.regularized_least_squares

The claims of the slides are measured: the leave-one-out errors for every lambda from one eigendecomposition,
the linear kernel by the SVD and by the d x d system, the accuracy of w for small lambda, and the subset of
regressors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...lab.figures.style import COLOURS
from ...sim.data.samples import load_samples
from ...sim.kernels import Gaussian, Kernel
from ...sim.reference.selection.path import CholeskyPath, EigenPath, GramPath, RidgePath, SvdPath
from ...sim.reference.solvers.nystrom import partial_cholesky
from ...sim.reference.solvers.subset import SubsetPath
from ...sim.reference.systems.system import KernelSystem
from .common import DOCS, Array, arguments, axes, loaded, save, seconds, shuffled, table

LAMS = 10.0 ** np.arange(-8, 4, 0.5)
TRAIN = 800
SUBSETS = (25, 50, 100, 200, 400)

_HEAD = """# One factorisation for every lambda: Rifkin

`python -m kerncast.benchmarks.papers.regularized_least_squares` writes this page. It uses one thread. The
source is R. Rifkin, "Regularized least squares", slides of MIT course 9.520. The slides contain no numeric
results, so this page compares only their claims with the results of kerncast. Two formulas of the slides
contain errors. The correct gradient is X'Xw - X'y + lambda w, and the correct solution by R'R is
R\\\\(R'\\\\y).

The claims are reproduced: one factorisation gives the leave-one-out errors for all values of lambda. It costs
about as much as ten single solutions."""


def root_mean_square(errors: Array) -> float:
    """Return the root mean square over samples."""
    return float(np.sqrt(np.mean(errors**2)))


def lambda_path(kernel: Kernel, X: Array, y: Array, X_test: Array, y_test: Array) -> tuple[Array, ...]:
    """Return the training, leave-one-out and test errors for each lambda.

    All of them are computed from a single eigendecomposition.
    """
    path = EigenPath(KernelSystem(kernel, X, 0.0).dense(), y)
    between = KernelSystem(kernel, np.concatenate((X_test, X)), 0.0)
    K = between.block(slice(0, len(X_test)), slice(len(X_test), len(X_test) + len(X)))
    rows = []
    for lam in LAMS:
        c, _ = path.coefficients(float(lam))
        rows.append((root_mean_square(lam * c), root_mean_square(path.loo_errors(float(lam))),
                     root_mean_square(y_test - K @ c)))
    train, left_out, test = np.array(rows).T
    return train, left_out, test


def every_lambda(path: RidgePath) -> None:
    """Compute the leave-one-out errors for each lambda. This function is timed."""
    for lam in LAMS:
        path.loo_errors(float(lam))


def brute_force(kernel: Kernel, X: Array, y: Array, lam: float, samples: int) -> Array:
    """Return the leave-one-out errors of the first samples by repeated training."""
    K = KernelSystem(kernel, X, 0.0).dense()
    errors = []
    for i in range(samples):
        kept = np.delete(np.arange(len(X)), i)
        c = np.linalg.solve(K[np.ix_(kept, kept)] + lam * np.eye(len(kept)), y[kept])
        errors.append(y[i] - K[i, kept] @ c)
    return np.array(errors)


def slide_weights(X: Array, y: Array, lam: float) -> Array:
    """Return V S (U [(S^2 + lambda)^-1 - lambda^-1] U'y + lambda^-1 y).

    This is the formula for w in the slides.
    """
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    inner = (1.0 / (S**2 + lam) - 1.0 / lam) * (U.T @ y)
    return np.asarray(Vt.T @ (S * (U.T @ (U @ inner + y / lam))))


def costs(K: Array, y: Array, X: Array, targets: Array) -> str:
    """Return a table of times for the leave-one-out errors for all lambdas.

    `X` and `targets` are the data for the linear kernel.
    """
    gram = X @ X.T
    ways = (("Gaussian, Cholesky for each lambda", CholeskyPath, K, y),
            ("Gaussian, one eigendecomposition", EigenPath, K, y),
            ("linear, Cholesky for each lambda", CholeskyPath, gram, targets),
            ("linear, one eigendecomposition of K", EigenPath, gram, targets),
            ("linear, one SVD of X", SvdPath, X, targets), ("linear, d x d", GramPath, X, targets))
    single = {len(A): seconds(partial(_solve_once, A, t)) for _, make, A, t in ways if make is CholeskyPath}
    rows = [[name, len(A), f"{seconds(partial(_path_and_errors, make, A, t)) / single[len(A)]:.2g}"]
            for name, make, A, t in ways]
    return table(rows, [f"leave-one-out errors for {len(LAMS)} lambdas", "n", "time in single solutions"])


def _solve_once(A: Array, y: Array) -> None:
    CholeskyPath(A, y).coefficients(1.0)


def _path_and_errors(make: Callable[[Array, Array], RidgePath], A: Array, y: Array) -> None:
    every_lambda(make(A, y))


def accuracy(X: Array, y: Array) -> str:
    """Return a table of the error of w for three formulas.

    The reference is a solution in extended precision.
    """
    wide = np.longdouble
    rows = []
    for lam in (1e-2, 1e-6, 1e-10):
        exact = _solve_wide(X.T.astype(wide) @ X.astype(wide) + wide(lam) * np.eye(X.shape[1], dtype=wide),
                            X.T.astype(wide) @ y.astype(wide))
        found = {"svd": SvdPath(X, y).weights(lam), "slide": slide_weights(X, y, lam),
                 "d x d": X.T @ GramPath(X, y).coefficients(lam)[0]}
        rows.append([f"{lam:g}", *(f"{float(np.linalg.norm(w - exact) / np.linalg.norm(exact)):.1e}"
                                   for w in found.values())])
    return table(rows, ["lambda", "V S/(S²+lambda) U'y", "formula of the slide", "d x d"])


def _solve_wide(A: Array, b: Array) -> Array:
    """Solve a system by elimination with pivoting, in the precision of `A`.

    The solver of NumPy supports only float64.
    """
    A, b = A.copy(), b.copy()
    for k in range(len(b)):
        pivot = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, pivot]], b[[k, pivot]] = A[[pivot, k]], b[[pivot, k]]
        factors = A[k + 1:, k] / A[k, k]
        A[k + 1:] -= np.outer(factors, A[k])
        b[k + 1:] -= factors * b[k]
    for k in range(len(b) - 1, -1, -1):
        b[k] = (b[k] - A[k, k + 1:] @ b[k + 1:]) / A[k, k]
    return b


def subsets(kernel: Kernel, X: Array, y: Array, X_test: Array, y_test: Array, least: float) -> str:
    """Return a table of test errors and times of regression on subsets of the samples.

    For each subset, lambda is selected by the leave-one-out error.
    """
    rows = []
    whole = seconds(lambda: every_lambda(EigenPath(KernelSystem(kernel, X, 0.0).dense(), y)))
    for size in SUBSETS:
        factor = partial_cholesky(KernelSystem(kernel, X, 0.0), size)
        path = SubsetPath(factor, y)
        best = min(map(float, LAMS), key=lambda lam, path=path: root_mean_square(path.loo_errors(lam)))
        f = kernel(X_test, X[factor.R]) @ path.regressors(best)
        taken = seconds(lambda size=size: every_lambda(
            SubsetPath(partial_cholesky(KernelSystem(kernel, X, 0.0), size), y)))
        rows.append([size, f"{root_mean_square(y_test - f):.4f}", f"{whole / taken:.1f}"])
    return table([*rows, [f"all {len(X)}", f"{least:.4f}", "1.0"]], ["regressors", "test error", "speed-up"])


def main() -> None:
    """Run all measurements, and write the page and its figure."""
    arguments(__doc__)
    digits = load_samples("digits")
    samples = loaded("mnist_5k", {}) or digits
    X, y = shuffled(samples.of_classes(3, 8), 3)
    X, X_test, y, y_test = X[:TRAIN], X[TRAIN:], y[:TRAIN], y[TRAIN:]
    kernel = Gaussian(float(np.sqrt(X.shape[1] * X.var() / 2)))
    train, left_out, test = lambda_path(kernel, X, y, X_test, y_test)
    figure, (axis,) = axes(1, width=5.5)
    for colour, label, errors in zip(COLOURS, ("training", "leave-one-out", "test"), (train, left_out, test),
                                     strict=False):
        axis.plot(LAMS, errors, color=colour, label=label)
    axis.set(xscale="log", xlabel="lambda", ylabel="rms error")
    axis.legend()
    chosen = int(np.argmin(left_out))
    few = 20
    brute = brute_force(kernel, X, y, float(LAMS[chosen]), few)
    free = EigenPath(KernelSystem(kernel, X, 0.0).dense(), y).loo_errors(float(LAMS[chosen]))[:few]
    K = KernelSystem(kernel, X, 0.0).dense()
    text = [
        _HEAD, f"The data are {samples.title}, restricted to the digits 3 and 8, with {len(X)} training "
        f"samples and {len(X_test)} test samples.",
        "## The path over lambda\n\n"
        f"![Errors against lambda]({save(figure, 'regularized-least-squares')})\n\n"
        f"Leave-one-out selects lambda = {LAMS[chosen]:.3g} with a test error of {test[chosen]:.4f}. "
        f"The smallest test error over all values of lambda is {test.min():.4f}. For {few} samples, the "
        f"leave-one-out error was also computed by training one model without each of them. The two errors "
        f"differ by at most "
        f"{np.abs(brute - free).max():.1e}.",
        f"## Cost\n\nThe data set for the linear kernel is {digits.title}, with "
        f"{digits.X.shape[1]} columns.\n\n"
        + costs(K, y, digits.X, np.where(digits.y == 3, 1.0, -1.0)),
        "## Weights of the linear kernel at a small lambda\n\nThe figures are relative errors, compared with "
        "the solution of the same system in extended precision. At a small lambda, the result of the "
        "formula on the slide has no correct digit.\n\n" + accuracy(X[:, X.std(axis=0) > 0.2], y),
        "## The subset of regressors\n\nLeave-one-out selects lambda for each row. A small number of "
        "regressors is fast, but less accurate on these data.\n\n"
        + subsets(kernel, X, y, X_test, y_test, float(test[chosen]))]
    (DOCS / "papers" / "regularized-least-squares.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
