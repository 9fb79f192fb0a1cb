"""A structure overwritten in RAM met signed overflow and impossible shifts in C."""

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

TRAPS = ("-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
COMMON = {"input": {"word": "s12f0", "columns": 3}, "output": {"word": "s12f0"}, "kernel": {"sigma": 900.0},
          "numbers": {"word": 32}}
LEARNER = {"budget": 7, "eta": 0.4, "reduction": "fklms"}
MODELS = {
    "batch": {"cg": {"n": 12, "lambda": 0.5}},
    "polynomial": {"cg": {"n": 12, "lambda": 0.5}, "numbers": {"word": 16},
                   "input": {"word": "s12f11", "columns": 3},
                   "kernel": {"type": "polynomial", "degree": 2, "gamma": 0.5, "coef0": 1.0}},
    "distances": {"online": LEARNER | {"metric": "fmklms"}},
    "distances of 24 bits": {"online": LEARNER | {"metric": "fmklms"}, "numbers": {"word": 24}},
    "weighted sums of 24 bits": {"online": LEARNER | {"metric": "fast_mklms"}, "numbers": {"word": 24}},
    "sums": {"online": LEARNER | {"metric": "fast_klms"}},
    "weighted sums": {"online": LEARNER | {"metric": "fast_mklms"}},
    "linear part": {"online": {"budget": 7, "eta": 0.4, "reduction": "nt", "quantise": 0.9, "linear": "rls"}},
    "random features": {"rls": {"features": 6}},
    "random features of wide steps": {"rls": {"features": 6, "ridge": 1e-7}, "numbers": {"word": 16}},
}


@pytest.mark.parametrize("name", MODELS)
def test_a_damaged_structure_meets_no_undefined_behaviour(name, require_tool):
    compiler = "clang" if "24 bits" in name else "gcc"  # gcc overlooks a product with a power of two
    require_tool(compiler, f"sudo apt-get install -y {compiler} libc6-dev")
    algorithms = {"cg": "kernel_cg", "online": "kernel_lms", "rls": "online_kernel_rls"}
    algorithm = algorithms[next(iter(MODELS[name]))]
    plan = make_plan(Spec(model={"name": "damaged", "algorithm": algorithm}, **COMMON | MODELS[name]))
    rng, host = np.random.default_rng(0), HostBackend(plan, compiler=compiler, flags=TRAPS)
    x, y = rng.integers(-2048, 2047, (12, 3)), rng.integers(-2048, 2047, 12)
    (host.train if plan.trains else host.update)(x, y)
    memory, structure = host.ffi.buffer(host.model), host.ffi.typeof(host.model[0])
    honest = bytes(memory)
    for _ in range(300):
        field = plan.memory[rng.integers(len(plan.memory))]
        word = host.ffi.sizeof(field.ctype)
        at = host.ffi.offsetof(structure, field.name) + word * int(rng.integers(field.count))
        rail = (b"\xff" * word, bytes(word - 1) + b"\x80", b"\xff" * (word - 1) + b"\x7f", rng.bytes(word))
        memory[:] = honest
        memory[at:at + word] = rail[rng.integers(len(rail))]
        host.predict(x[:2])
        if not plan.trains:
            host.update(rng.integers(-2048, 2047, (3, 3)), y[:3])  # new samples: vectors are evicted
    host.close()


@pytest.mark.parametrize("word", [16, 32])
def test_a_banded_training_points_at_nothing_outside_its_table(word, require_tool):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    plan = make_plan(Spec(
        model={"name": "damaged", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s12f0"}, kernel={"sigma": 3.0}, numbers={"word": word},
        toeplitz={"n": 64, "lam": 0.1, "scheme": "uniform", "solver": "banded"}))
    host = HostBackend(plan, compiler="gcc", flags=TRAPS)
    host.train(None, np.random.default_rng(0).integers(-2048, 2047, 64))
    host.close()
