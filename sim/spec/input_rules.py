"""sim.spec: rules on the keys of [input]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft, Found

#: Algorithms whose input can be a delay line.
DELAYED = ("kernel_lms", "kernel_predictor")


def with_window(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of a spec, with the number of columns of a delay line added.

    If [input] has a delay line but no key `columns`, the number of columns is the length of the delay line.
    """
    table = values.get("input")
    if not isinstance(table, dict) or "columns" in table or type(table.get("delay")) is not int:
        return values
    return {name: {**value, "columns": value["delay"]} if name == "input" else value
            for name, value in values.items()}


def columns(draft: Draft) -> Found:
    """Check the number of offsets, gains and units (E112), and the offsets (E108)."""
    count = draft.get("input", "columns")
    for key in ("offset", "gain", "unit"):
        value = draft.get("input", key)
        if count is not None and isinstance(value, (list, tuple)) and len(value) != count:
            one = "text" if key == "unit" else "number"
            yield draft.problem("E112", f"the list has {len(value)} entries, but there are {count} columns",
                                "input", key,
                                allowed=f"one {one}, or a list with {count} entries",
                                remedy="correct the list, or correct `columns` in [input]")
    for table in ("input", "output"):
        word, offset = draft.word(table), draft.get(table, "offset")
        if word is None or offset is None:
            continue
        each = offset if isinstance(offset, (list, tuple)) else [offset]
        if not all(word.lo <= value <= word.hi for value in each):
            yield draft.problem("E108", f"the offset is outside the range of the ADC format {word}", table,
                                "offset", allowed=f"{word.lo} to {word.hi}",
                                remedy="give an offset in ADC counts, or use a wider format")


def delay(draft: Draft) -> Found:
    """Check that the spec is suitable for a delay line (E112, E113, E115).

    A delay line requires consecutive samples of one signal, and an algorithm that processes samples one by
    one.
    """
    length, count = draft.get("input", "delay"), draft.get("input", "columns")
    if length is None:
        return
    if count is not None and count != length:
        yield draft.problem("E112", f"columns = {count} contradicts the delay line of {length} samples",
                            "input",
                            "columns", allowed=f"columns = {length}", remedy="omit columns")
    for key in ("offset", "gain", "unit"):
        if isinstance(draft.get("input", key), (list, tuple)):
            yield draft.problem("E113",
                                f"a delay line has one {key}, because all its samples come from one signal",
                                "input", key, allowed=f"one {key}", remedy=f"give one {key}, or omit `delay`")
    for key in ("missing", "classes"):
        if draft.given("data", key) and (key == "classes" or draft.get("data", key) == "drop"):
            yield draft.problem("E113", f"{key} drops samples, but a delay line needs all of them", "data",
                                key, allowed=f"{key} without delay", remedy=f"remove {key}, or remove "
                                                                            f"`delay`")
    algorithm, builtin = draft.get("model", "algorithm"), draft.get("data", "builtin")
    if algorithm not in (None, *DELAYED):
        yield draft.problem("E113", f"algorithm {algorithm} does not read its samples from a delay line",
                            "input", "delay", allowed=f"delay with algorithm {' or '.join(DELAYED)}",
                            remedy="omit `delay`, and set `columns` for several inputs")
    if builtin not in (None, "equaliser"):
        yield draft.problem("E115", f"the samples of {builtin} are not consecutive windows of one signal",
                            "input", "delay",
                            allowed="`delay` with builtin = \"equaliser\", or with `file`", remedy="omit "
                                                                                                   "`delay`")
