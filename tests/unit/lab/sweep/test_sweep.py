"""What a sweep varies, measures and concludes, without a run."""

import itertools
import random
import subprocess
import sys

import pytest

from kerncast.lab.sweep import make_settings
from kerncast.lab.sweep.evaluate import Point
from kerncast.lab.sweep.front import binding, cheapest, nearest, pareto, refusals
from kerncast.lab.sweep.measures import OF_CALLS, computed, measured, names, parse_constraint
from kerncast.lab.sweep.space import known_keys, make_space
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.spec.keys import CALLS
from kerncast.sim.window import window

ECG = """
[model]
name = "ecg"
algorithm = "toeplitz_rls"
[input]
word = "u16f0"
[output]
word = "u12f0"
offset = 2048
gain = 0.2
[kernel]
sigma = 3.0
[toeplitz]
n = 32
lambda = 0.1
scheme = "uniform"
[data]
builtin = "ecg"
"""
SWEEP = """
[sweep]
objectives = ["error", "ram"]
constraints = ["error <= float + 1", "ram <= 8 kB"]
[sweep.grid]
numbers.word = [16, 24]
"numbers.casts.f" = ["floor", "half_even"]
kernel.sigma = "1..4/3"
"""


def codes(error):
    return [problem.code for problem in error.value.problems]


def point(key, inputs=None, status="ok", code="", **measures):
    return Point(key, inputs or {}, status, code, measures=measures)


# ---- keys and values ----
def test_the_sweep_table_of_a_spec_equals_the_same_options(tmp_path):
    spec = Spec.from_text(ECG + SWEEP)
    told = make_settings(spec, tmp_path)
    same = make_settings(Spec.from_text(ECG), tmp_path, grid=[
        "numbers.word=16,24", "numbers.casts.f=floor,half_even", "sigma=1..4/3"],
        objectives=["error", "ram"], constraints=["error <= float + 1", "ram <= 8 kB"])
    assert sorted(map(repr, told.space.axes)) == sorted(map(repr, same.space.axes))
    assert told.constraints == same.constraints and told.objectives == same.objectives


def test_sweep_options_replace_keys_of_the_spec(tmp_path):
    spec = Spec.from_text(ECG + SWEEP)
    replaced = make_settings(spec, tmp_path, grid=["kernel.sigma=2.5"]).space
    assert {axis.key: axis.values for axis in replaced.axes}["kernel.sigma"] == (2.5,)
    assert spec.hash == Spec.from_text(ECG).hash  # what is swept is no part of what is built


def test_values_of_a_range_have_equal_ratios_rounded_for_integer_keys():
    axes = make_space(Spec.from_text(ECG), ["toeplitz.lam=0.01..1/3", "n=8..128/5", "sigma=1..4/5"]).axes
    assert {axis.key: axis.values for axis in axes} == {"toeplitz.lambda": (0.01, 0.1, 1.0),
                                                        "toeplitz.n": (8, 16, 32, 64, 128),
                                                        "kernel.sigma": (1.0, 1.41421, 2.0, 2.82843, 4.0)}


def test_every_error_of_an_axis_is_reported_at_once_with_a_similar_key(tmp_path):
    with pytest.raises(KerncastError) as error:
        make_settings(Spec.from_text(ECG), tmp_path, grid=[
            "NMBERS.word=16", "kernel.sgma=1", "online.budget=8", "numbers.word=16,17", "kernel.sigma=-1",
            "word=16", "numbers.rounding=up", "step", "n=9..2/4"],
            objectives=["eror"], constraints=["rom <= 3", "ram < 3", "ram <= float"])
    assert codes(error) == ["E360", "E103", "E103", "E103", "E103", "E109", "E108", "E109", "E360",
                            "E362", "E362", "E363", "E363"]
    told = str(error.value)
    for remedy in ("did you mean numbers.word?", "did you mean sigma?", "it is only for algorithm kernel_lms",
                   "name its table: input.word or output.word or numbers.word", "did you mean error?"):
        assert remedy in told


def test_errors_in_the_spec_are_reported_with_their_line(tmp_path):
    with pytest.raises(KerncastError) as error:
        make_settings(Spec.from_text(ECG + SWEEP.replace("word = [16, 24]", "wrd = [16, 24]")), tmp_path)
    assert codes(error) == ["E103"]
    assert error.value.problems[0].where == "kerncast.toml:24 [sweep.grid.numbers] wrd"


def test_without_keys_or_without_data_nothing_is_swept(tmp_path):
    bare = Spec.from_text(ECG.split("[data]")[0])
    with pytest.raises(KerncastError) as error:
        make_settings(bare, tmp_path)
    assert codes(error) == ["E361", "E240"]


def test_a_grid_too_large_to_try_requires_a_search(tmp_path):
    grid = ["sigma=1.0..9.0/2000", "toeplitz.lam=0.01..1/2000"]
    with pytest.raises(KerncastError) as error:
        make_settings(Spec.from_text(ECG), tmp_path, grid=grid)
    assert codes(error) == ["E368"]
    assert make_settings(Spec.from_text(ECG), tmp_path, grid=grid, trials=10).searches


def test_every_key_of_the_spec_can_be_swept():
    spec = Spec.from_text(ECG)
    values = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    for key in known_keys(spec):
        table, name = key.split(".")
        value = values[table].get(name)
        if isinstance(value, (int, float, str)):
            space = make_space(spec, [f"{key}={str(value).lower() if isinstance(value, bool) else value}"])
            assert space.spec(space.point(0)) == spec


# ---- measures ----
@pytest.mark.parametrize(("text", "number", "above"), [
    ("ram <= 8 kB", 8000, False), ("ram <= 8 KiB", 8192, False), ("ram<=600", 600, False),
    ("error <= float", 0, True), ("error <= float + 1", 1, True), ("error <= float + 1 point", 1, True),
    ("rms <= float - 0.5", -0.5, True), ("energy.predict <= 2 uJ", 2000, False),
    ("error <= 1e-1 %", 0.1, False)])
def test_a_limit_is_read_with_its_unit(text, number, above):
    problems = []
    found = parse_constraint(text, "toeplitz_rls", "", problems)
    assert not problems and (found.number, found.above_float, found.most) == (number, above, True)


@pytest.mark.parametrize("text", ["ram", "ram <= ", "ram = 3", "ram <= 3 apples", "error <= float 3",
                                  "error <= + 3", "8 kB", "", "error <= 1 kB", "ram <= 8 %", "rms <= 3 %",
                                  "energy <= 2 B", "operations <= 9 nJ", "error <= float + 1 B"])
def test_an_invalid_limit_is_refused(text):
    problems = []
    assert parse_constraint(text, "toeplitz_rls", "", problems) is None
    assert [p.code for p in problems] == ["E363"]


def test_what_is_computed_is_what_the_plan_states():
    plan = make_plan(Spec.from_text(ECG))
    found = computed(plan)
    assert found["ram"] == plan.ram_bytes and found["flash"] == plan.table_bytes
    predict = {what: operation.count for what, operation in plan.operations["predict"].items()}
    # Per vector in the window: a kernel value of three multiplications, a distance of one, a product.
    vectors = window(plan).vectors
    assert predict == {"kernel_values": vectors, "distance_terms": vectors, "multiplications": vectors}
    assert found["operations.predict"] == vectors * (3 + 1 + 1)
    assert found["operations"] == found["operations.train"]
    assert {*found} == {name for name in names("toeplitz_rls") if not measured(name)}


def test_the_measure_called_instructions_in_0_1_is_accepted_with_a_note():
    spec = Spec.from_text(ECG + '[sweep]\nobjectives = ["error", "instructions.predict"]\n'
                          'constraints = ["instructions <= 9000"]\n[sweep.grid]\n"numbers.word" = [16, 24]\n')
    settings = make_settings(spec, ".")
    assert settings.objectives == ("error", "operations.predict")
    assert [c.name for c in settings.constraints] == ["operations"]
    (note,) = settings.notes
    assert "now called operations" in note
    assert not make_settings(spec, ".", objectives=["ram"], constraints=["ram <= 8 kB"]).notes


# ---- what the points say ----
def test_the_front_is_that_of_a_comparison_of_all_pairs():
    source = random.Random(3)
    points = [point(f"{i:03}", a=source.randrange(12), b=source.randrange(12), c=source.randrange(12))
              for i in range(150)]
    points += [point("none", status="not_positive_definite", a=0, b=0, c=0), point("half", a=0, b=0)]
    for objectives in (("a",), ("a", "b"), ("a", "b", "c")):
        def beats(p, q, objectives=objectives):
            pairs = [(p.measures[o], q.measures[o]) for o in objectives]
            return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)
        known = [p for p in points if p.answers and {*objectives} <= {*p.measures}]
        expected = {q.key for q in known if not any(beats(p, q) for p in known)}
        for order in itertools.islice(itertools.permutations([0, 1, 2]), 2):
            shuffled = sorted(points, key=lambda p, order=order: (hash(p.key) % 7, order, p.key))
            assert {p.key for p in pareto(shuffled, objectives)} == expected


def limits(*texts):
    return [parse_constraint(text, "toeplitz_rls", "", []) for text in texts]


def test_the_cheapest_design_is_the_least_ram_within_the_limits():
    points = [point("a", error=2.0, ram=100), point("b", error=1.0, ram=200), point("c", error=1.2, ram=200),
              point("d", error=5.0, ram=10), point("e", code="E205", status="refused")]
    assert cheapest(points, limits("error <= float + 1"), {"error": 1.1}, ("error", "ram")).key == "a"
    assert cheapest(points, limits("error <= 1.5"), {}, ("error", "ram")).key == "b"
    assert cheapest(points, limits("error <= 0.5"), {}, ("error", "ram")) is None
    assert refusals(points) == {"E205": 1}


def test_of_an_empty_set_each_limit_states_how_far_the_others_miss_it():
    points = [point("a", error=2.0, ram=100), point("b", error=1.0, ram=200), point("c", error=9.0, ram=50)]
    found = binding(points, both := limits("error <= 1.5", "ram <= 150 B"), {})
    assert [(b.point.key, b.by) for b in found] == [("a", 0.5), ("b", 50.0)]
    assert nearest(points, both, {}).key == "a"  # both miss by a third; the first of them


# ---- the front door ----
def test_help_and_check_load_nothing_heavy(tmp_path):
    (tmp_path / "ecg.toml").write_text(ECG)
    heavy = {"numba", "scipy", "optuna", "joblib", "distributed", "matplotlib"}
    for arguments in (["sweep", "--help"], ["check", str(tmp_path / "ecg.toml")]):
        code = (f"import sys\nfrom kerncast.cli.main import app\ntry:\n    app({arguments!r})\n"
                f"except SystemExit:\n    sys.stderr.write(' '.join({heavy!r} & {{*sys.modules}}))")
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stderr.split() == []


def test_every_call_has_its_measures():
    for algorithm, calls in CALLS.items():
        assert {f"{name}.{call}" for name in OF_CALLS for call in calls} <= {*names(algorithm)}
