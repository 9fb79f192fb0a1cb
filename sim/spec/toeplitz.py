"""sim.spec: the table [toeplitz] of a spec."""

from __future__ import annotations

from typing import Any, Literal

from .fields import POSITIVE, SpecTable
from .fields import key as _key
from .types import Candidates, LambdaRange


def tolerance_key() -> Any:
    """Return the field of the key `tolerance`, which all batch trainers have."""
    return _key(0.5, ge=1e-6, le=16, allowed="a number, 1e-6 to 16",
                about="status INACCURATE if the certified bound exceeds this fraction of |alpha|",
                remedy="start with 0.5; a smaller value requires a more accurate solution")


class Toeplitz(SpecTable):
    """Trainer for regularised least squares with a Toeplitz kernel matrix."""

    n: int = _key(ge=2, le=65535, about="number of training samples", allowed="an integer, 2 to 65535",
                  remedy="memory grows as n, time as n^2")
    lam: float = _key(alias="lambda", about="regulariser", **POSITIVE,
                      remedy="start with 0.1; raise it for noisy targets")
    scheme: Literal["uniform", "diagonal_mean", "diagonal_mean_biased"] = _key(
        about="uniform (one column at a constant step), diagonal_mean or diagonal_mean_biased",
        allowed="uniform, diagonal_mean, diagonal_mean_biased",
        remedy="use uniform for a sampled signal, where it is exact; the others average the diagonals of the "
               "kernel matrix")
    step: int = _key(1, ge=1, le=2**31 - 1, about="step between samples in ADC counts (scheme uniform)",
                     allowed="an integer from 1", remedy="use 1 if x counts the samples")
    solver: Literal["levinson", "banded", "auto", "schur", "lookahead", "lookahead_f32"] = _key(
        "levinson", about="levinson, banded (fastest; uniform), auto, schur, lookahead, lookahead_f32",
        allowed="levinson, banded, auto, schur, lookahead, lookahead_f32",
        remedy="auto chooses banded if it applies, otherwise levinson. banded is the fastest and the most "
               "accurate, if sigma spans few of the samples. levinson solves all positive definite systems. "
               "schur needs three more vectors of 32 bits and suits short word lengths and a small lambda. "
               "lookahead needs eleven more and solves systems that are not positive definite; lookahead_f32 "
               "does so in float32")
    factor: Literal["columns", "geometric"] | None = _key(
        None, about="columns, or geometric (Laplacian kernel) (banded; omit it: the planner chooses)",
        allowed="columns, geometric",
        remedy="geometric takes 14 to 19 multiplications per sample for every sigma; keys such as `bias` "
               "need columns")
    scaling: Literal["block", "static"] = _key(
        "block", about="block (block floating point) or static (cheaper, may saturate)",
        allowed="block, static", remedy="\"static\" needs [data] or [numbers.ranges] to choose its ranges")
    refine: int = _key(0, ge=0, le=4, about="number of refinement solves on the residual, in 32 bits",
                       allowed="an integer, 0 to 4", remedy="refine = 2 is nearly as accurate as word = 32")
    bias: bool = _key(False, about="also train an intercept (LS-SVM)", allowed="true, false")
    candidates: Candidates | None = _key(
        None, about="more pairs [sigma, lambda], from which training selects the best (banded)",
        allowed="1 to 15 pairs of numbers, 1e-12 to 1e12, such as [[3, 0.1], [6, 0.3]]",
        remedy="list the pairs that may suit the signal, or omit `candidates`")
    lambda_range: LambdaRange | None = _key(
        None, about="range of lambda at run time; the device then computes the factor (banded)",
        allowed="two numbers, 1e-6 to 1e6, such as [0.01, 1]",
        remedy="give the smallest and the largest lambda that the device may set, or omit `lambda_range`")
    stream_lag: int | None = _key(
        None, ge=1, le=2048, about="lag L of a stream of fitted values, an FIR filter of 2 L + 1 taps",
        allowed="an integer, 1 to 2048",
        remedy="start with 10 sigma in samples, or omit it; kerncast plan prints the error bound")
    tolerance: float = tolerance_key()

    @property
    def pairs(self) -> int:
        """Return the number of candidate pairs of sigma and lambda, at least 1."""
        return 1 + len(self.candidates or ())
