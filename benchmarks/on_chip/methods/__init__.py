"""The learners that are compared; each module in this folder defines METHODS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ...papers.common import Array
from ..costs import Cost
from ..streams import Samples

#: Widths of a Gaussian kernel that are tried, in deviations of an input.
WIDTHS = (0.5, 0.8, 1.2, 2.0, 3.0, 5.0)
#: Forgetting factors, and ridges in squared deviations, that every method by least squares tries.
FORGETTING, RIDGES = (0.95, 0.98, 0.99, 0.995, 0.999, 0.9999), (1e-7, 1e-5, 1e-3, 1e-1)


@dataclass(frozen=True)
class Method:
    """Learner with the parameter values to try.

    Parameters
    ----------
    title : str
    run : callable
        ``run(design, samples, **parameters)`` returns a prediction of every sample before it is learnt, shape
        (m,). `design` is another realisation, for learners that derive formats from data.
    defaults : dict
        Default values of all parameters except the scale.
    scale : tuple
        Name and values of the parameter that is selected first, with the defaults of all others. This gives
        the results "with defaults".
    tried : dict of str to tuple
        Values of the other parameters, which are selected one after the other at the best scale.
    cost : callable, optional
        ``cost(design, samples, **parameters)`` measures the cost, if the learner runs on the emulated core.
    linear, ours : bool
        Whether the learner is a linear filter, and whether it is part of kerncast.
    """

    title: str
    run: Callable[..., Array]
    defaults: dict[str, Any]
    scale: tuple[str, tuple[float, ...]]
    tried: dict[str, tuple[float, ...]] = field(default_factory=dict)
    cost: Callable[..., Cost] | None = None
    linear: bool = False
    ours: bool = False


def methods() -> dict[str, Method]:
    """Return all methods by title, in the order of the names of their modules."""
    found: dict[str, Method] = {}
    for module in sorted(iter_modules(__path__), key=lambda module: module.name):
        found |= {method.title: method for method in import_module(f"{__name__}.{module.name}").METHODS}
    return found


__all__ = ["FORGETTING", "RIDGES", "WIDTHS", "Cost", "Method", "Samples", "methods"]
