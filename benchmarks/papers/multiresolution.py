"""Reproduce the multi-resolution LS-SVM solver, and measure its cost.

LS-SVM is the least-squares support-vector machine. ``python -m kerncast.benchmarks.papers.multiresolution``
takes a few minutes on one thread.
"""

from __future__ import annotations

from typing import Any

from threadpoolctl import threadpool_limits

from ...sim.reference.wavelet.basis import transforms
from . import multiresolution_cost as cost
from . import multiresolution_table as paper
from .common import DOCS, table
from .multiresolution_cost import Row

COMMAND = "python -m kerncast.benchmarks.papers.multiresolution"
PAGE, FIGURE = DOCS / "papers" / "multiresolution-ls-svm.md", DOCS / "figures" / "multiresolution.png"

TEXT = """# The multi-resolution solver for LS-SVM: Schouten, Suykens and De Moor

`{command}` writes this page. The paper is T. Schouten, J. A. K. Suykens, B. De Moor, "Multi resolution least
squares SVM solver", MWSCAS 2000. LS-SVM stands for least squares support vector machine. The NS-form is the
non-standard form of a matrix in a wavelet basis. In kerncast the solver is
`solve_kernel(X, y, sigma, lam, "wavelet", levels=, threshold=, basis=)`.

Most claims of the paper are reproduced. For a Toeplitz matrix, the Toeplitz solvers of kerncast are faster
and more accurate in nearly all cases.

All sections use the problem of the paper: Z = Ω + I/γ, kernel exp(-d²/σ²) with σ = .4 (the sigma of kerncast
is σ/√2), γ = 1, y = sin(10x)/x on [-1, 1], N = {n}. The basis is the periodic Daubechies wavelet with ten
vanishing moments (db10), with {levels} levels.

## Claim by claim

{claims}

## Figure 1

![Z, its two-scale transform, and the second and third step of its NS-form](../figures/{figure})

The figure shows the coefficients that are at least t = {t:.0e}. As in the paper, the coarse version is at
the lower right. The full rows and columns belong to the wavelets that wrap around the end of the interval.

## Table I

{table}

* n_e is nnz(A_j) + nnz(C_j) over all levels, plus nnz(Z_J). The error is the relative error of ν in the
  2-norm.
* The figures in the paper agree best with the columns "n_e of Ω". These do not count I/γ, as equation (10)
  allows. The paper does not state the position of the filters on the grid, which changes both n_e and the
  error slightly.
* The paper keeps the complete factors. kerncast discards fill-in below t/10, as proposed by Gines, Beylkin
  and Dunn. The error is the same, but complete factors have up to {full_factor:.1f} times as many entries.
* If nothing is discarded, the solution differs from the dense solution by {exact_db10:.0e}. With lifting, it
  differs by {exact_lifting:.0e}.

## The second basis: lifting, on the interval

This basis is biorthogonal, has eight vanishing moments and is not periodic. W'ZW is symmetric, so Cholesky
factorisation still applies.

{lifting}

## Cost in N

The tables are for t = {t:.0e}. The times are processor times of one run on one thread, for one right-hand
side, including transform and factorisation. Banded Cholesky (`scipy.linalg.solveh_banded`) uses the narrowest
band for which the error is not larger than with the NS-form. Dense Cholesky uses LAPACK. A ratio "a / b"
above 1 means that b is better. "Ours" is the NS-form of the Toeplitz matrix. "Ours, any Z" is the NS-form of
the whole matrix, without the use of its structure. Levinson and PCG (preconditioned conjugate gradients, to
1e-10) are the Toeplitz solvers of kerncast.

{small}

The next tables show the growth of the cost up to N = {largest:,}. At this size, only the NS-form and PCG fit
in memory:

{large}
"""

CLAIMS = (
    ("Smoothness makes the NS-form sparse (Table I)", "yes",
     "n_e of Z is {n_e[0]:.2f} to {n_e[1]:.2f} of the print, that of Ω {omega[0]:.2f} to {omega[1]:.2f}; "
     "errors are {error[0]:.2f} to {error[1]:.2f} of the print"),
    ("The error follows t", "yes",
     "{follows[0]:.1f} t to {follows[1]:.1f} t, over nine decades"),
    ("I/γ survives on every scale (10)", "yes, orthogonal basis",
     "within {diagonal:.0e}"),
    ("Boundary effects cannot be ignored", "yes",
     "{wrapped:.0%} of n_e at t = {t:.0e} belongs to the nine wavelets of each level that wrap around the "
     "end"),
    ("A direct solver in O(N) time", "yes, with two additions",
     "Multiplications and bytes per sample are constant up to N = {largest:,}. But Z alone has N² "
     "values: the transform must work on one column of a uniform grid and on the terms of its ends. "
     "For a wide kernel, the elimination of the wrapped wavelets adds a full matrix to the coarser "
     "levels; it is stored as the few columns that span it. Thresholds alone leave O(N²)"),
    ("Banded factors of the NS-form are cheaper than dense ones", "for large N",
     "In multiplications {count_crossing}, in time {time_crossing}, given any Z {whole_crossing} "
     "(kernel as wide as the interval): sparse storage takes more time per multiplication than the "
     "blocks of LAPACK"),
    ("(not in the paper) A plain band of Z would do", "depends on the kernel",
     "Kernel as wide as the interval: the band contains {band_wide:.0%} of the diagonals of Z, and "
     "kerncast takes less time {band_crossing}. Kernel much narrower than the signal: the band takes "
     "{band_ahead:.2g} of the time at N = {middle:,}, with {band_more:.2g} times the multiplications"),
    ("(not in the paper) Toeplitz solvers would do", "mostly",
     "On a uniform grid the NS-form takes {pcg[0]:.2g} to {pcg[1]:.2g} times the time of PCG, which is "
     "also more accurate; with the kernel as wide as the interval it takes less {pcg_crossing}. The "
     "NS-form remains useful for later right-hand sides and for smooth matrices that are not Toeplitz"),
    ("Wavelets on the interval increase compression", "of Ω yes, of Z no",
     "n_e of Ω falls to {omega_gain:.2f} of that of db10 at t = {t:.0e}; that of Z rises to "
     "{z_loss:.1f} times: I/γ does not survive a biorthogonal transform (section V), and becomes a "
     "band on every level"),
    ("Lifting decomposes four times faster", "counted, yes",
     "{nnz_db10:.0f} multiplications per sample and level, and 5 by the steps of lifting; kerncast "
     "multiplies by their product, which has {nnz:.0f}"),
    ("Lifting is unstable without caution", "yes",
     "A sample predicted beyond its neighbours makes the basis ill conditioned. If the last sample is "
     "kept on every level, the condition is {condition_4:.0f} after four levels and {condition_6:.0f} "
     "after six; with ever finer sampling the error still grows with the levels"),
    ("(8): α + bZ⁻¹", "misprint",
     "α + bZ⁻¹1. The algorithm below it is right; here it is `fit_intercept=True`"),
)


# ---- tables: headings and cells ----
Columns = tuple[tuple[str, str], ...]

TABLE_I: Columns = (
    ("t", "{t:.0e}"),
    ("n_e printed", "{printed n_e}"), ("n_e", "{n_e}"), ("ratio", "{n_e / printed n_e:.2f}"),
    ("n_e of Ω", "{Omega n_e}"), ("ratio", "{Omega n_e / printed n_e:.2f}"),
    ("error printed", "{printed error:.2e}"), ("error", "{error:.2e}"),
    ("ratio", "{error / printed error:.2f}"),
    ("error, factors in full", "{full error:.2e}"), ("entries of the factors", "{factor}"),
    ("in full", "{full factor}"))
LIFTING: Columns = (
    ("t", "{t:.0e}"), ("n_e of Ω: db10", "{Omega n_e}"), ("lifting", "{lifting Omega n_e}"),
    ("n_e of Z: db10", "{n_e}"), ("lifting", "{lifting n_e}"), ("error: db10", "{error:.1e}"),
    ("lifting", "{lifting error:.1e}"))
SMALL: Columns = (
    ("N", "{N}"), ("error", "{error:.1e}"), ("n_e / N", "{n_e / N:.1f}"), ("band", "{band}"),
    ("entries: band / ours", "{band entries / n_e:.3g}"),
    ("multiplications: band / ours", "{band operations / operations:.3g}"),
    ("dense / ours", "{dense operations / operations:.3g}"), ("time: band / ours", "{band time / time:.2g}"),
    ("dense / ours", "{dense time / time:.2g}"), ("dense / ours, any Z", "{dense time / whole time:.2g}"),
    ("ours / Levinson", "{time / levinson time:.2g}"), ("ours / PCG", "{time / pcg time:.2g}"))
LARGE: Columns = (
    ("N", "{N}"), ("basis", "{basis}"), ("levels", "{levels}"), ("n_e / N", "{n_e / N:.1f}"),
    ("multiplications / N", "{operations / N:.0f}"), ("bytes / N", "{bytes / N:.0f}"),
    (f"time / N, in that of N = {cost.SMALL[-1]}", "{growth:.2f}"), ("ours / PCG", "{time / pcg time:.2g}"),
    ("error", "{error:.1e}"))


class _Ratios(dict[str, Any]):
    """Row of a table that also computes ratios, with keys of the form "a / b"."""

    def __missing__(self, key: str) -> float:
        over, under = key.split(" / ")
        return float(self[over] / self[under])


def drawn(found: list[Row], columns: Columns) -> str:
    """Return rows as a Markdown table."""
    return table([[cell.format_map(_Ratios(row)) for _, cell in columns] for row in found],
                 [head for head, _ in columns])


def ratios(found: list[Row], which: str) -> tuple[float, float]:
    """Return the minimum and the maximum of a ratio over the rows."""
    values = [_Ratios(row)[which] for row in found]
    return min(values), max(values)


def crossing(found: list[Row], which: str) -> str:
    """Return the smallest N from which on a ratio is above 1, as text."""
    behind = [number for number, row in enumerate(found) if _Ratios(row)[which] <= 1]
    first = behind[-1] + 1 if behind else 0
    return f"from N = {found[first]['N']:,} on" if first < len(found) else f"at no N up to {found[-1]['N']:,}"


# ---- the page ----
def claims(found: list[Row], small: dict[str, list[Row]], large: dict[str, list[Row]]) -> str:
    """Return a table of the claims of the paper, each with the measured figures."""
    at_t = _Ratios(next(row for row in found if row["t"] == paper.T))
    wide, narrow = small["finer"], _Ratios(small["longer"][-1])
    by_db10 = [row for row in large["finer"] if row["basis"] == "db10"]
    every = [row for rows in [*small.values(), *large.values()] for row in rows if row["basis"] == "db10"]
    nnz = {basis: next(transforms(paper.N, 1, basis)).nnz / paper.N for basis in ("db10", "lifting")}
    figures = {
        "t": paper.T, "n_e": ratios(found, "n_e / printed n_e"),
        "omega": ratios(found, "Omega n_e / printed n_e"),
        "error": ratios(found, "error / printed error"), "follows": ratios(found, "error / t"),
        "diagonal": paper.diagonal_survives(), "wrapped": paper.wrapped_part(), "largest": cost.LARGE[-1],
        "count_crossing": crossing(wide, "dense operations / operations"),
        "time_crossing": crossing(wide, "dense time / time"),
        "whole_crossing": crossing(wide, "dense time / whole time"),
        "band_wide": wide[-1]["band"] / wide[-1]["N"], "band_crossing": crossing(wide, "band time / time"),
        "band_ahead": narrow["band time / time"], "middle": narrow["N"],
        "band_more": narrow["band operations / operations"], "pcg": ratios(every, "time / pcg time"),
        "pcg_crossing": crossing(by_db10, "pcg time / time"),
        "omega_gain": at_t["lifting Omega n_e / Omega n_e"], "z_loss": at_t["lifting n_e / n_e"],
        "nnz_db10": nnz["db10"], "nnz": nnz["lifting"],
        "condition_4": paper.condition(4), "condition_6": paper.condition(6)}
    lines = [[cell.format(**figures) for cell in row] for row in CLAIMS]
    heads = [["claim", "held?", "what we saw"], ["---"] * 3]
    return "\n".join(f"| {' | '.join(line)} |" for line in [*heads, *lines])


def render() -> str:
    """Run all measurements, and return the page."""
    found = paper.table_i()
    small = {name: cost.small(name, paper.T) for name in cost.REGIMES}
    large = {name: [row for basis in ("db10", "lifting") for row in cost.large(name, paper.T, basis)]
             for name in cost.REGIMES}

    def sections(pages: dict[str, list[Row]], columns: Columns) -> str:
        drawings = (f"{cost.REGIMES[name]}\n\n{drawn(rows, columns)}" for name, rows in pages.items())
        return "\n\n".join(drawings)

    return TEXT.format(
        command=COMMAND, n=paper.N, levels=paper.LEVELS, figure=FIGURE.name, t=paper.T,
        largest=cost.LARGE[-1], claims=claims(found, small, large), table=drawn(found, TABLE_I),
        lifting=drawn(found, LIFTING), full_factor=ratios(found, "full factor / factor")[1],
        exact_db10=paper.unthresholded("db10"), exact_lifting=paper.unthresholded("lifting"),
        small=sections(small, SMALL), large=sections(large, LARGE))


def main() -> None:
    """Draw the figure and write the page."""
    with threadpool_limits(1):
        paper.draw(FIGURE)
        PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
