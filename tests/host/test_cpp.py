"""The C++ wrapper: clean in both compilers, and its values are those of the C calls and of the vectors."""

import re
import subprocess

import numpy as np
import pytest

from kerncast.codegen.generate import generate
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.replay.vectors import make_vectors

from . import test_class_learner as learners
from . import test_class_trainer as trainers
from . import test_classes as predictors
from . import test_delay_channels as channels
from . import test_delay_line as lines
from .conftest import CASES
from .test_one_program import HOSTILE, plan_of

COMPILERS = ("g++", "clang++")
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wold-style-cast", "-Wconversion", "-Wshadow",
         "-Wsign-conversion", "-fno-exceptions", "-fno-rtti", "-Werror", "-I.")
TRAINED = ("grid16", "mean16_bias", "cg16", "lookahead16", "fklms16_f32", "lms16", "band24_outputs_bias",
           "lms16_bounded", "band16_lambda_range", "band32_lambda_range")
JOINT = ("three16", "two16", "outputs16")
LEARNT = ("quantised24", "outputs16", "two16", "linear16")
PREDICTED = ("argmax16", "votes16", "sign32", "outputs32")

HEAD = """
#include <cstdio>
#include <cstring>
#include <utility>
#include "{p}.hpp"
namespace w = kerncast::{p};
static unsigned long words, mismatches;
static void same(const char *what, std::size_t at, long long wrapper, long long plain, long long expected)
{{
    words++;
    if (wrapper != plain || plain != expected) {{
        if (mismatches++ == 0) {{
            std::printf("%s[%zu]: wrapper %lld, C %lld, expected %lld\\n", what, at, wrapper, plain,
                expected);
        }}
    }}
}}
template <typename Item, std::size_t Count> static w::View<const Item, Count> part(const Item *from)
{{
    return w::View<const Item, Count>::from(from);
}}
template <typename Value> static const Value *values(const Value &one) {{ return &one; }}
template <typename Value, std::size_t Count> static const Value *values(const std::array<Value, Count> &all)
{{
    return all.data();
}}
"""


def folder_of(plan, vectors, place):
    generate(plan, place, vectors=vectors, packages=("cpp",))
    return place


def array(ctype, name, values):
    text = ", ".join(str(int(v)) if v > -(1 << 31) else "-2147483647 - 1" for v in np.ravel(values))
    return f"static const {ctype} {name}[] = {{{text}}};\n"


def arrays(plan, i, call):
    """The samples and the expected values of a call."""
    p, text = plan.name, ""
    if call.x_raw is not None:
        text += array(f"{p}_in_t", f"x{i}", call.x_raw)
    if call.y_raw is not None:
        text += array(f"{p}_target_t", f"y{i}", call.y_raw)
    return text + "".join(array("int64_t", f"{name}{i}", v) for name, v in call.expected.items()
                          if call.name == "predict" or name in ("status", "f"))


def training(plan, i):
    """A training at once by C; by the wrapper at once if `i` is even, else in slices."""
    p = plan.name
    x, args = ("", "") if plan.uniform else (f"x{i}, ", f"part<w::In, w::samples * w::inputs>(x{i}), ")
    sample = "" if plan.uniform else f"part<w::In, w::inputs>(x{i} + k * w::inputs), "
    y, many = (f"y{i}[k]", "") if plan.targets == 1 else (
        f"part<w::Target, w::outputs>(y{i} + k * w::outputs)", " * w::outputs")
    set_lambda = f"""
            const kc_status_t beyond = t.set_lambda({p.upper()}_LAMBDA_HI + 1u);
            same("lambda beyond the range", 0, beyond, KC_BAD_ARGUMENT, KC_BAD_ARGUMENT);
            found = t.set_lambda({plan.integer("lambda_word")}u);""" if plan.ranged else ""
    return f"""
    {{
        const kc_status_t plain = {p}_train(&trainer, &model, {x}y{i});
        kc_status_t found = KC_OK;
        if ({i} % 2 == 0) {{
            found = cpp_trainer.train(cpp_model, {args}part<w::Target, w::samples{many}>(y{i}));
        }} else {{
            w::Training t(cpp_trainer);
            found = t.begun();{set_lambda}
            for (std::size_t k = 0; k < w::samples && found == KC_OK; k++) {{
                found = t.push({sample}{y});
            }}
            while (found == KC_OK && (found = t.run(7)) == KC_PENDING) {{
                found = KC_OK;
            }}
            found = found == KC_OK ? t.commit(cpp_model) : found;
        }}
        same("train", 0, found, plain, status{i}[0]);
    }}"""


def sampled(plan, i, call):
    """Updates or predictions, one sample at a time."""
    p, many, fixed = plan.name, "C" in plan.sizes or bool(plan.decision), plan.fixed
    m, f = "" if fixed else "&model, ", "plain_f"
    predict = "w::predict" if fixed else "std::as_const(cpp_model).predict"
    if call.name == "update":
        y = f"y{i}[k]" if plan.targets == 1 else f"part<w::Target, w::outputs>(y{i} + k * w::outputs)"
        y_c = f"y{i}[k]" if plan.targets == 1 else f"y{i} + k * w::outputs"
        calls = f"cpp_model.update(x, {y})"
        if plan.bounded_update:
            calls = f"k % 2 == 0 ? {calls} : cpp_model.update_begin(x, {y})"
        both = (calls, f"{p}_{plan.update_name}(&model, x.data(), {y_c}, {f})")
    else:
        both = (f"{predict}(x)", f"{p}_model_predict({m}x.data(), {f})")
    searches = """
        while (cpp_model.update_run(1) == KC_PENDING) {
        }""" if call.name == "update" and plan.bounded_update else ""
    text = f"""
    for (std::size_t k = 0; k < {len(call.x_raw)}; k++) {{
        const auto x = part<w::In, w::inputs>(x{i} + k * w::inputs);
        w::Out plain_f[w::outputs] = {{}};
        const w::Prediction found = {both[0]};
        const kc_status_t plain = {both[1]};{searches}
        same("{call.name} status", k, found.status, plain, status{i}[k]);
        for (std::size_t o = 0; o < w::outputs; o++) {{
            same("{call.name} f", k, values(found.f)[o], plain_f[o], f{i}[k * w::outputs + o]);
        }}"""
    if "label" in call.expected and call.name == "predict" and many:
        classify = "w::classify" if fixed else "cpp_model.classify"
        text += f"""
        const w::Classification c = {classify}(x);
        std::uint8_t label = 0;
        w::Out margin = 0;
        const kc_status_t said = {p}_model_classify({m}x.data(), &label, &margin);
        same("class status", k, c.status, said, plain);
        if (c.usable()) {{
            same("label", k, c.label, label, label{i}[k]);
            same("margin", k, c.margin, margin, margin{i}[k]);
        }}"""
    return text + "\n    }"


def driver(plan, vectors):
    """A program that makes each call by the wrapper and by C, and compares both with the vectors."""
    p, text = plan.name, HEAD.format(p=plan.name)
    text += "".join(arrays(plan, i, call) for i, call in enumerate(vectors.calls))
    if not plan.fixed:
        text += f"static {p}_model_t model;\nstatic w::Model cpp_model;\n"
    if plan.trains:
        text += f"static {p}_trainer_t trainer;\nstatic w::Trainer cpp_trainer;\n"
    text += "int main()\n{\n" + ("" if plan.fixed else f"    {p}_model_init(&model);\n")
    for i, call in enumerate(vectors.calls):
        text += training(plan, i) if call.name == "train" else sampled(plan, i, call)
    if not plan.fixed:
        text += '\n    same("model", 0, std::memcmp(&model, &cpp_model.c(), sizeof model), 0, 0);'
    text += '\n    std::printf("%lu words, %lu mismatches\\n", words, mismatches);'
    return text + "\n    return mismatches != 0;\n}\n"


def compiled(folder, compiler, text):
    """Compile the C and a C++ program; return the program."""
    (folder / "driver.cpp").write_text(text)
    sources = sorted(path.name for path in folder.glob("*.c"))
    cc = {"g++": "gcc", "clang++": "clang"}[compiler]
    for command in ([cc, "-std=c99", "-O1", "-ffp-contract=off", "-I.", "-c", *sources],
                    [compiler, *FLAGS, "-O1", "-c", "driver.cpp"],
                    [compiler, *(name[:-1] + "o" for name in sources), "driver.o", "-o", "driver"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
    return folder / "driver"


def compared(plan, vectors, compiler, place, ledger, require_tool):
    require_tool(compiler, "sudo apt-get install -y g++ clang")
    program = compiled(folder_of(plan, vectors, place), compiler, driver(plan, vectors))
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    found = re.search(r"(\d+) words, 0 mismatches", done.stdout)
    assert found and done.returncode == 0, done.stdout
    ledger.record(backend=f"package:cpp:{compiler}", words=int(found.group(1)), case=plan.name)


@pytest.mark.covering
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", TRAINED)
def test_the_wrapper_gives_the_values_of_the_c_calls(cases, name, compiler, tmp_path, ledger, require_tool):
    compared(cases(name).plan, cases(name).vectors, compiler, tmp_path, ledger, require_tool)


@pytest.mark.covering
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", JOINT)
def test_the_wrapper_of_a_trainer_with_outputs_gives_the_values_of_c(
        name, compiler, tmp_path, ledger, require_tool):
    (x, y), model = trainers.samples_of(name), open_model(trainers.plan_of(name))
    vectors = make_vectors(model, [("train", x, y), ("train", x[::-1], y[::-1]), ("predict", x, None)])
    compared(model.plan, vectors, compiler, tmp_path, ledger, require_tool)


@pytest.mark.covering
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", LEARNT)
def test_the_wrapper_of_a_learner_with_outputs_gives_the_values_of_c(
        name, compiler, tmp_path, ledger, require_tool):
    plan, (x, y) = learners.plan_of(name), learners.samples_of(name)
    vectors = make_vectors(open_model(plan), [("update", x, y), ("predict", x[:20], None)])
    compared(plan, vectors, compiler, tmp_path, ledger, require_tool)


@pytest.mark.covering
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", PREDICTED)
def test_the_wrapper_of_a_constant_model_gives_the_values_of_c(
        name, compiler, tmp_path, ledger, require_tool):
    compared(predictors.plan_of(name), predictors.vectors_of(name), compiler, tmp_path, ledger, require_tool)


LINE = """
#include <cstdio>
#include "tapped.hpp"
namespace w = kerncast::tapped;
static w::Model model, other;
static w::Delay line;
static tapped_delay_t plain;
static tapped_model_t c_model;
int main()
{
    unsigned long same = 0;
    tapped_model_init(&c_model);
    for (int k = 0; k < 200; k++) {
        const auto sample = static_cast<w::In>((k * 37) % 400 - 200);
        tapped_out_t f[2] = {};
        const w::Prediction u = model.update(line, sample);
        const kc_status_t s = tapped_delay_update(&c_model, &plain, sample, &f[0]);
        const bool full = line.push(sample) == KC_OK;
        const bool c_full = tapped_delay_push(&plain, sample) == KC_OK;
        const w::Prediction p = model.predict(line);
        const kc_status_t q = tapped_delay_predict(&c_model, &plain, &f[1]);
        same += u.status == s && u.f == f[0] && full == c_full && full == line.full() && p.status == q
            && p.f == f[1] && (k < 7 || u.usable());
    }
    const w::Model copy(model.c());
    other.clear();
    const bool equal = copy.predict(line).f == model.predict(line).f && other.predict(line).f == 0;
    std::printf("%lu %d %d\\n", same, equal, w::to_adc(100) == tapped_to_adc(100));
    return 0;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_delay_line_of_the_wrapper_is_that_of_c(compiler, tmp_path, ledger, require_tool):
    require_tool(compiler, "sudo apt-get install -y g++ clang")
    program = compiled(folder_of(lines.learner("nt", 7), None, tmp_path), compiler, LINE)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "200 1 1\n"
    ledger.record(backend=f"package:cpp:{compiler}", words=800, case="tapped")


AXES = """
#include <array>
#include <cstdio>
#include "tapped.hpp"
namespace w = kerncast::tapped;
static w::Delay line;
static tapped_delay_t plain;
int main()
{
    unsigned long same = 0;
    for (int k = 0; k < 40; k++) {
        const auto sample = static_cast<w::In>((k * 37) % 400 - 200);
        const std::array<w::In, w::channels> reading = {sample, 1, -1};
        same += line.push(reading) == tapped_delay_push(&plain, reading.data())
            && line.full() == (tapped_delay_window(&plain) != nullptr);
    }
    std::printf("%lu %d\\n", same, tapped_delay_window(&line.c())[3] == tapped_delay_window(&plain)[3]);
    return 0;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_reading_of_several_channels_enters_the_delay_line(compiler, tmp_path, require_tool):
    require_tool(compiler, "sudo apt-get install -y g++ clang")
    program = compiled(folder_of(channels.learner("axes"), None, tmp_path), compiler, AXES)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "40 1\n"


REFUSED = """
#include <cstdio>
#include "grid16.hpp"
namespace w = kerncast::grid16;
static w::Model model;
static w::Trainer trainer;
int main()
{
    const std::array<w::Target, w::samples> y{};
    {
        w::Training first(trainer);
        w::Training second(trainer); /* another one is under way: it must not touch that one */
        std::printf("%d %d %d ", second.begun() == KC_OUT_OF_ORDER, second.push(y[0]) == KC_OUT_OF_ORDER,
            second.commit(model) == KC_OUT_OF_ORDER);
    }
    w::Training third(trainer); /* the first was cancelled by its destructor */
    std::printf("%d %d ", third.begun() == KC_OK, third.commit(model) == KC_OUT_OF_ORDER);
    for (const auto each : y) {
        (void)third.push(each);
    }
    while (third.run(1000) == KC_PENDING) {
    }
    std::printf("%d %d ", KC_USABLE(third.commit(model)), third.push(y[0]) == KC_OUT_OF_ORDER);
    std::array<w::Out, w::samples> f{};
    std::array<w::Out, w::samples> g{};
    (void)grid16_train_fitted(&trainer.c(), g.data());
    const w::In at[1] = {3};
    const kc_status_t fitted = trainer.fitted(f);
    std::printf("%d %d\\n", KC_USABLE(fitted), f == g && model.predict(at).usable());
    return 0;
}
"""


def test_a_training_is_cancelled_by_its_destructor(
        cases, tmp_path, require_tool):
    require_tool("g++", "sudo apt-get install -y g++")
    case = cases("grid16")
    program = compiled(folder_of(case.plan, case.vectors, tmp_path), "g++", REFUSED)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 1 1 1 1 1 1 1 1\n"


@pytest.mark.parametrize("text", [
    "const std::array<w::In, w::inputs + 1> x{}; (void)m.predict(x);",
    "const w::In x[w::inputs + 1] = {}; (void)m.predict(x);",
    "const std::array<w::Out, w::samples> f{}; (void)t.fitted(f);",
    "w::Training a(t); w::Training b(a);"])
def test_a_wrong_length_or_a_constant_result_does_not_compile(cases, tmp_path, require_tool, text):
    require_tool("g++", "sudo apt-get install -y g++")
    folder_of(cases("grid16").plan, None, tmp_path)
    start = '#include "grid16.hpp"\nnamespace w = kerncast::grid16;\nvoid f(w::Model &m, w::Trainer &t);\n'
    for body, expected in (("(void)m; (void)t;", 0), (f"(void)m; (void)t; {text}", 1)):
        done = subprocess.run(["g++", *FLAGS, "-fsyntax-only", "-x", "c++", "-"], cwd=tmp_path, text=True,
                              input=f"{start}void f(w::Model &m, w::Trainer &t) {{ {body} }}\n",
                              capture_output=True, check=False)
        assert done.returncode == expected, done.stderr


@pytest.fixture(scope="module")
def wrappers(tmp_path_factory):
    """A file that includes the wrappers of all models behind the macros of other headers."""
    place = tmp_path_factory.mktemp("wrappers")
    plans = [*map(plan_of, CASES), *map(predictors.plan_of, predictors.CASES)]
    for plan in plans:
        generate(plan, place / plan.name, packages=("cpp",))
    text = HOSTILE.replace("#define I (1.0fi)\n", "")
    standard = "".join(f"#include <{name}>\n" for name in ("array", "cstddef", "type_traits"))
    text = standard + text  # the library of the compiler cannot be read behind such macros
    text += "".join(f'#include "{plan.name}/{plan.name}.hpp"\n' for plan in plans)
    (place / "all.cpp").write_text(text)
    return place / "all.cpp"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_wrappers_of_all_models_share_a_file_behind_hostile_macros(compiler, wrappers, require_tool):
    require_tool(compiler, "sudo apt-get install -y g++ clang")
    done = subprocess.run([compiler, *FLAGS, "-fsyntax-only", wrappers.name], cwd=wrappers.parent,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


def test_a_model_without_vectors_has_a_wrapper_but_no_package_with_a_program(tmp_path):
    plan = plan_of("lms16")
    generate(plan, tmp_path / "wrapper", packages=("cpp",))
    said = (tmp_path / "wrapper" / "README.md").read_text()
    assert "kerncast::lms16" in said and "vectors_run" not in said
    with pytest.raises(KerncastError, match="E308"):
        generate(plan, tmp_path / "make", packages=("cpp", "make"))
