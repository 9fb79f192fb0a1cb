"""Compare the speed of bit-accurate simulation with other libraries.

``python -m kerncast.benchmarks.simulation_speed`` runs the integer model, hand-written C for the same plan,
the generated C, APyTypes and fxpmath on the same data. All run in one process and on one thread, and every
value is compared. The fast programs take turns in several rounds, and the minimum time of each is used, so
that other work on the machine affects all of them equally. Only the time of FKLMS in fxpmath is extrapolated,
because it learns fewer samples.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time

import apytypes
import numpy as np

from kerncast.benchmarks.peers import plain_c
from kerncast.benchmarks.peers.apytypes_fklms import ApyFklms
from kerncast.benchmarks.peers.apytypes_levinson import ApyLevinson
from kerncast.codegen.build.host import HostBackend
from kerncast.sim._arrays import Words
from kerncast.sim.fxp_model.lms import FxpLms
from kerncast.sim.fxp_model.toeplitz import FxpToeplitz
from kerncast.sim.kernels import Gaussian
from kerncast.sim.model.online.lms import LmsModel
from kerncast.sim.model.toeplitz.corrections import solver_constants
from kerncast.sim.model.toeplitz.levinson import levinson
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.online.kernel_lms import KernelLMS
from kerncast.sim.spec import Spec

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "simulation-speed.md"
COMPILERS = ("gcc", "clang")
#: Rounds of the quick ones, presentations of a slow one.
ROUNDS, SLOW_ROUNDS = 60, 3
SAMPLES, FXP_SAMPLES = 1000, 120
#: Library: the smallest ratio that passes; and the largest one against plain C.
TARGETS = {"APyTypes": 40.0, "fxpmath": 5000.0}
MOST_OF_C = 2.0
#: Batches of the online learners, samples per batch, and the required samples per second of the model.
RATE_ROUNDS, BATCH, LEAST_RATE = 700, 300, 400_000

Call = Callable[[], tuple[Words, ...]]


def equal(name: str, found: tuple[Words, ...], wanted: tuple[Words, ...]) -> None:
    """Compare every value; raise SystemExit at the first mismatch."""
    for one, other in zip(found, wanted, strict=True):
        if not np.array_equal(np.asarray(one), np.asarray(other)[:len(one)]):
            raise SystemExit(f"the values of {name} differ from the integer model")


def best(calls: Mapping[str, Call], rounds: int, wanted: tuple[Words, ...]) -> dict[str, float]:
    """Run the calls in turn, compare their values, and return the minimum times."""
    seconds = dict.fromkeys(calls, float("inf"))
    for turn in range(rounds):
        for name, call in calls.items():
            start = perf_counter()
            found = call()
            seconds[name] = min(seconds[name], perf_counter() - start)
            if turn == 0:
                equal(name, found, wanted)
    return seconds


# ---- Levinson ----
def levinson_plan(n: int = 256) -> Plan:
    """Return the plan of the Toeplitz trainer for n samples on a grid, with 32 bits."""
    return make_plan(Spec(
        model={"name": "grid", "algorithm": "toeplitz_rls"}, input={"word": "s16f0"},
        output={"word": "s16f15"}, kernel={"sigma": 3.0}, numbers={"word": 32},
        toeplitz={"n": n, "lam": 0.1, "scheme": "uniform"}))


def levinson_seconds() -> dict[str, float]:
    """Return the time of each program for one solution with n = 256."""
    plan, n = levinson_plan(), 256
    rng = np.random.default_rng(3)
    y_raw = np.clip(np.sin(np.arange(n) / 9) * 20000 + rng.normal(0, 3000, n), -32768, 32767).astype(np.int64)
    model, k = ToeplitzModel(plan), solver_constants(plan)
    model.train(None, y_raw)
    r, y = model.workspace()["r"], y_raw * plan.integer("y_gain") >> plan.integer("y_shift")
    a, x, out = np.zeros(n, dtype=np.int64), np.zeros((1, n), dtype=np.int64), np.zeros(5 + n, dtype=np.int64)

    def ours() -> tuple[Words, ...]:
        assert levinson(y.reshape(1, n), r, a, x, out, k, model.ranges.log) == 0
        return x[0], a, out[:3]

    def apy() -> tuple[Words, ...]:
        found_x, found_a, scalars = ApyLevinson(k).solve(y, r)
        return found_x, found_a, np.array(scalars)

    wanted = tuple(words.copy() for words in ours())
    quick: dict[str, Call] = {"model": ours}
    quick |= {f"plain C, {name}": plain_c.levinson(name, k, y, r) for name in COMPILERS}
    seconds = best(quick, ROUNDS, wanted) | best({"APyTypes": apy}, SLOW_ROUNDS, wanted)
    return seconds | training_seconds(plan, y_raw)


def training_seconds(plan: Plan, y_raw: Words) -> dict[str, float]:
    """Return the times of a whole training, including first row and certified bound."""
    model, fxp = ToeplitzModel(plan), FxpToeplitz(plan)
    host = {f"generated C, {name}": HostBackend(plan, compiler=name, flags=("-O3", "-march=native"))
            for name in COMPILERS}

    def call(backend: ToeplitzModel | FxpToeplitz | HostBackend) -> Call:
        def run() -> tuple[Words, ...]:
            return (backend.train(None, y_raw)["status"], *(backend.state()[key] for key in ("alpha", "a")))
        return run

    wanted = call(model)()
    quick = {"model, training": call(model)} | {name: call(backend) for name, backend in host.items()}
    seconds = best(quick, ROUNDS, wanted)
    for backend in host.values():
        backend.close()
    return seconds | best({"fxpmath": call(fxp)}, 1, wanted)


# ---- FKLMS ----
def fklms_plan(budget: int = 100, columns: int = 8, word: int = 32) -> Plan:
    """Return the plan of an FKLMS learner."""
    return make_plan(Spec(
        model={"name": "lms", "algorithm": "kernel_lms"}, input={"word": "s16f15", "columns": columns},
        output={"word": "s16f15"}, kernel={"sigma": 0.7}, online={"budget": budget, "eta": 0.2},
        numbers={"word": word}))


def fklms_stream(samples: int) -> tuple[Words, Words]:
    """Return distinct samples x (m, D) and y (m,) in ADC counts."""
    x = np.random.default_rng(1).integers(-30000, 30000, (samples, fklms_plan().sizes["D"]))
    return x, np.clip(np.sin(x / 9000).sum(1) * 4000, -32768, 32767).astype(np.int64)


def fklms_rates() -> dict[str, float]:
    """Return the samples per second of CPU time with a full dictionary.

    The programs take turns to process batches, and the best batch of each is used.
    """
    x, y = fklms_stream((RATE_ROUNDS + 1) * BATCH)
    models = {f"model, {word} bits": LmsModel(fklms_plan(word=word)) for word in (16, 32)}
    numpy = KernelLMS(x.shape[1], Gaussian(sigma=0.7), eta=0.2, budget=100)
    learners: dict[str, Callable[[Words, Words], object]] = {
        name: model.update for name, model in models.items()}
    learners["float64 in numpy"] = lambda x, y: numpy.learn(x / 32768, y / 32768)
    rates = dict.fromkeys(learners, 0.0)
    for learn in learners.values():
        learn(x[:BATCH], y[:BATCH])
    for turn in range(RATE_ROUNDS):
        part = slice((turn + 1) * BATCH, (turn + 2) * BATCH)
        for name, learn in learners.items():
            if name in models or turn < SLOW_ROUNDS:
                start = process_time()
                learn(x[part], y[part])
                rates[name] = max(rates[name], BATCH / (process_time() - start))
    return rates


def fklms_seconds() -> dict[str, float]:
    """Return the time for one sample with a full dictionary and both kernel rows."""
    plan = fklms_plan()
    x, y = fklms_stream(SAMPLES)
    host = {f"generated C, {name}": HostBackend(plan, compiler=name, flags=("-O3", "-march=native"))
            for name in COMPILERS}
    model = LmsModel(plan)

    def call(backend: LmsModel | HostBackend) -> Call:
        def run() -> tuple[Words, ...]:
            backend.reset()
            found = backend.update(x, y)
            return found["f"], found["status"]
        return run

    wanted = call(model)()
    quick: dict[str, Call] = {"model": call(model)}
    quick |= {f"plain C, {name}": plain_c.fklms(name, plan, x, y) for name in COMPILERS}
    quick |= {name: call(backend) for name, backend in host.items()}
    slow: dict[str, Call] = {"APyTypes": lambda: ApyFklms(plan).update(x, y)}
    seconds = best(quick, ROUNDS // 2, wanted) | best(slow, SLOW_ROUNDS, wanted)
    for backend in host.values():
        backend.close()
    seconds = {name: time / SAMPLES for name, time in seconds.items()}
    return seconds | {"fxpmath": fxp_sample(plan, x, y, wanted)}


def fxp_sample(plan: Plan, x: Words, y: Words, wanted: tuple[Words, ...]) -> float:
    """Return the time of fxpmath for one of the last samples, with a full dictionary."""
    fxp, full = FxpLms(plan), plan.sizes["N"]
    first = fxp.update(x[:full], y[:full])["f"]
    start = perf_counter()
    rest = fxp.update(x[full:FXP_SAMPLES], y[full:FXP_SAMPLES])["f"]
    seconds = perf_counter() - start
    equal("fxpmath", (np.concatenate((first, rest)),), wanted[:1])
    return seconds / (FXP_SAMPLES - full)


# ---- start-up ----
START = """
import numpy as np
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
plan = make_plan(Spec(model={"name": "grid", "algorithm": "toeplitz_rls"}, input={"word": "s16f0"},
                      output={"word": "s16f15"}, kernel={"sigma": 3.0}, numbers={"word": 32},
                      toeplitz={"n": 256, "lam": 0.1, "scheme": "uniform"}))
open_model(plan).train(None, np.arange(256))
"""


def start_up_seconds() -> float:
    """Return the time of a process that plans and trains.

    The compiled code is in the cache.
    """
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(5):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", START], check=True, env=environment)
        times.append(perf_counter() - start)
    return min(times[1:])


# ---- the page ----
HEAD = """# Speed of bit-accurate simulation

`python -m kerncast.benchmarks.simulation_speed` writes this page. All programs run one after the other in one
process, on one thread, and compute the same results. Each time is the minimum over several rounds. Plain C is
the code in `benchmarks/peers/*.c`, written by hand with constant formats and compiled with
-march=native`.

FKLMS (fast kernel least mean squares) is the online learner. The integer model in Python (compiled by numba)
is at least half as fast as hand-written C. It is at least 80 times faster than APyTypes and 10,000 times
faster than fxpmath.

"""


def scaled(seconds: float) -> str:
    """Format seconds with three digits, in s, ms or us."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def missed(title: str, seconds: Mapping[str, float]) -> list[str]:
    """Return a line for each library that does not meet its required time ratio."""
    found = []
    for name, time in seconds.items():
        whole = name == "fxpmath" and "model, training" in seconds
        ratio = time / seconds["model, training" if whole else "model"]
        least = TARGETS.get(name, 1 / MOST_OF_C if name.startswith("plain C") else 0.0)
        if ratio < least:
            found.append(f"{title}: {name} takes {ratio:.2f} times the time of the model, below {least:g}")
    return found


def table(title: str, seconds: Mapping[str, float]) -> str:
    """Return a table of times, and of the speed of the integer model relative to each."""
    lines = [f"## {title}", "", "| | time | model is faster by |", "|---|--:|--:|"]
    for name, time in seconds.items():
        whole = name.startswith("generated C") or name == "fxpmath"
        model = seconds["model, training" if whole and "model, training" in seconds else "model"]
        ratio = time / model
        shown = "" if name.startswith("model") else f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"
        lines.append(f"| {name} | {scaled(time)} | {shown} |")
    return "\n".join([*lines, "", ""])


def rate_table(rates: Mapping[str, float]) -> str:
    """Return a table of samples per second, relative to NumPy in float64."""
    lines = ["## FKLMS, N = 100, D = 8: samples per second", "",
             "The figures are computed from the CPU time of one core. Each is the best of",
             f"{RATE_ROUNDS} batches of {BATCH} samples, with a full dictionary and no repeated sample.",
             "The float64 learner is the same algorithm in numpy (`sim/reference`), and its figure is",
             f"the best of {SLOW_ROUNDS} batches.", "",
             "| | samples/s | times float64 |", "|---|--:|--:|"]
    slowest = rates["float64 in numpy"]
    for name, rate in rates.items():
        lines.append(f"| {name} | {rate:,.0f} | {rate / slowest:,.1f} |")
    return "\n".join([*lines, "", ""])


def main() -> int:
    """Run all measurements, and write the page."""
    apytypes.reset_thread_pool(1)
    solving, learning, start = levinson_seconds(), fklms_seconds(), start_up_seconds()
    text = HEAD + table("Levinson, n = 256, 32 bits", solving)
    text += ("fxpmath and the generated C run the whole training, including the first row and the certified\n"
             "bound. Their ratios are therefore relative to the whole training of the integer model.\n\n")
    text += table("FKLMS, N = 100, D = 8, 32 bits, one sample", learning)
    text += (f"fxpmath is trained on {FXP_SAMPLES} samples, and the other programs are trained on "
             f"{SAMPLES}. The generated C is "
             "called once per sample through cffi.\n\n## Start-up\n\nA process that plans and trains a model "
             f"with n = 256 takes {scaled(start)} from start to end, if the compiled code is cached.\n\n")
    rates = fklms_rates()
    text += rate_table(rates)
    late = missed("Levinson", solving) + missed("FKLMS", learning) + [
        f"{name}: fewer than {LEAST_RATE:,} samples/s" for name, rate in rates.items()
        if name.startswith("model") and rate < LEAST_RATE]
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    peers = ("apytypes", "fxpmath", "numba", "numpy")
    versions = ", ".join(f"{name} {sys.modules[name].__version__}" for name in peers)
    text += f"The measurements ran on {cpu} with Python {platform.python_version()}, {versions}.\n"
    PAGE.write_text(text, encoding="utf-8")
    print("\n".join([text, *late]))
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())
