"""The Toeplitz solvers side by side: Levinson and the Schur form in integers, look-ahead in float32.

    python benchmarks/solvers.py [--n 64 512] [--json]

First table: the relative error of alpha against float64 for Gaussian first rows on a uniform grid, the
median of four right-hand sides, with the bytes of the model; beside it what rounding r and y to words
costs alone, which no solver can undo.  Second table: systems whose leading blocks are singular or
indefinite: the error of look-ahead in float64, in float32 (the model that the generated C equals), and in
32-bit words with block exponents, emulated: float64 in which every vector is rounded to 31 bits below its
largest entry and every scalar to 31 bits, after each step.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kerncast.sim.backend import STATUSES
from kerncast.sim.model import open_model
from kerncast.sim.model.lookahead_f32 import BLOCK, GOOD, NEAR_BEST, SINGULAR, Lookahead
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.lookahead import lookahead
from kerncast.sim.simulate import relative_error
from kerncast.sim.spec import Spec

Array = NDArray[np.float64]
Row = dict[str, Any]

WORDS = (16, 24, 32)
SIGMAS, LAMBDAS = (1.0, 3.0, 10.0), (1.0, 0.1, 0.01, 0.001)
SEEDS = range(4)
FULL = 32767


# ---- positive definite: Levinson and Schur in integers ----
def targets(n: int, seed: int) -> NDArray[np.int64]:
    """Raw words s16f0: a walk, or noise."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return rng.integers(-FULL, FULL, n, endpoint=True)
    walk = np.cumsum(rng.normal(size=n))
    return np.rint(walk / np.abs(walk).max() * FULL).astype(np.int64)


def first_row(n: int, sigma: float, lam: float) -> Array:
    """Of T + lambda I."""
    row: Array = np.exp(-0.5 * (np.arange(n) / sigma) ** 2)
    row[0] += lam
    return row


def trained(solver: str, word: int, n: int, sigma: float, lam: float) -> tuple[float, str, int]:
    """Median error, worst status and bytes of the model structure."""
    plan = make_plan(Spec(
        model={"name": "bench", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0"}, kernel={"sigma": sigma}, numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": solver}))
    errors, worst = [], 0
    for seed in SEEDS:
        model, y = open_model(plan), targets(n, seed)
        status = int(model.train(None, y)["status"][0])
        state = model.state()
        # Without the unit of y: a relative error does not see it.
        alpha = state["alpha"] * 2.0 ** int(state["alpha_exp"][0])
        exact = scipy.linalg.solve_toeplitz(first_row(n, sigma, lam), y)
        scale = float(plan.signals["alpha"].format.lsb) * 2.0**15
        errors.append(relative_error(alpha * scale, exact) if state["trained"][0] else np.inf)
        worst = max(worst, status, key=lambda s: (s not in (0,), s == 1))
    return float(np.median(errors)), STATUSES[worst], plan.state_bytes


def rounding_alone(word: int, n: int, sigma: float, lam: float) -> float:
    """Median error that words of r and y bring, solved in float64."""
    full, errors = 2.0 ** (word - 1), []
    for seed in SEEDS:
        y = targets(n, seed) / 2.0**15
        row = first_row(n, sigma, lam) / (1 + lam)
        short = np.rint(row * full) / full
        found = scipy.linalg.solve_toeplitz(short, np.rint(y * full / 2) / (full / 2))
        errors.append(relative_error(found, scipy.linalg.solve_toeplitz(row, y)))
    return float(np.median(errors))


def positive_definite(sizes: list[int]) -> Iterator[Row]:
    """One row for each size, sigma, lambda and word."""
    for word in WORDS:
        for n in sizes:
            for sigma in SIGMAS:
                for lam in LAMBDAS:
                    row: Row = {"bits": word, "n": n, "sigma": sigma, "lambda": lam}
                    for solver in ("levinson", "schur"):
                        row[solver], row[f"{solver} status"], row[f"{solver} bytes"] = trained(
                            solver, word, n, sigma, lam)
                    yield row | {"rounding of r, y": rounding_alone(word, n, sigma, lam)}


# ---- indefinite: look-ahead ----
def indefinite(n: int) -> Iterator[tuple[str, Array]]:
    """Names and first rows."""
    t = np.arange(n)
    tail = 0.2 * 0.9 ** t[4:] * np.cos(t[4:])
    yield "0, 1, 1, .3, ...", np.concatenate(([0.0, 1.0, 1.0, 0.3], tail))
    yield "third minor 0", np.where(t == 2, -0.5, 0.5**t)
    for sigma, m in ((1.0, 3), (1.0, 7), (1.0, 20), (3.0, 3), (3.0, 7)):
        gauss = first_row(n, sigma, 0.0)
        values = np.linalg.eigvalsh(scipy.linalg.toeplitz(gauss[:m]))
        yield f"gauss {sigma:g}, minor {m}", gauss - np.where(t == 0, values[m // 2], 0.0)
    yield "noise", np.random.default_rng(n).uniform(-1, 1, n)
    yield "gauss 3, lambda .01", first_row(n, 3.0, 0.01)


def _to(bits: int, v: Any) -> Any:
    """Rounded to so many bits below the largest entry."""
    v = np.asarray(v, dtype=np.float64)
    most = float(np.abs(v).max(initial=0.0))
    if not 0.0 < most < np.inf:
        return v
    step = 2.0 ** (np.ceil(np.log2(most)) - bits)
    return np.rint(v / step) * step


class BlockFloats:
    """The recursion of :mod:`kerncast.sim.model.lookahead` on rounded vectors."""

    def __init__(self, r: Array, y: Array, bits: int = 31) -> None:
        self.n, self.bits, self.blocks = len(r), bits, list[int]()
        self.r, self.y = _to(bits, np.append(r, 0.0)), _to(bits, y)
        self.a, self.eps, self.g, self.x = np.ones(1), self.r[0], np.empty(0), np.empty(0)

    def _matrix(self, m: int, p: int) -> Array:
        T: Array = scipy.linalg.toeplitz(self.r[: m + p])
        return T

    def _inverse(self, c: Array) -> Array:
        """T_m^-1 c from g and a; each of the two passes is rounded."""
        m, g, a = len(c), self.g, self.a
        first = _to(self.bits, scipy.linalg.toeplitz(np.eye(m)[0], a[:m]) @ c)
        second = _to(self.bits, scipy.linalg.toeplitz(np.zeros(m), np.append(0.0, g[:0:-1])) @ c)
        lower = scipy.linalg.toeplitz(g, np.zeros(m)) @ first
        return np.asarray(_to(self.bits, lower - scipy.linalg.toeplitz(a[:0:-1], np.zeros(m)) @ second))

    def _single(self, m: int) -> None:
        c = _to(self.bits, (self.y[m] - self.r[m:0:-1] @ self.x) / self.eps)
        xi = _to(self.bits, -(self.r[m + 1:0:-1] @ self.a) / self.eps)
        self.x = _to(self.bits, np.append(self.x, 0.0) + c * self.a[::-1])
        self.g = _to(self.bits, self.a / self.eps)
        longer = np.append(self.a, 0.0)
        self.a = _to(self.bits, longer + xi * longer[::-1])
        self.eps = float(_to(self.bits, self.eps * (1 - xi) * (1 + xi)))

    def _complement(self, m: int, p: int) -> tuple[Array, Array]:
        """B by its recursion, rounded column by column, and S."""
        T, B = self._matrix(m, p), np.empty((m, p))
        for j in range(p if m else 0):
            if j == 0:
                B[:, 0] = -self.a[:0:-1]
                continue
            shifted = np.append(0.0, B[:-1, j - 1])
            rest = _to(self.bits, self.r[m + j] - self.r[1: m + 1] @ B[:, j - 1])
            B[:, j] = _to(self.bits, shifted + B[-1, j - 1] * B[:, 0] + rest * self.g)
        S = T[m:, m:] - T[:m, m:].T @ B
        S[0, 0] = self.eps
        return B, np.asarray(_to(self.bits, (S + S.T) / 2))

    def _block(self, m: int, p: int, B: Array, S: Array) -> None:
        C, inverse = self._matrix(m, p)[:m, m:], _to(self.bits, np.linalg.inv(S))
        ends = (np.where(np.arange(p) + m == 0, 1.0, 0.0), -self.r[m + 1: m + p + 1], self.y[m: m + p])
        grown = []
        for v, new in zip((self.g, self.a[1:], self.x), ends, strict=True):
            z = _to(self.bits, inverse @ (new - C.T @ v))
            grown.append(_to(self.bits, np.append(v - B @ z, z)))
        self.g, w, self.x = grown
        self.a = np.append(1.0, w)
        T = self._matrix(m + p, 0)
        dg = self._inverse(_to(self.bits, np.eye(m + p)[0] - T @ self.g))
        dw = self._inverse(_to(self.bits, -self.r[1: m + p + 1] - T @ w))
        self.g, self.a = _to(self.bits, self.g + dg), np.append(1.0, _to(self.bits, w + dw))
        self.eps = float(_to(self.bits, self.r[0] + self.r[1: m + p + 1] @ self.a[1:]))

    def solve(self) -> Array | None:
        """x, refined as the model does it; None where no block leads on."""
        level = float(np.abs(self.r).max())
        recent, m = [level] * BLOCK, 0
        while m < self.n:
            p = 1
            if not abs(self.eps) > GOOD * max(recent[-BLOCK:]):
                B, S = self._complement(m, min(BLOCK, self.n - m))
                sizes = [1 / np.abs(np.linalg.inv(S[:k, :k])).sum(axis=1).max()
                         if np.linalg.matrix_rank(S[:k, :k]) == k else 0.0 for k in range(1, len(S) + 1)]
                if not max(sizes) > SINGULAR * level:
                    return None
                p = next(k for k, v in enumerate(sizes, 1) if v >= NEAR_BEST * max(sizes))
            if p == 1:
                self._single(m)
            else:
                self._block(m, p, B[:, :p], S[:p, :p])
            m += p
            recent.append(abs(self.eps))
            self.blocks.append(p)
        for _ in range(2):
            rest = _to(self.bits, self.y - self._matrix(self.n, 0) @ self.x)
            self.x = _to(self.bits, self.x + self._inverse(rest))
        return self.x


def looking_ahead(sizes: list[int]) -> Iterator[Row]:
    """One row for each system: condition, blocks of two rows and more, and three errors."""
    for n in sizes:
        for name, row in indefinite(n):
            r = row.astype(np.float32).astype(np.float64)
            y = np.random.default_rng(1).uniform(-1, 1, n).astype(np.float32).astype(np.float64)
            T = scipy.linalg.toeplitz(r)
            exact, solver, blocks = np.linalg.solve(T, y), Lookahead(n), BlockFloats(r, y)
            status, x = solver.solve(r.astype(np.float32), y.astype(np.float32))
            words = blocks.solve()
            reference = lookahead(r, y, BLOCK)
            yield {"system": name, "n": n, "condition": float(np.linalg.cond(T)),
                   "blocks": int((solver.fields()["blocks"] > 1).sum()),
                   "float64": relative_error(reference.x, exact) if reference.ok else np.inf,
                   "float32": relative_error(x.astype(np.float64), exact) if status == 0 else np.inf,
                   "words of 32 bits": relative_error(words, exact) if words is not None else np.inf}


# ---- printing ----
def show(rows: list[Row]) -> None:
    """A Markdown table."""
    print("| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(f"{v:.1e}" if isinstance(v, float) and k not in ("sigma", "lambda") else
                                f"{v:g}" if isinstance(v, float) else str(v) for k, v in row.items()) + " |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {"positive definite": list(positive_definite(chosen.n)),
              "look-ahead": list(looking_ahead([min(n, 256) for n in chosen.n]))}
    if chosen.json:
        print(json.dumps(tables))
        return
    for title, rows in tables.items():
        print(f"\n{title}\n")
        show(rows)


if __name__ == "__main__":
    main()
