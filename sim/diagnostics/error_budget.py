"""sim.diagnostics: divide the error of a run into terms that add up to it.

The total error on the training data is ``f - y``: the predictions of the integer model at the training
inputs, minus the targets. A sequence of models in float64 leads from the targets to the integer model, and
each model differs from the previous one in one property. A term is the difference between the predictions of
two consecutive models, so the terms, which are vectors, add up to ``f - y``:

=============  ===================================================  =================================
algorithm      models in order, starting after the targets          term: change from the row above
=============  ===================================================  =================================
toeplitz_rls   alpha = (K + lambda I)^-1 y on the true matrix K     regularisation
               alpha = (T + lambda I)^-1 y                          Toeplitz approximation
               the integer model                                    quantisation
kernel_cg      alpha = (K + lambda I)^-1 y                          regularisation
               the same number of steps of conjugate gradients      early stopping
               the integer model                                    quantisation
kernel_lms     the learning rule with an unlimited dictionary       learning rule
               the rule with dictionary size N                      reduction
               the integer model                                    quantisation
=============  ===================================================  =================================

For a model trained elsewhere (kernel_predictor), the total error is ``f - f_float``, where ``f_float`` are
the predictions in float64. The first model rounds the centers and the samples (term: input rounding), the
second one also rounds the coefficients (term: coefficients), and the integer model adds the rounding errors
of kernel values and sums (term: arithmetic).

Without regularisation, the predictions of the first model would equal y: K is positive definite, so the exact
solution interpolates every target. Quantisation contains all effects of integer arithmetic: quantised inputs
and targets, formats, tables and casts; for online learners also the decisions that rounding changes, such as
which vector to remove.

The norms of the terms do not add up to the norm of the total error. The *part* of a term is its projection on
the total error, ``<term, f - y> / |f - y|^2``. The parts add up to 1, and a term with a negative part reduces
the total error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..backend import Raw
from ..decisions import spread
from ..kernels import DistanceKernel
from ..model.base import convert_inputs
from ..model.kernel import input_constants
from ..model.ranges import Ranges
from ..plan import Plan
from ..reference.backend import FloatReference
from ..reference.bias import solve_with_bias
from ..reference.online.expansion import expand
from ..reference.online.kernel_lms import KernelLMS
from ..reference.solvers.elimination import elimination
from ..reference.systems.system import KernelSystem

#: Largest number of samples for a budget, which factorises the true kernel matrix.
MAX_SAMPLES = 4096


@dataclass(frozen=True)
class ErrorBudget:
    """Terms of the error of a run.

    Parameters
    ----------
    terms : dict of str to ndarray of float64, shape (m,)
        The value of each term at the training inputs, in units of y; shape (m, C) for several outputs.
    """

    terms: dict[str, Array]

    @property
    def total(self) -> Array:
        """Return the total error, which is the sum of the terms."""
        total: Array = np.sum(list(self.terms.values()), axis=0)
        return total

    def rms(self, name: str | None = None) -> float:
        """Return the RMS of a term, or of the total error, in units of y."""
        return float(np.sqrt(np.mean((self.total if name is None else self.terms[name]) ** 2)))

    def part(self, name: str) -> float:
        """Return the part of a term in the total error, or 0 if the total error is 0.

        The parts of all terms add up to 1.
        """
        total = self.total
        square = float(np.vdot(total, total))
        return float(np.vdot(self.terms[name], total)) / square if square else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the error budget as a dictionary for ``--json``."""
        return {"samples": len(self.total), "rms": self.rms(),
                "terms": {name: {"rms": self.rms(name), "part": self.part(name)} for name in self.terms}}


def error_budget(plan: Plan, f: Array, reference: FloatReference, x_raw: Raw, y_raw: Raw,
                 passes: int = 1) -> ErrorBudget | None:
    """Compute the error budget of a run.

    Parameters
    ----------
    plan : Plan
    f : ndarray of float64, shape (m,), or (m, C) for several outputs
        Predictions of the integer model at the training inputs, in units of y.
    reference : FloatReference
        The float reference, trained on the same data.
    x_raw, y_raw : ndarray of int64, shapes (m, D) and (m,)
        ADC counts of the training data; for a uniform grid, `x_raw` contains the grid points.
    passes : int
        Number of passes over the data (online learners).

    Returns
    -------
    ErrorBudget or None
        None for more than :data:`MAX_SAMPLES` samples, for online kernel RLS, or if the exact kernel matrix
        is singular in float64.
    """
    if len(y_raw) > MAX_SAMPLES or plan.second_order:
        return None
    y = reference.targets(y_raw)
    f_first = _unlimited(plan, reference, x_raw, y, passes)
    if f_first is None:
        return None
    first, second = {"toeplitz_rls": ("regularisation", "Toeplitz approximation"),
                     "kernel_cg": ("regularisation", "early stopping"),
                     "kernel_lms": ("learning rule", "reduction")}[plan.algorithm]
    f_second = reference.predict(x_raw)
    return ErrorBudget({first: f_first - y, second: f_second - f_first, "quantisation": f - f_second})


def table_words(plan: Plan) -> dict[str, NDArray[np.int64]]:
    """Return the integer centers (N, D) and coefficients of an imported model.

    The coefficients have shape (N,), or (N, C) for several outputs.
    """
    found = {name: np.array(plan.tables[name].values, dtype=np.int64) for name in ("alpha", "centers")}
    count, alpha = plan.sizes["N"], found["alpha"]
    if "C" in plan.sizes:
        ends = plan.tables["group_end"].values if plan.pairwise else ()
        alpha = spread(alpha.reshape(count, -1), tuple(np.diff((0, *ends)).tolist()))
    return {"alpha": alpha, "centers": found["centers"].reshape(count, plan.sizes["D"])}


def predictor_budget(plan: Plan, f: Array, reference: FloatReference, x_raw: Raw) -> ErrorBudget:
    """Compute the error budget of an imported model.

    The terms add up to ``f - f_float``.

    Parameters
    ----------
    plan : Plan
    f : ndarray of float64, shape (m,)
        Predictions of the integer model, in units of y.
    reference : FloatReference
    x_raw : ndarray of int64, shape (m, D)
    """
    words, unit, lsb = table_words(plan), float(Fraction(plan.units["x"])), float(Fraction(plan.units["y"]))
    x = np.zeros_like(x_raw)
    convert_inputs(x_raw, input_constants(plan), x, Ranges(plan).log)
    samples: Array = x.astype(np.float64) * unit
    finer = plan.signals["alpha"].format.frac - plan.signals["y"].format.frac
    alpha: Array = words["alpha"].astype(np.float64) * (lsb * 2.0 ** -finer)
    v: Array = words["centers"].astype(np.float64) * unit
    held = reference.held
    first = reference.predict(x_raw)
    second = expand(reference.kernel, samples, v, reference.alpha[held]) + reference.bias
    bias = np.array(plan.tables["bias"].values) if "C" in plan.sizes else plan.integer("bias")
    third = expand(reference.kernel, samples, v, alpha) + bias * lsb
    return ErrorBudget({"input rounding": second - first, "coefficients": third - second,
                        "arithmetic": f - third})


def _unlimited(plan: Plan, reference: FloatReference, x_raw: Raw, y: Array, passes: int) -> Array | None:
    """Predict with the exact method; return None if the system has no solution.

    A batch trainer solves the system of the full kernel matrix by elimination. An online learner uses an
    unlimited dictionary.
    """
    X, options = reference.inputs(x_raw), plan.options
    if plan.trains:
        solve = partial(elimination, KernelSystem(reference.kernel, X, plan.lam))
        solution = solve_with_bias(solve, y) if plan.bias else solve(y)
        return expand(reference.kernel, X, X, solution.x) + solution.bias if solution.ok else None
    assert isinstance(reference.kernel, DistanceKernel)
    eta, rho = float(options["eta"]), float(options["rho"])
    outputs = (plan.outputs,) if "C" in plan.sizes else ()
    learner = KernelLMS(plan.sizes["D"], reference.kernel, eta, rho, "none", outputs=outputs)
    for _ in range(passes):
        learner.learn(X, y)
    return learner.predict(X)
