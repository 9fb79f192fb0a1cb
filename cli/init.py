"""cli: ``kerncast init``: a commented spec to start from, fitted to a data file where one is given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..sim.errors import fail
from .shell import JsonFlag, show

# Usual lengths of sensor words: the data at hand need not show the largest word there is.
_LENGTHS = (2, 5, 8, 10, 12, 14, 16, 24, 32)
_LARGEST_N = 1024
_PRODUCTS = ("polynomial", "linear")

Values = dict[str, dict[str, Any]]


def init(name: Annotated[str, typer.Argument(
             metavar="NAME", help="Name of the model and of the file, NAME.toml.", show_default=False)],
         data: Annotated[Path | None, typer.Option(
             help="CSV of raw words: columns x0, x1, ... and y; only y for a sampled signal.",
             show_default=False)] = None,
         algorithm: Annotated[Literal["toeplitz_rls", "kernel_cg", "kernel_lms"] | None, typer.Option(
             help="Default: toeplitz_rls for a sampled signal, else kernel_lms.", show_default=False)] = None,
         kernel: Annotated[Literal["gaussian", "laplacian", "periodic", "polynomial", "linear"], typer.Option(
             help="Kernel; polynomial and linear go with kernel_cg.")] = "gaussian",
         out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write into.")] = Path(),
         as_json: JsonFlag = False) -> None:
    """Write NAME.toml, a commented spec to start from.

    A file that exists is left alone; a folder that is not there is made. With --data the columns, the raw
    words and n are taken from the file.

    Examples
    --------
    kerncast init motor
    kerncast init motor --data train.csv --kernel laplacian
    kerncast init motor --algorithm kernel_lms -o specs
    """
    from ..sim.spec import Spec
    from ..sim.spec_text import render

    path = out / f"{name}.toml"
    if data is None:
        values = _start(name, algorithm or ("kernel_cg" if kernel in _PRODUCTS else "toeplitz_rls"))
    else:
        values = _fitted(name, algorithm or ("kernel_cg" if kernel in _PRODUCTS else None), data, out)
    values["kernel"] = {"type": kernel} | _parameters(kernel, values)
    if kernel in _PRODUCTS:
        _scale(values)
    text = render(values, commented=("data",) if data is None else ())
    spec = Spec.from_text(text, "")  # a wrong NAME is a mistake on the command line, at no line of a file
    out.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise fail("E192", "the file exists already", where=str(path),
                   remedy="choose another name, or another folder with -o") from None
    show({"written": str(path), "hash": spec.hash, "summary": spec.summary()}, as_json,
         f"wrote {path}\n{spec.summary()}\nnext: kerncast check {path}")


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
    return values | {"numbers": {"word": 16}, "target": {"id": "cortex-m4"},
                     "data": {"file": "train.csv"}}


def _fitted(name: str, algorithm: str | None, data: Path, out: Path) -> Values:
    """Values fitted to a data file: columns, words, n, and a first guess of sigma."""
    from ..sim.data_csv import survey

    seen = survey(data)
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
        values["online"]["budget"] = max(2, min(64, seen.rows // 4))
    return values


def _word(low: int, high: int, where: str) -> str:
    """The format of the usual length that holds all words from `low` to `high`."""
    bits = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + (low < 0)
    if bits > _LENGTHS[-1]:
        raise fail("E246", "no raw word holds these values", where=where, value=f"{low} to {high}",
                   allowed=f"words of {_LENGTHS[-1]} bits", remedy="correct the data")
    return f"{'s' if low < 0 else 'u'}{next(b for b in _LENGTHS if b >= bits)}f0"
