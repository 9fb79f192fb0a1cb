"""The spec: what is accepted, what is refused, and how well that is said."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.spec import Spec

TOEPLITZ = """\
[model]
name = "ecg"
algorithm = "toeplitz_rls"
[input]
word = "u16f0"
columns = 1
[output]
word = "s12f0"
[kernel]
sigma = 2.0
[toeplitz]
n = 256
lambda = 0.1
scheme = "uniform"
[data]
builtin = "ecg"
"""

ONLINE = """\
[model]
name = "digits"
algorithm = "kernel_lms"
[input]
word = "u5f0"
columns = 64
[output]
word = "s2f0"
[kernel]
sigma = 12.0
[online]
budget = 41
eta = 0.5
[numbers]
word = 16
[data]
builtin = "digits"
"""


def problems(text, name="kerncast.toml"):
    with pytest.raises(KerncastError) as caught:
        Spec.from_text(text, name)
    assert caught.value.exit_code == 2
    return caught.value.problems


def only_problem(text):
    found = problems(text)
    assert len(found) == 1, [str(p) for p in found]
    return found[0]


def test_a_valid_spec_has_what_was_written_and_the_defaults():
    spec = Spec.from_text(TOEPLITZ)
    assert (spec.model.name, spec.toeplitz.n, spec.toeplitz.lam, spec.toeplitz.step) == ("ecg", 256, 0.1, 1)
    assert spec.online is None
    assert (spec.numbers.word, spec.numbers.rounding, dict(spec.numbers.formats)) == (16, "half_up", {})
    assert spec.target.id == "cortex-m4"
    assert (spec.input.offsets, spec.input.gains) == ((0,), (1.0,))


def test_offset_and_gain_are_one_number_for_all_columns_or_one_each():
    one = Spec.from_text(ONLINE.replace("columns = 64", "columns = 64\noffset = 3\ngain = 2"))
    assert one.input.offsets == (3,) * 64
    assert one.input.gains == (2.0,) * 64
    each = Spec.from_text(ONLINE.replace("columns = 64", "columns = 2\noffset = [1, 2]\ngain = [1, 0.5]")
                          .replace("builtin = \"digits\"", "file = \"train.csv\""))
    assert each.input.offsets == (1, 2)
    assert each.input.gains == (1.0, 0.5)


EVERY_MISTAKE = """\
[modle]
x = 1
[model]
name = "int"
algorithm = "toeplitz_rls"
colour = "red"
sigma = 2
[input]
word = "u40f0"
columns = 2
offset = [1,
          2, 3]
gain = [1, "a"]
[output]
word = 12
gain = -1
[kernel]
sgima = 2.0
sigma = 0
[toeplitz]
n = "256"
lambda = -0.1
scheme = "uniform"
step = 0
[online]
budget = 1
eta = 2.0
rho = nan
[numbers]
word = 20
[numbers.formats]
alpha = "s16"
[target]
id = "no such"
[data]
builtin = "ecg"
file = "x.csv"
"""


def test_every_error_of_a_spec_is_reported_in_one_run_with_its_line():
    found = [(p.code, p.where.removeprefix("bad.toml:")) for p in problems(EVERY_MISTAKE, "bad.toml")]
    assert found == [
        ("E104", "1 [modle]"),
        ("E110", "4 [model] name"),
        ("E103", "6 [model] colour"),
        ("E103", "7 [model] sigma"),
        ("E201", "9 [input] word"),
        ("E113", "10 [input] columns"),
        ("E115", "10 [input] columns"),
        ("E112", "11 [input] offset"),
        ("E107", "13 [input] gain"),
        ("E107", "15 [output] word"),
        ("E108", "16 [output] gain"),
        ("E103", "18 [kernel] sgima"),
        ("E108", "19 [kernel] sigma"),
        ("E107", "21 [toeplitz] n"),
        ("E108", "22 [toeplitz] lambda"),
        ("E108", "24 [toeplitz] step"),
        ("E111", "25 [online]"),
        ("E108", "26 [online] budget"),
        ("E108", "27 [online] eta"),
        ("E108", "28 [online] rho"),
        ("E109", "30 [numbers] word"),
        ("E201", "32 [numbers.formats] alpha"),
        ("E114", "32 [numbers.formats] alpha"),
        ("E108", "34 [target] id"),
        ("E116", "35 [data]"),
    ]


def test_every_problem_states_what_is_allowed_and_a_remedy():
    for problem in problems(EVERY_MISTAKE):
        assert problem.message
        assert problem.allowed
        assert problem.remedy
        assert problem.value or problem.code in ("E111", "E116")


@pytest.mark.parametrize(("old", "new", "code", "where", "value"), [
    ("lambda = 0.1", "lambda = 0", "E108", "13 [toeplitz] lambda", "0"),
    ("lambda = 0.1", "lambda = -1.5", "E108", "13 [toeplitz] lambda", "-1.5"),
    ("lambda = 0.1", "lambda = inf", "E108", "13 [toeplitz] lambda", "Infinity"),
    ("lambda = 0.1\n", "", "E106", "11 [toeplitz] lambda", ""),
    ("lambda = 0.1", "lambda = true", "E107", "13 [toeplitz] lambda", "true"),
    ("sigma = 2.0", "sigma = 0.0", "E108", "10 [kernel] sigma", "0.0"),
    ("sigma = 2.0", "sigma = nan", "E108", "10 [kernel] sigma", "NaN"),
    ("sigma = 2.0", "sigma = \"2\"", "E107", "10 [kernel] sigma", "\"2\""),
    ("n = 256", "n = 1", "E108", "12 [toeplitz] n", "1"),
    ("n = 256", "n = 2.5", "E107", "12 [toeplitz] n", "2.5"),
    ("n = 256", "n = 256\nn_max = 3", "E103", "13 [toeplitz] n_max", "n_max"),
    ("\"uniform\"", "\"unifrom\"", "E109", "14 [toeplitz] scheme", "\"unifrom\""),
    ("\"uniform\"", "\"uniform\"\nstep = 0", "E108", "15 [toeplitz] step", "0"),
    ("\"u16f0\"", "\"u16\"", "E201", "5 [input] word", "\"u16\""),
    ("\"u16f0\"", "\"u33f0\"", "E201", "5 [input] word", "\"u33f0\""),
    ("\"u16f0\"", "16", "E107", "5 [input] word", "16"),
    ("columns = 1", "columns = 0", "E108", "6 [input] columns", "0"),
    ("columns = 1", "offset = 1.5", "E107", "6 [input] offset", "1.5"),
    ("columns = 1", "offset = -1", "E108", "6 [input] offset", "-1"),
    ("columns = 1", "offset = [0, 0]", "E112", "6 [input] offset", "[0, 0]"),
    ("columns = 1", "offset = []", "E107", "6 [input] offset", "[]"),
    ("columns = 1", "gain = 0", "E108", "6 [input] gain", "0"),
    ("columns = 1", "gain = [1.0, 1.0]", "E112", "6 [input] gain", "[1.0, 1.0]"),
    ("\"s12f0\"", "\"s12f0\"\noffset = 2048", "E108", "9 [output] offset", "2048"),
    ("\"ecg\"\nalg", "\"Ecg\"\nalg", "E110", "2 [model] name", "\"Ecg\""),
    ("\"ecg\"\nalg", "\"e cg\"\nalg", "E110", "2 [model] name", "\"e cg\""),
    ("\"ecg\"\nalg", "\"while\"\nalg", "E110", "2 [model] name", "\"while\""),
    ("\"ecg\"\nalg", "\"math\"\nalg", "E110", "2 [model] name", "\"math\""),
    ("\"ecg\"\nalg", "\"core_cm4\"\nalg", "E110", "2 [model] name", "\"core_cm4\""),
    ("\"ecg\"\nalg", "\"cmsis_gcc\"\nalg", "E110", "2 [model] name", "\"cmsis_gcc\""),
    ("\"ecg\"\nalg", "\"arm_math\"\nalg", "E110", "2 [model] name", "\"arm_math\""),
    ("\"ecg\"\nalg", "\"e__cg\"\nalg", "E110", "2 [model] name", "\"e__cg\""),
    ("\"toeplitz_rls\"", "\"rls\"", "E109", "3 [model] algorithm", "\"rls\""),
    ("[kernel]\nsigma = 2.0\n", "", "E105", "14 [kernel]", ""),
    ("[toeplitz]\nn = 256\nlambda = 0.1\nscheme = \"uniform\"\n", "", "E105", "12 [toeplitz]", ""),
    ("builtin = \"ecg\"", "", "E116", "15 [data]", "{}"),
    ("builtin = \"ecg\"", "builtin = \"ecg\"\nfile = \"a.csv\"", "E116", "15 [data]", ""),
    ("builtin = \"ecg\"", "builtin = \"ecg\"\ntest = \"a.csv\"", "E116", "17 [data] test", "\"a.csv\""),
    ("builtin = \"ecg\"", "builtin = \"eeg\"", "E109", "16 [data] builtin", "\"eeg\""),
    ("builtin = \"ecg\"", "file = 3", "E107", "16 [data] file", "3"),
    ("n = 256", "n = 1025", "E115", "12 [toeplitz] n", "1025"),
    ("[data]", "[numbers.formats]\nr = \"s16f15\"\n[data]", "E114", "16 [numbers.formats] r", "\"s16f15\""),
    ("[data]", "[extras]\n[data]", "E104", "15 [extras]", "extras"),
    ("[model]", "top = 1\n[model]", "E104", "1 top", "top"),
])
def test_an_error_is_reported_with_line_key_value_and_code(old, new, code, where, value):
    assert TOEPLITZ.count(old) == 1
    problem = only_problem(TOEPLITZ.replace(old, new))
    assert (problem.code, problem.where, problem.value) == (code, f"kerncast.toml:{where}",
                                                            "" if value == "{}" else value)
    assert problem.allowed
    assert problem.remedy


@pytest.mark.parametrize(("old", "new", "code", "where"), [
    ("budget = 41", "budget = 1", "E108", "12 [online] budget"),
    ("eta = 0.5", "eta = 0", "E108", "13 [online] eta"),
    ("eta = 0.5", "eta = 2", "E108", "13 [online] eta"),
    ("eta = 0.5", "eta = 0.5\nrho = -0.1", "E108", "14 [online] rho"),
    ("eta = 0.5", "eta = 0.5\nrho = 1.1", "E113", "14 [online] rho"),
    ("eta = 0.5", "eta = 0.5\nreduction = \"none\"", "E109", "14 [online] reduction"),
    ("eta = 0.5", "eta = 0.5\npasses = 0", "E108", "14 [online] passes"),
    ("word = 16", "word = 8", "E109", "15 [numbers] word"),
    ("word = 16", "word = 16\nrounding = \"up\"", "E109", "16 [numbers] rounding"),
    ("word = 16", "word = 16\nformats = {alhpa = \"s16f12\"}", "E114", "16 [numbers.formats] alhpa"),
    ("word = 16", "word = 16\nformats = {alpha = 12}", "E107", "16 [numbers.formats] alpha"),
    ("columns = 64", "columns = 63", "E115", "6 [input] columns"),
    ("\"u5f0\"", "\"u4f0\"", "E115", "5 [input] word"),
    ("\"s2f0\"", "\"u2f0\"", "E115", "8 [output] word"),
    ("[online]", "[toeplitz]\nn = 2\nlambda = 1.0\nscheme = \"diagonal_mean\"\n[online]", "E111",
     "11 [toeplitz]"),
])
def test_an_error_in_an_online_spec_is_reported_with_line_and_code(old, new, code, where):
    assert ONLINE.count(old) == 1
    problem = only_problem(ONLINE.replace(old, new))
    assert (problem.code, problem.where) == (code, f"kerncast.toml:{where}")


def test_the_other_algorithms_table_is_named_beside_the_missing_one():
    swapped = TOEPLITZ.replace("\"toeplitz_rls\"", "\"kernel_lms\"")
    assert [(p.code, p.where) for p in problems(swapped)] == [
        ("E111", "kerncast.toml:11 [toeplitz]"), ("E105", "kerncast.toml:16 [online]")]


def test_uniform_sampling_accepts_one_column_and_other_schemes_no_step():
    wide = TOEPLITZ.replace("columns = 1", "columns = 3").replace("builtin = \"ecg\"", "file = \"a.csv\"")
    assert only_problem(wide).code == "E113"
    stepped = wide.replace("\"uniform\"", "\"diagonal_mean\"\nstep = 1")
    assert only_problem(stepped).where == "kerncast.toml:15 [toeplitz] step"


@pytest.mark.parametrize(("wrong", "remedy"), [
    ("sgima = 2.0", "did you mean sigma?"), ("SIGMA = 2.0", "did you mean sigma?"),
    ("lambda = 2.0", "move it to [toeplitz]"), ("zzz = 2.0", "remove it from [kernel]")])
def test_an_unknown_key_is_answered_with_the_most_similar_one(wrong, remedy):
    assert only_problem(TOEPLITZ.replace("sigma = 2.0", f"sigma = 2.0\n{wrong}")).remedy == remedy


def test_a_key_of_another_algorithm_is_not_sent_to_its_table():
    cg = TOEPLITZ.replace("toeplitz_rls", "kernel_cg").replace("[toeplitz]", "[cg]")
    problem = only_problem(cg.replace("scheme = \"uniform\"", "bias = true").replace("n = 256", "n = 250"))
    assert (problem.code, problem.remedy) == ("E103", "remove bias, which is only for algorithm toeplitz_rls")


def test_the_python_name_of_lambda_is_not_a_key_of_the_file():
    problem = problems(TOEPLITZ.replace("lambda", "lam"))[-1]
    assert (problem.code, problem.remedy) == ("E103", "did you mean lambda?")


def test_a_key_outside_all_tables_is_sent_to_its_table():
    assert only_problem("n = 3\n" + TOEPLITZ).remedy == "write it below the line [toeplitz]"


@pytest.mark.parametrize(("text", "line"), [
    ("[model\nname = 1\n", 1), ("[model]\nname = ecg\n", 2), ("[model]\n\nname = \"a\"\nname = \"b\"\n", 4),
    ("[model]\nname = \"a\n", 2), ("[a]\n[a]\n", 2), ("[model]\nlist = [1,\n2\n\n", 3),
    ("x = " + "[" * 5000, 1), ("x = " + "9" * 5000, 1)])
def test_text_that_is_not_toml_is_refused_with_its_line(text, line):
    problem = only_problem(text)
    assert (problem.code, problem.where) == ("E102", f"kerncast.toml:{line}")


def test_a_value_in_place_of_a_table_is_refused():
    found = problems("model = 3\n[[input]]\nword = \"u16f0\"\n")
    assert [(p.code, p.where) for p in found if p.code == "E107"] == [
        ("E107", "kerncast.toml:1 [model]"), ("E107", "kerncast.toml:2 [input]")]


def test_an_empty_file_lacks_every_required_table():
    assert [p.code for p in problems("")] == ["E105"] * 4 + ["E111"]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", None])
def test_a_file_that_cannot_be_read_is_refused_with_its_path(tmp_path, content):
    path = tmp_path / "spec.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KerncastError) as caught:
        Spec.load(path)
    assert [(p.code, p.where) for p in caught.value.problems] == [("E101", str(path))]


def test_line_ends_and_byte_order_mark_of_windows_are_read(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOEPLITZ.replace("\n", "\r\n").encode())
    assert Spec.load(path) == Spec.from_text(TOEPLITZ)


# ---- from Python ---------------------------------------------------------------------------------------
def python_spec(**changes):
    tables = {"model": {"name": "ecg", "algorithm": "toeplitz_rls"}, "input": {"word": "u16f0"},
              "output": {"word": "s12f0"}, "kernel": {"sigma": 2.0},
              "toeplitz": {"n": 256, "lam": 0.1, "scheme": "uniform"}, "data": {"builtin": "ecg"}}
    return Spec(**tables | changes)


def test_a_spec_made_in_python_equals_the_one_read_from_a_file():
    assert python_spec() == Spec.from_text(TOEPLITZ)
    assert python_spec(toeplitz={"n": np.int64(256), "lambda": np.float64(0.1), "scheme": "uniform"}) \
        == python_spec()
    assert Spec(**{name: getattr(python_spec(), name) for name in Spec.model_fields}) == python_spec()
    arrays = python_spec(input={"word": "u16f0", "offset": np.array([0]), "gain": np.array([1.0])})
    assert (arrays.input.offsets, arrays.input.gains) == ((0,), (1.0,))


def test_every_error_of_a_spec_made_in_python_is_reported_with_its_key():
    with pytest.raises(KerncastError) as caught:
        python_spec(kernel={"sigma": 0}, toeplitz={"n": 1, "lam": -1, "scheme": "uniform"}, colour={})
    assert [(p.code, p.where) for p in caught.value.problems] == [
        ("E108", "[kernel] sigma"), ("E108", "[toeplitz] n"), ("E108", "[toeplitz] lambda"),
        ("E104", "[colour]")]


def test_a_spec_cannot_be_changed():
    spec = python_spec()
    with pytest.raises(ValueError, match="frozen"):
        spec.toeplitz.n = 3
    with pytest.raises(ValueError, match="frozen"):
        spec.online = None


def test_a_spec_survives_pickling_and_copying():
    spec = Spec.from_text(TOEPLITZ)
    assert pickle.loads(pickle.dumps(spec)) == spec == copy.deepcopy(spec)
    each = python_spec(input={"word": "u16f0", "offset": [1], "gain": [2.0]})
    with warnings.catch_warnings(action="error"):
        assert Spec(**each.model_dump()) == each == pickle.loads(pickle.dumps(each))
        assert each.model_dump(mode="json")["input"]["offset"] == [1]
    assert len({spec, python_spec()}) == 1


# ---- the hash ------------------------------------------------------------------------------------------
def test_the_hash_does_not_depend_on_order_comments_or_written_defaults():
    first, *rest = TOEPLITZ.replace("lambda = 0.1", "step = 1  # default\nlambda = 1e-1").split("\n[")
    reordered = "\n[".join(["# a comment", *reversed(rest)]) + "\n" + first
    assert Spec.from_text(reordered).hash == Spec.from_text(TOEPLITZ).hash


def test_the_hash_is_pinned():
    # A change of this figure means that every stored hash of a spec is void: raise the ABI then.
    assert Spec.from_text(TOEPLITZ).hash == \
        "d4fff94c853cc3ceea9cd1b714416edbcc7720e5b535a442f72419624ef42b7d"


@pytest.mark.parametrize(("old", "new"), [
    ("\"ecg\"\nalg", "\"ekg\"\nalg"), ("u16f0", "u15f0"), ("s12f0", "s13f0"), ("2.0", "2.5"), ("256", "255"),
    ("0.1", "0.2"), ("[data]\nbuiltin = \"ecg\"", ""), ("[data]", "[numbers]\nword = 32\n[data]"),
    ("[data]", "[target]\nid = \"cortex-m3\"\n[data]")])
def test_the_hash_depends_on_every_value(old, new):
    assert Spec.from_text(TOEPLITZ.replace(old, new)).hash != Spec.from_text(TOEPLITZ).hash


def test_an_error_of_the_planner_gets_the_line_of_its_key():
    spec = Spec.from_text(TOEPLITZ, "ecg.toml")
    error = KerncastError([])
    error.problems = tuple(type(p)(p.code, p.message, "[toeplitz] lambda")
                           for p in problems(TOEPLITZ.replace("0.1", "0")))
    assert spec.located(error).problems[0].where == "ecg.toml:13 [toeplitz] lambda"
    assert python_spec().located(error).problems[0].where == "[toeplitz] lambda"
