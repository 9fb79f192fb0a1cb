"""sim.spec: the keys of a spec, as one pydantic model per table.

Each field has a description, its allowed values and a remedy. Error messages and the commented spec that
``kerncast init`` writes use these texts.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from ..choices import KERNEL_KEYS, KernelName
from ..formats import Format
from .fields import POSITIVE, WORD, SpecTable
from .fields import key as _key
from .online import Online
from .output import UNITS, Output
from .rls import Rls
from .toeplitz import Toeplitz, tolerance_key
from .types import (
    NAME_LENGTH,
    OVERFLOWS,
    ROUNDINGS,
    Casts,
    CName,
    Column,
    Counts,
    Formats,
    Gain,
    ModelFile,
    Offset,
    Optimisation,
    Ranges,
    RawWord,
    Rows,
    Units,
    ValueRanges,
)

#: Largest number of inputs per sample.
MOST_COLUMNS = 65535
_BYTES: dict[str, Any] = {"ge": 1, "le": 2**32 - 1, "allowed": "a number of bytes, 1 to 4294967295",
                          "remedy": "run `kerncast cost` for the current values"}
_COUNTS: dict[str, Any] = {"allowed": "a positive integer per call, such as { predict = 6000 }",
                           "remedy": "run `kerncast cost` for the current counts"}


class Model(SpecTable):
    """Name and algorithm of the model."""

    name: CName = _key(about="prefix of every C symbol and file",
                       allowed="lower-case letters, digits, single underscores, beginning with a letter; at "
                               f"most {NAME_LENGTH} characters",
                       remedy="choose a short name, such as ecg or motor_2")
    algorithm: Literal["toeplitz_rls", "kernel_cg", "kernel_lms", "online_kernel_rls",
                       "kernel_predictor"] = _key(
        about="toeplitz_rls, kernel_cg, kernel_lms, online_kernel_rls, kernel_predictor",
        allowed="toeplitz_rls, kernel_cg, kernel_lms, online_kernel_rls, kernel_predictor",
        remedy="use toeplitz_rls for a sampled signal, kernel_cg for any stored samples, kernel_lms for a "
               "stream, online_kernel_rls for a more accurate one, kernel_predictor for a model trained "
               "elsewhere")


class RawWords(SpecTable):
    """A table whose values are ADC counts of one format."""

    word: RawWord

    @property
    def format(self) -> Format:
        """Return the format of the ADC counts."""
        return Format.parse(self.word)


class Input(RawWords):
    """ADC counts of the inputs: ``x = gain * (raw - offset) * 2^-frac``."""

    word: RawWord = _key(about="format of an ADC count", **WORD)
    columns: int = _key(1, ge=1, le=MOST_COLUMNS, about="inputs per sample (D)",
                        allowed=f"an integer, 1 to {MOST_COLUMNS}")
    delay: int | None = _key(None, ge=2, le=16384, about="length of the delay line: the inputs are the last "
                             "samples of one signal, the latest first; sets columns",
                             allowed="an integer, 2 to 16384",
                             remedy="give the number of samples that the target depends on, or omit `delay`")
    channels: int | None = _key(None, ge=2, le=256, about="channels of the delay line, such as the axes of "
                                "an accelerometer; columns = delay x channels",
                                allowed="an integer, 2 to 256",
                                remedy="give the number of values per reading, or omit `channels`")
    decimate: Literal[2, 4, 8, 16, 32, 64, 128, 256] | None = _key(
        None, about="readings per sample of the delay line, which stores their mean",
        allowed="a power of two, 2 to 256", remedy="give a power of two, or omit `decimate`")
    offset: Offset = _key(0, about="ADC count at which x = 0; one number, or one per column or channel",
                          allowed="an integer, or a list of integers, one per column or channel",
                          remedy="give ADC counts, which are integers")
    gain: Gain = _key(1.0, about="x = gain * (raw - offset) * 2^-frac; one number, or a list",
                      allowed="a number from 1e-12 to 1e12, or a list with one per column or channel",
                      remedy="give the value of one ADC count in the unit of x")
    unit: Units | None = _key(None, about="unit of x, such as \"mV\"; or a list, one per column or channel",
                              allowed=UNITS, remedy="write it as in a label, such as \"mV\" or \"m/s^2\"")

    @property
    def offsets(self) -> tuple[int, ...]:
        """Return one offset per column."""
        return self.offset * self.samples if isinstance(self.offset, tuple) else (self.offset,) * self.columns

    @property
    def gains(self) -> tuple[float, ...]:
        """Return one gain per column."""
        return self.gain * self.samples if isinstance(self.gain, tuple) else (self.gain,) * self.columns

    @property
    def units(self) -> Units | None:
        """Return the unit of x; if the spec has a list, one unit per column."""
        return self.unit * self.samples if isinstance(self.unit, tuple) else self.unit

    @property
    def per_reading(self) -> int:
        """Return the number of values in one reading of the delay line."""
        return self.channels or 1

    @property
    def per_sample(self) -> int:
        """Return the number of readings whose mean is one sample of the delay line."""
        return self.decimate or 1

    @property
    def samples(self) -> int:
        """Return the number of samples in one input vector; 1 without a delay line."""
        return self.delay or 1


class Kernel(SpecTable):
    """The kernel k(u, v): the similarity of two samples."""

    type: KernelName = _key(
        "gaussian", about="gaussian, laplacian, matern32, matern52, periodic, polynomial or linear",
        allowed="gaussian, laplacian, matern32, matern52, periodic, polynomial, linear",
        remedy="use gaussian if f is smooth, matern32 if it is rough, periodic if signals repeat")
    sigma: float | None = _key(None, about="width in units of x; dimensionless for the periodic kernel",
                               **POSITIVE, remedy="start with the distance over which the signal changes")
    period: float | None = _key(None, about="period in units of x (periodic)", **POSITIVE,
                                remedy="give the length after which the signal repeats")
    degree: int | None = _key(None, ge=2, le=5, about="degree of (gamma u.v + coef0)^degree (polynomial)",
                              allowed="an integer, 2 to 5", remedy="start with 2; linear is degree 1")
    gamma: float | None = _key(None, about="factor of u.v (polynomial)", **POSITIVE,
                               remedy="start with 1 / (columns * variance of x)")
    coef0: float | None = _key(None, ge=0, le=1e12, about="constant that is added to gamma u.v (polynomial)",
                               allowed="a number from 0 to 1e12", remedy="start with 1")

    @property
    def parameters(self) -> dict[str, float | int]:
        """Return the values of the keys that this type of kernel has."""
        return {key: getattr(self, key) for key in KERNEL_KEYS[self.type]}

    @property
    def options(self) -> dict[str, str]:
        """Return the type and its parameters as text, for the options of a plan."""
        return {"kernel": self.type} | {key: repr(value) for key, value in self.parameters.items()}


class Cg(SpecTable):
    """Conjugate gradients on the kernel matrix, which is not stored."""

    n: int = _key(ge=2, le=65535, about="number of training samples", allowed="an integer, 2 to 65535",
                  remedy="memory grows as n, time as n^2 per step")
    lam: float = _key(alias="lambda", about="regulariser", **POSITIVE,
                      remedy="start with 0.1; a larger lambda needs fewer steps")
    steps: int = _key(32, ge=1, le=65535, about="maximum number of steps, each over all pairs of samples",
                      allowed="an integer, 1 to 65535",
                      remedy="32 steps suit lambda = 0.1; a larger lambda needs fewer steps")
    tolerance: float = tolerance_key()


class Predictor(SpecTable):
    """A model trained elsewhere; the device stores it as constants and only predicts."""

    file: ModelFile = _key(about="file of the trained model, which kerncast.export writes",
                     allowed="a path NAME.json, relative to the spec; NAME must not be plan, vectors or "
                     "manifest, which kerncast gen uses",
                     remedy="export the model with kerncast.export")
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = _key(
        None, about="SHA-256 of that file; a file with another hash is rejected",
        allowed="64 hexadecimal digits", remedy="export the model again, or omit sha256")


class Numbers(SpecTable):
    """Word length on the device, and formats that override the planner."""

    word: Literal[16, 24, 32] = _key(16, about="word length W on the device", allowed="16, 24, 32",
                                     remedy="use 16 for small and fast code, 32 for results close to float")
    rounding: Literal["floor", "half_up", "half_even"] = _key(
        "half_up", about="rounding of narrowing casts", allowed=", ".join(ROUNDINGS))
    overflow: Literal["saturate", "wrap"] = _key(
        "saturate", about="overflow of narrowing casts: saturate or wrap",
        allowed=", ".join(OVERFLOWS), remedy="use saturate: saturation sets a status, wrapping does not")
    casts: Casts = _key({}, about="rounding and overflow per signal, such as f = \"floor wrap\"",
                        allowed="rounding, overflow or both per signal, such as f = \"floor wrap\"",
                        remedy="omit `casts`: the keys `rounding` and `overflow` then apply to all signals")
    ranges: Ranges = _key({}, about="largest magnitude per signal (static scaling, kernel_lms)",
                          allowed="numbers per signal, 2^-20 to 2^20 (1e-6 to 1e6), such as alpha = 2.5",
                          remedy="omit `ranges`: the planner then chooses from bounds and data")
    margin: float = _key(0.6, ge=0, le=8, about="bits added to a simulated range (static, kernel_lms)",
                         allowed="a number, 0 to 8",
                         remedy="raise `margin` if later inputs may exceed the range of the data")
    exp_table: Literal["small", "medium", "large"] = _key(
        "large", about="size of the exponential's tables: small, medium or large",
        allowed="small, medium, large", remedy="use large for speed and accuracy, small to save flash")
    formats: Formats = _key({}, about="formats per signal, such as alpha = \"s16f12\"",
                            allowed="formats per signal, such as alpha = \"s16f12\"",
                            remedy="omit `formats`: the planner then chooses")


class TargetChoice(SpecTable):
    """Target of the generated code."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")] = _key(
        "cortex-m4", about="target; `kerncast targets` lists them",
        allowed="a target's id", remedy="run `kerncast targets` for the list")


class Budget(SpecTable):
    """Resource limits, which `kerncast cost` and `kerncast build` check."""

    target: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")] | None = _key(
        None, about="target to which the limits apply; by default that of [target]",
        allowed="a target's id", remedy="run `kerncast targets` for the list")
    optimise: Optimisation = _key(
        "-O2", about="optimisation level of the measured code", allowed=", ".join(get_args(Optimisation)),
        remedy="use -Os for size, -O2 for speed")
    flash: int | None = _key(None, about="limit of flash in bytes: code and tables of the whole library",
                             **_BYTES)
    ram: int | None = _key(None, about="limit of RAM in bytes: the model and the library's own " "variables",
                           **_BYTES)
    stack: int | None = _key(None, about="limit of stack in bytes, for every call of the library",
                             **_BYTES)
    instructions: Counts = _key({}, about="limit of instructions per call: train, update, predict", **_COUNTS)
    cycles: Counts = _key({}, about="limit of cycles per call, for targets that count cycles",
                          **_COUNTS)
    packets: Counts = _key({}, about="limit of packets per call, for targets that count packets",
                           **_COUNTS)


class Hls(SpecTable):
    """C++ for high-level synthesis (HLS) in addition to the C: one project per tool."""

    dialects: list[Literal["vitis", "catapult"]] = _key(
        ["vitis", "catapult"], min_length=1, about="HLS tools to generate projects for: vitis, catapult",
        allowed="a list of vitis, catapult", remedy="write dialects = [\"vitis\"]")
    lanes: int = _key(1, ge=1, le=64, about="number of hardware multipliers in the inner loops (P)",
                      allowed="an integer, 1 to 64", remedy="start with 1; each lane adds a DSP block")
    interface: Literal["stream", "free_running", "memory"] = _key(
        "stream", about="stream, free_running (streams without start signal) or memory (arrays)",
        allowed="stream, free_running, memory", remedy="use free_running if no processor starts the cores")
    beat_bits: Literal[32, 64, 128] | None = _key(
        None, about="bits per stream transfer (beat); by default, a beat has one value",
        allowed="32, 64, 128", remedy="use the width of your DMA (direct memory access) engine")
    part: Annotated[str, Field(pattern=r"^[\w.+-]+$")] = _key(
        "xc7z020clg484-1", about="FPGA device of the Vitis HLS project",
        allowed="a device's name, of letters, digits, -, +, . and _",
        remedy="write it as the tool lists it, such as xc7z020clg484-1")
    clock: float = _key(10.0, ge=0.1, le=1000, about="clock period of the projects in nanoseconds",
                        allowed="a number, 0.1 to 1000", remedy="start with 10, which is 100 MHz")


class Data(SpecTable):
    """Source of the samples."""

    builtin: Literal["ecg", "digits", "equaliser"] | None = _key(
        None, about="bundled data: ecg, digits or equaliser", allowed="ecg, digits, equaliser")
    file: str | None = _key(None, min_length=1, about="CSV of ADC counts x0, x1, ..., y; or a table with "
                            "the keys below",
                            allowed="the path of a file, relative to the spec: CSV, WAV, NPZ or LIBSVM")
    test: str | None = _key(None, min_length=1, about="file with the same columns, held out for testing",
                            allowed="the path of a file, relative to the spec")
    lagged: bool | None = _key(None, about="true if the CSV has only y: x0 is then the previous y, and so on",
                               allowed="true or false",
                               remedy="set true to predict the next sample of a signal from its past samples")
    target_column: Column | None = _key(None, about="column of the target, by name, or by number counted "
                                                    "from 0",
                                        allowed="the name of a column, or its number, counted from 0")
    inputs: list[Column] | None = _key(None, min_length=1, about="columns of the inputs; default: all others",
                                       allowed="a list of column names, or of column numbers counted from 0")
    time: Column | None = _key(None, about="column of the sampling instants, which is not an input",
                               allowed="the name of a column, or its number, counted from 0")
    decimal: Literal[".", ","] | None = _key(None, about="decimal mark, \".\" or \",\"",
                                             allowed="\".\", \",\"")
    separator: Literal[",", ";", "\t", " "] | None = _key(
        None, about="character between fields", allowed="\",\", \";\", \"\\t\", \" \"")
    rows: Rows | None = _key(None, about="rows to use: 1000 (the first 1000 rows) or \"1001..3000\"",
                             allowed="a positive integer, or \"FIRST..LAST\", with rows counted from 1",
                             remedy="write rows = 1000, or rows = \"1001..3000\"")
    missing: Literal["refuse", "drop"] | None = _key(
        None, about="rows with a missing value: refuse (default) or drop", allowed="refuse, drop",
        remedy="use drop for independent samples; a signal needs all of its samples")
    classes: list[str] | None = _key(None, min_length=2, max_length=2,
                                     about="two target values, used as -1 and 1; others are dropped",
                                     allowed="a list of two names",
                                     remedy="write numbers as text: classes = [\"0\", \"1\"]")
    ranges: ValueRanges | None = _key(None, about="values of the lowest and highest ADC count, by column",
                                      allowed="[LOW, HIGH] per column, LOW < HIGH, such as "
                                      "current = [-2.5, 2.5]",
                                      remedy="give the range of the converter; omit `ranges` if the file "
                                             "contains ADC counts")

    @property
    def is_table(self) -> bool:
        """Return whether [data] has a key that describes the file."""
        return any(getattr(self, key) is not None for key in READING_KEYS)

    @property
    def ranged_target(self) -> str | None:
        """Return the target's name in `ranges`: target_column or the last; None if absent."""
        ranges = {} if self.classes else self.ranges or {}
        named = str(self.target_column)
        return named if named in ranges else next(reversed(ranges), None)


#: The keys of [data] that state how to read a file.
READING_KEYS = ("target_column", "inputs", "time", "decimal", "separator", "rows", "missing", "classes",
                "ranges")


class Sweep(SpecTable):
    """Axes, objectives and limits of `kerncast sweep`; they do not affect the plan."""

    grid: dict[str, Any] = _key({}, about="values per key, such as numbers.word = [16, 24, 32]",
                                allowed="keys of this spec, each with a list of values or \"LO..HI/COUNT\"",
                                remedy="write them below the line [sweep.grid]")
    objectives: list[str] = _key([], about="measures to minimise: error, ram, flash, operations, energy ...",
                                 allowed="names of measures", remedy="start with [\"error\", \"ram\"]")
    constraints: list[str] = _key([], about="limits that a design must satisfy",
                                  allowed="MEASURE <= NUMBER, such as \"ram <= 8 kB\"",
                                  remedy="write each limit in quotes, such as \"error <= float + 1\"")
    trials: int | None = _key(None, ge=1, le=10**6, about="number of designs in a search; omit it to "
                                                          "evaluate the whole grid",
                              allowed="an integer, 1 to 1000000", remedy="start with 200")
    seed: int = _key(0, ge=0, le=2**31 - 1, about="seed of the search", allowed="an integer from 0",
                     remedy="use the same seed to try the same designs again")


#: Every table, by its name in the file, in the order of the documentation.
TABLES: dict[str, type[SpecTable]] = {
    "model": Model, "input": Input, "output": Output, "kernel": Kernel, "toeplitz": Toeplitz,
    "cg": Cg, "online": Online, "rls": Rls, "predictor": Predictor, "numbers": Numbers,
    "target": TargetChoice, "budget": Budget, "hls": Hls, "data": Data, "sweep": Sweep,
}
REQUIRED = ("model", "input", "output", "kernel")
TABLE_OF = {"toeplitz_rls": "toeplitz", "kernel_cg": "cg", "kernel_lms": "online",
            "online_kernel_rls": "rls", "kernel_predictor": "predictor"}
#: Calls of each algorithm, which [budget] may limit.
CALLS = {"toeplitz_rls": ("train", "predict"), "kernel_cg": ("train", "predict"),
         "kernel_lms": ("update", "predict"), "online_kernel_rls": ("update", "predict"),
         "kernel_predictor": ("predict",)}
#: Signals whose format [numbers.formats] may set; all others follow from bounds.
OVERRIDABLE = {"toeplitz_rls": (), "kernel_cg": (), "kernel_lms": ("alpha",), "online_kernel_rls": (),
               "kernel_predictor": ()}
#: Signals with their own cast; `a` means every cast in the solver's recursion.
CASTS = {"toeplitz_rls": ("x", "y", "f", "r", "a", "alpha"),
         "kernel_cg": ("x", "y", "f", "r", "p", "alpha"), "kernel_lms": ("x", "y", "f", "alpha"),
         "online_kernel_rls": ("x", "y", "f"), "kernel_predictor": ("x", "y", "f")}
#: Casts that can overflow.  Bounds exclude overflow in all others, so that both overflow modes give
#: the same values; static scaling saturates in the recursion, in order to report it.
WRAPPABLE = {"toeplitz_rls": ("f",), "kernel_cg": ("f",), "kernel_lms": ("f", "alpha"),
             "online_kernel_rls": ("f",), "kernel_predictor": ("f",)}
#: Signals whose range [numbers.ranges] may set.
RANGED = {"toeplitz_rls": ("alpha",), "kernel_cg": (), "kernel_lms": ("alpha",), "online_kernel_rls": (),
          "kernel_predictor": ()}


@cache
def keys(table: type[SpecTable]) -> dict[str, str]:
    """Return the name of each key in the file with the name of its field, in order."""
    return {(field.alias or name): name for name, field in table.model_fields.items()}


def words(table: type[SpecTable], key: str) -> tuple[str, str]:
    """Return the allowed values of a key, and the remedy for an invalid one."""
    name = keys(table).get(key)
    extra = table.model_fields[name].json_schema_extra if name else None
    if not isinstance(extra, dict):
        return "", ""
    return str(extra["allowed"]), str(extra["remedy"])
