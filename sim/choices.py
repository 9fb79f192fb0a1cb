"""sim: the choices that a plan records by name, as types and as questions with a yes or a no.

A plan holds them as text, canonical and hashed; everything else asks these properties, so that mypy sees a
typing error where a comparison of text would be silently false.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

KernelName = Literal["gaussian", "laplacian", "periodic", "polynomial", "linear"]
SchemeName = Literal["uniform", "diagonal_mean", "diagonal_mean_biased"]
SolverName = Literal["levinson", "schur", "lookahead", "lookahead_f32"]
ProjectionName = Literal["none", "fklms", "klms", "ls"]
MetricName = Literal["magnitude", "age", "fklms", "fmklms", "klms", "mklms", "fast_klms",
                 "fast_mklms", "ls", "ls_regularised"]

#: The keys that each kernel takes, all of them needed.
KERNEL_KEYS: dict[str, tuple[str, ...]] = {
    "gaussian": ("sigma",), "laplacian": ("sigma",), "periodic": ("sigma", "period"),
    "polynomial": ("degree", "gamma", "coef0"), "linear": (),
}
#: Kernels of u.v, the product of two samples.
POLYNOMIALS = ("polynomial", "linear")
#: The solvers of a Toeplitz matrix that look ahead: in 32-bit words, and in float32.
LOOKAHEADS = ("lookahead", "lookahead_f32")
#: Rows that one step of look-ahead may take at most, and corrections of its answer.
LOOKAHEAD_BLOCK, LOOKAHEAD_REFINEMENTS = 4, 4
#: Fraction bits of the fixed-point number by which a prediction leaves float32.
FLOAT32_FRAC = 40

#: What each reduction of the online learner stands for: projection and metric (report 836).
REDUCTIONS: dict[str, tuple[ProjectionName, MetricName]] = {
    "fklms": ("fklms", "fklms"), "fmklms": ("fklms", "fmklms"),
    "klms": ("klms", "klms"), "mklms": ("klms", "mklms"),
    "ls": ("ls", "ls"), "ls_regularised": ("ls", "ls_regularised"),
    "nt": ("none", "magnitude"), "mt": ("none", "magnitude"), "at": ("none", "age"),
}
#: Reductions that a device computes in float32, with a fixed budget and no other parts than their own.
FLOAT32 = ("klms_f32", "mklms_f32", "fklms_f32")
#: The reductions that a device has, in integers and in float32.
DEVICE_REDUCTIONS = {name: REDUCTIONS[name.removesuffix("_f32")]
                     for name in ("fklms", "fmklms", "nt", "mt", "at", *FLOAT32)}


def reduction_title(reduction: str, projection: str, metric: str) -> str:
    """Return a reduction's name, and its parts if they differ from the name's."""
    if (projection, metric) == DEVICE_REDUCTIONS[reduction]:
        return reduction
    return f"projection {projection} with metric {metric}"


class Choices:
    """The choices of a plan.

    Of a choice that its algorithm does not have the answer is no, or zero; its name is a KeyError.
    """

    options: Mapping[str, str]

    @property
    def kernel(self) -> KernelName:
        """The kernel."""
        return cast("KernelName", self.options["kernel"])

    @property
    def polynomial(self) -> bool:
        """Whether the kernel is of a product of inputs, not of a distance."""
        return self.kernel in POLYNOMIALS

    @property
    def uniform(self) -> bool:
        """Whether a batch trainer's inputs are a uniform grid, which it makes itself."""
        return self.options.get("scheme") == "uniform"

    @property
    def scheme(self) -> SchemeName:
        """How the Toeplitz matrix is made."""
        return cast("SchemeName", self.options["scheme"])

    @property
    def biased_means(self) -> bool:
        """Whether the means of diagonals are biased, which keeps the matrix positive semidefinite."""
        return self.options.get("scheme") == "diagonal_mean_biased"

    @property
    def plain_means(self) -> bool:
        """Whether the matrix has plain means of diagonals, which may make it indefinite."""
        return self.options.get("scheme") == "diagonal_mean"

    @property
    def solver(self) -> SolverName:
        """The solver of a Toeplitz matrix."""
        return cast("SolverName", self.options["solver"])

    @property
    def looks_ahead(self) -> bool:
        """Whether the solver takes several rows at a time where a leading block is singular."""
        return self.options.get("solver") in LOOKAHEADS

    @property
    def schur(self) -> bool:
        """Whether the solver is the Schur algorithm."""
        return self.options.get("solver") == "schur"

    @property
    def static(self) -> bool:
        """Whether the solver's block exponents do not move."""
        return self.options.get("scaling") == "static"

    @property
    def refine(self) -> int:
        """Corrections of the answer by a solver of shorter words."""
        return int(self.options.get("refine", "0"))

    @property
    def bias(self) -> bool:
        """Whether a training finds an intercept too."""
        return self.options.get("bias") == "1"

    @property
    def lam(self) -> float:
        """The regulariser lambda."""
        return float(self.options["lambda"])

    @property
    def reduction(self) -> str:
        """The reduction of an online learner, a name of :data:`DEVICE_REDUCTIONS`."""
        return self.options["reduction"]

    @property
    def in_float32(self) -> bool:
        """Whether coefficients and kernel values are float32; words are inputs, targets and predictions."""
        return self.options.get("reduction") in FLOAT32

    @property
    def projection(self) -> ProjectionName:
        """What becomes of a vector that leaves: its projection on the others."""
        return cast("ProjectionName", self.options["projection"])

    @property
    def projects(self) -> bool:
        """Whether the vectors that stay take over what one that leaves said."""
        return self.options.get("projection", "none") != "none"

    @property
    def metric(self) -> MetricName:
        """What a vector that leaves is chosen by."""
        return cast("MetricName", self.options["metric"])

    @property
    def newest_only(self) -> bool:
        """Whether no vector but the newest may leave."""
        return self.options.get("newest_only") == "1"
