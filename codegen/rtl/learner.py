"""codegen.rtl: the online learner with a fixed dictionary size; it also predicts."""

from __future__ import annotations

from typing import Any

from ...sim.choices import DEVICE_REDUCTIONS, reduction_title
from ...sim.errors import KerncastError, fail
from ...sim.formats import Format, Overflow
from ...sim.plan import Plan
from . import axi
from .axi import Ports
from .common import LONGEST, MOST_WORDS, address_bits, literal, primitives, render_files, signed_bits, vectors
from .core import RtlCore
from .online import learner_ports, sample_context
from .predictor import (
    distance_latency,
    expansion_context,
    framed,
    kernel_latency,
    kernel_template,
    levels,
    predictor_modules,
    rows_of_vectors,
)
from .rls import RLS_LEARNER

#: Modules of a learner in addition to those of a predictor, without the predictor's model store.
_OWN = ("kc_learner_vectors", "kc_learner_control", "kc_state_reader", "kc_state_writer", *axi.MODULES)
#: The loss of an eviction by each metric that the core supports, and the modules that find the smallest.
_LOSSES = {"fklms": ("the distance to the nearest older vector", ("kc_neighbours",)),
           "magnitude": ("the magnitude of its coefficients", ("kc_alpha_norm", "kc_victim")),
           "age": ("its position in the age order", ("kc_victim",))}

# Clocks of the parts.  After a kernel value: a coefficient is read and updated, then the sum and its cast.
_TO_F = 2 + 3 + 2 + 3
# From the last beat to the first pass; from the last distance to the next pass, without the exchange of a
# vector; the same of a search; from f to the answer of a prediction, and of an update.
_TAKEN, _BETWEEN, _SEARCHED, _ANSWERED, _LEARNED = 5, 6, 5, 2, 7


def _pass_cycles(plan: Plan, lanes: int, count: int) -> int:
    """Return the clock cycles from the first of `count` vectors to the last distance."""
    return rows_of_vectors(plan, lanes, count) + distance_latency(plan) + levels(lanes)


def prediction_cycles(plan: Plan, lanes: int = 1, count: int | None = None) -> int:
    """Return the clock cycles from a sample's first beat to its reply, without stalls.

    Parameters
    ----------
    plan : Plan
    lanes : int
        Columns of a vector that are processed at a time, a power of two.
    count : int, optional
        Vectors in the dictionary; by default the whole budget.
    """
    held, taken = vectors(plan) if count is None else count, plan.sizes["D"] + _TAKEN
    if held == 0:
        return taken + _ANSWERED + _labelling(plan)
    to_f = _pass_cycles(plan, lanes, held) + kernel_latency(plan) + _TO_F
    return taken + to_f + 2 + _ANSWERED + _labelling(plan)


def _labelling(plan: Plan) -> int:
    """Return the clock cycles to read several outputs, one per cycle."""
    return plan.outputs if framed(plan) else 0


def _visit_clocks(plan: Plan) -> int:
    """Return the clock cycles from a distance to the loss of its vector: at least 1."""
    return 1 if plan.metric == "age" else 2 + address_bits(plan.outputs) if plan.outputs > 1 else 2


def _choosing(plan: Plan) -> int:
    """Return the additional clock cycles until the loss of a vector is known."""
    return 0 if plan.metric == "fklms" else kernel_latency(plan) + _visit_clocks(plan) - 1


def update_cycles(plan: Plan, lanes: int = 1, count: int | None = None) -> int:
    """Return the clock cycles from a sample with target to its reply, without stalls.

    Parameters
    ----------
    plan : Plan
    lanes : int
        Columns of a vector that are processed at a time, a power of two.
    count : int, optional
        Vectors in the dictionary before the update; by default the whole budget.

    Returns
    -------
    int
        One pass over the vectors while the dictionary has free slots; with a full dictionary two passes, and
        the replacement of a vector between them.  The next sample's first beat is accepted in the clock
        cycle of the reply, unless a vector lost its nearest neighbour: see :func:`search_cycles`.
    """
    budget = plan.sizes["N"]
    held, rows = budget if count is None else count, rows_of_vectors(plan, lanes, 1)
    to_f = kernel_latency(plan) + _TO_F
    taken = plan.sizes["D"] + plan.targets + _TAKEN + _labelling(plan)
    if held == 0:
        return taken + rows + 3 + _LEARNED
    first, between = taken + _pass_cycles(plan, lanes, held), rows + _BETWEEN + _choosing(plan)
    if held < budget:
        return first + max(between, to_f + 2) + _LEARNED
    return first + between + _pass_cycles(plan, lanes, held) + to_f + 1 + _LEARNED


def search_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the extra clock cycles for each vector that needs a new nearest vector.

    It is 0 for metrics without nearest vectors.
    """
    if plan.metric != "fklms":
        return 0
    return rows_of_vectors(plan, lanes, 1) + _pass_cycles(plan, lanes, plan.sizes["N"]) + _SEARCHED


def worst_update_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the maximum clock cycles between samples.

    In the worst case, all vectors except the oldest and the evicted one need a search.
    """
    update = update_cycles(plan, lanes) - _labelling(plan)
    return update + (plan.sizes["N"] - 2) * search_cycles(plan, lanes)


def _refusal(plan: Plan) -> KerncastError | None:
    """Return the error if the learner does not support a plan, otherwise None.

    The learner needs an integer reduction with a fixed dictionary size, within the memory size.
    """
    reduces = plan.learns
    where = "[online] reduction" if reduces else "[model] algorithm"
    value = plan.reduction if reduces else plan.algorithm
    unlike = "the SystemVerilog learner supports only fklms, nt and at with a fixed dictionary size"
    remedy = "set {} = \"fklms\", or train in C and load the model into the predictor core"
    if not reduces or plan.in_float32:
        return fail("E307", unlike, where=where, value=value,
                    allowed="kernel_lms with reduction fklms, nt or at; online_kernel_rls",
                    remedy=remedy.format("reduction"))
    if plan.metric not in _LOSSES:
        own = DEVICE_REDUCTIONS[plan.reduction][1] == plan.metric
        key, value = ("reduction", plan.reduction) if own else ("metric", plan.metric)
        return fail("E307", unlike, where=f"[online] {key}", value=value,
                    allowed="fklms, nt, at" if own else ", ".join(_LOSSES), remedy=remedy.format(key))
    for name in ("linear", "guard", "bounded_update", "max_deterioration", "truncation", "max_age"):
        if name in plan.options:
            return fail("E307", unlike, where=f"[online] {name}", value=plan.options[name], allowed="none",
                        remedy="omit this key, or train in C and load the model into the predictor core")
    if vectors(plan) * plan.sizes["D"] > MOST_WORDS:
        return fail("E306", "the model is too large for the SystemVerilog learner", where=plan.size_key,
                    value=f"{vectors(plan)} centers of {plan.sizes['D']} values",
                    allowed=f"at most {MOST_WORDS} values in all",
                    remedy="lower this key, or use fewer columns")
    return None


def distance_parts(plan: Plan) -> int:
    """Return the number of values per distance in a frame of the state."""
    bits: int = expansion_context(plan)["distance_bits"]
    return -(-bits // plan.word)


def _context(plan: Plan) -> dict[str, Any]:
    """Build the template context of the predictor and the learning rule."""
    alpha = plan.signals["alpha"]
    whole = LONGEST if alpha.overflow is Overflow.WRAP else alpha.format
    word, eta, w = Format(True, plan.word, 0), plan.integer("eta"), plan.word
    return expansion_context(plan) | sample_context(plan) | {
        **{f"{name}_literal": literal(plan.integer(name), w) for name in ("y_class", "y_other")
           if plan.decision},
        "rounding": {name: plan.signals[name].rounding.value for name in ("x", "y", "f", "alpha")},
        "alpha_bits": whole.bits, "alpha_lo": literal(whole.lo, 64), "alpha_hi": literal(whole.hi, 64),
        **_eviction_context(plan),
        "eta_bits": signed_bits((eta,)), "eta_literal": literal(eta, signed_bits((eta,))),
        "decay_literal": literal(plan.integer("decay"), w + 1),
        "decayed_lo": literal(word.lo, 64), "decayed_hi": literal(word.hi, 64),
        "distance_parts": distance_parts(plan), "place_bits": address_bits(plan.sizes["N"]),
        "coefficients_latency": kernel_latency(plan) + _TO_F,
        "update_cycles": update_cycles(plan), "prediction_cycles": prediction_cycles(plan),
        "search_cycles": search_cycles(plan), "worst_cycles": worst_update_cycles(plan),
        "learning": {n: [cycles(plan, n) for cycles in (update_cycles, search_cycles, worst_update_cycles,
                                                        prediction_cycles)] for n in (1, 2, 4)},
        "modules": _modules(plan),
    }


def _eviction_context(plan: Plan) -> dict[str, Any]:
    """Return the template context of the search for equal and evicted vectors."""
    shift = plan.integer("norm_shift") if "norm_shift" in plan.constants else 0
    squares = 2 * plan.word - 1 - shift + address_bits(plan.outputs)
    return {"by_loss": plan.metric != "fklms", "loss_text": _LOSSES[plan.metric][0],
            "loss_bits": plan.word if plan.outputs == 1 else squares, "norm_shift": shift,
            "loss_clocks": _visit_clocks(plan),
            "quantise": plan.integer("quantise") if "quantise" in plan.constants else 0,
            "reduction_text": reduction_title(plan.reduction, plan.projection, plan.metric)}


def _ports(plan: Plan) -> Ports:
    """List the streams in the order of the template."""
    return learner_ports(plan, plan.word, 1, (("read_model", "send the model frame"),
                                              ("read_slots", "send the slot frame")))


def _modules(plan: Plan) -> tuple[str, ...]:
    several = (*(("kc_alpha_give",) if plan.outputs > 1 else ()),
               *(() if framed(plan) else ("kc_learner_reply",)),
               *(("kc_target_take",) if plan.targets > 1 else ()))
    return (*(name for name in predictor_modules(plan) if name != "kc_model_store"), "kc_scale_add",
            "kc_argmin", *_LOSSES[plan.metric][1], *_OWN, *several)


def _render(plan: Plan) -> dict[str, str]:
    p, values = plan.name, _context(plan)
    values |= _ports(plan).context(plan)
    reply = {f"{p}_reply.sv": "reply.sv"} if framed(plan) else {}
    files = primitives(_modules(plan)) | render_files(reply | {
        f"{p}_distance.sv": "distance.sv", f"{p}_kernel.sv": kernel_template(plan),
        f"{p}_coefficients.sv": "coefficients_outputs.sv" if framed(plan) else "coefficients.sv",
        f"{p}_step.sv": "step.sv", f"{p}_learner.sv": "learner.sv",
        f"{p}_learner_axi.sv": "axi.sv",
        f"{p}_learner.f": "learner.f", "README.md": "learner.md"} | axi.software_files(p, "learner"),
        values)
    return files | axi.package_files(p, "learner", values, files)


LMS_LEARNER = RtlCore("learner", _refusal, _render, _ports, update_cycles)


def _learner(plan: Plan) -> RtlCore:
    """Return the learner of a plan's algorithm."""
    return RLS_LEARNER if plan.second_order else LMS_LEARNER


LEARNER = RtlCore(
    "learner", lambda plan: _learner(plan).refusal(plan), lambda plan: _learner(plan).render(plan),
    lambda plan: _learner(plan).ports(plan), lambda plan, lanes=1: _learner(plan).cycles(plan, lanes))
