"""Banded systems, with what the integer model answers, and a solver of them in a simulator."""

from collections.abc import Iterator

import numpy as np

from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.statuses import NOT_POSITIVE_DEFINITE, SATURATED
from kerncast.sim.model.toeplitz.banded import banded
from kerncast.sim.model.toeplitz.candidate import banded_constants, banded_tables, intercept_constants
from kerncast.sim.model.toeplitz.geometric import geometric, geometric_constants, geometric_tables
from kerncast.sim.model.toeplitz.intercept import intercept
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.primitives import Words
from kerncast.sim.spec import Spec

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
    "geometric_grows16": (40, 16, 30.0, 0.001, {}), "geometric_full16": (256, 16, 50.0, 0.1, {})}


def case_plan(case: str) -> Plan:
    n, word, sigma, lam, casts = CASES[case]
    kernel = {"type": "laplacian" if case.startswith("geometric") else "gaussian", "sigma": sigma}
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s12f0"},
        kernel=kernel, numbers={"word": word, "casts": casts},
        toeplitz={"n": n, "lam": lam, "scheme": "uniform", "solver": "banded",
                  "bias": case.startswith("bias")}))


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


def solution(plan: Plan, y: Words, **range_of: int) -> list[int]:
    """Status, exponent and words of alpha, as the core must send them."""
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
        self.do("y", self.beats(y))
        self.wanted.append(solution(self.plan, y))

    def solved(self, y: Words, **range_of: int) -> None:
        """A frame, answered before the next; `range_of` replaces constants of the model."""
        self.do("y", self.beats(y))
        self.do("solution")
        self.wanted.append(solution(self.plan, y, **range_of))
