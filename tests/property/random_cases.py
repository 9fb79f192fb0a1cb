"""Random specs with raw data that go to the rails: for every test that compares models."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

Raw = NDArray[np.int64]
ROUNDINGS = ("floor", "half_up", "half_even")
TABLES = ("small", "medium", "large")
SCHEMES = ("uniform", "diagonal_mean", "diagonal_mean_biased")
DISTANCES = ("gaussian", "gaussian", "laplacian", "periodic")
KERNELS = (*DISTANCES, "polynomial", "linear")
#: Further keys of the table [toeplitz].
VARIANTS: tuple[dict[str, Any], ...] = (
    {}, {}, {"solver": "schur"}, {"solver": "schur"}, {"scaling": "static"}, {"refine": 1}, {"refine": 3},
    {"bias": True}, {"bias": True, "refine": 2}, {"scaling": "static", "refine": 1, "bias": True})


@dataclass(frozen=True)
class Case:
    """A plan with raw data: one training set or one stream, and inputs to predict."""

    plan: Plan
    x_raw: Raw | None
    y_raw: Raw
    x_test: Raw

    def __str__(self) -> str:
        o = self.plan.options
        return f"W={self.plan.word} {dict(self.plan.sizes)} {dict(o)}"


def targets(random: Random, fmt: Format, count: int) -> Raw:
    """Rails, alternating rails, an impulse, silence before noise, one lsb, or noise."""
    noise = [random.randint(fmt.lo, fmt.hi) for _ in range(count)]
    quiet = min(max(0, fmt.lo), fmt.hi)
    kinds = [
        [fmt.hi] * count, [fmt.lo] * count, [(fmt.lo, fmt.hi)[i % 2] for i in range(count)],
        [random.choice((fmt.lo, fmt.hi)) for _ in range(count)], [fmt.hi] + [quiet] * (count - 1),
        [quiet] * (count // 2) + noise[count // 2:], [quiet] * (count - 1) + [min(quiet + 1, fmt.hi)], noise,
    ]
    return np.array(random.choice(kinds), dtype=np.int64)


def inputs(random: Random, fmt: Format, count: int, columns: int) -> Raw:
    """Rails and noise, or a cloud so dense that duplicates and ties of distance abound."""
    centre = random.randint(fmt.lo, fmt.hi)
    dense = random.random() < 0.6

    def word() -> int:
        if dense:
            return min(max(centre + random.randint(-2, 2), fmt.lo), fmt.hi)
        return random.choice((fmt.lo, fmt.hi, random.randint(fmt.lo, fmt.hi)))

    return np.array([[word() for _ in range(columns)] for _ in range(count)], dtype=np.int64)


def _raw_format(random: Random) -> Format:
    bits = random.choice((2, 4, 8, 12, 16, 24, 32))
    return Format(random.random() < 0.5, bits, random.choice((0, 0, 0, bits, -4)))


def _kernel(random: Random, width: float, kinds: tuple[str, ...]) -> dict[str, Any]:
    """A kernel whose width, or period, or scale is about `width`."""
    kind = random.choice(kinds)
    if kind == "periodic":
        return {"type": kind, "sigma": 10 ** random.uniform(-1, 1),
                "period": width * 10 ** random.uniform(0, 1)}
    if kind == "polynomial":
        return {"type": kind, "degree": random.randint(2, 5), "coef0": random.choice((0.0, 0.1, 1.0, 3.0)),
                "gamma": min(max(10 ** random.uniform(-1, 1) / width**2, 1e-12), 1e12)}
    return {"type": kind} if kind == "linear" else {"type": kind, "sigma": width}


def _common(random: Random, word: int, rounding: str, columns: int, x: Format, y: Format,
            kernels: tuple[str, ...] = DISTANCES) -> dict[str, Any]:
    offsets = [random.choice((min(max(0, x.lo), x.hi), x.lo, x.hi, random.randint(x.lo, x.hi)))
               for _ in range(columns)]
    gains = [10 ** random.uniform(-2, 2) for _ in range(columns)] if random.random() < 0.3 else 1.0
    span = (x.hi - x.lo) * float(x.lsb)
    return {
        "input": {"word": str(x), "columns": columns, "offset": offsets, "gain": gains},
        "output": {"word": str(y), "offset": random.choice((min(max(0, y.lo), y.hi), y.lo, y.hi))},
        "kernel": _kernel(random, max(span * 10 ** random.uniform(-3, 1), 1e-6), kernels),
        "numbers": {"word": word, "rounding": rounding, "exp_table": random.choice(TABLES),
                    "overflow": random.choice(("saturate", "saturate", "wrap")), "casts": _casts(random)},
    }


def _casts(random: Random) -> dict[str, str]:
    """Now and then a rounding of its own for a cast that every algorithm has, and a prediction that wraps."""
    chosen = {name: random.choice(ROUNDINGS) for name in ("x", "y", "f", "alpha") if random.random() < 0.2}
    if random.random() < 0.2:
        chosen["f"] = " ".join([chosen.get("f", ""), "wrap"]).strip()
    return chosen


def toeplitz_case(random: Random, word: int, rounding: str, most: int, lam: tuple[float, float],
                  variants: tuple[dict[str, Any], ...] = VARIANTS) -> Case:
    """A Toeplitz plan with up to `most` samples and lambda in 10**lam; refused specs are drawn again.

    `variants` are more keys of the table [toeplitz], one of which is taken.
    """
    for _ in range(1000):
        scheme, n = random.choice(SCHEMES), random.randint(2, most)
        columns = 1 if scheme == "uniform" else random.choice((1, 2, 3))
        x, y = _raw_format(random), _raw_format(random)
        tables = _common(random, word, rounding, columns, x, y)
        toeplitz = {"n": n, "lam": 10 ** random.uniform(*lam), "scheme": scheme, **random.choice(variants)}
        if scheme == "uniform":
            tables["kernel"] = _kernel(random, 10 ** random.uniform(-0.5, 1.5) * float(x.lsb), DISTANCES)
            tables["input"] |= {"gain": 1.0}
        try:
            plan = make_plan(Spec(model={"name": "random", "algorithm": "toeplitz_rls"}, toeplitz=toeplitz,
                                  **tables))
        except KerncastError:
            continue
        x_raw = None if scheme == "uniform" else inputs(random, x, n, columns)
        return Case(plan, x_raw, targets(random, y, n), inputs(random, x, 3, columns))
    raise AssertionError("a thousand specs were refused")


def cg_case(random: Random, word: int, rounding: str, most: int, lam: tuple[float, float]) -> Case:
    """A plan of conjugate gradients with up to `most` samples; few steps, or more than any needs."""
    for _ in range(1000):
        n, columns = random.randint(2, most), random.choice((1, 2, 3))
        x, y = _raw_format(random), _raw_format(random)
        cg = {"n": n, "lam": 10 ** random.uniform(*lam), "steps": random.choice((1, 3, 8, 40))}
        try:
            plan = make_plan(Spec(model={"name": "random", "algorithm": "kernel_cg"}, cg=cg,
                                  **_common(random, word, rounding, columns, x, y, KERNELS)))
        except KerncastError:
            continue
        return Case(plan, inputs(random, x, n, columns), targets(random, y, n), inputs(random, x, 3, columns))
    raise AssertionError("a thousand specs were refused")


def online_case(random: Random, word: int, rounding: str, samples: int) -> Case:
    """An FKLMS plan with a budget of 2 to 8 and a stream; alpha's format by data or by design."""
    for _ in range(1000):
        columns = random.choice((1, 1, 2, 3))
        x, y = _raw_format(random), _raw_format(random)
        online = {"budget": random.randint(2, 8), "eta": random.choice((1e-6, 0.01, 0.1, 0.3, 1.0, 1.9)),
                  "rho": random.choice((0.0, 0.0, 1e-9, 0.01, 0.25))}
        x_raw, y_raw = inputs(random, x, samples, columns), targets(random, y, samples)
        tables = _common(random, word, rounding, columns, x, y)
        seen = (x_raw, y_raw) if random.random() < 0.5 else ()
        try:
            spec = Spec(model={"name": "random", "algorithm": "kernel_lms"}, online=online, **tables)
            plan = make_plan(spec, *seen)
        except KerncastError:
            continue
        return Case(plan, x_raw, y_raw, inputs(random, x, 3, columns))
    raise AssertionError("a thousand specs were refused")
