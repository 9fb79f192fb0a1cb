"""cli: ``kerncast plan``: what was decided for a spec, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .shell import JsonFlag, SpecPath, columns, emit, load_spec

if TYPE_CHECKING:
    from ..sim.plan import Plan


def plan(path: SpecPath, as_json: JsonFlag = False) -> None:
    """Show the plan of a spec: formats, constants, memory and operation counts.

    Examples
    --------
    kerncast plan ecg.toml
    kerncast plan ecg.toml --json
    """
    from ..lab.example import plan_and_vectors

    made, _ = plan_and_vectors(load_spec(path), path.parent, vectors=False)
    if as_json:
        emit(json.loads(made.to_json()))
    else:
        print(_text(made))


def _text(made: Plan) -> str:
    signals = [("signal", "format", "rounding", "unit")]
    signals += [(name, str(s.format), s.rounding.name.lower(), s.unit) for name, s in made.signals.items()]
    memory = [("memory", "type", "elements", "bytes", "")]
    memory += [(f.name, f.ctype, f"{f.formula} = {f.count}" if f.formula != str(f.count) else f.formula,
                str(f.bytes), f.meaning) for f in made.memory]
    memory.append(("model", "", "", str(made.state_bytes), "RAM, owned by the caller"))
    memory.append(("tables", "", "", str(made.table_bytes), "flash"))
    counts = [("call", "at most", "")]
    counts += [(call, f"{o.formula} = {o.count}", what.replace("_", " "))
               for call, each in made.operations.items() for what, o in each.items()]
    why = [f"{name}: {json.dumps(e)}" for name, e in made.evidence.items() if name != "spec"]
    return "\n\n".join([f"plan {made.hash}", columns(signals), columns(memory), columns(counts),
                        "\n".join(why)])
