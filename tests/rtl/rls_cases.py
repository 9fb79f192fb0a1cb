"""Plans and streams of kernel RLS for its core in a simulator."""

import numpy as np

from kerncast.sim.backend import Raw
from kerncast.sim.plan import Plan

#: Word classes, rounding modes, inputs with and without sign, with and without a linear part, fast and slow
#: forgetting, few steps and many, descents that end early.
RLS = {name: 'model = {name = "waves", algorithm = "online_kernel_rls"}' + tables for name, tables in {
    "waves16": """
        input = {word = "s12f0", columns = 3, offset = [5, -100, 0], gain = [1.0, 0.5, 2.0]}
        output = {word = "s12f0"}
        kernel = {sigma = 600.0}
        rls = {features = 6, forgetting = 0.99}
        numbers = {word = 16}
        """,
    "pair24": """
        input = {word = "u10f0", columns = 2, offset = 512}
        output = {word = "s16f0"}
        kernel = {sigma = 150.0}
        rls = {features = 2, forgetting = 0.6, linear = false, steps = 8}
        numbers = {word = 24, rounding = "half_even"}
        """,
    "fives32": """
        input = {word = "u11f0", columns = 5}
        output = {word = "s12f0", offset = 30, gain = 0.5}
        kernel = {sigma = 900.0}
        rls = {features = 9, forgetting = 0.999, ridge = 0.1, steps = 3}
        numbers = {word = 32, rounding = "floor"}
        """,
    "wraps16": """
        input = {word = "u16f0", columns = 1}
        output = {word = "s12f0", gain = 0.01}
        kernel = {sigma = 9000.0}
        rls = {features = 4, forgetting = 0.9, ridge = 1e-6, steps = 12}
        numbers = {word = 16, casts = {x = "floor", f = "half_even wrap"}}
        """,
    "sixteen16": """
        input = {word = "s12f0", columns = 8}
        output = {word = "s12f0"}
        kernel = {sigma = 2000.0}
        rls = {features = 16}
        numbers = {word = 16}
        """,
}.items()}


def rls_stream(plan: Plan, count: int, seed: int) -> tuple[Raw, Raw]:
    """Noise of the whole range, small values, repeated samples; targets that can be learned, and rails."""
    chance = np.random.default_rng(seed)
    x_raw, y_raw = (plan.signals[name].format for name in ("x_raw", "y_raw"))
    x = chance.integers(x_raw.lo, x_raw.hi + 1, (count, plan.sizes["D"]))
    y = (y_raw.hi * np.sin(x.sum(axis=1) / x_raw.hi * 3)).astype(np.int64)
    middle = (x_raw.lo + x_raw.hi) // 2
    for i in range(1, count):
        kind = chance.integers(8)
        if kind == 0:
            x[i], y[i] = x[i - 1], y[i - 1]
        elif kind == 1:
            x[i] = middle + chance.integers(-2, 3, x.shape[1])
        elif kind == 2:
            y[i] = (y_raw.lo, y_raw.hi)[chance.integers(2)]
        elif kind == 3:
            y[i] = 0
    return x, np.clip(y, y_raw.lo, y_raw.hi)
