"""cli: ``kerncast plan``: what was decided for a spec, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .shell import JsonFlag, SpecPath, columns, emit, load_spec, show

if TYPE_CHECKING:
    from ..sim.plan import Plan

Why = Annotated[str | None, typer.Option("--why", metavar="SIGNAL", help="Explain one signal.")]


def plan(path: SpecPath, why: Why = None, as_json: JsonFlag = False) -> None:
    """Show the plan of a spec: formats and who decided them, memory and operation counts.

    Where the spec has data, the integer model is run on them to see how much of each format is used.

    Examples
    --------
    kerncast plan ecg.toml
    kerncast plan ecg.toml --why alpha
    kerncast plan ecg.toml --json
    """
    from ..lab.example import observed_plan
    from ..sim.planner.evidence import why as explain

    made = observed_plan(load_spec(path), path.parent)
    if why is not None:
        show({"signal": why, "why": explain(made, why), "evidence": made.evidence[why]}, as_json,
             explain(made, why))
    elif as_json:
        emit(json.loads(made.to_json()))
    else:
        print(_text(made))


def _text(made: Plan) -> str:
    memory = [("memory", "type", "elements", "bytes", "")]
    memory += [(f.name, f.ctype, f"{f.formula} = {f.count}" if f.formula != str(f.count) else f.formula,
                str(f.bytes), f.meaning) for f in made.memory]
    memory.append(("model", "", "", str(made.state_bytes), "RAM, owned by the caller"))
    memory.append(("tables", "", "", str(made.table_bytes), "flash"))
    counts = [("call", "at most", "")]
    counts += [(call, f"{o.formula} = {o.count}", what.replace("_", " "))
               for call, each in made.operations.items() for what, o in each.items()]
    return "\n\n".join([f"plan {made.hash}", columns(_signals(made)), columns(memory), columns(counts)])


def _signals(made: Plan) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("signal", "format", "cast", "decided by", "at most", "seen", "headroom", "unit")]
    for name, signal in made.signals.items():
        entry = made.evidence[name]
        cast = signal.rounding.name.lower() + (" wrap" if signal.overflow.name == "WRAP" else "")
        rows.append((name, str(signal.format), cast, entry["decided_by"],
                     _number(entry.get("range", entry.get("bound"))), _number(entry["seen"]),
                     _number(entry["headroom_bits"], ".1f", " bits"), signal.unit))
    return rows


def _number(value: Any, form: str = ".4g", unit: str = "") -> str:
    return "-" if value is None else f"{value:{form}}{unit}"
