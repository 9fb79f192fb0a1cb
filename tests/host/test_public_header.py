"""The public header and the README of every model: what they promise a caller, read and compiled."""

import re
import subprocess
from fractions import Fraction
from pathlib import Path

import cffi
import numpy as np
import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli import main
from kerncast.codegen.generate import render_c

from .conftest import CASES
from .test_one_program import C99, GCC, plan_of

NAMES = ("grid16", "mean16", "cg16", "lms16", "schur16", "lookahead16", "lookahead16_f32", "klms16_f32",
         "grid32_floor", "lms32_rails", "lms16_delay", "lms16_bounded",
         "lms32_bounded")
RETURNS = r"(?:static inline )?(?:const )?\w+ \*?"
FUNCTION = re.compile(rf"(/\*\*(?:(?!\*/).)*\*/)\n{RETURNS}(\w+)\(([^;{{]*)\)[;\n]", re.DOTALL)


def documented(name):
    """Comment and parameters of each public function of a case."""
    header = render_c(plan_of(name))[f"{name}.h"]
    declared = set(re.findall(rf"^{RETURNS}({name}_\w+)\(", header, re.MULTILINE))
    found = {function: (comment, parameters) for comment, function, parameters in FUNCTION.findall(header)}
    assert set(found) == declared and len(declared) >= 5
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_public_function_states_reentrancy_interrupts_and_cost(name):
    for comment, _ in documented(name).values():
        for title in ("Reentrancy", "Interrupts", "Worst case"):
            assert len(re.findall(rf"^ \* @par {title}: \S", comment, re.MULTILINE)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_a_public_function_is_described_in_order(name):
    for comment, parameters in documented(name).values():
        names = re.findall(r"(\w+)(?:,|$)", parameters.replace("\n", " "))
        assert re.findall(r"@param\[[a-z,]+\] (\w+)", comment) == names


@pytest.mark.parametrize("name", NAMES)
def test_a_status_that_the_code_returns_is_listed_in_the_header(name):
    files = render_c(plan_of(name))
    code = "".join(text for file, text in files.items() if file.endswith(".c"))
    stored = r"(?:return |(?<![=!])= (?:\(int16_t\))?|\? |: )(KC_(?!STATE)[A-Z_]+)\b(?!\()"
    returned = set(re.findall(stored, code)) & set(
        re.findall(r"KC_\w+(?= = )", files["rt/kc_config.h"]))
    assert returned == set(re.findall(r"@retval (KC_(?!STATE)\w+)", files[f"{name}.h"]))


@pytest.mark.parametrize("name", ["grid16", "cg16", "lookahead16", "band16", "mean16_bias"])
def test_a_training_in_one_call_is_not_said_to_be_pending(name):
    header = render_c(plan_of(name))[f"{name}.h"]
    listed = {call: header[:header.index(f"kc_status_t {name}_{call}(")].rpartition("/**")[2]
              for call in ("train", "train_run")}
    assert "KC_NOT_POSITIVE_DEFINITE" in listed["train"] or "KC_BREAKDOWN" in listed["train"]
    assert ("KC_PENDING" in listed["train"], "KC_PENDING" in listed["train_run"]) == (False, True)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_readme_starts_with_c_that_compiles(name, require_tool, tmp_path):
    require_tool("gcc", GCC)
    files = render_c(plan_of(name))
    for file in (f"{name}.h", "rt/kc_config.h", "rt/kc_storage.h"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(files[file])
    example = re.match(r"# [^\n]*\n\n```c\n(.*?)```\n", files["README.md"], re.DOTALL)
    assert example is not None
    functions = example[1].count("\n{\n")  # those that learn classes or several outputs have two
    assert 8 <= len(example[1].splitlines()) <= (14 if functions == 1 else 18)
    (tmp_path / "first.c").write_text(example[1])
    subprocess.run([*C99, "first.c"], cwd=tmp_path, check=True)


def test_the_c_code_of_the_readme_compiles_with_the_library_of_its_example(require_tool, tmp_path):
    require_tool("gcc", GCC)
    root = Path(kerncast.__file__).resolve().parent
    done = CliRunner().invoke(main.app, ["init", str(root / "examples" / "gas.csv"), "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    kerncast.generate(kerncast.plan(kerncast.Spec.load(tmp_path / "gas.toml")), tmp_path / "gas")
    (code,) = re.findall(r"```c\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "gas" / "use.c").write_text(
        "#include \"gas.h\"\nfloat learn(gas_target_t y);\nfloat learn(gas_target_t y)\n{\n    float ppm;\n"
        f"{code}    return ppm;\n}}\n")
    subprocess.run([*C99, "use.c"], cwd=tmp_path / "gas", check=True)


@pytest.mark.parametrize("name", ["grid16", "cg16", "lms16", "lms32_rails", "lms16_saturated",
                                  "mean32_varied"])
def test_a_prediction_returns_to_the_nearest_adc_count(name, require_tool, tmp_path):
    require_tool("gcc", GCC)
    plan = plan_of(name)
    header = render_c(plan)[f"{name}.h"]
    body = header[header.index(f"static inline {plan.signals['y_raw'].format.c_type} {name}_to_adc("):]
    ffi, raw = cffi.FFI(), plan.signals["y_raw"].format
    ffi.cdef(f"void all(const {plan.word_type} *f, int64_t *adc, int n);")
    (tmp_path / "adc.c").write_text(
        "#include <stdint.h>\n#define KC_CAST(type, value) ((type)(value))\n"
        f"typedef {plan.word_type} {name}_out_t;\n"
        + body[:body.index("\n}\n") + 3]
        + f"void all(const {plan.word_type} *f, int64_t *adc, int n)\n"
        f"{{ for (int i = 0; i < n; i++) adc[i] = {name}_to_adc(f[i]); }}\n")
    library = tmp_path / "adc.so"
    subprocess.run(["gcc", "-std=c99", "-O1", "-shared", "-fPIC", "-fsanitize=undefined",
                    "-fsanitize-undefined-trap-on-error", "adc.c", "-o", library], cwd=tmp_path, check=True)
    f = plan.signals["f"]
    words = np.unique(np.concatenate([
        np.array([f.lo, f.hi, 0, 1, -1]), np.random.default_rng(1).integers(f.lo, f.hi, 2000)]))
    found = np.zeros(len(words), dtype=np.int64)
    given = ffi.new(f"{plan.word_type}[]", words.tolist())
    ffi.dlopen(str(library)).all(given, ffi.from_buffer("int64_t[]", found), len(words))
    scale = Fraction(2) ** plan.integer("y_shift") / plan.integer("y_gain")
    for word, adc in zip(words.tolist(), found.tolist(), strict=True):
        exact = word * scale + plan.integer("y_offset")
        if raw.lo < adc < raw.hi:
            assert abs(exact - adc) <= Fraction(1, 2) + Fraction(1, 1000)
        else:
            assert adc == (raw.lo if exact < adc + 1 and adc == raw.lo else raw.hi)
