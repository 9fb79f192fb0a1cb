"""codegen: build the context of the C templates from the plan.

All decisions are made in the plan.
"""

from __future__ import annotations

import re
from typing import Any

from ... import __version__
from ...sim.backend import STATUSES
from ...sim.candidates import OWN, TABLES, candidate_pairs
from ...sim.formats import Format, Overflow, Rounding
from ...sim.plan import ABI, Plan
from ...sim.planner.toeplitz.fitted import SHORT
from ...sim.planner.widths import widths
from ...sim.spec.keys import CASTS
from ...sim.window import window
from .classes import CLASS_TARGETS, classes_context
from .delay import delay_context
from .example import example
from .kernel_text import kernel_context, kernel_macros, kernel_value
from .lms import LMS_MACROS, lms_context, lms_value
from .lms_f32 import FLOAT32_MACROS, float_context, float_literal, float_value
from .rls import RLS_MACROS, novelty_context, rls_context, rls_value
from .tuning import tuning_context, varying
from .units import units_context

TITLES = {"toeplitz_rls": "Toeplitz regularised least squares",
          "kernel_cg": "kernel regularised least squares by conjugate gradients",
          "kernel_lms": "kernel LMS with a fixed dictionary size",
          "online_kernel_rls": "online kernel recursive least squares in random features",
          "kernel_predictor": "prediction by a kernel expansion"}
#: Stages of a training between its samples and the commit, in order: name and what a step does.
_STAGES = {
    "START": "start the iteration", "FACTOR": "columns of the factor", "ROW": "one entry of the first row",
    "TUNE": "the evidence of a candidate", "SOLVE": "one step of the solver",
    "CORRECT": "update the solution", "RESIDUAL": "one row of the residual", "FINISH": "the error bound"}
#: Rows of a step of the banded solver.
BAND_STEP_ROWS = 16
#: Columns of a factor for a run-time lambda in a step of training.
FACTOR_STEP_ROWS = 4
#: The same with generators of 62 bits, whose products consist of three.
LONG_FACTOR_STEP_ROWS = 3
#: Members of a trainer that its checksum does not cover: it and those of the long arrays.
CHECKS = ("check", "samples_check", "solution_check", "last_check", "reserved")
#: Members with the factor of a run-time lambda, which the checksum does not cover: the bound detects changes.
FACTOR = ("factor", "pivot", "u", "v")
#: Factor of the checksum of long arrays. For 32 bits it passes the spectral test in 2 to 6 dimensions (D. E.
#: Knuth, "The Art of Computer Programming", vol. 2, section 3.3.4), so few changes of neighbours cancel. It
#: is 5 modulo 8, so an exchange of two words of 16 bits changes the sum.
CHECK_FACTOR = 1664525
#: What a table holds, with the entries' distance 2^-bits and 2^-(2 bits).
_TABLE_MEANING = {"exp2": "2^-(i/2^{bits}), lowered by half the error of a chord",
                  "exp2_coarse": "2 * 2^-(i/2^{bits}) - 1", "exp2_fine": "1 - 2^-(i/2^{twice})",
                  "sine": "sin(pi i/512)", "factor": "columns of L below the diagonal",
                  "pivot": "1 / (d (1 + lambda))",
                  "weight": "weights of the intercept, until they are constant",
                  "generator": "g: column j of L below the diagonal is g_j rho^(i-j)",
                  "ratio": "g_i / g_(i+1)",
                  "band": "first row over 1 + lambda, from lag 1",
                  "band_rest": "lower 31 bits of the first row",
                  "taps": "taps of the stream's filter, from lag -L to L",
                  "alpha": "coefficients", "bias": "intercepts of the outputs, in LSB of y",
                  "slot": "output of each coefficient, by the class of the center",
                  "group_end": "index after the last center of each class",
                  "centers": "centers, in the format of x",
                  "directions": "directions of the features, in turns per LSB of x, times a power of two",
                  "phases": "phases of the features, in turns", "cosine": "cos(2 pi i/256)"}

#: Constants that become macros, by what they belong to.
_MACROS = {
    "Input: x = (raw - offset) * gain / 2^shift": ("x_shift",),
    "Target: y = (raw - offset) * gain / 2^shift": ("y_offset", "y_gain", "y_shift"),
    "Target of a class": tuple(CLASS_TARGETS),
    "Prediction: each product is shifted by mac, and the sum by f": ("mac_shift", "f_shift", "bias"),
    "Trainer": ("x_step", "ridge_scale", "alpha_scale", "solver_shift", "xi_frac", "innov_frac", "eps_min",
                "a_exp_min", "a_exp_max", "s_exp_max", "x_exp_min", "x_exp_max", "alpha_exp_min",
                "alpha_exp_max", "fitted_scale", "fitted_shift",
                "lookahead_shift", "refine", "band", "rows", "factor_frac", "factor_shift",
                "factor_head", "rho", "state_frac", "residual_band",
                "band_head", "pivot_frac", "z_exp_max", "last_lag",
                "square_shift", "evidence_shift", "lambda_loss",
                "gain_shift", "diagonal_lack", "weights", "weight_shift", "intercept_shift",
                "intercept_lo", "intercept_hi"),
    "Stream: the sum of products is shifted by": ("stream_shift",),
    "Trainer: (K + lambda I) times a direction, and the scalars of a step":
        ("steps", "product_exp", "row_shift", "lambda_mantissa", "lambda_shift", "dot_shift", "step_exp"),
    "Certified bound": ("alpha_frac", "residual_shift", "residual_slack", "norm_bits", "bound_gain",
                        "bound_shift", "no_bound", "tolerance"),
    **LMS_MACROS,
}


_IN_FLOAT32 = dict(list(_MACROS.items())[:2]) | FLOAT32_MACROS
_SECOND_ORDER = dict(list(_MACROS.items())[:3]) | RLS_MACROS


def c_integer(value: int) -> str:
    """Format `value` as a C constant that is valid for any width of ``int``."""
    if -(1 << 31) < value < 1 << 31:
        return f"INT32_C({value})" if not -(1 << 15) < value < 1 << 15 else str(value)
    return f"INT64_C({value})" if value > -(1 << 63) else "INT64_MIN"


def _constant(plan: Plan, name: str) -> str:
    """Format a constant of the plan in C."""
    return (float_literal if name.endswith("_f32") else c_integer)(plan.integer(name))


def _limit(word: Format, value: int) -> str:
    """Format the minimum or maximum of a format; prefer macros such as INT16_MAX."""
    return c_integer(value) if word.bits != word.c_bits else f"INT{word.bits}_{'MIN' if value < 0 else 'MAX'}"


def real_value(plan: Plan, name: str) -> str:
    """Return the real value that an integer constant represents, as comment text."""
    value = plan.constants[name]
    assert isinstance(value, int)
    if plan.tunes and name in OWN:  # a comment would be that of one candidate
        return ""
    if name.startswith("kernel"):
        return kernel_value(plan, name)
    if name == "alpha_scale":
        finer = plan.signals["alpha"].format.frac - plan.word + 1
        return f"{f'2^{finer}' if finer else '1'} / (1 + lambda), for alpha in {plan.signals['alpha'].format}"
    if name in CLASS_TARGETS:
        return CLASS_TARGETS[name]
    if name == "lambda_mantissa":
        return f"lambda = {plan.options['lambda']}, divided by a power of two"
    if name == "fitted_scale":
        alpha, y = (plan.signals[signal].format.frac for signal in ("alpha", "y"))
        frac = plan.integer("fitted_shift") - alpha + y
        return f"lambda = {plan.options['lambda']}, {frac} fraction bits"
    if name == "ridge_scale" and plan.ranged:
        return f"1 / {plan.signals['r'].unit}"
    if name == "ridge_scale":
        return f"1 / (1 + lambda), lambda = {plan.options['lambda']}"
    return float_value(plan, name) or lms_value(plan, name) or rls_value(name)


def _usual_rounding(plan: Plan) -> Rounding:
    """Return the rounding mode that most casts use.

    This is the rounding mode of signal `a`, or that of ``word`` if the plan has no such signal.
    """
    usual = plan.signals.get("a")
    return Rounding[plan.options["rounding"].upper()] if usual is None else usual.rounding


def _cast_names(plan: Plan) -> list[str]:
    """List the signals that have a cast. Signal z has the cast of `a`."""
    return [name for name in (*CASTS[plan.algorithm], "z") if name in plan.signals]


def _own_casts(plan: Plan) -> list[str]:
    """List the signals with a cast that differs from the usual one.

    The usual cast has the rounding mode of :func:`_usual_rounding`, and it saturates.
    """
    usual = (_usual_rounding(plan), Overflow.SATURATE)
    return [name for name in _cast_names(plan)
            if (plan.signals[name].rounding, plan.signals[name].overflow) != usual]


def _casts(plan: Plan) -> dict[str, dict[str, Any]]:
    """Map each signal to its ``_requantise`` function and modes.

    The modes are the rounding mode, its macro, and whether overflow wraps.
    """
    own, p = _own_casts(plan), plan.name.upper()
    return {name: {"name": name if name in own else "word", "mode": plan.signals[name].rounding.name.lower(),
                   "rounding": f"{p}_{name.upper()}_ROUNDING" if name in own else f"{p}_ROUNDING",
                   "wraps": plan.signals[name].overflow is Overflow.WRAP}
            for name in _cast_names(plan)}


def _defines(plan: Plan) -> dict[str, list[tuple[str, str, str]]]:
    """Group the macros of the model's header, as (name, value, comment), by title."""
    x, w, word = plan.signals["x"], plan.word, Format(True, plan.word, 0)
    first = [("ROUNDING", f"KC_{_usual_rounding(plan).name}", ""),
             ("WORD_LO", _limit(word, word.lo), ""), ("WORD_HI", _limit(word, word.hi), "")]
    first += [(f"{name.upper()}_ROUNDING", f"KC_{plan.signals[name].rounding.name}", "")
              for name in _own_casts(plan)]
    groups = {f"Word length {w} bits": first}
    unused = {"decay", "decay_shift"} if plan.constants.get("decay") == 0 else set()
    unused |= {"y_offset", "y_gain", "y_shift"} if plan.fixed or plan.decision else set()
    unused |= {"solver_shift", "innov_frac"} if plan.schur else set()
    unused |= set(varying(plan)) - {"alpha_exp_max"}
    unused |= {"bound_gain", "fitted_scale"} if plan.ranged else set()
    unused |= set() if plan.uniform and not plan.banded else {"last_lag"}
    macros = _IN_FLOAT32 if plan.in_float32 else _SECOND_ORDER if plan.second_order else _MACROS
    groups |= {title: [(name.upper(), _constant(plan, name), real_value(plan, name))
                       for name in names if name in plan.constants and name not in unused]
               for title, names in (macros | kernel_macros(plan)).items()}
    inputs = [("X_LO", c_integer(x.lo), str(x.format)), ("X_HI", c_integer(x.hi), "")]
    if not varied(plan):
        inputs += [("X_OFFSET", c_integer(plan.integers("x_offset")[0]), ""),
                   ("X_GAIN", c_integer(plan.integers("x_gain")[0]), "")]
    if plan.learns and not plan.second_order:
        far = plan.signals["distance"].format.hi
        most = {"fklms": far, "age": (1 << 31) - 1}.get(plan.metric, (1 << 63) - 1)
        groups["Learning rule"] += [("DISTANCE_HI", c_integer(far), ""), ("LOSS_HI", c_integer(most), "")]
    title = next(iter(_MACROS))
    groups[title] = inputs + groups[title]
    read = window(plan)
    if read is not None:
        groups["Prediction: vectors of the grid at which the kernel is not zero"] = [
            ("WINDOW_VECTORS", c_integer(read.vectors), ""),
            ("WINDOW_LOW", c_integer(read.low), "(x - WINDOW_LOW) / step is the first vector"),
            ("WINDOW_HIGH", c_integer(read.high), "upper limit of x - WINDOW_LOW")]
    return {title: rows for title, rows in groups.items() if rows}


def _table_meaning(plan: Plan) -> dict[str, str]:
    """Map each table to a description of its contents."""
    bits = plan.constants.get("exp2_bits", 0)
    assert isinstance(bits, int)
    found = {name: text.format(bits=bits, twice=2 * bits) for name, text in _TABLE_MEANING.items()}
    if plan.geometric:
        found["pivot"] = "1 / d"
    if plan.ranged:
        found["band"] = f"first row over {plan.signals['r'].unit}, from lag 1"
    return found | {f"{name}_{k}": f"{found[name]}, sigma = {sigma}, lambda = {lam}" for name in TABLES
                    for k, (sigma, lam) in enumerate(candidate_pairs(plan))}


def varied(plan: Plan) -> bool:
    """Report whether the input columns have different offsets or gains."""
    return len(set(zip(plan.integers("x_offset"), plan.integers("x_gain"), strict=True))) > 1


def _classes(plan: Plan) -> list[str]:
    """Return the class names for f <= 0 and f > 0 as comment text.

    The list is empty for a regressor.
    """
    return [re.sub(r"[^\w .+-]", "_", name) for name in plan.class_names] if plan.outputs == 1 else []


def factor_step_rows(plan: Plan) -> int:
    """Return the columns of a factor for a run-time lambda in a step of training."""
    return LONG_FACTOR_STEP_ROWS if plan.long_factor else FACTOR_STEP_ROWS


def _trainer(plan: Plan) -> dict[str, Any]:
    """Build the template context of a batch trainer."""
    word = plan.constants.get("solver_word", plan.word)
    scales = plan.integers("candidate_fitted_scale") if plan.tunes and plan.fits else (
        (plan.integer("fitted_scale"),) if plan.fits else ())
    short = plan.word == 16 and plan.fits and max(scales) < 1 << SHORT and not plan.ranged
    bias = plan.bias
    refine = (bias and not plan.banded) or plan.refine != 0  # by corrections
    sides = [{"x": "z", "y": "t->rhs[t->step]"}] if refine else [{"x": "alpha", "y": "t->y[t->step]"}]
    eager = plan.eager
    stages = {"RESIDUAL", "FINISH"} | (set() if eager else {"SOLVE"}) | ({"CORRECT"} if refine else set())
    stages |= {"TUNE"} if plan.tunes else {"FACTOR"} if plan.ranged else set()
    stages |= {"START", "CORRECT"} if plan.algorithm == "kernel_cg" else set() if plan.uniform else {"ROW"}
    shared_shift = plan.algorithm == "toeplitz_rls" and not plan.banded  # the band spends no call on a row
    if bias and refine:
        sides.append({"x": "eta", "y": "ONE / 2"})
    first = f"t->output * {plan.name.upper()}_TRAIN_SAMPLES" if plan.outputs > 1 else ""  # row of the output
    return {
        "output_row": f"{first} + " if first else "",
        "output_alpha": f"&t->alpha[{first}]" if first else "t->alpha",
        "solver_word": word, "solver_bits": 16 if word == 16 else 32,
        "solver": "geometric" if plan.geometric else plan.options.get("solver", "levinson"),
        "geometric": plan.geometric, "looks_ahead": plan.looks_ahead,
        "banded": plan.banded,
        "step_rows": plan.integer("block_rows") if plan.geometric else BAND_STEP_ROWS,
        "factor_rows": factor_step_rows(plan),
        "residual_rows": 1 if plan.banded else max(1, plan.sizes.get("n", 0) // _row_products(plan)),
        "norm_rows": -(-plan.sizes.get("n", 0) // 8),
        "last_lag": f"{plan.name.upper()}_LAST_LAG" if plan.uniform else "t->last_lag",
        "word_bits": 16 if plan.word == 16 else 32,
        "looks_ahead_f32": plan.looks_ahead and plan.solver == "lookahead_f32",
        "product_bits": 32 if short else 64,
        "shared_shift": shared_shift,
        "run_time_shift": f"{plan.name}_shift" if shared_shift else "kc_arithmetic_shift",
        "static": plan.static, "refine": refine, "bias": bias,
        "row": "r_short" if any(f.name == "r_short" for f in plan.workspace) else "r", "sides": sides,
        **_checksum(plan), "check_factor": CHECK_FACTOR,
        "check_sum": _power_sum(plan.sizes.get("n", 0), plan.targets),
        "eager": eager, "stages": [(name, text) for name, text in _STAGES.items() if name in stages],
    }


def _checksum(plan: Plan) -> dict[str, Any]:
    """Group the scalars and short arrays that the checksum covers.

    The members in `idle` are zero until the last sample.
    """
    covered = [f for f in plan.workspace if "n" not in f.formula and f.name not in (*CHECKS, *FACTOR)]
    idle = {f.name for f in covered} - {"step", "stage", "status", "lambda"} if not plan.eager else \
        {"bound", "squares", "squares_shift", "slack"}
    zeros = [f for f in covered if f.name in idle]
    words = sum(f.count * (2 if f.ctype == "int64_t" else 1) for f in zeros)
    tag, turn = int(plan.hash[:8], 16), 5 * words % 32
    return {"live": [f for f in covered if f.name not in idle],
            "idle": [f for f in zeros if f.formula == "1"],
            "short_arrays": [f for f in zeros if f.formula != "1"],
            "collect_sum": (tag << turn | tag >> (32 - turn)) % (1 << 32)}


def _power_sum(count: int, step: int) -> int:
    """Return the sum of every `step`-th power of `CHECK_FACTOR`, modulo 2^32.

    There are `count` of them, the first of which is 1.
    """
    return sum(pow(CHECK_FACTOR, step * i, 1 << 32) for i in range(count)) % (1 << 32)


def _long_norm(plan: Plan) -> bool:
    """Report whether the norm of alpha needs right shifts of its components."""
    return plan.trains and (plan.algorithm != "toeplitz_rls" or plan.word > plan.integer("norm_bits"))


def _row_products(plan: Plan) -> int:
    """Return the number of products for one row of the residual and of its square."""
    lags = plan.constants.get("last_lag", 0)
    assert isinstance(lags, int)
    return 2 * lags + 2


def context(plan: Plan, spec_hash: str) -> dict[str, Any]:
    """Build the context of the C templates from the plan.

    Parameters
    ----------
    plan : Plan
    spec_hash : str
        Hash of the spec from which the plan was made. The banner of each file contains it.

    Returns
    -------
    dict
    """
    trains, real = plan.trains, plan.in_float32
    n, columns = plan.sizes.get("n", 0), plan.sizes["D"]
    budget = plan.sizes.get("N", 0)
    digest = bytes.fromhex(plan.hash)
    short = widths(plan)
    return _trainer(plan) | kernel_context(plan) | units_context(plan) | classes_context(plan) \
        | tuning_context(plan, c_integer) | delay_context(plan) | novelty_context(plan) | {
        "plan": plan, "p": plan.name, "P": plan.name.upper(), "version": __version__, "abi": ABI,
        "spec_hash": spec_hash, "trains": trains, "fixed": plan.fixed,
        "classes": _classes(plan),
        "suffix": {name: "" if table.format.signed else "u" for name, table in plan.tables.items()},
        "uniform": plan.uniform,
        "toeplitz": plan.algorithm == "toeplitz_rls", "long_norm": _long_norm(plan),
        "biased": plan.biased_means,
        "n": n, "N": budget, "D": columns,
        "sizes_text": f"n = {n}, D = {columns}" if trains else f"N = {budget}, D = {columns}",
        "title": TITLES[plan.algorithm],
        "statuses": STATUSES, "word_type": plan.word_type,
        "types": {name: s.format.c_type for name, s in plan.signals.items()}
        | {"offset": plan.signals["x_raw"].format.c_type} | ({"kernel": "float"} if real else {}),
        "members": {f.name: f.ctype for f in plan.memory},
        "formats": {name: str(s.format) for name, s in plan.signals.items()} | (
            {"kernel": "float32"} if real else {}),
        "byte_rows": short.lanes and plan.signals["x"].format.c_type in ("int8_t", "uint8_t"),
        "casts": _casts(plan), "short": short, "mac": "kc_mac_i32" if short.products else "kc_mac",
        "shift_round": "kc_shift_round_i32" if short.products else "kc_shift_round",
        "defines": _defines(plan), "varied": varied(plan),
        "offsets": plan.integers("x_offset"), "gains": plan.integers("x_gain"),
        "offset": plan.integers("x_offset")[0], "step": plan.integer("x_step") if plan.uniform else 0,
        "window": window(plan),
        "linear": plan.linear, "rls": rls_context(plan),
        "lms": lms_context(plan) | float_context(plan), "real": real,
        "decay": plan.constants.get("decay_f32" if real else "decay", 0) != 0,
        "hash_bytes": [f"0x{byte:02x}" for byte in digest],
        "table_meaning": _table_meaning(plan), "example": example(plan),
    }
