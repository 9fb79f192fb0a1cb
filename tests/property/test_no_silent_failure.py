"""No silent failure: an answer that is worse than it says carries a status other than OK.

Random Toeplitz systems, half of them indefinite or nearly singular, and random specs of both batch
trainers, whose residuals and solutions are taken in exact arithmetic.  An answer with status OK states a
bound and lies within it.  So does any answer whose matrix is what its scheme promises: positive
semidefinite but for the rounding of its words.  Means of diagonals promise nothing: T + lambda I may be
positive definite where T is not, so no answer to them is OK.
"""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kerncast.sim.backend import STATUSES
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import OK, TRAINED
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.words import WORD_CLASSES
from kerncast.sim.spec import Spec

Words = NDArray[np.int64]
Row = list[float]
WORDS = sorted(WORD_CLASSES)
VARIANTS: tuple[dict[str, object], ...] = (
    {}, {}, {"scaling": "static"}, {"solver": "schur"}, {"solver": "lookahead"},
    {"solver": "lookahead_f32"}, {"refine": 2}, {"bias": True}, {"bias": True, "refine": 2})
#: Systems of each kind that one plan is asked to solve.
ROWS = 2


# ---- first rows ----
def toeplitz(row: Row | NDArray[np.float64]) -> NDArray[np.float64]:
    """The symmetric matrix of a first row."""
    index = np.arange(len(row))
    return np.asarray(row)[abs(index[:, None] - index)]


def positive_row(random: Random, n: int) -> Row:
    """A positive semidefinite first row with r_0 = 1: a kernel, or a mixture of few cosines (singular)."""
    if random.random() < 0.5:
        sigma = 10 ** random.uniform(-0.5, 1.5)
        return [float(np.exp(-(j / sigma) ** 2 / 2)) for j in range(n)]
    waves = [(random.random(), random.uniform(0, np.pi)) for _ in range(random.choice((1, 2, 5)))]
    total = sum(weight for weight, _ in waves)
    return [sum(weight * np.cos(angle * j) for weight, angle in waves) / total for j in range(n)]


def stretched(row: Row, size: int, least: float) -> Row:
    """The row with its entries besides r_0 grown so that the leading block's least eigenvalue is `least`."""
    found = float(np.linalg.eigvalsh(toeplitz(row[:size]))[0])
    grow = (1 - least) / (1 - found) if found < 1 - 1e-9 else 1.0
    return [1.0, *(v * grow for v in row[1:])]


def difficult_row(random: Random, n: int, lam: float) -> Row:
    """Noise, or a kernel pushed out of shape; as it comes, or stretched.

    Then the least eigenvalue, of T or of a leading block, is next to -lambda, or somewhere from -lambda to 0.
    """
    if random.random() < 0.5:
        row = [1.0, *(random.uniform(-1, 1) for _ in range(n - 1))]
    else:
        shape = positive_row(random, n)[1:]
        row = [1.0, *(v + random.gauss(0, 10 ** random.uniform(-4, 0)) for v in shape)]
    next_to = 1 + random.choice((-1, 1)) * 10 ** random.uniform(-9, -2)
    least = random.choice((None, next_to, random.random()))
    return row if least is None else stretched(row, random.choice((n, random.randint(2, n))), -lam * least)


def bordering_row(random: Random, n: int, loss: float) -> Row:
    """A difficult row made positive semidefinite, but for most of what its words' rounding is granted."""
    return stretched(difficult_row(random, n, 1.0), n, -0.8 * loss * random.choice((0, 1, random.random())))


# ---- systems ----
def make(random: Random, scheme: str) -> Plan:
    """A plan of any size, word length, regularisation and solver; refused specs are drawn again."""
    for _ in range(1000):
        try:
            return make_plan(Spec(
                model={"name": "silent", "algorithm": "toeplitz_rls"},
                input={"word": "s12f0"}, output={"word": "s16f15"}, kernel={"sigma": 3.0},
                toeplitz={"n": random.randint(2, 24), "lam": 10 ** random.uniform(-5, 0.5), "scheme": scheme}
                | random.choice(VARIANTS), numbers={"word": random.choice(WORDS)}))
        except KerncastError:
            continue
    raise AssertionError("a thousand specs were refused")


def targets(random: Random, plan: Plan, row: Row) -> Words:
    """Rails and noise, loud or quiet; or the eigenvector that a small residual hides best."""
    fmt = plan.signals["y"].format
    if random.random() < 0.3:
        _, vectors = np.linalg.eigh(toeplitz(row))
        aim = vectors[:, random.choice((0, 0, -1))]
        return np.rint(0.99 * fmt.hi * aim / abs(aim).max()).astype(np.int64)
    loud, ends = random.choice((1.0, 1.0, 1e-3)), (fmt.lo, fmt.hi)
    words = [round(loud * random.choice((*ends, random.randint(*ends)))) for _ in row]
    return np.array(words, dtype=np.int64)


def judge(plan: Plan, system: Any, status: int) -> str:
    """Hold one answer to what it states, and say what kind it was."""
    promised = plan.options.get("scheme") != "diagonal_mean"
    what = f"{plan.options} W={plan.word} n={len(system.y)}: {STATUSES[status]}, {system}"
    if system.bound is None:
        assert status != OK, what
        return "no bound"
    if status == OK:
        assert system.residual <= (system.bound * system.lam) ** 2, what
        assert promised or system.residual == 0, what
    if promised and system.least > 0:
        assert system.eigenvalue >= float(system.least) * (1 - 1e-9), f"{what}: {system.eigenvalue}"
    error = system.error
    assert error is not None and error <= system.bound**2, f"{what}: {error}"
    return "within its bound"


def try_rows(exact: ModuleType, random: Random, scheme: str) -> list[str]:
    """Solve systems of one plan, half of them positive semidefinite and half difficult, and judge each."""
    plan = make(random, scheme)
    model, n, lam = ToeplitzModel(plan), plan.sizes["n"], float(plan.options["lambda"])
    fmt, found = plan.signals["r"].format, []
    model._first_row = lambda x_raw: None  # the row is given
    loss = lam - float(exact.toeplitz_system(model, np.zeros(n, dtype=np.int64)).least)  # lam: no promise
    for turn in range(2 * ROWS):
        if turn % 2 == 0:
            row = positive_row(random, n)
        elif scheme == "diagonal_mean":
            row = difficult_row(random, n, lam)
        else:
            row = bordering_row(random, n, loss)
        model.reset()
        words = np.rint(np.array(row) / (1 + lam) * 2.0**fmt.frac)
        model._r[1:] = np.clip(words, fmt.lo, fmt.hi).astype(np.int64)[1:]
        y = targets(random, plan, row)
        status = int(model._solve(None, y))
        kind = judge(plan, exact.toeplitz_system(model, y), status) if status in TRAINED else "refused"
        found.append(f"{scheme}, rows, {STATUSES[status]}, {kind}")
    return found


def try_spec(exact: ModuleType, case: Any) -> str:
    """Train a whole spec and judge it."""
    plan, model = case.plan, open_model(case.plan)
    status = int(model.train(case.x_raw, case.y_raw)["status"][0])
    kind = "refused"
    if status in TRAINED:
        system = exact.cg_system if plan.algorithm == "kernel_cg" else exact.toeplitz_system
        kind = judge(plan, system(model, model._targets(case.y_raw)), status)
    return f"{plan.options.get('scheme', plan.algorithm)}, spec, {STATUSES[status]}, {kind}"


def systems(exact: ModuleType, cases: ModuleType, seed: int) -> list[str]:
    """Ten Toeplitz systems, and one of conjugate gradients; what kinds of answer there were."""
    random, extent = Random(seed), (24, (-5.0, 0.5))
    word, rounding = random.choice(WORDS), random.choice(cases.ROUNDINGS)
    specs = [cases.toeplitz_case(random, word, rounding, *extent, VARIANTS) for _ in range(2)]
    specs.append(cases.cg_case(random, word, rounding, 12, (-12.0, 12.0)))
    return [*try_rows(exact, random, "diagonal_mean"), *try_rows(exact, random, "diagonal_mean_biased"),
            *(try_spec(exact, case) for case in specs)]


@pytest.mark.parametrize(("solver", "rounding"), [
    ("levinson", "half_up"), ("schur", "half_up"), ("schur", "floor")])
def test_long_rows_keep_their_bound_with_lambda_near_the_rounding_error(
        exact: ModuleType, solver: str, rounding: str) -> None:
    """Means of samples all alike: T has rank one, and the targets point to what its words get wrong."""
    n, met = 300, set()
    for lam in (0.03, 0.06, 0.25):
        plan = make_plan(Spec(
            model={"name": "silent", "algorithm": "toeplitz_rls"}, input={"word": "s16f0"},
            output={"word": "s16f15"}, kernel={"sigma": 3e4}, numbers={"word": 16, "rounding": rounding},
            toeplitz={"n": n, "lam": lam, "scheme": "diagonal_mean_biased", "solver": solver}))
        model, x = ToeplitzModel(plan), np.zeros((n, 1), dtype=np.int64)
        model._first_row(x)
        matrix = toeplitz([1 + lam, *(model._r[1:] * (1 + lam) / 2.0**15)])
        values, vectors = np.linalg.eigh(matrix)
        y_raw = np.rint(32000 * vectors[:, 0] / abs(vectors[:, 0]).max()).astype(np.int64)
        status = int(model.train(x, y_raw)["status"][0])
        system = exact.toeplitz_system(model, model._targets(y_raw))
        assert status in TRAINED and (status != OK or system.bound is not None)
        if system.bound is not None:
            solution = np.linalg.solve(matrix, np.array(system.y) * float(system.y_lsb))
            error = np.linalg.norm(np.array(system.alpha) * float(system.lsb) - solution)
            assert values[0] >= system.least and error <= system.bound
        met.add("no bound" if system.bound is None else "bound")
    assert met == {"no bound", "bound"}


@pytest.mark.parametrize("seed", range(50))
def test_no_answer_is_worse_than_its_bound(exact: ModuleType, cases: ModuleType, seed: int) -> None:
    assert systems(exact, cases, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_no_answer_of_ten_thousand_is_worse_than_its_bound(
        exact: ModuleType, cases: ModuleType, seed: int) -> None:
    assert systems(exact, cases, seed)


def test_half_of_the_rows_are_difficult_and_answers_of_all_kinds_are_met(
        exact: ModuleType, cases: ModuleType) -> None:
    random, lam, difficult, between = Random(7), 1e-3, 0, 0
    for _ in range(200):
        least = float(np.linalg.eigvalsh(toeplitz(difficult_row(random, random.randint(2, 24), lam)))[0])
        difficult += least < lam
        between += -lam < least < 0
    assert difficult > 120 and between > 30
    met = {kind for seed in range(8) for kind in systems(exact, cases, seed)}
    assert met >= {"diagonal_mean, rows, inaccurate, no bound",
                   "diagonal_mean, rows, not_positive_definite, refused",
                   "diagonal_mean_biased, rows, ok, within its bound",
                   "diagonal_mean_biased, rows, inaccurate, within its bound",
                   "diagonal_mean_biased, rows, not_positive_definite, refused",
                   "uniform, spec, ok, within its bound", "kernel_cg, spec, ok, within its bound"}
