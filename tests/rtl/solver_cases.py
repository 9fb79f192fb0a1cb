"""Systems for the solver's core, such as train and such as cannot, and what the model makes of them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kerncast.codegen.rtl.solver import SOLVER, first_row, read_lags, solver_cycles
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.model.kernel import cast_of
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.statuses import INACCURATE, NOT_POSITIVE_DEFINITE, OK
from kerncast.sim.model.toeplitz.corrections import refine_arrays, refine_constants, solver_constants
from kerncast.sim.model.toeplitz.levinson import levinson
from kerncast.sim.model.toeplitz.refine import refine
from kerncast.sim.model.toeplitz.trainer import SCALARS
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.primitives import Words, requantise
from kerncast.sim.spec import Spec

from .conftest import LONG

#: n, W, lambda, rounding, scaling, lanes, sigma: each word, both scalings, all roundings, one lane and more.
#: Rows of a short sigma are zero from the fifth word or so on, which the passes leave out.
CASES = {"half_up16": (13, 16, 0.1, "half_up", "block", 1, 3.0),
         "even24": (6, 24, 0.5, "half_even", "static", 2, 3.0),
         "floor32": (11, 32, 0.01, "floor", "block", 4, 3.0),
         "full16": (256, 16, 0.1, "half_up", "block", 1, 3.0),
         "short16": (27, 16, 0.1, "half_up", "block", 1, 0.8),
         "short24": (22, 24, 0.5, "half_even", "block", 2, 0.6),
         "short32": (26, 32, 0.1, "half_up", "block", 4, 0.8),
         "bias16": (13, 16, 0.1, "half_up", "block", 1, 3.0),
         "bias24": (6, 24, 0.5, "half_even", "static", 2, 3.0),
         "bias32": (11, 32, 0.01, "floor", "block", 4, 0.8)}
#: Operations of the testbench that give something back.
_ANSWERED = ("solution", "errors", "spans", "written", "waiting", "noted")


def choices(case: str) -> set[Hashable]:
    """What differs between the cores of two cases."""
    n, word, _, rounding, scaling, lanes, sigma = CASES[case]
    return {(word, case.startswith("bias")), rounding, scaling, ("lanes", lanes), (n > 20, sigma < 1)}


def case_plan(case: str) -> Plan:
    n, word, lam, rounding, scaling, _, sigma = CASES[case]
    bias = case.startswith("bias")
    ranges = {"alpha": 1.0 if bias else 0.2} if scaling == "static" else {}
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s12f0"},
        kernel={"sigma": sigma},
        numbers={"word": word, "rounding": rounding, "ranges": ranges},
        toeplitz={"n": n, "lam": lam, "scheme": "uniform", "scaling": scaling, "bias": bias}))


def problems(plan: Plan, count: int, seed: int) -> Iterator[tuple[Words, Words]]:
    """First rows of the plan, decaying, weak, and arbitrary, seldom positive definite; with targets."""
    chance, n, top = np.random.default_rng(seed), plan.sizes["n"], 1 << (plan.word - 1)
    for i in range(count):
        r = [first_row(plan), np.floor((top - 1) * chance.random() * chance.random() ** np.arange(n)),
             chance.integers(0, top // chance.integers(2, 2 * n), n), chance.integers(0, top, n)][i % 4]
        y = chance.integers(-top, top, n) if i % 3 else chance.integers(-3, 4, n)
        yield np.where(np.arange(n) > read_lags(plan), 0, r).astype(np.int64), y * (i % 7 != 6)


def recursion(plan: Plan, r: Words, y: Words, steps: int) -> tuple[int, Words, Words, int]:
    """The model's first steps: status, a, x and its exponent."""
    a, x, out = np.zeros(steps, np.int64), np.zeros((1, steps), np.int64), np.zeros(5 + steps, np.int64)
    status = levinson(y[None, :steps].astype(np.int64), r[:steps].copy(), a, x, out, solver_constants(plan),
                      Ranges(plan).log)
    return status, a, x[0], int(out[2])


def bordered(plan: Plan, r: Words, y: Words) -> list[int]:
    """Status, exponent, intercept and words of alpha. The host certifies: no solution is inaccurate."""
    arrays, out = refine_arrays(plan), np.zeros(len(SCALARS), dtype=np.int64)
    alpha, a = (np.zeros(plan.sizes["n"], dtype=np.int64) for _ in range(2))
    arrays.r[:] = r
    status = refine(y.astype(np.int64), alpha, a, arrays, out, refine_constants(plan), Ranges(plan).log)
    if status == NOT_POSITIVE_DEFINITE:
        return [status, 0]
    found = dict(zip(SCALARS, out.tolist(), strict=True))
    return [OK if status == INACCURATE else status, found["alpha_exp"], found["bias"], *alpha.tolist()]


def solution(plan: Plan, r: Words, y: Words) -> list[int]:
    """Status, exponent and words of alpha, as the core must send them."""
    if plan.bias:
        return bordered(plan, r, y)
    status, _, x, exponent = recursion(plan, r, y, plan.sizes["n"])
    if status == NOT_POSITIVE_DEFINITE:
        return [status, 0]
    c, rho = cast_of(plan, "alpha"), plan.integer("alpha_scale")
    return [status, exponent, *(requantise(int(v) * rho, 31, c.rounding, c.lo, c.hi) for v in x)]


@dataclass
class ScriptedCore:
    """A solver in a simulator, and the script that is being written for it.

    A solution takes at most `clocks`.
    """

    plan: Plan
    simulation: Simulation
    clocks: int
    script: list[tuple[object, ...]] = field(default_factory=list)
    wanted: list[list[int]] = field(default_factory=list)

    def do(self, *operation: object) -> None:
        self.script.append(operation)

    def beats(self, words: Words) -> list[int]:
        return [int(word) & ((1 << self.plan.word) - 1) for word in words]

    def run(self) -> tuple[int, int, list[Any]]:
        """Words compared, words that differ, and what else the script gave back."""
        kinds = [name for name, *_ in self.script if name in _ANSWERED]
        limit = 12 * (self.clocks + 100) * (len(self.wanted) + 2)
        found, sign = self.simulation.run(self.script, limit), 1 << (self.plan.word - 1)
        assert len(found) == len(kinds)
        answers = [[a[0], *((word ^ sign) - sign for word in a[1:])]
                   for a, kind in zip(found, kinds, strict=True) if kind == "solution"]
        rest = [value for value, kind in zip(found, kinds, strict=True) if kind != "solution"]
        assert [len(a) for a in answers] == [len(w) for w in self.wanted]
        pairs = [pair for got, want in zip(answers, self.wanted, strict=True)
                 for pair in zip(got, want, strict=True)]
        self.script, self.wanted = [], []
        return len(pairs), sum(got != want for got, want in pairs), rest


@dataclass
class SolverCore(ScriptedCore):
    """A solver by Levinson's recursion."""

    lanes: int = 1

    def solve(self, r: Words, y: Words) -> None:
        """Both frames, to be answered later."""
        self.do("r", self.beats(r))
        self.do("y", self.beats(y))
        self.wanted.append(solution(self.plan, r, y))

    def solved(self, r: Words, y: Words) -> None:
        """Both frames, answered before the next: a source that waits costs time at every clock."""
        self.solve(r, y)
        self.do("solution")


def build(case: str, simulator: str, folder: Path) -> SolverCore:
    """The solver of a case."""
    plan = case_plan(case)
    for name, text in SOLVER.render(plan).items():
        (folder / name).write_text(text)
    listed = (folder / f"{plan.name}_solver.f").read_text().splitlines()[1:]
    lanes = CASES[case][5]
    simulation = Simulation([folder / line for line in listed], f"{plan.name}_solver", simulator,
                            folder / "sim", {"LANES": lanes}, long=LONG)
    return SolverCore(plan, simulation, solver_cycles(plan), lanes=lanes)
