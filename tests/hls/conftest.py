"""HLS C++ built for this machine once a session, by the first compiler that is found."""

from collections.abc import Callable, Hashable
from functools import cache

import numpy as np
import pytest
from covering import variants

from kerncast.codegen.hls import LEARNER
from kerncast.hw.hls.backend import HlsBackend
from kerncast.sim.backend import Outputs, Raw
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import Vectors, make_vectors
from kerncast.sim.spec import Spec

HEADERS = "python -m pip install --no-deps hls4ml"
COMPILER = "sudo apt-get install -y g++"

#: Each word class, every kernel that has a branch of its own, all rounding modes, all cores.
SPECS = {
    "learner16": """
        input = {word = "s12f0", columns = 3, offset = [5, -100, 0], gain = [1.0, 0.5, 2.0]}
        output = {word = "s12f0"}
        kernel = {sigma = 600.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 16}
        hls = {dialects = ["vitis"], interface = "memory"}
        """,
    "learner24": """
        input = {word = "u10f0", columns = 2, offset = 512}
        output = {word = "s16f0"}
        kernel = {type = "laplacian", sigma = 150.0}
        online = {budget = 5, eta = 0.9, rho = 0.05}
        numbers = {word = 24, rounding = "half_even", exp_table = "medium", formats = {alpha = "s24f24"}}
        hls = {lanes = 2, interface = "free_running", beat_bits = 128}
        """,
    "learner32": """
        input = {word = "s16f4", columns = 2}
        output = {word = "s12f0"}
        kernel = {type = "periodic", sigma = 0.8, period = 360.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 32, rounding = "floor"}
        """,
    "grid16": """
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {sigma = 2.0}
        toeplitz = {n = 24, lambda = 0.1, scheme = "uniform", step = 3}
        numbers = {word = 16}
        hls = {lanes = 2, beat_bits = 64}
        """,
    "means32": """
        input = {word = "s16f8", columns = 2, gain = [1.0, 3.0]}
        output = {word = "s12f0"}
        kernel = {sigma = 40.0}
        toeplitz = {n = 16, lambda = 0.5, scheme = "diagonal_mean_biased"}
        numbers = {word = 32, rounding = "half_even"}
        hls = {dialects = ["vitis"], interface = "memory", beat_bits = 64}
        """,
    "static24": """
        input = {word = "u16f0"}
        output = {word = "s16f15"}
        kernel = {sigma = 2.0}
        toeplitz = {n = 20, lambda = 0.3, scheme = "uniform", scaling = "static"}
        numbers = {word = 24, ranges = {alpha = 1.0}}
        hls = {lanes = 3, dialects = ["vitis"], interface = "memory"}
        """,
    "bias16": """
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 1500}
        kernel = {sigma = 2.0}
        toeplitz = {n = 24, lambda = 0.1, scheme = "uniform", step = 3, bias = true}
        numbers = {word = 16}
        hls = {lanes = 4, interface = "free_running"}
        """,
    "bias32": """
        input = {word = "s12f4", columns = 2}
        output = {word = "s16f0"}
        kernel = {sigma = 40.0}
        toeplitz = {n = 12, lambda = 0.5, scheme = "diagonal_mean", bias = true}
        numbers = {word = 32, rounding = "floor"}
        hls = {lanes = 3}
        """,
    "band16": """
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {sigma = 6.0}
        toeplitz = {n = 40, lambda = 0.01, scheme = "uniform", step = 3, solver = "banded"}
        numbers = {word = 16, casts = {a = "floor", alpha = "half_even"}}
        hls = {lanes = 2, beat_bits = 64}
        """,
    "signals16": """
        input = {word = "u12f0", offset = 2}
        output = {word = "s12f0", outputs = 3}
        kernel = {sigma = 2.0}
        toeplitz = {n = 60, lambda = 0.01, scheme = "uniform", step = 2, solver = "banded"}
        numbers = {word = 16}
        hls = {lanes = 2}
        """,
    "signals32": """
        input = {word = "u8f0"}
        output = {word = "s12f0", outputs = 2}
        kernel = {sigma = 2.0}
        toeplitz = {n = 32, lambda = 0.1, scheme = "uniform", solver = "banded"}
        numbers = {word = 32}
        """,
    "band24": """
        input = {word = "u8f0"}
        output = {word = "s12f0"}
        kernel = {type = "laplacian", sigma = 1.0}
        toeplitz = {n = 60, lambda = 0.3, scheme = "uniform", solver = "banded", bias = true}
        numbers = {word = 24, rounding = "floor"}
        hls = {interface = "free_running"}
        """,
    "band32": """
        input = {word = "u8f0"}
        output = {word = "s12f0"}
        kernel = {sigma = 3.0}
        toeplitz = {n = 60, lambda = 0.01, scheme = "uniform", solver = "banded", bias = true}
        numbers = {word = 32}
        hls = {lanes = 3, dialects = ["vitis"], interface = "memory"}
        """,
    "ranged16": """
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {sigma = 2.0}
        toeplitz = {n = 40, lambda = 0.1, lambda_range = [0.01, 2.0], scheme = "uniform", solver = "banded"}
        numbers = {word = 16, casts = {a = "floor", alpha = "half_even"}}
        hls = {lanes = 2, beat_bits = 64}
        """,
    "ranged24": """
        input = {word = "u8f0"}
        output = {word = "s12f0"}
        kernel = {type = "matern52", sigma = 1.0}
        toeplitz = {n = 60, lambda = 1.0, lambda_range = [0.5, 400.0], scheme = "uniform", solver = "banded"}
        numbers = {word = 24, rounding = "floor"}
        """,
    "ranged32": """
        input = {word = "u8f0"}
        output = {word = "s12f0"}
        kernel = {sigma = 3.0}
        toeplitz = {n = 60, lambda = 0.01, lambda_range = [0.002, 0.3], scheme = "uniform", solver = "banded"}
        numbers = {word = 32}
        hls = {lanes = 3, dialects = ["vitis"], interface = "memory"}
        """,
    "decay16": """
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {type = "laplacian", sigma = 20.0}
        toeplitz = {n = 40, lambda = 0.01, scheme = "uniform", step = 3, solver = "banded"}
        numbers = {word = 16, casts = {a = "floor", alpha = "half_even"}}
        hls = {lanes = 2, beat_bits = 64}
        """,
    "decay24": """
        input = {word = "u8f0"}
        output = {word = "s12f0"}
        kernel = {type = "laplacian", sigma = 1.0}
        toeplitz = {n = 60, lambda = 40.0, scheme = "uniform", solver = "banded"}
        numbers = {word = 24, rounding = "floor"}
        hls = {interface = "free_running"}
        """,
    "decay32": """
        input = {word = "u8f0"}
        output = {word = "s12f0"}
        kernel = {type = "laplacian", sigma = 300.0}
        toeplitz = {n = 60, lambda = 0.1, scheme = "uniform", solver = "banded"}
        numbers = {word = 32}
        hls = {lanes = 3, dialects = ["vitis"], interface = "memory"}
        """,
    "fir16": """
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {sigma = 2.0}
        toeplitz = {n = 40, lambda = 0.1, scheme = "uniform", solver = "banded", stream_lag = 10}
        numbers = {word = 16}
        hls = {lanes = 2, beat_bits = 64}
        """,
    "fir24": """
        input = {word = "u8f0"}
        output = {word = "s12f0"}
        kernel = {type = "matern32", sigma = 2.0}
        toeplitz = {n = 100, lambda = 0.3, scheme = "uniform", stream_lag = 7}
        numbers = {word = 24, casts = {f = "half_even wrap"}}
        hls = {interface = "free_running"}
        """,
    "matern16": """
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {type = "matern32", sigma = 9.0}
        toeplitz = {n = 24, lambda = 0.1, scheme = "uniform", step = 3}
        numbers = {word = 16}
        """,
    "matern24": """
        input = {word = "s10f0", columns = 2}
        output = {word = "s16f0"}
        kernel = {type = "matern32", sigma = 150.0}
        online = {budget = 5, eta = 0.9, rho = 0.05}
        numbers = {word = 24, exp_table = "small", formats = {alpha = "s24f18"}}
        """,
    "matern32": """
        input = {word = "s16f4", columns = 3}
        output = {word = "s12f0"}
        kernel = {type = "matern52", sigma = 500.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 32, rounding = "floor"}
        """,
    "powers16": """
        input = {word = "s10f9", columns = 3}
        output = {word = "s12f0"}
        kernel = {type = "polynomial", degree = 3, gamma = 0.5, coef0 = 0.7}
        cg = {n = 6, lambda = 0.5, steps = 8}
        numbers = {word = 16}
        """,
    "line24": """
        input = {word = "s12f8", columns = 2}
        output = {word = "s12f0"}
        kernel = {type = "linear"}
        cg = {n = 6, lambda = 0.5, steps = 8, tolerance = 8.0}
        numbers = {word = 24, casts = {f = "wrap"}}
        """,
    "labels16": """
        input = {word = "s12f0", columns = 2}
        output = {classes = ["idle", "walk", "run"], min_margin = 0.2}
        kernel = {sigma = 600.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 16}
        hls = {lanes = 2, interface = "free_running", beat_bits = 64}
        """,
    "values32": """
        input = {word = "s12f0", columns = 2}
        output = {word = "s12f0", outputs = 3}
        kernel = {type = "laplacian", sigma = 600.0}
        online = {budget = 5, eta = 0.9, rho = 0.05}
        numbers = {word = 32, rounding = "half_even"}
        hls = {dialects = ["vitis"], interface = "memory"}
        """,
    "sides24": """
        input = {word = "s12f0", columns = 2}
        output = {classes = ["left", "right"]}
        kernel = {sigma = 600.0}
        online = {budget = 5, eta = 0.5}
        numbers = {word = 24}
        """,
    "triple24": """
        input = {word = "s12f8", columns = 2}
        output = {word = "s12f0", outputs = 3}
        kernel = {sigma = 2.0}
        cg = {n = 6, lambda = 0.5, steps = 8}
        numbers = {word = 24}
        hls = {dialects = ["vitis"], interface = "memory"}
        """,
}
_ALGORITHMS = {"online =": "kernel_lms", "toeplitz =": "toeplitz_rls", "cg =": "kernel_cg"}


def spec_of(case: str) -> Spec:
    text = SPECS[case]
    algorithm = next(name for table, name in _ALGORITHMS.items() if table in text)
    return Spec.from_text(f'model = {{name = "{case}", algorithm = "{algorithm}"}}\n{text}', f"{case}.toml")


def choices(case: str) -> set[Hashable]:
    """The choices of the spec of a case."""
    return variants(spec_of(case))


@cache
def make(case: str) -> Plan:
    return make_plan(spec_of(case))


def drawn(plan: Plan, signal: str, shape: tuple[int, ...], chance: np.random.Generator) -> Raw:
    """Raw words over the whole range, an eighth of them rails."""
    fmt = plan.signals[signal].format
    words = chance.integers(fmt.lo, fmt.hi, shape, endpoint=True)
    words[chance.random(shape) < 0.125] = chance.choice([fmt.lo, fmt.hi])
    return words


def targets(plan: Plan, count: int, chance: np.random.Generator) -> Raw:
    """Labels, or ADC counts."""
    if plan.decision:
        return chance.integers(0, len(plan.class_names), count)
    return drawn(plan, "y_raw", (count, plan.outputs) if plan.outputs > 1 else (count,), chance)


def samples(plan: Plan, count: int, chance: np.random.Generator) -> Raw:
    """Inputs, a third of which came before or are near to one that did."""
    x = drawn(plan, "x_raw", (count, plan.sizes["D"]), chance)
    fmt = plan.signals["x_raw"].format
    for i in range(2, count, 3):
        before = x[int(chance.integers(max(0, i - 12), i))]
        x[i] = np.clip(before + chance.integers(-2, 3, len(before)) * int(chance.integers(2)), fmt.lo, fmt.hi)
    return x


def vectors(plan: Plan, words: int, seed: int | None = None) -> Vectors:
    """Calls that some back end answers with about so many words."""
    chance = np.random.default_rng(len(plan.name) + words if seed is None else seed)
    if plan.learns:
        x = samples(plan, words // 4, chance)
        # What no core learns is given its last state.
        empty = [("predict", x[:2], None)] if LEARNER.fits(plan) else []
        return make_vectors(open_model(plan), [*empty,
                                   ("update", x, targets(plan, len(x), chance)),
                                   ("predict", x[:words // 5], None)])
    calls: list[tuple[str, Raw | None, Raw | None]] = []
    n = plan.sizes["n"]
    # What no core trains is given its last state, so there is but one.
    for _ in range(max(2, words // (4 * n)) if plan.options.get("solver") else 1):
        x = None if plan.options.get("scheme") == "uniform" else samples(plan, n, chance)
        asked = samples(plan, 40 if plan.options.get("solver") else words // 2, chance)
        calls += [("train", x, targets(plan, n, chance)), ("predict", asked, None)]
    return make_vectors(open_model(plan), calls)


@pytest.fixture(scope="session")
def require_hls(require_tool: Callable[[str, str], str]) -> None:
    """The headers and a compiler, or a skip with what installs them."""
    require_tool("python:hls4ml", HEADERS)
    require_tool("g++", COMPILER)


@pytest.fixture(scope="session")
def backend(require_hls: None, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., HlsBackend]:
    """``backend(plan, dialect, state)``: in its initial state, compiled where it was not before."""
    made: dict[tuple[str, str], HlsBackend] = {}

    def opened(plan: Plan, dialect: str, state: Outputs | None = None) -> HlsBackend:
        key = plan.hash, dialect
        if key not in made:
            folder = tmp_path_factory.mktemp(plan.name)
            made[key] = HlsBackend(plan, dialect, build_dir=folder, flags=("-O0",))
        if state is not None:
            made[key]._given = state
        made[key].reset()
        return made[key]

    return opened
