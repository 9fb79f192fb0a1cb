"""sim.spec: the types of the values in a spec, with their validators.

Examples are names, formats, casts and gains.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from ..choices import MOST_CLASSES
from ..errors import KerncastError
from ..formats import Format

RAW_BITS = 32
#: Characters of a class's name.
CLASS_LENGTH = 40
_FRACTIONS = range(-32, 65)
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
NAME_LENGTH = 24
#: A unit goes into C comments, Markdown tables and HTML: none of these characters ends one of them.
_UNIT = re.compile(r"(?!.*//)[\w%°/^.·+()⁻-]([\w %°/^.·+()⁻-]*[\w%°/^.·+()⁻-])?")
UNIT_LENGTH = 16

# Keywords of C and C++ in lower case, and headers that a generated NAME.h would shadow.
_RESERVED = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while", "asm", "bool", "catch", "class", "delete", "explicit",
    "export", "false", "friend", "mutable", "namespace", "new", "operator", "private", "protected",
    "public", "template", "this", "throw", "true", "try", "typeid", "typename", "using", "virtual",
    "wchar", "assert", "complex", "ctype", "errno", "fenv", "inttypes", "iso646", "limits",
    "locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef",
    "stdint", "stdio", "stdlib", "stdnoreturn", "string", "tgmath", "threads", "time", "uchar",
    "wctype", "main",
    # ESP-IDF generates sdkconfig.h.
    "sdkconfig",
    # C11 to C23, POSIX and compilers: words, macros and headers that ours include, or that include others.
    "aio", "alloca", "arm", "arm_acle", "arm_mve", "arm_neon", "byteswap", "constexpr", "cpio",
    "dirent", "dlfcn", "elf", "emmintrin", "endian", "error", "far", "fcntl", "features", "float16",
    "fmtmsg", "fnmatch", "ftw", "glob", "gnu_versions", "grp", "hexagon", "hexagon_types",
    "hvx_hexagon_protos", "iconv", "immintrin", "kc", "langinfo", "libgen", "libintl", "linux",
    "malloc", "memory", "monetary", "mqueue", "ndbm", "near", "netdb", "nullptr", "poll", "pthread",
    "pwd", "regex", "sched", "search", "semaphore", "spawn", "std", "stdbit", "stdckdint", "strings",
    "stropts", "syslog", "tar", "termios", "thread_local", "trace", "typeof", "ulimit", "unistd",
    "unix", "utime", "utmpx", "values", "wchar_t", "wordexp",
    # Headers that <stdint.h> or <stddef.h> include in newlib, picolibc, MinGW and Visual C.
    "concurrencysal", "corecrt", "crtdefs", "envlock", "newlib", "picolibc", "reent", "sal", "vadefs",
    "vcruntime", "xlocale", "yvals",
    # C++11 to C++20: the name is a namespace of the wrapper.
    "alignas", "alignof", "and", "and_eq", "bitand", "bitor", "co_await", "co_return", "co_yield",
    "compl", "concept", "const_cast", "consteval", "constinit", "decltype", "dynamic_cast",
    "noexcept", "not", "not_eq", "or", "or_eq", "reinterpret_cast", "requires", "static_assert",
    "static_cast", "xor", "xor_eq", "char8_t", "char16_t", "char32_t",
))
#: Headers of CMSIS, which a generated NAME.h would shadow: there are too many to list.
_OF_CMSIS = re.compile(r"cmsis_|(core|mpu|pmu|cachel1)_armv|core_(c[am]\d|sc\d|cm(func|instr|simd)|starmc)"
                       r"|arm_(math|nn|mve|cde|sve|bf16|fp16|const_structs|common_tables|helium_utils)"
                       r"|tz_context$|irq_ctrl$")


def _custom(code: str, message: str, **words: str) -> PydanticCustomError:
    """Create a pydantic error whose type is an error code of kerncast."""
    return PydanticCustomError(code, message, dict(words))


def _c_name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > NAME_LENGTH:
        raise _custom("E110", "the name is not valid as an identifier in C")
    if name.startswith("kc_"):
        raise _custom("E110", "names that begin with kc_ are reserved for the runtime",
                      remedy=f"choose another prefix, such as my_{name[3:]}")
    if name in _RESERVED or _OF_CMSIS.match(name):
        raise _custom("E110", "the name is a keyword of C or C++, or the name of a C, POSIX or CMSIS header",
                      remedy=f"choose a longer name, such as {name}_model")
    return name


def suggest_name(text: str) -> str:
    """Convert a text to a similar name that is valid as the name of a model."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    name = name if name[:1].isalpha() else f"m_{name}".rstrip("_")
    name = name[:NAME_LENGTH].rstrip("_")
    return f"my_{name[:NAME_LENGTH - 3]}" if (
        name.startswith("kc_") or name in _RESERVED or _OF_CMSIS.match(name)) else name


def _model_file(text: str) -> str:
    """Validate the path of a model's file.

    The name must end in .json and must not be that of a generated file. The path must not contain backslashes
    or control characters.
    """
    name = text.rpartition("/")[2]
    if not name.endswith(".json") or name.lower() in {".json", "plan.json", "vectors.json", "manifest.json"}:
        raise _custom("E109", "the name does not end in .json, or a generated file has the same name")
    if "\\" in text or not text.isprintable():
        raise _custom("E109", "the name contains a backslash or a control character",
                      remedy="separate folders by /, and rename the file if necessary")
    return text


ModelFile = Annotated[str, AfterValidator(_model_file)]


def format_text(text: str) -> str:
    """Return the canonical text of a format; raise an error if it is not valid."""
    try:
        fmt = Format.parse(text)
    except KerncastError as error:
        problem = error.problems[0]
        raise _custom(problem.code, problem.message, allowed=problem.allowed,
                      remedy=problem.remedy) from None
    if fmt.frac not in _FRACTIONS:
        raise _custom("E201", "a format has too few or too many fraction bits",
                      allowed=f"{_FRACTIONS[0]} to {_FRACTIONS[-1]} fraction bits")
    return str(fmt)


def _raw_word(text: str) -> str:
    text = format_text(text)
    if Format.parse(text).bits > RAW_BITS:
        raise _custom("E201", "the ADC format has too many bits", allowed=f"1 to {RAW_BITS} bits")
    return text


def _one_or_each(each: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a validator for one value, or a list with one value per column.

    `each` validates one value.
    """
    def validate(value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return each(value)
        if not value:
            raise _custom("E107", "the list is empty")
        return tuple(each(v) for v in value)
    return validate


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _custom("E107", "an offset must be an integer")
    return value


def _gain(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _custom("E107", "a gain must be a number")
    if not 1e-12 <= value <= 1e12:  # also refuses NaN
        raise _custom("E108", "a gain is out of range")
    return float(value)


def _unit(value: Any) -> str:
    if not isinstance(value, str):
        raise _custom("E107", "a unit must be text")
    if not _UNIT.fullmatch(value) or len(value) > UNIT_LENGTH or not value.isprintable():
        raise _custom("E109", "the unit is too long, or contains characters that are not allowed")
    return value


def _class_names(value: Any) -> tuple[str, ...]:
    """Validate a list of class names, and convert integers to text."""
    if not isinstance(value, (list, tuple)):
        raise _custom("E107", "`classes` must be a list")
    if any(isinstance(name, bool) or not isinstance(name, (str, int)) for name in value):
        raise _custom("E107", "the name of a class must be text or an integer")
    names = tuple(map(str, value))
    if not 2 <= len(names) <= MOST_CLASSES:
        raise _custom("E122", f"the list has {len(names)} class{'es'[:2 * (len(names) != 1)]}",
                      allowed=f"2 to {MOST_CLASSES} classes",
                      remedy="list every class that the target can have")
    for name in names:
        if not 1 <= len(name) <= CLASS_LENGTH or not name.isprintable() or name != name.strip():
            raise _custom("E122", f"{name[:CLASS_LENGTH]!r} cannot be the name of a class",
                          allowed=f"1 to {CLASS_LENGTH} printable characters, no leading or trailing spaces",
                          remedy="rename the class here and in the data")
        if names.count(name) > 1:
            raise _custom("E122", f"class {name!r} is listed twice", allowed="different names",
                          remedy="remove the duplicate")
    return names


def _listed(value: Any) -> Any:
    """Convert a tuple to a list, the form in which a file stores it."""
    return list(value) if isinstance(value, tuple) else value


def _like(pattern: str) -> WithJsonSchema:
    """Return the JSON Schema of a text that matches a pattern."""
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern}$"})


def _numbers(kind: str, **limits: float) -> WithJsonSchema:
    """Return the JSON Schema of one number, or of a list with one per column."""
    each = {"type": kind, **limits}
    return WithJsonSchema({"anyOf": [each, {"type": "array", "items": each, "minItems": 1}]})


_LIKE_FORMAT = _like(r"[su][0-9]{1,2}f-?[0-9]{1,3}")
CName = Annotated[str, AfterValidator(_c_name), _like(_NAME.pattern)]
RawWord = Annotated[str, AfterValidator(_raw_word), _LIKE_FORMAT]
Offset = Annotated[int | tuple[int, ...], PlainValidator(_one_or_each(_integer)), PlainSerializer(_listed),
                   _numbers("integer")]
Gain = Annotated[float | tuple[float, ...], PlainValidator(_one_or_each(_gain)), PlainSerializer(_listed),
                 _numbers("number", minimum=1e-12, maximum=1e12)]

_UNIT_SCHEMA: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": UNIT_LENGTH}
Unit = Annotated[str, PlainValidator(_unit), WithJsonSchema(_UNIT_SCHEMA)]
Units = Annotated[str | tuple[str, ...], PlainValidator(_one_or_each(_unit)), PlainSerializer(_listed),
                  WithJsonSchema({"anyOf": [_UNIT_SCHEMA, {"type": "array", "items": _UNIT_SCHEMA,
                                                           "minItems": 1}]})]

ClassNames = Annotated[tuple[str, ...], PlainValidator(_class_names), PlainSerializer(_listed),
                       WithJsonSchema({"type": "array", "items": {"type": ["string", "integer"]},
                                       "minItems": 2, "maxItems": MOST_CLASSES, "uniqueItems": True})]

Formats = dict[str, Annotated[str, AfterValidator(format_text), _LIKE_FORMAT]]


def cast_text(text: str) -> str:
    """Return the canonical text of a cast, in which rounding precedes overflow.

    Raise an error if the text is not valid.
    """
    words = text.split()
    chosen = [[w for w in words if w in names] for names in (ROUNDINGS, OVERFLOWS)]
    if not words or len(words) != sum(map(len, chosen)) or max(map(len, chosen)) > 1:
        raise _custom("E109", "the cast is not valid",
                      allowed=f"one of {', '.join(ROUNDINGS)}, one of {', '.join(OVERFLOWS)}, or both",
                      remedy="write \"floor\", \"wrap\" or \"half_even wrap\"")
    return " ".join(word for words in chosen for word in words)


#: Modes of a cast for the bits below and above its format.
ROUNDINGS = ("floor", "half_up", "half_even")
OVERFLOWS = ("saturate", "wrap")
#: Optimisation levels of C compilers.
Optimisation = Literal["-O0", "-O1", "-O2", "-O3", "-Os"]
Casts = dict[str, Annotated[str, AfterValidator(cast_text)]]
Ranges = dict[str, Annotated[float, Field(ge=2.0**-20, le=2.0**20)]]
#: Instructions, cycles or packets per call.
Counts = dict[str, Annotated[int, Field(ge=1, le=2**63 - 1)]]


def _rows(value: Any) -> Any:
    """Validate a number of rows, or a range such as "1001..3000"."""
    match = ROWS.fullmatch(value) if isinstance(value, str) else None
    if isinstance(value, int) and not isinstance(value, bool):
        if 1 <= value <= MAXROWS:
            return value
    elif match and 1 <= int(match[1]) <= int(match[2]) <= MAXROWS:
        return value
    raise _custom("E108" if match or isinstance(value, int) else "E107",
                  "`rows` is neither a number of rows nor a range")


def _value_range(value: Any) -> tuple[float, float]:
    pair = list(value) if isinstance(value, (list, tuple)) else []
    if len(pair) != 2 or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in pair):
        raise _custom("E107", "a range is a list of two numbers")
    # also refuses NaN, an integer beyond any float, and two that are one float
    if not (all(-1e30 <= v <= 1e30 for v in pair) and float(pair[1]) - float(pair[0]) >= 1e-30):
        raise _custom("E108", "the low end of a range is not below its high end, or a value is out of range")
    return float(pair[0]), float(pair[1])


#: Further candidates of a self-tuning training.
MOST_CANDIDATES = 15


def _candidates(value: Any) -> tuple[tuple[float, float], ...]:
    """Validate a list of candidate pairs (sigma, lambda)."""
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= MOST_CANDIDATES:
        raise _custom("E107", f"`candidates` is not a list of 1 to {MOST_CANDIDATES} pairs")
    for pair in value:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or any(
                isinstance(v, bool) or not isinstance(v, (int, float)) for v in pair):
            raise _custom("E107", "a candidate is not a pair of numbers")
        if not all(1e-12 <= v <= 1e12 for v in pair):  # also refuses NaN
            raise _custom("E108", "sigma or lambda of a candidate is out of range")
    return tuple((float(sigma), float(lam)) for sigma, lam in value)


def _lambda_range(value: Any) -> tuple[float, float]:
    """Validate the smallest and the largest lambda of a run-time range."""
    pair = list(value) if isinstance(value, (list, tuple)) else []
    if len(pair) != 2 or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in pair):
        raise _custom("E107", "`lambda_range` is not a list of two numbers")
    if not 1e-6 <= pair[0] < pair[1] <= 1e6:  # also refuses NaN
        raise _custom("E108", "the low end of `lambda_range` is not below its high end, or out of range")
    return float(pair[0]), float(pair[1])


ROWS = re.compile(r"([0-9]{1,9})\.\.([0-9]{1,9})")
MAXROWS = 10**9
#: A column of a file by its name, or by its number from 0.
Column = Annotated[int, Field(ge=0, le=10**7)] | Annotated[str, Field(min_length=1)]
Rows = Annotated[int | str, PlainValidator(_rows), WithJsonSchema({"anyOf": [
    {"type": "integer", "minimum": 1}, {"type": "string", "pattern": f"^{ROWS.pattern}$"}]})]
Candidates = Annotated[tuple[tuple[float, float], ...], PlainValidator(_candidates),
                       PlainSerializer(lambda pairs: [list(pair) for pair in pairs]),
                       WithJsonSchema({"type": "array", "minItems": 1, "maxItems": MOST_CANDIDATES, "items": {
                           "type": "array", "items": {"type": "number", "minimum": 1e-12, "maximum": 1e12},
                           "minItems": 2, "maxItems": 2}})]
LambdaRange = Annotated[tuple[float, float], PlainValidator(_lambda_range), PlainSerializer(_listed),
                        WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2,
                                        "items": {"type": "number", "minimum": 1e-6, "maximum": 1e6}})]
#: The values of the lowest and the highest ADC count, by column.
ValueRanges = dict[str, Annotated[tuple[float, float], PlainValidator(_value_range), PlainSerializer(_listed),
                                  WithJsonSchema({"type": "array", "items": {"type": "number"},
                                                  "minItems": 2, "maxItems": 2})]]
