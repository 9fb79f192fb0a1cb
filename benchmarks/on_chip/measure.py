"""Select parameters, and measure the methods on the streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..papers.common import Array
from .methods import Method
from .streams import CHOSEN_ON, REPORTED, samples

#: Streams whose learning curves are kept, and on which cost is measured; points of a curve.
SHOWN, POINTS = ("equaliser", "ECG differences", "Mackey-Glass"), 50

Results = dict[str, Any]


def _score(method: Method, name: str, parameters: dict[str, Any]) -> float:
    """Return the mean error over the realisations for selecting parameters."""
    design = samples(name, CHOSEN_ON[0])
    return float(np.mean([(of := samples(name, seed)).error(method.run(design, of, **parameters))
                          for seed in CHOSEN_ON]))


def choose(method: Method, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Select the parameters of a method for a stream.

    Returns two sets of parameters. In the first, only the scale is selected, and the others are defaults; in
    the second, all are selected, one after another.
    """
    known: dict[tuple[Any, ...], float] = {}

    def score(parameters: dict[str, Any]) -> float:
        key = tuple(sorted(parameters.items()))
        if key not in known:
            known[key] = _score(method, name, parameters)
        return known[key]

    def best(found: dict[str, Any], key: str, values: tuple[float, ...]) -> dict[str, Any]:
        return min(({**found, key: value} for value in values), key=score)

    default = tuned = best(method.defaults, *method.scale)
    for key, values in method.tried.items():
        tuned = best(tuned, key, values)
    return default, tuned


def _curve(squares: Array) -> list[float]:
    """Return the mean squared error in each of several equal parts of a stream."""
    return [float(f"{part.mean():.4g}") for part in np.array_split(squares, POINTS)]


def _reported(method: Method, name: str, parameters: dict[str, Any]) -> tuple[list[float], Array]:
    """Return the error of each realisation, and the mean squared error by sample."""
    design, errors, squares = samples(name, CHOSEN_ON[0]), [], np.zeros(0)
    for seed in REPORTED:
        of = samples(name, seed)
        f = method.run(design, of, **parameters)
        errors.append(of.error(f))
        with np.errstate(all="ignore"):
            square = (of.y - f)**2 / len(REPORTED)
        squares = square if len(squares) == 0 else squares + square
    return errors, squares


def measure(method: Method, streams: list[str]) -> Results:
    """Measure a method on streams; measure its cost on the streams with a cost table."""
    found: Results = {}
    for name in streams:
        default, best = choose(method, name)
        errors, squares = _reported(method, name, best)
        plain = errors if best == default else _reported(method, name, default)[0]
        found[name] = {"parameters": best, "default": default, "errors": [float(f"{e:.5g}") for e in errors],
                       "default_errors": [float(f"{e:.5g}") for e in plain]}
        if name in SHOWN:
            found[name]["curve"] = _curve(squares)
            if method.cost is not None:
                cost = method.cost(samples(name, CHOSEN_ON[0]), samples(name, REPORTED[0]), **best)
                found[name]["cost"] = cost.as_dict()
        print(f"{method.title}, {name}: {10 * np.log10(np.mean(errors)):.2f} dB, {best}", flush=True)
    return found


def units(streams: list[str]) -> dict[str, float]:
    """Return the standard deviation of y for each stream, in the unit of the stream."""
    found = {}
    for name in streams:
        of = [samples(name, seed) for seed in REPORTED]
        found[name] = float(np.sqrt(np.mean([np.var(one.y[one.counted]) for one in of]))) * of[0].unit
    return found
