"""Decisions of the planner: formats, memory, and what it refuses with its place and remedy."""

import numpy as np
import pytest

from kerncast.sim.diagnostics.simulate import alpha_values
from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.counts import evaluate
from kerncast.sim.spec import Spec

TRAINER = {"model": {"name": "probe", "algorithm": "toeplitz_rls"}, "input": {"word": "u8f0"},
           "output": {"word": "s8f0"}, "kernel": {"sigma": 2.0},
           "toeplitz": {"n": 16, "lam": 0.5, "scheme": "uniform"}}
LEARNER = {"model": {"name": "probe", "algorithm": "kernel_lms"}, "input": {"word": "u8f0", "columns": 2},
           "output": {"word": "s8f0"}, "kernel": {"sigma": 50.0}, "online": {"budget": 8, "eta": 0.5}}


def spec(base, **changes) -> Spec:
    """A spec with keys of its tables changed: ``spec(LEARNER, online={"eta": 1.0})``."""
    return Spec(**base | {table: {**base.get(table, {}), **keys} for table, keys in changes.items()})


def refusal(base, **changes):
    with pytest.raises(KerncastError) as caught:
        make_plan(spec(base, **changes))
    (problem,) = caught.value.problems
    assert problem.value
    assert problem.allowed
    assert problem.remedy
    return problem


# ---- what is refused ----
@pytest.mark.parametrize(("base", "changes", "code", "where"), [
    (LEARNER, {"numbers": {"formats": {"alpha": "s32f20"}}}, "E203", "[numbers.formats] alpha"),
    (LEARNER, {"numbers": {"formats": {"alpha": "u16f12"}}}, "E203", "[numbers.formats] alpha"),
    (LEARNER, {"numbers": {"formats": {"alpha": "s16f-5"}}}, "E203", "[numbers.formats] alpha"),
    (LEARNER, {"numbers": {"formats": {"alpha": "s16f40"}}}, "E203", "[numbers.formats] alpha"),
    (LEARNER, {"kernel": {"sigma": 1e-6}}, "E204", "[kernel] sigma"),
    (LEARNER, {"kernel": {"sigma": 1e12}}, "E204", "[kernel] sigma"),
    (LEARNER, {"input": {"gain": [1.0, 1e-6]}}, "E204", "[input] gain"),
    (TRAINER, {"toeplitz": {"n": 300}}, "E204", "[input] word"),
    (TRAINER, {"input": {"word": "s16f0", "offset": -100}, "toeplitz": {"step": 3}}, "E204", "[input] word"),
    (TRAINER, {"toeplitz": {"lam": 1e-9}}, "E205", "[toeplitz] lambda"),
    (TRAINER, {"numbers": {"word": 32}, "toeplitz": {"lam": 1e-9}}, "E205", "[toeplitz] lambda"),
    (LEARNER, {"online": {"budget": 65535}, "input": {"columns": 65535}}, "E206", "[online] budget"),
    (TRAINER, {"toeplitz": {"n": 65535, "lam": 1e6, "scheme": "diagonal_mean"}, "input": {"columns": 32768}},
     "E206", "[toeplitz] n"),
])
def test_what_no_plan_can_hold_is_refused_with_its_place_and_a_remedy(base, changes, code, where):
    problem = refusal(base, **changes)
    assert (problem.code, problem.where) == (code, where)


def test_an_override_that_the_data_exceed_is_refused_with_one_that_would_do():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (300, 2)), np.full(300, 127)
    wide = spec(LEARNER, kernel={"sigma": 5.0}, online={"eta": 1.9})
    assert make_plan(wide, x, y).evidence["alpha"]["seen"] > 1.0
    tight = spec(LEARNER, kernel={"sigma": 5.0}, online={"eta": 1.9},
                 numbers={"formats": {"alpha": "s16f15"}})
    make_plan(tight)  # without data nobody can know
    with pytest.raises(KerncastError) as caught:
        make_plan(tight, x, y)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("E203", "[numbers.formats] alpha")
    better = problem.remedy.split()[1].rstrip(",")
    good = make_plan(spec(LEARNER, kernel={"sigma": 5.0}, online={"eta": 1.9},
                          numbers={"formats": {"alpha": better}}), x, y)
    assert good.signals["alpha"].format == Format.parse(better)


def test_a_problem_found_by_the_planner_is_reported_with_file_and_line(tmp_path):
    path = tmp_path / "probe.toml"
    path.write_text('[model]\nname = "probe"\nalgorithm = "toeplitz_rls"\n[input]\nword = "u8f0"\n[output]\n'
                    'word = "s8f0"\n[kernel]\nsigma = 2.0\n[toeplitz]\nn = 16\nlambda = 1e-9\n'
                    'scheme = "uniform"\n')
    with pytest.raises(KerncastError) as caught:
        make_plan(path)
    assert caught.value.problems[0].where == f"{path}:12 [toeplitz] lambda"


# ---- formats ----
def test_alpha_follows_from_the_design_range_the_data_or_the_spec():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (300, 2)), rng.integers(-128, 128, 300)
    by_design, by_data = make_plan(spec(LEARNER)), make_plan(spec(LEARNER), x, y)
    by_spec = make_plan(spec(LEARNER, numbers={"formats": {"alpha": "s16f11"}}), x, y)
    assert [p.evidence["alpha"]["decided_by"] for p in (by_design, by_data, by_spec)] == \
        ["design", "simulated", "spec"]
    assert str(by_design.signals["alpha"].format) == "s16f13"  # +-4 full scales
    assert str(by_spec.signals["alpha"].format) == "s16f11"
    seen = by_data.evidence["alpha"]["seen"]
    fmt = by_data.signals["alpha"].format
    assert 1.5 * seen <= fmt.value(fmt.hi + 1) < 3.0 * seen


@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_gain_common_to_all_columns_goes_into_sigma(word):
    one = make_plan(spec(LEARNER, numbers={"word": word}))
    two = make_plan(spec(LEARNER, numbers={"word": word}, input={"gain": 0.125}, kernel={"sigma": 50.0 / 8}))
    for plan in (one, two):
        assert plan.integers("x_gain") == (1, 1)
        assert plan.integer("x_shift") == 0
    assert one.integer("kernel_c") == two.integer("kernel_c")
    assert one.integer("kernel_d2_end") == two.integer("kernel_d2_end")


@pytest.mark.parametrize(("lam", "n", "a_exp_max", "alpha_exp_max"), [
    (1.0, 4, 1 + 2, 2 + 3),  # |a| <= sqrt 2, |alpha| <= 2 * 2
    (0.5, 4, 1 + 2, 3 + 3),  # |a| <= sqrt 3, |alpha| <= 2 * 3
    (0.1, 256, 2 + 2, 8 + 3),  # |a| <= 3.32, |alpha| <= 16 * 11
])
def test_exponents_of_the_trainer_follow_from_the_bounds(lam, n, a_exp_max, alpha_exp_max):
    plan = make_plan(spec(TRAINER, toeplitz={"n": n, "lam": lam}))
    assert (plan.integer("a_exp_max"), plan.integer("alpha_exp_max")) == (a_exp_max, alpha_exp_max)


def test_units_state_the_value_of_an_lsb():
    plan = make_plan(spec(LEARNER, input={"word": "u8f4", "offset": [8, 16], "gain": [3.0, 0.5]},
                          output={"gain": 0.25}))
    assert plan.units["x_raw"] == "3/16 1/32"
    assert plan.units["y_raw"] == "1/4"
    assert plan.units["y"] == "1/512"  # 128 * 0.25 is 2**14 words
    state = {"alpha": np.array([1 << 13])}
    assert alpha_values(plan, state).tolist() == [128 * 0.25]


# ---- memory ----
@pytest.mark.parametrize(("word", "columns"), [(16, 1), (16, 7), (32, 1), (32, 6)])
def test_a_learner_stores_n_times_d_plus_4_values_and_a_row(word, columns):
    plan = make_plan(spec(LEARNER, input={"columns": columns, "word": "u12f0"}, numbers={"word": word}))
    n = plan.sizes["N"]
    counts = {f.name: f.count for f in plan.memory}
    assert counts.pop("scratch_row") == n
    assert counts.pop("count") == 1
    counts.pop("reserved", 0)
    assert sum(counts.values()) == n * (columns + 4)
    # In bytes: samples and alpha in words of W bits, a distance in 2 W bits, two indices in 8 bits each.
    size = n * (word // 8 * (columns + 1) + 2 * word // 8 * 2 + 2) + 2
    assert plan.state_bytes == size + -size % 8


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize(("scheme", "columns"), [("uniform", 1), ("diagonal_mean", 3)])
def test_a_model_stores_one_value_per_sample_and_a_trainer_four(word, scheme, columns):
    plan = make_plan(spec(TRAINER, numbers={"word": word}, input={"columns": columns, "word": "u12f0"},
                          toeplitz={"scheme": scheme}))
    kept = 0 if scheme == "uniform" else columns
    stored = 2 if word == 16 else 4
    model = 8 + 16 * (1 + kept) * stored + 2 * 2  # the bound, the arrays, two short scalars
    assert plan.state_bytes == model + -model % 8
    scalars = 7 if scheme == "uniform" else 8  # the last lag is known on the grid
    trainer = 6 * 8 + 16 * (4 + kept) * stored + scalars * 4 + 2 * 2
    assert plan.trainer_bytes == trainer + -trainer % 8


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize(("counts", "offset", "stored"), [
    ("u8f0", 0, "uint8_t"), ("u5f0", 0, "uint8_t"), ("s8f0", 0, "int8_t"), ("u8f0", 128, "int8_t"),
    ("u7f3", [0, 60], "int8_t"), ("u8f0", 100, "int16_t"), ("u9f0", 0, "uint16_t")])
def test_inputs_of_8_bits_are_stored_in_bytes_if_x_fits(
        word, counts, offset, stored):
    made = {base["model"]["algorithm"]: make_plan(spec(base, numbers={"word": word}, input={
        "columns": 2, "word": counts, "offset": offset}, **more))
        for base, more in ((LEARNER, {}), (TRAINER, {"toeplitz": {"scheme": "diagonal_mean"}}))}
    for plan in made.values():
        (centers,) = [f for f in plan.memory if f.name == "centers"]
        assert centers.ctype == (stored if word == 16 or "8" in stored else stored.replace("16", "32"))
        assert plan.signals["x"].format.c_type == centers.ctype


@pytest.mark.parametrize("base", [TRAINER, LEARNER])
def test_formulas_give_the_counts(base):
    plan = make_plan(spec(base))
    sizes = dict(plan.sizes)
    for member in (*plan.memory, *plan.workspace):
        assert evaluate(member.formula, sizes) == member.count
    for counts in plan.operations.values():
        for operation in counts.values():
            assert evaluate(operation.formula, sizes) == operation.count


@pytest.mark.parametrize("word", [16, 24, 32])
def test_tables_need_at_most_3_kb(word):
    assert make_plan(spec(TRAINER, numbers={"word": word})).table_bytes <= 3072
