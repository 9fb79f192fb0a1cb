"""Small models of every algorithm, whose saved states are forged in Python and in C."""

from __future__ import annotations

from functools import cache

import numpy as np

from kerncast.sim.backend import Backend
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

_IN, _OUT, _WIDE = {"word": "s8f0", "columns": 2}, {"word": "s8f0"}, {"sigma": 30.0}
_LEARNER = {"model": "kernel_lms", "input": _IN, "output": _OUT, "kernel": _WIDE}
_GRID = {"model": "toeplitz_rls", "input": {"word": "u8f0"}, "output": _OUT, "kernel": {"sigma": 2.0}}
_ROW = {"n": 12, "lambda": 0.5, "scheme": "uniform"}


def _online(**keys: object) -> dict[str, object]:
    return {"budget": 6, "eta": 0.5} | keys


#: The tables of each model; `model` is its algorithm.
MODELS: dict[str, dict[str, object]] = {
    "small": _GRID | {"toeplitz": _ROW},
    "biased": _GRID | {"toeplitz": _ROW | {"bias": True}},
    "banded": _GRID | {"kernel": {"sigma": 0.5}, "toeplitz": _ROW | {"solver": "banded"}},
    "centred": _GRID | {"kernel": {"sigma": 0.5}, "toeplitz": _ROW | {"solver": "banded", "bias": True}},
    "lookahead": _GRID | {"toeplitz": _ROW | {"solver": "lookahead"}},
    "fixed": _GRID | {"toeplitz": _ROW | {"scaling": "static"}, "numbers": {"ranges": {"alpha": 4.0}}},
    "means": _GRID
    | {"input": _IN, "kernel": _WIDE, "toeplitz": _ROW | {"scheme": "diagonal_mean", "refine": 1}},
    "cg": _LEARNER | {"model": "kernel_cg", "cg": {"n": 12, "lambda": 0.5, "steps": 6}},
    "learner": _LEARNER | {"online": _online()},
    "wide": _LEARNER | {"online": _online(reduction="fmklms", rho=0.1), "numbers": {"word": 32}},
    "quantised": _LEARNER | {"online": _online(quantise=0.7, linear="rls", reduction="nt")},
    "joint": _LEARNER | {"online": _online(linear="rls", joint=True, truncation=0.5)},
    "fast": _LEARNER | {"online": _online(metric="fast_mklms", max_deterioration=0.01)},
    "aging": _LEARNER | {"online": _online(reduction="at", max_age=9)},
    "floating": _LEARNER | {"online": _online(reduction="klms_f32")},
    "classes": _LEARNER
    | {"output": {"classes": ["a", "b", "c"], "min_margin": 0.1}, "online": _online(reduction="nt")},
    "pair": _LEARNER | {"output": {"classes": ["a", "b"]}, "online": _online(linear="rls")},
    "triple": _LEARNER | {"output": {"classes": ["a", "b", "c"]}, "online": _online(linear="rls", gate=True)},
    "normalised": _LEARNER | {"online": _online(linear="nlms", joint=True)},
    "outputs": _LEARNER | {"output": _OUT | {"outputs": 2}, "online": _online(quantise=0.6)},
    "delayed": _LEARNER | {"input": {"word": "s8f0", "delay": 3}, "online": _online()},
    "cosines": _LEARNER | {"model": "online_kernel_rls", "rls": {"features": 6}},
}


@cache
def plan_of(name: str) -> Plan:
    """Return the plan of a model."""
    tables = dict(MODELS[name])
    tables["model"] = {"name": name, "algorithm": tables["model"]}
    return make_plan(Spec(**tables))


def taught(name: str, count: int) -> Backend:
    """Return a model after a training, or after `count` samples."""
    plan, chance = plan_of(name), np.random.default_rng(count)
    model = open_model(plan)
    size = count if plan.learns else plan.sizes["n"]
    x = chance.integers(-128, 128, (size, plan.sizes["D"]))
    if plan.learns:
        classes = len(plan.class_names)
        shape = (size,) if plan.targets == 1 else (size, plan.targets)
        model.update(x, chance.integers(0, classes, shape) if classes else chance.integers(-128, 128, shape))
    else:
        model.train(None if plan.sizes["D"] == 1 else x, chance.integers(-128, 128, size))
    return model
