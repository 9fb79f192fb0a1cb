"""Costs: stack as computed against stack as painted, budgets, and the command."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer

from kerncast.benchmarks.cortex_m import CortexM
from kerncast.cli.build import build
from kerncast.cli.check import check
from kerncast.cli.cost import _times, cost
from kerncast.cli.gen import gen
from kerncast.codegen.build.toolchains import choose_toolchain
from kerncast.codegen.firmware.footprint import footprint
from kerncast.codegen.firmware.image import FREESTANDING, build_firmware
from kerncast.codegen.firmware.targets import load_target, target_ids
from kerncast.codegen.generate import generate, refuse_oversize
from kerncast.hw.hil import emulators
from kerncast.lab.costs.limits import budget_status, over_budget, refuse_unmeasurable
from kerncast.lab.costs.measure import Costs, Count, measured_costs
from kerncast.sim.errors import KerncastError, fail
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec

TOEPLITZ = {"model": {"name": "ecg", "algorithm": "toeplitz_rls"}, "input": {"word": "u16f0"},
            "output": {"word": "s12f0"}, "kernel": {"sigma": 3.0},
            "toeplitz": {"n": 24, "lambda": 0.1, "scheme": "uniform"}}
ONLINE = {"model": {"name": "online", "algorithm": "kernel_lms"}, "input": {"word": "s12f8", "columns": 3},
          "output": {"word": "s3f0"}, "kernel": {"sigma": 0.7}, "online": {"budget": 7, "eta": 0.5}}
#: What the computed stack may be above the painted one, besides what the target says of the runtime: paths
#: that these data do not take.
MARGIN = 64


def generated(tables: dict[str, dict[str, object]], folder: Path) -> Plan:
    plan = make_plan(Spec(**tables))
    generate(plan, folder)
    return plan


def painted(plan: Plan, core: CortexM) -> dict[str, int]:
    """Stack by call, the worst of some samples."""
    random, p, found = np.random.default_rng(3), plan.name, {"init": core.stack_of(f"{plan.name}_model_init",
                                                                                   "model")}
    if plan.trains:
        core.write("y", random.integers(-900, 900, plan.sizes["n"]).astype(np.int16))
        found["train"] = core.stack_of(f"{p}_train", "trainer", "model", "y")
        core.write("x", np.array([3], dtype=np.uint16))
        return found | {"predict": core.stack_of(f"{p}_model_predict", "model", "x", "f")}
    found |= {"update": 0, "predict": 0}
    for _ in range(60):
        core.write("x", random.integers(-300, 300, 3).astype(np.int16))
        y = int(random.integers(-2, 3)) & 0xFFFFFFFF
        found["update"] = max(found["update"], core.stack_of(f"{p}_lms_update", "model", "x", y, "f"))
        found["predict"] = max(found["predict"], core.stack_of(f"{p}_model_predict", "model", "x", "f"))
    return found


@pytest.mark.parametrize(("tables", "board", "level"), [
    (ONLINE, "mps2-an386", "-O2"), (TOEPLITZ, "microbit", "-Os")], ids=["online", "toeplitz"])
def test_each_call_uses_nearly_the_computed_stack_and_never_more(
        tables: dict[str, dict[str, object]], board: str, level: str, tmp_path: Path) -> None:
    plan = generated(tables, tmp_path)
    image = build_firmware(tmp_path, plan, board, compiler="gcc", optimise=level)
    computed = image.worst_stack
    assert computed is not None
    slack = MARGIN + load_target(image.board.target).runtime_stack_bytes
    for call, used in painted(plan, CortexM(image.elf)).items():
        assert used <= computed[call] <= used + slack, (call, used, computed[call])


def test_the_library_linked_into_a_program_is_smaller_than_its_objects(tmp_path: Path) -> None:
    plan = generated(ONLINE, tmp_path)
    image = build_firmware(tmp_path, plan, compiler="gcc")
    predict, learn = image.library("predict"), image.library("update", "predict")
    assert plan.table_bytes < predict.flash < learn.flash < image.library_bytes < image.flash_bytes
    assert predict.ram == learn.ram == 0
    own = {name: size for name, size in learn.functions.items() if name.startswith("online_")}
    assert {"online_model_predict", "online_lms_update"} <= set(own) and min(own.values()) > 0
    assert "online_lms_update" not in predict.functions
    assert sum(learn.functions.values()) + plan.table_bytes <= learn.flash


def test_a_function_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "two.c").write_text('int one(void); int two(void) __attribute__((alias("one")));\n'
                                    "int one(void) { return 3; }\n", encoding="utf-8")
    toolchain = choose_toolchain("gcc", load_target("cortex-m4"))
    flags = ["-O2", *FREESTANDING, *toolchain.flags]
    found = footprint(toolchain, tmp_path, toolchain.compile(["two.c"], flags, tmp_path), flags, ["two"])
    assert list(found.functions) == ["one"] and 0 < found.functions["one"] <= found.flash


def asked(**budget: object) -> Plan:
    return make_plan(Spec(**ONLINE, budget=budget))


COSTS = Costs("cortex-m4", "mps2-an386", "gcc", "12", "-O2", {"predict": 900, "all": 3000},
              {"model": 300, "static": 0}, {"save": 999, "update": 200, "predict": 100}, "instructions",
              {"update": Count(700, 800), "predict": Count(500, 600)})


def test_the_time_of_the_worst_call_is_rounded_up() -> None:
    assert COSTS.microseconds(168) == {"update": 5, "predict": 4}
    assert _times([COSTS], 16.0)[-1] == "cortex-m4 -O2: update 50 µs, predict 38 µs"
    assert _times([COSTS], None) == []


@pytest.mark.parametrize(("key", "allowed", "found"), [
    ("flash", 2999, "3000 bytes"), ("ram", 299, "300 bytes"), ("stack", 199, "200 bytes"),
    ("instructions", {"predict": 599}, "600 instructions"), ("cycles", {"update": 10_000}, "not measured")])
def test_an_exceeded_limit_is_reported_with_its_figure_and_a_remedy(key: str, allowed: object,
                                                                   found: str) -> None:
    problem, = over_budget(asked(**{key: allowed}), COSTS)
    assert (problem.code, problem.value) == ("E334" if found == "not measured" else "E333", found)
    assert problem.where == f"[budget] {key}" and problem.allowed and problem.remedy
    larger = {"predict": 600} if key == "instructions" else 3000
    assert key == "cycles" or not over_budget(asked(**{key: larger}), COSTS)


def test_a_budget_is_for_its_target_and_level_and_no_part_of_the_plan() -> None:
    assert not over_budget(asked(flash=1, optimise="-Os"), COSTS)
    assert not over_budget(asked(flash=1, target="cortex-m0"), COSTS)
    assert not over_budget(asked(cycles={"update": 1}), COSTS, counted=False)
    assert asked(flash=1).hash == make_plan(Spec(**ONLINE)).hash


def test_a_report_states_if_the_limits_target_and_level_were_measured() -> None:
    assert budget_status(make_plan(Spec(**ONLINE)), [COSTS]) is None
    for level, told in (("-O1", False), ("-O2", True)):
        assert budget_status(asked(flash=1, optimise=level), [COSTS]) == {
            "target": "cortex-m4", "optimise": level, "looked_at": told}


def test_a_resource_limit_that_no_tool_can_measure_is_refused_before_gen() -> None:
    for budget, where, allowed in (
            ({"cycles": {"predict": 3}}, "[budget] cycles", "instructions"),
            ({"target": "atmega2560", "instructions": {"predict": 3}}, "[budget] instructions", "cycles"),
            ({"target": "hexagon-v67", "stack": 300}, "[budget] stack", "no stack limit for hexagon-v67")):
        with pytest.raises(KerncastError) as caught:
            refuse_unmeasurable(Spec(**ONLINE, budget=budget))
        problem, = caught.value.problems
        assert (problem.code, problem.where, problem.allowed) == ("E334", where, allowed)
        assert "remove the key" in problem.remedy and "install" not in problem.remedy
    refuse_unmeasurable(Spec(**ONLINE, budget={"stack": 300, "instructions": {"predict": 3}}))


@pytest.mark.parametrize(("budget", "costs", "installed", "remedy"), [
    ({"stack": 9}, {"stack": None}, True, "--compiler gcc or clang"),
    ({"stack": 9, "target": "hexagon-v67"}, {"stack": None, "target": "hexagon-v67"}, True,
     "no compiler for this target reports stack frames"),
    ({"cycles": {"predict": 9}}, {}, True, "set a limit on instructions, which its emulator counts"),
    ({"instructions": {"predict": 9}}, {"unit": None, "counts": {}}, True, "add [data] to the spec"),
    ({"instructions": {"predict": 9}}, {"unit": None, "counts": {}}, False, "install the target's emulator"),
    ({"instructions": {"predict": 9}}, {"counts": {}}, True, "the counter overflowed")],
    ids=["zig", "zig alone", "unit", "no data", "no emulator", "overrun"])
def test_an_unmeasured_cost_is_reported_with_the_remedy_of_its_reason(
        budget: dict[str, object], costs: dict[str, object], installed: bool, remedy: str,
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulators, "available", lambda board, emulator: installed)
    problem, = over_budget(asked(**budget), replace(COSTS, **costs))
    assert problem.code == "E334" and remedy in problem.remedy


def test_a_model_over_its_ram_limit_is_refused_before_gen() -> None:
    with pytest.raises(KerncastError) as caught:
        refuse_oversize(Spec(**ONLINE, budget={"ram": 50}))
    assert caught.value.problems[0].code == "E333"


def test_calls_are_counted_one_by_one_and_their_values_compared(tmp_path: Path) -> None:
    plan = generated(ONLINE, tmp_path)
    random = np.random.default_rng(4)
    x, y = random.integers(-300, 300, (130, 3)), random.integers(-2, 3, 130)
    vectors = make_vectors(open_model(plan), [("update", x, y), ("predict", x[:5], None)])
    costs = measured_costs(plan, tmp_path, "cortex-m4", "-Os", vectors=vectors)
    assert costs.unit == "instructions" and set(costs.counts) == {"update", "predict"}
    assert 0 < costs.counts["update"].mean < costs.counts["update"].worst
    assert costs.counts["predict"].worst < costs.counts["update"].mean
    assert costs.as_dict()["functions"]["online_lms_update"] > 100
    vectors.calls[1].expected["f"][-1] += 1
    with pytest.raises(KerncastError) as caught:
        measured_costs(plan, tmp_path, "cortex-m4", "-Os", vectors=vectors)
    assert caught.value.problems[0].code == "E335"


def measuring(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Targets and levels that a command asks for, which it is told at once."""
    asked_for: list[tuple[str, str]] = []

    def told(plan: Plan, folder: Path, target: str, level: str, **_: object) -> Costs:
        asked_for.append((target, level))
        if target == "cortex-m55":
            raise fail("E511", "this cross compiler is not installed")
        return replace(COSTS, target=target, optimise=level, flash={**COSTS.flash, "learn": 1, "image": 2})

    monkeypatch.setattr("kerncast.lab.costs.measure.measured_costs", told)
    return asked_for


def test_cost_measures_the_level_of_the_limits_or_reports_that_it_did_not(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    generate(asked(flash=10, optimise="-O1"), tmp_path, "cortex-m4")
    asked_for = measuring(monkeypatch)
    with pytest.raises(typer.Exit) as ended:
        cost(tmp_path, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert ended.value.exit_code == 2 and [e["code"] for e in found["errors"]] == ["E333"]
    assert asked_for == [("cortex-m4", level) for level in ("-O2", "-Os", "-O1")]
    cost(tmp_path, optimise=["-O2"], as_json=True)
    assert json.loads(capsys.readouterr().out)["budget"] == {
        "target": "cortex-m4", "optimise": "-O1", "looked_at": False}
    cost(tmp_path, optimise=["-O2"])
    assert "were not checked; they apply to cortex-m4 at -O1" in capsys.readouterr().err


def test_cost_measures_and_reports_each_target_and_level_once(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    generated(ONLINE, tmp_path)
    asked_for = measuring(monkeypatch)
    cost(tmp_path, target=["all", "cortex-m0"], optimise=["-O2, -O2"])
    assert asked_for == [(name, "-O2") for name in target_ids()]
    err = capsys.readouterr().err
    assert "atmega2560 -O2\n" in err and "left out: E511" in err
    with pytest.raises(KerncastError) as caught:
        cost(tmp_path, target=["all", "cortex-m9"])
    assert caught.value.problems[0].code == "E323"
    with pytest.raises(KerncastError) as caught:  # generated for no target
        cost(tmp_path)
    assert caught.value.problems[0].where == "--target"


def test_build_uses_the_level_of_the_limits_if_for_another_target_too(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(asked(flash=10, optimise="-Os", target="cortex-m0"), tmp_path, "cortex-m4")
    build(tmp_path)
    out, err = capsys.readouterr()
    assert ["optimise", "-Os"] in [line.split() for line in out.splitlines()]
    assert "were not checked; they apply to cortex-m0 at -Os" in err


@pytest.mark.parametrize("command", ["check", "gen"])
def test_a_resource_limit_for_an_unknown_target_is_refused_before_gen(
        command: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    text = (Path(__file__).parents[2] / "examples" / "ecg.toml").read_text(encoding="utf-8")
    spec.write_text(f"{text}\n[budget]\ntarget = \"cortex-m9\"\nflash = 1\n", encoding="utf-8")
    with pytest.raises(KerncastError) as caught:
        check(spec) if command == "check" else gen(spec, tmp_path / "out")
    problem, = caught.value.problems
    assert problem.code == "E323" and problem.where.endswith("[budget] target")
    assert not (tmp_path / "out").exists()


def test_build_fails_where_the_library_is_over_budget(tmp_path: Path) -> None:
    plan = asked(flash=100, target="cortex-m4")
    generate(plan, tmp_path / "out", "cortex-m4")
    for command in (["build", str(tmp_path / "out")], ["cost", str(tmp_path / "out"), "--levels=-O2"]):
        done = subprocess.run([sys.executable, "-m", "kerncast", *command, "--json"], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 2
        assert [problem["code"] for problem in json.loads(done.stdout)["errors"]] == ["E333"]
