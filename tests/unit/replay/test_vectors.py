"""Test vectors: answers of the model that every back end must repeat, kept in a file."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kerncast.cli import test as cli_test
from kerncast.cli._aliases import hil_run
from kerncast.cli.hil import hil_record
from kerncast.codegen.generate import generate
from kerncast.lab.workflow import load_inputs
from kerncast.sim.backend import Comparison
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import Vectors, limit_predictions, make_vectors, replay, usual_calls
from kerncast.sim.spec import Spec

SPECS = {
    "train": Spec(model={"name": "probe", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
                  output={"word": "s8f0"}, kernel={"sigma": 2.0},
                  toeplitz={"n": 6, "lam": 0.5, "scheme": "uniform"}),
    "learn": Spec(model={"name": "probe", "algorithm": "kernel_lms"}, input={"word": "u4f0", "columns": 2},
                  output={"word": "s8f0"}, kernel={"sigma": 2.0}, online={"budget": 4, "eta": 0.5}),
}


@pytest.fixture(params=["train", "learn"])
def kind(request) -> str:
    return request.param


@pytest.fixture
def plan(kind):
    return make_plan(SPECS[kind])


@pytest.fixture
def vectors(plan, kind) -> Vectors:
    rng = np.random.default_rng(1)
    columns = plan.sizes["D"]
    x = None if kind == "train" else rng.integers(0, 16, (20, columns))
    y = rng.integers(-128, 128, 6 if kind == "train" else 20)
    return make_vectors(open_model(plan),
                        usual_calls(plan, x, y, rng.integers(0, 16, (5, columns)), passes=2))


def same(one: Vectors, two: Vectors) -> bool:
    return one.to_json() == two.to_json()


def test_vectors_are_read_back_from_json_unchanged(vectors, plan):
    again = Vectors.from_json(vectors.to_json())
    assert same(again, vectors)
    assert again.plan_hash == plan.hash
    for one, two in zip(again.calls, vectors.calls, strict=True):
        assert one.name == two.name
        assert (one.x_raw is None) == (two.x_raw is None)
        assert all(np.array_equal(one.expected[k], v) and one.expected[k].dtype == np.int64
                   for k, v in two.expected.items())


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"plan": "0", "calls": [{}], "state": {}}',
                                  '{"plan": "0", "calls": 3, "state": {}}',
                                  '{"plan": "0", "calls": [{"call": "close", "x": null, "y": null, '
                                  '"expected": {}}], "state": {}}',
                                  '{"plan": "0", "calls": [], "state": []}',
                                  '{"plan": "0", "calls": [], "state": {"a": ["x"]}}',
                                  '{"plan": "0", "calls": [], "state": {"a": [1.5]}}',
                                  '{"plan": "0", "calls": [], "state": {"a": [99999999999999999999]}}'])
def test_an_invalid_vector_file_is_refused_with_its_place(text):
    with pytest.raises(KerncastError) as caught:
        Vectors.from_json(text, "out/vectors.json")
    assert [(p.code, p.where) for p in caught.value.problems] == [("E211", "out/vectors.json")]


@pytest.mark.parametrize(("place", "change"), [
    (0, {"y": None}), (0, {"expected": {}}), (0, {"expected": {"f": [0] * 20}}),
    (0, {"expected": {"status": [0] * 3, "f": [0] * 3}}),
    (-1, {"x": None}), (-1, {"y": [1] * 5}), (-1, {"expected": {"status": [0] * 5}}),
    (-1, {"expected": {"f": [0] * 5}}), (-1, {"expected": {"status": [0] * 5, "f": [0] * 4}})])
def test_a_call_that_lacks_values_is_refused_and_not_compared_in_part(vectors, place, change):
    whole = json.loads(vectors.to_json())
    whole["calls"][place] |= change
    with pytest.raises(KerncastError, match="E211"):
        Vectors.from_json(json.dumps(whole))


def test_model_repeats_its_own_answers_whatever_it_was_used_for_before(plan, vectors):
    model = open_model(plan)
    first = replay(model, vectors)
    second = replay(model, vectors)
    expected = sum(v.size for call in vectors.calls for v in call.expected.values())
    expected += sum(v.size for members in (vectors.state, vectors.workspace, vectors.fitted)
                    for v in members.values())
    for result in (first, second):
        assert (result.words, result.mismatches, result.first) == (expected, 0, "")
        assert len(result.answers) == len(vectors.calls)


class Off:
    """A model with one word of one call's answer, or of the state, off by one."""

    def __init__(self, plan, call, name):
        self.model, self.call, self.off_name = open_model(plan), call, name
        self.name, self.calls, self.reset = "off", self.model.calls, self.model.reset

    def __getattr__(self, call):
        method = getattr(self.model, call)

        def answer(*arguments):
            found = method(*arguments)
            if call == self.call:
                found[self.off_name] = found[self.off_name].copy()
                found[self.off_name][-1] += 1
            return found
        return answer


def test_one_value_off_by_one_is_found_and_named(plan, vectors):
    wrong = replay(Off(plan, "predict", "f"), vectors)
    last = len(vectors.calls) - 1
    assert wrong.mismatches == 1
    assert wrong.first.startswith(f"call {last} predict f[4]: ")
    wrong = replay(Off(plan, "state", "alpha"), vectors)
    assert wrong.mismatches == 1
    assert wrong.first.startswith("state alpha[")


def test_calls_that_a_back_end_does_not_answer_are_left_out(plan, vectors):
    model = open_model(plan)
    model.calls = frozenset({"predict"})
    result = replay(model, vectors)
    assert result.words == sum(v.size for v in vectors.calls[-1].expected.values())


def test_a_missing_or_misshapen_array_counts_whole():
    result = Comparison()
    result.add("here", {"f": np.zeros(5), "g": np.zeros((2, 2))}, {"g": np.zeros(4)})
    assert (result.words, result.mismatches) == (9, 9)
    assert result.first.startswith("here f: shape None")


def test_shortened_vectors_ask_for_fewer_predictions_and_the_same_training(vectors):
    short = limit_predictions(vectors, 2)
    assert [len(c.x_raw) for c in short.calls if c.name == "predict"] == [2]
    assert [c.expected["f"].size for c in short.calls if c.name == "predict"] == [2]
    assert short.calls[:-1] == vectors.calls[:-1]
    assert same(limit_predictions(vectors, 100), vectors)


def test_vectors_of_another_plan_or_with_another_state_are_refused(plan, vectors):
    vectors.check(plan, "vectors.json")
    for changed, code in ((replace(vectors, plan_hash="0" * 64), "E309"),
                          (replace(vectors, state={}), "E211"),
                          (replace(vectors, state={**vectors.state, "more": np.zeros(1, np.int64)}), "E211")):
        with pytest.raises(KerncastError) as caught:
            changed.check(plan, "vectors.json")
        assert caught.value.problems[0].code == code


def test_every_command_that_replays_a_folder_refuses_vectors_of_another_plan(plan, vectors, tmp_path):
    generate(plan, tmp_path, vectors=replace(vectors, plan_hash="0" * 64))
    for command in (lambda: load_inputs(tmp_path, tmp_path), lambda: cli_test.test(tmp_path, ["model"]),
                    lambda: hil_run(tmp_path, "mps2-an386"), lambda: hil_record(tmp_path, "emu:mps2-an386")):
        with pytest.raises(KerncastError) as caught:
            command()
        assert caught.value.problems[0].code == "E309"
