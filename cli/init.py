"""cli: ``kerncast init``: a commented spec to start from, fitted to a data file where one is given."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..sim.errors import fail
from . import dialogue
from .complete import data_files, target_names
from .shell import JsonFlag, show

if TYPE_CHECKING:
    from ..sim.data.quantise import QuantisedTable
    from ..sim.data.words_csv import Survey

    Seen = tuple[Survey, QuantisedTable | None]

# Usual lengths of sensor words: the data at hand need not show the largest word there is.
_LENGTHS = (2, 5, 8, 10, 12, 14, 16, 24, 32)
_LARGEST_N = 1024
_PRODUCTS = ("polynomial", "linear")
_TARGET = "cortex-m4"

Values = dict[str, dict[str, Any]]


def init(name: Annotated[str | None, typer.Argument(metavar="NAME", show_default=False, help=(
             "Name of the model and of the file, NAME.toml."))] = None,
         data: Annotated[Path | None, typer.Option(
             help="CSV of numbers, the last column the target; the target alone for a sampled signal. "
                  "Columns x0, x1, ... and y are taken for raw words.", autocompletion=data_files,
             show_default=False)] = None,
         algorithm: Annotated[Literal["toeplitz_rls", "kernel_cg", "kernel_lms"] | None, typer.Option(
             help="Default: toeplitz_rls for a sampled signal, else kernel_lms.", show_default=False)] = None,
         kernel: Annotated[Literal["gaussian", "laplacian", "periodic", "polynomial", "linear"], typer.Option(
             help="Kernel; polynomial and linear go with kernel_cg.")] = "gaussian",
         target: Annotated[str, typer.Option(help="What the code is for; `kerncast targets` lists them.",
                                             autocompletion=target_names)] = _TARGET,
         out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write into.")] = Path(),
         as_json: JsonFlag = False) -> None:
    """Write NAME.toml, a commented spec to start from; on a terminal, without options, it asks.

    A file that exists is left alone; a folder that is not there is made. With --data the columns, the raw
    words and n are taken from the file. Measured values become words of a 12-bit converter, written beside
    the spec as NAME.words.csv; the spec says what they mean.

    Examples
    --------
    kerncast init motor
    kerncast init motor --data train.csv --kernel laplacian
    kerncast init motor --algorithm kernel_lms -o specs
    """
    from ..sim.spec import Spec

    chosen: str | None = algorithm or ("kernel_cg" if kernel in _PRODUCTS else None)
    nothing_said = data is None and chosen is None and (kernel, target) == ("gaussian", _TARGET)
    seen = cache(_seen)  # the dialogue asks before the spec is fitted
    if nothing_said and not as_json and dialogue.at_terminal():
        name, data, chosen, target = dialogue.ask(name, lambda path: seen(path)[0].columns)
    if name is None:
        raise typer.BadParameter("Missing argument 'NAME'.")
    files = _files(name, None if data is None else (data, *seen(data)), chosen, kernel, target, out)
    path, text = next(iter(files.items()))
    spec = Spec.from_text(text, "")  # a wrong NAME is a mistake on the command line, at no line of a file
    _write(files, out)
    show({"written": str(path), "files": [str(file) for file in files], "hash": spec.hash,
          "summary": spec.summary()}, as_json,
         f"wrote {' and '.join(map(str, files))}\n{spec.summary()}\nnext: kerncast check {path}")


def _files(name: str, given: tuple[Path, Survey, QuantisedTable | None] | None, algorithm: str | None,
           kernel: str, target: str, out: Path) -> dict[Path, str]:
    """The spec, and the words of measured values, by the paths they go to."""
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
    """Write all files, or none where one of them exists; E192."""
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
            raise fail("E192", "the file exists already", where=str(path),
                       remedy="choose another name, or another folder with -o") from None
        raise


def _seen(data: Path) -> Seen:
    """What a data file shows, and its words where it holds measured values."""
    from ..sim.data.quantise import is_raw, quantise_table
    from ..sim.data.words_csv import survey

    if is_raw(data):
        return survey(data), None
    made = quantise_table(data)
    return made.survey, made


def _in_units(values: Values, made: QuantisedTable) -> None:
    """Inputs from -1 to 1; the target in its own unit, from the middle of its range."""
    from ..sim.data.quantise import MIDDLE

    if made.survey.columns:
        values["input"] |= {"offset": MIDDLE, "gain": 1 / MIDDLE}
    values["output"] |= {"offset": MIDDLE, "gain": float(f"{made.columns[-1].step:.12g}")}
    if values["kernel"]["type"] in _PRODUCTS:
        values["numbers"]["word"] = 32


def _parameters(kernel: str, values: Values) -> dict[str, Any]:
    """A first guess of a kernel's parameters, from the width that suits the Gaussian one."""
    width = values["kernel"]["sigma"]
    return {"gaussian": {"sigma": width}, "laplacian": {"sigma": width},
            "periodic": {"sigma": 1.0, "period": 10 * width},
            "polynomial": {"degree": 2, "gamma": 1 / values["input"]["columns"], "coef0": 1.0},
            }.get(kernel, {})


def _scale(values: Values) -> None:
    """Inputs from -1 to 1 and long words, without which products of inputs dwarf any lambda."""
    from ..sim.formats import Format

    word = Format.parse(values["input"]["word"])
    values["input"] |= {"offset": (word.lo + word.hi + 1) // 2, "gain": 2.0 ** (1 - word.bits)}
    values["numbers"]["word"] = 32


def _start(name: str, algorithm: str) -> Values:
    """Values for a spec without data: one column, 16-bit words."""
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
    """Values fitted to a data file: columns, words, n, and a first guess of sigma."""
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
        # A width of the data's own size overlaps: nothing is projected then, where FKLMS would amplify.
        values["online"] |= {"budget": max(2, min(64, seen.rows // 4)), "eta": 0.5, "reduction": "nt",
                             "passes": 4}
    return values


def _word(low: int, high: int, where: str) -> str:
    """The format of the usual length that holds all words from `low` to `high`."""
    bits = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + (low < 0)
    if bits > _LENGTHS[-1]:
        raise fail("E246", "no raw word holds these values", where=where, value=f"{low} to {high}",
                   allowed=f"words of {_LENGTHS[-1]} bits", remedy="correct the data")
    return f"{'s' if low < 0 else 'u'}{next(b for b in _LENGTHS if b >= bits)}f0"
