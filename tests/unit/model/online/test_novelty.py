"""Leverage and novelty of online kernel RLS: a lower bound, equal in all models, with hysteresis."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.codegen.rtl import LEARNER
from kerncast.hw.wasm import WasmBackend
from kerncast.sim.backend import NoveltyBackend
from kerncast.sim.choices import LEVERAGE_FRAC
from kerncast.sim.diagnostics.novelty import learn_novelty, summarise_novelty
from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.online.novelty import NoveltyConstants, set_novelty
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.online.rls import formats
from kerncast.sim.replay.saved_state import decode, encode
from kerncast.sim.spec import Spec

ONE = 1 << LEVERAGE_FRAC


def plan_of(word: int = 16, **rls: Any) -> Plan:
    return make_plan(Spec(
        model={"name": "n", "algorithm": "online_kernel_rls"}, kernel={"sigma": 900.0},
        input={"word": "s12f0", "columns": 2}, output={"word": "s12f0"},
        rls={"features": 12, "novelty": 1.0} | rls, numbers={"word": word}))


def samples(count: int) -> tuple[Any, Any]:
    """Targets at random, and inputs of which few are large."""
    rng = np.random.default_rng(5)
    x = rng.integers(-400, 400, (count, 2))
    x[count // 2::7] *= 5
    return x, rng.integers(-2048, 2048, count)


def exact(model: Any, plan: Plan, x: Any) -> Any:
    """Return the leverages z'R^-1 z in float64, from R in words."""
    order = plan.sizes["N"]
    r = np.zeros((order, order))
    r[np.triu_indices(order)] = model.state()["rls_r"] * float(formats(plan)["rls_r"].lsb)
    r += np.triu(r, 1).T
    phi = []
    for row in x:
        model.predict(row[np.newaxis])
        phi.append(model._work.phi / 2**15)
    return np.einsum("ij,ji->i", np.array(phi), np.linalg.solve(r, np.array(phi).T))


@pytest.mark.parametrize("linear", [False, True])
def test_a_leverage_is_a_lower_bound_that_rises_with_the_steps(linear: bool) -> None:
    x, y = samples(200)
    found = []
    for steps in (1, 4, 16, 64, 1024):
        plan = plan_of(linear=linear, novelty_steps=steps, ridge=0.1)
        model = open_model(plan)
        model.update(x, y)
        assert isinstance(model, NoveltyBackend)
        found.append(model.leverage(x[:60])["leverage"] / ONE)
    for fewer, more in pairwise(found):
        assert (fewer <= more + 1e-9).all()
    true = exact(model, plan, x[:60])
    assert (found[-1] <= true * 1.001 + 1e-4).all()
    np.testing.assert_allclose(found[-1], true, rtol=0.02, atol=1e-3)


@pytest.mark.parametrize(("word", "rls"), [
    (16, {}), (24, {"linear": False, "novelty_steps": 40, "drift_samples": 3}),
    (32, {"forgetting": 0.6, "ridge": 1e-9, "novelty": 0.01})])
def test_all_models_and_generated_c_give_the_same_leverages(word: int, rls: dict[str, Any]) -> None:
    plan, (x, y) = plan_of(word, **rls), samples(40)
    model, twin, host = open_model(plan), open_fxp_model(plan), HostBackend(plan)
    for other in (twin, host):
        assert isinstance(other, NoveltyBackend)
        assert set(other.leverage(x[:2])["status"]) == {-2}  # not trained
    for at in range(0, 40, 10):
        for each in (model, twin, host):
            each.update(x[at:at + 10], y[at:at + 10])
        for other in (twin, host):
            for expected, found in ((model.state(), other.state()), (model.leverage(x), other.leverage(x))):
                for name, words in expected.items():
                    np.testing.assert_array_equal(found[name], words, name)
    twin.restore(model.save())
    np.testing.assert_array_equal(twin.state()["novel_count"], model.state()["novel_count"])
    host.close()


def test_web_assembly_gives_the_leverages_of_the_model(require_tool: Any) -> None:
    require_tool("python:ziglang", "python -m pip install ziglang")
    require_tool("python:wasmtime", "python -m pip install wasmtime")
    plan, (x, y) = plan_of(), samples(30)
    model, wasm = open_model(plan), WasmBackend(plan)
    for each in (model, wasm):
        each.update(x, y)
    for name, words in model.leverage(x).items():
        np.testing.assert_array_equal(wasm.leverage(x)[name], words)


def test_a_sample_becomes_familiar_as_it_repeats_and_others_stay_novel() -> None:
    model = open_model(plan_of(ridge=0.01))
    x = np.array([[300, -200], [-1800, 1900]])
    model.update(np.repeat(x[:1], 50, axis=0), np.zeros(50, dtype=np.int64))
    found = model.leverage(x)
    assert found["leverage"][0] < ONE // 10 < ONE < found["leverage"][1]
    assert found["novel"].tolist() == [0, 1]


def test_without_targets_only_r_is_learned() -> None:
    """Targets of 0 keep all coefficients at 0, and so the descent of the coefficients takes no step."""
    x, y = samples(60)
    targets, none = open_model(plan_of()), open_model(plan_of())
    targets.update(x, y)
    none.update(x, np.zeros_like(y))
    assert not none.state()["rls_w"].any() and not none.state()["rls_beta"].any()
    for name in ("rls_r", "leverage", "novel", "drift", "novel_count"):
        np.testing.assert_array_equal(none.state()[name], targets.state()[name])


def test_flags_have_hysteresis_and_drift_counts_novel_samples() -> None:
    novel, drift, count = (np.zeros(1, dtype=np.int64) for _ in range(3))
    c = NoveltyConstants(16, threshold=100, release=50, exp=0, drift_samples=3, rounded=0)
    seen = []
    for leverage in (99, 100, 60, 50, 49, 99, 100, 49, 0, 0, 0):
        set_novelty(novel, drift, count, leverage, c)
        seen.append((int(novel[0]), int(count[0]), int(drift[0])))
    assert seen == [(0, 0, 0), (1, 1, 0), (1, 2, 0), (1, 3, 1), (0, 2, 1), (0, 1, 1), (1, 2, 1), (0, 1, 1),
                    (0, 0, 0), (0, 0, 0), (0, 0, 0)]


def test_extreme_streams_never_raise_a_leverage_above_its_range() -> None:
    plan = plan_of(32, forgetting=0.99999, ridge=1e-12, novelty_steps=200)
    model, rng = open_model(plan), np.random.default_rng(1)
    for x in (np.full((200, 2), -2048), rng.choice([-2048, 2047], (200, 2)), np.zeros((200, 2), dtype=int)):
        model.update(x, np.zeros(200, dtype=np.int64))
        found = model.leverage(rng.integers(-2048, 2048, (50, 2)))["leverage"]
        assert (found >= 0).all() and (found < 2**31).all()


@pytest.mark.parametrize(("rls", "key"), [
    ({"novelty_release": 0.5}, "novelty_release"), ({"novelty_steps": 4}, "novelty_steps"),
    ({"drift_samples": 4}, "drift_samples"), ({"novelty": 0.5, "novelty_release": 0.6}, "novelty_release")])
def test_keys_without_novelty_or_a_release_above_it_are_refused(rls: dict[str, Any], key: str) -> None:
    tables = {"model": {"name": "n", "algorithm": "online_kernel_rls"}, "kernel": {"sigma": 9.0},
              "input": {"word": "s12f0"}, "output": {"word": "s12f0"}, "rls": rls}
    with pytest.raises(KerncastError) as refused:
        Spec(**tables)
    assert [(p.code, p.where.split()[-1]) for p in refused.value.problems] == [("E113", key)]


def test_rtl_refuses_novelty_and_names_the_key() -> None:
    refused = LEARNER.refusal(plan_of())
    assert refused is not None and "[rls] novelty: E307" in str(refused)
    assert LEARNER.refusal(plan_of(novelty=None)) is None


def test_a_plan_without_novelty_has_no_member_and_no_constant_of_it() -> None:
    plan = plan_of(novelty=None)
    assert not plan.novelty and "novelty" not in plan.options | plan.constants
    assert not {f.name for f in plan.memory} & {"leverage", "novel", "drift", "novel_count"}


def test_a_saved_flag_outside_its_range_is_refused() -> None:
    plan, (x, y) = plan_of(), samples(20)
    model = open_model(plan)
    model.update(x, y)
    state = model.state() | {"drift": np.array([2])}
    with pytest.raises(KerncastError, match="E445"):
        decode(plan, encode(plan, state, 1))


def test_sim_reports_novel_samples_and_quantiles_of_the_leverage() -> None:
    plan, (x, y) = plan_of(drift_samples=4), samples(120)
    novelty = learn_novelty(plan, x, y)
    assert novelty is not None
    found = summarise_novelty(plan, novelty)
    assert 0 < found.drift <= found.novel < found.samples == 120
    assert 0 < found.median < found.high <= found.highest <= found.largest
    assert f"{found.novel} of 120 samples are novel (leverage of at least 1)" in str(found)
    assert learn_novelty(plan_of(novelty=None), x, y) is None
