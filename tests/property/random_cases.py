"""Random specs with raw data that go to the rails: for every test that compares models.

Chance is a :class:`random.Random`: one with a seed, or Hypothesis's own (``strategies.randoms``), which
shrinks what it drew.  So the first of several things to choose from is the simplest, and what is drawn
now and then is not drawn at 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable
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
from kerncast.sim.spec.keys import CASTS, TABLE_OF, WRAPPABLE
from kerncast.sim.spec.online_rules import MAX_DETERIORATION

Raw = NDArray[np.int64]
ROUNDINGS = ("floor", "half_up", "half_even")
TABLES = ("small", "medium", "large")
SCHEMES = ("uniform", "diagonal_mean", "diagonal_mean_biased")
DISTANCES = ("gaussian", "gaussian", "laplacian", "periodic", "matern32", "matern52")
KERNELS = (*DISTANCES, "polynomial", "linear")
#: Further keys of the table [toeplitz].
VARIANTS: tuple[dict[str, Any], ...] = (
    {}, {}, {"solver": "schur"}, {"solver": "schur"}, {"scaling": "static"}, {"refine": 1}, {"refine": 3},
    {"bias": True}, {"bias": True, "refine": 2}, {"scaling": "static", "refine": 1, "bias": True})


@dataclass(frozen=True)
class Case:
    """A spec with its plan and raw data: one training set or one stream, and inputs to predict.

    `seen` says whether the plan took ranges from the data.
    """

    spec: Spec
    seen: bool
    plan: Plan
    x_raw: Raw | None
    y_raw: Raw
    x_test: Raw

    def __repr__(self) -> str:
        """The spec as the file that one would write, and the data: all that repeats the case."""
        data = {"x_raw": self.x_raw, "y_raw": self.y_raw, "x_test": self.x_test}
        return toml(self.spec) + f"# the plan saw the data: {self.seen}\n" + "".join(
            f"# {name} = {None if words is None else words.tolist()}\n" for name, words in data.items())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The same in Hypothesis's report, which shows a dataclass field by field otherwise."""
        printer.text(f"\n{self!r}")


def toml(spec: Spec) -> str:
    """The text of a spec file, without what it leaves to the defaults."""
    asked = spec.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
    tables = {name: values for name, values in asked.items() if values}
    inner = {f"{name}.{key}": values.pop(key) for name, values in tables.items()
             for key, value in list(values.items()) if isinstance(value, dict)}
    return "".join(f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
                   for name, values in (tables | inner).items())


def now_and_then(random: Random, tenths: int) -> bool:
    """True so many times in ten."""
    return random.randrange(10) >= 10 - tenths


def targets(random: Random, fmt: Format, count: int) -> Raw:
    """Rails, alternating rails, an impulse, silence before noise, one lsb, or noise."""
    quiet = min(max(0, fmt.lo), fmt.hi)
    kinds: dict[str, Callable[[int], int]] = {
        "high": lambda i: fmt.hi, "low": lambda i: fmt.lo, "alternating": lambda i: (fmt.lo, fmt.hi)[i % 2],
        "impulse": lambda i: quiet if i else fmt.hi,
        "lsb": lambda i: quiet if i < count - 1 else min(quiet + 1, fmt.hi),
        "rails": lambda i: random.choice((fmt.lo, fmt.hi)),
        "silence": lambda i: quiet if i < count // 2 else random.randint(fmt.lo, fmt.hi),
        "noise": lambda i: random.randint(fmt.lo, fmt.hi)}
    word = kinds[random.choice(tuple(kinds))]
    return np.array([word(i) for i in range(count)], dtype=np.int64)


def inputs(random: Random, fmt: Format, count: int, columns: int) -> Raw:
    """Rails and noise, or a cloud so dense that duplicates and ties of distance abound."""
    centre = random.randint(fmt.lo, fmt.hi)
    dense = now_and_then(random, 6)

    def word() -> int:
        if dense:
            return min(max(centre + random.randint(-2, 2), fmt.lo), fmt.hi)
        return random.choice((fmt.lo, fmt.hi, random.randint(fmt.lo, fmt.hi)))

    return np.array([[word() for _ in range(columns)] for _ in range(count)], dtype=np.int64)


def _raw_format(random: Random) -> Format:
    bits = random.choice((2, 4, 8, 12, 16, 24, 32))
    return Format(now_and_then(random, 5), bits, random.choice((0, 0, 0, bits, -4)))


def _decades(random: Random, least: float, most: float) -> float:
    """Ten to a power between the two, in three digits: 1 where Hypothesis shrinks it."""
    return float(f"{10 ** (random.randint(round(100 * least), round(100 * most)) / 100):.3g}")


def _kernel(random: Random, width: float, kinds: tuple[str, ...]) -> dict[str, Any]:
    """A kernel whose width, or period, or scale is about `width`."""
    kind = random.choice(kinds)
    if kind == "periodic":
        return {"type": kind, "sigma": _decades(random, -1, 1), "period": width * _decades(random, 0, 1)}
    if kind == "polynomial":
        return {"type": kind, "degree": random.randint(2, 5), "coef0": random.choice((0.0, 0.1, 1.0, 3.0)),
                "gamma": min(max(_decades(random, -1, 1) / width**2, 1e-12), 1e12)}
    return {"type": kind} if kind == "linear" else {"type": kind, "sigma": width}


def _tables(random: Random, algorithm: str, word: int, rounding: str, columns: int, x: Format, y: Format,
            kernels: tuple[str, ...] = DISTANCES) -> dict[str, Any]:
    """The tables of every spec."""
    offsets = [random.choice((min(max(0, x.lo), x.hi), x.lo, x.hi, random.randint(x.lo, x.hi)))
               for _ in range(columns)]
    gains = [_decades(random, -2, 2) for _ in range(columns)] if now_and_then(random, 3) else 1.0
    span = (x.hi - x.lo) * float(x.lsb)
    return {
        "model": {"name": "random", "algorithm": algorithm},
        "input": {"word": str(x), "columns": columns, "offset": offsets, "gain": gains},
        "output": {"word": str(y), "offset": random.choice((min(max(0, y.lo), y.hi), y.lo, y.hi)),
                   "gain": _decades(random, -2, 2) if now_and_then(random, 3) else 1.0},
        "kernel": _kernel(random, max(span * _decades(random, -3, 1), 1e-6), kernels),
        "numbers": {"word": word, "rounding": rounding, "exp_table": random.choice(TABLES),
                    "overflow": random.choice(("saturate", "saturate", "wrap")),
                    "casts": _casts(random, algorithm)},
    }


def _casts(random: Random, algorithm: str) -> dict[str, str]:
    """Now and then a rounding of its own for a cast, and one that wraps where the word may not hold."""
    chosen = {name: random.choice(ROUNDINGS) for name in CASTS[algorithm] if now_and_then(random, 2)}
    for name in WRAPPABLE[algorithm]:
        if now_and_then(random, 2):
            chosen[name] = f"{chosen.get(name, '')} wrap".strip()
    return chosen


def _range(random: Random) -> dict[str, float]:
    """A design range for alpha: what the user believes, right or wrong."""
    return {"alpha": _decades(random, -6, 6)}


def _accepted(draw: Callable[[], Case]) -> Case:
    """A case; specs that are refused are drawn again."""
    for _ in range(1000):
        try:
            return draw()
        except KerncastError:
            continue
    raise AssertionError("a thousand specs were refused")


def toeplitz_case(random: Random, word: int, rounding: str, most: int, lam: tuple[float, float],
                  variants: tuple[dict[str, Any], ...] = VARIANTS) -> Case:
    """A Toeplitz plan with up to `most` samples and lambda in 10**lam.

    `variants` are more keys of the table [toeplitz], one of which is taken.
    """
    def draw() -> Case:
        scheme, n = random.choice(SCHEMES), random.randint(2, most)
        uniform = scheme == "uniform"
        columns = 1 if uniform else random.choice((1, 2, 3))
        x, y = _raw_format(random), _raw_format(random)
        tables = _tables(random, "toeplitz_rls", word, rounding, columns, x, y)
        toeplitz = {"n": n, "lam": _decades(random, *lam), "scheme": scheme,
                    "tolerance": random.choice((0.5, 1e-3, 16.0)), **random.choice(variants)}
        if uniform:
            tables["kernel"] = _kernel(random, _decades(random, -0.5, 1.5) * float(x.lsb), DISTANCES)
            tables["input"] |= {"gain": 1.0}
        if toeplitz.get("scaling") == "static" and now_and_then(random, 5):
            tables["numbers"] |= {"ranges": _range(random)}
        spec = Spec(toeplitz=toeplitz, **tables)
        x_raw, y_raw = None if uniform else inputs(random, x, n, columns), targets(random, y, n)
        seen = now_and_then(random, 5)
        plan = make_plan(spec, x_raw, y_raw) if seen else make_plan(spec)
        return Case(spec, seen, plan, x_raw, y_raw, inputs(random, x, 3, columns))

    return _accepted(draw)


def cg_case(random: Random, word: int, rounding: str, most: int, lam: tuple[float, float]) -> Case:
    """A plan of conjugate gradients with up to `most` samples; few steps, or more than any needs."""
    def draw() -> Case:
        n, columns = random.randint(2, most), random.choice((1, 2, 3))
        x, y = _raw_format(random), _raw_format(random)
        cg = {"n": n, "lam": _decades(random, *lam), "steps": random.choice((1, 3, 8, 40)),
              "tolerance": random.choice((0.5, 1e-3, 16.0))}
        spec = Spec(cg=cg, **_tables(random, "kernel_cg", word, rounding, columns, x, y, KERNELS))
        plan = make_plan(spec)
        return Case(spec, False, plan, inputs(random, x, n, columns), targets(random, y, n),
                    inputs(random, x, 3, columns))

    return _accepted(draw)


def _reduction(random: Random, several: bool) -> dict[str, Any]:
    """Any projection, metric, truncation and strategy of the online learner, as the keys that choose them.

    A learner with several outputs has fewer.
    """
    projection = random.choice(("fklms", "fklms", "none"))
    metric = random.choice(("fklms", "fklms", "magnitude", "age",
                            *(() if several else ("fmklms", "fast_klms", "fast_mklms"))))
    chosen: dict[str, Any] = {"projection": projection, "metric": metric}
    if now_and_then(random, 3):
        chosen["quantise"] = random.choice((0.01, 0.3, 0.8, 0.999))
    if now_and_then(random, 3):
        rls = {"linear": "rls", "linear_forgetting": random.choice((0.5, 0.9, 0.999)),
               "linear_ridge": _decades(random, -6, 4)}
        nlms = {"linear": "nlms", "linear_step": random.choice((0.1, 1e-4, 1.0, 1.99))}
        chosen |= {**(nlms if now_and_then(random, 4) else rls), "joint": now_and_then(random, 2),
                   "gate": now_and_then(random, 2)}
        if now_and_then(random, 2) and not several:
            chosen["last_errors"] = random.choice((2, 3, 16))
    if now_and_then(random, 2):
        chosen["truncation"] = random.choice((0.0, 1e-3, 1.0)) * _decades(random, -2, 2)
    if now_and_then(random, 2):
        chosen["max_age"] = random.choice((1, 3, 10, 2**31 - 1))
    if metric != "age" and now_and_then(random, 4):
        least, below = MAX_DETERIORATION[metric]
        limit = -_decades(random, -2, 1) if least < 0 and now_and_then(random, 7) else _decades(random, -6, 1)
        chosen |= {"max_deterioration": min(limit, 0.999) if below == 1 else limit,
                   "newest_only": now_and_then(random, 5) and not several}
    if metric in ("fklms", "fmklms") and not {"truncation", "max_age", "max_deterioration"} & set(chosen):
        chosen["bounded_update"] = now_and_then(random, 2)
    return chosen


def _several(random: Random, output: dict[str, Any], y: Format, samples: int) -> tuple[dict[str, Any], Raw]:
    """A table [output] of two or three outputs or classes, with their targets or labels."""
    count = random.choice((2, 3))
    if now_and_then(random, 5):
        labels = [random.randrange(count + 1) for _ in range(samples)]
        return {"classes": ["low", "high", "none", "other"][:count + 1]}, np.array(labels, dtype=np.int64)
    return output | {"outputs": count}, np.stack([targets(random, y, samples) for _ in range(count)], axis=1)


def online_case(random: Random, word: int, rounding: str, samples: int) -> Case:
    """An online plan with a budget of 2 to 8 and a stream; alpha's format by data, by choice or by design."""
    def draw() -> Case:
        columns, several = random.choice((1, 1, 2, 3)), now_and_then(random, 3)
        x, y = _raw_format(random), _raw_format(random)
        online = {"budget": random.randint(2, 8), "eta": random.choice((1e-6, 0.01, 0.1, 0.3, 1.0, 1.9)),
                  "rho": random.choice((0.0, 0.0, 1e-9, 0.01, 0.25)), **_reduction(random, several)}
        tables = _tables(random, "kernel_lms", word, rounding, columns, x, y)
        alpha = Format(True, word, random.randint(word - 8, word + 2))
        chosen = {}, {}, {"ranges": _range(random)}, {"formats": {"alpha": str(alpha)}}
        tables["numbers"] |= random.choice(chosen)
        x_raw, y_raw = inputs(random, x, samples, columns), targets(random, y, samples)
        if several:
            tables["output"], y_raw = _several(random, tables["output"], y, samples)
        spec = Spec(online=online, **tables)
        seen = now_and_then(random, 5)
        plan = make_plan(spec, x_raw, y_raw) if seen else make_plan(spec)
        return Case(spec, seen, plan, x_raw, y_raw, inputs(random, x, 3, columns))

    return _accepted(draw)


def rls_case(random: Random, word: int, rounding: str, samples: int) -> Case:
    """A plan of online kernel RLS with up to 12 cosines, and samples to learn."""
    def draw() -> Case:
        columns = random.choice((1, 2, 3))
        x, y = _raw_format(random), _raw_format(random)
        rls = {"features": random.randint(2, 12), "forgetting": random.choice((0.6, 0.9, 0.999, 0.99999)),
               "ridge": _decades(random, -9, 1), "linear": now_and_then(random, 5),
               "steps": random.choice((1, 4, 16, 70)), "seed": random.randrange(100)}
        if now_and_then(random, 2):
            rls |= {"novelty": _decades(random, -3, 2), "novelty_steps": random.choice((1, 16, 99)),
                    "drift_samples": random.choice((1, 3, 65535))}
        spec = Spec(rls=rls, **_tables(random, "online_kernel_rls", word, rounding, columns, x, y,
                                       ("gaussian",)))
        plan = make_plan(spec)
        return Case(spec, False, plan, inputs(random, x, samples, columns), targets(random, y, samples),
                    inputs(random, x, 3, columns))

    return _accepted(draw)


def any_case(random: Random, most: int, lam: tuple[float, float],
             variants: tuple[dict[str, Any], ...] = VARIANTS) -> Case:
    """A case of any algorithm, word length and rounding, with up to `most` samples."""
    word, rounding = random.choice((16, 24, 32)), random.choice(ROUNDINGS)
    algorithm = random.choice(tuple(TABLE_OF))
    if algorithm == "kernel_lms":
        return online_case(random, word, rounding, most)
    if algorithm == "online_kernel_rls":
        return rls_case(random, word, rounding, most)
    if algorithm == "kernel_cg":
        return cg_case(random, word, rounding, most, lam)
    return toeplitz_case(random, word, rounding, most, lam, variants)


def indefinite_system(random: Random, most: int) -> tuple[Raw, Raw]:
    """First row and right-hand side in words of 32 bits, r[0] not met; leading blocks of T may be singular.

    Noise, few values, nearly singular from the second row on, or a third minor that is 0.
    """
    n, full, kind = random.randint(2, most), 2**31 - 1, random.randrange(4)
    few = ((0, 0, 2**30, -(2**30), full, -full), (full, -full, full - 1, random.randint(-9, 9)))
    r = [random.choice(few[kind]) if kind < 2 else random.randint(-full, full) for _ in range(n)]
    if kind == 3:
        r = [2**31 >> t if t != 2 else -(2**30) for t in range(n)]
    y = [random.choice((0, full, -full - 1, random.randint(-full, full))) for _ in range(n)]
    return np.array([0, *r[1:]], dtype=np.int64), np.array(y, dtype=np.int64)
