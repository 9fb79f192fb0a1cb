"""sim.diagnostics: the FIR filter equivalent to a Toeplitz trainer.

If the samples are on a uniform grid, and sigma and lambda are fixed, the fitted values ``T (T + lambda I)^-1
y`` are a linear function of the targets. Away from the edges, all rows of this matrix are equal up to a
shift: each one is the inverse Fourier transform of ``S / (S + lambda)``, where S is the Fourier transform of
the kernel on the grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..plan import Plan
from ..reference.backend import FloatReference

#: A kernel whose last value on the grid exceeds this has not decayed: there is no common row.
_DECAYED = 1e-6
#: Samples of the transform per sample of the grid, so that the impulse response decays within them.
_OVERSAMPLING = 8


@dataclass(frozen=True)
class Filter:
    """Symmetric FIR filter, given by its taps at lags 0, 1, ..., L.

    Parameters
    ----------
    taps : ndarray of float64, shape (L + 1,)
        The filter coefficients.
    error : float
        Bound on the difference between the filter output and the fitted value in float64, relative to the
        full scale of the targets.
    """

    taps: Array
    error: float

    @property
    def lag(self) -> int:
        """Return L, the delay in samples; the filter has 2 L + 1 taps."""
        return len(self.taps) - 1


def impulse_response(r: Array, lam: float) -> Array:
    """Return the fitted values for a unit impulse at lag 0 on an unlimited grid.

    Parameters
    ----------
    r : ndarray of float64, shape (n,)
        The kernel at lags 0 to n - 1; it is assumed to be 0 at larger lags.
    lam : float
        Regulariser lambda.

    Returns
    -------
    ndarray of float64, shape (m,)
        The response at lags 0 to m - 1, where m >= n.
    """
    n = len(r)
    period = np.zeros(_OVERSAMPLING << n.bit_length())
    period[:n] = r
    period[len(period) - n + 1:] += r[:0:-1]
    symbol = np.maximum(np.fft.rfft(period).real, 0.0)  # a kernel has no negative one but by rounding
    return np.fft.irfft(symbol / (symbol + lam), len(period))[: len(period) // 2]


def filter_of(plan: Plan) -> Filter | None:
    """Return the shortest filter that replaces the trainer of a plan, or None.

    The difference between the filter output and the fitted value is at most one LSB of the word length.

    The result is None in these cases: the plan is not a Toeplitz trainer on a uniform grid; the model has an
    intercept, the trainer compares pairs of sigma and lambda, or lambda can change, so that the fit is not a
    fixed filter; or the kernel or the filter is longer than the grid.
    """
    if plan.algorithm != "toeplitz_rls" or not plan.uniform or plan.bias or plan.tunes or plan.ranged:
        return None
    r = FloatReference(plan).first_column(None).copy()
    r[0] -= plan.lam
    if r[-1] > _DECAYED * r[0]:
        return None
    taps = impulse_response(r, plan.lam)
    beyond = 2 * np.cumsum(np.abs(taps[::-1]))[::-1]  # from each lag on
    found = np.flatnonzero(beyond <= 2.0 ** -(plan.word - 1))
    lag = int(found[0]) - 1 if len(found) else len(r)
    return None if 2 * lag + 1 > len(r) else Filter(taps[: lag + 1], float(beyond[lag + 1]))
