"""sim.spec: rules on combinations of keys.

A rule checks only values that are valid individually, and ignores missing and invalid values. Therefore every
rule can check a spec that contains mistakes, and all mistakes are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..choices import KERNEL_KEYS
from ..formats import Format
from ..kernels import KERNELS, NEEDS, lacking
from .draft import Draft, Found
from .input_rules import columns, delay
from .keys import (
    CALLS,
    CASTS,
    OVERRIDABLE,
    RANGED,
    READING_KEYS,
    REQUIRED,
    TABLE_OF,
    TABLES,
    WRAPPABLE,
    keys,
    words,
)
from .online_rules import (
    bounded_update,
    float32,
    forgetting,
    guard,
    linear_part,
    reduction,
    several_outputs,
)
from .rls_rules import novelty
from .solver_rules import candidates, factor, lambda_range, refined_band, signals, solver
from .stream_rules import stream
from .types import OVERFLOWS

#: Algorithms with classes, and with several outputs.
WITH_CLASSES = ("kernel_predictor", "kernel_lms", "online_kernel_rls", "kernel_cg")
SEVERAL_OUTPUTS = (*WITH_CLASSES, "toeplitz_rls")

#: Requirements of the bundled data: columns and samples.
BUILTIN_ECG_SAMPLES = 1024
BUILTIN_DIGITS_COLUMNS = 64
BUILTIN_DIGITS_TRAINING = 250
BUILTIN_DIGITS_CLASSES = tuple("0123456789")
BUILTIN_TEN_DIGITS_TRAINING = 1000
BUILTIN_EQUALISER_SAMPLES = 1000
BUILTIN_EQUALISER_COLUMNS = 16

def tables_present(draft: Draft) -> Found:
    """Require the mandatory tables, and the table of one algorithm only (E105, E111)."""
    needed = TABLE_OF.get(draft.get("model", "algorithm") or "")
    for table in REQUIRED:
        if not draft.has(table):
            yield draft.problem("E105", "this table is missing", table, allowed=_required(table),
                                remedy=f"add the line [{table}] and its keys")
    given = [table for table in TABLE_OF.values() if draft.has(table)]
    allowed = ", ".join(f"[{table}] for {algorithm}" for algorithm, table in TABLE_OF.items())
    if needed and needed not in given:
        yield draft.problem("E105", f"algorithm {draft.get('model', 'algorithm')} needs this table", needed,
                            allowed=_required(needed), remedy=f"add the line [{needed}] and its keys")
        for other in given:
            yield draft.problem("E111", "this table is for another algorithm", other, allowed=f"[{needed}]",
                                remedy="remove it, or change algorithm in [model]")
    elif len(given) > 1:
        message = f"{' and '.join(f'[{table}]' for table in given)} exclude each other"
        for extra in [table for table in given if table != needed][:None if needed else 1]:
            yield draft.problem("E111", message, extra, allowed=allowed,
                                remedy=f"remove [{extra}]" if needed else "keep only one of these tables")
    elif not given:
        yield draft.problem("E111", "the table for the algorithm is missing", "model", "algorithm",
                            allowed=allowed, remedy="add one of these tables")


def _required(table: str) -> str:
    if table == "output":
        return "`word` or `classes` in [output]"
    needs = [key for key, name in keys(TABLES[table]).items()
             if TABLES[table].model_fields[name].is_required()]
    return f"[{table}] with {', '.join(needs)}" if needs else f"[{table}]"


def output(draft: Draft) -> Found:
    """Check the keys of [output] (E106, E113, E115, E116, E123).

    [output] must have a word or classes. Other keys must be compatible with classes and with several outputs.
    """
    if not isinstance(draft.source.values.get("output"), dict):
        return
    classes, several = draft.given("output", "classes"), (draft.get("output", "outputs") or 1) > 1
    if not classes and not draft.given("output", "word"):
        allowed, remedy = words(TABLES["output"], "word")
        yield draft.problem("E106", "word is missing", "output", "word", allowed=allowed,
                            remedy=f"add a line word = ...; {remedy}; for a classifier, add `classes`")
    for key in ("outputs", "offset", "gain", "unit") if classes else ():
        if draft.given("output", key):
            yield draft.problem("E113", f"{key} cannot be combined with classes", "output", key,
                                allowed="classes, word and min_margin",
                                remedy=f"remove {key}, or remove `classes`")
    if (classes or several) and draft.get("data", "lagged"):
        yield draft.problem("E116", "`lagged` needs exactly one target, and no classes", "data", "lagged",
                            allowed="`lagged` with one output and no classes", remedy="remove `lagged`")
    yield from _bundled(draft, classes, several)
    if classes and draft.given("data", "classes"):
        yield draft.problem("E113", "the classes are listed in both [output] and [data]", "data", "classes",
                            allowed="classes in [output] or in [data]", remedy="remove `classes` from [data]")
    if several and any(draft.given("data", key) for key in READING_KEYS):
        yield draft.problem("E116", "the keys of [data] that describe the file support only one target",
                            "output", "outputs",
                            allowed="a CSV file of ADC counts with columns x0, ..., y0, y1, ...",
                            remedy="remove the keys that describe the file, or remove `outputs`")
    if not classes and draft.given("output", "min_margin"):
        yield draft.problem("E113", "min_margin needs classes", "output", "min_margin",
                            allowed="min_margin with classes", remedy="remove min_margin, or add `classes`")
    algorithm = draft.get("model", "algorithm")
    supported = WITH_CLASSES if classes else SEVERAL_OUTPUTS
    if (classes or several) and algorithm not in (None, *supported):
        key = "classes" if classes else "outputs"
        what = "does not support classes" if classes else "supports only one output"
        yield draft.problem("E123", f"algorithm {algorithm} {what} on the device", "output", key,
                            allowed=f"{key} with algorithm {' or '.join(supported)}",
                            remedy="use kernel_lms, kernel_cg or online_kernel_rls, or train with "
                                   "scikit-learn and use kerncast.export")


def _bundled(draft: Draft, classes: bool, several: bool) -> Found:
    """Check that the bundled data have the classes and outputs of the spec (E115)."""
    name = draft.get("data", "builtin")
    names = ", ".join(f'"{label}"' for label in BUILTIN_DIGITS_CLASSES)
    if several and name is not None:
        yield draft.problem("E115", "the bundled data have only one target", "data", "builtin",
                            allowed="[data] file with several outputs",
                            remedy="name a file, or remove `outputs`")
    elif classes and name not in (None, "digits"):
        yield draft.problem("E115", "these bundled data have no classes", "data", "builtin",
                            allowed="builtin = \"digits\", or `file`, with classes",
                            remedy="name a file, or remove `classes`")
    elif classes and name and tuple(map(str, draft.get("output", "classes") or ())) != BUILTIN_DIGITS_CLASSES:
        yield draft.problem("E115", "the classes of the bundled digit images are 0 to 9", "output",
                            "classes", allowed=f"[{names}]", remedy=f"set classes = [{names}]")


def scheme(draft: Draft) -> Found:
    """Require one column for scheme `uniform`; allow `step` only with it (E113)."""
    chosen, count = draft.get("toeplitz", "scheme"), draft.get("input", "columns")
    if not draft.has("toeplitz") or chosen is None:
        return
    if chosen == "uniform" and count not in (None, 1):
        yield draft.problem("E113", "scheme = \"uniform\" supports only one column", "input", "columns",
                            allowed="columns = 1",
                            remedy="set columns = 1, or set [toeplitz] scheme = \"diagonal_mean\"")
    if chosen != "uniform" and draft.given("toeplitz", "step"):
        yield draft.problem("E113", "`step` needs scheme = \"uniform\"", "toeplitz", "step",
                            allowed="`step` with scheme = \"uniform\"", remedy="remove `step`")


def refinement(draft: Draft) -> Found:
    """Reject refinement at a word length of 32 bits, where it has no effect (E113)."""
    if draft.has("toeplitz") and draft.get("toeplitz", "refine") not in (None, 0) \
            and draft.get("numbers", "word") == 32:
        yield draft.problem("E113", "`refine` has no effect at a word length of 32 bits", "toeplitz",
                            "refine", allowed="`refine` with [numbers] word = 16 or 24",
                            remedy="remove `refine`, or set [numbers] word = 16")


def kernel(draft: Draft) -> Found:
    """Require exactly the keys of the kernel's type (E106, E113).

    The type of the kernel must be suitable for the algorithm (E231).
    """
    kind, algorithm = draft.get("kernel", "type"), draft.get("model", "algorithm")
    if not isinstance(draft.source.values.get("kernel"), dict) or kind is None:
        return
    for key in keys(TABLES["kernel"]):
        allowed, remedy = words(TABLES["kernel"], key)
        if key in KERNEL_KEYS[kind] and not draft.given("kernel", key):
            yield draft.problem("E106", f"{key} is missing", "kernel", key, allowed=allowed,
                                remedy=f"add a line {key} = ...; {remedy}")
        elif key != "type" and key not in KERNEL_KEYS[kind] and draft.given("kernel", key):
            yield draft.problem("E113", f"the {kind} kernel has no parameter {key}", "kernel", key,
                                allowed=", ".join(("type", *KERNEL_KEYS[kind])), remedy=f"remove {key}")
    missing, able = lacking(KERNELS[kind], NEEDS.get(algorithm, ()))
    if missing:
        yield draft.problem("E231", f"{algorithm} needs a kernel that is {missing}", "kernel", "type",
                            allowed=able, remedy="choose one of the allowed kernels, or algorithm kernel_cg")


def overrides(draft: Draft) -> Found:
    """Allow formats only for signals whose format the user can choose (E114)."""
    algorithm, formats = draft.get("model", "algorithm"), draft.get("numbers", "formats")
    if algorithm not in OVERRIDABLE or not isinstance(formats, dict):
        return
    known = OVERRIDABLE[algorithm]
    for signal, text in formats.items():
        if signal not in known:
            yield draft.problem("E114", f"the format of {signal} cannot be chosen with {algorithm}",
                                "numbers", "formats", signal, value=text,
                                allowed=", ".join(known) or "no signal: all formats follow from bounds",
                                remedy="remove the line: the planner chooses")


def casts(draft: Draft) -> Found:
    """Allow casts only for signals that the algorithm casts (E117).

    Wrapping is allowed only for casts that can overflow.
    """
    algorithm, chosen = draft.get("model", "algorithm"), draft.get("numbers", "casts")
    if algorithm not in CASTS or not isinstance(chosen, dict):
        return
    known, wraps = CASTS[algorithm], WRAPPABLE[algorithm]
    for signal, text in chosen.items():
        if signal not in known:
            yield draft.problem("E117", f"{algorithm} has no cast named {signal}", "numbers", "casts", signal,
                                value=text, allowed=", ".join(known), remedy="use one of the allowed values")
        elif isinstance(text, str) and OVERFLOWS[1] in text.split() and signal not in wraps:
            yield draft.problem("E117", f"\"wrap\" has no effect on {signal}: a bound keeps it in range",
                                "numbers", "casts", signal, value=text,
                                allowed=f"wrap for {', '.join(wraps)}",
                                remedy=f"choose only the rounding of {signal}")


def ranges(draft: Draft) -> Found:
    """Allow ranges only for signals whose format depends on a range (E118)."""
    algorithm, given = draft.get("model", "algorithm"), draft.get("numbers", "ranges")
    if algorithm not in RANGED or not isinstance(given, dict):
        return
    known = RANGED[algorithm]
    allowed = ", ".join(known) or f"no signal of {algorithm}, which uses block floating point"
    if algorithm == "toeplitz_rls" and draft.get("toeplitz", "scaling") == "block":
        known, allowed = (), "alpha, if [toeplitz] scaling = \"static\""
    for signal, value in given.items():
        if signal not in known:
            why = {"f": "f has the format of y", "x": "x has the range of the ADC",
                   "y": "y has the range of the ADC", "alpha": "alpha uses block floating point",
                   }.get(signal, "its format does not depend on a range")
            yield draft.problem("E118", f"a range cannot be chosen for {signal}: {why}", "numbers", "ranges",
                                signal, value=value, allowed=allowed, remedy="remove the line")


def data(draft: Draft) -> Found:
    """Require one source of data (E116).

    Bundled data must match the spec (E115).
    """
    if not isinstance(draft.source.values.get("data"), dict):
        return
    builtin, file = draft.given("data", "builtin"), draft.given("data", "file")
    if builtin == file:
        yield draft.problem("E116", f"[data] has {'both builtin and' if builtin else 'neither builtin nor'} "
                                    "file", "data",
                            allowed="builtin = \"ecg\", \"digits\" or \"equaliser\", or file = \"train.csv\"",
                            remedy="remove one of them" if builtin else "add one of them, or remove [data]")
    elif builtin and draft.given("data", "test"):
        yield draft.problem("E116", "bundled data have their own test samples", "data", "test",
                            allowed="test with file", remedy="remove test")
    elif draft.get("data", "lagged") and (builtin or draft.get("toeplitz", "scheme") == "uniform"):
        yield draft.problem("E116", "`lagged` derives the inputs from y, but the spec defines other inputs",
                            "data", "lagged", allowed="`lagged` with `file`, without scheme = \"uniform\"",
                            remedy="remove `lagged`")
    yield from _reading(draft)
    name = draft.get("data", "builtin")
    yield from {"ecg": _ecg, "digits": _digits, "equaliser": _equaliser}.get(name, _nothing)(draft)


def _reading(draft: Draft) -> Found:
    """Check the keys of [data] that describe the file (E113, E115, E116)."""
    given = [key for key in READING_KEYS if draft.given("data", key)]
    if given and draft.given("data", "builtin"):
        yield draft.problem("E116", "bundled data are not read from a file", "data", given[0],
                            allowed="this key together with `file`", remedy=f"remove {given[0]}")
    signal = draft.get("toeplitz", "scheme") == "uniform" or draft.get("data", "lagged")
    for key, value in (("inputs", None), ("missing", "drop"), ("classes", None)):
        if signal and key in given and value in (None, draft.get("data", key)):
            yield draft.problem("E113", f"{key} is not supported for a sampled signal", "data",
                                key, allowed=f"no {key} with scheme = \"uniform\" or with lagged",
                                remedy=f"remove {key}")
    word = draft.word("output")
    if "classes" in given and word is not None and not word.lo <= -1 <= 1 <= word.hi:
        yield draft.problem("E115", "the format cannot represent the targets of the two classes, -1 and 1",
                            "output", "word",
                            allowed="s2f0 or wider", remedy="set word = \"s2f0\"")


def _nothing(draft: Draft) -> Found:
    yield from ()


def _ecg(draft: Draft) -> Found:
    count, chosen = draft.get("input", "columns"), draft.get("toeplitz", "scheme")
    if count not in (None, 1):
        yield draft.problem("E115", "the bundled ECG has only one column", "input", "columns",
                            allowed="columns = 1",
                            remedy="set columns = 1")
    if draft.has("toeplitz") and chosen is not None and chosen != "uniform":
        yield draft.problem("E115", "the bundled ECG needs scheme = \"uniform\"", "toeplitz", "scheme",
                            allowed="scheme = \"uniform\"", remedy="set scheme = \"uniform\"")
    for table in _too_many(draft, BUILTIN_ECG_SAMPLES):
        yield draft.problem("E115", "n exceeds the number of samples of the bundled ECG", table, "n",
                            allowed=f"up to {BUILTIN_ECG_SAMPLES}", remedy="lower n")


def _too_many(draft: Draft, held: int) -> Iterator[str]:
    """Yield the tables whose n exceeds `held`, the number of available samples."""
    for table in ("toeplitz", "cg"):
        n = draft.get(table, "n")
        if n is not None and n > held:
            yield table


def _digits(draft: Draft) -> Found:
    count = draft.get("input", "columns")
    if count not in (None, BUILTIN_DIGITS_COLUMNS):
        yield draft.problem("E115", "`columns` differs from the 64 columns of the bundled digit images",
                            "input", "columns", allowed="columns = 64", remedy="set columns = 64")
    ten = draft.given("output", "classes")
    held = BUILTIN_TEN_DIGITS_TRAINING if ten else BUILTIN_DIGITS_TRAINING
    for table in _too_many(draft, held):
        yield draft.problem("E115", "n exceeds the number of training samples of the bundled digit images",
                            table, "n",
                            allowed=f"up to {held}", remedy="lower n")
    for table, low, high in (("input", 0, 16), *(() if ten else (("output", -1, 1),))):
        word = draft.word(table)
        if word is not None and not (word.lo <= low and high <= word.hi):
            yield draft.problem("E115", f"the format cannot represent the ADC counts of the digits, {low} "
                                        f"to {high}", table, "word",
                                allowed=str(Format(low < 0, 5 if table == "input" else 2, 0)) + " or wider",
                                remedy="use a wider format")


def _equaliser(draft: Draft) -> Found:
    count = draft.get("input", "columns")
    if count is not None and count > BUILTIN_EQUALISER_COLUMNS:
        yield draft.problem("E115", "the number of columns exceeds the maximum of the bundled equaliser data",
                            "input", "columns",
                            allowed=f"columns = 1 to {BUILTIN_EQUALISER_COLUMNS}",
                            remedy="start with columns = 5")
    for table in _too_many(draft, BUILTIN_EQUALISER_SAMPLES):
        yield draft.problem("E115", "n exceeds the number of training symbols of the bundled equaliser data",
                            table, "n",
                            allowed=f"up to {BUILTIN_EQUALISER_SAMPLES}", remedy="lower n")
    if draft.get("toeplitz", "scheme") == "uniform":
        yield draft.problem("E115", "the bundled equaliser data do not lie on a uniform grid", "toeplitz",
                            "scheme", allowed="another scheme, or another algorithm", remedy="use kernel_lms")
    word = draft.word("output")
    if word is not None and not word.lo <= -1 <= 1 <= word.hi:
        yield draft.problem("E115", "the format cannot represent the symbols -1 and 1", "output", "word",
                            allowed="s2f0 or wider", remedy="use a wider format")


def budget(draft: Draft) -> Found:
    """Allow limits per call only for calls that the algorithm has (E109)."""
    known = CALLS.get(draft.get("model", "algorithm") or "")
    if known is None:
        return
    for key in ("instructions", "cycles", "packets"):
        for call in draft.get("budget", key) or ():
            if call not in known:
                yield draft.problem("E109",
                                    f"algorithm {draft.get('model', 'algorithm')} does not have this call",
                                    "budget", key, call, value=call, allowed=", ".join(known),
                                    remedy="choose one of the allowed values")


RULES = (tables_present, columns, delay, output, scheme, solver, factor, signals, candidates, lambda_range,
         stream, refinement, refined_band, forgetting, reduction, linear_part, guard, bounded_update,
         several_outputs, float32, novelty, kernel, overrides, casts, ranges, budget, data)
