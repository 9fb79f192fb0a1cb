"""codegen.rtl: functions that the learners of kernel LMS and kernel RLS share."""

from __future__ import annotations

from typing import Any

from ...sim.formats import Format
from ...sim.plan import Plan
from .axi import Ports, Stream
from .common import literal, signed_bits


def sample_bits(plan: Plan) -> int:
    """Return the width of a beat that holds an input or a target."""
    return max(plan.signals[name].format.c_bits for name in ("x_raw", "y_raw"))


def learner_ports(plan: Plan, state_bits: int, kinds: int, commands: tuple[tuple[str, str], ...]) -> Ports:
    """List the streams in the order of the template.

    Parameters
    ----------
    plan : Plan
    state_bits : int
        Width of a beat of the state.
    kinds : int
        Width of ``tuser`` of the state, which distinguishes its frames; 0 if there is one frame.
    commands : tuple of (str, str)
        Commands that request a frame, and their meanings.
    """
    streams = (Stream("x", True, sample_bits(plan), 1), Stream("state", True, state_bits, kinds),
               Stream("f", False, plan.word, 3), Stream("state", False, state_bits, kinds))
    errors = (("error_x", "a sample frame has tlast at the wrong beat"), ("error_state", "a rejected state"))
    return Ports("learner", streams, ("x", "f"), errors, commands, lanes=True)


def sample_context(plan: Plan) -> dict[str, Any]:
    """Return the template context for samples with targets, and for a saturated error."""
    y, word = plan.signals["y"].format, Format(True, plan.word, 0)
    bits = {name: signed_bits((plan.integer(name),)) for name in ("y_offset", "y_gain")}
    return {"tdata_bits": sample_bits(plan), "y_raw": plan.signals["y_raw"].format,
            "y_lo": literal(y.lo, 64), "y_hi": literal(y.hi, 64),
            **{f"{name}_bits": width for name, width in bits.items()},
            **{name: literal(plan.integer(name), width) for name, width in bits.items()},
            "word_lo": literal(word.lo, 64), "word_hi": literal(word.hi, 64)}
