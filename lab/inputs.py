"""lab: protect a spec, and the files that it refers to, from being overwritten."""

from __future__ import annotations

import os
from pathlib import Path

from ..sim.errors import fail
from ..sim.spec import Spec


def refuse_inputs(output: Path, where: str, spec: Spec, place: Path) -> None:
    """Raise E192 if an output file is a spec, or a file that the spec refers to.

    Parameters
    ----------
    output : Path
    where : str
        The option that specifies the output.
    spec : Spec
    place : Path
        The file of the spec.
    """
    data, model = spec.data, spec.predictor
    named = {"the spec": place.name, "[data] file": None if data is None else data.file,
             "[data] test": None if data is None else data.test,
             "[predictor] file": None if model is None else model.file}
    for what, name in named.items():
        if name is not None and _is_same(output, place.parent / name):
            raise fail("E192", f"the output would replace an input: {what}", where=where, value=str(output),
                       allowed="another file", remedy="name another file")


def _is_same(one: Path, other: Path) -> bool:
    """Report whether two paths refer to the same file, which need not exist."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)
