"""The cores in HLS C++ give the integer model's words, in C simulation."""

import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVR

import kerncast
from kerncast.codegen.hls import DIALECTS, FOLDER, LEARNER, VECTORS, render_hls, sources
from kerncast.codegen.hls.vectors import line, vectors_text
from kerncast.codegen.rtl import model_frame
from kerncast.hw.hls.simulation import build
from kerncast.sim.backend import Comparison, LambdaBackend
from kerncast.sim.model import open_model
from kerncast.sim.model.base import fixed_targets
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_TRAINED, OK, SATURATED
from kerncast.sim.model.toeplitz.banded import banded
from kerncast.sim.model.toeplitz.candidate import candidate_of, intercept_constants
from kerncast.sim.model.toeplitz.geometric import geometric, geometric_constants, geometric_tables
from kerncast.sim.model.toeplitz.intercept import intercept
from kerncast.sim.replay.vectors import make_vectors, replay

from .conftest import SPECS, choices, drawn, make, samples, vectors

#: Every core in either dialect, and what the other cases add in the one that compiles fast.
USUAL = [("learner16", "vitis"), ("learner16", "catapult"), ("bias16", "vitis"), ("grid16", "catapult"),
         ("bias32", "catapult"), ("powers16", "catapult"), ("labels16", "catapult"), ("triple24", "vitis"),
         ("values32", "vitis"), ("sides24", "catapult"), ("band16", "catapult"), ("band32", "vitis"),
         ("signals16", "catapult"), ("signals32", "vitis"), ("ranged16", "catapult"), ("ranged32", "vitis"),
         ("decay16", "catapult"), ("decay24", "catapult"), ("decay32", "vitis")]
ALL = [*USUAL, *(pytest.param(case, dialect, marks=pytest.mark.campaign) for case in SPECS
                 for dialect in DIALECTS if (case, dialect) not in USUAL)]
#: The core that answers a line of the vectors.
CORE_OF = {"learn": "learner", "ask": "learner", "state": "learner", "predict": "predictor",
           "load": "predictor", "solve": "solver", "train": "trainer"}


def answered(text: str) -> Counter[str]:
    """Words that each core must answer."""
    found: Counter[str] = Counter()
    for row in text.splitlines():
        call, _, expected = row.partition("=")
        found[CORE_OF.get(call.split()[0], "")] += len(expected.split())
    return found


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "dialect"), ALL)
def test_every_core_answers_the_model_s_values(case, dialect, backend, ledger, tmp_path):
    plan = make(case)
    calls, file = vectors(plan, 8000), tmp_path / VECTORS
    file.write_text(vectors_text(plan, calls))
    opened = backend(plan, dialect, calls.state)
    compared = replay(opened, calls)
    assert compared.words > 500
    ledger.record(backend=opened.name, words=compared.words, mismatches=compared.mismatches, case=case)
    done = subprocess.run([opened.program, file], capture_output=True, text=True, check=False)
    opened.close()
    words = answered(file.read_text())
    assert done.returncode == 0, done.stderr
    assert f"{plan.name}: {words.total()} words, 0 mismatches" in done.stderr
    for core in set(words) - {""}:
        ledger.record(backend=opened.name, words=words[core], mismatches=0, case=f"{case} {core}")
        assert words[core] >= 2000, f"{core}: {words[core]}"


def sizes_of_targets(plan, count):
    """Targets of every size: noise, steps, few that are not zero, none; rails, which limit an intercept."""
    chance, n, top = np.random.default_rng(count), plan.sizes["n"], 1 << (plan.word - 1 - plan.bias)
    for i in range(count):
        y = chance.integers(-top, top, n) >> int(chance.integers(plan.word))
        if i % 5 == 4:
            y = np.where(np.arange(n) < n // 2, -top, top - 1)
        yield y * (np.arange(n) > n - 3 if i % 7 == 6 else i % 11 != 10)
    yield np.full(n, (1 << (plan.word - 1)) - 1)


@pytest.mark.parametrize(("case", "dialect"), [
    ("band16", "catapult"), ("band32", "vitis"), pytest.param("band24", "vitis", marks=pytest.mark.campaign)])
def test_the_banded_solver_returns_the_model_s_values_at_every_exponent(case, dialect, backend, ledger):
    plan, exponents, words, mismatches, limited = make(case), set(), 0, 0, False
    candidate, log = candidate_of(plan, 0), Ranges(plan).log
    opened, weight = backend(plan, dialect), np.array(plan.tables["weight"].values if plan.bias else [0])
    for y in sizes_of_targets(plan, 24):
        b, limited = intercept(y, 0, weight, intercept_constants(plan), log) if plan.bias else (0, False)
        alpha, out = np.zeros(len(y), dtype=np.int64), np.zeros(1, dtype=np.int64)
        status = banded(y - b, alpha, 0, candidate.tables, out, candidate.constants, log)
        wanted = [SATURATED if limited else status, int(out[0]), *([b] if plan.bias else []), *alpha.tolist()]
        found = opened._bench.call(line("solve", y))
        exponents.add(wanted[1])
        words, mismatches = words + len(wanted), mismatches + (found != wanted)
    opened.close()
    ledger.record(backend=opened.name, words=words, mismatches=mismatches, case=f"{case} of every size")
    assert len(exponents) > 5
    assert limited == plan.bias


@pytest.mark.parametrize(("case", "dialect"), [
    ("ranged16", "vitis"), ("ranged16", "catapult"), ("ranged24", "vitis"), ("ranged24", "catapult"),
    ("ranged32", "vitis")])
def test_the_cores_train_with_any_lambda_of_the_range(case, dialect, backend, ledger):
    plan, found = make(case), Comparison()
    model, opened, x = open_model(plan), backend(plan, dialect), np.arange(0, 200, 7)[:, np.newaxis]
    assert isinstance(opened, LambdaBackend)
    lo, hi, chance = plan.integer("lambda_lo"), plan.integer("lambda_hi"), np.random.default_rng(3)
    for lam in (*np.geomspace(lo, hi, 7).astype(int).clip(lo, hi).tolist(), lo - 1, 0, hi + 1, hi):
        y = drawn(plan, "y_raw", (plan.sizes["n"],), chance)
        found.add(f"train {lam}", model.train_with(lam, None, y), opened.train_with(lam, None, y))
        found.add(f"model {lam}", model.predict(x), opened.predict(x))
    opened.close()
    assert found.mismatches == 0, found.first
    assert found.words > 300
    ledger.record(backend=opened.name, words=found.words, mismatches=0, case=f"{case}, any lambda")


@pytest.mark.parametrize(("case", "dialect"), [
    ("decay16", "catapult"), ("decay24", "catapult"), ("decay32", "vitis")])
def test_the_solver_with_a_geometric_factor_equals_the_model(case, dialect, backend, ledger):
    plan, exponents, words, mismatches = make(case), set(), 0, 0
    tables, constants, log = geometric_tables(plan), geometric_constants(plan), Ranges(plan).log
    opened = backend(plan, dialect)
    for y in sizes_of_targets(plan, 24):
        alpha, out = np.zeros(len(y), dtype=np.int64), np.zeros(1, dtype=np.int64)
        wanted = [geometric(y, alpha, tables, out, constants, log), int(out[0]), *alpha.tolist()]
        found = opened._bench.call(line("solve", y))
        exponents.add(wanted[1])
        words, mismatches = words + len(wanted), mismatches + (found != wanted)
    opened.close()
    ledger.record(backend=opened.name, words=words, mismatches=mismatches, case=f"{case} of every size")
    assert mismatches == 0 and len(exponents) > 5


@pytest.mark.campaign
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("case", ["learner16", "learner32", "grid16", "static24", "band16", "band32",
                                  "decay16", "decay32"])
def test_long_runs_of_the_model_s_values(case, dialect, backend, ledger):
    plan = make(case)
    calls = vectors(plan, 200_000)
    opened = backend(plan, dialect)
    compared = replay(opened, calls)
    opened.close()
    ledger.record(backend=opened.name, words=compared.words, mismatches=compared.mismatches,
                  case=f"{case} long")


def test_the_testbench_reports_a_mismatch_and_a_missing_value(backend, tmp_path):
    opened = backend(make("grid16"), "catapult")
    wrong, none = tmp_path / "wrong.txt", tmp_path / "none.txt"
    wrong.write_text("predict 3 = -2 0\npredict 3 = -2 1\n")
    none.write_text("predict 3\n")
    found = [subprocess.run([opened.program, file], capture_output=True, text=True, check=False)
             for file in (wrong, none)]
    opened.close()
    assert [done.returncode for done in found] == [1, 1]
    assert "line 2, word 1: predict differs" in found[0].stderr
    assert "4 words, 1 mismatches" in found[0].stderr


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_that_was_trained_elsewhere_is_predicted_with_its_intercept(dialect, backend, ledger):
    chance = np.random.default_rng(5)
    x = chance.normal(size=(60, 3)) * [1.0, 20.0, 0.1]
    plan = kerncast.plan(SVR(gamma="scale", C=5.0).fit(x, np.sin(x[:, 0]) + 0.1 * x[:, 1] + 3.0), x)
    assert plan.integer("bias") != 0
    calls = make_vectors(open_model(plan), [("predict", drawn(plan, "x_raw", (300, 3), chance), None)])
    opened = backend(plan, dialect)
    compared = replay(opened, calls)
    opened.close()
    ledger.record(backend=opened.name, words=compared.words, mismatches=compared.mismatches, case="svr")


def test_a_label_outside_the_classes_is_dropped_and_changes_nothing(backend):
    opened = backend(make("labels16"), "catapult")
    assert opened.update(np.array([[1, 2]]), np.array([0]))["status"][0] == OK
    before = opened.state()
    assert opened._bench.call(line("learn", [5, 6, 3])) == [BAD_ARGUMENT, 1]
    assert all((opened.state()[name] == words).all() for name, words in before.items())
    assert opened._bench.call(line("learn", [5, 6, 2]))[0] == OK
    opened.close()


def test_a_frame_of_the_wrong_length_is_answered_so_and_changes_nothing(backend):
    plan, chance = make("learner16"), np.random.default_rng(4)
    opened, x = backend(plan, "catapult"), samples(plan, 20, chance)
    opened.update(x, drawn(plan, "y_raw", (20,), chance))
    before, f, row = opened.state(), opened.predict(x[:1]), x[0].tolist()
    for name, words in (("ask", row[:2]), ("ask", [*row, 1]), ("learn", row), ("learn", [*row, 1, 1, 1])):
        assert opened._bench.call(line(name, words)) == [BAD_ARGUMENT, 1]
    compared = Comparison()
    compared.add("state", before, opened.state())
    compared.add("predict", f, opened.predict(x[:1]))
    opened.close()
    assert compared.mismatches == 0


@pytest.mark.parametrize(("case", "dialect"), [("grid16", "catapult"), ("bias16", "vitis"),
                                               ("band16", "catapult")])
def test_a_model_of_another_plan_or_length_is_answered_so_and_leaves_none(case, dialect, backend):
    plan = make(case)
    opened, chance = backend(plan, dialect), np.random.default_rng(4)
    y = drawn(plan, "y_raw", (plan.sizes["n"],), chance)
    bench, good = opened._bench, fixed_targets(plan, y).tolist()
    status, *frame = bench.call(line("train", y.tolist()))
    assert status == 0
    for bad in ([frame[0] ^ 1, *frame[1:]], frame[:-1], [*frame, 0], frame[:2], [frame[0], 25, *frame[2:]],
                [*frame[:2], 99, *frame[3:]]):
        assert bench.call(line("load", frame)) == [OK]
        assert bench.call(line("predict", [7]))[0] != NOT_TRAINED
        assert bench.call(line("load", bad)) == [BAD_ARGUMENT, 2]
        assert bench.call(line("predict", [7])) == [NOT_TRAINED, 0]
    assert bench.call(line("train", y.tolist()[1:])) == [BAD_ARGUMENT, 1]
    if plan.banded:
        for bad in (good[1:], good * 2, [1]):
            assert bench.call(line("solve", bad)) == [BAD_ARGUMENT, 3]
    else:
        assert bench.call(line("solve", [0] * 8 + good)) == [BAD_ARGUMENT, 7]
    assert bench.call(line("train", y.tolist())) == [0, *frame]
    opened.close()


@pytest.mark.parametrize("dialect", ["vitis", "catapult"])  # from memory, and from streams
def test_the_samples_of_one_call_are_answered_in_order(dialect, backend):
    plan, chance = make("learner16"), np.random.default_rng(7)
    opened, model, rail = backend(plan, dialect), open_model(plan), 1 << (plan.word - 1)
    x, y = samples(plan, 12, chance), drawn(plan, "y_raw", (12,), chance)
    found, wanted = opened._bench.call(line("learn_all", np.column_stack([x, y]).ravel())), model.update(x, y)
    error = np.clip(fixed_targets(plan, y) - wanted["f"], -rail, rail - 1)
    assert found == np.column_stack([wanted["status"], wanted["f"], error]).ravel().tolist()
    assert opened._bench.call(line("load", model_frame(plan, model.state()))) == [OK]
    found, wanted = opened._bench.call(line("predict_all", x.ravel())), model.predict(x)
    opened.close()
    assert found == np.column_stack([wanted["status"], wanted["f"]]).ravel().tolist()


def test_after_reset_a_core_knows_nothing_of_what_it_learned(backend):
    plan, chance = make("learner16"), np.random.default_rng(6)
    opened, x = backend(plan, "catapult"), samples(plan, 60, chance)
    y = drawn(plan, "y_raw", (60,), chance)
    opened.update(x[:40], y[:40])
    opened.reset()  # sets what `#pragma HLS RESET` names, and nothing else
    model, compared = open_model(plan), Comparison()
    for rows in (slice(40, 43), slice(43, 60)):  # before the dictionary is full, and after
        compared.add("update", model.update(x[rows], y[rows]), opened.update(x[rows], y[rows]))
        compared.add("state", model.state(), opened.state())
    opened.close()
    assert opened._bench.call(line("predict", x[0].tolist())) == [NOT_TRAINED, 0]
    opened.close()
    assert compared.mismatches == 0


@pytest.mark.parametrize("dialect", ["catapult", pytest.param("vitis", marks=pytest.mark.campaign)])
def test_no_sanitizer_stops_the_c_simulation(dialect, require_hls, ledger, tmp_path):
    plan = make("learner24")
    calls = vectors(plan, 2000)
    for name, text in render_hls(plan, dialect, calls).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folder, program = tmp_path / FOLDER / dialect, tmp_path / "checked"
    build(dialect, [folder / name for name in sources(plan)], program,
          flags=("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
    done = subprocess.run([program, folder / VECTORS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    ledger.record(backend=f"hls:{dialect}:sanitized", mismatches=0, case=plan.name,
                  words=answered((folder / VECTORS).read_text()).total())


def test_each_source_compiles_by_itself(require_hls, tmp_path):
    plan = make("grid16")
    for name, text in render_hls(plan, "catapult").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in sources(plan):
        (tmp_path / Path(name).stem).touch()  # a check of the syntax writes no program
        build("catapult", [tmp_path / FOLDER / "catapult" / name], tmp_path / Path(name).stem,
              flags=("-fsyntax-only",))


def test_the_learner_stores_no_more_than_its_plan_states(backend):
    plan = make("learner16")
    assert LEARNER.fits(plan)
    opened = backend(plan, "catapult")
    opened.reset()
    state = opened.state()
    opened.close()
    assert state["count"].tolist() == [0]
    assert all(not words.any() for words in state.values())
