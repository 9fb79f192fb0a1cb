"""sim: the options of a plan, as types and as properties.

A plan stores its options as text, which is canonical and part of the hash. All other code uses these
properties instead of the text. If a name is misspelt, mypy reports it, while a comparison with a misspelt
text would silently be false.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Literal, cast

KernelName = Literal["gaussian", "laplacian", "matern32", "matern52", "periodic", "polynomial", "linear"]
DistanceName = Literal["squares", "absolutes", "sines", "products"]
SchemeName = Literal["uniform", "diagonal_mean", "diagonal_mean_biased"]
SolverName = Literal["levinson", "banded", "schur", "lookahead", "lookahead_f32"]
ProjectionName = Literal["none", "fklms", "klms", "ls"]
MetricName = Literal["magnitude", "age", "fklms", "fmklms", "klms", "mklms", "fast_klms",
                 "fast_mklms", "ls", "ls_regularised"]

#: The keys that each kernel takes, all of them needed.
KERNEL_KEYS: dict[str, tuple[str, ...]] = {
    "gaussian": ("sigma",), "laplacian": ("sigma",), "matern32": ("sigma",), "matern52": ("sigma",),
    "periodic": ("sigma", "period"),
    "polynomial": ("degree", "gamma", "coef0"), "linear": (),
}
#: Kernels of u.v, the product of two samples.
POLYNOMIALS = ("polynomial", "linear")
#: Matern kernels: degree of the polynomial of the distance that multiplies the exponential.
MATERN = {"matern32": 1, "matern52": 2}
#: The solvers of a Toeplitz matrix that look ahead: in 32-bit words, and in float32.
LOOKAHEADS = ("lookahead", "lookahead_f32")
#: Rows that one step of look-ahead may take at most, and corrections of its answer.
LOOKAHEAD_BLOCK, LOOKAHEAD_REFINEMENTS = 4, 4
#: Fraction bits of the fixed-point number by which a prediction leaves float32.
FLOAT32_FRAC = 40
SIGN, ARGMAX, VOTE, VOTE_CONFIDENCE = DECISIONS = ("sign", "argmax", "vote", "vote_confidence")
#: Decisions with one output per pair of classes.
PAIRWISE = (VOTE, VOTE_CONFIDENCE)
#: Largest number of classes or outputs; a label, unknown included, is an unsigned byte.
MOST_CLASSES = 255
#: Fraction bits of a leverage, and of the residual of its descent.
LEVERAGE_FRAC, RESIDUAL_FRAC = 20, 18

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


def distance_of(kernel: str, columns: int) -> DistanceName:
    """Return the terms of the distance of a kernel; each column adds one term.

    They are squares or absolutes of differences, squared sines of them, or products.  The distance of a
    Matern kernel is Euclidean: with one column the difference itself, otherwise the root of the sum of
    squares.
    """
    if kernel in MATERN:
        return "absolutes" if columns == 1 else "squares"
    known: dict[str, DistanceName] = {"gaussian": "squares", "laplacian": "absolutes", "periodic": "sines"}
    return known.get(kernel, "products")


def reduction_title(reduction: str, projection: str, metric: str) -> str:
    """Return the name of a reduction for messages.

    If its projection or metric is not the default, the name consists of both.
    """
    if (projection, metric) == DEVICE_REDUCTIONS[reduction]:
        return reduction
    return f"projection {projection} with metric {metric}"


class Choices:
    """Options of a plan as properties.

    If the algorithm does not have an option, its property returns False or 0 if it is a flag or a number, and
    raises KeyError if it is a name.
    """

    options: Mapping[str, str]
    sizes: Mapping[str, int]
    word: int

    @property
    def kernel(self) -> KernelName:
        """Return the name of the kernel."""
        return cast("KernelName", self.options["kernel"])

    @property
    def matern(self) -> int:
        """Return the degree of the polynomial of a Matern kernel; 0 for other kernels."""
        return MATERN.get(self.kernel, 0)

    @property
    def distance(self) -> DistanceName:
        """Return the terms of the kernel's distance."""
        return distance_of(self.kernel, self.sizes["D"])

    @property
    def rooted(self) -> bool:
        """Return whether the kernel is a function of the root of its distance."""
        return self.matern != 0 and self.distance == "squares"

    @property
    def delay(self) -> int:
        """Return the length of the delay line at the inputs; 0 if there is none."""
        return int(self.options.get("delay", "0"))

    @property
    def channels(self) -> int:
        """Return the number of channels of the delay line; 1 if there is none."""
        return self.sizes["D"] // self.delay if self.delay else 1

    @property
    def decimate(self) -> int:
        """Return the number of readings whose mean is one sample of the delay line."""
        return int(self.options.get("decimate", "1"))

    @property
    def decision(self) -> str:
        """Return the rule that converts outputs to a class; see :mod:`.decisions`.

        The result is empty if the device does not return classes.
        """
        return self.options.get("decision", "")

    @property
    def class_names(self) -> tuple[str, ...]:
        """Return the class names in the order of the labels; empty for a regression."""
        names = (f"class_{label}" for label in range(MOST_CLASSES))
        return tuple(self.options[name] for name in takewhile(self.options.__contains__, names))

    @property
    def pairwise(self) -> bool:
        """Return whether a classifier has one output per pair of classes."""
        return self.decision in PAIRWISE

    @property
    def polynomial(self) -> bool:
        """Return whether the kernel is a function of u.v, not of a distance."""
        return self.kernel in POLYNOMIALS

    @property
    def uniform(self) -> bool:
        """Return whether the inputs are a uniform grid, which the trainer computes itself."""
        return self.options.get("scheme") == "uniform"

    @property
    def scheme(self) -> SchemeName:
        """Return the method that constructs the Toeplitz matrix."""
        return cast("SchemeName", self.options["scheme"])

    @property
    def eager(self) -> bool:
        """Return whether the trainer extends the solution with each sample it receives."""
        return (self.uniform and self.options.get("solver") == "levinson" and self.refine == 0
                and not self.bias)

    @property
    def biased_means(self) -> bool:
        """Return whether the Toeplitz matrix contains biased means of diagonals.

        Such a matrix is positive semidefinite.
        """
        return self.options.get("scheme") == "diagonal_mean_biased"

    @property
    def plain_means(self) -> bool:
        """Return whether the Toeplitz matrix contains unbiased means of diagonals.

        Such a matrix can be indefinite.
        """
        return self.options.get("scheme") == "diagonal_mean"

    @property
    def solver(self) -> SolverName:
        """Return the name of the Toeplitz solver."""
        return cast("SolverName", self.options["solver"])

    @property
    def looks_ahead(self) -> bool:
        """Return whether the solver is look-ahead Levinson.

        If a leading minor is singular, look-ahead processes several rows in one step.
        """
        return self.options.get("solver") in LOOKAHEADS

    @property
    def banded(self) -> bool:
        """Return whether the solver uses a banded L D L' factor from a table of the plan."""
        return self.options.get("solver") == "banded"

    @property
    def geometric(self) -> bool:
        """Return whether the columns of the banded factor are geometric sequences."""
        return self.options.get("factor") == "geometric"

    @property
    def tunes(self) -> bool:
        """Return whether training compares several pairs of sigma and lambda."""
        return "candidates" in self.options

    @property
    def ranged(self) -> bool:
        """Return whether lambda can change at run time.

        The device then computes the banded factor.
        """
        return "lambda_range" in self.options

    @property
    def long_factor(self) -> bool:
        """Return whether the device computes the banded factor with generators of 62 bits."""
        return self.ranged and self.word > 16

    @property
    def schur(self) -> bool:
        """Return whether the solver is Schur's recursion."""
        return self.options.get("solver") == "schur"

    @property
    def static(self) -> bool:
        """Return whether the solver's block exponents are constant."""
        return self.options.get("scaling") == "static"

    @property
    def refine(self) -> int:
        """Return the number of refinements of a solution with a shorter word length."""
        return int(self.options.get("refine", "0"))

    @property
    def bias(self) -> bool:
        """Return whether training also determines an intercept."""
        return self.options.get("bias") == "1"

    @property
    def lam(self) -> float:
        """Return the regulariser lambda."""
        return float(self.options["lambda"])

    @property
    def reduction(self) -> str:
        """Return the name of the reduction, a key of :data:`DEVICE_REDUCTIONS`."""
        return self.options["reduction"]

    @property
    def in_float32(self) -> bool:
        """Return whether coefficients and kernel values are float32.

        Inputs, targets and predictions are always fixed-point values.
        """
        return self.options.get("reduction") in FLOAT32

    @property
    def projection(self) -> ProjectionName:
        """Return the name of the projection of evicted vectors onto the others."""
        return cast("ProjectionName", self.options["projection"])

    @property
    def projects(self) -> bool:
        """Return whether an evicted vector is projected onto the remaining ones."""
        return self.options.get("projection", "none") != "none"

    @property
    def metric(self) -> MetricName:
        """Return the name of the metric that selects the vector to evict."""
        return cast("MetricName", self.options["metric"])

    @property
    def linear(self) -> bool:
        """Return whether an online learner has a linear part."""
        return "linear" in self.options

    @property
    def novelty(self) -> bool:
        """Return whether an online learner computes the novelty of its samples."""
        return "novelty" in self.options

    @property
    def bounded_update(self) -> bool:
        """Return whether an update can be split into calls of bounded time."""
        return "bounded_update" in self.options

    @property
    def newest_only(self) -> bool:
        """Return whether only the newest vector can be evicted."""
        return self.options.get("newest_only") == "1"
