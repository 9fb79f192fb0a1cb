"""Small cores and one of full size, built once for a simulator, with models to load into them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.rtl import generate_rtl, predictor_cycles, rtl_sources, vectors
from kerncast.codegen.rtl.frames import model_frame, sample_frames
from kerncast.hw.rtl.predictor_backend import outputs
from kerncast.hw.rtl.simulators import Simulation, find_simulator
from kerncast.sim.backend import Outputs, Raw, field_arrays
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.kernel import cast_of, convert_x, input_constants, kernel_constants
from kerncast.sim.model.outputs import classified, learned_outputs, predict_outputs, trained_outputs
from kerncast.sim.model.predict import expand
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.statuses import NOT_TRAINED, OK, SATURATED
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from .kernel_cases import KERNELS
from .rls_cases import RLS

#: The scripts of a campaign are long.
LONG = os.environ.get("KERNCAST_CAMPAIGN") == "1"

#: Each word class, both algorithms, all rounding modes, raw words with and without sign, one column or more.
SPECS = {
    "gains16": """
        model = {name = "gains", algorithm = "kernel_lms"}
        input = {word = "s12f0", columns = 3, offset = [5, -100, 0], gain = [1.0, 0.5, 2.0]}
        output = {word = "s12f0"}
        kernel = {sigma = 600.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 16}
        """,
    "even32": """
        model = {name = "even", algorithm = "kernel_lms"}
        input = {word = "u10f0", columns = 2, offset = 512}
        output = {word = "s16f0"}
        kernel = {sigma = 150.0}
        online = {budget = 5, eta = 0.5}
        numbers = {word = 32, rounding = "half_even"}
        """,
    "even24": """
        model = {name = "even", algorithm = "kernel_lms"}
        input = {word = "u10f0", columns = 2, offset = 512}
        output = {word = "s16f0"}
        kernel = {sigma = 150.0}
        online = {budget = 5, eta = 0.5}
        numbers = {word = 24, rounding = "half_even", exp_table = "medium"}
        """,
    "means24": """
        model = {name = "means", algorithm = "toeplitz_rls"}
        input = {word = "s16f8", columns = 2, gain = [1.0, 3.0]}
        output = {word = "s12f0"}
        kernel = {sigma = 40.0}
        toeplitz = {n = 6, lambda = 0.5, scheme = "diagonal_mean_biased"}
        numbers = {word = 24, exp_table = "small"}
        """,
    "grid16": """
        model = {name = "grid", algorithm = "toeplitz_rls"}
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {sigma = 1.5}
        toeplitz = {n = 8, lambda = 0.1, scheme = "uniform", step = 3}
        numbers = {word = 16}
        """,
    "band16": """
        model = {name = "band", algorithm = "toeplitz_rls"}
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {sigma = 2.0}
        toeplitz = {n = 20, lambda = 0.1, scheme = "uniform", solver = "banded"}
        numbers = {word = 16}
        """,
    "reach16": """
        model = {name = "reach", algorithm = "toeplitz_rls"}
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {sigma = 0.9}
        toeplitz = {n = 45, lambda = 0.1, scheme = "uniform"}
        numbers = {word = 16}
        """,
    "column16": """
        model = {name = "column", algorithm = "kernel_lms"}
        input = {word = "s12f0"}
        output = {word = "s12f0"}
        kernel = {sigma = 600.0}
        online = {budget = 7, eta = 0.5}
        numbers = {word = 16}
        """,
    "means32": """
        model = {name = "means", algorithm = "toeplitz_rls"}
        input = {word = "s16f8", columns = 2, gain = [1.0, 3.0]}
        output = {word = "s12f0"}
        kernel = {sigma = 40.0}
        toeplitz = {n = 6, lambda = 0.5, scheme = "diagonal_mean_biased"}
        numbers = {word = 32, rounding = "floor"}
        """,
    "wrap16": """
        model = {name = "wrap", algorithm = "kernel_lms"}
        input = {word = "s14f0", columns = 2, gain = [1.0, 0.3]}
        output = {word = "s12f0"}
        kernel = {sigma = 3000.0}
        online = {budget = 7, eta = 0.5}
        numbers = {word = 16, casts = {x = "floor", f = "half_even wrap"}}
        """,
    "corners16": """
        model = {name = "corners", algorithm = "kernel_lms"}
        input = {word = "u9f0", columns = 2}
        output = {word = "s12f0"}
        kernel = {type = "laplacian", sigma = 150.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 16}
        """,
    "angles32": """
        model = {name = "angles", algorithm = "kernel_lms"}
        input = {word = "s16f4", columns = 2}
        output = {word = "s12f0"}
        kernel = {type = "periodic", sigma = 0.8, period = 360.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 32}
        """,
    "bias16": """
        model = {name = "bias", algorithm = "toeplitz_rls"}
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 1500}
        kernel = {sigma = 1.5}
        toeplitz = {n = 8, lambda = 0.1, scheme = "uniform", step = 3, bias = true}
        numbers = {word = 16}
        """,
    "bias24": """
        model = {name = "bias", algorithm = "toeplitz_rls"}
        input = {word = "s16f8", columns = 2, gain = [1.0, 3.0]}
        output = {word = "s12f0"}
        kernel = {sigma = 40.0}
        toeplitz = {n = 6, lambda = 0.5, scheme = "diagonal_mean_biased", bias = true}
        numbers = {word = 24, rounding = "half_even"}
        """,
    "turns16": """
        model = {name = "turns", algorithm = "toeplitz_rls"}
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {type = "periodic", sigma = 0.5, period = 50.3}
        toeplitz = {n = 8, lambda = 0.1, scheme = "uniform", step = 3}
        numbers = {word = 16}
        """,
    "powers16": """
        model = {name = "powers", algorithm = "kernel_cg"}
        input = {word = "s10f9", columns = 3}
        output = {word = "s12f0"}
        kernel = {type = "polynomial", degree = 3, gamma = 0.5, coef0 = 0.7}
        cg = {n = 6, lambda = 0.5, steps = 8}
        numbers = {word = 16}
        """,
    "powers32": """
        model = {name = "powers", algorithm = "kernel_cg"}
        input = {word = "u12f12", columns = 2, gain = [1.0, 0.3]}
        output = {word = "s12f0"}
        kernel = {type = "polynomial", degree = 5, gamma = 0.9, coef0 = 0.5}
        cg = {n = 6, lambda = 0.02, steps = 8, tolerance = 8.0}
        numbers = {word = 32}
        """,
    "labels16": """
        model = {name = "labels", algorithm = "kernel_lms"}
        input = {word = "s12f0", columns = 2}
        output = {classes = ["idle", "walk", "run"], min_margin = 0.2}
        kernel = {sigma = 600.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 16}
        """,
    "values24": """
        model = {name = "triple", algorithm = "kernel_lms"}
        input = {word = "s12f0"}
        output = {word = "s12f0", outputs = 3}
        kernel = {sigma = 600.0}
        online = {budget = 7, eta = 0.5}
        numbers = {word = 24, rounding = "half_even"}
        """,
    "sorts16": """
        model = {name = "sorts", algorithm = "kernel_cg"}
        input = {word = "s12f8", columns = 2}
        output = {classes = ["no", "maybe", "yes", "always"]}
        kernel = {sigma = 2.0}
        cg = {n = 6, lambda = 0.5, steps = 8}
        """,
    "sides32": """
        model = {name = "sides", algorithm = "kernel_lms"}
        input = {word = "s12f0", columns = 2}
        output = {classes = ["left", "right"]}
        kernel = {sigma = 600.0}
        online = {budget = 5, eta = 0.5}
        numbers = {word = 32}
        """,
    "digits": """
        model = {name = "digits", algorithm = "kernel_lms"}
        input = {word = "u5f0", columns = 64}
        output = {word = "s2f0"}
        kernel = {sigma = 20.0}
        online = {budget = 41, eta = 0.5}
        numbers = {word = 16}
        """,
} | KERNELS
SPECS["signals16"] = SPECS["band16"].replace("offset = 2048", "offset = 2048, outputs = 3")
SPECS["geometric16"] = SPECS["band16"].replace("{sigma", '{type = "laplacian", sigma')
SPECS["ranged16"] = SPECS["band16"].replace("n = 20,", "n = 40, lambda_range = [0.01, 2.0],")
SPECS["band16_bias"] = SPECS["band16"].replace('"banded"}', '"banded", bias = true}')
#: Verilator takes long to build a core: the small ones that differ most, and elsewhere the one of full size.
SMALL = [(case, "icarus") for case in SPECS if case != "digits"] + [
    (case, "verilator") for case in ("gains16", "means32", "bias16", "corners16", "angles32", "labels16")] + [
    pytest.param(case, "verilator", marks=pytest.mark.campaign)
    for case in ("line24", "powers16", "powers32", "means24", "wrap16", "roots16")]
#: For what does not depend on the arithmetic: cores between which all parts differ; a campaign takes all.
FEW = [entry if entry in (("gains16", "icarus"), ("means32", "icarus"), ("turns16", "icarus"),
                          ("grid16", "icarus"), ("bias16", "icarus"), ("labels16", "icarus"),
                          ("values24", "icarus"), ("sides32", "icarus"), ("gains16", "verilator"),
                          ("angles32", "verilator"))
       else pytest.param(*getattr(entry, "values", entry), marks=pytest.mark.campaign) for entry in SMALL]


def make(case: str) -> Plan:
    return make_plan(Spec.from_text((SPECS | RLS)[case], f"{case}.toml"))


def raw_inputs(plan: Plan, count: int, seed: int) -> Raw:
    """Raw words of the whole range."""
    fmt = plan.signals["x_raw"].format
    return np.random.default_rng(seed).integers(fmt.lo, fmt.hi + 1, (count, plan.sizes["D"]))


def places(plan: Plan, count: int, seed: int) -> Raw:
    """Raw inputs for training: the grid, or noise."""
    if plan.options.get("scheme") != "uniform":
        return raw_inputs(plan, count, seed)
    return plan.integers("x_offset")[0] + 3 * np.arange(count, dtype=np.int64)[:, np.newaxis]


def targets(plan: Plan, count: int, chance: np.random.Generator) -> Raw:
    """Labels, or ADC counts of the whole range."""
    if plan.decision:
        return chance.integers(0, len(plan.class_names), count)
    y = plan.signals["y_raw"].format
    return chance.integers(y.lo, y.hi + 1, (count, plan.outputs) if plan.outputs > 1 else count)


def trained(plan: Plan, seed: int) -> tuple[Outputs, Raw]:
    """The state of a model trained on noise, and what it was trained on."""
    model, held, chance = open_model(plan), vectors(plan), np.random.default_rng(seed)
    x = places(plan, 3 * held if plan.algorithm == "kernel_lms" else held, seed)
    if plan.algorithm == "kernel_lms":
        model.update(x, targets(plan, len(x), chance))
    else:
        y = targets(plan, held, chance)
        status = model.train(None if plan.options.get("scheme") == "uniform" else x, y)["status"]
        assert status[0] == 0
    return model.state(), x


def anything(plan: Plan, seed: int) -> tuple[Outputs, Raw]:
    """A state that no training gives: alpha and intercept at the rails, one of 32 exponents; and its v."""
    chance, held = np.random.default_rng(seed), vectors(plan)
    x, alpha = places(plan, held, seed), plan.signals["alpha"].format
    multipliers = chance.integers(alpha.lo, alpha.hi + 1, held * plan.outputs)
    multipliers[chance.random(held * plan.outputs) < 0.3] = alpha.lo if seed % 2 else alpha.hi
    low, high = (plan.integer(k) if k in plan.constants else 0 for k in ("alpha_exp_min", "alpha_exp_max"))
    v = np.zeros_like(x)
    for raw, words in zip(x, v, strict=True):
        convert_x(raw, input_constants(plan), words, Ranges(plan).log)
    y = plan.signals["y"].format
    bias = {"bias": (y.lo, y.hi, *chance.integers(y.lo, y.hi + 1, 2))[seed % 4]} if plan.bias else {}
    return field_arrays(plan, {"alpha": multipliers, "alpha_exp": low + seed % 32 * (high - low) // 31,
                               "trained": 1, "count": 1 + seed % held, "centers": v} | bias), x


def expected(plan: Plan, state: Outputs, x_raw: Raw) -> Outputs:
    """The integer model's answers from a state."""
    return classified(plan, expected_outputs(plan, state, x_raw))


def expected_outputs(plan: Plan, state: Outputs, x_raw: Raw) -> Outputs:
    """Without label and margin of classes."""
    log, columns = Ranges(plan).log, plan.sizes["D"]
    held = int(state["trained"][0]) * plan.sizes["n"] if plan.trains else int(state["count"][0])
    if held == 0:
        shape = (len(x_raw), plan.outputs) if plan.outputs > 1 else len(x_raw)
        return {"status": np.full(len(x_raw), NOT_TRAINED), "f": np.zeros(shape, dtype=np.int64)}
    v = state["centers"].reshape(-1, columns) if "centers" in state \
        else plan.integer("x_step") * np.arange(held, dtype=np.int64)[:, np.newaxis]
    exponent = int(state["alpha_exp"][0]) if plan.trains else 0
    bias = int(state["bias"][0]) if plan.bias else 0
    if plan.outputs > 1:
        several = trained_outputs(plan, state["alpha"].reshape(plan.outputs, held),
                                  plan.integer("f_shift") - exponent) if plan.trains \
            else learned_outputs(plan, state["alpha"])
        return predict_outputs(x_raw, input_constants(plan), v[:held], several, kernel_constants(plan), log)
    f, status = (np.zeros(len(x_raw), dtype=np.int64) for _ in range(2))
    x = np.zeros(columns, dtype=np.int64)
    for i, raw in enumerate(x_raw):
        convert_x(raw, input_constants(plan), x, log)
        f[i], saturated = expand(x, v, state["alpha"], 0, held, kernel_constants(plan),
                                 plan.integer("mac_shift"),
                                 plan.integer("f_shift") - exponent, bias, cast_of(plan, "f"), log)
        status[i] = SATURATED if saturated else OK
    return {"status": status, "f": f}


@dataclass
class RtlCore:
    """A core in a simulator, and the script that is being written for it."""

    case: str
    plan: Plan
    simulation: Simulation

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.script: list[tuple[object, ...]] = []
        self.wanted: list[Outputs] = []

    def do(self, *operation: object) -> None:
        self.script.append(operation)

    def load(self, *states: Outputs) -> None:
        """Model frames back to back, all taken before what follows."""
        for state in states:
            self.do("model", model_frame(self.plan, state))
        self.do("sent")

    def ask(self, state: Outputs, x_raw: Raw) -> None:
        """Samples back to back, to be answered from `state`."""
        for frame in sample_frames(self.plan, x_raw):
            self.do("sample", frame)
        self.answered(state, x_raw)

    def answered(self, state: Outputs, x_raw: Raw) -> None:
        self.do("answers", len(x_raw))
        self.wanted.append(expected(self.plan, state, x_raw))

    def run(self) -> tuple[int, int, list[object]]:
        """Words compared, words that differ, and what else the script gave back."""
        samples = sum(len(w["f"]) for w in self.wanted)
        limit = 8 * (predictor_cycles(self.plan) * (samples + 4) + 10 * len(self.script)) + 20_000
        wanted, words, mismatches, rest = iter(self.wanted), 0, 0, []
        for found in self.simulation.run(self.script, limit):
            if not (isinstance(found, list) and found and isinstance(found[0], list)):
                rest.append(found)
                continue
            got, want = outputs(self.plan, found), next(wanted)
            assert (got["status"] == want["status"]).all()
            words += sum(want[name].size for name in want if name != "status")
            mismatches += sum(int((got[name] != want[name]).sum()) for name in want)
        assert next(wanted, None) is None, "an answer is missing"
        return words, mismatches, rest


@pytest.fixture(scope="session")
def require_simulator(require_tool) -> Callable[..., None]:
    """Skip, or fail where nothing may be left out, when a simulator is missing."""

    def require(simulator: str, waves: bool = False) -> None:
        try:
            find_simulator(simulator, waves)
        except KerncastError as error:
            for problem in error.problems:
                require_tool(problem.value, problem.remedy)
            raise

    return require


@pytest.fixture(scope="session")
def built(require_simulator, tmp_path_factory) -> Callable[..., RtlCore]:
    """``built(case, simulator, lanes=1)``: the core of a case, with an empty script; built once."""
    cores: dict[tuple[str, str, int], RtlCore] = {}

    def get(case: str, simulator: str, lanes: int = 1) -> RtlCore:
        require_simulator(simulator)
        if (case, simulator, lanes) not in cores:
            plan, folder = make(case), Path(tmp_path_factory.mktemp(f"{case}-{simulator}"))
            generate_rtl(plan, folder)
            simulation = Simulation(rtl_sources(folder, plan), f"{plan.name}_predictor", simulator,
                                    folder / "sim", {"LANES": lanes}, long=LONG)
            cores[case, simulator, lanes] = RtlCore(case, plan, simulation)
        core = cores[case, simulator, lanes]
        core.clear()
        return core

    return get

