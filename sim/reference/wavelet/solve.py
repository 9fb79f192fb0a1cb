"""sim.reference.wavelet: the multi-resolution solver."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ..._checks import is_real
from ...errors import fail
from ..check import RESIDUAL_LIMIT, check_solution
from ..first_row import uniform_first_row
from ..options import check_count
from ..result import Solution, Status
from ..solvers.cholesky import lapack
from ..systems.system import KernelSystem, System, ToeplitzSystem

if TYPE_CHECKING:
    from .ns_form import ScaleSpace


# The coarsest level has at least this many rows by default: four levels for the paper's N = 256.
_COARSEST = 16
# Discarding entries below t causes residuals of about t / 10 |y|; above this many t a solution is rejected.
_LOOSENESS, _LOOSEST = 10.0, 0.1
# Rounding of a uniform grid, relative to its largest value.
_GRID_ROUNDING = 4 * float(np.finfo(np.float64).eps)


def wavelet(system: System, Y: Array, *, levels: int | None = None, threshold: float = 1e-10,
            basis: str = "db10") -> Solution:
    """Solve Z x = y by the thresholded NS-form of Z and its Cholesky factors.

    Parameters
    ----------
    system : System
        Matrix Z = Omega + I / gamma of n rows, which must be smooth away from its diagonal. An example is the
        kernel matrix of samples of one column, which are sorted first.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.
    levels : int, optional
        Number of levels J; by default the coarsest level has at least 16 rows.
    threshold : float
        Threshold t, in the unit of Z; smaller coefficients are discarded, and 0 retains all.
    basis : str
        ``db10``, the periodic Daubechies wavelet with ten vanishing moments, or another orthogonal wavelet of
        PyWavelets; or ``lifting``, a biorthogonal basis on the interval with eight vanishing moments.

    Returns
    -------
    Solution
        The status is ``not_positive_definite`` if Z is not positive definite, possibly because coefficients
        were discarded. It is ``breakdown`` if the residual exceeds 10 t |y|. `nonzeros` contains n_e of each
        level.

    Raises
    ------
    KerncastError
        E237 for too little memory, E238 for an option, E501 if SciPy or PyWavelets is not installed.

    Notes
    -----
    Memory and time are O(n) if Z is a Toeplitz matrix, as for a uniform grid and a translation-invariant
    kernel. Otherwise the transform needs O(n^2) time. The paper retains all entries of the factors; here
    small entries of the factors are also discarded, as in Gines, Beylkin and Dunn.

    References
    ----------
    T. Schouten, J. A. K. Suykens, B. De Moor, "Multi resolution least squares SVM solver", MWSCAS 2000.
    """
    if levels is None:
        levels = max(0, (system.n // _COARSEST).bit_length() - 1)
    check_count(levels, "levels", 0, system.n.bit_length() - 1)
    t = _check_threshold(threshold)
    Z, order, values = _in_order(system)
    solution = _by_ns_form(Z, Y[order], levels, t, basis)
    return replace(solution, x=solution.x[np.argsort(order)], kernel_values=solution.kernel_values + values)


def _by_ns_form(Z: System, y: Array, levels: int, t: float, basis: str) -> Solution:
    lapack()  # E501 if scipy is missing; the imports below need it
    from .elimination import NotPositiveDefinite
    from .factor import factorise
    from .ns_form import ns_form

    form = ns_form(_scale_space(Z), Z.n, levels, t, basis)
    counts: dict[str, Any] = {"method": "wavelet", "iterations": levels, "nonzeros": form.nonzeros,
                              "kernel_values": form.cost.kernel_values}
    try:
        factor = factorise(form, t)
    except NotPositiveDefinite as error:
        why = f"{error}; the matrix, or its part above the threshold {t:g}, is not positive definite"
        return check_solution(Z, y, np.zeros_like(y), Status.NOT_POSITIVE_DEFINITE, why=why, **counts)
    limit = max(RESIDUAL_LIMIT, min(_LOOSENESS * t, _LOOSEST))
    operations = form.cost.multiplications + factor.operations + y.size // Z.n * factor.operations_to_solve
    return check_solution(Z, y, factor.solve(y), Status.OK, limit=limit, operations=operations,
                          bytes=form.cost.bytes + factor.bytes, **counts)


def _check_threshold(t: float) -> float:
    if not is_real(t) or not 0.0 <= t <= 1.0:  # also refuses NaN
        raise fail("E238", "the threshold is out of range", where="threshold", value=t,
                   allowed="a number from 0 to 1; 0 keeps all entries", remedy="start with 1e-10")
    return float(t)


def _in_order(system: System) -> tuple[System, NDArray[np.int64], int]:
    """Sort samples of one column; return the system and the order.

    The third result is the number of kernel values that were computed. A uniform grid with a translation-
    invariant kernel becomes a Toeplitz system.
    """
    if not isinstance(system, KernelSystem) or system.X.shape[1] > 1:
        return system, np.arange(system.n), 0
    order = np.argsort(system.X[:, 0], kind="stable")
    X, kernel = system.X[order], system.kernel
    n, first, last = len(X), X[0, 0], X[-1, 0]
    step = (last - first) / max(n - 1, 1)
    off = np.abs(X[:, 0] - (first + step * np.arange(n))).max()
    if kernel.translation_invariant and off <= _GRID_ROUNDING * max(abs(first), abs(last)):
        r = uniform_first_row(n, step, kernel)
        r[0] += system.lam
        return ToeplitzSystem(r), order, n
    return KernelSystem(kernel, X, system.lam), order, 0


def _scale_space(Z: System) -> ScaleSpace:
    from .bordered import BorderedToeplitz
    from .ns_form import WholeScaleSpace

    return BorderedToeplitz(Z.r) if isinstance(Z, ToeplitzSystem) else WholeScaleSpace(Z)
