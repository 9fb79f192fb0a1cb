"""sim.reference.toeplitz: the Levinson recursion in float64.

The recursion needs O(n^2) time and O(n) memory.

S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix", appendix (Levinson-Trench-Zohar); B. R. Musicus, RLE TR 538, MIT 1988.
The printed pseudo-code has errors, corrected here: x and alpha are one vector with x(0) = y(0)/eps; k(0) is
k(0) + lambda; the last delta loop and the update of x start at i = 0; and it has no guard against breakdown.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..compiled import compiled
from ..result import Solution, Status
from ..systems.system import ToeplitzSystem


def levinson(r: Array, Y: Array) -> Solution:
    """Solve a symmetric system by the Levinson recursion.

    Several right-hand sides are solved at once.

    Only `a` of the paper's vectors is stored: A is symmetric, so b is `a` reversed and nu = xi.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of A; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        Solution with `xi` of shape (n-1,) and `eps`; ``not_positive_definite`` at the first |xi| >= 1,
        because a leading minor of A is then not positive, and ``breakdown`` if the residual is too large.

    Notes
    -----
    Levinson is stable for positive definite A only (G. Cybenko, 1980), with errors that grow with the
    condition number.

    With numba, large systems advance by two orders per sweep (:mod:`.levinson_sweeps`); otherwise by one
    order, as printed in the paper.
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
    """Run the recursion as printed, with b = a reversed.

    The result has the form of :func:`.levinson_sweeps.two_orders`.
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
