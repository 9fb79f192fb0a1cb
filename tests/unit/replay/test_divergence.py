"""The search for the first word that differs, on back ends that are lists of words, and on the models."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerncast.hw.backends import open_backend
from kerncast.sim.backend import Outputs, Raw
from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model, trace_hooks
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.divergence import find_divergence
from kerncast.sim.replay.trace import TRACED_CALLS, Event, Trace
from kerncast.sim.replay.vectors import Call, Vectors, make_vectors
from kerncast.sim.spec import Spec

Events = list[tuple[int, int, int, int]]  # hook, step, index, word


class Script:
    """A back end whose calls compute listed words: ``update`` those of its state, which it raises."""

    name = "script"
    calls = TRACED_CALLS

    def __init__(self, calls: dict[int, Events]) -> None:
        self._calls, self._log = calls, trace_hooks.Log(np.zeros((1, 3), np.int64), None)
        self._at, self.runs = 0, 0

    def _run(self, at: int) -> Outputs:
        self.runs += 1
        for event in self._calls.get(at, []):
            trace_hooks.trace(self._log, *event)
        return {"status": np.zeros(1, dtype=np.int64)}

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        self._at = 0
        return self._run(-1)

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        for _ in y_raw:
            self._at += 1
            answer = self._run(self._at - 1)
        return answer

    def predict(self, x_raw: Raw) -> Outputs:
        return self._run(-2)

    def state(self) -> Outputs:
        return {}

    def reset(self) -> None:
        self._at = 0

    def trace(self, limit: int) -> Trace:
        found = trace_hooks.finish(self._log.trace)
        self._log = trace_hooks.Log(self._log.ranges, trace_hooks.begin(limit))
        return found

    def close(self) -> None:
        pass


def vectors(*samples: int) -> Vectors:
    """Updates of so many samples each, a prediction after each."""
    calls = []
    for m in samples:
        x, y = np.zeros((m, 1), dtype=np.int64), np.zeros(m, dtype=np.int64)
        answer = {"status": np.zeros(1, dtype=np.int64)}
        calls += [Call("update", x, y, answer), Call("predict", x, None, answer)]
    return Vectors("", tuple(calls), {})


EVENT = st.tuples(st.integers(0, 3), st.integers(-2, 2), st.integers(0, 3),
                  st.sampled_from([0, 1, -1, 2**31, -(2**31), 2**32, 2**62, -(2**62)]))


@given(st.lists(st.lists(EVENT, max_size=9), min_size=4, max_size=4), st.integers(0, 3), st.data())
def test_the_first_event_that_differs_is_found_with_call_and_sample(samples, which, data):
    at = data.draw(st.integers(0, len(samples[which])))
    ours = dict(enumerate(samples))
    theirs = {**ours, which: [*ours[which][:at], *data.draw(st.lists(EVENT, max_size=9))]}
    result, found = find_divergence(Script(ours), Script(theirs), vectors(3, 1))

    call = range(3) if which < 3 else range(3, 4)
    old, new = ([event for k in call for event in side[k]] for side in (ours, theirs))
    equal = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a[1:] != b[1:]),
                 min(len(old), len(new)))
    assert result.mismatches == (found is not None) == ([e[1:] for e in old] != [e[1:] for e in new])
    if found is None:
        assert result.words == 4 + sum(map(len, samples))
        return
    assert (found.call, found.name, found.equal) == (0 if which < 3 else 2, "update", equal)
    for side, events in ((found.model, old), (found.device, new)):
        if equal == len(events):
            assert side is None
        else:
            hook, *place = events[equal]
            assert side == Event(*trace_hooks.HOOKS[hook], *place)
    ends = np.cumsum([len(ours[k]) for k in call])
    assert found.sample == min(int(np.sum(ends <= equal)), len(call) - 1)


def test_a_side_that_ends_early_is_reported():
    whole = [(0, 0, i, i) for i in range(10)]
    _, found = find_divergence(Script({0: whole}), Script({0: whole[:7]}), vectors(1))
    assert found is not None
    assert (found.equal, found.device) == (7, None)
    assert found.event.index == 7
    _, found = find_divergence(Script({0: whole[:7]}), Script({0: whole}), vectors(1))
    assert found is not None
    assert (found.equal, found.model, found.sample) == (7, None, 0)
    assert found.event.index == 7


def test_the_number_of_runs_grows_with_the_logarithm_of_the_values():
    ours: Events = [(0, i, 0, 1) for i in range(5000)]
    theirs = [*ours[:4321], (0, 4321, 0, 2), *ours[4322:]]
    device = Script({0: ours, 1: theirs})
    _, found = find_divergence(Script({0: ours, 1: ours}), device, vectors(1, 1))
    assert found is not None
    assert (found.call, found.event.step, found.equal) == (2, 4321, 4321)
    assert device.runs <= 4 + 2 * (5000).bit_length() + 4  # an earlier update before each try, no prediction


def test_a_mismatch_after_the_last_hook_is_reported_as_such():
    events: Events = [(0, 0, 0, 1)]
    wrong = vectors(1)
    calls = tuple(replace(c, expected={"status": np.ones(1, dtype=np.int64)}) for c in wrong.calls)
    result, found = find_divergence(Script({0: events}), Script({0: events}), replace(wrong, calls=calls))
    assert found is None
    assert result.mismatches == 2
    assert result.first.startswith("call 0 update status[0]")


# ---- the models ----
LMS = Spec(model={"name": "t", "algorithm": "kernel_lms"}, input={"word": "u6f0"}, output={"word": "s8f0"},
           kernel={"sigma": 9.0}, online={"budget": 5, "eta": 0.4, "rho": 0.05}, numbers={"word": 16})


@pytest.fixture(scope="module")
def learner():
    plan, chance = make_plan(LMS), np.random.default_rng(5)
    x, y = chance.integers(0, 64, (40, 1)), chance.integers(-128, 128, 40)
    return plan, make_vectors(open_model(plan), [("update", x, y), ("predict", x[:5], None)])


def test_a_model_does_not_leave_itself(learner):
    plan, calls = learner
    result, found = find_divergence(open_model(plan), open_model(plan), calls)
    assert found is None
    assert result.mismatches == 0
    assert result.words > 1000


def test_tracing_changes_no_value_and_no_range(learner):
    plan, calls = learner
    plain, traced = open_model(plan), open_model(plan)
    traced.trace(10)
    for call in calls.calls:
        answers = call.run(plain), call.run(traced)
        assert [{name: words.tolist() for name, words in answer.items()} for answer in answers] == [
            {name: words.tolist() for name, words in call.expected.items()}] * 2
    assert traced.trace(0).count > 0
    assert list(traced.ranges) == list(plain.ranges) != []


def test_a_change_of_one_sample_is_found_where_it_enters(learner):
    plan, calls = learner
    update = calls.calls[0]
    assert update.x_raw is not None

    class Disturbed:
        """The model, with another word in sample 17."""

        def __init__(self) -> None:
            self._model = open_model(plan)
            self.calls, self.name = self._model.calls, "disturbed"

        def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
            x_raw = x_raw.copy()
            x_raw[17] ^= 1
            return self._model.update(x_raw, y_raw)

        def __getattr__(self, name):
            return getattr(self._model, name)

    _, found = find_divergence(open_model(plan), Disturbed(), calls)
    assert found is not None
    assert (found.call, found.sample) == (0, 17)
    assert (found.event.operation, found.event.signal) == ("input_convert", "x")
    assert abs(found.model.word - found.device.word) > 0


def test_every_hook_has_a_name_of_its_own():
    assert len(set(trace_hooks.HOOKS)) == len(trace_hooks.HOOKS)


# ---- back ends without hooks ----
@pytest.mark.parametrize("name", ["rtl:icarus", "rtl:verilator", "model:fxpmath"])
def test_a_back_end_without_hooks_reports_it_before_anything_is_built(learner, tmp_path, name):
    with pytest.raises(KerncastError) as caught:
        open_backend(learner[0], name, source=tmp_path, traced=True)
    assert caught.value.problems[0].code == "E433"
    assert "--bisect" in caught.value.problems[0].remedy
    assert not list(tmp_path.iterdir())


def test_a_back_end_without_hooks_is_refused_by_the_search(learner):
    plan, calls = learner
    with pytest.raises(KerncastError, match="E433"):
        find_divergence(open_model(plan), open_fxp_model(plan), calls)  # type: ignore[arg-type]
