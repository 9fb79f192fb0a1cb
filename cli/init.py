"""cli: ``kerncast init``: write a commented spec as a starting point.

With a data file, the spec is adapted to the data.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..sim.choices import KernelName
from ..sim.errors import fail
from . import _dialogue
from ._complete import data_files, target_or_board
from ._options import JsonFlag, separated
from ._output import Answer, emit

if TYPE_CHECKING:
    from ..sim.data.inspection import Inspection

_PRODUCTS = ("polynomial", "linear")
_TARGET = "cortex-m4"
_NONE = "none"

Name = Annotated[str | None, typer.Argument(
    metavar="NAME|DATA", show_default=False, autocompletion=data_files,
    help="Name of the model and of the file, NAME.toml; or a data file, whose name is then used for the "
         "model.")]
DataFile = Annotated[Path | None, typer.Option(
    "--data", metavar="FILE", autocompletion=data_files, show_default=False,
    help="Data file: CSV, WAV, NPZ or LIBSVM. Integers in columns x0, x1, ... and y are ADC counts; other "
         "values are converted.")]
Trained = Literal["toeplitz_rls", "kernel_cg", "kernel_lms", "online_kernel_rls"]
Algorithm = Annotated[Trained | None, typer.Option(
    metavar="NAME", show_default=False,
    help="toeplitz_rls, kernel_cg, kernel_lms or online_kernel_rls. Default: toeplitz_rls for a sampled "
         "signal, else kernel_lms.")]
KernelChoice = Annotated[KernelName, typer.Option(
    metavar="NAME", help="gaussian, laplacian, matern32, matern52 or periodic; kernel_cg also supports "
                         "polynomial and linear.")]
TargetId = Annotated[str, typer.Option(
    metavar="ID", autocompletion=target_or_board,
    help="Target or board to generate code for; kerncast targets lists them.")]
TargetColumn = Annotated[str | None, typer.Option(
    metavar="COLUMN", show_default=False,
    help="Column to predict, by name, or by number counted from 0. Default: y, target, label or class, else "
         "the last.")]
Inputs = Annotated[str | None, typer.Option(
    metavar="COLUMNS", show_default=False, help="Input columns, separated by commas. Default: all others.")]
Classes = Annotated[str | None, typer.Option(
    metavar="NAMES", show_default=False,
    help="Two classes, separated by a comma; rows of other classes are dropped. `none`: the target is a "
         "number.")]
Time = Annotated[str | None, typer.Option(
    metavar="COLUMN", show_default=False,
    help="Column with the sampling instants, which is not an input. `none`: the file has no such column.")]
Decimal = Annotated[Literal[".", ","] | None, typer.Option(
    metavar="MARK", show_default=False, help="Decimal mark, . or , ; by default it is detected in the file.")]
Separator = Annotated[str | None, typer.Option(
    metavar="CHARACTER", show_default=False, help="Character between fields: , ; tab or space.")]
Rows = Annotated[str | None, typer.Option(
    metavar="RANGE", show_default=False, help="Rows to use: 1000 for the first, or 1001..3000.")]
Missing = Annotated[Literal["refuse", "drop"] | None, typer.Option(
    metavar="WHAT", show_default=False, help="Rows with a missing value: refuse (default) or drop.")]
Lags = Annotated[int | None, typer.Option(
    "--lags", metavar="COUNT", min=1, max=256, show_default=False,
    help="Predict the next sample of a signal from this number of previous ones, instead of smoothing it.")]
Out = Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Folder to write into.")]


def init(name: Name = None, data: DataFile = None, algorithm: Algorithm = None,
         kernel: KernelChoice = "gaussian", target: TargetId = _TARGET, target_column: TargetColumn = None,
         inputs: Inputs = None, classes: Classes = None, time: Time = None, decimal: Decimal = None,
         separator: Separator = None, rows: Rows = None, missing: Missing = None, lags: Lags = None,
         out: Out = Path(), as_json: JsonFlag = False) -> None:
    """Write NAME.toml, a commented spec to start from.

    On a terminal and without options, the command asks questions. It never overwrites a file, and creates the
    folder if necessary. With a data file, it determines columns, classes, sampling instants and n, and prints
    them. The options become keys of [data] in the spec, so that all commands read the file in the same way.
    Values in physical units are converted to the counts of a 12-bit ADC; [data.ranges] contains the range of
    each column.

    Examples
    --------
    kerncast init motor.csv
    kerncast init motor --data train.csv --target-column torque
    kerncast init signal.wav --rows 1000
    kerncast init signal.wav --lags 8
    kerncast init motor --target nucleo-f446re
    """
    asked = {"target_column": target_column, "inputs": inputs, "time": time, "decimal": decimal,
             "separator": separator, "rows": rows, "missing": missing}
    chosen: str | None = algorithm or ("kernel_cg" if kernel in _PRODUCTS else None)
    if name is not None and data is None and _is_file(name):
        name, data = _name_of(Path(name)), Path(name)
    nothing_given = data is None and chosen is None and (kernel, target) == ("gaussian", _TARGET)
    seen = cache(lambda path: _inspect(path, asked, classes))  # the dialogue asks before the spec is fitted
    target_id = _target_of(target)
    if nothing_given and not as_json and _dialogue.at_terminal():
        name, data, chosen, target_id = _dialogue.ask(name, lambda path: seen(path).values.X.shape[1])
    wanted = target if target != _TARGET else target_id
    _check(name, data, {**asked, "classes": classes, "lags": lags}, {
        "algorithm": chosen, "kernel": kernel if kernel != "gaussian" else None,
        "target": wanted if wanted != _TARGET else None, "out": out if out != Path() else None})
    _emit(str(name), None if data is None else seen(data), (chosen, kernel, lags), target, target_id, out,
          as_json)


def _check(name: str | None, data: Path | None, of_data: dict[str, Any], others: dict[str, Any]) -> None:
    """Check the arguments; options that are not given are None.

    Raises E194 if the name is missing or if an option needs a data file, and E110 if the name is not valid in
    C.
    """
    if name is None:
        raise fail("E194", "NAME is missing", where="kerncast init", value="nothing",
                   allowed="a name in lower case that is valid in C",
                   remedy="run kerncast init NAME, such as kerncast init motor; on a terminal, kerncast "
                          "init asks for the name")
    _check_name(name, {"data": data, **of_data, **others})
    given = [key for key, value in of_data.items() if value]
    if data is None and given:
        raise fail("E194", f"--{given[0].replace('_', '-')} needs a data file", where="kerncast init",
                   value="no file", allowed="--data FILE", remedy="add --data FILE, or omit the option")


def _emit(name: str, seen: Inspection | None, model: tuple[str | None, str, int | None], target: str,
          target_id: str, out: Path, as_json: bool) -> None:
    """Write a spec, and print a summary of the spec and its data."""
    from ..lab.drafting import describe, draft_spec, lower_to_fit
    from ..sim.spec import Spec
    from ..sim.spec.text import render

    file = "" if seen is None else os.path.relpath(seen.path, out)
    algorithm, kernel, lags = model
    values = draft_spec(name, algorithm, kernel, target_id, seen, file, lags)
    # a wrong NAME is a mistake on the command line, at no line of a file
    Spec.from_text(render(values, ("data",) if seen is None else ()), "")
    lowered = lower_to_fit(values)
    found = {} if seen is None else describe(seen, values, lowered)
    path, text = out / f"{name}.toml", render(values, ("data",) if seen is None else ())
    spec = Spec.from_text(text, "")
    _write(path, text)
    lines = [f"wrote {path}", *(f"{key:10}{value}" for key, value in found.items()), spec.summary()]
    if target_id != target and target != _TARGET:
        lines.insert(1, f"{target} is a board with the target {target_id}")
    answer = {"written": str(path), "files": [str(path)], "hash": spec.hash, "summary": spec.summary(),
              "target": target_id, "data": found or None}
    emit(Answer(answer, "\n".join(lines), ("kerncast", "check", str(path))), as_json)


def _is_file(name: str) -> bool:
    """Report whether the argument is a data file rather than a name."""
    from ..sim.data.samples.files import format_of

    return bool(format_of(Path(name))) or Path(name).is_file()


def _name_of(path: Path) -> str:
    from ..sim.spec.types import suggest_name

    return suggest_name(path.name.partition(".")[0])


def _check_name(name: str, options: dict[str, Any]) -> None:
    """Raise E110 if a name is not valid in C; the remedy is a complete command."""
    import shlex

    from pydantic import TypeAdapter, ValidationError

    from ..sim.spec.problems import code_of
    from ..sim.spec.types import CName, suggest_name

    try:
        TypeAdapter(CName).validate_python(name)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        words = [suggest_name(name.removesuffix(".toml")), *(
            word for key, value in options.items() if value is not None
            for word in (f"--{key.replace('_', '-')}", str(value)))]
        raise fail(code_of(detail), detail["msg"], where="[model] name", value=name,
                   allowed="lower-case letters, digits, single underscores, beginning with a letter; at most "
                   "24 characters", remedy=f"run kerncast init {shlex.join(words)}") from None


def _inspect(data: Path, asked: dict[str, Any], classes: str | None) -> Inspection:
    """Read a data file with the options of the command line; return what it contains."""
    from pydantic import ValidationError

    from ..sim.data.inspection import inspect_file
    from ..sim.spec import Data

    given = {key: value for key, value in asked.items() if value is not None}
    find_time = given.get("time") != _NONE
    if not find_time:
        del given["time"]
    if "inputs" in given:
        given["inputs"] = separated([given["inputs"]])
    if "separator" in given:
        given["separator"] = _separator(given["separator"])
    if "rows" in given:
        given["rows"] = _rows(given["rows"])
    for key in ("target_column", "time"):
        if re.fullmatch(r"[0-9]{1,7}", given.get(key, "")):
            given[key] = int(given[key])
    try:
        options = Data.model_validate({"file": str(data), **given})
    except ValidationError as error:
        raise _invalid_key(str(error.errors()[0]["loc"][0]), given) from None
    names = None if classes in (None, _NONE) else separated([classes])
    if names is not None and len(names) < 2:
        raise _invalid("--classes", classes, "two class names, or `none`", "--classes idle,run")
    return inspect_file(data, options, clock=find_time, classes=names, find_classes=classes != _NONE)


def _separator(text: str) -> str:
    """Return the separator of columns; raise E194 if it is invalid."""
    found = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if found not in (",", ";", "\t", " "):
        raise _invalid("--separator", text, "one of these separators: , ; tab space", "--separator \";\"")
    return found


def _rows(text: str) -> int | str:
    """Return a number of rows, or a range of rows; raise E194 if it is invalid."""
    from pydantic import TypeAdapter, ValidationError

    from ..sim.spec.types import Rows

    try:
        return TypeAdapter(Rows).validate_python(int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text)
    except ValidationError:
        raise _invalid("--rows", text, "a number of rows, at least 1, or FIRST..LAST with rows counted from "
                                       "1", "--rows 1..1000") from None


def _invalid_key(key: str, given: dict[str, Any]) -> Exception:
    """Return error E194: the value of an option is not valid for its key in [data]."""
    examples = {"target_column": "--target-column torque", "inputs": "--inputs speed,current",
                "time": "--time seconds"}
    return _invalid(f"--{key.replace('_', '-')}", given.get(key, ""),
                    "the name of a column, or its number, counted from 0",
                    examples.get(key, "--data train.csv"))


def _invalid(option: str, value: Any, allowed: str, remedy: str) -> Exception:
    return fail("E194", f"the value of {option} is not valid", where=option, value=str(value),
                allowed=allowed, remedy=f"write the value as in {remedy}")


def _target_of(name: str) -> str:
    """Return the id of a target, or of the target of a board. Raise E323 if unknown."""
    from ..codegen.firmware.targets import board_ids, load_board, target_ids

    if name in target_ids():
        return name
    if name in board_ids():
        return load_board(name).target
    raise fail("E323", "no such target or board", where="--target", value=name,
               allowed=", ".join((*target_ids(), *board_ids())),
               remedy="choose one of the allowed values, or omit --target to use " + _TARGET)


def _write(path: Path, text: str) -> None:
    """Write a new file; raise E192 if it exists already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise fail("E192", "the file exists already", where=str(path),
                   remedy="choose another name, or another folder with -o") from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise
