"""codegen: from a plan to SystemVerilog: the predictor and the primitives it is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..sim.errors import fail
from ..sim.formats import Format, Overflow
from ..sim.plan import Plan
from ..sim.planner.inputs import WORD_CLASSES
from .context import context, real_value
from .resources import environment, read_text

#: Folder of the SystemVerilog in a generated folder.
FOLDER = "rtl"
#: What every predictor is made of, besides the exponential of its word class; below comes before above.
MODULES = ("kc_shift_round", "kc_align", "kc_saturate", "kc_narrow", "kc_mac", "kc_mul_shift", "kc_rom",
           "kc_ram", "kc_affine", "kc_sample_buffer", "kc_model_store")
#: What the distances of a kernel are made of besides.
_OWN = {"gaussian": ("kc_square_diff",), "laplacian": ("kc_abs_diff",),
        "periodic": ("kc_abs_diff", "kc_sine")}
#: Words of expansion vectors that a predictor may hold.
MOST_WORDS = 1 << 20
#: Holds every rounded sum of a plan.
LONGEST = Format(True, 63, 0)

# Clocks of the parts, as their headers state them.
_MUL_SHIFT = 2
_EXP2 = {16: 4, 24: 8, 32: 7}
# Bits of t that the exponential takes.
_T_BITS = {16: 24, 24: 37, 32: 37}
_DISTANCE = {"gaussian": 3, "laplacian": 2, "periodic": 12}
_READ, _MAC, _NARROW = 1, 2, 2
_BASE, _POWER = 3, 2
# Around the sample: conversion (5), hand-over, answer, output register.
_AROUND = 8


def kernel_latency(plan: Plan) -> int:
    """Clocks from a distance, or product, to its kernel value."""
    if "kernel_degree" in plan.constants:
        return _BASE + _POWER * (plan.integer("kernel_degree") - 1) + _NARROW
    return _MUL_SHIFT + _EXP2[plan.word]


def distance_latency(plan: Plan) -> int:
    """Clocks from the last column of a vector to its distance, or product."""
    return _DISTANCE.get(plan.options["kernel"], _MAC)


def _expansion_latency(plan: Plan) -> int:
    return distance_latency(plan) + kernel_latency(plan) + _READ + _MAC + _NARROW


def predictor_overhead(plan: Plan) -> int:
    """Clocks of a prediction beyond the reading of the sample and of the expansion."""
    return _expansion_latency(plan) + _AROUND


def predictor_cycles(plan: Plan, count: int | None = None) -> int:
    """Clocks from the first beat of a sample to its answer, when neither side waits.

    Parameters
    ----------
    plan : Plan
    count : int, optional
        Vectors held, at least one; all that fit by default.

    Returns
    -------
    int
        ``D + D * count + overhead``.  The next sample's first beat is taken in the clock in which the
        answer appears, so this is also the period.
    """
    columns = plan.sizes["D"]
    held = vectors(plan) if count is None else count
    return columns + columns * held + predictor_overhead(plan)


def vectors(plan: Plan) -> int:
    """How many expansion vectors a model of the plan may hold."""
    return plan.sizes["n"] if plan.trains else plan.sizes["N"]


def fits(plan: Plan) -> bool:
    """Whether there is a predictor in SystemVerilog: integers, no intercept, in memory that holds them."""
    return not (biased(plan) or plan.in_float32) and vectors(plan) * plan.sizes["D"] <= MOST_WORDS


def biased(plan: Plan) -> bool:
    """Whether predictions have an intercept, which the cores do not add."""
    return plan.options.get("bias") == "1"


def refuse_unfit(plan: Plan) -> None:
    """Refuse a plan that :func:`fits` says no to.

    Raises
    ------
    KerncastError
        E306 where the model is too large for the predictor's memory, E307 where it has a bias or floats.
    """
    if plan.in_float32:
        raise fail("E307", "the predictor in SystemVerilog has no float32", where="[online] reduction",
                   value=plan.options["reduction"], allowed="a reduction in integers",
                   remedy="choose a reduction without _f32")
    if biased(plan):
        raise fail("E307", "the predictor in SystemVerilog adds no intercept", where="[toeplitz] bias",
                   value="true", allowed="bias = false",
                   remedy="remove bias, or take the mean of the targets as [output] offset")
    if not fits(plan):
        raise fail("E306", "the model is too large for the predictor in SystemVerilog",
                   where=plan.size_key,
                   value=f"{vectors(plan)} vectors of {plan.sizes['D']} words",
                   allowed=f"{MOST_WORDS} words in all", remedy="lower it, or use fewer columns")


def model_tag(plan: Plan) -> int:
    """The first word of a model's frame, two's complement: the leading W bits of the plan's hash."""
    return int(plan.hash[:plan.word // 4], 16)


def _signed_bits(values: tuple[int, ...]) -> int:
    """Bits of the shortest two's complement word that holds all values."""
    return max((v ^ (v >> 63)).bit_length() for v in values) + 1


def _literal(value: int, bits: int) -> str:
    """A signed constant of `bits` bits."""
    return f"{'-' if value < 0 else ''}{bits}'sd{abs(value)}"


def _address_bits(depth: int) -> int:
    return max(1, (depth - 1).bit_length())


def _affine(plan: Plan) -> dict[str, Any]:
    """Offsets and gains: one for all columns, or one each, the last column first as a vector has it."""
    offsets, gains = plan.integers("x_offset"), plan.integers("x_gain")
    if len(set(zip(offsets, gains, strict=True))) == 1:
        offsets, gains = offsets[:1], gains[:1]
    offset_bits, gain_bits = _signed_bits(offsets), _signed_bits(gains)
    return {"entries": len(offsets), "offset_bits": offset_bits, "gain_bits": gain_bits,
            "offset_literals": [_literal(v, offset_bits) for v in reversed(offsets)],
            "gain_literals": [_literal(v, gain_bits) for v in reversed(gains)]}


def _context(plan: Plan) -> dict[str, Any]:
    """What the templates see: the names of the C templates, and widths."""
    words, held, columns = WORD_CLASSES[plan.word], vectors(plan), plan.sizes["D"]
    distance, x = plan.signals["distance"].format, plan.signals["x"].format
    # A word that wraps is the low end of the longest one, which holds every sum.
    f = LONGEST if plan.signals["f"].overflow is Overflow.WRAP else plan.signals["f"].format
    polynomial = "kernel_degree" in plan.constants
    exponents = [plan.integer(name) if name in plan.constants else 0
                 for name in ("alpha_exp_min", "alpha_exp_max")]
    return context(plan, str(plan.evidence.get("spec", "of no file"))) | _affine(plan) | {
        "W": plan.word, "vectors": held, "raw": plan.signals["x_raw"].format, "x": x,
        "x_lo": _literal(plan.signals["x"].lo, 64), "x_hi": _literal(plan.signals["x"].hi, 64),
        "f_bits": f.bits, "f_lo": _literal(f.lo, 64), "f_hi": _literal(f.hi, 64),
        "f_shift": _literal(plan.integer("f_shift"), plan.word),
        "exponents": [_literal(e, plan.word) for e in exponents],
        "distance_bits": distance.bits - (distance.signed and plan.signals["distance"].lo == 0),
        "distance_latency": distance_latency(plan),
        "k_lo": _literal(plan.signals["kernel"].lo, 64), "k_hi": _literal(plan.signals["kernel"].hi, 64),
        "out_shift": _literal(plan.integer("kernel_out_shift") if polynomial else 0, 7),
        "t_bits": _T_BITS[plan.word], "t_end": words.t_end,
        "rounding": {name: plan.signals[name].rounding.value for name in ("x", "f")},
        "column_bits": _address_bits(columns), "count_bits": held.bit_length(),
        "v_address_bits": _address_bits(held * columns), "alpha_address_bits": _address_bits(held),
        "kernel_c_text": real_value(plan, "kernel_c"),
        "exp2_cut": plan.constants.get("exp2_cut", 0), "kernel_latency": kernel_latency(plan),
        "expansion_latency": _expansion_latency(plan),
        "overhead": predictor_overhead(plan), "cycles": predictor_cycles(plan),
        "exponent_text": f"{exponents[0]} to {exponents[1]}" if exponents[0] != exponents[1]
        else str(exponents[0]),
        "tag": f"0x{plan.hash[:plan.word // 4]}", "modules": _modules(plan),
    }


def _modules(plan: Plan) -> tuple[str, ...]:
    first = MODULES.index("kc_affine")
    own = _OWN.get(plan.options["kernel"], ())
    exp2 = (f"kc_exp2_{16 if plan.word == 16 else 32}",) if own else ()
    return (*MODULES[:first], *own, *exp2, *MODULES[first:])


def render_rtl(plan: Plan) -> dict[str, str]:
    """The SystemVerilog of a plan's predictor, by file name: the same plan gives the same bytes.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    dict of str to str
        Names begin with ``rtl/``; to be passed to :func:`.generate.generate` as `extra`.

    Raises
    ------
    KerncastError
        E306 where the model is too large for the predictor's memory, E307 where it has a bias.
    """
    refuse_unfit(plan)
    p, values = plan.name, _context(plan)
    kernel = "polynomial.sv" if values["polynomial"] else "kernel.sv"
    names = {f"{p}_distance.sv": "distance.sv", f"{p}_kernel.sv": kernel, f"{p}_expansion.sv": "expansion.sv",
             f"{p}_predictor.sv": "predictor.sv", f"{p}_predictor.f": "predictor.f",
             "README.md": "README.md"}
    files = {f"{module}.sv": read_text(f"hw/rtl/{module}.sv") for module in _modules(plan)}
    files |= {name: environment().get_template(f"rtl/{template}.j2").render(values, file=name)
              for name, template in names.items()}
    return {f"{FOLDER}/{name}": text for name, text in files.items()}


def generate_rtl(plan: Plan, out_dir: str | Path) -> list[Path]:
    """Write the SystemVerilog of a plan into ``out_dir/rtl``, for a simulator to build.

    A folder for users is written by :func:`.generate.generate`, which keeps a manifest.

    Parameters
    ----------
    plan : Plan
    out_dir : path

    Returns
    -------
    list of Path
        The files written.
    """
    written = []
    for name, text in render_rtl(plan).items():
        path = Path(out_dir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return written


def rtl_sources(out_dir: str | Path, plan: Plan) -> list[Path]:
    """The SystemVerilog files of a generated folder, in the order of its list.

    Raises
    ------
    KerncastError
        E305 where the folder holds none, E306 and E307 where there can be none.
    """
    refuse_unfit(plan)
    folder = Path(out_dir) / FOLDER
    listed = folder / f"{plan.name}_predictor.f"
    if not listed.is_file():
        raise fail("E305", "the folder holds no SystemVerilog of this plan", where=str(folder),
                   value=f"no {listed.name}", allowed="a folder made by kerncast gen",
                   remedy="kerncast gen SPEC -o FOLDER")
    lines = listed.read_text(encoding="utf-8").splitlines()
    return [folder / line for line in lines if line and not line.startswith("//")]
