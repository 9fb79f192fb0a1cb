"""sim.planner.toeplitz: worst-case operation counts of training and prediction."""

from __future__ import annotations

from collections.abc import Mapping

from ...choices import LOOKAHEADS
from ...plan import Operations
from ...spec import Spec
from ...window import Window
from ..counts import operations
from .lookahead import DIVISIONS, MULTIPLICATIONS
from .memory import corrected


def _products(lags: int | None, count: str) -> str:
    """Return the formula for products of r with vectors of 0 to `count` - 1 entries.

    `lags` is the last non-zero lag of r, or None if it is not known.
    """
    return f"{count}*({count}-1)//2" if lags is None else f"({lags}*{count} - {lags * (lags + 1) // 2})"


def _recursion(spec: Spec, lags: int | None) -> tuple[str, str]:
    """Return the multiplications and divisions of all solves, in n.

    A solve has (n-1)(n-2)/2 multiplications in the update of a, one per scaling, and two per eps (one in the
    Schur form); each right-hand side has n(n-1)/2 in the update of x; all have products with r. The Schur
    form updates both generators, and the residual of each right-hand side. There is one division per xi
    and c, and one per step of the intercept.
    """
    assert spec.toeplitz is not None
    if spec.toeplitz.solver in LOOKAHEADS:
        return MULTIPLICATIONS, DIVISIONS
    schur, solves = spec.toeplitz.solver == "schur", 1 + spec.toeplitz.refine
    sides = solves + spec.toeplitz.bias
    steps = (1 if schur else 2) + (spec.toeplitz.scaling == "block")
    one = f"(n-1)*(n-2)//2 + {steps}*(n-1) + {2 if schur else 1}*{_products(lags, '(n-1)')}"
    return (f"{solves}*({one}) + {sides}*(n*(n-1)//2 + {_products(lags, 'n')})",
            f"{solves}*(n-1) + {sides}*n + {solves * spec.toeplitz.bias}")


def _refined(solves: int, b: int, longer: int) -> str:
    """Return the multiplications of training with refinement by the banded solver.

    A solve has two recursions over b lags, n of 1 / d, and one of the first exponent. A residual has the
    products with the `longer` row on both sides, n of y's share and n squares; the first one has no products.
    Then n squares of alpha, and two of the bound.
    """
    return (f"{solves}*({2 * b}*n - {b * (b + 1)} + n + 1 + {2 * longer}*n - {longer * (longer + 1)} + 2*n)"
            f" + 3*n + 2")


def _banded(spec: Spec, sizes: dict[str, int], c: Mapping[str, int | tuple[int, ...]], b: int,
            predict: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return formulas for a solver of b lags without refinement.

    Two recursions and a residual over b lags, each; then n of 1 / d, n of y's share, n squares of the
    residual, n of alpha, one of the first exponent and two of the bound; n of the intercept. Outputs share
    the kernel values of a prediction, and the bound. With a range of lambda, the factor, n of the diagonal
    and one division of the bound are added; above 16 bits, a product of the factor and a correction of 1 / d
    take three multiplications.
    """
    assert spec.toeplitz is not None
    row = f"{4 * b}*n - {2 * b * (b + 1)} + {4 + spec.toeplitz.bias}*n"
    divisions = "0"
    if spec.toeplitz.lambda_range is not None:
        rows = c["rows"]
        assert isinstance(rows, int)
        products = rows * b + (rows - 1) * (2 * b + 1)
        row += f" + n + {products if spec.numbers.word == 16 else 3 * (products + rows)}"
        divisions = str(rows + 1)
    read = predict["multiplications"]
    train, sums = (f"C*({row} + 1) + 2", f"C*{read}") if "C" in sizes else (f"{row} + 3", read)
    return {"train": {"kernel_values": "0", "distance_terms": "0", "divisions": divisions,
                      "multiplications": train},
            "predict": predict | {"multiplications": sums}}


def _geometric(c: Mapping[str, int | tuple[int, ...]], predict: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return formulas for a solver whose columns of L are geometric.

    A substitution multiplies by a generator and by rho, and the second one also by 1 / d and by the ratios.
    Three recursions of the certificate multiply by 1 / (1 + lambda) and by rho. A product with rho counts
    twice where its running value has 64 bits. Then n of y's share, n squares of
    the residual, n of alpha, one of the first exponent and two of the bound.
    """
    rows = c["rows"]
    assert isinstance(rows, int)
    wide, sums = 1 if c["state_bits"] == 32 else 2, 3 * (2 if c["sum_bits"] == 32 else 3)
    return {"train": {"kernel_values": "0", "distance_terms": "0", "divisions": "0",
                      "multiplications": f"{2 * (1 + wide) + 1 + sums + 3}*n + {wide * (rows - 1) + 3}"},
            "predict": predict}


def operations_of(spec: Spec, sizes: dict[str, int], c: Mapping[str, int | tuple[int, ...]],
                  within: Window | None) -> dict[str, dict[str, Operations]]:
    """Return the worst-case operation counts.

    `c` contains the constants of the plan; a prediction reads the vectors `within` the window.
    """
    b = c.get("band", c["last_lag"])  # the last non-zero lag of r, on a uniform grid
    assert spec.toeplitz is not None and isinstance(b, int)
    read = str(within.vectors) if within else "n"
    predict = {"kernel_values": read, "distance_terms": f"{read}*D", "multiplications": read}
    if spec.toeplitz.solver == "banded" and spec.toeplitz.refine:
        longer = c["residual_band"]
        assert isinstance(longer, int)
        return operations({"train": {"kernel_values": "0", "distance_terms": "0", "divisions": "0",
                                     "multiplications": _refined(1 + spec.toeplitz.refine, b, longer)},
                           "predict": predict}, sizes)
    if spec.toeplitz.solver == "banded" and "rho" in c:
        return operations(_geometric(c, predict), sizes)
    if spec.toeplitz.solver == "banded":
        return operations(_banded(spec, sizes, c, b, predict), sizes)
    uniform, solves = spec.toeplitz.scheme == "uniform", 1 + spec.toeplitz.refine
    lags = b if uniform else None
    multiplications, divisions = _recursion(spec, lags)
    # Of each residual twice the products with r, n of y's share and n squares.  Then n squares of alpha, a
    # word of r per kernel value on the grid or per diagonal, two of the bound, and n of alpha's scaling;
    # with corrections alpha begins as zero, and its first residual is n of y's share and n squares; with an
    # intercept the scaling of eta, its share of each residual, and what moves alpha (once more where a step
    # is taken back).  One more division per mean of a diagonal.
    residuals = solves if corrected(spec) else 1
    words = str(b) if uniform else "n-1"
    rest = f"{words} + 2*n+2" if not corrected(spec) else f"{words} + 3*n+2"
    if spec.toeplitz.bias:
        rest += f" + {1 + solves + (solves > 1)}*n + {residuals + 1}"
    residual = f"2*{_products(lags, 'n')} + 2*n"
    return operations({
        "train": {"kernel_values": words if uniform else "n*(n-1)//2",
                  "distance_terms": words if uniform else "D*n*(n-1)//2",
                  "multiplications": f"{multiplications} + {residuals}*({residual}) + {rest}",
                  "divisions": divisions + ("" if uniform else " + n-1")},
        "predict": predict,
    }, sizes)
