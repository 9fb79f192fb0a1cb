"""Whatever the spec, a plan holds, or is refused: every shift is a shift, and every sum fits."""

from fractions import Fraction
from math import isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.plan import C_BYTES, Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.kernel import exponent_scale
from kerncast.sim.planner.log2 import ceil_log2, ceil_log2_sqrt, floor_log2
from kerncast.sim.planner.words import WORD_CLASSES
from kerncast.sim.primitives import requantise
from kerncast.sim.spec import Spec

INT64 = 1 << 63
LIMIT = 1 << 62  # what the primitives `divide` and `requantise` are written for
WIDE = 1 << 61
#: Further keys of the table [toeplitz].
VARIANTS = ({}, {}, {"scaling": "static"}, {"solver": "schur"}, {"refine": 2}, {"bias": True},
            {"bias": True, "refine": 4}, {"scaling": "static", "refine": 1, "bias": True})


@st.composite
def raw_formats(draw) -> Format:
    signed = draw(st.booleans())
    return Format(signed, draw(st.integers(2 if signed else 1, 32)), draw(st.integers(-8, 32)))


def reals(low: float, high: float):
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def decades(low: int, high: int):
    return st.builds(lambda e, m: float(f"{m:.6g}e{e}"), st.integers(low, high), reals(1.0, 9.99))


@st.composite
def specs(draw, algorithm: str) -> Spec:
    """Specs over the whole range of the keys, with sigma not too far from the range of x."""
    raw, out = draw(raw_formats()), draw(raw_formats())
    uniform = algorithm == "toeplitz_rls" and draw(st.booleans())
    columns = 1 if uniform else draw(st.one_of(st.integers(1, 6), st.integers(1, 300)))
    varied = columns > 1 and columns < 7 and draw(st.booleans())
    offsets = st.integers(raw.lo, raw.hi)
    gains = decades(-3, 2)
    offset = tuple(draw(offsets) for _ in range(columns)) if varied else draw(offsets)
    gain = tuple(draw(gains) for _ in range(columns)) if varied else draw(gains)
    most = max(gain) if varied else gain
    sigma = draw(decades(-4, 2)) * most * float(raw.lsb) * max(raw.hi - raw.lo, 1)
    if uniform:
        sigma = draw(reals(0.3, 30.0)) * most * float(raw.lsb)
        offset = raw.lo
    tables = {
        "model": {"name": "probe", "algorithm": algorithm},
        "input": {"word": str(raw), "columns": columns, "offset": offset, "gain": gain},
        "output": {"word": str(out), "offset": draw(st.integers(out.lo, out.hi)),
                   "gain": draw(decades(-3, 2))},
        "kernel": {"sigma": min(max(sigma, 1e-12), 1e12)},
        "numbers": {"word": draw(st.sampled_from([16, 24, 32])),
                    "rounding": draw(st.sampled_from(["floor", "half_up", "half_even"]))},
    }
    if algorithm == "kernel_cg":
        tables["cg"] = {"n": draw(st.one_of(st.integers(2, 300), st.integers(2, 65535))),
                        "lam": draw(decades(-12, 11)), "steps": draw(st.integers(1, 65535)),
                        "tolerance": draw(reals(1e-6, 16.0))}
    elif algorithm == "kernel_lms":
        eta = draw(st.one_of(decades(-6, -1), reals(0.1, 1.999)))
        tables["online"] = {"budget": draw(st.one_of(st.integers(2, 50), st.integers(2, 65535))), "eta": eta,
                            "rho": draw(st.sampled_from([0.0, 0.25 / eta, 1e-4]))}
    else:
        scheme = "uniform" if uniform else draw(st.sampled_from(["diagonal_mean", "diagonal_mean_biased"]))
        n = draw(st.one_of(st.integers(2, 300), st.integers(2, 65535)))
        variant = draw(st.sampled_from(VARIANTS))
        tables["toeplitz"] = {"n": min(n, raw.hi - raw.lo + 1) if uniform else n, "lam": draw(decades(-9, 9)),
                              "scheme": scheme, **variant}
        if "refine" in variant:  # to longer words
            tables["numbers"]["word"] = draw(st.sampled_from([16, 24]))
        if "scaling" in variant and draw(st.booleans()):
            tables["numbers"]["ranges"] = {"alpha": draw(decades(-6, 5))}
    return Spec(**tables)


def plan_of(spec: Spec) -> Plan | None:
    """The plan; None where it is refused with one of the codes that say why."""
    try:
        return make_plan(spec)
    except KerncastError as error:
        assert {p.code for p in error.problems} <= {"E118", "E203", "E204", "E205", "E206"}
        assert all(p.where and p.allowed and p.remedy for p in error.problems)
        return None


def check_common(plan: Plan) -> None:
    """Input words, distances, kernel, targets."""
    words, x, y = WORD_CLASSES[plan.word], plan.signals["x"], plan.signals["y"]
    raw_x, raw_y = plan.signals["x_raw"].format, plan.signals["y_raw"].format
    for name in ("x_shift", "y_shift", "kernel_shift", "mac_shift"):
        assert 0 <= plan.integer(name) <= 62, name
    farthest = 0
    for offset, gain in zip(plan.integers("x_offset"), plan.integers("x_gain"), strict=True):
        ends = [(raw - offset) * gain for raw in (raw_x.lo, raw_x.hi)]
        assert all(-LIMIT < end < LIMIT for end in ends)
        low, high = (requantise(end, plan.integer("x_shift"), x.rounding.value, -LIMIT,
                                LIMIT) for end in ends)
        assert x.lo <= low <= high <= x.hi  # nothing saturates
        farthest += (high - low) ** 2
    assert farthest <= words.distance.hi
    c, shift, end = (plan.integer(k) for k in ("kernel_c", "kernel_shift", "kernel_d2_end"))
    assert 0 < c < 1 << 31
    assert 0 < end <= words.distance.hi
    assert (end - 1) * c >> shift < words.t_end << words.t_frac
    assert end * c >> shift >= words.t_end << words.t_frac or end > farthest
    for raw in (raw_y.lo, raw_y.hi):
        word = (raw - plan.integer("y_offset")) * plan.integer("y_gain")
        assert abs(word) < LIMIT
        cast = requantise(word, plan.integer("y_shift"), y.rounding.value, -LIMIT, LIMIT)
        assert abs(cast) <= 1 << y.format.frac


def check_memory(plan: Plan) -> None:
    """Members in an order that needs no padding, whose bytes are the structure's."""
    for members, size in ((plan.memory, plan.state_bytes), (plan.workspace, plan.trainer_bytes)):
        at = 0
        for member in members:
            assert at % C_BYTES[member.ctype] == 0, member
            assert member.bytes == member.count * C_BYTES[member.ctype]
            at += member.bytes
        assert at == size
        assert at % 8 == 0
        assert at < 1 << 31


def ceil_shift(product: int, shift: int) -> int:
    """The largest magnitude of ``floor(v / 2**shift)`` with ``|v| <= product``."""
    return -(-product >> shift)


def check_learner(plan: Plan) -> None:
    top, k = 1 << (plan.word - 1), 1 << plan.signals["kernel"].format.frac
    one, n = 1 << plan.signals["y"].format.frac, plan.sizes["N"]
    for name in ("eta_shift", "decay_shift", "project_shift", "f_shift"):
        assert 0 <= plan.integer(name) <= 62, name
    assert n * ceil_shift(top * k, plan.integer("mac_shift")) <= LIMIT
    assert top * k <= LIMIT
    assert 1 <= plan.integer("eta") <= 1 << 30
    assert (one + top) * plan.integer("eta") + top < INT64
    assert 0 <= plan.integer("decay") * top < INT64


def aligned(value: int, shift: int) -> int:
    """The largest magnitude of ``align(v, shift)`` with ``|v| <= value``."""
    return ceil_shift(value, shift) if shift >= 0 else value << -shift


def check_trainer(plan: Plan) -> None:
    w, n = plan.word, plan.sizes["n"]
    top, k = 1 << (w - 1), 1 << plan.signals["kernel"].format.frac
    f, exponents = plan.integer("f_shift"), [plan.integer(f"alpha_exp_{end}") for end in ("min", "max")]
    assert exponents[0] <= exponents[1]
    products = n * ceil_shift(top * k, plan.integer("mac_shift"))
    assert products <= LIMIT
    assert all(-62 <= f - e <= 62 for e in exponents)
    assert aligned(products, f - exponents[1]) <= LIMIT
    assert n * k < WIDE
    assert k * plan.integer("ridge_scale") < LIMIT
    if "alpha_scale" in plan.constants:
        assert top * plan.integer("alpha_scale") <= LIMIT
        assert 0 < plan.integer("alpha_scale") < 1 << 31
    if plan.options["scheme"] == "uniform":
        assert 0 < plan.integer("x_step") * (n - 1) <= plan.signals["x"].hi


def check_recursion(plan: Plan) -> None:
    """Levinson's sums, and what they become, aligned; with static scaling, refinement and a bias too."""
    names = ("solver_word", "solver_shift", "xi_frac", "innov_frac")
    n, (w, mac, xi, mu) = plan.sizes["n"], (plan.integer(name) for name in names)
    assert n * ceil_shift(1 << 2 * (w - 1), mac) <= LIMIT
    for frac, block in ((xi, "a"), (mu, "x")):
        low, high = (plan.integer(f"{block}_exp_{end}") for end in ("min", "max"))
        assert low <= high
        assert all(-62 <= 2 * (w - 1) - mac - frac - e <= 62 for e in (low, high))
        assert (n << (frac + high)) + (2 << frac) < LIMIT
    assert -62 <= w - 1 - xi <= 62
    assert -62 <= w - 2 - mu <= 62
    assert plan.integer("a_exp_max") <= w - 2  # the last word of a is xi shifted by the exponent


def check_certificate(plan: Plan) -> None:
    """The residual's sums and the targets' share of them, and the squares."""
    w, n, drop = plan.word, plan.sizes["n"], plan.integer("residual_shift")
    assert 0 <= drop <= 62
    row = (n + 1) * ceil_shift(1 << 2 * (w - 1), drop)
    for exponent in (plan.integer(f"alpha_exp_{end}") for end in ("min", "max")):
        shift = w - 2 + 31 - (w - 1 - drop + plan.integer("alpha_frac") - exponent)
        assert -62 <= shift < 62
        share = aligned(plan.integer("ridge_scale") << (w - 1), shift)
        assert share + row + plan.integer("residual_slack") < LIMIT
    assert n << 2 * plan.integer("norm_bits") <= LIMIT
    assert 0 <= plan.integer("bound_gain") < 1 << 31


def check_gradients(plan: Plan) -> None:
    w, n, q = plan.word, plan.sizes["n"], 1 << 31
    top, k = 1 << (w - 1), 1 << (w - 1)
    c = {name: plan.integer(name) for name in plan.constants if isinstance(plan.constants[name], int)}
    assert all(0 <= c[name] <= 62 for name in ("mac_shift", "dot_shift"))
    assert all(-62 <= c[name] <= 62 for name in ("row_shift", "lambda_shift"))
    row = n * ceil_shift(top * k, c["mac_shift"])
    assert row < LIMIT  # strictly: r . r and p . q go to `divide`
    assert n * ceil_shift(top * q, c["dot_shift"]) < LIMIT
    assert 1 << 30 <= c["lambda_mantissa"] < 1 << 31
    assert aligned(row, c["row_shift"]) <= WIDE
    assert aligned(top * c["lambda_mantissa"], c["lambda_shift"]) <= WIDE
    assert 0 < c["residual_slack"] < WIDE
    assert n << 2 * c["norm_bits"] <= LIMIT and 0 <= c["bound_gain"] < 1 << 31
    assert c["alpha_exp_min"] < c["alpha_exp_max"] < 1 << 15
    for exponent in (c["alpha_exp_min"], c["alpha_exp_max"]):
        assert -62 <= c["f_shift"] - exponent <= 62
        assert aligned(row, c["f_shift"] - exponent) <= LIMIT


@given(specs("kernel_cg"))
@settings(max_examples=150)
def test_every_plan_of_conjugate_gradients_keeps_its_bounds(spec):
    plan = plan_of(spec)
    if plan is not None:
        check_common(plan)
        check_memory(plan)
        check_gradients(plan)


@given(specs("kernel_lms"))
@settings(max_examples=75)
def test_every_learner_that_is_planned_keeps_its_bounds(spec):
    plan = plan_of(spec)
    if plan is not None:
        check_common(plan)
        check_memory(plan)
        check_learner(plan)


@given(specs("toeplitz_rls"))
@settings(max_examples=150)
def test_every_trainer_that_is_planned_keeps_its_bounds(spec):
    plan = plan_of(spec)
    if plan is not None:
        check_common(plan)
        check_memory(plan)
        check_trainer(plan)
        check_certificate(plan)
        if plan.options["solver"] == "levinson":
            check_recursion(plan)


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("columns", [2, 5])
def test_gains_that_are_rounded_up_do_not_push_inputs_past_their_range(word, columns):
    """The widest column ends just where the distance's bound begins, and its gain is no binary fraction."""
    reach = min((1 << (word - 1)) - 1, isqrt(WORD_CLASSES[word].distance.hi // columns) // 2)
    for below in (0.0, 1e-12, 1e-10, 1e-8):
        gain = reach / 32768 * (1 - below)
        gains = (gain, *[gain * (1 - 1e-15)] * (columns - 1))
        plan = plan_of(Spec(
            model={"name": "probe", "algorithm": "kernel_lms"}, numbers={"word": word},
            input={"word": "s16f0", "columns": columns, "gain": gains},
            output={"word": "s8f0"}, kernel={"sigma": reach / 10}, online={"budget": 3, "eta": 0.1}))
        assert plan is not None
        check_common(plan)


def test_a_kernel_constant_that_rounds_up_to_2_31_still_fits():
    """Sigma is searched so that the constant lies within half a step below 2**31."""
    plain = Spec(model={"name": "probe", "algorithm": "kernel_lms"}, numbers={"word": 32},
                 input={"word": "u8f0"}, output={"word": "s8f0"}, kernel={"sigma": 2.0},
                 online={"budget": 3, "eta": 0.1})
    ratio = exponent_scale(plain, WORD_CLASSES[32], Fraction(1)) * 4
    power = Fraction(2) ** floor_log2(ratio)
    sigma = 2.0 * float(ratio / power / (1 - Fraction(1, 1 << 33))) ** 0.5
    spec = plain.model_copy(update={"kernel": plain.kernel.model_copy(update={"sigma": sigma})})
    scale = exponent_scale(spec, WORD_CLASSES[32], Fraction(1))
    mantissa = scale / Fraction(2) ** floor_log2(scale) * 2**30
    assert 2**31 - Fraction(1, 2) < mantissa < 2**31
    assert make_plan(spec).integer("kernel_c") == 2**31 - 1


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**12))
def test_logarithms_are_exact(value):
    low, high, root = floor_log2(value), ceil_log2(value), ceil_log2_sqrt(value)
    assert Fraction(2) ** low <= value < Fraction(2) ** (low + 1)
    assert Fraction(2) ** (high - 1) < value <= Fraction(2) ** high
    assert Fraction(4) ** (root - 1) < value <= Fraction(4) ** root


@pytest.mark.parametrize("power", [-70, -1, 0, 1, 52, 53, 70])
def test_logarithms_are_exact_at_and_near_powers_of_two(power):
    two, little = Fraction(2) ** power, Fraction(2) ** (power - 80)
    assert (floor_log2(two), ceil_log2(two)) == (power, power)
    assert (floor_log2(two - little), ceil_log2(two - little)) == (power - 1, power)
    assert (floor_log2(two + little), ceil_log2(two + little)) == (power, power + 1)
