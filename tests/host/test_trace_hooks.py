"""Trace hooks: they cost nothing unless asked for, and name a planted fault exactly."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kerncast.lab.compare.bisection import bisect_backend
from kerncast.sim.model.kernel import kernel, kernel_constants, term
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.trace_hooks import HOOKS, Log

NAMES = ["grid16_even", "mean16", "biased32", "indefinite16", "mean24_floor", "periodic32", "cg16",
         "schur16_indefinite", "lookahead24_indefinite", "tuned16", "grid16_refine", "grid16_stalls",
         "lms16_ties", "lms32_rails", "lms16_decay_varied", "lms32_fmklms_limits", "lms32_newest_fast",
         "lms32_fast_limits", "rls16", "rls24_wrap", "lms16_linear", "lms32_linear_joint", "lms16_gate",
         "lms16_last_errors", "lms16_linear_wide_varied", "lms16_nlms"]
REMEDY = {"gcc": "sudo apt-get install -y gcc libc6-dev", "clang": "sudo apt-get install -y clang"}
#: What has hooks.
HOOKED = ("*.c", "rt/kc_lookahead.h", "rt/kc_lookahead_correct.h")
HOOK = re.compile(r"^ *KC_TRACE(?:_ALL)?\((\w+), (\w+), .*\);\n", re.MULTILINE)


@pytest.fixture
def copy(cases, tmp_path):
    """``copy(name)``: a case and a copy of its folder, to plant faults in."""
    def copied(name):
        return cases(name), Path(shutil.copytree(cases(name).folder, tmp_path / name))
    return copied


def hooked(folder: Path) -> list[Path]:
    return [path for pattern in HOOKED for path in sorted(folder.glob(pattern))]


def objects(folder: Path, compiler: str, level: str) -> dict[str, bytes]:
    sources = sorted(path.name for path in folder.glob("*.c"))
    subprocess.run([compiler, "-std=c99", level, "-Wall", "-Wextra", "-Werror", "-I.", "-c", *sources],
                   cwd=folder, check=True)
    return {name: (folder / name).with_suffix(".o").read_bytes() for name in sources}


# ---- no cost ----
@pytest.mark.covering
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(("name", "level"), [
    ("grid16_even", "-O0"), ("mean16", "-O2"), ("cg16", "-Os"), ("lookahead24_indefinite", "-O2"),
    ("lms16_decay_varied", "-O2")])
def test_unrequested_trace_hooks_leave_the_object_code_unchanged(
        copy, require_tool, name, level, compiler):
    require_tool(compiler, REMEDY[compiler])
    _, folder = copy(name)
    with_hooks = objects(folder, compiler, level)
    lines = {path: path.read_text() for path in hooked(folder)}
    for path, text in lines.items():
        path.write_text(HOOK.sub("", text))
    assert sum(len(HOOK.findall(text)) for text in lines.values()) >= 5
    assert not any("KC_TRACE" in path.read_text() for path in lines)
    assert objects(folder, compiler, level) == with_hooks


@pytest.mark.parametrize("name", NAMES)
def test_every_hook_of_the_c_is_one_of_the_models(cases, name):
    text = "".join(path.read_text() for path in hooked(cases(name).folder))
    found = set(HOOK.findall(text))
    assert found <= set(HOOKS)
    assert text.count("KC_TRACE") == len(HOOK.findall(text))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sources_with_hooks_compile_without_a_warning(copy, require_tool, compiler):
    require_tool(compiler, REMEDY[compiler])
    for name in ("mean16", "lookahead24_indefinite", "lms16_decay_varied"):
        _, folder = copy(name)
        for hooks in ("-DKC_TRACE_ON", "-UKC_TRACE_ON"):
            subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
                            "-Wsign-conversion", "-Wshadow", "-Wcast-qual", "-Wundef", "-Werror", "-O1",
                            "-fsyntax-only", hooks, "-I.", f"-I{agent()}",
                            *sorted(path.name for path in folder.glob("*.c")), f"{agent()}/kc_hil_trace.c"],
                           cwd=folder, check=True)


def agent() -> Path:
    import kerncast

    return Path(kerncast.__file__).resolve().parent / "firmware" / "agent"


# ---- no difference ----
@pytest.mark.parametrize("name", NAMES)
def test_generated_c_computes_the_same_values_in_the_same_order_as_the_model(
        cases, require_tool, ledger, name):
    require_tool("gcc", REMEDY["gcc"])
    case = cases(name)
    found = bisect_backend(case.plan, case.vectors, "host:gcc:-O1", case.folder)
    assert found.divergence is None
    assert found.as_dict()["divergence"] is None
    ledger.record(backend="host:gcc:-O1:trace", words=found.words, mismatches=found.mismatches, case=name)


# ---- planted faults ----
FAULTS = [
    # case, file, what stands there, the fault, the operation and signal that must be named
    ("grid16_even", "levinson", "W - 1, GRID16_EVEN_ROUNDING);", "W - 1, KC_FLOOR);",
     "predictor_step", "xi"),
    ("grid16_even", "levinson", "LEVINSON_W - 1, growth_bound, GRID16_EVEN_ROUNDING",
     "LEVINSON_W - 1, growth_bound, KC_FLOOR",
     "update_a", "a"),
    ("grid16_even", "levinson", "(&t->a[t->step - count], &t->r[1], count,",
     "(&t->a[t->step - count], &t->r[1], count - 1,", "reflection_numerator", "num"),
    ("grid16_even", "levinson", "kc_add_reversed_16(x, t->a, step,", "kc_add_reversed_16(x, t->a - 1, step,",
     "update_x", "x"),
    ("grid16_even", "levinson", "kc_rows_scale_16(a, 1, step, 1)", "kc_rows_scale_16(a, 2, step, 1)",
     "extend_a", "scaled_a"),
    ("grid16_even", "certify", "t->alpha[i] * GRID16_EVEN_ALPHA_SCALE",
     "t->alpha[i] * GRID16_EVEN_ALPHA_SCALE + (i == 20 ? 1 << 30 : 0)", "toeplitz_train", "alpha"),
    ("mean16", "toeplitz", "kc_divide_round(acc,", "kc_divide_round(acc - 99 * (j == 9),", "first_row", "r"),
    ("mean24_floor", "kernel", "(d2, u[c], v[c])", "(d2, u[c], v[c > 1 ? 1 : c])", "first_row", "distance"),
    ("mean16", "kernel", "requantise_i32(scaled, MEAN16_X_SHIFT",
     "requantise_i32(scaled + 4096, MEAN16_X_SHIFT",
     "input_convert", "x"),
    ("lms16_ties", "lms", "m->age_order[i] > m->age_order[best]",
     "m->age_order[i] < m->age_order[best]", "select_victim", "slot"),
    ("lms16_decay_varied", "lms", "m->age_order, count, m->age_order[slot])",
     "m->age_order, count, m->age_order[0])", "remove_center", "age_order"),
    ("lms16_ties", "lms", "LMS16_TIES_ETA_SHIFT,", "LMS16_TIES_ETA_SHIFT + 1,", "learn", "alpha"),
]


@pytest.mark.parametrize(("name", "file", "line", "fault", "operation", "signal"), FAULTS)
def test_a_planted_fault_is_named(copy, require_tool, name, file, line, fault, operation, signal):
    require_tool("gcc", REMEDY["gcc"])
    case, folder = copy(name)
    path = folder / f"{name}_{file}.c"
    text = path.read_text()
    assert text.count(line) == 1
    path.write_text(text.replace(line, fault))
    found = bisect_backend(case.plan, case.vectors, "host:gcc:-O1", folder)
    assert found.mismatches > 0
    assert found.divergence is not None
    event = found.divergence.event
    assert (event.operation, event.signal) == (operation, signal)
    assert found.divergence.model is not None and found.divergence.device is not None
    assert found.divergence.model.word != found.divergence.device.word
    shown, _, number = found.hook.partition(":")
    assert f"({operation}, {signal}, " in (folder / shown).read_text().splitlines()[int(number) - 1]


def test_a_stuck_table_entry_is_named_at_the_first_value_that_uses_it(copy, require_tool):
    require_tool("gcc", REMEDY["gcc"])
    case, folder = copy("grid16")
    plan, k, log = case.plan, kernel_constants(case.plan), Ranges(case.plan).log
    assert isinstance(log, Log)
    distances = [int(term(0, j * plan.integer("x_step"), 0, k)) for j in range(plan.sizes["n"])]

    def values(table: np.ndarray) -> list[int]:
        return [int(kernel(d, k._replace(table=table), log)) for d in distances]

    def stuck_at(entry: int) -> np.ndarray:
        return np.where(np.arange(len(k.table)) == entry, k.table[entry - 1], k.table)

    entry = next(e for e in range(len(k.table) - 1, 0, -1) if values(stuck_at(e)) != values(k.table))
    stuck = stuck_at(entry)
    first = next(j for j, (a, b) in enumerate(zip(values(stuck), values(k.table), strict=True)) if a != b)
    path = folder / "grid16_tables.c"
    words = [f"{word}u" for word in k.table.tolist()]
    written = re.search(r"(grid16_table_exp2\[\d+\] = \{)([^}]*)(\})", path.read_text())
    assert written is not None
    assert re.findall(r"\d+u", written[2]) == words
    words[entry] = words[entry - 1]
    path.write_text(path.read_text().replace(written[0], written[1] + ", ".join(words) + written[3]))
    found = bisect_backend(case.plan, case.vectors, "host:gcc:-O1", folder).divergence
    assert found is not None and found.model is not None and found.device is not None
    assert (found.event.operation, found.event.signal, found.event.step) == ("first_row", "kernel", first)
    assert (found.model.word, found.device.word) == (values(k.table)[first], values(stuck)[first])
