"""sim.spec: rules on the keys of [input]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft, Found
from .keys import MOST_COLUMNS

#: Largest number of entries in a delay line.
MOST_ENTRIES = 16384

#: Algorithms whose input can be a delay line.
DELAYED = ("kernel_lms", "kernel_predictor")


def with_window(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of a spec, with the number of columns of a delay line added.

    If [input] has a delay line but no key `columns`, the number of columns is the length of the delay line.
    """
    table = values.get("input")
    if not isinstance(table, dict) or "columns" in table or type(table.get("delay")) is not int:
        return values
    channels = table.get("channels", 1)
    count = table["delay"] * channels if type(channels) is int else table["delay"]
    count = min(max(count, 1), MOST_COLUMNS)  # the rules name `delay` or `channels`, never a key not given
    return {name: {**value, "columns": count} if name == "input" else value
            for name, value in values.items()}


def columns(draft: Draft) -> Found:
    """Check the number of offsets, gains and units (E112), and the offsets (E108)."""
    tapped = draft.get("input", "delay") is not None
    of, count = ("channels", _channels(draft)) if tapped else ("columns", draft.get("input", "columns"))
    for key in ("offset", "gain", "unit"):
        value = draft.get("input", key)
        if tapped and count == 1:  # see `delay`
            continue
        if count is not None and isinstance(value, (list, tuple)) and len(value) != count:
            one = "text" if key == "unit" else "number"
            yield draft.problem("E112", f"the list has {len(value)} entries, but there are {count} {of}",
                                "input", key,
                                allowed=f"one {one}, or a list with {count} entries",
                                remedy=f"correct the list, or correct `{of}` in [input]")
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

    A delay line requires consecutive samples, and an algorithm that processes samples one by one.
    """
    if draft.get("input", "delay") is None:
        if draft.given("input", "delay"):  # given, but out of range
            return
        yield from _only_in_a_line(draft, "requires a delay line, but the spec has none", "with `delay`",
                                   "give `delay`, or omit `{key}`")
        return
    yield from _line_size(draft)
    if draft.get("data", "lagged"):
        yield from _only_in_a_line(draft, "cannot be used if the model predicts its own input signal",
                                   "without `lagged`", "omit `{key}`, or give a file with a target column")
    for key in ("offset", "gain", "unit"):
        if _channels(draft) == 1 and isinstance(draft.get("input", key), (list, tuple)):
            yield draft.problem("E113", f"a delay line of one channel has one {key}", "input", key,
                                allowed=f"one {key}", remedy=f"give one {key}, or omit `delay`")
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
    if builtin not in (None, "equaliser") or (builtin and draft.given("input", "channels")):
        yield draft.problem("E115", f"the samples of {builtin} are not consecutive windows of one signal",
                            "input", "delay",
                            allowed="`delay` with builtin = \"equaliser\", or with `file`",
                            remedy="omit `delay`")


def _channels(draft: Draft) -> int | None:
    """Return the number of channels of the delay line; None if it is not valid."""
    return draft.get("input", "channels") if draft.given("input", "channels") else 1


def _line_size(draft: Draft) -> Found:
    """Check the size of a delay line (E108), and the number of columns (E112)."""
    length, count, channels = draft.get("input", "delay"), draft.get("input", "columns"), _channels(draft)
    if channels is None:
        return
    entries = length * channels
    if entries > MOST_ENTRIES:
        yield draft.problem("E108", f"the delay line has {entries} entries", "input", "channels",
                            allowed=f"`delay` x `channels` of at most {MOST_ENTRIES}",
                            remedy="give fewer `channels`, or a shorter `delay`")
    elif count not in (None, entries):
        line = f"{length} samples" + (f" of {channels} channels" if channels > 1 else "")
        yield draft.problem("E112", f"columns = {count} contradicts the delay line of {line}", "input",
                            "columns", allowed=f"columns = {entries}", remedy="omit `columns`")


def _only_in_a_line(draft: Draft, problem: str, allowed: str, remedy: str) -> Found:
    """Report the settings of a delay line other than its length (E113)."""
    for key in ("channels", "decimate"):
        if draft.given("input", key):
            yield draft.problem("E113", f"`{key}` {problem}", "input", key,
                                allowed=f"`{key}` {allowed}", remedy=remedy.format(key=key))
