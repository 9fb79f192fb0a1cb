"""cli: ``kerncast fit``: select sigma and lambda in float64.

It also reports whether the Toeplitz approximation suits the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ._options import JsonFlag, SpecPath
from ._output import Answer, emit, table
from ._progress import steps
from ._spec import load_spec

if TYPE_CHECKING:
    from ..lab.fitting import Fit


_NAMES = {"exact": "exact, the whole matrix", "toeplitz": "Toeplitz", "cg": "conjugate gradients"}
#: The table of the spec that holds lambda, by trainer.
_TABLES = {"toeplitz_rls": "toeplitz", "kernel_cg": "cg"}

Samples = Annotated[int, typer.Option(metavar="COUNT", help="Samples to select sigma and lambda on.")]


def fit(path: SpecPath, samples: Samples = 1000, as_json: JsonFlag = False) -> None:
    """Select sigma and lambda in float64.

    Trains in float64 on the spec's data, tries widths around the spec's sigma, each twice the one before, and
    reports whether the Toeplitz trainer suits the data.

    Examples
    --------
    kerncast fit ecg.toml
    kerncast fit motor.toml --samples 400
    kerncast fit ecg.toml --json
    """
    from ..lab.fitting import fit_spec

    spec = load_spec(path)
    with steps(as_json) as step:
        found = fit_spec(spec, path.parent, samples, step)
    emit(Answer(found.as_dict(), _text(found), ("kerncast", "sim", str(path))), as_json)


def _text(found: Fit) -> str:
    where = "on the test samples" if found.tested else "on the training samples"
    lines = [found.data.title, f"{len(found.data.y_raw)} training samples; errors are: {found.measure}", ""]
    lines.append(f"with the spec as written, in float64: {_percent(found)} {where}" if found.error is not None
                 else f"with the spec as written, float64 has no solution: {found.status}")
    if found.verdict is None:
        return "\n".join([*lines, "", "Toeplitz does not apply: the kernel is not a function of u - v."])
    verdict = found.verdict
    rows = [("selected by", "sigma", "lambda", "error", "")]
    rows += [(_NAMES[c.method], f"{c.sigma:.4g}", f"{c.lam:.4g}", f"{c.error:.4g}",
              "at the edge of the values tried" if c.at_edge else "") for c in verdict.choices]
    advice = f'algorithm = "{verdict.trainer}", [kernel] sigma = {verdict.model.sigma:.4g}, ' \
             f"[{_TABLES[verdict.trainer]}] lambda = {verdict.model.lam:.4g}"
    if verdict.model.at_edge:
        advice += " (at the edge of the values tried)"
    return "\n".join([*lines, "", f"models selected on {verdict.samples} samples, scheme {verdict.scheme}:",
                      table(rows), "", verdict.words, "", f"In the spec: {advice}"])


def _percent(found: Fit) -> str:
    assert found.error is not None
    return f"{found.error:.2%}" if found.measure == "error rate" else f"{found.error:.4g}"
