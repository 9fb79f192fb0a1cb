"""sim.reference.toeplitz: entry point of the Toeplitz solvers, and "auto".

===========  =============================  ==============================================================
method       matrix                         description
===========  =============================  ==============================================================
banded       positive definite, and zero    L D L' by Schur's recursion, until the columns converge; O(n b)
             beyond a lag b
geometric    positive definite, r_j = c     L D L' of a semiseparable matrix, such as that of a Laplacian
             rho^j for j >= 1               kernel; O(n)
levinson     positive definite, or general  Levinson's recursion, O(n^2); with `r_row` the recursion of
                                            Levinson, Trench and Zohar
schur        positive definite              Schur's recursion, O(n^2), which needs no inner products
lookahead    nonsingular                    Levinson's recursion with look-ahead over singular leading
                                            minors, O(n^2)
pcg          positive definite              conjugate gradients with a circulant preconditioner, to a
                                            tolerance; O(n log n) per step
auto         nonsingular                    geometric if r is; banded if the band is narrow; otherwise
                                            levinson for up to a few thousand rows; for more rows pcg, and
                                            levinson if pcg fails; lookahead if the matrix is not positive
                                            definite. Solution.why gives the reason
===========  =============================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..._arrays import Array
from ..._checks import finite_array, is_integer
from ...errors import fail
from ..options import check_tolerance
from ..result import Solution, Status
from ..solvers.cg import TOLERANCE
from .banded import banded, bandwidth
from .geometric import geometric, geometric_row
from .levinson import levinson
from .levinson_general import levinson_general
from .lookahead import MAX_BLOCK, lookahead
from .pcg import PRECONDITIONERS, pcg
from .schur import schur

METHODS = ("auto", "banded", "geometric", "levinson", "lookahead", "schur", "pcg")

# From this size upwards the first row is tested: is it geometric?
_GEOMETRIC_FROM = 32
# From this size upwards conjugate gradients by FFT are tried first.
_PCG_FROM = 4096
# Wider bands are slower than the other methods: at 8,192 rows and 424 diagonals pcg takes as long.
_WIDEST_BAND, _ROWS_PER_DIAGONAL = 512, 8


def solve_toeplitz(r: ArrayLike, Y: ArrayLike, method: str = "auto", r_row: ArrayLike | None = None, *,
                   max_block: int = MAX_BLOCK, preconditioner: str = "strang",
                   tolerance: float = TOLERANCE) -> Solution:
    """Solve T x = y for a Toeplitz matrix T without forming T.

    Parameters
    ----------
    r : array_like of shape (n,)
        First column of the matrix; for regularised least squares, r[0] includes lambda.
    Y : array_like of shape (n,) or (n, m)
        Right-hand sides, which are solved in one pass.
    method : {"auto", "banded", "geometric", "levinson", "lookahead", "schur", "pcg"}
        See :mod:`kerncast.sim.reference.toeplitz.auto`. "auto" selects geometric for r of a Laplacian kernel,
        and banded if r is negligible beyond a lag b <= min(n / 8, 512).
    r_row : array_like of shape (n,), optional
        First row of an unsymmetric matrix, with r_row[0] = r[0].  Only levinson supports it.
    max_block : int
        For lookahead: maximum number of rows per step.
    preconditioner, tolerance : {"strang", "chan", "none"}, float
        For pcg: the preconditioner; each column must satisfy |y - T x| <= tolerance |y|.

    Returns
    -------
    Solution
        All elements of `x` are 0 unless the status is ``ok``.

    Raises
    ------
    KerncastError
        E225 for Y, E226 for method, E227 if the matrix must be symmetric, E235 for max_block, E236 for
        preconditioner or tolerance.

    Examples
    --------
    >>> solve_toeplitz([2, 1, .5, .25], [1, 2, 3, 4]).x.round(6) + 0.0
    array([0.      , 0.333333, 0.5     , 1.666667])
    >>> indefinite = solve_toeplitz([0, 1, .3], [1, 2, 3])
    >>> indefinite.method, indefinite.blocks
    ('lookahead', (2, 1))
    """
    _check_options(method, max_block, preconditioner, tolerance)
    r, Y = _check_system(r, Y)
    if r_row is not None and not np.array_equal(row := _check_row(r, r_row, method), r):
        return levinson_general(r, row, Y)
    run: dict[str, Callable[[], Solution]] = {
        "banded": lambda: banded(r, Y), "geometric": lambda: geometric(r, Y),
        "levinson": lambda: levinson(r, Y), "schur": lambda: schur(r, Y),
        "lookahead": lambda: lookahead(r, Y, max_block), "pcg": lambda: pcg(r, Y, preconditioner, tolerance)}
    return _automatic(run, r, Y) if method == "auto" else run[method]()


def _automatic(run: dict[str, Callable[[], Solution]], r: Array, Y: Array) -> Solution:
    """Try the fastest method first; if it fails, its status determines the next one."""
    reasons, n = [], len(r)
    indefinite = False

    def tried(solution: Solution) -> Solution | None:
        nonlocal indefinite
        if solution.ok:
            return replace(solution, why=f"{solution.method}: {solution.why}")
        reasons.append(f"{solution.method} failed: {solution.status}, {solution.why}")
        indefinite = solution.status is Status.NOT_POSITIVE_DEFINITE
        return None

    row = geometric_row(r) if n >= _GEOMETRIC_FROM and r[1] != 0.0 else None
    if row is not None and (found := tried(geometric(r, Y, row))):
        return found
    narrow = row is None and n > 1 and (b := bandwidth(r)) <= _WIDEST_BAND and _ROWS_PER_DIAGONAL * b <= n
    if narrow and (found := tried(run["banded"]())):
        return found
    if n >= _PCG_FROM and not indefinite:
        solution = run["pcg"]()
        if solution.ok:
            return replace(solution, why=f"pcg: {n} rows are {_PCG_FROM} or more; {solution.why}")
        reasons.append(f"pcg failed: {solution.status} after {solution.iterations} steps, {solution.why}")
        indefinite = solution.status is Status.NOT_POSITIVE_DEFINITE
    if not indefinite:
        solution = run["levinson"]()
        if solution.ok:
            return replace(solution, why="; ".join([*reasons, "levinson: the matrix is positive definite"]))
        reasons.append(f"levinson failed: {solution.status}, {solution.why}")
    solution = run["lookahead"]()
    long = sum(p > 1 for p in solution.blocks)
    last = f"{long} of {len(solution.blocks)} steps took more than one row" if solution.ok else solution.why
    return replace(solution, why="; ".join([*reasons, f"lookahead: {last}"]))


def _check_system(r: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
    r, Y = finite_array(r, "r", "E225"), finite_array(Y, "Y", "E225")
    if r.ndim != 1 or len(r) == 0:
        raise fail("E225", "the first column of a Toeplitz matrix must have one axis", where="r",
                   value=r.shape, allowed="shape (n,), n >= 1", remedy="pass one column, not the matrix")
    if Y.ndim not in (1, 2) or len(Y) != len(r) or Y.size == 0:
        raise fail("E225", "the right-hand side does not fit the matrix", where="Y", value=Y.shape,
                   allowed=f"shape ({len(r)},) or ({len(r)}, m)", remedy="pass one value per equation")
    return r, Y


def _check_row(r: Array, r_row: ArrayLike, method: str) -> Array:
    row = finite_array(r_row, "r_row", "E225")
    if row.shape != r.shape or row[0] != r[0]:
        raise fail("E225", "r_row does not match r: the shapes or the first entries differ", where="r_row",
                   value=row.shape,
                   allowed=f"shape {r.shape}, r_row[0] = r[0]",
                   remedy="pass r_row with the shape and the first entry of r")
    if method not in ("auto", "levinson") and not np.array_equal(row, r):
        raise fail("E227", f"method {method} needs a symmetric matrix", where="r_row",
                   value=f"method {method}", allowed="r_row equal to r, or omitted",
                   remedy="use method \"levinson\", which also solves unsymmetric systems")
    return row


def _check_options(method: str, max_block: int, preconditioner: str, tolerance: float) -> None:
    if method not in METHODS:
        raise fail("E226", "no such method for Toeplitz systems", where="method",
                   value=repr(method), allowed=", ".join(METHODS), remedy="use auto")
    if not is_integer(max_block) or not 2 <= max_block <= 64:
        raise fail("E235", "the maximum block size of look-ahead is out of range", where="max_block",
                   value=max_block, allowed="an integer from 2 to 64", remedy=f"start with {MAX_BLOCK}")
    if preconditioner not in PRECONDITIONERS:
        raise fail("E236", "no such preconditioner", where="preconditioner",
                   value=repr(preconditioner), allowed=", ".join(PRECONDITIONERS), remedy="use strang")
    check_tolerance(tolerance)
