"""Calls on blocks of samples: the values and statuses of one call per sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.hw.backends import open_backend
from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_TRAINED, OK, OUT_OF_ORDER, PENDING, SATURATED

from . import test_classes as predictors
from .slices import Slices, trained_by

PREDICTS = ["grid16", "cg16_classes", "lms16_outputs", "klms16_f32", "band16_outputs"]
PUSHES = ["grid16", "mean32_varied", "lookahead16", "band16", "band16_outputs", "cg16_classes"]


def same_as_one_by_one(backend, x):
    """The status of a block, whose values are those of single predictions."""
    one = backend.predict(x)
    status, f = backend.predict_block(x)
    assert np.array_equal(f.ravel(), one["f"].ravel())
    assert status == (min(one["status"]) if min(one["status"]) < 0 else max(one["status"]))
    return status


@pytest.mark.parametrize("name", PREDICTS)
def test_a_block_is_predicted_as_its_samples_are(host, cases, name):
    backend, calls = host(name), cases(name).vectors.calls
    samples = np.concatenate([call.x_raw for call in calls if call.name == "predict"])
    assert same_as_one_by_one(backend, samples) == NOT_TRAINED
    for learn in [call for call in calls if call.name in ("train", "update")][:2]:
        getattr(backend, learn.name)(learn.x_raw, learn.y_raw)
    found = {same_as_one_by_one(backend, samples[i:i + size]) for size in (1, 7) for i in range(0, 84, size)}
    assert found <= {OK, SATURATED} and OK in found
    assert (SATURATED in found) == (name == "lms16_outputs")
    assert same_as_one_by_one(backend, samples) == max(found)
    backend.close()


def test_a_constant_model_predicts_blocks(require_tool):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    plan, vectors = predictors.plan_of("votes16"), predictors.vectors_of("votes16")
    backend = open_backend(plan, "host")
    x = next(call for call in vectors.calls if call.name == "predict").x_raw
    status, f = backend.predict_block(x)
    assert np.array_equal(f, backend.predict(x)["f"]) and status in (OK, SATURATED)
    backend.close()


@pytest.mark.parametrize("name", ["lms16", "band16_outputs"])
def test_a_block_with_a_null_pointer_is_refused(host, name):
    backend = host(name)
    null, call = backend.ffi.NULL, getattr(backend.library, f"{name}_model_predict_block")
    x = backend.ffi.new(f"{backend.plan.signals['x_raw'].format.c_type}[]", 64)
    f = backend.ffi.new(f"{backend.plan.word_type}[]", [77] * 64)
    given_ = (backend.model, x, 1, f)
    assert [call(*given_[:i], null, *given_[i + 1:]) for i in (0, 1, 3)] == [BAD_ARGUMENT] * 3
    assert call(backend.model, x, 0, f) == OK
    assert list(f) == [77] * 64
    backend.close()


class Blocks(Slices):
    """The functions of a trainer, with pushes of several samples."""

    def push_block(self, first, count):
        columns, targets = self.backend.plan.sizes["D"], self.backend.plan.targets
        x = () if self.x is None else (self.x + first * columns,)
        return self.call("push_block", *x, self.y + first * targets, count)


@pytest.fixture(params=PUSHES)
def blocks(request, host, cases):
    backend = host(request.param)
    yield Blocks(backend, trained_by(cases(request.param).vectors))
    backend.close()


def test_blocks_of_any_size_give_the_values_of_the_blocking_call(blocks):
    backend, n = blocks.backend, len(blocks.given.y_raw)
    expected = int(backend.train(blocks.given.x_raw, blocks.given.y_raw)["status"][0])
    state, trainer = backend.state(), backend.workspace()

    @settings(max_examples=12, deadline=None)
    @given(st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(any))
    def sliced(sizes):
        backend.reset()
        assert blocks.call("begin") == OK
        at = turn = 0
        while at < n:
            size = min(sizes[turn % len(sizes)], n - at)
            assert blocks.push_block(at, size) == OK
            at, turn = at + size, turn + 1
            if at < n:
                assert blocks.call("run", 3) == PENDING
        assert blocks.call("run", 2**32 - 1) == OK
        assert blocks.commit() == expected
        assert all(np.array_equal(backend.state()[name], words) for name, words in state.items())
        assert np.array_equal(backend.workspace()["y"], trainer["y"])

    sliced()


def test_a_block_of_too_many_samples_is_refused_whole(blocks):
    n = len(blocks.given.y_raw)
    assert blocks.push_block(0, 1) == OUT_OF_ORDER  # before begin
    assert blocks.call("begin") == OK
    assert blocks.push_block(0, n - 1) == OK
    before = bytes(blocks.whole)
    assert [blocks.push_block(n - 1, count) for count in (2, n, 2**31, 2**32 - 1)] == [OUT_OF_ORDER] * 4
    assert blocks.push_block(n - 1, 0) == OK
    assert bytes(blocks.whole) == before
    assert blocks.push_block(n - 1, 1) == OK
    assert blocks.push_block(0, 1) == OUT_OF_ORDER
    blocks.call("cancel")


def test_a_push_of_a_block_refuses_null_pointers_and_an_overwritten_trainer(blocks):
    backend, null = blocks.backend, blocks.ffi.NULL
    before = blocks.model
    assert blocks.call("begin") == OK
    arrays = (blocks.y,) if blocks.x is None else (blocks.x, blocks.y)
    for i in range(len(arrays)):
        assert blocks.call("push_block", *arrays[:i], null, *arrays[i + 1:], 1) == BAD_ARGUMENT
    call = getattr(backend.library, f"{blocks.plan.name}_train_push_block")
    assert call(null, *arrays, 1) == BAD_ARGUMENT
    backend.trainer.step ^= 1
    assert [blocks.push_block(0, count) for count in (0, 1)] == [OUT_OF_ORDER] * 2
    assert blocks.model == before
    blocks.call("cancel")


def test_a_block_with_a_label_outside_the_classes_changes_nothing(host, cases):
    backend = host("cg16_classes")
    blocks = Blocks(backend, trained_by(cases("cg16_classes").vectors))
    assert blocks.call("begin") == OK
    before = bytes(blocks.whole)
    wrong = np.array(blocks.given.y_raw)
    wrong[3] = len(backend.plan.class_names)
    labels = backend._raw(wrong, "y_raw")
    assert blocks.call("push_block", blocks.x, labels, 4) == BAD_ARGUMENT
    assert bytes(blocks.whole) == before
    assert blocks.call("push_block", blocks.x, labels, 3) == OK
    backend.close()


def test_a_block_whose_training_fails_returns_the_reason(host, cases):
    backend = host("indefinite16")
    blocks = Blocks(backend, trained_by(cases("indefinite16").vectors))
    failed = int(blocks.given.expected["status"][0])
    assert failed < 0 and blocks.call("begin") == OK
    n = len(blocks.given.y_raw)
    statuses = [blocks.push_block(0, n), blocks.call("run", 2**32 - 1), blocks.commit()]
    assert statuses[1:] == [failed] * 2
    assert statuses[0] in (OK, failed)
    backend.close()
