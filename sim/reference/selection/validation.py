"""sim.reference.selection: test whether the Toeplitz approximation is suitable.

The test follows S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix", section 4.3. The exact method and the Toeplitz method both select a model on a subsample. If
they select the same model, the Toeplitz method can be used for all samples.

The paper compares only the selected sigma. Here the errors must also agree, because an equal sigma does not
imply equal errors. Conjugate gradients on the exact matrix are evaluated as an alternative that also needs
O(n) memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._arrays import Array
from ..._checks import finite_array, positive
from ...errors import fail
from ...kernels import DistanceKernel, Gaussian
from ..bias import solve_with_bias
from ..first_row import as_samples, check_scheme, choose_scheme, kernel_first_row
from ..options import check_count
from ..result import Solution
from ..solvers.cg import cg
from ..systems.system import DenseSystem, KernelSystem
from ..toeplitz.auto import solve_toeplitz
from .loo import loo_errors
from .path import EigenPath
from .width import grid_or_spread_width

Report = Callable[[str], None]

#: Candidate widths relative to the default, for a grid relative to the step; candidate regularisers.
WIDTHS = 2.0 ** np.arange(-4, 5)
GRID_WIDTHS = 2.0 ** np.arange(-1, 8)
LAMS = 10.0 ** np.arange(-3, 2)
SAMPLES, SPLITS, STEPS = 1000, 3, 5
METHODS = ("exact", "toeplitz", "cg")

_HELD_OUT = 0.3
_MOST_CLASSES = 20

# Errors are equal within a percentage point (classification) or a tenth (regression).  The methods agree on
# sigma if a width that is as good as the best of one is within a factor of two of such a width of the other.
_SAME_WIDTH = 2.001
_SAME_RATE = 0.01
_SAME_RMS = 1.1


@dataclass(frozen=True)
class MethodChoice:
    """Best model of one method on the subsample.

    Attributes
    ----------
    method : str
        "exact", "toeplitz" or "cg".
    sigma : float
        Width, in the unit of the samples.
    lam : float
        Regulariser lambda.
    error : float
        Mean error over the splits; the verdict names the metric.
    errors : ndarray of shape (n_sigmas, n_lams)
        The error of every model; infinite if it has no solution.
    at_edge : bool
        Whether sigma or lambda is at an end of its range, so that values outside the range may be better.
    """

    method: str
    sigma: float
    lam: float
    error: float
    errors: Array = field(repr=False)
    at_edge: bool


@dataclass(frozen=True)
class ToeplitzVerdict:
    """Result of the test whether the Toeplitz approximation is suitable.

    Attributes
    ----------
    applies : bool
        Whether the approximation is suitable.
    trainer : str
        "toeplitz_rls", or "kernel_cg" if that is more accurate with the same memory.
    model : MethodChoice
        The model to use with that trainer.
    words : str
        The verdict and the reason for it, as text.
    choices : tuple of MethodChoice
        The best models of the exact method, of the Toeplitz method, and of conjugate gradients if it was
        evaluated.
    measure : str
        "error rate" or "RMS error divided by the standard deviation of y".
    scheme : str
        The scheme that approximated the kernel matrix by a Toeplitz matrix.
    samples : int
        Number of samples in the subsample.
    sigmas, lams : ndarray
        The values of sigma and lambda that were evaluated.
    """

    applies: bool
    trainer: str
    model: MethodChoice
    words: str
    choices: tuple[MethodChoice, ...] = field(repr=False)
    measure: str
    scheme: str
    samples: int
    sigmas: Array = field(repr=False)
    lams: Array = field(repr=False)


def measure(classes: bool) -> str:
    """Return the name of the error metric for labels, or for numbers."""
    return "error rate" if classes else "RMS error divided by the standard deviation of y"


def toeplitz_applies(X: ArrayLike, y: ArrayLike, *, kernel: DistanceKernel | None = None, task: str = "auto",
                     sigmas: ArrayLike | None = None, lams: ArrayLike = LAMS, scheme: str = "auto",
                     fit_intercept: bool = False, samples: int = SAMPLES, splits: int = SPLITS,
                     steps: int = STEPS, seed: int = 0, report: Report = lambda _: None) -> ToeplitzVerdict:
    """Test on a subsample whether a Toeplitz matrix T can replace the kernel matrix K.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n,)
        Samples, in the order of training.
    y : array_like of shape (n,)
        Targets, or labels of any kind.
    kernel : DistanceKernel, optional
        Kernel whose width is varied; by default the Gaussian kernel.
    task : {"auto", "classification", "regression"}
        "auto" treats strings, booleans and up to 20 different integers as labels.
    sigmas, lams : array_like, optional
        Values to evaluate; by default nine widths, each twice the previous one, and lambda from 1e-3 to 10.
    scheme, fit_intercept : str, bool
        As for :class:`kerncast.ToeplitzRLSRegressor`, without its grid schemes.
    samples : int
        Size of the subsample: consecutive samples of a uniform grid, or a random choice in order.
    splits : int
        Number of splits of the subsample: 70 % for training, 30 % for testing.
    steps, seed : int
        Number of steps of conjugate gradients, and random seed.
    report : callable
        Progress callback; each call passes one line of text.

    Raises
    ------
    KerncastError
        E220 for sigma, E221 for lambda, E222 for scheme, E224 for the samples, E225 for the targets, E232 for
        labels, E238 for task or counts.

    Notes
    -----
    For a uniform grid, T is the kernel matrix itself (Lemma 1), so that leave-one-out errors select sigma and
    lambda. Otherwise the time is O(samples^3) per width.
    """
    X = as_samples(X)
    Y, classes = _targets(y, len(X), task)
    for value, where, least in ((samples, "samples", 4), (splits, "splits", 1), (steps, "steps", 1)):
        check_count(value, where, least)
    scheme = choose_scheme(X) if scheme == "auto" else check_scheme(scheme)
    rows = _subsample(len(X), samples, scheme == "uniform", seed)
    data = _Subsample(X[rows], Y[rows], classes, kernel or Gaussian(1.0), fit_intercept, scheme)
    return _verdict(data, sigmas, _models(lams, "lams", "E221"), splits, steps, seed, report)


def _verdict(data: _Subsample, sigmas: ArrayLike | None, lams: Array, splits: int, steps: int, seed: int,
             report: Report) -> ToeplitzVerdict:
    """Evaluate every model by every method, and return the verdict."""
    uniform = data.scheme == "uniform"
    if sigmas is None:
        sigmas = grid_or_spread_width(data.X) * (GRID_WIDTHS if uniform else WIDTHS)
    widths = _models(sigmas, "sigmas", "E220")
    if uniform:
        exact = _left_out(data, widths, lams, report)
        errors = {"exact": exact, "toeplitz": exact}
    else:
        errors = _held_out(data, widths, lams, splits, steps, seed, report)
    choices = tuple(_best(method, found, widths, lams) for method, found in errors.items())
    applies, trainer, model, words = _judge(data, choices, widths, lams, steps)
    return ToeplitzVerdict(applies, trainer, model, words, choices, measure(data.classes), data.scheme,
                           len(data.X), widths, lams)


def _models(values: ArrayLike, where: str, code: str) -> Array:
    """Check values of sigma or lambda; return them as positive numbers, shape (k,)."""
    found = np.atleast_1d(finite_array(values, where, code))
    if not found.size:
        raise fail(code, "the list of values to try is empty", where=where, value="no values",
                   allowed="one or more",
                   remedy="omit this argument")
    return np.array([positive(float(v), where, code, "omit this argument") for v in found.ravel()])


@dataclass(frozen=True)
class _Subsample:
    """Samples for model selection; labels are +1 in their class's column, else -1."""

    X: Array
    Y: Array
    classes: bool
    kernel: DistanceKernel
    fit_intercept: bool
    scheme: str

    def of_width(self, sigma: float) -> DistanceKernel:
        """Return the kernel with width `sigma`."""
        return replace(self.kernel, sigma=sigma)  # type: ignore[type-var]

    def error(self, f: Array, Y: Array) -> float:
        """Return the error metric for predictions `f` of targets `Y`, both (m, K)."""
        if self.classes:
            return float(np.mean(f.argmax(axis=1) != Y.argmax(axis=1)))
        return float(np.sqrt(np.mean((f - Y) ** 2))) / (float(self.Y.std()) or 1.0)


def _held_out(data: _Subsample, sigmas: Array, lams: Array, splits: int, steps: int, seed: int,
              report: Report) -> dict[str, Array]:
    """Compute the mean held-out errors of each method, shape (n_sigmas, n_lams)."""
    rng = np.random.default_rng((seed, 1))
    found = {method: np.zeros((len(sigmas), len(lams))) for method in METHODS}
    for split in range(splits):
        order = rng.permutation(len(data.X))
        few = max(1, int(_HELD_OUT * len(data.X)))
        test, train = np.sort(order[:few]), np.sort(order[few:])
        for i, sigma in enumerate(sigmas):
            report(f"split {split + 1} of {splits}, sigma {sigma:.3g}")
            kernel = data.of_width(float(sigma))
            K = KernelSystem(kernel, data.X, 0.0).block(test, train)
            answers = _answers(data, data.X[train], data.Y[train], kernel, lams, steps)
            for method, by_lam in answers.items():
                for j, answer in enumerate(by_lam):
                    error = np.inf if answer is None else data.error(K @ answer[0] + answer[1], data.Y[test])
                    found[method][i, j] += error / splits
    return found


def _answers(data: _Subsample, X: Array, Y: Array, kernel: DistanceKernel, lams: Array,
             steps: int) -> dict[str, list[tuple[Array, Array] | None]]:
    """Solve by each method for every lambda; return alpha and b, or None on failure."""
    K = KernelSystem(kernel, X, 0.0).dense()
    path = EigenPath(K, Y)
    r = kernel_first_row(X, kernel, data.scheme)
    answers: dict[str, list[tuple[Array, Array] | None]] = {method: [] for method in METHODS}
    for lam in lams:
        K[np.diag_indices_from(K)] = kernel.pairs(X, X) + lam
        r_lam = np.concatenate(([r[0] + lam], r[1:]))
        answers["exact"].append(path.coefficients(float(lam), data.fit_intercept))
        answers["toeplitz"].append(_answer(data, partial(solve_toeplitz, r_lam), Y))
        answers["cg"].append(_answer(data, partial(cg, DenseSystem(K), steps=steps), Y))
    return answers


def _answer(data: _Subsample, solve: Callable[[Array], Solution], Y: Array) -> tuple[Array, Array] | None:
    solution = solve_with_bias(solve, Y) if data.fit_intercept else solve(Y)
    return (solution.x, solution.bias) if solution.ok else None


def _left_out(data: _Subsample, sigmas: Array, lams: Array, report: Report) -> Array:
    """Compute the exact leave-one-out errors, shape (n_sigmas, n_lams)."""
    found = np.zeros((len(sigmas), len(lams)))
    for i, sigma in enumerate(sigmas):
        report(f"sigma {sigma:.3g}")
        errors = loo_errors(data.X, data.Y, data.of_width(float(sigma)), lams, method="eigh",
                            fit_intercept=data.fit_intercept)
        found[i] = [data.error(data.Y - left_out, data.Y) for left_out in errors]
    return found


def _best(method: str, errors: Array, sigmas: Array, lams: Array, row: int | None = None) -> MethodChoice:
    """Return the model with the smallest error, of width `row` if it is not None.

    If tied, models inside the grid are preferred, then those with large widths.
    """
    rows = range(len(sigmas)) if row is None else (row,)
    inner = {(i, j) for i in range(1, len(sigmas) - 1) for j in range(1, len(lams) - 1)}
    i, j = min(((i, j) for i in rows for j in range(len(lams))),
               key=lambda at: (errors[at], at not in inner, -at[0], -at[1]))
    return MethodChoice(method, float(sigmas[i]), float(lams[j]), float(errors[i, j]), errors,
                        (i, j) not in inner)


def _judge(data: _Subsample, choices: tuple[MethodChoice, ...], sigmas: Array, lams: Array,
           steps: int) -> tuple[bool, str, MethodChoice, str]:
    """Decide whether T is suitable; also return the trainer, the model and the reason."""
    exact, toeplitz = choices[:2]
    classes = data.classes
    if data.scheme == "uniform":
        return True, "toeplitz_rls", toeplitz, (
            "The samples lie on a uniform grid, so T is the kernel matrix itself (Lemma 1) and the Toeplitz "
            f"trainer is exact. Leave-one-out errors select {_model(exact)}.")
    pair = _agreeing(exact, toeplitz, sigmas, lams, classes)
    if pair is not None and _close(toeplitz.error, exact.error, classes):
        return True, "toeplitz_rls", pair[1], (
            "The Toeplitz approximation is suitable: at the same width both methods come close to their "
            f"best. Exact: {_describe(pair[0], classes)}; Toeplitz: {_describe(pair[1], classes)}.")
    reason = "the methods select different widths" if pair is None else "the errors differ too much"
    few = choices[2]
    words = (f"The Toeplitz approximation is not suitable: {reason}. Exact: {_describe(exact, classes)}; "
             f"Toeplitz: {_describe(toeplitz, classes)}. In the same O(n) memory, {steps} steps of conjugate "
             f"gradients on the true matrix: {_describe(few, classes)}.{_about_one_column(data.X)}")
    if few.error <= toeplitz.error:
        return False, "kernel_cg", few, words
    return False, "toeplitz_rls", toeplitz, words


def _agreeing(exact: MethodChoice, toeplitz: MethodChoice, sigmas: Array, lams: Array,
              classes: bool) -> tuple[MethodChoice, MethodChoice] | None:
    """Return the best models at a width that is near-optimal for both, or None."""
    good = [[i for i, error in enumerate(c.errors.min(axis=1)) if _close(error, c.error, classes)]
            for c in (exact, toeplitz)]
    pairs = [(abs(float(np.log(sigmas[i] / sigmas[j]))), i, j) for i in good[0] for j in good[1]]
    if min(pairs)[0] > np.log(_SAME_WIDTH):
        return None
    apart = min(pairs)[0] + 1e-9
    middle = (len(sigmas) - 1) / 2
    _, i, j = min((pair for pair in pairs if pair[0] <= apart), key=lambda pair: (
        exact.errors[pair[1]].min() + toeplitz.errors[pair[2]].min(), abs(pair[2] - middle)))
    return _best("exact", exact.errors, sigmas, lams, i), _best("toeplitz", toeplitz.errors, sigmas, lams, j)


def _about_one_column(X: Array) -> str:
    """Return advice for samples of one column; empty if there are several columns."""
    if X.shape[1] > 1:
        return ""
    if choose_scheme(np.sort(X, axis=0)) == "uniform":
        return (" The samples lie on a uniform grid, but are not sorted. Sort them to make the Toeplitz "
                "trainer exact.")
    return (" The samples are a nonuniformly sampled signal. With uniform sampling, the Toeplitz trainer is "
            "exact; on a host, ToeplitzRLSRegressor interpolates to a grid.")


def _close(error: float, least: float, classes: bool) -> bool:
    """Return whether an error is only slightly larger than the smallest one."""
    return error <= least + _SAME_RATE if classes else error <= least * _SAME_RMS


def _model(choice: MethodChoice) -> str:
    return f"sigma {choice.sigma:.4g}, lambda {choice.lam:.4g}"


def _describe(choice: MethodChoice, classes: bool) -> str:
    error = f"{choice.error:.1%}" if classes else f"{choice.error:.3g}"
    return f"{_model(choice)}, error {error}"


def _subsample(n: int, samples: int, consecutive: bool, seed: int) -> NDArray[np.int64]:
    """Return the rows of the subsample in ascending order.

    The original order is kept, because it defines the diagonals of the kernel matrix.
    """
    if n <= samples:
        return np.arange(n)
    rng = np.random.default_rng((seed, 0))
    if consecutive:
        return int(rng.integers(n - samples + 1)) + np.arange(samples)
    return np.sort(rng.choice(n, samples, replace=False))


def _targets(y: ArrayLike, n: int, task: str) -> tuple[Array, bool]:
    """Convert the targets to shape (n, K); also return whether they are labels."""
    if task not in ("auto", "classification", "regression"):
        raise fail("E238", "no such task", where="task", value=repr(task),
                   allowed="auto, classification, regression", remedy="use auto")
    values = np.asarray(y)
    if values.ndim != 1 or len(values) != n:
        raise fail("E225", "the targets and the samples have different lengths", where="y",
                   value=values.shape, allowed=f"shape ({n},)",
                   remedy="pass one value, or one label, per sample")
    if task == "regression" or (task == "auto" and not _are_labels(values)):
        return finite_array(values, "y", "E225")[:, np.newaxis], False
    classes = np.unique(values)
    if len(classes) < 2:
        raise fail("E232", "a classifier needs two classes or more", where="y", value=repr(classes[0]),
                   allowed="at least two different labels", remedy="add samples of another class")
    return np.where(values[:, np.newaxis] == classes, 1.0, -1.0), True


def _are_labels(values: NDArray[Any]) -> bool:
    """Return whether values are strings, booleans, or a few different integers."""
    if values.dtype.kind in "fiu":
        distinct = np.unique(values)
        return len(distinct) <= _MOST_CLASSES and bool(np.all(distinct == np.floor(distinct)))
    return True
