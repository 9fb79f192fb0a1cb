"""codegen.rtl: the trainer core: inputs, first row, solver and model frame."""

from __future__ import annotations

from typing import Any

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from . import axi, ranged
from .axi import Ports, Stream
from .common import MOST_WORDS, literal, primitives, render_files
from .core import RtlCore
from .predictor import distance_latency, expansion_context, kernel_latency, kernel_template, predictor_modules
from .solver import first_row, refusal, solver_context, solver_cycles, solver_modules, solver_template

#: What every trainer is made of besides the solver; on the uniform grid, and of samples, as the rest of a
#: predictor.
_OWN = ("kc_rom", "kc_affine", "kc_affine_stream", "kc_model_sender", *axi.MODULES)
_GRID, _SAMPLES, _INTERCEPT = ("kc_rom_sender",), ("kc_divide_round",), ("kc_beat_take",)
_NOT_OF_PREDICTOR = ("kc_ram_lane_of", "kc_ram_word_mask", "kc_ram_wordwise", "kc_sample_buffer",
                     "kc_model_store")

# Clocks of a converted value; of a mean, its scaling and sending; around the solver, whose values become the
# last ones of vectors, each of which takes two clocks more; of an intercept that is taken out and inserted.
_CONVERT, _MEAN, _AROUND, _INSERTED = 6, 9, 1, 2


def _on_grid(plan: Plan) -> bool:
    return plan.uniform


def _refusal(plan: Plan) -> KerncastError | None:
    """Return an error if the trainer does not support a plan; else None.

    The solver must support the plan, and the samples must fit the maximum memory of the trainer.
    """
    refused = ranged.refusal(plan, "trainer") or refusal(plan)
    if refused is None and plan.outputs > 1:
        return fail("E307", "the SystemVerilog trainer supports only one output", where="[output] outputs",
                    value=plan.outputs, allowed="1",
                    remedy="remove `outputs`, or send one output after the other to the solver core")
    words = plan.sizes["n"] * plan.sizes["D"] if refused is None else 0
    if words > MOST_WORDS:
        return fail("E306", "too many samples for the SystemVerilog trainer",
                    where=plan.size_key, value=f"{words} values",
                    allowed=f"at most {MOST_WORDS} input values",
                    remedy="lower n, or use fewer columns")
    return refused


def _sum_bits(plan: Plan) -> int:
    """Return the width of the sum over a diagonal of the kernel matrix."""
    return plan.word + (plan.sizes["n"] - 1).bit_length()


def row_overhead(plan: Plan) -> int:
    """Return the clock cycles from the last pair of a diagonal until r is sent."""
    return distance_latency(plan) + kernel_latency(plan) + _sum_bits(plan) + _MEAN


def trainer_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles from the first input beat to the last beat of the model.

    No stream stalls. If the inputs are not a uniform grid, the targets arrive in parallel with them.
    """
    n, columns = plan.sizes["n"], plan.sizes["D"]
    taken = _CONVERT * n
    if not _on_grid(plan):
        taken = _CONVERT * n * columns + 2
        taken += columns * n * (n - 1) // 2 + (n - 1) * row_overhead(plan)
    return taken + solver_cycles(plan, lanes) + (2 * columns - 1) * n + _AROUND + _INSERTED * plan.bias


def _ports(plan: Plan) -> Ports:
    """Return the ports of the trainer, with the streams in the order of the template."""
    x_bits, y_bits = (plan.signals[name].format.c_bits for name in ("x_raw", "y_raw"))
    samples = () if _on_grid(plan) else (Stream("x", True, x_bits),)
    bad_samples = () if _on_grid(plan) else (("error_x", "a frame of samples has tlast at the wrong beat"),)
    return Ports("trainer", (*samples, Stream("y", True, y_bits), Stream("model", False, plan.word, 3)),
                 ("y", "model"), (*bad_samples, ("error_y", "a frame of targets has tlast at the wrong "
                                                            "beat")),
                 lanes=not plan.banded)


def _modules(plan: Plan) -> tuple[str, ...]:
    """List the shared modules that the trainer needs, dependencies first."""
    of_row = () if _on_grid(plan) else (*predictor_modules(plan), *_SAMPLES)
    sends_row = _on_grid(plan) and not plan.banded
    of_frame = _INTERCEPT if plan.bias else ()
    wanted = (*solver_modules(plan), *of_row, *of_frame, *_OWN[:1], *(_GRID if sends_row else ()), *_OWN[1:])
    return tuple(name for name in dict.fromkeys(wanted) if name not in _NOT_OF_PREDICTOR)


def _render(plan: Plan) -> dict[str, str]:
    p, grid, values = plan.name, _on_grid(plan), solver_context(plan)
    tops = ("solver", "trainer", "trainer_axi")
    parts = {} if grid else render_files(
        {f"{p}_distance.sv": "distance.sv", f"{p}_kernel.sv": kernel_template(plan), f"{p}_row.sv": "row.sv"},
        expansion_context(plan) | _row_context(plan))
    files = {f"{p}_trainer.sv": "trainer.sv", f"{p}_trainer_axi.sv": "axi.sv",
             f"{p}_trainer.f": "solver.f", "README.md": "trainer.md"} | axi.software_files(p, "trainer")
    values |= _ports(plan).context(plan)
    values |= {"grid": grid, "x_raw": plan.signals["x_raw"].format, "modules": _modules(plan),
               "tops": tops if grid else ("distance", "kernel", "row", *tops),
               "row": _row_literals(plan),
               "trainer_cycles": {lanes: trainer_cycles(plan, lanes) for lanes in (1, 2, 4)}}
    solver = render_files({f"{p}_solver.sv": f"{solver_template(plan)}.sv"}, values)
    rendered = primitives(_modules(plan)) | solver | parts | render_files(files, values)
    return rendered | axi.package_files(p, "trainer", values, rendered)


def _row_literals(plan: Plan) -> list[str]:
    """Return the literals of a uniform grid's first row in reverse order.

    The result is empty if the solver does not need the first row as a constant.
    """
    if not _on_grid(plan) or plan.banded:
        return []
    return [f"{plan.word}'d{word}" for word in reversed(first_row(plan).tolist())]


def _row_context(plan: Plan) -> dict[str, Any]:
    r = plan.signals["r"]
    return {"n": plan.sizes["n"], "biased": plan.biased_means,
            "sum_bits": _sum_bits(plan), "row_overhead": row_overhead(plan), "r_rounding": r.rounding.value,
            "r_lo": literal(r.lo, 64), "r_hi": literal(r.hi, 64)}


TRAINER = RtlCore("trainer", _refusal, _render, _ports, trainer_cycles)
