"""Simulations of online learners with status full, or without a vector, were told as refused trainings."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.sim.diagnostics.simulate import observe, simulate
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.warnings import cautions
from kerncast.sim.spec import Spec

X = np.random.default_rng(4).integers(0, 256, (60, 1))
Y = np.round(100 * np.sin(X[:, 0] / 20)).astype(np.int64)
FULL = {"budget": 3, "max_deterioration": 0.01, "newest_only": True}
EMPTY = {"reduction": "nt", "truncation": 1e6}


def spec_of(**online: Any) -> Spec:
    return Spec(model={"name": "learner", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                output={"word": "s8f0", "gain": 0.5}, kernel={"sigma": 10.0},
                online={"budget": 8, "eta": 0.5, **online})


def told(folder: Path, code: int, **online: Any) -> tuple[str, dict[str, Any], str]:
    """What ``kerncast sim`` says, as text and as JSON, and the warnings of ``kerncast check``."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in ({"budget": 8, "eta": 0.5} | online).items()]
    (folder / "d.csv").write_text("x0,y\n" + "".join(f"{x},{y}\n" for x, y in zip(X[:, 0], Y, strict=True)))
    path = folder / "s.toml"
    path.write_text("\n".join([
        '[model]\nname = "learner"\nalgorithm = "kernel_lms"', '[input]\nword = "u8f0"',
        '[output]\nword = "s8f0"\ngain = 0.5', "[kernel]\nsigma = 10.0", "[online]", *lines,
        '[data]\nfile = "d.csv"', ""]))
    text, found, checked = (CliRunner().invoke(app, [*words, str(path)]) for words in
                            (["sim"], ["sim", "--json"], ["check"]))
    assert (text.exit_code, found.exit_code, checked.exit_code) == (code, code, 0)
    return text.stdout, json.loads(found.stdout), checked.stderr


def test_a_learner_whose_memory_is_full_has_an_answer_and_its_error(tmp_path: Path) -> None:
    found = simulate(make_plan(spec_of(**FULL)), X, Y)
    assert (found.status, found.trained) == ("full", True)
    assert found.f.any() and found.f_error < 0.1 and found.budget is not None
    text, values, _ = told(tmp_path, 0, **FULL)
    assert "status full" in text and "no answer" not in text and "ill-conditioned" not in text
    assert values["trained"] and "f_error" in values


def test_an_empty_learner_is_described_without_terms_of_a_solver(tmp_path: Path) -> None:
    text, values, checked = told(tmp_path, 2, **EMPTY)
    assert "status not_trained" in text and "the dictionary is empty" in text
    assert not any(word in text for word in ("refuse", "ill-conditioned", "solves", "matrix"))
    assert not values["trained"] and "truncation" in values["why"] and "truncation" in values["do"]
    assert "[online] truncation: W207" in checked


@pytest.mark.parametrize(("factor", "warned"), [(1.0, True), (0.99, False)])
@pytest.mark.parametrize(("key", "online"), [
    ("truncation", {}), ("truncation", {"reduction": "fmklms"}), ("max_deterioration", {"reduction": "mt"})])
def test_a_limit_that_no_coefficient_exceeds_is_warned_of(key: str, online: dict[str, Any], factor: float,
                                                         warned: bool) -> None:
    plan = make_plan(spec_of(**online, **{key: factor * 0.5 * 64}))  # eta times the largest y
    extreme = np.full(len(X), -128)
    assert [(p.code, p.where) for p in cautions(plan)] == [("W207", f"[online] {key}")] * warned
    assert simulate(plan, X, extreme).trained != warned


def test_data_too_small_for_the_limit_are_reported_after_a_run() -> None:
    plan = make_plan(spec_of(truncation=1.0))
    assert not cautions(plan) and not cautions(observe(plan, X, Y))
    (problem,) = cautions(observe(plan, X, Y // 50))
    assert (problem.code, problem.value) == ("W207", "1.0")
    assert not [p for p in cautions(observe(plan, X, 0 * Y)) if p.code == "W207"]
