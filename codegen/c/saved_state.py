"""codegen: template context and documentation page of saved states."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan
from ...sim.replay import saved_state
from ..resources import environment
from .context import c_integer


def saved_context(plan: Plan) -> dict[str, Any]:
    """Return the template context of saved states.

    The context contains the sizes, and how each member is stored and validated.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    dict
    """
    limits, finite = saved_state.member_ranges(plan), saved_state.finite_members(plan)
    members, at, count_at = [], 0, 0
    for f in plan.memory:
        lo, hi = limits.get(f.name, (None, None))
        members.append({
            "name": f.name, "ctype": f.ctype, "count": f.count, "scalar": f.formula == "1",
            "bytes": f.bytes // max(f.count, 1), "signed": f.ctype.startswith("int"),
            "is_float": f.ctype == "float", "finite": f.name in finite, "ranks": f.name == "age_order",
            "points": f.name == "nearest_idx",
            "lo": None if lo is None else c_integer(lo), "hi": "" if hi is None else c_integer(hi)})
        count_at, at = at if f.name == "count" else count_at, at + f.bytes
    ranked = any(m["ranks"] for m in members)
    return {"members": members, "exponent_excludes_0": plan.trains and not (
                plan.integer("alpha_exp_min") <= 0 <= plan.integer("alpha_exp_max")),
            "ranked": ranked, "count_name": "count" if ranked else "",
            "count_at": count_at,
            "count_bytes": next((m["bytes"] for m in members if m["name"] == "count"), 0),
            "floats": any(m["is_float"] for m in members), "arrays": any(not m["scalar"] for m in members),
            "payload": saved_state.payload_bytes(plan), "image": saved_state.image_bytes(plan),
            "slot": saved_state.slot_bytes(plan), "block": saved_state.BLOCK}


def render_docs() -> str:
    """Render ``docs/saved-state.md``."""
    layout, at = [], 0
    for part in saved_state.LAYOUT:
        layout.append((part, at))
        at += part.size
    return environment().get_template("firmware/saved-state.md.j2").render(
        parts=layout, header=saved_state.HEADER_BYTES, crc=saved_state.CRC_BYTES, block=saved_state.BLOCK,
        magic=saved_state.MAGIC.decode(), refusals=saved_state.REFUSALS.items())


if __name__ == "__main__":
    print(render_docs(), end="")
