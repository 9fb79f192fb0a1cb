"""The compared learners; each module of this folder adds a list METHODS."""

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
    """Learner with the parameter values that are tried.

    Parameters
    ----------
    title : str
    run : callable
        ``run(design, samples, **parameters)`` returns the prediction of every sample before it is learned,
        shape (m,).  `design` is another realisation, for a learner whose formats are derived from data.
    defaults : dict
        Default values of all parameters except the scale.
    scale : tuple
        The parameter that is chosen first, and its values. With the defaults of all others, it gives the
        figures "with defaults".
    tried : dict of str to tuple
        Values of the other parameters, tried at the best scale, one parameter after the other.
    cost : callable, optional
        ``cost(design, samples, **parameters)``, if the learner runs on the emulated core.
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
    """Return all methods by title, in the order of the modules' names."""
    found: dict[str, Method] = {}
    for module in sorted(iter_modules(__path__), key=lambda module: module.name):
        found |= {method.title: method for method in import_module(f"{__name__}.{module.name}").METHODS}
    return found


__all__ = ["FORGETTING", "RIDGES", "WIDTHS", "Cost", "Method", "Samples", "methods"]
