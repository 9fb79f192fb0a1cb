"""cli: ``kerncast init``: write a commented spec as a starting point.

With a data file the spec is adapted to it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..sim.errors import KerncastError, fail
from . import _dialogue
from ._complete import data_files, target_or_board
from ._options import JsonFlag
from ._output import Answer, emit

if TYPE_CHECKING:
    from ..sim.data.quantise import QuantisedTable
    from ..sim.data.words_csv import Survey

    Seen = tuple[Survey, QuantisedTable | None]

# Usual lengths of ADC counts: the data need not contain the largest count.
_LENGTHS = (2, 5, 8, 10, 12, 14, 16, 24, 32)
_LARGEST_N = 1024
_PRODUCTS = ("polynomial", "linear")
_TARGET = "cortex-m4"

# What to do about a data file, where a message elsewhere names a key of the spec or an option.
_REMEDIES = {
    "E241": "check the path, and save the table as CSV in UTF-8",
    "E252": "give numbers only: write two classes as -1 and 1, and delete other columns of text",
}

Values = dict[str, dict[str, Any]]

Name = Annotated[str | None, typer.Argument(
    metavar="NAME", show_default=False, help="Name of the model and of the file, NAME.toml.")]
Data = Annotated[Path | None, typer.Option(
    metavar="FILE", autocompletion=data_files, show_default=False,
    help="CSV file of numbers, the last column the target; the target alone for a sampled signal. Columns "
         "x0, x1, ... and y are taken as ADC counts.")]
Algorithm = Annotated[Literal["toeplitz_rls", "kernel_cg", "kernel_lms"] | None, typer.Option(
    metavar="NAME", show_default=False,
    help="toeplitz_rls, kernel_cg or kernel_lms. Default: toeplitz_rls for a sampled signal, else "
         "kernel_lms.")]
KernelName = Annotated[Literal["gaussian", "laplacian", "periodic", "polynomial", "linear"], typer.Option(
    metavar="NAME", help="gaussian, laplacian or periodic; with kernel_cg polynomial or linear, too.")]
TargetId = Annotated[str, typer.Option(
    metavar="ID", autocompletion=target_or_board,
    help="Target or board to generate code for; kerncast targets lists them.")]
Out = Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Folder to write into.")]


def init(name: Name = None, data: Data = None, algorithm: Algorithm = None, kernel: KernelName = "gaussian",
         target: TargetId = _TARGET, out: Out = Path(), as_json: JsonFlag = False) -> None:
    """Write NAME.toml, a commented spec to start from.

    On a terminal, without options, it asks. It never overwrites a file, and makes the folder if it is
    missing. With --data it takes the columns, the ADC counts and n from the file. Measured values become
    the counts of a 12-bit converter, in NAME.words.csv next to the spec; the spec explains them.

    Examples
    --------
    kerncast init motor
    kerncast init motor --data train.csv --kernel laplacian
    kerncast init motor --algorithm kernel_lms -o specs
    kerncast init motor --target nucleo-f446re
    """
    from ..sim.spec import Spec

    chosen: str | None = algorithm or ("kernel_cg" if kernel in _PRODUCTS else None)
    nothing_given = data is None and chosen is None and (kernel, target) == ("gaussian", _TARGET)
    seen = cache(_seen)  # the dialogue asks before the spec is fitted
    target_id = _target_of(target)
    if nothing_given and not as_json and _dialogue.at_terminal():
        name, data, chosen, target_id = _dialogue.ask(name, lambda path: seen(path)[0].columns)
    if name is None:
        raise fail("E194", "NAME is missing", where="kerncast init", value="nothing",
                   allowed="a name in lower case, as in C", remedy="kerncast init NAME, such as "
                   "kerncast init motor; on a terminal kerncast init asks")
    files = _files(name, None if data is None else (data, *seen(data)), chosen, kernel, target_id, out)
    path, text = next(iter(files.items()))
    spec = Spec.from_text(text, "")  # a wrong NAME is a mistake on the command line, at no line of a file
    _write(files, out)
    lines = [f"wrote {' and '.join(map(str, files))}", spec.summary()]
    if target_id != target and target != _TARGET:
        lines.insert(1, f"{target} is a board with the target {target_id}")
    values = {"written": str(path), "files": [str(file) for file in files], "hash": spec.hash,
              "summary": spec.summary(), "target": target_id}
    emit(Answer(values, "\n".join(lines), ("kerncast", "check", str(path))), as_json)


def _target_of(name: str) -> str:
    """Return the ID of a target, or of the target of a board; raise E323."""
    from ..codegen.firmware.targets import board_ids, load_board, target_ids

    if name in target_ids():
        return name
    if name in board_ids():
        return load_board(name).target
    raise fail("E323", "no such target or board", where="--target", value=name,
               allowed=", ".join((*target_ids(), *board_ids())),
               remedy="choose one of these; without --target the spec is for " + _TARGET)


def _files(name: str, given: tuple[Path, Survey, QuantisedTable | None] | None, algorithm: str | None,
           kernel: str, target: str, out: Path) -> dict[Path, str]:
    """Return the spec, and the ADC counts of measured values, by their paths."""
    from ..sim.spec.text import render

    words, made = out / f"{name}.words.csv", None
    if given is None:
        values = _start(name, algorithm or "toeplitz_rls")
    else:
        data, seen, made = given
        values = _fitted(name, algorithm, data if made is None else words, out, seen)
    values["target"]["id"] = target
    values["kernel"] = {"type": kernel} | _parameters(kernel, values)
    if made is not None:
        _in_units(values, made)
    elif kernel in _PRODUCTS:
        _scale(values)
    text = render(values, ("data",) if given is None else (), made.legend if made else ())
    return {out / f"{name}.toml": text} | ({} if made is None else {words: made.text()})


def _write(files: dict[Path, str], out: Path) -> None:
    """Write all files, or raise E192 and write none if one of them exists."""
    out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for path, text in files.items():
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
    except BaseException as error:
        for own in written:
            own.unlink()
        if isinstance(error, FileExistsError):
            raise fail("E192", "the file exists", where=str(path),
                       remedy="choose another name, or another folder with -o") from None
        raise


def _seen(data: Path) -> Seen:
    """Survey a data file; also return the ADC counts of measured values."""
    from ..sim.data.quantise import is_raw, quantise_table
    from ..sim.data.words_csv import survey

    try:
        if is_raw(data):
            return survey(data), None
        made = quantise_table(data)
    except KerncastError as error:  # there is no spec yet, and init has no option for columns
        raise KerncastError(replace(problem, remedy=_REMEDIES.get(problem.code, problem.remedy))
                            for problem in error.problems) from None
    return made.survey, made


def _in_units(values: Values, made: QuantisedTable) -> None:
    """Scale inputs to -1 to 1.

    The target keeps its unit, with the middle of its range as offset.
    """
    from ..sim.data.quantise import MIDDLE

    if made.survey.columns:
        values["input"] |= {"offset": MIDDLE, "gain": 1 / MIDDLE}
    values["output"] |= {"offset": MIDDLE, "gain": float(f"{made.columns[-1].step:.12g}")}
    if values["kernel"]["type"] in _PRODUCTS:
        values["numbers"]["word"] = 32


def _parameters(kernel: str, values: Values) -> dict[str, Any]:
    """Return initial parameters of a kernel, derived from the Gaussian width."""
    width = values["kernel"]["sigma"]
    return {"gaussian": {"sigma": width}, "laplacian": {"sigma": width},
            "periodic": {"sigma": 1.0, "period": 10 * width},
            "polynomial": {"degree": 2, "gamma": 1 / values["input"]["columns"], "coef0": 1.0},
            }.get(kernel, {})


def _scale(values: Values) -> None:
    """Scale inputs to -1 to 1 and use 32 bits.

    Otherwise products of inputs are much larger than any lambda.
    """
    from ..sim.formats import Format

    word = Format.parse(values["input"]["word"])
    values["input"] |= {"offset": (word.lo + word.hi + 1) // 2, "gain": 2.0 ** (1 - word.bits)}
    values["numbers"]["word"] = 32


def _start(name: str, algorithm: str) -> Values:
    """Return values for a spec without data: one column, 16-bit words."""
    values: Values = {
        "model": {"name": name, "algorithm": algorithm},
        "input": {"word": "u16f0", "columns": 1, "offset": 0, "gain": 1.0},
        "output": {"word": "s12f0", "offset": 0, "gain": 1.0},
        "kernel": {"type": "gaussian", "sigma": 3.0},
    }
    if algorithm == "kernel_cg":
        values["cg"] = {"n": 256, "lambda": 0.1, "steps": 32}
    elif algorithm == "toeplitz_rls":
        values["toeplitz"] = {"n": 256, "lambda": 0.1, "scheme": "uniform", "step": 1}
    else:
        values["online"] = {"budget": 64, "eta": 0.2, "rho": 0.0, "reduction": "fklms", "passes": 1}
    return values | {"numbers": {"word": 16}, "target": {"id": _TARGET},
                     "data": {"file": "train.csv"}}


def _fitted(name: str, algorithm: str | None, data: Path, out: Path, seen: Survey) -> Values:
    """Return values for a data file: columns, formats, n, and an initial sigma."""
    chosen = algorithm or ("kernel_lms" if seen.columns else "toeplitz_rls")
    if chosen != "toeplitz_rls" and not seen.columns:
        raise fail("E242", f"{chosen} needs input columns, and the file has none", where=f"{data}:1",
                   value="y", allowed="x0, x1, ..., y",
                   remedy="add the columns, or use toeplitz_rls with kernel gaussian, laplacian or periodic")
    values = _start(name, chosen)
    values["output"]["word"] = _word(*seen.y_range, where=f"{data} y")
    values["data"]["file"] = os.path.relpath(data, out)
    if seen.columns:
        values["input"] |= {"word": _word(*seen.x_range, where=f"{data} x"), "columns": seen.columns}
        values["kernel"]["sigma"] = seen.sigma
    if chosen == "kernel_cg":
        values["cg"]["n"] = max(2, min(seen.rows, _LARGEST_N))
    elif chosen == "toeplitz_rls":
        values["toeplitz"]["n"] = max(2, min(seen.rows, _LARGEST_N))
        if seen.columns:
            values["toeplitz"]["scheme"] = "diagonal_mean_biased"
            del values["toeplitz"]["step"]
    else:
        # A width of the size of the data overlaps: nothing is projected then; FKLMS would amplify.
        values["online"] |= {"budget": max(2, min(64, seen.rows // 4)), "eta": 0.5, "reduction": "nt",
                             "passes": 4}
    return values


def _word(low: int, high: int, where: str) -> str:
    """Return the format of a usual length for all counts from `low` to `high`."""
    bits = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + (low < 0)
    if bits > _LENGTHS[-1]:
        raise fail("E246", "no word length holds these values", where=where, value=f"{low} to {high}",
                   allowed=f"words of {_LENGTHS[-1]} bits", remedy="correct the data")
    return f"{'s' if low < 0 else 'u'}{next(b for b in _LENGTHS if b >= bits)}f0"
