"""sim.reference.online: the least-squares reductions, plain and regularised.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report 836, University
of Sheffield, 2003, equations (14) and (20).  beta minimises |delta| over all N vectors.  The normal equations
have the matrix K^2, so that, with c = K^-2 e_N, |delta|^2 = alpha_N^2 / c_N and beta_R = alpha_R - alpha_N
c_R / c_N.
"""

from __future__ import annotations

import numpy as np

from .expansion import Array, Expansion
from .metric import Metric, mask_free, squared_norms


def project_by_least_squares(model: Expansion, slot: int) -> None:
    """Apply beta = [K_RR; K_NR]^+ K alpha (14)."""
    assert model.gram is not None
    P = model.gram.inverse
    p = P[:, slot]
    model.alpha -= np.multiply.outer(P @ p / (p @ p), model.alpha[slot])
    model.alpha[slot] = 0.0


class LeastSquares(Metric):
    """Metric lambda_i = |delta|^2 / N + C / (N-1) sum_j beta_j^2 (20).

    C = 0 gives plain least squares.

    Parameters
    ----------
    penalty : float
        C, the penalty on large coefficients after the projection.
    """

    gram = True

    def __init__(self, penalty: float = 0.0) -> None:
        self.penalty = penalty

    def deterioration(self, model: Expansion) -> Array:
        """Return lambda_i of (20)."""
        assert model.gram is not None
        P = model.gram.inverse
        q = np.where(model.rank >= 0, np.einsum("ij,ij->i", P, P), 1.0)
        lam = squared_norms(model.alpha) / (q * model.count)
        if self.penalty > 0.0 and model.count > 1:
            A = model.alpha.reshape(len(P), -1)
            beta = A[np.newaxis] - (P @ P / q[:, np.newaxis])[:, :, np.newaxis] * A[:, np.newaxis]
            lam += self.penalty / (model.count - 1) * np.sum(beta * beta, axis=(1, 2))
        return mask_free(model, lam)
