"""Compare the Toeplitz solvers by kernel width, number of samples and RAM.

``python -m kerncast.benchmarks.solver_widths`` writes docs/measured/solver-widths.md. Its chart is drawn by
:mod:`.charts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import matmul_toeplitz
from threadpoolctl import threadpool_limits

from kerncast import solve_toeplitz
from kerncast.benchmarks.banded import planned
from kerncast.benchmarks.instructions import LEVELS
from kerncast.benchmarks.solvers import first_row
from kerncast.benchmarks.toeplitz_speed import Call, turns
from kerncast.benchmarks.trainer_counts import count
from kerncast.codegen.firmware.targets import Target, load_target, target_ids
from kerncast.codegen.generate import check_memory
from kerncast.sim._arrays import Array
from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import make_kernel
from kerncast.sim.reference.toeplitz.banded import bandwidth

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "solver-widths.md"
SIGMAS = (1.0, 2.0, 3.0, 6.0, 10.0, 15.0, 20.0)
#: Numbers of samples of the longer records.
LENGTHS = (256, 1024, 4096, 8192)
#: Rows of the systems on the host, kernel widths and lambdas.
ROWS, WIDTHS, LAMBDAS = 8192, (10.0, 20.0, 40.0, 60.0, 100.0), (0.1, 0.001)
#: Rows of the systems of celerite2. For this page, run: python -m pip install celerite2
STATES = 100_000
#: Largest n of a spec.
MOST = 65_535

HEAD = """# Solvers by kernel width and length of the record

`python -m kerncast.benchmarks.solver_widths` writes this page. It uses a uniform grid and a Gaussian kernel.
The accuracy of the solvers is on the page of the [banded solver](banded.md).

The work of the banded solver grows with the number b of diagonals, and that of Levinson's recursion with the
number of samples. The planner accepts the banded solver up to b = n / 2. Both numbers are instructions of one
training on a Cortex-M4, including the certified bound on the error of alpha, for n = 256, 16 bits and lambda
= 0.1 (-O2, with the DSP extension, in the Unicorn emulator).

| sigma | b | banded | Levinson | Levinson / banded |
| --: | --: | --: | --: | --: |
"""

WIDE = """
For a wide kernel in float64, conjugate gradients with FFTs (`pcg`) take less time than both, and the table
shows from which b on. The numbers are processor times in milliseconds on the host, the minimum of several
runs on one thread, for n = {n:,}. `auto` chooses the banded solver up to b = n / 8 and b = 512. The device
has no FFT. There, a kernel with b above n / 2 needs Levinson's recursion.

| sigma | lambda | b | banded | pcg | levinson |
| --: | --: | --: | --: | --: | --: |
"""

PEER = """
celerite2 solves systems with a Laplacian or a Matern 3/2 kernel in state space, in O(n). The table compares
`auto` with it for n = {n:,} and lambda = 0.1. Each residual is the norm of the residual divided by that of
y, for the kernel of kerncast. celerite2 is faster for the Laplacian kernel. It replaces the Matern kernel by
a similar one, so its solution is less accurate.

| kernel | sigma | method | auto, ms | celerite2, ms | residual | residual, celerite2 |
| --- | --: | --- | --: | --: | --: | --: |
"""

ZEROS = """
## Zeros of the first row

Beyond lag b, the first row is zero. Levinson's recursion and the certified bound omit the products with these
zeros. The instructions without this are those of the same plan whose last lag is n - 1, for n = 256, sigma =
3, lambda = 0.1 and 16 bits.

| level | all products | without zeros | fewer |
| --- | --: | --: | --: |
"""

LONG = """
## Long records

The counts cover one training with the banded solver, for sigma = 3 and lambda = 0.1. RAM is the size of the
model and of the trainer, in bytes. The ratio is that to n = 256, with the DSP extension.

| bits | n | portable | dsp | ratio | RAM | flash of tables |
| --: | --: | --: | --: | --: | --: | --: |
"""

FITTING = """
The longest record that fits the RAM of each target, after its stack, for 16 bits:

| target | RAM, bytes | stack, bytes | n, banded | n, Levinson |
| --- | --: | --: | --: | --: |
"""


def with_celerite() -> Iterator[str]:
    """Yield the rows of the comparison with celerite2."""
    from celerite2 import GaussianProcess, terms  # type: ignore[import-not-found]

    t, y = np.arange(float(STATES)), np.random.default_rng(0).normal(size=STATES)
    for kind in ("laplacian", "matern32"):
        for sigma in (3.0, 10.0, 30.0):
            term = (terms.RealTerm(a=1.0, c=1 / sigma) if kind == "laplacian"
                    else terms.Matern32Term(sigma=1.0, rho=sigma))
            r = make_kernel({"kernel": kind, "sigma": str(sigma)})(np.zeros((1, 1)), t[:, None])[0]
            r[0] += 0.1

            def theirs(term: Any = term) -> Array:
                process = GaussianProcess(term, mean=0.0)
                process.compute(t, diag=np.full(STATES, 0.1))
                return np.asarray(process.apply_inverse(y))

            found = turns({"ours": lambda r=r: solve_toeplitz(r, y), "celerite2": theirs}, 10)
            solution = solve_toeplitz(r, y)
            residual = [np.linalg.norm(matmul_toeplitz(r, x) - y) / np.linalg.norm(y)
                        for x in (solution.x, theirs())]
            yield (f"| {kind} | {sigma:g} | {solution.method} | {1e3 * found['ours']:.2f} | "
                   f"{1e3 * found['celerite2']:.2f} | {residual[0]:.0e} | {residual[1]:.0e} |")


def by_width() -> Iterator[str]:
    """Yield the rows of the table of instructions by kernel width."""
    for sigma in SIGMAS:
        plans = [planned(solver, 16, 256, sigma, 0.1) for solver in ("banded", "levinson")]
        ours, theirs = (count(plan, LEVELS[1][1]) for plan in plans)
        yield f"| {sigma:g} | {plans[0].integer('band')} | {ours:,} | {theirs:,} | {theirs / ours:.1f} |"


def on_the_host() -> Iterator[str]:
    """Yield the rows of the table of times on the host."""
    y = np.random.default_rng(0).normal(size=ROWS)
    for sigma in WIDTHS:
        for lam in LAMBDAS:
            r = first_row(ROWS, sigma, lam)
            calls: dict[str, Call] = {
                name: lambda name=name, r=r: solve_toeplitz(r, y, method=name)
                for name in ("banded", "pcg", "levinson")}
            found = turns(calls, 5)
            times = " | ".join(f"{1e3 * found[name]:.1f}" for name in calls)
            yield f"| {sigma:g} | {lam:g} | {bandwidth(r)} | {times} |"


def zeros() -> Iterator[str]:
    """Yield the rows of the table on the zeros of the first row."""
    plan = planned("levinson", 16, 256, 3.0, 0.1)
    every = replace(plan, constants={**plan.constants, "last_lag": plan.sizes["n"] - 1})
    for name, level in LEVELS:
        before, after = count(every, level), count(plan, level)
        yield f"| {name} | {before:,} | {after:,} | {100 * (1 - after / before):.1f} % |"


def lengths() -> Iterator[str]:
    """Yield the rows of the table of long records."""
    for word in (16, 24, 32):
        shortest = 0
        for n in LENGTHS:
            plan = planned("banded", word, n, 3.0, 0.1)
            counts = [count(plan, level) for _, level in LEVELS]
            shortest = shortest or counts[1]
            yield (f"| {word} | {n:,} | {counts[0]:,} | {counts[1]:,} | {counts[1] / shortest:.2f} | "
                   f"{plan.ram_bytes:,} | {plan.table_bytes:,} |")


def longest(solver: str, target: Target) -> int:
    """Return the largest n whose model and trainer fit the RAM of a target."""
    low, high = 64, MOST + 1  # the longest that fits, and the shortest that does not
    while high - low > 1:
        n = (low + high) // 2
        try:
            check_memory(planned(solver, 16, n, 3.0, 0.1), target)
        except KerncastError:
            high = n
        else:
            low = n
    return low


def fitting() -> Iterator[str]:
    """Yield the rows of the table of the longest records."""
    for target in map(load_target, target_ids()):
        sizes = " | ".join(f"{longest(solver, target):,}" for solver in ("banded", "levinson"))
        yield f"| `{target.id}` | {target.ram_bytes:,} | {target.stack_bytes:,} | {sizes} |"


def main() -> None:
    """Run all measurements, and write the page."""
    with threadpool_limits(1):
        times, beside = list(on_the_host()), list(with_celerite())
    parts = (HEAD, by_width(), WIDE.format(n=ROWS), times, PEER.format(n=STATES), beside, ZEROS, zeros(),
             LONG, lengths(), FITTING, fitting())
    PAGE.write_text("".join(part if isinstance(part, str) else "\n".join(part) + "\n" for part in parts),
                    encoding="utf-8")


if __name__ == "__main__":
    main()
