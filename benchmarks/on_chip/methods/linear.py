"""Linear filters with an intercept, in float64 and in C with float32 arithmetic."""

from __future__ import annotations

import numpy as np

from ....sim.jit import jit
from ...papers.common import Array
from ..costs import Cost, float_c
from ..streams import Samples
from . import FORGETTING, RIDGES, Method

#: Regulariser of NLMS, in squared deviations.
EPSILON = 1e-3


@jit
def _lms(X: Array, y: Array, mu: float, normalised: bool, w: Array, f: Array) -> None:
    """Learn by LMS or NLMS. The last input is the constant 1."""
    for m in range(X.shape[0]):
        f[m], power = 0.0, EPSILON
        for d in range(X.shape[1]):
            f[m] += w[d] * X[m, d]
            power += X[m, d] * X[m, d]
        step = mu * (y[m] - f[m]) / (power if normalised else 1.0)
        for d in range(X.shape[1]):
            w[d] += step * X[m, d]


@jit
def rls(X: Array, y: Array, forgetting: float, w: Array, P: Array, k: Array, f: Array) -> None:
    """Learn by exponentially weighted RLS. P is kept symmetric."""
    order = X.shape[1]
    for m in range(X.shape[0]):
        f[m], power = 0.0, forgetting
        for i in range(order):
            k[i] = 0.0
            for j in range(order):
                k[i] += P[i, j] * X[m, j]
            f[m] += w[i] * X[m, i]
            power += k[i] * X[m, i]
        error = (y[m] - f[m]) / power
        for i in range(order):
            w[i] += k[i] * error
            for j in range(i, order):
                P[i, j] = (P[i, j] - k[i] * k[j] / power) / forgetting
                P[j, i] = P[i, j]


def _with_one(samples: Samples) -> Array:
    return np.column_stack([samples.X, np.ones(len(samples.y))])


def _run_lms(_: Samples, samples: Samples, mu: float, normalised: bool = False) -> Array:
    X, f = _with_one(samples), np.zeros(len(samples.y))
    _lms(X, samples.y, mu, normalised, np.zeros(X.shape[1]), f)
    return f


def _run_nlms(_: Samples, samples: Samples, mu: float) -> Array:
    return _run_lms(_, samples, mu, True)


def run_rls(X: Array, y: Array, forgetting: float, ridge: float) -> Array:
    """Return predictions by RLS from the inputs X, each before its sample is learnt."""
    f, order = np.zeros(len(y)), X.shape[1]
    rls(X, y, forgetting, np.zeros(order), np.eye(order) / ridge, np.zeros(order), f)
    return f


def _run_rls(_: Samples, samples: Samples, forgetting: float, ridge: float) -> Array:
    return run_rls(_with_one(samples), samples.y, forgetting, ridge)


_LMS_C = """
float x[N], y, f;
static float w[N + 1];
void update(void) __attribute__((noinline));
void update(void)
{
    float sum = w[N], power = 1.0f + EPSILON, step;
    int i;

    for (i = 0; i < N; i++) {
        sum += w[i] * x[i];
        power += x[i] * x[i];
    }
    step = MU * (y - sum);
    if (NORMALISED) {
        step /= power;
    }
    for (i = 0; i < N; i++) {
        w[i] += step * x[i];
    }
    w[N] += step;
    f = sum;
}
"""
_RLS_C = """
float x[N], y, f;
static float w[N + 1], k[N + 1], v[N + 1], P[N + 1][N + 1];
static int started;
void update(void) __attribute__((noinline));
void update(void)
{
    float sum = 0.0f, power = LAMBDA, error;
    int i, j;

    if (!started) {
        for (i = 0; i <= N; i++) {
            P[i][i] = 1.0f / RIDGE;
        }
        started = 1;
    }
    for (i = 0; i < N; i++) {
        v[i] = x[i];
    }
    v[N] = 1.0f;
    for (i = 0; i <= N; i++) {
        float gain = 0.0f;

        for (j = 0; j <= N; j++) {
            gain += P[i][j] * v[j];
        }
        k[i] = gain;
        sum += w[i] * v[i];
        power += gain * v[i];
    }
    error = (y - sum) / power;
    power = 1.0f / power;
    for (i = 0; i <= N; i++) {
        const float gain = k[i] * power;

        w[i] += k[i] * error;
        for (j = i; j <= N; j++) {
            P[i][j] = (P[i][j] - gain * k[j]) * (1.0f / LAMBDA);
            P[j][i] = P[i][j];
        }
    }
    f = sum;
}
"""


def _cost_lms(design: Samples, samples: Samples, mu: float, normalised: bool = False) -> Cost:
    columns = samples.X.shape[1]
    return float_c(_LMS_C, 4 * (columns + 1), samples, _run_lms(design, samples, mu, normalised),
                   f"-DN={columns}", f"-DMU={mu!r}f", f"-DNORMALISED={int(normalised)}",
                   f"-DEPSILON={EPSILON!r}f")


def _cost_nlms(design: Samples, samples: Samples, mu: float) -> Cost:
    return _cost_lms(design, samples, mu, True)


def _cost_rls(design: Samples, samples: Samples, forgetting: float, ridge: float) -> Cost:
    columns, order = samples.X.shape[1], samples.X.shape[1] + 1
    return float_c(_RLS_C, 4 * (order * order + 3 * order + 1), samples,
                   _run_rls(design, samples, forgetting, ridge), f"-DN={columns}",
                   f"-DLAMBDA={forgetting!r}f", f"-DRIDGE={ridge!r}f")


METHODS = [
    Method("LMS", _run_lms, {}, ("mu", (0.001, 0.003, 0.01, 0.03, 0.06, 0.1)), cost=_cost_lms, linear=True),
    Method("NLMS", _run_nlms, {}, ("mu", (0.01, 0.03, 0.1, 0.3, 0.6, 1.0)), cost=_cost_nlms, linear=True),
    Method("RLS", _run_rls, {"ridge": 1e-3}, ("forgetting", FORGETTING),
           {"ridge": RIDGES}, cost=_cost_rls, linear=True)]
