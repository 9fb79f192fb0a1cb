"""Generate chaotic and nonlinear series, common benchmarks of adaptive filters."""

from __future__ import annotations

import numpy as np

from ...sim.data.windows import latest_first
from ...sim.jit import jit
from ..papers.common import Array

#: Delay, sampling period and steps per unit of time of the Mackey-Glass equation.
DELAY, PERIOD, STEPS = 30, 6, 10


@jit
def _mackey_glass(history: Array, start: int) -> None:
    """Integrate dx/dt = 0.2 x(t - 30) / (1 + x(t - 30)^10) - 0.1 x with Heun's method."""
    lag, h = DELAY * STEPS, 1.0 / STEPS
    for i in range(start, history.shape[0]):
        old, next_old, x = history[i - 1 - lag], history[i - lag], history[i - 1]
        first = 0.2 * old / (1.0 + old**10) - 0.1 * x
        second = 0.2 * next_old / (1.0 + next_old**10) - 0.1 * (x + h * first)
        history[i] = x + 0.5 * h * (first + second)


def mackey_glass(samples: int, seed: int) -> Array:
    """Return the Mackey-Glass series with delay 30, sampled every 6 time units."""
    before = 300 * PERIOD * STEPS
    history = np.zeros(before + samples * PERIOD * STEPS)
    history[:before] = 0.9 + 0.3 * np.random.default_rng(seed).random()
    _mackey_glass(history, DELAY * STEPS + 1)
    return history[before::PERIOD * STEPS][:samples]


@jit
def _lorenz(states: Array, h: float) -> None:
    """Integrate the Lorenz equations with parameters (10, 28, 8/3) with Heun's method."""
    for i in range(1, states.shape[0]):
        x, y, z = states[i - 1, 0], states[i - 1, 1], states[i - 1, 2]
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        u, v, w = x + h * dx, y + h * dy, z + h * dz
        states[i, 0] = x + 0.5 * h * (dx + 10.0 * (v - u))
        states[i, 1] = y + 0.5 * h * (dy + u * (28.0 - w) - v)
        states[i, 2] = z + 0.5 * h * (dz + u * v - 8.0 / 3.0 * w)


def lorenz(samples: int, seed: int) -> Array:
    """Return x of the Lorenz system, sampled every 0.01 time units."""
    fine, before = 10, 20_000
    states = np.zeros((before + samples * fine, 3))
    states[0] = np.random.default_rng(seed).normal((0.0, 0.0, 25.0), 5.0)
    _lorenz(states, 0.01 / fine)
    return states[before::fine, 0].copy()


def narma(samples: int, seed: int) -> tuple[Array, Array]:
    """Return windows of 10 inputs of the NARMA-10 system, and the following outputs.

    A. F. Atiya, A. G. Parlos, "New Results on Recurrent Network Training", IEEE Trans. Neural Networks
    11(3), 2000.
    """
    u = np.random.default_rng(seed).uniform(0.0, 0.5, samples + 200)
    y = np.zeros(samples + 200)
    for t in range(9, len(y) - 1):
        y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * y[t - 9:t + 1].sum() + 1.5 * u[t - 9] * u[t] + 0.1
    inputs = latest_first(u, 10)
    return inputs[-samples - 1:-1].astype(float), y[-samples:]
