"""sim.spec: the tables of a spec as pydantic models, one field per key.

Each field has its description, its allowed values and a remedy.  Error messages and the commented spec
of ``kerncast init`` use these texts.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .types import (
    NAME_LENGTH,
    OVERFLOWS,
    ROUNDINGS,
    Casts,
    CName,
    Counts,
    Formats,
    Gain,
    Offset,
    Ranges,
    RawWord,
)


class SpecTable(BaseModel):
    """A table of the spec: frozen, strict about types, no unknown keys, finite numbers only."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True,
                              allow_inf_nan=False)


def _key(default: Any = ..., *, about: str, allowed: str, remedy: str = "", **limits: Any) -> Any:
    """Return a field with its texts: description, allowed values and remedy."""
    return Field(default, description=about, json_schema_extra={"allowed": allowed, "remedy": remedy},
                 **limits)


_WORD: dict[str, str] = {"allowed": "s or u, 1 to 32 bits, f, fraction bits; such as u12f0 or s16f15",
                         "remedy": "write the sensor's word: sign, total bits, fraction bits"}
_POSITIVE: dict[str, Any] = {"ge": 1e-12, "le": 1e12, "allowed": "a number above 0, 1e-12 to 1e12"}
_BYTES: dict[str, Any] = {"ge": 1, "le": 2**32 - 1, "allowed": "an integer of bytes, 1 to 4294967295",
                          "remedy": "`kerncast cost` says what the library takes today"}
_COUNTS: dict[str, Any] = {"allowed": "integers from 1 by call, such as { predict = 6000 }",
                           "remedy": "`kerncast cost` says what calls take today"}


def _tolerance() -> Any:
    """Return the key of the batch trainers above which a solution has status INACCURATE."""
    return _key(0.5, ge=1e-6, le=16, allowed="a number, 1e-6 to 16",
                about="INACCURATE where the certified bound exceeds this part of |alpha|",
                remedy="0.5 asks that the solution is right to a factor of two or better")


class Model(SpecTable):
    """What is built and what it is called."""

    name: CName = _key(about="prefix of every C symbol and file",
                       allowed=f"lower-case letters, digits, single underscores; a letter first; at most "
                               f"{NAME_LENGTH}",
                       remedy="choose a short name, such as ecg or motor_2")
    algorithm: Literal["toeplitz_rls", "kernel_cg", "kernel_lms", "kernel_predictor"] = _key(
        about="toeplitz_rls, kernel_cg (batch), kernel_lms (online), kernel_predictor",
        allowed="toeplitz_rls, kernel_cg, kernel_lms, kernel_predictor",
        remedy="toeplitz_rls trains on a sampled signal, kernel_cg on any stored samples, kernel_lms on a "
               "stream; kernel_predictor was trained elsewhere and only predicts")


class Input(SpecTable):
    """Raw words of the sensor, and what they mean: ``x = gain * (raw - offset) * 2^-frac``."""

    word: RawWord = _key(about="format of a raw word", **_WORD)
    columns: int = _key(1, ge=1, le=65535, about="inputs per sample (D)", allowed="an integer, 1 to 65535")
    offset: Offset = _key(0, about="raw word of x = 0; one number, or a list of one each column",
                          allowed="an integer, or a list of integers, one each column",
                          remedy="offsets are raw words, so integers")
    gain: Gain = _key(1.0, about="x = gain * (raw - offset) * 2^-frac; one number, or a list",
                      allowed="a number above 0, 1e-12 to 1e12, or a list of such, one each column",
                      remedy="give the value of one raw step")

    @property
    def offsets(self) -> tuple[int, ...]:
        """Return one offset per column."""
        return self.offset if isinstance(self.offset, tuple) else (self.offset,) * self.columns

    @property
    def gains(self) -> tuple[float, ...]:
        """Return one gain per column."""
        return self.gain if isinstance(self.gain, tuple) else (self.gain,) * self.columns


class Output(SpecTable):
    """Raw words of the target, and what they mean: ``y = gain * (raw - offset) * 2^-frac``."""

    word: RawWord = _key(about="format of a raw word of the target", **_WORD)
    offset: int = _key(0, about="raw word of y = 0", allowed="an integer",
                       remedy="offsets are raw words, so integers")
    gain: float = _key(1.0, about="y = gain * (raw - offset) * 2^-frac", **_POSITIVE,
                       remedy="give the value of one raw step")


class Kernel(SpecTable):
    """The kernel k(u, v): how alike two samples are."""

    type: Literal["gaussian", "laplacian", "periodic", "polynomial", "linear"] = _key(
        "gaussian", about="gaussian, laplacian, periodic, polynomial or linear",
        allowed="gaussian, laplacian, periodic, polynomial, linear",
        remedy="gaussian is smooth, laplacian takes corners, periodic repeats itself")
    sigma: float | None = _key(None, about="width, in units of x; of the periodic kernel, of the sine",
                               **_POSITIVE, remedy="start with the distance over which the signal changes")
    period: float | None = _key(None, about="what repeats itself, in units of x (periodic)", **_POSITIVE,
                                remedy="give the length after which the signal repeats itself")
    degree: int | None = _key(None, ge=2, le=5, about="power of gamma u.v + coef0 (polynomial)",
                              allowed="an integer, 2 to 5", remedy="start with 2; 1 is the linear kernel")
    gamma: float | None = _key(None, about="factor of u.v (polynomial)", **_POSITIVE,
                               remedy="start with 1 / (columns * variance of x)")
    coef0: float | None = _key(None, ge=0, le=1e12, about="added to gamma u.v (polynomial)",
                               allowed="a number from 0, up to 1e12", remedy="start with 1")

    @property
    def parameters(self) -> dict[str, float | int]:
        """Return the parameters of this type of kernel, by key."""
        return {key: getattr(self, key) for key in KERNEL_KEYS[self.type]}

    @property
    def options(self) -> dict[str, str]:
        """Return the type and its parameters as the options of a plan."""
        return {"kernel": self.type} | {key: repr(value) for key, value in self.parameters.items()}


class Toeplitz(SpecTable):
    """The Toeplitz regularised-least-squares trainer."""

    n: int = _key(ge=2, le=65535, about="training samples held", allowed="an integer, 2 to 65535",
                  remedy="memory grows as n, time as n^2")
    lam: float = _key(alias="lambda", about="regulariser", **_POSITIVE,
                      remedy="start with 0.1; raise it where noise is strong")
    scheme: Literal["uniform", "diagonal_mean", "diagonal_mean_biased"] = _key(
        about="uniform (one column at a constant step), diagonal_mean or diagonal_mean_biased",
        allowed="uniform, diagonal_mean, diagonal_mean_biased",
        remedy="uniform is exact for a sampled signal; the others average the diagonals of the kernel matrix")
    step: int = _key(1, ge=1, le=2**31 - 1, about="raw words from sample to sample (scheme uniform)",
                     allowed="an integer from 1", remedy="1 where x counts the samples")
    solver: Literal["levinson", "schur", "lookahead", "lookahead_f32"] = _key(
        "levinson", about="levinson (least memory), schur (more accurate), lookahead, lookahead_f32",
        allowed="levinson, schur, lookahead, lookahead_f32",
        remedy="levinson needs the least memory; schur, three more vectors of 32 bits, suits short words and "
               "a small lambda; lookahead, eleven, solves what the others refuse as not positive definite, "
               "lookahead_f32 the same in float32")
    scaling: Literal["block", "static"] = _key(
        "block", about="block (exponents follow the data) or static (cheaper, may saturate)",
        allowed="block, static", remedy="static needs data, or [numbers.ranges], for its ranges")
    refine: int = _key(0, ge=0, le=4, about="further solves on the residual; words of 32 bits",
                       allowed="an integer, 0 to 4", remedy="2 gives nearly what words of 32 bits give")
    bias: bool = _key(False, about="an intercept beside the expansion (LS-SVM)", allowed="true, false")
    tolerance: float = _tolerance()


class Cg(SpecTable):
    """Conjugate gradients on the kernel matrix, which is not stored."""

    n: int = _key(ge=2, le=65535, about="training samples held", allowed="an integer, 2 to 65535",
                  remedy="memory grows as n, time as n^2 a step")
    lam: float = _key(alias="lambda", about="regulariser", **_POSITIVE,
                      remedy="start with 0.1; a larger one needs fewer steps")
    steps: int = _key(32, ge=1, le=65535, about="steps at most, each a pass over all pairs of samples",
                      allowed="an integer, 1 to 65535",
                      remedy="32 suit a lambda of 0.1; a larger one needs fewer, and takes fewer")
    tolerance: float = _tolerance()


class Online(SpecTable):
    """The online kernel LMS learner in fixed memory."""

    budget: int = _key(ge=2, le=65535, about="expansion vectors held (N)", allowed="an integer, 2 to 65535",
                       remedy="memory and time per sample grow as budget * columns")
    eta: float = _key(gt=0, ge=1e-6, lt=2, about="learning rate", allowed="a number above 0 and below 2",
                      remedy="start with 0.1; from 2 up the rule is unstable")
    rho: float = _key(0.0, ge=0, le=1e6, about="forgetting: all multipliers shrink by 1 - eta rho a sample",
                      allowed="a number from 0, with eta * rho at most 0.5",
                      remedy="0 forgets nothing; try 0.01")
    reduction: Literal["fklms", "fmklms", "nt", "mt", "at", "klms_f32", "mklms_f32", "fklms_f32"] = _key(
        "fklms", about="which vector goes: fklms, fmklms, nt, mt or at; klms_f32, mklms_f32, fklms_f32",
        allowed="fklms, fmklms, nt, mt, at, klms_f32, mklms_f32, fklms_f32",
        remedy="fklms drops the newer of the closest pair, fmklms spares large multipliers, nt and mt drop "
               "the smallest multiplier, at the oldest vector; klms_f32 and mklms_f32, for a float unit, "
               "lose least, in O(budget^2) time and memory")
    projection: Literal["none", "fklms"] | None = _key(
        None, about="who inherits the multiplier, in place of the reduction's: none or fklms",
        allowed="none, fklms", remedy="fklms hands it to the others by their kernel values, none drops it")
    metric: Literal["magnitude", "age", "fklms", "fmklms", "fast_klms", "fast_mklms"] | None = _key(
        None, about="what is lost with a vector, in place of the reduction's measure",
        allowed="magnitude, age, fklms, fmklms, fast_klms, fast_mklms",
        remedy="fklms looks at distances, magnitude at multipliers, fmklms at both; fast_klms and fast_mklms "
               "at the kernel values of all others")
    truncation: float | None = _key(
        None, ge=0, le=1e12, about="vectors whose multiplier is not above this, in units of y, are dropped",
        allowed="a number from 0", remedy="start with a hundredth of eta times the largest y")
    max_deterioration: float | None = _key(
        None, ge=-1e12, le=1e12, about="a vector goes whenever no more is lost with it (lambda_max)",
        allowed="a number in the unit of the metric: of fklms 1 - k, of magnitude units of y",
        remedy="with metric fklms start with 0.01")
    max_age: int | None = _key(
        None, ge=1, le=2**31 - 1, about="a vector is dropped after so many more samples",
        allowed="an integer, 1 to 2147483647", remedy="take several times the budget")
    newest_only: bool = _key(False, about="with max_deterioration: only the vector that has just come may go",
                             allowed="true, false", remedy="true needs the least time and memory")
    passes: int = _key(1, ge=1, le=1000, about="how often the training data are presented",
                       allowed="an integer, 1 to 1000", remedy="1 for a stream")


    @property
    def parts(self) -> tuple[str, str]:
        """Return projection and metric: the chosen ones, else those of the reduction."""
        projection, metric = REDUCTIONS[self.reduction]
        return self.projection or projection, self.metric or metric

    @property
    def title(self) -> str:
        """Return the reduction's name, and its parts if they differ from the name's."""
        return reduction_title(self.reduction, *self.parts)


class Predictor(SpecTable):
    """A model that was trained elsewhere: constants of the device, which only predicts."""

    file: str = _key(min_length=1, about="the trained model, as kerncast.export wrote it",
                     allowed="the path of its file, relative to the spec",
                     remedy="export the model with kerncast.export")
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = _key(
        None, about="SHA-256 of that file; another file is refused", allowed="64 hexadecimal digits",
        remedy="export the model again, or leave it away")


class Numbers(SpecTable):
    """The word length on the device, and formats that you want to choose."""

    word: Literal[16, 24, 32] = _key(16, about="word length W on the device", allowed="16, 24, 32",
                                     remedy="16 is small and fast, 32 is close to float")
    rounding: Literal["floor", "half_up", "half_even"] = _key(
        "half_up", about="rounding of narrowing casts", allowed=", ".join(ROUNDINGS))
    overflow: Literal["saturate", "wrap"] = _key(
        "saturate", about="what casts do beyond the word: saturate or wrap",
        allowed=", ".join(OVERFLOWS),
        remedy="a word that saturates tells in the status, one that wraps does not")
    casts: Casts = _key({}, about="casts by signal, such as f = \"floor wrap\"",
                        allowed="rounding, overflow or both by signal, such as f = \"floor wrap\"",
                        remedy="leave it away: rounding and overflow above hold for all")
    ranges: Ranges = _key({}, about="largest magnitudes by signal (static scaling, kernel_lms)",
                          allowed="numbers by signal, 2^-20 to 2^20 (about 1e-6 to 1e6), such as alpha = 2.5",
                          remedy="leave it away: bounds and data decide")
    margin: float = _key(0.6, ge=0, le=8, about="bits above a simulated range (static scaling, kernel_lms)",
                         allowed="a number, 0 to 8",
                         remedy="raise it where the data do not show what the field will bring")
    exp_table: Literal["small", "medium", "large"] = _key(
        "large", about="tables of the exponential: small, medium or large",
        allowed="small, medium, large",
        remedy="large is fastest and most accurate, small saves flash")
    formats: Formats = _key({}, about="formats by signal, such as alpha = \"s16f12\"",
                            allowed="formats by signal, such as alpha = \"s16f12\"",
                            remedy="leave it away: the plan chooses")


class TargetChoice(SpecTable):
    """What the code is generated for."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")] = _key(
        "cortex-m4", about="target; `kerncast targets` lists them",
        allowed="a target's id", remedy="`kerncast targets` lists them")


class Budget(SpecTable):
    """What the library may take: `kerncast cost` and `kerncast build` fail beyond it."""

    target: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")] | None = _key(
        None, about="the target it holds for; that of [target] where there is none",
        allowed="a target's id", remedy="`kerncast targets` lists them")
    optimise: Literal["-O0", "-O1", "-O2", "-O3", "-Os"] = _key(
        "-O2", about="the optimisation level it holds for", allowed="-O0, -O1, -O2, -O3, -Os",
        remedy="-Os is smallest, -O2 fast")
    flash: int | None = _key(None, about="bytes of code and tables, every call of the library made", **_BYTES)
    ram: int | None = _key(None, about="bytes of the model and of the library's own variables", **_BYTES)
    stack: int | None = _key(None, about="bytes of stack that training, updating and predicting take at most",
                             **_BYTES)
    instructions: Counts = _key({}, about="at most, by call: train, update, predict", **_COUNTS)
    cycles: Counts = _key({}, about="the same for targets whose counter counts cycles", **_COUNTS)
    packets: Counts = _key({}, about="the same for targets whose counter counts packets", **_COUNTS)


class Hls(SpecTable):
    """C++ for high-level synthesis beside the C: a project of its own for each dialect."""

    dialects: list[Literal["vitis", "catapult"]] = _key(
        ["vitis", "catapult"], min_length=1, about="whose pragmas and words: vitis, catapult",
        allowed="a list of vitis, catapult", remedy="write dialects = [\"vitis\"]")
    lanes: int = _key(1, ge=1, le=64, about="multipliers of the inner loops (P)",
                      allowed="an integer, 1 to 64", remedy="start with 1: a lane more is a multiplier more")
    part: Annotated[str, Field(pattern=r"^[\w.+-]+$")] = _key(
        "xc7z020clg484-1", about="device of the project for Vitis HLS",
        allowed="a device's name, of letters, digits, -, +, . and _",
        remedy="write it as the tool lists it, such as xc7z020clg484-1")
    clock: float = _key(10.0, ge=0.1, le=1000, about="clock period of the projects in nanoseconds",
                        allowed="a number, 0.1 to 1000", remedy="start with 10, which is 100 MHz")


class Data(SpecTable):
    """Where samples come from."""

    builtin: Literal["ecg", "digits", "equaliser"] | None = _key(
        None, about="bundled data: ecg, digits or equaliser", allowed="ecg, digits, equaliser")
    file: str | None = _key(None, min_length=1, about="CSV of raw words: columns x0, x1, ..., y",
                            allowed="the path of a CSV file, relative to the spec")
    test: str | None = _key(None, min_length=1, about="CSV of the same columns, kept for testing",
                            allowed="the path of a CSV file, relative to the spec")
    lagged: bool | None = _key(None, about="a CSV of y alone: x0 is the y before, x1 the one before that",
                               allowed="true or false",
                               remedy="true for one-step prediction of a signal from its own past")


class Sweep(SpecTable):
    """What `kerncast sweep` varies, and what it looks for; the device knows nothing of it."""

    grid: dict[str, Any] = _key({}, about="values by key, such as numbers.word = [16, 24, 32]",
                                allowed="keys of this spec, each with a list of values or \"LO..HI/COUNT\"",
                                remedy="put them below the line [sweep.grid]")
    objectives: list[str] = _key([], about="what is to be small: error, ram, flash, instructions, energy ...",
                                 allowed="names of measures", remedy="start with [\"error\", \"ram\"]")
    constraints: list[str] = _key([], about="limits that a design must keep",
                                  allowed="MEASURE <= NUMBER, as \"error <= float + 1\", \"ram <= 8 kB\"",
                                  remedy="quote each limit")
    trials: int | None = _key(None, ge=1, le=10**6, about="points a search tries at most; else all of a grid",
                              allowed="an integer, 1 to 1000000", remedy="start with 200")
    seed: int = _key(0, ge=0, le=2**31 - 1, about="of the search", allowed="an integer from 0",
                     remedy="the same seed tries the same points")


#: Projection and metric of each reduction of the online learner (B. Mitchinson, T. J. Dodd,
#: R. F. Harrison, "Reduction of Kernel Models", 2003).
REDUCTIONS = {"fklms": ("fklms", "fklms"), "fmklms": ("fklms", "fmklms"), "nt": ("none", "magnitude"),
              "mt": ("none", "magnitude"), "at": ("none", "age"), "klms_f32": ("klms", "klms"),
              "mklms_f32": ("klms", "mklms"), "fklms_f32": ("fklms", "fklms")}
def reduction_title(reduction: str, projection: str, metric: str) -> str:
    """Return a reduction's name, and its parts if they differ from the name's."""
    if (projection, metric) == REDUCTIONS[reduction]:
        return reduction
    return f"projection {projection} with metric {metric}"


#: Reductions in float32, with a fixed dictionary size and only their own projection and metric.
FLOAT32 = ("klms_f32", "mklms_f32", "fklms_f32")
#: The keys of each kernel, all required.
KERNEL_KEYS: dict[str, tuple[str, ...]] = {
    "gaussian": ("sigma",), "laplacian": ("sigma",), "periodic": ("sigma", "period"),
    "polynomial": ("degree", "gamma", "coef0"), "linear": (),
}

#: Every table, by its name in the file, in the order of the documentation.
TABLES: dict[str, type[SpecTable]] = {
    "model": Model, "input": Input, "output": Output, "kernel": Kernel, "toeplitz": Toeplitz,
    "cg": Cg, "online": Online, "predictor": Predictor, "numbers": Numbers, "target": TargetChoice,
    "budget": Budget, "hls": Hls, "data": Data,
    "sweep": Sweep,
}
REQUIRED = ("model", "input", "output", "kernel")
TABLE_OF = {"toeplitz_rls": "toeplitz", "kernel_cg": "cg", "kernel_lms": "online",
            "kernel_predictor": "predictor"}
#: Calls of each algorithm, which [budget] may limit.
CALLS = {"toeplitz_rls": ("train", "predict"), "kernel_cg": ("train", "predict"),
         "kernel_lms": ("update", "predict"), "kernel_predictor": ("predict",)}
#: Signals whose format [numbers.formats] may set; all others follow from bounds.
OVERRIDABLE = {"toeplitz_rls": (), "kernel_cg": (), "kernel_lms": ("alpha",), "kernel_predictor": ()}
#: Signals with their own cast; `a` means every cast in the solver's recursion.
CASTS = {"toeplitz_rls": ("x", "y", "f", "r", "a", "alpha"),
         "kernel_cg": ("x", "y", "f", "r", "p", "alpha"), "kernel_lms": ("x", "y", "f", "alpha"),
         "kernel_predictor": ("x", "y", "f")}
#: Casts that can overflow.  Bounds exclude overflow in all others, so that both overflow modes give
#: the same values; static scaling saturates in the recursion, in order to report it.
WRAPPABLE = {"toeplitz_rls": ("f",), "kernel_cg": ("f",), "kernel_lms": ("f", "alpha"),
             "kernel_predictor": ("f",)}
#: Signals whose range [numbers.ranges] may set.
RANGED = {"toeplitz_rls": ("alpha",), "kernel_cg": (), "kernel_lms": ("alpha",), "kernel_predictor": ()}


@cache
def keys(table: type[SpecTable]) -> dict[str, str]:
    """Return the field of each key: name in the file -> name of the field, in order."""
    return {(field.alias or name): name for name, field in table.model_fields.items()}


def words(table: type[SpecTable], key: str) -> tuple[str, str]:
    """Return the allowed values of a key, and the remedy for an invalid one."""
    name = keys(table).get(key)
    extra = table.model_fields[name].json_schema_extra if name else None
    if not isinstance(extra, dict):
        return "", ""
    return str(extra["allowed"]), str(extra["remedy"])
