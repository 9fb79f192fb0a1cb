"""Write the page on the SystemVerilog cores, with timing diagrams from simulation.

    python -m kerncast.benchmarks.rtl [--page]

The outputs are docs/rtl.md and docs/figures/rtl_*.svg. With ``--page``, only the page is written, which does
not require a simulation. Clock cycles come from the formulas of codegen/rtl, which tests compare with
simulations.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from kerncast.codegen.rtl import LEARNER, PREDICTOR, TRAINER, RtlCore, generate_rtl, model_frame, rtl_sources
from kerncast.codegen.rtl.common import MOST_WORDS
from kerncast.codegen.rtl.fitted import fitted_cycles
from kerncast.codegen.rtl.frames import sample_frame
from kerncast.codegen.rtl.geometric import row_cycles
from kerncast.codegen.rtl.learner import (
    prediction_cycles,
    search_cycles,
    update_cycles,
    worst_update_cycles,
)
from kerncast.codegen.rtl.predictor import predictor_cycles, predictor_period, window
from kerncast.codegen.rtl.ranged import factor_cycles
from kerncast.codegen.rtl.refusals import refusals
from kerncast.codegen.rtl.registers import register_map
from kerncast.codegen.rtl.rls import MOST_DIRECTIONS, MOST_FEATURES, sweep_cycles
from kerncast.codegen.rtl.rls import prediction_cycles as rls_prediction_cycles
from kerncast.codegen.rtl.rls import update_cycles as rls_update_cycles
from kerncast.codegen.rtl.solver import MOST_SAMPLES, read_lags, recursion_cycles, solver_cycles, worst_cycles
from kerncast.codegen.rtl.stream import MOST_TAPS, stream_cycles, stream_period
from kerncast.codegen.rtl.trainer import trainer_cycles
from kerncast.hw.rtl.simulators import Operation, Simulation
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

DOCS = Path(__file__).resolve().parents[1] / "docs"
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "rtl"

#: Pixels of a clock, of a signal's line, and of the names.
_CLOCK, _LINE, _NAMES = 12, 26, 150


#: Outputs, whether they are classes, lanes, columns and vectors of cores with several outputs.
OUTPUTS = ((3, True, 1, 8, 32), (3, True, 4, 8, 32), (10, True, 1, 16, 64), (10, True, 1, 64, 100),
           (10, True, 4, 64, 100), (10, True, 16, 64, 100), (3, False, 1, 8, 32), (3, False, 4, 8, 32),
           (10, False, 1, 64, 100), (10, False, 4, 64, 100))
#: Reduction, outputs, columns and vectors of learners.
EVICTIONS = tuple((reduction, outputs, columns, budget) for reduction in ("fklms", "nt", "at")
                  for outputs, columns, budget in ((1, 8, 32), (1, 64, 100), (10, 64, 100)))
#: Cosines and columns of learners of kernel RLS.
FEATURES = ((8, 7), (16, 8), (36, 8), (100, 8))
#: n, sigma and bits of solvers with a geometric factor.
GEOMETRIC = ((256, 3.0, 16), (256, 50.0, 16), (256, 50.0, 32), (1024, 50.0, 16))
#: Kernels with a distance of their own; the periodic one is the longest.
_KERNELS: dict[str, dict[str, object]] = {
    "gaussian": {"sigma": 800.0}, "laplacian": {"type": "laplacian", "sigma": 800.0},
    "periodic": {"type": "periodic", "sigma": 0.8, "period": 4096.0}}


def learner(columns: int, budget: int, word: int = 16, kernel: str = "gaussian", classes: int = 0,
            outputs: int = 1, reduction: str = "fklms") -> Plan:
    """Return the plan of a learner with the given sizes."""
    output: dict[str, object] = {"word": "s12f0"} if outputs == 1 else {"word": "s12f0", "outputs": outputs}
    output = {"classes": [f"class {k}" for k in range(classes)]} if classes else output
    return make_plan(Spec(
        model={"name": "demo", "algorithm": "kernel_lms"}, input={"word": "s12f0", "columns": columns},
        output=output, kernel=_KERNELS[kernel], numbers={"word": word},
        online={"budget": budget, "eta": 0.5, "reduction": reduction}))


def grid(n: int, sigma: float = 3.0, solver: str = "levinson", kernel: str = "gaussian",
         word: int = 16, **more: Any) -> Plan:
    """Return the plan of a trainer for n points on a uniform grid."""
    return make_plan(Spec(
        model={"name": "demo", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s12f0"}, kernel={"type": kernel, "sigma": sigma}, numbers={"word": word},
        toeplitz={"n": n, "lam": 0.1, "scheme": "uniform", "solver": solver, **more}))


def drawing(names: list[str], values: list[list[int]], clocks: int) -> str:
    """Return a timing diagram as SVG: bits as lines, values as boxes with hex digits."""
    width, height = _NAMES + clocks * _CLOCK + 10, _LINE * (len(names) + 1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for clock in range(0, clocks, 10):
        x = _NAMES + clock * _CLOCK
        parts.append(f'<path d="M{x} 16V{height}" stroke="#ddd"/>'
                     f'<text x="{x}" y="12" fill="#888">{clock}</text>')
    for line, (name, words) in enumerate(zip(names, values, strict=True)):
        low, high = _LINE * (line + 2) - 8, _LINE * (line + 1) - 2
        parts.append(f'<text x="4" y="{low - 4}">{name}</text>')
        draw = _box if name.endswith(("tdata", "tuser")) else _level
        parts.append(draw(words[:clocks], low, high))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _level(words: list[int], low: int, high: int) -> str:
    path = [f"M{_NAMES} {high if words[0] else low}"]
    for clock, word in enumerate(words):
        path.append(f"V{high if word else low}H{_NAMES + (clock + 1) * _CLOCK}")
    return f'<path d="{"".join(path)}" fill="none" stroke="#036"/>'


def _box(words: list[int], low: int, high: int) -> str:
    boxes, begin = [], 0
    for clock in range(1, len(words) + 1):
        if clock == len(words) or words[clock] != words[begin]:
            x, wide = _NAMES + begin * _CLOCK, (clock - begin) * _CLOCK
            boxes.append(f'<rect x="{x}" y="{high}" width="{wide}" height="{low - high}" fill="#eef" '
                         'stroke="#036"/>')
            text = f"{words[begin]:x}"
            if wide >= 7 * len(text):
                boxes.append(f'<text x="{x + 2}" y="{low - 4}">{text}</text>')
            begin = clock
    return "".join(boxes)


def simulated(plan: Plan, core: RtlCore, signals: list[str], script: list[Operation],
              lanes: int = 1) -> list[list[int]]:
    """Run a script, and return the signals in every clock cycle."""
    with tempfile.TemporaryDirectory() as folder:
        generate_rtl(plan, folder)
        simulation = Simulation(rtl_sources(folder, plan, core), f"{plan.name}_{core.name}", "icarus",
                                Path(folder) / "sim", {"LANES": lanes})
        *_, values = simulation.run([("record", signals), *script, ("noted",)], 10_000)
    return list(values)


def stream(name: str, *more: str) -> list[str]:
    """List the signals of a stream."""
    return [f"{name}_{signal}" for signal in ("tdata", *more, "tvalid", "tready", "tlast")]


def figures() -> None:
    """Draw the streams of the predictor, the learner and the trainer."""
    plan = learner(2, 3)
    model = open_model(plan)
    x, y = np.array([[100, -200], [300, 50], [-700, 10]]), np.array([90, -40, 500])
    model.update(x, y)
    signals = [*stream("s_axis_model"), *stream("s_axis_x"), *stream("m_axis_f", "tuser")]
    script = [("model", model_frame(plan, model.state())), ("sent",), ("sample", sample_frame(plan, x[0])),
              ("answers", 1), ("cycles", 4)]
    values = simulated(plan, PREDICTOR, signals, script)
    write("rtl_predictor.svg", signals, values)
    signals = [*stream("s_axis_x", "tuser"), *stream("m_axis_f", "tuser")]
    script = [("sample", sample_frame(plan, x[0], 90), True), ("answers", 1),
              ("sample", sample_frame(plan, x[1]), False), ("answers", 1), ("cycles", 4)]
    values = simulated(plan, LEARNER, signals, script)
    write("rtl_learner.svg", signals, values)
    plan = grid(2)
    signals = [*stream("s_axis_y"), *stream("m_axis_model", "tuser")]
    values = simulated(plan, TRAINER, signals, [("targets", [5, 9]), ("model",), ("cycles", 4)])
    write("rtl_trainer.svg", signals, values)


def write(name: str, signals: list[str], values: list[list[int]]) -> None:
    """Write a timing diagram that ends at the last change of a signal."""
    text = drawing(signals, values, len(values[0]))
    (DOCS / "figures" / name).write_text(text, encoding="utf-8")


def share(useful: int, clocks: int) -> str:
    """Return the percentage of clock cycles with a useful multiplication."""
    return f"{100 * useful / clocks:.1f} %"


def shares(word: int, kernel: str) -> str:
    """Return rows on the overhead: clock cycles without a multiplication.

    Each row also states the number of terms from which on 90 % of the clock cycles multiply.
    """
    columns, budget = 8, 32
    plan, row = learner(columns, budget, word, kernel), [f"| {word} | {kernel}"]
    for cycles, passes in ((predictor_cycles, 1), (update_cycles, 2), (prediction_cycles, 1)):
        without = cycles(plan) - passes * columns * budget
        row.append(f"{without} | {columns * -(-9 * without // (passes * columns))}")
    return " | ".join(row) + " |"


def in_lanes(columns: int, budget: int, lanes: int) -> str:
    """Return a row on a predictor with several lanes.

    The row contains the latency, the period of queued samples, and the percentage of useful clock cycles.
    """
    plan = learner(columns, budget)
    period = predictor_period(plan, lanes)
    return (f"| {lanes} | {columns} | {budget} | {predictor_cycles(plan, lanes)} | {period:g} "
            f"| {100 * columns * budget / (lanes * period):.1f} % |")


def several_outputs(outputs: int, classes: bool, lanes: int, columns: int, budget: int) -> str:
    """Return a row on cores with several outputs, and their ratios to one output."""
    several = {"classes" if classes else "outputs": outputs}
    plans = [learner(columns, budget, **several), learner(columns, budget)]
    cells = []
    for clocks in (predictor_cycles, predictor_period, update_cycles):
        taken, one = (clocks(plan, lanes) for plan in plans)
        cells.append(f"{taken:g} | {taken / one:.2f}")
    kind = "classes" if classes else "outputs"
    return f"| {outputs} {kind} | {lanes} | {columns} | {budget} | {' | '.join(cells)} |"


def evicting(reduction: str, outputs: int, columns: int, budget: int) -> str:
    """Return a row on a learner with a full dictionary, by its reduction."""
    plan = learner(columns, budget, outputs=outputs, reduction=reduction)
    return (f"| `{reduction}` | {outputs} | {columns} | {budget} | {update_cycles(plan)} "
            f"| {worst_update_cycles(plan)} |")


def reached(n: int, sigma: float) -> str:
    """Return a table row for a predictor on a uniform grid.

    The row contains the number of vectors that it reads and, for each number of lanes, the latency and the
    period of queued samples.
    """
    plan = grid(n, sigma)
    read = window(plan)
    cells = [f"{clocks(plan, lanes):g}" for clocks in (predictor_cycles, predictor_period)
             for lanes in (1, 2, 4)]
    return f"| {n} | {sigma:g} | {n if read is None else read.vectors} | {' | '.join(cells)} |"


def learned_in_lanes(columns: int, budget: int, lanes: int) -> str:
    """Return a row on a learner with several lanes.

    The row contains the clock cycles with a full dictionary, and the percentage of useful clock cycles.
    """
    plan, words = learner(columns, budget), columns * budget
    updated, predicted = update_cycles(plan, lanes), prediction_cycles(plan, lanes)
    return (f"| {lanes} | {columns} | {budget} | {updated} | {share(2 * words, lanes * updated)} "
            f"| {predicted} | {share(words, lanes * predicted)} | {search_cycles(plan, lanes)} |")


def rls_row(cosines: int, columns: int, lanes: int) -> str:
    """Return a row on a learner of kernel RLS."""
    plan = make_plan(Spec(
        model={"name": "l", "algorithm": "online_kernel_rls"}, input={"word": "s12f0", "columns": columns},
        output={"word": "s12f0"}, kernel={"sigma": 2000.0}, rls={"features": cosines}))
    return (f"| {cosines} | {columns} | {plan.sizes['N']} | {lanes} | {rls_update_cycles(plan, lanes)} "
            f"| {sweep_cycles(plan, lanes)} | {rls_prediction_cycles(plan, lanes)} |")


def banded_row(n: int, sigma: float) -> str:
    """Return a row on the banded solver and Levinson's recursion with one lane."""
    plan = grid(n, sigma, "banded")
    return (f"| {n} | {sigma:g} | {plan.integer('band')} | {solver_cycles(plan)} | {trainer_cycles(plan)} "
            f"| {solver_cycles(grid(n)) / solver_cycles(plan):.1f} |")


def stream_row(lag: int, lanes: int) -> str:
    """Return a row on the stream core."""
    plan = grid(256, 3.0, "banded", stream_lag=lag)
    return f"| {lag} | {lanes} | {stream_period(plan, lanes)} | {stream_cycles(plan, lanes)} |"


def geometric_row(n: int, sigma: float, word: int) -> str:
    """Return a row on the solver with a geometric factor."""
    levinson, plan = (grid(n, sigma, solver, "laplacian", word) for solver in ("levinson", "banded"))
    return (f"| {n} | {sigma:g} | {word} | {row_cycles(plan)} | {solver_cycles(plan)} "
            f"| {trainer_cycles(plan)} | {solver_cycles(levinson) / solver_cycles(plan):.1f} |")


def ranged_row(n: int, sigma: float) -> str:
    """Return a row on the solver that computes its factor for each lambda."""
    plan = grid(n, sigma, "banded", lambda_range=(0.01, 1.0))
    return (f"| {n} | {sigma:g} | {plan.integer('band')} | {plan.integer('rows')} | {factor_cycles(plan)} "
            f"| {solver_cycles(plan)} | {solver_cycles(grid(n)) / solver_cycles(plan):.1f} |")


def register_rows() -> list[str]:
    """Return a row for each register of the register map."""
    rows = []
    for one in register_map().registers:
        at = f"`{one.offset:02x}`" + (f" to `{one.last:02x}`" if one.count > 1 else "")
        fields = "".join(f"; {field.place} `{field.name}`: {field.meaning}" for field in one.fields)
        rows.append(f"| {at} | `{one.name}` | {one.access} | {one.meaning}{fields} |")
    return rows


def refusal_rows() -> list[str]:
    """Return a row for each kind of invalid input."""
    return [f"| {row.input} | {row.reply} | {row.error} | {row.after} | {row.hls or 'the same'} |"
            for row in refusals()]


def page() -> str:
    """Return the page docs/rtl.md."""
    sizes, values = [(8, 32), (16, 16), (8, 100), (16, 64), (64, 41)], []
    for columns, budget in sizes:
        plan, words = learner(columns, budget), columns * budget
        predicted, updated = predictor_cycles(plan), update_cycles(plan)
        values.append(f"| {columns} | {budget} | {predicted} | {share(words, predicted)} "
                      f"| {updated} | {share(2 * words, updated)} "
                      f"| {prediction_cycles(plan)} | {share(words, prediction_cycles(plan))} "
                      f"| {search_cycles(plan)} |")
    kernels = [shares(word, "gaussian") for word in (16, 24, 32)]
    kernels += [shares(16, "laplacian"), shares(32, "periodic")]
    rows = [f"| {n} | {lanes} | {recursion_cycles(n, lanes)} "
            f"| {recursion_cycles(n, lanes, read_lags(grid(n)))} "
            f"| {solver_cycles(grid(n), lanes)} | {trainer_cycles(grid(n), lanes)} |"
            for n in (64, 256, 1024) for lanes in (1, 2, 4)]
    grids = ((256, 1.0), (256, 3.0), (256, 6.0), (1024, 3.0))
    banded = [banded_row(*row) for row in grids]
    lanes = [(*size, n) for size in sizes for n in (1, 2, 4, 8)]
    example = (EXAMPLE / "chip_predictor.sv").read_text(encoding="utf-8")
    template = (Path(__file__).parent / "rtl.md.in").read_text(encoding="utf-8")
    return template.format(MOST_WORDS=MOST_WORDS, MOST_SAMPLES=MOST_SAMPLES, MOST_FEATURES=MOST_FEATURES,
                           MOST_DIRECTIONS=MOST_DIRECTIONS, clocks="\n".join(values),
                           rls="\n".join(rls_row(*row, n) for row in FEATURES for n in (1, 2, 4, 8)),
                           shares="\n".join(kernels),
                           lanes="\n".join(in_lanes(*row) for row in lanes),
                           outputs="\n".join(several_outputs(*row) for row in OUTPUTS),
                           evictions="\n".join(evicting(*row) for row in EVICTIONS),
                           reached="\n".join(reached(*row) for row in grids),
                           learned="\n".join(learned_in_lanes(*row) for row in lanes if row[2] > 1),
                           stream="\n".join(stream_row(lag, n) for lag in (10, 30) for n in (1, 4, 32)),
                           MOST_TAPS=MOST_TAPS, FITTED_CLOCKS=fitted_cycles(grid(256)) - 256,
                           worst=worst_cycles(grid(256, 3.0, "banded")),
                           solver="\n".join(rows), last_lag=read_lags(grid(1024)), banded="\n".join(banded),
                           ranged="\n".join(ranged_row(*row) for row in grids),
                           geometric="\n".join(geometric_row(*row) for row in GEOMETRIC),
                           registers="\n".join(register_rows()),
                           refusals="\n".join(refusal_rows()), example=example.rstrip())


def main() -> None:
    """Write the page and, unless ``--page`` is given, the figures."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="the page only")
    if not parser.parse_args().page:
        figures()
    (DOCS / "rtl.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
