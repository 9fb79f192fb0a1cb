"""sim.diagnostics: add the observed range of each signal to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import log2
from typing import Any

from ..backend import Outputs
from ..errors import fail
from ..plan import Plan, Signal
from ..planner.evidence import complete, exponents, is_block, largest, reach

_DECISIONS = {
    "analytic": "by an analytic bound, which no data can exceed",
    "design": "by a design range", "simulated": "by a run of the integer model on the data",
    "spec": "by the spec", "format": "by the full scale of its format"}


def observed(plan: Plan, ranges: Iterable[Any], state: Outputs) -> Plan:
    """Add the ranges of a run of the integer model to the evidence of a plan.

    Parameters
    ----------
    plan : Plan
    ranges : iterable of Range
        The ranges that the model recorded.
    state : dict
        The model structure after the run, which contains the block exponents.

    Returns
    -------
    Plan
        A plan with the same decisions and the same hash.
    """
    evidence = {**plan.evidence, **complete(plan)}
    for r in ranges:
        if not is_block(plan, r.name):
            evidence[r.name] = {**evidence[r.name], **_seen(plan, r.name, max(-r.lo, r.hi), 0)}
    for name in plan.signals:
        if is_block(plan, name) and name in state and f"{name}_exp" in state:
            word, exponent = int(abs(state[name]).max(initial=0)), int(state[f"{name}_exp"][0])
            known = {} if exponents(plan, name) is None else _seen(plan, name, word, exponent)
            evidence[name] = {**evidence[name], **known, "exponent": exponent}
    return replace(plan, evidence=evidence)


def _seen(plan: Plan, name: str, word: int, exponent: int) -> dict[str, float | None]:
    value = float(plan.signals[name].format.value(word)) * 2.0**exponent
    return {"seen": value, "headroom_bits": log2(reach(plan, name) / value) if value > 0 else None}


def why(plan: Plan, name: str) -> str:
    """Describe a signal, the source of its range, and its range in a run.

    Raises
    ------
    KerncastError
        E119 if the plan has no such signal.
    """
    if name not in plan.signals:
        raise fail("E119", "the plan has no such signal", where="--why", value=name,
                   allowed=", ".join(plan.signals), remedy="use one of the allowed values")
    signal, entry = plan.signals[name], complete(plan)[name]
    fmt = signal.format
    lines = [f"{name} has the format {fmt}: {'signed' if fmt.signed else 'unsigned'}, {fmt.bits} bits, "
             f"{fmt.frac} of them fraction bits. Its unit is {plan.unit_of(name)}. {_text_reach(plan, name)}"]
    if not is_block(plan, name) or exponents(plan, name) is not None:
        lines.append(f"Its range was chosen {_DECISIONS[entry['decided_by']]}: "
                     f"{entry.get('range', entry.get('bound', reach(plan, name))):.6g}.")
    lines.append(f"Its cast rounds with {signal.rounding.name.lower()} and {_overflows(signal, entry)}.")
    if "range" in entry and "bound" in entry:
        lines.append(f"The analytic bound is {entry['bound']:.6g}.")
    lines.append(_text_seen(plan, name, entry))
    return "\n".join(lines)


def _text_reach(plan: Plan, name: str) -> str:
    most, limits = largest(plan.signals[name]), exponents(plan, name)
    if not is_block(plan, name):
        return f"Its full scale is {most:.6g}."
    if limits is None:
        return "Its values share a block exponent, which rises and falls with the values."
    low, high = limits
    if low == high:
        return f"Its values share the fixed exponent {low}: full scale is {most * 2.0**low:.6g}."
    return (f"Its values share a block exponent from {low} (full scale {most * 2.0**low:.6g}) to "
            f"{high} (full scale {most * 2.0**high:.6g}).")


def _overflows(signal: Signal, entry: Mapping[str, Any]) -> str:
    if entry["decided_by"] == "analytic":
        return "never saturates"
    return "saturates" if signal.overflow.name == "SATURATE" else "wraps"


def _text_seen(plan: Plan, name: str, entry: Mapping[str, Any]) -> str:
    exponent, limits = entry.get("exponent"), exponents(plan, name)
    if entry["seen"] is None:
        return ("No run on data is recorded: add [data] to the spec." if exponent is None
                else f"At the end of the run of the integer model on the data, its exponent was {exponent}.")
    bits = entry["headroom_bits"]
    left = "the data use no part of its range" if bits is None else f"{bits:.2f} bits of headroom remain"
    at = ""
    if exponent is not None and limits is not None and limits[0] < limits[1]:
        at = f", at exponent {exponent}"
        if bits is not None:
            left += f", {limits[1] - exponent} of them from the block exponent"
    return f"In the run of the integer model on the data, it reached {entry['seen']:.6g}{at}: {left}."
