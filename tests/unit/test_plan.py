"""The plan: frozen, hashed over decisions alone, and the same value after a trip through JSON."""

import dataclasses
import json
from pathlib import Path

import pytest

from kerncast.sim import plan as plans
from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.plan import Plan, Signal
from kerncast.sim.planner import make_plan

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module", params=["ecg", "digits"])
def plan(request) -> Plan:
    return make_plan(EXAMPLES / f"{request.param}.toml")


def changed(plan: Plan, **fields) -> Plan:
    return dataclasses.replace(plan, **fields)


def decisions(value, path=()):
    """Every leaf of the decisions with its path."""
    if not isinstance(value, dict | list):
        yield path, value
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from decisions(item, (*path, key))


def test_a_plan_is_read_back_from_json_unchanged(plan):
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.hash == plan.hash
    assert again.to_json() == plan.to_json()
    assert dict(again.evidence) == json.loads(json.dumps(dict(plan.evidence)))


def test_decisions_are_integers_and_strings_only(plan):
    kinds = {type(value) for _, value in decisions(plan.decisions())}
    assert kinds == {int, str}


def test_hash_changes_with_every_decision(plan):
    """Each leaf of the decisions is changed in turn; a few of each table will do."""
    text = json.loads(plan.to_json())
    leaves = [path for path, _ in decisions(text["decisions"])
              if path[0] != "tables" or path[-1] in ("format", 0, 128)]
    assert len(leaves) > 60
    for path in leaves:
        damaged = json.loads(plan.to_json())
        node = damaged["decisions"]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = node[path[-1]] + 1 if isinstance(node[path[-1]], int) else f"{node[path[-1]]}x"
        with pytest.raises(KerncastError, match=r"E21[03]"):
            Plan.from_json(json.dumps(damaged))


def test_evidence_does_not_change_the_hash(plan):
    other = changed(plan, evidence={"alpha": {"decided_by": "somebody else"}})
    assert other.hash == plan.hash
    assert other.to_json() != plan.to_json()


def test_evidence_is_no_part_of_equality(plan):
    assert changed(plan, evidence={"alpha": {"decided_by": "somebody else"}}) == plan


def test_hash_changes_with_name_sizes_signals_and_constants(plan):
    x = plan.signals["x"]
    others = [
        changed(plan, name="other"),
        changed(plan, sizes={**plan.sizes, "D": plan.sizes["D"] + 1}),
        changed(plan, signals={**plan.signals, "x": dataclasses.replace(x, format=Format(True, 16, 3))}),
        changed(plan, constants={**plan.constants, "kernel_c": plan.integer("kernel_c") ^ 1}),
        changed(plan, memory=plan.memory[1:]),
        changed(plan, units={**plan.units, "y": "1/3"}),
    ]
    assert len({plan.hash, *(other.hash for other in others)}) == len(others) + 1


def test_order_of_members_decides_and_order_of_keys_does_not(plan):
    assert changed(plan, memory=plan.memory[::-1]).hash != plan.hash
    assert changed(plan, constants=dict(reversed(plan.constants.items()))).hash == plan.hash


@pytest.mark.parametrize("damage", [
    "", "null", "[]", "3", "{}", '{"decisions": {}}', '{"hash": "00", "decisions": []}', "{", "\x00",
])
def test_an_invalid_plan_is_refused_with_its_place(damage):
    with pytest.raises(KerncastError) as caught:
        Plan.from_json(damage, "out/plan.json")
    (problem,) = caught.value.problems
    assert problem.code == "E210"
    assert problem.where == "out/plan.json"


def test_a_plan_without_one_of_its_parts_is_refused(plan):
    whole = json.loads(plan.to_json())
    for part in (*whole["decisions"], "hash", "operations", "evidence"):
        damaged = json.loads(plan.to_json())
        (damaged if part in damaged else damaged["decisions"]).pop(part)
        with pytest.raises(KerncastError, match="E210"):
            Plan.from_json(json.dumps(damaged))


def test_a_plan_of_another_version_is_refused_with_how_to_make_it_again(plan):
    old = json.loads(plan.to_json())
    old["decisions"]["schema"] = 1  # as kerncast 0.1 wrote it
    del old["decisions"]["version"]
    new = json.loads(plan.to_json())
    new["decisions"]["version"] = plans.VERSION + 1
    for whole in (old, new):
        with pytest.raises(KerncastError, match=r"E213[\s\S]*kerncast gen") as caught:
            Plan.from_json(json.dumps(whole), "out/plan.json")
        assert [problem.where for problem in caught.value.problems] == ["out/plan.json"]


def test_counts_of_operations_and_the_runtime_leave_the_hash_alone(plan, monkeypatch):
    before = plan.hash
    monkeypatch.setattr(plans, "ABI", plans.ABI + 1)
    assert changed(plan, operations={}).hash == before


def test_plan_is_frozen(plan):
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.word = 32
    for mapping in (plan.options, plan.sizes, plan.signals, plan.constants, plan.tables, plan.units,
                    plan.evidence):
        with pytest.raises(TypeError):
            mapping["x"] = 1


def test_bytes_are_those_of_the_members_and_tables(plan):
    assert plan.state_bytes == sum(f.count * plans.C_BYTES[f.ctype] for f in plan.memory)
    assert plan.state_bytes % 8 == 0
    assert plan.table_bytes == sum(len(t.values) * t.format.c_bits // 8 for t in plan.tables.values())


def test_signals_state_their_possible_values(plan):
    for name, signal in plan.signals.items():
        assert signal.format.lo <= signal.lo <= signal.hi <= signal.format.hi, name
        assert Signal.from_dict(signal.as_dict()) == signal


def test_choices_of_a_plan_answer_for_every_algorithm(plan):
    asked = ("uniform", "plain_means", "biased_means", "looks_ahead", "schur", "static", "bias", "in_float32",
             "projects", "newest_only", "polynomial")
    found = {name: getattr(plan, name) for name in asked}
    assert {type(value) for value in found.values()} == {bool}
    assert found["uniform"] == (plan.options.get("scheme") == "uniform")
    assert found["newest_only"] == (plan.options.get("newest_only") == "1")
    assert plan.kernel == plan.options["kernel"] and plan.refine == int(plan.options.get("refine", 0))
