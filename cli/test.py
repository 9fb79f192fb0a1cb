"""cli: ``kerncast test``: replay a generated folder's vectors on back ends."""

from __future__ import annotations

from typing import Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, fail
from .build import GeneratedFolder
from .progress import steps
from .shell import JsonFlag, columns, show


def test(out: GeneratedFolder,
         on: Annotated[list[str], typer.Option("--on", help="Back end; may be given again.",
                                               show_default=False)],
         predictions: Annotated[int, typer.Option(help="Predictions a call at most; 0 for all.", min=0)] = 0,
         as_json: JsonFlag = False) -> None:
    """Replay the folder's vectors on back ends and compare every word with the model's.

    Exits with 1 where a word differs.

    Examples
    --------
    kerncast test build/ecg --on host
    kerncast test build/ecg --on host:clang:-O0 --on emu:mps2-an386:qemu
    kerncast test build/ecg --on rtl:icarus --predictions 8
    """
    from ..codegen.generate import load_plan, load_vectors
    from ..lab.ledger import run_backend
    from ..sim.vectors import shortened

    plan, _ = load_plan(out)
    vectors = load_vectors(out)
    if vectors is None:
        raise fail("E308", "the folder holds no test vectors", where=str(out),
                   allowed="a folder generated from a spec with [data]",
                   remedy="add [data] to the spec and generate again")
    if vectors.plan_hash != plan.hash:
        raise fail("E309", "the vectors belong to another plan", where=str(out), value=vectors.plan_hash,
                   allowed=plan.hash, remedy="generate the folder again")
    chosen = shortened(vectors, predictions) if predictions else vectors
    rows = []
    with steps(as_json) as tell:
        for name in on:
            tell(f"{plan.name}: {name}")
            rows.append(run_backend(plan, chosen, name, out))
    mismatches = sum(row.mismatches for row in rows)
    text = columns([("back end", "words", "unequal", "first difference"),
                    *((r.backend, str(r.words), str(r.mismatches), r.first) for r in rows)])
    show({"plan": plan.hash, "words": sum(row.words for row in rows), "mismatches": mismatches,
          "backends": [row.as_dict() for row in rows]}, as_json, text)
    if mismatches:
        raise typer.Exit(EXIT_DIFFERENT)
