"""sim.reference.toeplitz: Schur's recursion for positive definite systems.

The recursion needs O(n^2) time and O(n) memory. It follows I. Schur, 1917; J. Le Roux, C. Gueguen, "A fixed
point computation of partial correlation coefficients", IEEE Trans. ASSP 25(3), 1977; and T. Kailath, J. Chun,
"Generalized displacement structure", 1994, which appends an identity below T, so that the Schur reduction
leaves the solution.

The recursion is that of :mod:`.levinson`, but the inner products are updated instead of being computed again.
They are
    p_i = sum_j k_{i-j} a_j,    q_i = sum_j k_{i-j} b_j,    s_i = y_i - sum_j k_{i-j} x_j,
for all remaining rows i, and are updated in the same way as a, b and x.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..result import Solution, Status
from ..systems.system import ToeplitzSystem


def schur(r: Array, Y: Array) -> Solution:
    """Solve T x = y for a symmetric positive definite Toeplitz T.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        Solution with `xi` of shape (n-1,) and `eps`.  The statuses are those of :func:`.levinson.levinson`.

    Notes
    -----
    For a positive definite T, the magnitudes of p and q do not exceed r_0, and all sums have only two terms,
    so the recursion is suitable for fixed-point arithmetic and for parallel processors. Its xi are those of a
    backward stable Cholesky factorisation (A. W. Bojanczyk, R. P. Brent, F. R. de Hoog, D. R. Sweet, 1995). x
    is computed from a, and its error still grows with the condition number.
    """
    n = len(r)
    a, x, xi = np.zeros(n), np.zeros_like(Y), np.zeros(n - 1)
    p, q, s = r.copy(), r.copy(), Y.copy()  # rows m..n-1 of each are current
    a[0], m, eps = 1.0, 0, float(r[0])
    status = Status.OK if r[0] > 0.0 else Status.NOT_POSITIVE_DEFINITE
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        while status is Status.OK:
            eps = float(q[m])
            mu = s[m] / eps
            x[: m + 1] += np.multiply.outer(a[m::-1], mu)       # x_i += (mu / eps) b_i
            s[m:] -= np.multiply.outer(q[m:], mu)               # and its effect on the rows below
            m += 1
            if m == n:
                break
            xi[m - 1] = -p[m] / eps                             # xi = -delta / eps
            if not abs(xi[m - 1]) < 1.0:                        # also if NaN
                status = Status.NOT_POSITIVE_DEFINITE
                break
            a[: m + 1] += xi[m - 1] * a[m::-1]                  # a_i += xi b_{i-1}
            shifted = q[m - 1: n - 1].copy()                    # b moves down one row, and so does q
            q[m:] = shifted + xi[m - 1] * p[m:]
            p[m:] += xi[m - 1] * shifted
        steps = min(m, n - 1)
        why = "" if status is Status.OK else f"the leading minor of order {m + 1} is not positive"
        return check_solution(ToeplitzSystem(r), Y, x, status, method="schur", iterations=steps,
                              xi=xi[:steps].copy(), eps=eps, why=why, bytes=6 * r.nbytes + Y.nbytes,
                              operations=steps * (Y.size // n * (n + 1) + 2 * n - 1 - (steps - 1) // 2))
