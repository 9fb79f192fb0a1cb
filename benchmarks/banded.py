"""Measure the banded solver: accuracy, instructions, and speed on the host.

``python -m kerncast.benchmarks.banded`` writes docs/measured/banded.md. The grid, the right-hand sides and
the error metric are those of :mod:`.solvers`. Each time is the minimum of several runs on one thread.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from kerncast import solve_toeplitz
from kerncast.benchmarks.instructions import LEVELS
from kerncast.benchmarks.solvers import LAMBDAS, SEEDS, SIGMAS, first_row, targets, trained
from kerncast.benchmarks.toeplitz_speed import Call, turns
from kerncast.benchmarks.trainer_counts import count, count_fitted, counts_of_calls
from kerncast.sim._arrays import Array
from kerncast.sim.diagnostics.simulate import relative_error
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.toeplitz.banded import bandwidth
from kerncast.sim.spec import Spec

Row = Callable[[int, float, float], Array]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "banded.md"
N = 512
#: sigma and the range of lambda.
RANGES = ((3.0, (0.01, 1.0)), (10.0, (0.01, 1.0)))
#: Rows, sigma in steps, lambda, and turns.
SYSTEMS = ((1_000, 3.0, 0.1, 40), (10_000, 3.0, 0.1, 20), (10_000, 10.0, 0.001, 8), (1_000_000, 3.0, 0.1, 3))

HEAD = """# The banded solver

`python -m kerncast.benchmarks.banded` writes this page.

On a uniform grid, a kernel that decays is negligible beyond some lag b, so the Toeplitz matrix is banded.
`solver = "banded"` stores the Cholesky factor of this matrix as a table, which the planner computes from the
exact first row. Training then runs two recursions, each with b multiplications per sample. This solver is
more accurate than Levinson's recursion, because neither the first row nor the computation of the factor is
rounded.

## Accuracy in words

The numbers are medians over four right-hand sides, with n = {n}. The columns `banded`, `Levinson` and `Schur`
are relative errors of alpha, compared with float64. `bound / error` is the ratio of the certified bound to
the true error, both in the 2-norm. If it is 1, the bound is tight. `tables` is the size of the tables in
flash, in bytes.

| bits | sigma | lambda | b | rows | tables | banded | Levinson | Schur | bound / error |
| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
"""

INSTRUCTIONS = """
## Instructions on a Cortex-M4

The counts cover one call of `bench_train`, including the certified bound on the error of alpha, for sigma = 3
and lambda = 0.1 (-O2, in the Unicorn emulator). Both alpha and the bound are identical to the values of the
integer model. RAM is the size of the model and of the trainer, in bytes.

| bits | n | level | banded | Levinson | RAM, banded | RAM, Levinson |
| --: | --: | --- | --: | --: | --: | --: |
"""

INTERCEPT = """
## With an intercept

With `bias = true`, the intercept b is a weighted mean of the targets, and the plan contains the weights as a
table. The errors of b and of alpha are relative errors, compared with float64. They are medians over four
right-hand sides with values around half of the full scale, for n = 256, sigma = 3 and lambda = 0.1. The
columns `portable` and `dsp` list instructions, counted as in the previous table. The sizes of RAM and tables
are in bytes.

| bits | solver | error of b | error of alpha | portable | dsp | RAM | flash of tables |
| --: | --- | --: | --: | --: | --: | --: | --: |
"""

SIGNALS = """
## Several signals

If several signals are sampled on one grid (`outputs` in the spec), they share the factor. The table lists the
instructions of one training of all signals, including the certified bound. It also lists the instructions of
one prediction of all signals, in the middle of the grid. The model has n = 256, 16 bits, sigma = 3 and lambda
= 0.1. The sizes of RAM and tables are in bytes.

| outputs | level | training | prediction | RAM, model | RAM, trainer | flash of tables |
| --: | --- | --: | --: | --: | --: | --: |
"""

REFINED = """
## With refinement

With `refine`, the targets, alpha and the residual have 32 bits, but the word length of the factor does not
change. The errors of alpha are medians over four right-hand sides, with n = 512. The other columns have the
same meaning as in the previous tables. A 32-bit factor is more accurate than refinement, and takes fewer
instructions and less RAM. Refinement saves only flash. Use it if the 32-bit factor does not fit the flash of
the device.

| bits | refine | sigma | lambda | error of alpha | bound / error | portable | dsp | RAM | flash of tables |
| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
"""

FITTED = """
## Fitted values

The counts cover one call of `bench_train_fitted` for n = 256, sigma = 3 and lambda = 0.1, counted as in the
table of instructions. The values equal those of the integer model.

| bits | level | instructions |
| --: | --- | --: |
"""

RANGED = """
## Lambda at run time

With `lambda_range`, the trainer computes the factor from the first row, for the lambda that the program
sets. Each column `table` is that of a trainer whose factor is a table for this lambda, and the column before
it is that of a trainer with this range. The errors of alpha are medians over four right-hand sides,
with n = 512. The format of the factor is that of the smallest lambda, so a larger one loses bits. Above 16
bits, the factor is computed with 62 bits.

| bits | sigma | range | lambda | error | table | bound / error | table |
| --: | --: | --- | --: | --: | --: | --: | --: |
"""

RANGED_COUNTS = """
The instructions are counted as in the table of instructions, with n = 256 and lambda = 0.1. RAM and the flash
of the tables are in bytes.

| bits | sigma | range | level | run time | table | RAM | table | flash | table |
| --: | --: | --- | --- | --: | --: | --: | --: | --: | --: |
"""

GEOMETRIC = """
## Laplacian kernel

The columns of the factor of a Laplacian kernel are geometric sequences, so the trainer does not need a band
(`factor = "geometric"`, which the planner chooses). Each column `band` is that of a trainer with
`factor = "columns"`. A dash means that the planner rejects it, because the band is wider than half of the
samples. The errors of alpha and the ratios of certified bound to error are medians over four right-hand
sides, with n = 256. The targets are even, so that the device does not round them. The instructions are
counted as in the table of instructions. The sizes of tables are in bytes.

| bits | sigma | lambda | error | band | bound / error | band | portable | band | dsp | band | tables | band |
| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
"""

SPEED = """
## Speed on the host

The numbers are processor times in milliseconds. Each is the minimum of several runs in float64 on one thread.
The banded solver of scipy is `scipy.linalg.solveh_banded`, and its Toeplitz solver is
`scipy.linalg.solve_toeplitz`. celerite2 has no Gaussian kernel. It therefore solves a system of the same size
with the kernel of a damped oscillator, in state-space form. A dash means that a solver was not installed or
would take minutes. The last column is the norm of the residual divided by the norm of y.

| n | sigma | lambda | b | auto | scipy banded | scipy Toeplitz | celerite2 | residual / y |
| --: | --: | --: | --: | --: | --: | --: | --: | --: |
"""


def errors_of(plan: Plan, sigma: float, lam: float, row: Row = first_row,
              parts: int = 1) -> tuple[float, float]:
    """Return the medians of the error of alpha, and of bound to error.

    Targets are multiples of `parts`.
    """
    errors, slack, n = [], [], plan.sizes["n"]
    for seed in SEEDS:
        model, y = open_model(plan), targets(n, seed) // parts * parts
        assert isinstance(model, ToeplitzModel)
        model.train(None, y)
        state = model.state()
        scale = float(plan.signals["alpha"].format.lsb) * 2.0 ** (15 + int(state["alpha_exp"][0]))
        exact = scipy.linalg.solve_toeplitz(row(n, sigma, lam), y)
        errors.append(relative_error(state["alpha"] * scale, exact))
        bound = float(state["bound"][0]) * scale
        slack.append(bound / float(np.linalg.norm(state["alpha"] * scale - exact)))
    return float(np.median(errors)), float(np.median(slack))


def accuracy(word: int, sigma: float, lam: float) -> tuple[str, float]:
    """Return a row of the accuracy table, and the ratio of certified bound to error."""
    plan = planned("banded", word, N, sigma, lam)
    error, ratio = errors_of(plan, sigma, lam)
    others = [trained(solver, word, N, sigma, lam) for solver in ("levinson", "schur")]
    shown = [f"{error:.1e}" if status == "ok" else f"{error:.1e} ({status})" for error, status, _ in others]
    tables = sum(plan.tables[name].bytes for name in ("factor", "pivot", "band"))
    sizes = f"{plan.integer('band')} | {plan.integer('rows')} | {tables:,}"
    return (f"| {word} | {sigma:g} | {lam:g} | {sizes} | {error:.1e} | {' | '.join(shown)} | "
            f"{ratio:.1f} |"), ratio


def planned(solver: str, word: int, n: int, sigma: float, lam: float, bias: bool = False,
            outputs: int = 1, refine: int = 0, ends: tuple[float, float] | None = None,
            kind: str = "gaussian", **options: str) -> Plan:
    """Return the plan of a trainer on a uniform grid; `ends` is the range of lambda."""
    return make_plan(Spec(
        model={"name": "bench", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0", "outputs": outputs}, kernel={"sigma": sigma, "type": kind},
        numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": solver, "bias": bias,
                  "refine": refine, **options, **({} if ends is None else {"lambda_range": ends})}))


def instructions() -> Iterator[str]:
    """Yield the rows of the table of instructions."""
    for word, n in ((16, 256), (16, 1024), (24, 256), (32, 256)):
        plans = [planned(solver, word, n, 3.0, 0.1) for solver in ("banded", "levinson")]
        for name, level in LEVELS:
            counts = [f"{count(plan, level):,}" for plan in plans]
            rams = [f"{plan.ram_bytes:,}" for plan in plans]
            yield f"| {word} | {n:,} | {name} | {' | '.join(counts)} | {' | '.join(rams)} |"


def intercepts() -> Iterator[str]:
    """Yield the rows of the table of trainings with an intercept."""
    n, sigma, lam = 256, 3.0, 0.1
    r = first_row(n, sigma, lam)
    w = scipy.linalg.solve_toeplitz(r, np.ones(n))
    for word in (16, 24, 32):
        for solver in ("banded", "levinson"):
            plan, errors = planned(solver, word, n, sigma, lam, True), []
            for seed in SEEDS:
                y, model = 16_384 + targets(n, seed) // 4, open_model(plan)
                model.train(None, y)
                state, b = model.state(), float(w @ y / w.sum())
                scale = float(plan.signals["alpha"].format.lsb) * 2.0 ** (15 + int(state["alpha_exp"][0]))
                found = float(state["bias"][0]) * float(plan.signals["y"].format.lsb) * 2.0**15
                errors.append((abs(found - b) / b, relative_error(
                    state["alpha"] * scale, scipy.linalg.solve_toeplitz(r, y - b))))
            of_b, of_alpha = np.median(errors, axis=0)
            counts = " | ".join(f"{count(plan, level):,}" for _, level in LEVELS)
            tables = sum(table.bytes for table in plan.tables.values())
            yield (f"| {word} | {solver} | {of_b:.1e} | {of_alpha:.1e} | {counts} | {plan.ram_bytes:,} | "
                   f"{tables:,} |")


def signals() -> Iterator[str]:
    """Yield the rows of the table of trainings with several outputs."""
    for outputs in (1, 2, 4):
        plan = planned("banded", 16, 256, 3.0, 0.1, outputs=outputs)
        for name, level in LEVELS:
            counted = " | ".join(f"{value:,}" for value in counts_of_calls(plan, level, True))
            yield (f"| {outputs} | {name} | {counted} | {plan.state_bytes:,} | {plan.trainer_bytes:,} | "
                   f"{plan.table_bytes:,} |")


def refinements() -> Iterator[str]:
    """Yield the rows of the table of trainings with refinement."""
    for sigma, lam in ((10.0, 0.001), (3.0, 0.1)):
        for word, refine in ((16, 0), (16, 1), (16, 2), (24, 0), (24, 1), (32, 0)):
            plan = planned("banded", word, N, sigma, lam, refine=refine)
            found, ratio = errors_of(plan, sigma, lam)
            counts = " | ".join(f"{count(plan, level):,}" for _, level in LEVELS)
            yield (f"| {word} | {refine} | {sigma:g} | {lam:g} | {found:.1e} | {ratio:.1f} | {counts} | "
                   f"{plan.ram_bytes:,} | {plan.table_bytes:,} |")


def fitted_counts() -> Iterator[str]:
    """Yield the rows of the table of fitted values."""
    for word in (16, 24, 32):
        plan = planned("banded", word, 256, 3.0, 0.1)
        for name, level in LEVELS:
            yield f"| {word} | {name} | {count_fitted(plan, level):,} |"


def ranged_errors() -> Iterator[str]:
    """Yield the rows of the table of errors with lambda at run time."""
    for word, (sigma, ends) in itertools.product((16, 24, 32), RANGES):
        for lam in (ends[0], 0.1, ends[1]):
            found = planned("banded", word, N, sigma, lam, ends=ends), planned("banded", word, N, sigma, lam)
            each = [errors_of(plan, sigma, lam) for plan in found]
            cells = [f"{error:.1e}" for error, _ in each] + [f"{ratio:.1f}" for _, ratio in each]
            yield f"| {word} | {sigma:g} | {ends[0]:g} to {ends[1]:g} | {lam:g} | {' | '.join(cells)} |"


def ranged_counts() -> Iterator[str]:
    """Yield the rows of the table of instructions with lambda at run time."""
    for word, (sigma, ends) in itertools.product((16, 24, 32), RANGES):
        plans = [planned("banded", word, 256, sigma, 0.1, ends=given) for given in (ends, None)]
        for name, level in LEVELS:
            numbers = [*(count(plan, level) for plan in plans), *(plan.ram_bytes for plan in plans),
                       *(plan.table_bytes for plan in plans)]
            yield (f"| {word} | {sigma:g} | {ends[0]:g} to {ends[1]:g} | {name} | "
                   f"{' | '.join(f'{number:,}' for number in numbers)} |")


def laplacian_row(n: int, sigma: float, lam: float) -> Array:
    """Return the first row of T + lambda I for the Laplacian kernel."""
    row = np.exp(-np.arange(float(n)) / sigma)
    row[0] += lam
    return np.asarray(row)


def geometric() -> Iterator[str]:
    """Yield the rows of the table of trainings with a Laplacian kernel."""
    for word in (16, 24, 32):
        for sigma, lam in ((3.0, 0.1), (3.0, 0.001), (10.0, 0.1), (10.0, 0.001)):
            cells: list[list[str]] = []
            for factor in ("geometric", "columns"):
                try:
                    plan = planned("banded", word, 256, sigma, lam, kind="laplacian", factor=factor)
                except KerncastError:
                    cells.append(["-"] * 5)
                    continue
                error, ratio = errors_of(plan, sigma, lam, laplacian_row, 2)
                counts = [f"{count(plan, level):,}" for _, level in LEVELS]
                cells.append([f"{error:.1e}", f"{ratio:.1f}", *counts, f"{plan.table_bytes:,}"])
            row = [cell for pair in zip(*cells, strict=True) for cell in pair]
            yield f"| {word} | {sigma:g} | {lam:g} | {' | '.join(row)} |"


def celerite(n: int, y: Array) -> Call | None:
    """Return a function that runs the solver of celerite2, or None without celerite2."""
    if find_spec("celerite2") is None:
        return None
    from celerite2 import GaussianProcess, terms  # type: ignore[import-not-found]

    t = np.arange(float(n))

    def solve() -> Any:
        process = GaussianProcess(terms.SHOTerm(sigma=1.0, rho=12.0, Q=0.7), mean=0.0)
        process.compute(t, diag=np.full(n, 0.1))
        return process.apply_inverse(y)

    return solve


def speed() -> Iterator[str]:
    """Yield the rows of the table of times on the host."""
    for n, sigma, lam, rounds in SYSTEMS:
        r, y = first_row(n, sigma, lam), np.random.default_rng(0).normal(size=n)
        b = bandwidth(r)
        band = np.zeros((b + 1, n))
        for j in range(b + 1):
            band[j, : n - j] = r[j]
        calls: dict[str, Call] = {
            "auto": lambda r=r, y=y: solve_toeplitz(r, y),
            "banded": lambda band=band, y=y: scipy.linalg.solveh_banded(band, y, lower=True)}
        if n <= 10_000:
            calls["toeplitz"] = lambda r=r, y=y: scipy.linalg.solve_toeplitz(r, y)
        if peer := celerite(n, y):
            calls["celerite"] = peer
        found = turns(calls, rounds)
        cells = [f"{1e3 * found[name]:.2f}" if name in found else "-"
                 for name in ("auto", "banded", "toeplitz", "celerite")]
        solution = solve_toeplitz(r, y)
        assert solution.method == "banded"
        yield (f"| {n:,} | {sigma:g} | {lam:g} | {b} | {' | '.join(cells)} | "
               f"{solution.residual / np.linalg.norm(y):.1e} |")


def main() -> None:
    """Run all measurements, and write the page."""
    rows, ratios = zip(*(accuracy(word, sigma, lam) for word in (16, 24, 32) for sigma in SIGMAS
                         for lam in LAMBDAS), strict=True)
    with threadpool_limits(1):
        times = list(speed())
    median = f"\nThe median of `bound / error` is {np.median(ratios):.1f}."
    parts = (HEAD.format(n=N) + "\n".join(rows), median,
             INSTRUCTIONS + "\n".join(instructions()), INTERCEPT + "\n".join(intercepts()),
             SIGNALS + "\n".join(signals()), REFINED + "\n".join(refinements()),
             FITTED + "\n".join(fitted_counts()), RANGED + "\n".join(ranged_errors()),
             RANGED_COUNTS + "\n".join(ranged_counts()), GEOMETRIC + "\n".join(geometric()),
             SPEED + "\n".join(times))
    PAGE.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
