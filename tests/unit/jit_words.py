"""A program that prints the words of a few models, for whichever engine runs it."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from kerncast.sim import jit
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

N = 40


def spec_of(word: int, rounding: str, scheme: str) -> Spec:
    """A trainer, or the learner where `scheme` is ``online``."""
    algorithm: dict[str, Any] = {"model": {"name": "t", "algorithm": "kernel_lms"},
                                 "online": {"budget": 4, "eta": 0.7, "rho": 0.01}}
    if scheme != "online":
        algorithm = {"model": {"name": "t", "algorithm": "toeplitz_rls"},
                     "toeplitz": {"n": N, "lam": 0.05, "scheme": scheme}}
    columns = 1 if scheme == "uniform" else 2
    return Spec(input={"word": "u12f0", "columns": columns}, output={"word": "s16f0"},
                kernel={"sigma": 2.5 if scheme == "uniform" else 900.0},
                numbers={"word": word, "rounding": rounding}, **algorithm)


def words_of(spec: Spec) -> list[Any]:
    """Every word of the answers and of the state, for targets at the rails."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2**12, (N, spec.input.columns))
    y = rng.choice(np.array([-(2**15), 2**15 - 1]), N)
    model = open_model(make_plan(spec))
    train = model.update(x, y) if spec.online else model.train(x, y)
    answers = {**train, **model.state(), "f_test": model.predict(x[:5])["f"]}
    return [[name, words.tolist()] for name, words in sorted(answers.items())]


def main() -> None:
    """One line a case, after a line that names the jit."""
    print(json.dumps({"compiled": jit.COMPILED, "numba": "numba" in sys.modules}))
    for word in (16, 32):
        for rounding in ("floor", "half_up", "half_even"):
            for scheme in ("uniform", "diagonal_mean_biased", "online"):
                print(json.dumps([word, rounding, scheme, words_of(spec_of(word, rounding, scheme))]))


if __name__ == "__main__":
    main()
