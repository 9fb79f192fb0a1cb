"""sim.diagnostics: the FIR filter equivalent to a Toeplitz trainer.

The trainer has a uniform grid. A fixed sigma and lambda make the fitted values ``T (T + lambda I)^-1 y`` a
linear function of the targets. Away from the edges each row is the same: the inverse Fourier transform of
``S / (S + lambda)``, S being the transform of the kernel on the grid.
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
    error : float
        Largest difference from the fitted value in float64, relative to the full scale of the targets.
    """

    taps: Array
    error: float

    @property
    def lag(self) -> int:
        """Return L: the filter has 2 L + 1 taps, and delays its output by L samples."""
        return len(self.taps) - 1


def impulse_response(r: Array, lam: float) -> Array:
    """Return the response (m,), m >= n, to a unit impulse at lag 0, without edges.

    Parameters
    ----------
    r : ndarray of float64, shape (n,)
        The kernel at lags 0 to n - 1; 0 beyond.
    lam : float
        Regulariser lambda.
    """
    n = len(r)
    period = np.zeros(_OVERSAMPLING << n.bit_length())
    period[:n] = r
    period[len(period) - n + 1:] += r[:0:-1]
    symbol = np.maximum(np.fft.rfft(period).real, 0.0)  # a kernel has no negative one but by rounding
    return np.fft.irfft(symbol / (symbol + lam), len(period))[: len(period) // 2]


def filter_of(plan: Plan) -> Filter | None:
    """Return the filter of a plan, whose error is at most an LSB of the word length.

    Return None if the plan is not a Toeplitz trainer on a uniform grid, if it has an intercept or compares
    pairs of sigma and lambda, which depend on all targets, or if the kernel or the filter is as long as the
    grid.
    """
    if plan.algorithm != "toeplitz_rls" or not plan.uniform or plan.bias or plan.tunes:
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
