"""codegen.hls: turn a plan into C++ for high-level synthesis by one vendor's tool."""

from __future__ import annotations

from typing import Any

from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.replay.vectors import Vectors
from ..resources import environment, read_text
from .cores import (
    CORES,
    LEARNER,
    PREDICTOR,
    SHARED,
    SOLVER,
    STREAM,
    TRAINER,
    HlsCore,
    hls_context,
    templates_of,
)
from .dialects import DIALECTS, Dialect

__all__ = [
    "CORES",
    "DIALECTS",
    "FOLDER",
    "LEARNER",
    "PREDICTOR",
    "SOLVER",
    "STREAM",
    "TRAINER",
    "VECTORS",
    "Dialect",
    "HlsCore",
    "fits",
    "refuse_unfit",
    "render_hls",
    "requested_dialects",
    "sources",
]

#: Folder of the C++ in a generated folder; a folder a dialect below it.
FOLDER = "hls"
#: What the testbench replays.
VECTORS = "vectors.txt"
#: Device and clock period in nanoseconds of the project scripts, where the spec names none.
PART, CLOCK = "xc7z020clg484-1", 10.0


def fits(plan: Plan) -> bool:
    """Report whether at least one core supports the plan."""
    return any(core.fits(plan) for core in CORES)


def refuse_unfit(plan: Plan) -> None:
    """Raise E311, with the predictor's reason, for a plan without any core."""
    dialects = requested_dialects(plan)
    if plan.evidence.get("hls", {}).get("interface") == "memory" and "catapult" in dialects:
        raise fail("E311", "no HLS C++ core for Catapult supports arrays in memory", where="[hls] dialects",
                   value=", ".join(dialects), allowed="vitis",
                   remedy='set dialects = ["vitis"], or interface = "stream"')
    refusal = PREDICTOR.refusal(plan)
    if refusal is not None and not fits(plan):
        raise refusal


def requested_dialects(plan: Plan) -> tuple[str, ...]:
    """List the dialects that the plan's spec requests."""
    return tuple(plan.evidence.get("hls", {}).get("dialects", ()))


def sources(plan: Plan) -> list[str]:
    """List the C++ sources of the program that replays vectors."""
    return [*(f"{plan.name}_{core.name}.cpp" for core in CORES if core.fits(plan)), f"{plan.name}_tb.cpp"]


def render_hls(plan: Plan, name: str, vectors: Vectors | None = None) -> dict[str, str]:
    """Render every core that supports a plan, in one dialect.

    The same plan gives the same bytes.

    Parameters
    ----------
    plan : Plan
        If the spec has ``[hls]``, its evidence contains the number of lanes, the device and the clock.
    name : str
        A name from :data:`.dialects.DIALECTS`.
    vectors : Vectors, optional
        The calls that the testbench replays.

    Returns
    -------
    dict of str to str
        Texts by file name, which begins with ``hls/<name>/``.

    Raises
    ------
    KerncastError
        E311 if no core supports the plan, with the predictor's reason.
    """
    refuse_unfit(plan)
    dialect, asked = DIALECTS[name], plan.evidence.get("hls", {})
    values = hls_context(plan, dialect, asked.get("lanes", 1), asked.get("part", PART),
                         asked.get("clock", CLOCK), asked.get("interface", "stream"),
                         asked.get("beat_bits")) | {
                             "missing": _missing(plan), "sources": sources(plan),
                             "replays": vectors is not None}
    cores = [core for core in CORES if core.fits(plan)]
    bases = dict.fromkeys([*SHARED, *(base for core in cores for base in templates_of(core, plan)), "tb.cpp"])
    files: dict[str, tuple[str, dict[str, Any]]] = {f"{plan.name}_{base}": (base, {}) for base in bases}
    files |= {script: (script, {}) for script in (*dialect.scripts, "README.md")}
    files |= {f"{core.name}_{script}": (script, {"core": core}) for core in cores
              for script in dialect.core_scripts}
    found = {file: environment().get_template(f"hls/{base}.j2").render(values | more, file=file)
             for file, (base, more) in files.items()}
    found |= {"prim.hpp": read_text("hw/hls/prim.hpp"), "dialect.hpp": read_text(f"hw/hls/{name}.hpp")}
    if vectors is not None:
        from .vectors import vectors_text  # brings the model, and that its compiler, a second's start

        found[VECTORS] = vectors_text(plan, vectors)
    return {f"{FOLDER}/{name}/{file}": text for file, text in found.items()}


def _missing(plan: Plan) -> list[str]:
    """Return the reason why a plan lacks a kind of core, for README.md."""
    return [f"{core.name}: `{problem.where}` is {problem.value}, allowed is {problem.allowed}"
            for core in CORES if core is not STREAM or plan.stream_taps
            for error in [core.refusal(plan)] if error is not None
            for problem in error.problems[:1]]
