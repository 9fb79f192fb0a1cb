"""cli: ask on a terminal for missing arguments of ``kerncast init``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import typer


class Answers(NamedTuple):
    """Answers of the user; None selects the default."""

    name: str
    data: Path | None
    algorithm: str | None
    target: str


#: The algorithms, in a user's words.
ALGORITHMS = {
    "toeplitz_rls": "trains on a uniformly sampled signal, with all samples at once, in O(n) memory",
    "kernel_cg": "trains on samples of any kind, with all samples at once",
    "kernel_lms": "learns from a continuous stream of samples, in fixed memory",
    "online_kernel_rls": "learns from a stream more accurately, but needs more memory and time",
}


def at_terminal() -> bool:
    """Report whether both stdin and stdout are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(name: str | None, columns: Callable[[Path], int]) -> Answers:
    """Ask for the name, the data, the algorithm and the target of a model.

    An empty answer selects the default, which is shown in brackets.

    Parameters
    ----------
    name : str or None
        Name from the command line. If it is None, it is asked for.
    columns : callable
        Returns the number of input columns in a data file; 0 for a signal. Raises KerncastError if the file
        is invalid.
    """
    from ..codegen.firmware.targets import target_ids

    name = name or typer.prompt("Name of the model (lower case, as in C)", default="model")
    text = typer.prompt("CSV file of your samples, with the target in the last column (empty: no file yet)",
                        default="", show_default=False)
    data = Path(text).expanduser() if text.strip() else None
    usual = None if data is None else ("kernel_lms" if columns(data) else "toeplitz_rls")
    offered = [key for key in ALGORITHMS if usual != "kernel_lms" or key != "toeplitz_rls"]
    if usual == "toeplitz_rls":
        algorithm = usual  # the others need columns
    else:
        typer.echo("\n".join(f"  {key:17}  {ALGORITHMS[key]}" for key in offered))
        algorithm = _choice("Algorithm", offered, usual or "toeplitz_rls")
    target = _choice("Target (kerncast targets lists them)", target_ids(), "cortex-m4")
    return Answers(name, data, algorithm, target)


def _choice(question: str, offered: Sequence[str], usual: str) -> str:
    """Ask until the answer is one of the offered values, and return it."""
    while (answer := typer.prompt(question, default=usual).strip()) not in offered:
        typer.echo(f"  {answer} is not one of {', '.join(offered)}")
    return str(answer)
