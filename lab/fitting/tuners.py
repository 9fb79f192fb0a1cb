"""lab.fitting: define the hyperparameters and variants of each algorithm.

A new algorithm needs one entry in :data:`TUNERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...sim.choices import MATERN
from ...sim.spec import Spec
from ..drafting import MANY_COLUMNS, OF_CLASSES, OF_SIGNALS, WIDER, ridge
from .kernels import equivalent_width

#: Values by table and key, as :func:`...sim.spec.edit.edited` takes them.
Changes = dict[tuple[str, str], Any]


@dataclass(frozen=True)
class Number:
    """Hyperparameter that the search multiplies and divides by factors.

    Attributes
    ----------
    table, key : str
        Its place in the spec.
    lo, hi : float
        Inclusive bounds.
    """

    table: str
    key: str
    lo: float = 1e-12
    hi: float = 1e12


@dataclass(frozen=True)
class Variant:
    """Alternative values of the keys that the search does not scale by factors.

    Attributes
    ----------
    changes : dict
        The alternative values.
    gain : float
        Relative decrease of the error that justifies the memory and time of the variant.
    rescan : bool
        Whether to scan the hyperparameters again before the variant is compared.
    ordered : bool
        Whether the variant is used only if each sample is predicted before it is learnt.
    others : tuple of dict
        More values to evaluate next to `changes`. Only the best of all is compared, after its hyperparameters
        were moved in large steps.
    """

    changes: Changes
    gain: float = 0.01
    rescan: bool = False
    ordered: bool = False
    others: tuple[Changes, ...] = ()


@dataclass(frozen=True)
class Tuner:
    """Search space of an algorithm.

    Attributes
    ----------
    numbers : tuple of Number
        Hyperparameters. The first one is the width of the kernel, if the kernel has one.
    variants : callable
        Function of a spec that yields variants.
    remedies : callable
        Function of a spec that yields changes for a candidate whose status is not ok, the cheapest first.
    """

    numbers: tuple[Number, ...]
    variants: Callable[[Spec], Iterator[Variant]]
    remedies: Callable[[Spec], Iterator[Changes]]


_SIGMA = Number("kernel", "sigma")
_LIMITS = ("max_deterioration", "truncation", "max_age")
#: Share by which the error must fall for twice the dictionary, for another algorithm, or for another kernel.
_FOR_MEMORY, _FOR_ALGORITHM, _FOR_KERNEL = 0.1, 0.1, 0.02
_MAX_REFINE = 2
_LEAST_BUDGET, _MOST_BUDGET = 8, 1024
_MOST_LAGS, _MOST_PASSES = 64, 64
#: Features of a learner that replaces another one.
_FEATURES = 64
#: Relative decrease of the error that justifies a linear part.
_FOR_LINEAR = 0.05
#: Numbers of last errors that correct a prediction.
_LAST_ERRORS = (2, 6)


def _of_toeplitz(spec: Spec) -> Iterator[Variant]:
    """Yield variants of a Toeplitz trainer.

    These are other kernels, longer word lengths, and conjugate gradients on the exact kernel matrix. The
    latter is used only for schemes whose Toeplitz matrix approximates the kernel matrix.
    """
    assert spec.toeplitz is not None
    if spec.toeplitz.scheme == "uniform":
        if spec.kernel.type == "gaussian":
            yield Variant({("kernel", "type"): "laplacian"}, _FOR_KERNEL, rescan=True)
        if first := [*_matern(spec)]:
            yield Variant(first[0], _FOR_KERNEL, others=tuple(first[1:]))
        yield from (Variant(change, _FOR_MEMORY) for change in _longer(spec))
    if spec.toeplitz.scheme != "uniform" and not spec.toeplitz.bias:
        yield Variant({("model", "algorithm"): "kernel_cg", ("toeplitz", ""): None,
                       ("cg", "n"): spec.toeplitz.n, ("cg", "lambda"): spec.toeplitz.lam}, _FOR_ALGORITHM,
                      rescan=True)


def _matern(spec: Spec) -> Iterator[Changes]:
    """Yield the other Matern kernels, at the width that smooths as much.

    A scan of their widths would take as long as the whole search.
    """
    kind, sigma = spec.kernel.type, spec.kernel.sigma
    if spec.toeplitz is None or sigma is None or kind == "periodic":
        return
    lam = spec.toeplitz.lam
    # The key factor is for the Laplacian kernel only.
    free: Changes = {} if spec.toeplitz.factor is None else {("toeplitz", "factor"): None}
    step = abs(spec.input.gains[0]) * float(spec.input.format.lsb) * spec.toeplitz.step
    for other in MATERN:
        if other != kind:
            width = equivalent_width(kind, sigma / step, lam, other) * step
            yield {("kernel", "type"): other, ("kernel", "sigma"): float(f"{width:.4g}"),
                   ("toeplitz", "lambda"): lam, **free}


def _more_exact(spec: Spec) -> Iterator[Changes]:
    """Yield remedies of a Toeplitz trainer: refinement, then longer word lengths."""
    assert spec.toeplitz is not None
    if spec.toeplitz.scheme == "diagonal_mean":  # has no bound
        yield {("toeplitz", "scheme"): "diagonal_mean_biased"}
    if spec.toeplitz.solver not in ("lookahead_f32", "banded") and spec.toeplitz.factor is None:
        yield from ({("toeplitz", "refine"): refine}
                    for refine in range(spec.toeplitz.refine + 1, _MAX_REFINE + 1))
    yield from _longer(spec)


def _longer(spec: Spec) -> Iterator[Changes]:
    """Yield changes to longer word lengths."""
    yield from ({("numbers", "word"): word} for word in (24, 32) if word > spec.numbers.word)


def _of_cg(spec: Spec) -> Iterator[Variant]:
    """Yield variants of conjugate gradients: more steps, then fewer steps."""
    assert spec.cg is not None
    yield Variant({("cg", "steps"): 2 * spec.cg.steps}, 0.02)
    if spec.cg.steps > 1:
        yield Variant({("cg", "steps"): spec.cg.steps // 2}, 0.0)


def _more_steps(spec: Spec) -> Iterator[Changes]:
    assert spec.cg is not None
    yield from ({("cg", "steps"): factor * spec.cg.steps} for factor in (2, 4))
    yield from _longer(spec)


def _of_lms(spec: Spec) -> Iterator[Variant]:
    """Yield variants of an online learner.

    These are other numbers of lags, the linear part, the correction by the last errors, reductions,
    dictionary sizes, and another algorithm.
    """
    assert spec.online is not None
    online = spec.online
    if spec.data is not None and spec.data.lagged:
        yield from _other_lags(spec)
    free: Changes = {("online", key): None for key in (*_LIMITS, "newest_only")
                     if getattr(online, key) not in (None, False)}
    if free:
        yield Variant(free)
    if online.linear is None:
        for linear in _linear_parts(spec):
            yield Variant(linear, _FOR_LINEAR)
            if free:
                yield Variant({**free, **linear}, _FOR_LINEAR)
    else:
        yield from (Variant({("online", "last_errors"): count}, ordered=True) for count in _LAST_ERRORS
                    if count != online.last_errors)
        if online.last_errors is not None:
            yield Variant({("online", "last_errors"): None}, 0.0)
    yield from (Variant({("online", "quantise"): value}) for value in (0.5, 0.8, 0.95)
                if online.quantise != value)
    for name in ("nt", "fmklms", "fklms"):
        if online.reduction != name:
            parts = {("online", key): None for key in ("projection", "metric") if getattr(online, key)}
            yield Variant({**free, **parts, ("online", "reduction"): name})
    if 2 * online.budget <= _MOST_BUDGET:
        yield Variant({("online", "budget"): 2 * online.budget}, _FOR_MEMORY)
    if online.budget >= 2 * _LEAST_BUDGET:
        yield Variant({("online", "budget"): online.budget // 2}, 0.0)
    if spec.output.classes is not None and 4 * online.passes <= _MOST_PASSES:
        yield Variant({("online", "passes"): 4 * online.passes}, rescan=True)
    yield Variant(_in_random_features(spec), _FOR_ALGORITHM, rescan=True)


def _in_random_features(spec: Spec) -> Changes:
    """Return changes to online kernel RLS; for classes, the kernel is wider."""
    assert spec.online is not None
    changes: Changes = {("model", "algorithm"): "online_kernel_rls", ("online", ""): None,
                        ("rls", "features"): _FEATURES, ("rls", "passes"): spec.online.passes}
    if spec.output.classes is None and (spec.data is None or spec.data.classes is None):
        return changes
    assert spec.kernel.sigma is not None
    return changes | {("kernel", "sigma"): float(f"{WIDER * spec.kernel.sigma:.4g}")}


def _linear_parts(spec: Spec) -> Iterator[Changes]:
    """Yield linear parts; as classes do not drift, theirs learn the residual."""
    classes = spec.output.classes is not None
    joint: Changes = {("online", "joint"): True} if classes else {}
    if spec.input.columns > MANY_COLUMNS:
        yield {("online", "linear"): "nlms", **joint}
        return
    word = spec.input.format
    largest = max(abs(gain * (raw - offset)) * float(word.lsb) for raw in (word.lo, word.hi)
                  for gain, offset in zip(spec.input.gains, spec.input.offsets, strict=True))
    for share in (OF_SIGNALS, OF_CLASSES) if classes else (OF_SIGNALS,):
        yield {("online", "linear"): "rls", **joint, ("online", "linear_ridge"): ridge(largest, share)}


def _other_lags(spec: Spec) -> Iterator[Variant]:
    """Yield twice and half the number of lags, with the kernel width adapted."""
    columns, sigma = spec.input.columns, spec.kernel.sigma
    assert sigma is not None
    for other, gain in ((2 * columns, 0.05), (columns // 2, 0.0)):
        if 1 <= other <= _MOST_LAGS:
            width = float(f"{sigma * (other / columns) ** 0.5:.4g}")
            yield Variant({("input", "columns"): other, ("kernel", "sigma"): width}, gain)


def _of_rls(spec: Spec) -> Iterator[Variant]:
    """Yield variants of online RLS: other numbers of features and forgetting factors."""
    assert spec.rls is not None
    yield Variant({("rls", "features"): min(2 * spec.rls.features, 512)}, _FOR_MEMORY)
    yield Variant({("rls", "features"): max(spec.rls.features // 2, 2)}, 0.0)
    yield from (Variant({("rls", "forgetting"): value}) for value in (0.99, 0.999, 0.9999)
                if spec.rls.forgetting != value)


#: By algorithm.
TUNERS: dict[str, Tuner] = {
    "toeplitz_rls": Tuner((_SIGMA, Number("toeplitz", "lambda")), _of_toeplitz, _more_exact),
    "kernel_cg": Tuner((_SIGMA, Number("cg", "lambda")), _of_cg, _more_steps),
    "online_kernel_rls": Tuner((_SIGMA, Number("rls", "ridge")), _of_rls, _longer),
    "kernel_lms": Tuner((_SIGMA, Number("online", "eta", 1e-6, 1.9)), _of_lms, _longer),
}
