"""codegen.hls: the cores in HLS C++: their requirements and template contexts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...sim.backend import answer_width
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.window import window
from ..c.context import context, real_value
from ..rtl.common import MOST_WORDS, model_head, model_tag, most_vectors, vectors
from ..rtl.intercept import target_shift
from ..rtl.learner import distance_parts as state_parts
from ..rtl.predictor import framed, intercepts, reply_context
from ..rtl.solver import MOST_SAMPLES
from ..rtl.stream import MOST_TAPS
from .banded import banded_constants, banded_context, banded_types
from .dialects import Dialect
from .stream import stream_constants, stream_context, stream_types
from .widths import literal, types, word

__all__ = ["CORES", "LEARNER", "PREDICTOR", "SHARED", "SOLVER", "STREAM", "TRAINER", "HlsCore", "errors_of",
           "hls_context", "state_parts", "templates_of"]

#: Columns of a sample at most: the loop over them is unrolled.
MOST_COLUMNS = 256
#: Tables of the kernels.
ROMS = ("exp2", "exp2_coarse", "exp2_fine", "sine")


@dataclass(frozen=True)
class HlsCore:
    """HLS core; its top function is ``<prefix>_<name>``.

    Parameters
    ----------
    name : str
    refusal : callable
        Returns an error, with the limit, if the core does not support a plan; otherwise None.
    templates : tuple of str
        Its files; each name is preceded by ``<prefix>_``.
    """

    name: str
    refusal: Callable[[Plan], KerncastError | None]
    templates: tuple[str, ...]

    def fits(self, plan: Plan) -> bool:
        """Report whether the core supports the plan."""
        return self.refusal(plan) is None


def errors_of(plan: Plan) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the names and the meanings of the errors of each core, from bit 0.

    An RTL core with the same streams has the same ones.
    """
    bad_y = ("y", "a right-hand side of the wrong length")
    system = ((bad_y, ("dropped", "it was dropped")) if plan.banded else
              (("r", "a first row of the wrong length"), bad_y, ("dropped", "both were dropped")))
    return {"predictor": (("x", "a sample of the wrong length"), ("model", "a rejected model")),
            "learner": (("x", "a sample of the wrong length"),), "solver": system,
            "trainer": (("y", "targets of the wrong length"),),
            "stream": (("y", "a record ended before it had as many samples as the filter has taps"),)}


def templates_of(core: HlsCore, plan: Plan) -> tuple[str, ...]:
    """Return the files of a core; the banded solver's replace Levinson's."""
    return tuple("banded.hpp" if plan.banded and name == "levinson.hpp" else name for name in core.templates)


def _unlike(where: str, value: object, allowed: str, remedy: str) -> KerncastError:
    return fail("E311", "no HLS C++ core supports this plan", where=where, value=value, allowed=allowed,
                remedy=remedy)


def _too_large(plan: Plan) -> KerncastError | None:
    columns, held = plan.sizes["D"], vectors(plan)
    if columns > MOST_COLUMNS:
        return _unlike("[input] columns", columns, f"up to {MOST_COLUMNS}", "use fewer columns")
    columns += plan.outputs if framed(plan) else 0
    if held * columns > MOST_WORDS:
        return _unlike(plan.size_key, f"{held} centers of {columns} values", f"{MOST_WORDS} values in all",
                       "lower it, or use fewer columns")
    if held > most_vectors(plan):
        return _unlike(plan.size_key, f"{held} vectors",
                       f"up to {most_vectors(plan)}, since [numbers] word = {plan.word}",
                       "use fewer centers, or a longer word length")
    return None


def _no_candidates(plan: Plan) -> KerncastError:
    return _unlike("[toeplitz] candidates", plan.options["candidates"], "one pair of sigma and lambda",
                   "remove `candidates`, or remove [hls] and run the generated C")


def _no_intercepts() -> KerncastError:
    return _unlike("[toeplitz] bias", "true", "false, or one output",
                   "remove `bias` or `outputs`, or remove [hls] and run the generated C")


def _no_predictor(plan: Plan) -> KerncastError | None:
    """Return the error if the predictor does not support a plan, otherwise None.

    The predictor needs integers, and vectors within the memory size.
    """
    if plan.second_order:
        return _unlike("[model] algorithm", plan.algorithm, "another algorithm",
                       "use kernel_lms, or remove [hls] and run the generated C")
    if plan.in_float32:
        return _unlike("[online] reduction", plan.reduction, "an integer reduction",
                       "choose a reduction without _f32")
    if plan.linear:
        return _unlike("[online] linear", plan.options["linear"], "none", "omit this key, or run the "
                                                                          "generated C")
    if plan.pairwise:
        return _unlike("[output] classes", len(plan.class_names), "one output per class, or two classes",
                       "remove [hls] and run the generated C, or train a OneVsRestClassifier")
    if plan.tunes:
        return _no_candidates(plan)
    if plan.bias and plan.outputs > 1:
        return _no_intercepts()
    return _too_large(plan)


def _no_learner(plan: Plan) -> KerncastError | None:
    """Return the error if the learner does not support a plan, otherwise None.

    The learner needs integer FKLMS with only a budget, within the memory size.
    """
    reduces = plan.learns and not plan.second_order
    if not reduces or (plan.metric, plan.projection) != ("fklms", "fklms") \
            or plan.in_float32:
        where = "[online] reduction" if reduces else "[model] algorithm"
        return _unlike(where, plan.reduction if reduces else plan.algorithm,
                       "kernel_lms with reduction fklms", "choose the allowed value, or train in C and load "
                                                          "the model into the predictor core")
    for name in ("linear", "quantise", "guard", "bounded_update", "max_deterioration", "truncation",
                 "max_age"):
        if name in plan.options:
            return _unlike(f"[online] {name}", plan.options[name], "none",
                           "omit this key, or train in C and load the model into the predictor core")
    return _too_large(plan)


def _no_solver(plan: Plan) -> KerncastError | None:
    """Return the error if the solver does not support a plan, otherwise None.

    The solver needs a system for the plain Levinson recursion or the banded factor, within the memory size.
    It solves for several outputs one after the other.
    """
    asked = {"solver": (("levinson", "banded"), 'solver = "levinson" or solver = "banded"'),
             "refine": (("0",), "refine = 0")}
    if plan.algorithm != "toeplitz_rls":
        return _unlike("[model] algorithm", plan.algorithm, "toeplitz_rls", "choose the allowed value, or "
                                                                            "train in C")
    if plan.tunes:
        return _no_candidates(plan)
    if plan.ranged and plan.evidence.get("hls", {}).get("interface") == "free_running":
        return _unlike("[hls] interface", "free_running", "stream or memory, with `lambda_range`",
                       "choose an allowed value: lambda is then a register of the core")
    if plan.bias and plan.outputs > 1:
        return _no_intercepts()
    for key, (values, allowed) in asked.items():
        if plan.options[key] not in values:
            return _unlike(f"[toeplitz] {key}", plan.options[key], allowed, f"set {allowed}")
    if plan.sizes["n"] > MOST_SAMPLES:
        return _unlike(plan.size_key, plan.sizes["n"], f"up to {MOST_SAMPLES} samples", "lower n")
    return _too_large(plan)


def _no_trainer(plan: Plan) -> KerncastError | None:
    """Return the error if the trainer does not support a plan, otherwise None.

    The trainer needs a system for the solver, on a uniform grid, with one output.
    """
    refusal = _no_solver(plan)
    if refusal is None and plan.outputs > 1:
        refusal = _unlike("[output] outputs", plan.outputs, "1",
                          "remove `outputs`, or send one output after the other to the solver")
    if refusal is None and not plan.uniform:
        refusal = _unlike("[toeplitz] scheme", plan.scheme, "uniform",
                          'set scheme = "uniform", or send the first row to the solver')
    return refusal


def _no_stream(plan: Plan) -> KerncastError | None:
    """Return the error if the stream does not support a plan, otherwise None.

    The stream needs a lag, and frames in streams, because a record has any length.
    """
    if not plan.stream_taps:
        return _unlike("[toeplitz] stream_lag", "none", "a lag", "set [toeplitz] stream_lag and scheme = "
                                                                 '"uniform"')
    if plan.stream_taps > MOST_TAPS:
        return _unlike("[toeplitz] stream_lag", plan.integer("stream_lag"), f"up to {MOST_TAPS // 2}",
                       "lower stream_lag, or run the stream in C")
    if plan.evidence.get("hls", {}).get("interface") == "memory":
        return _unlike("[hls] interface", "memory", "stream or free_running", "choose an allowed value")
    return _no_predictor(plan)


#: What the cores share, behind ``<prefix>_`` as their own files.
SHARED = ("plan.hpp", "kernel.hpp", "frames.hpp", "cores.hpp")
PREDICTOR = HlsCore("predictor", _no_predictor, ("predictor.cpp",))
LEARNER = HlsCore("learner", _no_learner, ("lms.hpp", "learner.cpp"))
SOLVER = HlsCore("solver", _no_solver, ("levinson.hpp", "solver.cpp"))
TRAINER = HlsCore("trainer", _no_trainer, ("levinson.hpp", "trainer.cpp"))
STREAM = HlsCore("stream", _no_stream, ("stream.cpp",))
#: All cores there are, in the order of README.md.
CORES = (PREDICTOR, LEARNER, SOLVER, TRAINER, STREAM)


def _answer_sizes(plan: Plan) -> list[tuple[str, str, str, str]]:
    """Return the constants of an answer of several values."""
    if not framed(plan):
        return []
    margin = [("long long", "min_margin", literal(plan.integer("min_margin")), "a smaller margin gives the "
                                                                               "label unknown")
              ] if "min_margin" in plan.constants else []
    return [("int", "outputs", str(plan.outputs), "C"),
            ("int", "answer_words", str(answer_width(plan)), "outputs, then the label and the margin"),
            *margin]


def _constants(plan: Plan, learns: bool, solves: bool, lanes: int) -> list[tuple[str, str, str, str]]:
    """List the type, name, value and meaning of every constant."""
    def shifts(*names: str) -> list[tuple[str, str, str, str]]:
        return [("int", name, literal(plan.integer(name)), "") for name in names
                if name in plan.constants]

    def words(*names: str) -> list[tuple[str, str, str, str]]:
        return [(word(min(0, v), v) if v >= 0 else word(v, -v), name, literal(v),
                 real_value(plan, name))
                for name in names if name in plan.constants for v in [plan.integer(name)]]

    def range_of(name: str, lo: int, hi: int) -> list[tuple[str, str, str, str]]:
        return [("long long", f"{name}_lo", literal(lo), ""), ("long long", f"{name}_hi", literal(hi), "")]

    x, word_lo = plan.signals["x"], -(1 << (plan.word - 1))
    rows = [("int", "columns", str(plan.sizes["D"]), "D"),
            ("int", "vectors", str(vectors(plan)), "maximum number of centers"),
            *_answer_sizes(plan), *range_of("x", x.lo, x.hi), *range_of("word", word_lo, -word_lo - 1),
            *[("int", f"{name}_rounding", f"kc::round_{plan.signals[name].rounding.name.lower()}", "")
              for name in ("x", "y", "f", "alpha", "a", "r", "z") if name in plan.signals],
            *shifts("x_shift", "y_shift", "mac_shift", "f_shift", "exp2_bits", "exp2_cut", "kernel_shift",
                    "kernel_turn_shift", "kernel_sine_shift", "matern_cut", "matern_shift",
                    "kernel_dot_shift", "kernel_degree", "kernel_out_shift", "alpha_exp_min",
                    "alpha_exp_max"),
            *words("y_offset", "y_gain", "kernel_c", "kernel_turn", "kernel_coef0",
                   *(() if framed(plan) else ("bias",)))]
    if "kernel_d2_end" in plan.constants:
        rows += [("long long", "kernel_d2_end", literal(plan.integer("kernel_d2_end")), "")]
    if learns:
        rows += shifts("eta_shift", "project_shift", "decay_shift")
        rows += words("eta", "decay", "y_class", "y_other")
    if solves and plan.banded:
        rows += [*banded_constants(plan, lanes), *words("x_step")]
    elif solves:
        rows += shifts("solver_shift", "xi_frac", "innov_frac", "a_exp_min", "a_exp_max",
                       "x_exp_min", "x_exp_max", "last_lag")
        rows += words("eps_min", "alpha_scale", "ridge_scale", "x_step")
    rows += stream_constants(plan) if STREAM.fits(plan) else []
    if solves and plan.bias and not plan.banded:
        rows += shifts("alpha_frac", "residual_shift")
        rows += [("int", "target_shift", literal(target_shift(plan)), "")]
    return rows


def _packed(bits: int, beat_bits: int | None) -> tuple[int, int]:
    """Return the bits per value in a beat, and the number of values per beat."""
    if beat_bits is None:
        return bits, 1
    room = next(room for room in (8, 16, 32) if room >= bits)
    return room, beat_bits // room


def state_words(plan: Plan) -> int:
    """Return the number of words in the longer frame of a learner's state."""
    held = vectors(plan)
    return max(3 + held * (plan.sizes["D"] + plan.outputs), 2 + held * (2 * state_parts(plan) + 2))


def _known_label(plan: Plan) -> str:
    """Return the condition that a label is a class; empty without classes."""
    return f" && (!learning || words[columns] < {len(plan.class_names)})" if plan.decision else ""


def _recursion(plan: Plan, lanes: int) -> dict[str, Any]:
    """Return the names of the solver's file, structure and blocks.

    For the banded solver, the result also contains its tables.
    """
    if plan.banded:
        return {"recursion": "banded", "solver_t": "banded_t", "long_factor": plan.long_factor,
                "blocks": ("s.z.x", "s.alpha.x", *(("s.factor",) if plan.ranged else ())),
                **(banded_context(plan, lanes) if SOLVER.fits(plan) else {})}
    return {"recursion": "levinson", "solver_t": "levinson_t",
            "blocks": ("s.r", "s.a", "s.alpha.x", *(("s.eta.x",) if plan.bias else ()))}


def hls_context(plan: Plan, dialect: Dialect, lanes: int, part: str, clock: float,
                interface: str = "stream", beat_bits: int | None = None) -> dict[str, Any]:
    """Build the template context: names, types, constants and factors.

    Parameters
    ----------
    plan : Plan
    dialect : Dialect
    lanes : int
        Hardware multipliers of the inner loops.
    part : str
        The device of the project scripts.
    clock : float
        Their clock period in nanoseconds.
    interface : str
        ``stream``, ``free_running`` (no processor starts the cores), or ``memory``.
    beat_bits : int, optional
        Width of a beat of several values; by default a beat has one value.
    """
    learns, solves, columns = LEARNER.fits(plan), SOLVER.fits(plan), plan.sizes["D"]
    memory = interface == "memory" and dialect.name == "vitis"
    x_bits, y_bits = (plan.signals[name].format.c_bits for name in ("x_raw", "y_raw"))
    banded, streams = solves and plan.banded, STREAM.fits(plan)
    return context(plan, str(plan.evidence.get("spec", "of no file"))) | {
        "hls": dialect, "dialect": dialect.name, "vitis": dialect.name == "vitis",
        "types_of": types(plan, learns=learns, solves=solves and not banded)
                    | (banded_types(plan) if banded else {}) | (stream_types(plan) if streams else {}),
        "constants": _constants(plan, learns, solves, lanes), **_recursion(plan, lanes),
        **(stream_context(plan, lanes) if streams else {}),
        "W": plan.word, "vectors": vectors(plan), "lanes": lanes, "part": part, "clock": clock,
        "header": model_head(plan), "rows": -(-vectors(plan) // lanes),
        "longest": max(columns + learns * plan.targets, plan.sizes["n"] if solves else 0),
        "free": interface == "free_running", "memory": memory, "beat_bits": beat_bits,
        "memory_bits": 16 if plan.word == 16 else 32, "state_words": state_words(plan) if learns else 0,
        "row_ii": -(-columns // lanes), "column_lanes": min(lanes, columns),
        "x_bits": x_bits, "y_bits": y_bits, "sample_bits": max(x_bits, y_bits),
        "streams": [(name, bits, *_packed(bits, None if memory else beat_bits)) for name, bits in (
            ("word", plan.word), ("x", x_bits), ("target", y_bits), ("sample", max(x_bits, y_bits)))],
        "roms": {name: table for name, table in plan.tables.items() if name in ROMS},
        "tag": model_tag(plan), "errors": errors_of(plan), "grid": window(plan) is not None,
        "state_parts": state_parts(plan) if learns else 0, **reply_context(plan),
        "intercepts": list(map(literal, intercepts(plan))) if framed(plan) and any(intercepts(plan)) else [],
        "targets": plan.targets, "known_label": _known_label(plan),
        "cores": [core for core in CORES if core.fits(plan)],
        "has": {core.name: core.fits(plan) for core in CORES},
    }
