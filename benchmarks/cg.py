"""Compare conjugate gradients with the Toeplitz trainer on real multivariate data.

    python -m kerncast.benchmarks.cg [--lambda 0.1] [--json]

A table is printed for each data set. It contains the relative errors of alpha and of the predictions for
held-out samples, for each number of steps, for the integer model at 16, 24 and 32 bits and for float64. The
errors are relative to the direct solution of ``(K + lambda I) alpha = y`` in float64. The table also contains
the Toeplitz trainer, which replaces K by the mean of each diagonal, and the cost of both methods.

The data sets are included in scikit-learn (BSD-3): handwritten digits 3 and 8, breast cancer, diabetes, and
wine. The kernel width sigma corresponds to ``gamma="scale"`` in scikit-learn.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from kerncast.sim._arrays import Array
from kerncast.sim.backend import STATUSES, Outputs
from kerncast.sim.diagnostics.simulate import alpha_values, relative_error, y_values
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.reference.solvers.cg import kernel_cg
from kerncast.sim.reference.solvers.elimination import elimination
from kerncast.sim.reference.systems.system import KernelSystem
from kerncast.sim.spec import Spec

Row = dict[str, Any]

STEPS = (1, 2, 4, 8, 16, 32, 50)  # 32 is the default of a spec
WORDS = (16, 24, 32)
SCHEMES = ("diagonal_mean", "diagonal_mean_biased")
X_BITS, Y_FULL = 10, 2000
WORK = ("kernel_values", "multiplications")


@dataclass(frozen=True)
class Problem:
    """Data set in ADC counts, with samples for training and held-out samples."""

    name: str
    x: NDArray[np.int64]
    y: NDArray[np.int64]
    x_test: NDArray[np.int64]

    @property
    def sigma(self) -> float:
        """Return the kernel width in counts for scikit-learn's ``gamma = 1 / (D var(x))``."""
        return float(np.sqrt(self.x.shape[1] * self.x.var() / 2))


def _raw(name: str, X: Array, y: Array, train: int) -> Problem:
    """Convert a data set to ADC counts.

    The columns are scaled to 10 bits, the targets are centred, and the samples are shuffled with a fixed
    seed.
    """
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order] - y.mean()
    low, high = X.min(axis=0), X.max(axis=0)
    words = np.rint((X - low) / np.where(high > low, high - low, 1) * (2**X_BITS - 1)).astype(np.int64)
    targets = np.rint(y / np.abs(y).max() * Y_FULL).astype(np.int64)
    return Problem(name, words[:train], targets[:train], words[train:])


def problems() -> Iterator[Problem]:
    """Yield the data sets."""
    X, label = datasets.load_digits(return_X_y=True)
    chosen = np.isin(label, (3, 8))
    yield _raw("digits 3 / 8", X[chosen], np.where(label[chosen] == 8, 1.0, -1.0), 250)
    X, label = datasets.load_breast_cancer(return_X_y=True)
    yield _raw("breast cancer", X, np.where(label == 1, 1.0, -1.0), 400)
    X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    yield _raw("diabetes", X, y, 350)
    X, label = datasets.load_wine(return_X_y=True)
    yield _raw("wine", X, label.astype(np.float64), 130)


def plan_of(problem: Problem, word: int, algorithm: str, table: dict[str, Any]) -> Plan:
    """Return the plan of a data set for one algorithm."""
    return make_plan(Spec(
        model={"name": "probe", "algorithm": algorithm}, kernel={"sigma": problem.sigma},
        input={"word": f"u{X_BITS}f0", "columns": problem.x.shape[1]}, output={"word": "s12f0"},
        numbers={"word": word}, **{"cg" if algorithm == "kernel_cg" else "toeplitz": table}))


class Judge:
    """Comparison of solutions with the direct solution of a system in float64."""

    def __init__(self, problem: Problem, lam: float) -> None:
        self.problem, self.lam = problem, lam
        plan = plan_of(problem, 32, "kernel_cg", {"n": len(problem.y), "lam": lam})
        self.reference = FloatReference(plan)
        self._x, self._y = self.reference.inputs(problem.x), self.reference.targets(problem.y)
        self._K = self.reference.kernel(self.reference.inputs(problem.x_test), self._x)
        self.alpha = elimination(KernelSystem(self.reference.kernel, self._x, lam), self._y).x
        self.f = self._K @ self.alpha

    def row(self, method: str, steps: int | None, word: int | str, alpha: Array, f: Array, status: str,
            plan: Plan | None = None, state: Outputs | None = None) -> Row:
        """Return one row of the table."""
        work = {} if plan is None else {what: plan.operations["train"][what].count for what in WORK}
        bound = None
        if plan is not None and state is not None and int(state["bound"][0]) < plan.integer("no_bound"):
            lsb = alpha_values(plan, state | {"alpha": np.ones(1)})[0]
            bound = int(state["bound"][0]) * float(lsb) / float(np.linalg.norm(self.alpha))
        return {"data": self.problem.name, "method": method, "steps": steps, "word": word,
                "alpha_error": relative_error(alpha, self.alpha), "f_error": relative_error(f, self.f),
                "bound": bound, "status": status, **work}

    def float_steps(self, steps: int) -> Row:
        """Return the row of conjugate gradients in float64."""
        solution = kernel_cg(self.reference.kernel, self._x, self._y, self.lam, steps)
        return self.row("cg", steps, "float64", solution.x, self._K @ solution.x, str(solution.status))

    def float_toeplitz(self, scheme: str) -> Row:
        """Return the row of the Toeplitz trainer in float64."""
        plan = plan_of(self.problem, 32, "toeplitz_rls",
                       {"n": len(self.alpha), "lam": self.lam, "scheme": scheme})
        solution = FloatReference(plan).train(self.problem.x, self.problem.y)
        return self.row(scheme, None, "float64", solution.x, self._K @ solution.x, str(solution.status))

    def integers(self, plan: Plan, method: str, steps: int | None) -> Row:
        """Return the row of an integer model."""
        model = open_model(plan)
        status = STATUSES[int(model.train(self.problem.x, self.problem.y)["status"][0])]
        state = model.state()
        f = y_values(plan, model.predict(self.problem.x_test)["f"])
        return self.row(method, steps, plan.word, alpha_values(plan, state), f, status, plan, state)


def rows(problem: Problem, lam: float) -> Iterator[Row]:
    """Yield all rows of a data set."""
    judge, n = Judge(problem, lam), len(problem.y)
    for scheme in SCHEMES:
        yield judge.float_toeplitz(scheme)
        for word in WORDS:
            plan = plan_of(problem, word, "toeplitz_rls", {"n": n, "lam": lam, "scheme": scheme})
            yield judge.integers(plan, scheme, None)
    for steps in STEPS:
        yield judge.float_steps(steps)
        for word in WORDS:
            plan = plan_of(problem, word, "kernel_cg", {"n": n, "lam": lam, "steps": steps})
            yield judge.integers(plan, "cg", steps)


def table(found: list[Row]) -> str:
    """Return a Markdown table with a row for each method and number of steps."""
    words: list[int | str] = ["float64", *WORDS]
    heads = ["data", "method", *(f"alpha {w}" for w in words), *(f"f {w}" for w in words), "bound 16",
             "status 16", *(what.replace("_", " ") for what in WORK)]
    lines = [heads, ["---"] * 2 + ["--:"] * (len(heads) - 2)]
    lots: dict[tuple[str, str, int | None], dict[int | str, Row]] = {}
    for row in found:
        lots.setdefault((row["data"], row["method"], row["steps"]), {})[row["word"]] = row
    for (data, method, steps), by_word in lots.items():
        bound = by_word[16]["bound"]
        name = method if steps is None else f"cg, {steps} step{'s' if steps > 1 else ''}"
        lines.append([data, name, *(_error(by_word[w], "alpha_error") for w in words),
                      *(_error(by_word[w], "f_error") for w in words),
                      "none" if bound is None else f"{bound:.1e}", by_word[16]["status"].replace("_", " "),
                      *(f"{by_word[16][what]:,}" for what in WORK)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


HEAD = """# Conjugate gradients compared with the Toeplitz trainer

`python -m kerncast.benchmarks.cg` writes this page. The table lists relative errors of the coefficients
alpha, and of the predictions f on held-out samples, for lambda = {:g}. The reference is the solution in
float64 with the exact kernel matrix. The columns `float64` are for the same method in float64. The other
columns are for 16, 24 and 32 bits. `bound 16` is the certified bound divided by |alpha|.

The error of conjugate gradients (`cg`) decreases with the number of steps. After 50 steps, the status is ok
at each word length. The Toeplitz methods are named after their scheme. On multivariate data, they solve a
different system, so their error remains near 100 % at every word length.

"""


def _error(row: Row, what: str) -> str:
    return "refused" if row["status"] == "not_positive_definite" else f"{row[what]:.1e}"


def main() -> None:
    """Run all measurements, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lambda", dest="lam", type=float, default=0.1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = [row for problem in problems() for row in rows(problem, chosen.lam)]
    print(json.dumps({"lambda": chosen.lam, "rows": found}) if chosen.json
          else HEAD.format(chosen.lam) + table(found))


if __name__ == "__main__":
    main()
