"""No silent failure: an answer that is worse than it says carries a status other than OK.

Random Toeplitz systems, half of them indefinite or nearly singular.  The residual of the words is taken
exactly, in integers and fractions; a stated bound holds for it, and where T is positive semidefinite also
for the distance to the solution.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from kerncast.sim.backend import STATUSES
from kerncast.sim.errors import KerncastError
from kerncast.sim.model.statuses import OK, TRAINED
from kerncast.sim.model.toeplitz import SCALARS, ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.inputs import WORD_CLASSES
from kerncast.sim.spec import Spec

Words = NDArray[np.int64]
WORDS = sorted(WORD_CLASSES)
VARIANTS: tuple[dict[str, object], ...] = (
    {}, {}, {"scaling": "static"}, {"solver": "schur"}, {"solver": "lookahead"},
    {"solver": "lookahead_f32"}, {"refine": 2})
#: Systems that one plan is asked to solve.
ROWS = 8


def positive_row(random: Random, n: int) -> list[float]:
    """A positive semidefinite first row with r_0 = 1: a kernel, or a mixture of few cosines (singular)."""
    if random.random() < 0.5:
        sigma = 10 ** random.uniform(-0.5, 1.5)
        return [float(np.exp(-(j / sigma) ** 2 / 2)) for j in range(n)]
    waves = [(random.random(), random.uniform(0, np.pi)) for _ in range(random.choice((1, 2, 5)))]
    total = sum(weight for weight, _ in waves)
    return [sum(weight * np.cos(angle * j) for weight, angle in waves) / total for j in range(n)]


def difficult_row(random: Random, n: int, lam: float) -> list[float]:
    """Noise, a kernel pushed out of shape, or a row whose leading block has an eigenvalue next to -lambda."""
    kind = random.randrange(3)
    if kind == 0:
        return [1.0, *(random.uniform(-1, 1) for _ in range(n - 1))]
    row = [1.0, *(v + random.gauss(0, 10 ** random.uniform(-4, 0)) for v in positive_row(random, n)[1:])]
    if kind == 2:
        size = random.randint(2, n)
        least = float(np.linalg.eigvalsh(toeplitz(row[:size]))[0])
        if least < 1 - 1e-9:  # T - (least + lambda) (T - I): its least eigenvalue is about -lambda
            grow = (1 + lam) / (1 - least) * (1 + random.choice((-1, 1)) * 10 ** random.uniform(-9, -2))
            row = [1.0, *(v * grow for v in row[1:])]
    return [min(max(v, -1.0), 1.0) for v in row]


def toeplitz(row: list[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The symmetric matrix of a first row."""
    index = np.arange(len(row))
    return np.asarray(row)[abs(index[:, None] - index)]


def make(random: Random, scheme: str) -> Plan:
    """A plan of any size, word length, regularisation and solver; refused specs are drawn again."""
    for _ in range(1000):
        columns = 1 if scheme == "uniform" else random.choice((1, 2))
        try:
            return make_plan(Spec(
                model={"name": "silent", "algorithm": "toeplitz_rls"},
                input={"word": "s12f0", "columns": columns}, output={"word": "s16f15"},
                kernel={"sigma": 3.0 if scheme == "uniform" else 10 ** random.uniform(1, 4)},
                toeplitz={"n": random.randint(2, 24), "lam": 10 ** random.uniform(-5, 0.5), "scheme": scheme}
                | random.choice(VARIANTS), numbers={"word": random.choice(WORDS)}))
        except KerncastError:
            continue
    raise AssertionError("a thousand specs were refused")


def exact_root_above(square: Fraction) -> Fraction:
    """A number not below the square root, by less than 2**-60 of it."""
    scale = 4 ** max(0, 64 + square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(isqrt(square.numerator * scale // square.denominator + 1) + 1, isqrt(scale))


def judge(model: ToeplitzModel, y: Words, status: int) -> None:
    """Hold one answer to what it states."""
    plan, scalars = model.plan, dict(zip(SCALARS, (int(v) for v in model._scalars), strict=True))
    if status not in TRAINED:
        return
    lam, word_r = Fraction(float(plan.options["lambda"])), plan.signals["r"].format
    lsb = Fraction(2) ** (scalars["alpha_exp"] - plan.signals["alpha"].format.frac)
    r = [1 + lam, *((1 + lam) * Fraction(int(v), 2**word_r.frac) for v in model._r[1:])]
    alpha = [int(v) for v in model._alpha]
    targets = [Fraction(int(v), 2 ** plan.signals["y"].format.frac) for v in y]
    residual = [t - lsb * sum(r[abs(i - j)] * a for j, a in enumerate(alpha)) for i, t in enumerate(targets)]
    size = sum((v * v for v in residual), Fraction(0))
    bound = scalars["bound"] * lsb
    stated = scalars["bound"] != plan.integer("no_bound")
    what = f"{plan.options} W={plan.word} n={len(y)}: {STATUSES[status]}, bound {float(bound)}"
    if not stated:
        assert status != OK, what
        return
    if size > (bound * lam) ** 2:
        assert status != OK, f"{what}: the residual is {float(size) ** 0.5 / float(lam)} lambda"
    matrix = toeplitz([float(v) for v in r])
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= float(lam) * (1 + 1e-9):  # T itself is positive semidefinite
        error = np.linalg.norm((vectors.T @ np.array([float(v) for v in residual])) / values)
        assert error <= float(bound) * (1 + 1e-9) + 1e-300, f"{what}, but the error is {error}"


def try_systems(random: Random, rows: int) -> list[int]:
    """Solve `rows` systems of one plan, and judge each; the statuses."""
    plan = make(random, "uniform")
    model, n = ToeplitzModel(plan), plan.sizes["n"]
    y_format, r_format = plan.signals["y"].format, plan.signals["r"].format
    lam, met = float(plan.options["lambda"]), []
    for turn in range(rows):
        row = difficult_row(random, n, lam) if turn % 2 else positive_row(random, n)
        words = np.rint(np.array(row) / (1 + lam) * 2.0**r_format.frac)
        model.reset()
        model._r[1:] = np.clip(words, r_format.lo, r_format.hi).astype(np.int64)[1:]
        loud = random.choice((1.0, 1.0, 1e-3))
        ends = y_format.lo, y_format.hi
        y = np.array([round(loud * random.choice((*ends, random.randint(*ends)))) for _ in range(n)],
                     dtype=np.int64)
        met.append(int(model._solve(y)))
        judge(model, y, met[-1])
    return met


def try_spec(random: Random) -> int:
    """Train a whole spec, whose mean diagonals may be of any kind, and judge it; the status."""
    plan = make(random, "diagonal_mean")
    model, n, columns = ToeplitzModel(plan), plan.sizes["n"], plan.sizes["D"]
    spread = random.choice((2, 50, 2047))
    x = np.array([[random.randint(-spread, spread) for _ in range(columns)] for _ in range(n)])
    y_raw = np.array([random.choice((-32768, 32767, random.randint(-32768, 32767))) for _ in range(n)],
                     dtype=np.int64)
    status = int(model.train(x, y_raw)["status"][0])
    judge(model, model._targets(y_raw), status)
    return status


def systems(random: Random) -> set[str]:
    """ROWS systems of one plan, and two whole specs; the statuses met."""
    return {STATUSES[status] for status in [*try_systems(random, ROWS), try_spec(random), try_spec(random)]}


@pytest.mark.parametrize("seed", range(50))
def test_no_answer_is_worse_than_it_says(seed: int) -> None:
    assert systems(Random(seed))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_no_answer_of_ten_thousand_is_worse_than_it_says(seed: int) -> None:
    assert systems(Random(seed))


def test_half_of_the_rows_are_difficult_and_statuses_of_all_kinds_are_met() -> None:
    random, difficult = Random(7), 0
    for _ in range(200):
        row = difficult_row(random, random.randint(2, 24), 1e-3)
        difficult += float(np.linalg.eigvalsh(toeplitz(row))[0]) < 1e-3
    assert difficult > 120
    met = set().union(*(systems(Random(seed)) for seed in range(8)))
    assert met >= {"ok", "not_positive_definite", "inaccurate"}
