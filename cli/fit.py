"""cli: ``kerncast fit``: search for better hyperparameters of a spec.

The candidates are evaluated with the integer model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._options import JsonFlag, SpecPath
from ._output import Answer, emit, table
from ._progress import bar
from ._spec import load_spec
from .sim import number

if TYPE_CHECKING:
    from ..lab.fitting import Fit
    from ..sim.spec import Spec


Samples = Annotated[int | None, typer.Option(
    metavar="COUNT", show_default=False,
    help="Maximum number of samples on which candidates are evaluated. Default: as many as the time limit "
         "allows.")]
New = Annotated[Path | None, typer.Option("-o", "--out", metavar="NEW", show_default=False,
                                          help="Write the recommended spec to a new file.")]


def fit(path: SpecPath, out: New = None, samples: Samples = None, as_json: JsonFlag = False) -> None:
    """Search for better values for a spec and its data.

    Tunes sigma and the other parameters of the algorithm: lambda, refinements, steps, eta, the dictionary
    size, quantisation, a linear part, and a correction by the last errors. If the spec has a novelty, its
    threshold is set from the leverage of the samples. Each candidate is evaluated with
    the integer model, at the word length of the spec, on samples that were not used to train it. With -o, the
    recommended spec is written with the comments of the original one. An existing file is never overwritten.

    Examples
    --------
    kerncast fit ecg.toml
    kerncast fit ecg.toml -o ecg_fitted.toml
    kerncast fit motor.toml --samples 400 --json
    """
    from ..lab.fitting import fit_spec
    from ..sim._output_files import refuse_unwritable
    from ..sim.errors import fail

    spec = load_spec(path)
    if out is not None:
        refuse_unwritable(out, "--out", "the new spec")
        if out.exists():
            raise fail("E192", "the file exists already", where="--out", value=str(out),
                       allowed="a new file", remedy="choose another name")
    with bar(as_json, "candidates") as report:
        found = fit_spec(spec, path.parent, samples, report)
    if out is not None:
        found.write(path, out)
    after = ("sim", str(out)) if out is not None else (
        ("fit", str(path), "-o", f"{path.stem}_fitted.toml") if found.changes else ("sim", str(path)))
    values = found.as_dict() | {"written": None if out is None else str(out)}
    emit(Answer(values, _text(found, out), ("kerncast", *after)), as_json)


def _text(found: Fit, out: Path | None) -> str:
    from ..sim.jit import COMPILED

    how = f"{found.candidates} candidates, each run in {found.new.numbers.word}-bit integers, "\
          f"evaluated {found.judged}"
    notes = [f"Selected on {found.sampled}."] if found.sampled else []
    notes += [f"The search was {found.stopped}."] if found.stopped else []
    notes += [found.novelty] if found.novelty else []
    notes += [] if COMPILED else ["numba is not installed: the search is slow and uses fewer samples. To "
                                  "install numba: python -m pip install numba"]
    written = [f"wrote {out}"] if out is not None else []
    return "\n".join([f"{found.spec.model.name}: {how}", *notes, "", table(_rows(found)), "",
                      f"Verdict  {found.verdict}", *written])


def _rows(found: Fit) -> list[tuple[str, str, str]]:
    """Return a table of changed values and errors, as written and recommended."""
    rows = [("", "as written", "recommended")]
    rows += [(f"[{table}] {key}".rstrip(), _value(found.spec, table, key), _value(found.new, table, key))
             for table, key in found.changes]
    before, after = found.before, found.after
    rows += [("status", before.status, after.status), ("RAM, bytes", str(before.ram), str(after.ram))]
    known = after.quality or before.quality
    if known is None:
        return rows
    unit = found.spec.output.unit or "units of y"
    rows.append((f"{known.shown} {known.judged}", number(known, before.error, unit),
                 number(known, after.error, unit)))
    rows += [(f"baseline: {name}", "", number(known, error, unit)) for name, error in known.baselines.items()]
    return rows


def _value(spec: Spec, table: str, key: str) -> str:
    """Return the value of a key as text; a dash if it has none."""
    held = getattr(spec, table)
    value: Any = None if held is None else held.model_dump(mode="json", by_alias=True).get(key, "present")
    return "-" if value is None else str(value)
