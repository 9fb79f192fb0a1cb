"""sim.reference.toeplitz: Levinson's recursion in float64.

The recursion needs O(n^2) time and O(n) memory. It follows the appendix of S. Decherchi, P. Gastaldo, R.
Zunino, "Efficient Approximate Regularized Least Squares by Toeplitz Matrix" (Levinson-Trench-Zohar), and B.
R. Musicus, RLE Technical Report 538, MIT, 1988. These errors of the printed pseudo-code are corrected here: x
and alpha are the same vector, with x(0) = y(0)/eps; k(0) must be k(0) + lambda; the last loop for delta and
the update of x must start at i = 0; and breakdown is not detected.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..compiled import compiled
from ..result import Solution, Status
from ..systems.system import ToeplitzSystem


def levinson(r: Array, Y: Array) -> Solution:
    """Solve a symmetric Toeplitz system by Levinson's recursion.

    All right-hand sides are solved in one pass. A is symmetric, so the vector b of the paper is `a` reversed,
    and nu = xi; b is not stored.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of A; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        Solution with `xi` of shape (n-1,) and `eps`. The status is ``not_positive_definite`` if a |xi| is 1
        or more, because a leading minor of A is then not positive. It is ``breakdown`` if the residual is too
        large.

    Notes
    -----
    The recursion is stable only for a positive definite A (G. Cybenko, 1980), with errors that grow with the
    condition number.

    With numba, each pass over the vectors of a large system computes two orders (:mod:`.levinson_sweeps`).
    Otherwise each pass computes one order, as in the paper.
    """
    columns, passes = Y.reshape(len(Y), -1), 4
    recursion = one_order
    if compiled(len(r)):
        from .levinson_sweeps import two_orders

        recursion, passes = two_orders, 5
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        x, xi, eps, well, held = (recursion(r, columns) if r[0] > 0.0 else
                                  (np.zeros_like(columns), np.empty(0), float(r[0]), False, 0))
        m, status = len(xi), Status.OK if well else Status.NOT_POSITIVE_DEFINITE
        return check_solution(ToeplitzSystem(r), Y, x.reshape(Y.shape), status, method="levinson",
                              iterations=m, xi=xi, eps=eps, bytes=held,
                              why="" if well else f"the leading minor of order {m + 1} is not positive",
                              operations=m * (m + 1) // 4 * passes * (1 + columns.shape[1]) + len(r))


def one_order(r: Array, Y: Array) -> tuple[Array, Array, float, bool, int]:
    """Run the recursion as in the paper, with one order per pass.

    The result is that of :func:`.levinson_sweeps.two_orders`.
    """
    n = len(r)
    x, a, xi = np.zeros_like(Y), np.zeros(n), np.zeros(n - 1)
    a[0], eps = 1.0, float(r[0])
    x[0] = Y[0] / eps
    held = 4 * a.nbytes + Y.nbytes
    for m in range(1, n):
        gamma = r[m:0:-1]                                       # gamma_i = k_{m-i}
        xi[m - 1] = -float(gamma @ a[:m]) / eps                 # xi = -delta / eps
        if not abs(xi[m - 1]) < 1.0:                            # also if NaN
            return x, xi[:m], eps, False, held
        a[: m + 1] += xi[m - 1] * a[m::-1]                      # a_i += xi a_{m-i}
        eps *= (1.0 - xi[m - 1]) * (1.0 + xi[m - 1])            # eps (1 - xi nu)
        mu = Y[m] - gamma @ x[:m]                               # mu = y_m - delta
        x[: m + 1] += np.multiply.outer(a[m::-1], mu / eps)     # x_i += (mu / eps) b_i
    return x, xi, eps, True, held
