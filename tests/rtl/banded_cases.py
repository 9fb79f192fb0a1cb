"""Banded systems, with what the integer model answers, and a solver of them in a simulator."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kerncast.codegen.rtl import SOLVER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.ranged import system_frame
from kerncast.codegen.rtl.solver import worst_cycles
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.backend import in_range
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_POSITIVE_DEFINITE, OK, SATURATED
from kerncast.sim.model.toeplitz.banded import BandedTables, banded
from kerncast.sim.model.toeplitz.candidate import banded_constants, banded_tables, intercept_constants
from kerncast.sim.model.toeplitz.geometric import geometric, geometric_constants, geometric_tables
from kerncast.sim.model.toeplitz.intercept import intercept
from kerncast.sim.model.toeplitz.ranged import band_of, factor_of
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.primitives import Words
from kerncast.sim.spec import Spec

from .conftest import LONG
from .solver_cases import ScriptedCore

#: n, W, sigma, lambda, casts.  A head of pairs and a rest; a table of one row; an exponent that grows often.
CASES: dict[str, tuple[int, int, float, float, dict[str, str]]] = {
    "plain16": (20, 16, 2.0, 0.1, {}), "head32": (60, 32, 3.0, 0.01, {"alpha": "half_even"}),
    "odd24": (13, 24, 1.0, 0.5, {"alpha": "floor"}), "thin16": (5, 16, 0.3, 1.0, {}),
    "grows16": (40, 16, 3.0, 0.001, {"alpha": "half_even"}), "full16": (256, 16, 3.0, 0.1, {}),
    "bias16": (21, 16, 2.0, 0.1, {}), "bias24": (40, 24, 0.7, 5.0, {"y": "floor"}),
    "bias32": (60, 32, 2.0, 0.1, {"y": "half_even"}), "bias_thin16": (4, 16, 0.3, 1.0, {}),
    # Laplacian kernels: a wide one has many rows that differ, a narrow one has only one.
    "geometric16": (20, 16, 20.0, 0.1, {"a": "floor"}), "geometric24": (40, 24, 3.0, 5.0, {"alpha": "floor"}),
    "geometric32": (60, 32, 300.0, 0.01, {"alpha": "half_even"}), "geometric_thin16": (2, 16, 0.05, 1.0, {}),
    "geometric_all16": (3, 16, 9.0, 0.1, {}), "geometric_one24": (9, 24, 0.05, 1.0, {}),
    "geometric_grows16": (40, 16, 30.0, 0.001, {}), "geometric_full16": (256, 16, 50.0, 0.1, {}),
    # The factor is computed for each lambda: a wide range; one row; an exponent that grows often.
    "ranged16": (40, 16, 2.0, 0.1, {"alpha": "half_even"}), "ranged_thin16": (4, 16, 0.3, 1.0, {}),
    "ranged_high16": (21, 16, 1.0, 200.0, {"a": "floor"}), "ranged_grows16": (40, 16, 3.0, 0.001, {}),
    "ranged_full16": (256, 16, 3.0, 0.1, {}), "ranged24": (40, 24, 1.0, 1.0, {})}
#: Ranges of lambda.
RANGES = {"ranged16": (0.01, 2.0), "ranged_thin16": (0.5, 2.0), "ranged_high16": (0.5, 400.0),
          "ranged_grows16": (0.001, 0.01), "ranged_full16": (0.01, 1.0), "ranged24": (0.5, 400.0)}


def case_plan(case: str) -> Plan:
    n, word, sigma, lam, casts = CASES[case]
    options = {"lambda_range": RANGES[case]} if case in RANGES else {}
    kernel = {"type": "laplacian" if case.startswith("geometric") else "gaussian", "sigma": sigma}
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s12f0"},
        kernel=kernel, numbers={"word": word, "casts": casts},
        toeplitz={"n": n, "lam": lam, "scheme": "uniform", "solver": "banded",
                  "bias": case.startswith("bias"), **options}))


def problems(plan: Plan, count: int, seed: int) -> Iterator[Words]:
    """Targets of every size: noise, steps, the end of the range, few that are not zero, none.

    Targets less an intercept use up to half of the range.
    """
    chance, n, top = np.random.default_rng(seed), plan.sizes["n"], 1 << (plan.word - 1 - plan.bias)
    for i in range(count):
        y = chance.integers(-top, top, n) if i % 3 else chance.integers(-3, 4, n)
        if i % 5 == 4:
            y = np.where(np.arange(n) < n // 2, -top, top - 1)
        yield np.asarray(y * (np.arange(n) > n - 3 if i % 7 == 6 else i % 11 != 10), dtype=np.int64)


def lambdas(plan: Plan, count: int, seed: int) -> Iterator[int]:
    """Integer lambdas of the whole range: both ends, their neighbours outside, and others."""
    chance, lo, hi = np.random.default_rng(seed), plan.integer("lambda_lo"), plan.integer("lambda_hi")
    for i in range(count):
        others = int(np.exp(chance.uniform(np.log(lo), np.log(hi))))
        yield [lo, hi, lo - 1, others, hi + 1, others, (1 << 32) - 1, others, 0, others][i % 10]


def ranged_solution(plan: Plan, y: Words, lam: int) -> list[int]:
    """Status, exponent and words of alpha for an integer lambda, as the core must send them."""
    if not in_range(plan, lam):
        return [BAD_ARGUMENT, 0]
    alpha, out, found = np.zeros(len(y), dtype=np.int64), np.zeros(1, dtype=np.int64), factor_of(plan, lam)
    if found.status != OK:
        return [found.status, 0]
    tables = BandedTables(found.factor, found.pivot, band_of(plan))
    status = banded(y, alpha, 0, tables, out, banded_constants(plan), Ranges(plan).log)
    return [status, 0] if status == NOT_POSITIVE_DEFINITE else [status, int(out[0]), *alpha.tolist()]


def solution(plan: Plan, y: Words, **range_of: int) -> list[int]:
    """Status, exponent and words of alpha, as the core must send them."""
    if plan.ranged:
        return ranged_solution(plan, y, plan.integer("lambda_word"))
    alpha, out = np.zeros(len(y), dtype=np.int64), np.zeros(1, dtype=np.int64)
    if plan.geometric:
        geo = geometric_constants(plan)
        geo = geo._replace(banded=geo.banded._replace(**range_of))
        status = geometric(y, alpha, geometric_tables(plan), out, geo, Ranges(plan).log)
        return [status, 0] if status == NOT_POSITIVE_DEFINITE else [status, int(out[0]), *alpha.tolist()]
    constants, log = banded_constants(plan)._replace(**range_of), Ranges(plan).log
    b, limited = intercept(y, 0, np.array(plan.tables["weight"].values), intercept_constants(plan), log) \
        if plan.bias else (0, False)
    status = banded(y - b, alpha, 0, banded_tables(plan), out, constants, log)
    if status == NOT_POSITIVE_DEFINITE:
        return [status, 0]
    return [SATURATED if limited else status, int(out[0]), *([b] if plan.bias else []), *alpha.tolist()]


class BandedCore(ScriptedCore):
    """A banded solver."""

    def solve(self, y: Words) -> None:
        """A frame, to be answered later."""
        self.do("y", system_frame(self.plan, y))
        self.wanted.append(solution(self.plan, y))

    def solve_with(self, lam: int, y: Words) -> None:
        """A frame with an integer lambda, to be answered later."""
        self.do("y", system_frame(self.plan, y, lam))
        self.wanted.append(ranged_solution(self.plan, y, lam))

    def solved(self, y: Words, **range_of: int) -> None:
        """A frame, answered before the next; `range_of` replaces constants of the model."""
        self.do("y", system_frame(self.plan, y))
        self.do("solution")
        self.wanted.append(solution(self.plan, y, **range_of))


def cores(require_simulator: Callable[[str], None],
          tmp_path_factory: Any) -> Callable[[str, str], BandedCore]:
    """Return ``built(case, simulator)``: the core of a case, built once."""
    made: dict[tuple[str, str], BandedCore] = {}

    def built(case: str, simulator: str) -> BandedCore:
        require_simulator(simulator)
        if (case, simulator) not in made:
            plan, folder = case_plan(case), tmp_path_factory.mktemp(case)
            generate_rtl(plan, folder)
            simulation = Simulation(rtl_sources(folder, plan, SOLVER), "t_solver", simulator, folder / "sim",
                                    {}, long=LONG)
            made[case, simulator] = BandedCore(plan, simulation, worst_cycles(plan))
        return made[case, simulator]

    return built
