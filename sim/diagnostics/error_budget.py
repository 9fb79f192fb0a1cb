"""sim.diagnostics: the error budget of a run; its terms add up to the total error.

The error that the user sees on the training data is ``f - y``: predictions of the integer model, at the
training inputs, minus the targets.  A chain of float64 models connects the two; each differs from the
previous one in one property.  The terms are the differences of consecutive models, so as vectors they add
up to ``f - y``:

=============  ===================================================  =================================
algorithm      from the targets on, each model                      differs in the term
=============  ===================================================  =================================
toeplitz_rls   alpha = (K + lambda I)^-1 y on the true matrix K     regularisation
               alpha = (T + lambda I)^-1 y                          Toeplitz approximation
               the integer model                                    quantisation
kernel_cg      alpha = (K + lambda I)^-1 y                          regularisation
               the same number of steps of conjugate gradients      early stopping
               the integer model                                    quantisation
kernel_lms     the learning rule with no budget                     learning rule
               the rule with its budget N                           reduction
               the integer model                                    quantisation
=============  ===================================================  =================================

For a model trained elsewhere (kernel_predictor) the error is ``f - f_float``.  The models between the two
round the centers and samples (input rounding), then the coefficients too (coefficients); the integer model
adds the errors of kernel values and rounding (arithmetic).

Without regularisation the first model would be y itself: K is positive definite, so the exact solution
interpolates every target.  Quantisation contains all effects of integers: quantised inputs and targets,
formats, tables, casts; for learners also decisions that rounding changed, such as which vector to remove.

Norms of the terms do not add up.  The *part* of a term is its projection on the total error,
``<term, f - y> / |f - y|^2``: parts add up to 1, and a negative one counteracts the others.
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
    """Terms of an error.

    Parameters
    ----------
    terms : dict of str to ndarray of float64, shape (m,)
        Terms by name, in units of y, at the training inputs; shape (m, C) for several outputs.
    """

    terms: dict[str, Array]

    @property
    def total(self) -> Array:
        """Return the total error: the sum of the terms."""
        total: Array = np.sum(list(self.terms.values()), axis=0)
        return total

    def rms(self, name: str | None = None) -> float:
        """Return the root mean square of a term, or of the total, in units of y."""
        return float(np.sqrt(np.mean((self.total if name is None else self.terms[name]) ** 2)))

    def part(self, name: str) -> float:
        """Return the projection of a term on the total, or 0 if the total error is 0.

        The projections add up to 1.
        """
        total = self.total
        square = float(np.vdot(total, total))
        return float(np.vdot(self.terms[name], total)) / square if square else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary for ``--json``."""
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
        The training data, with explicit inputs for a uniform grid.
    passes : int
        Presentations of the data (online learners).

    Returns
    -------
    ErrorBudget or None
        None above :data:`MAX_SAMPLES`, for online kernel RLS, or if the true kernel matrix is singular in
        float64.
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
    """Return the quantised centers (N, D) and coefficients of an imported model.

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
    """Predict without approximation; return None if the system has no solution.

    The prediction uses the full kernel matrix and elimination, or an unlimited dictionary.
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
