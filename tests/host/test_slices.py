"""Training in slices: the values of the blocking call, and refusals of calls out of order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.codegen.c.context import CHECKS
from kerncast.sim.statuses import DeviceStatus

from .slices import Slices, trained_by

NAMES = ["grid16", "mean32_varied", "schur16", "lookahead16", "band16", "geometric16", "geometric24",
         "band16_bias", "band16_refine", "tuned16", "cg16"]


def code(name):
    return int(DeviceStatus[name.upper()])


def make_ready(slices):
    slices.collect()
    assert slices.call("run", 2**32 - 1) == code("ok")


@pytest.fixture(params=NAMES)
def slices(request, host, cases):
    backend = host(request.param)
    yield Slices(backend, trained_by(cases(request.param).vectors))
    backend.close()


def test_slices_of_any_length_give_the_values_of_the_blocking_call(slices):
    backend = slices.backend
    expected = int(backend.train(slices.given.x_raw, slices.given.y_raw)["status"][0])
    state = backend.state()

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
    def sliced(lengths):
        backend.reset()
        assert slices.call("begin") == code("ok")
        for i in range(len(slices.given.y_raw)):
            assert slices.push(i) == code("ok")
            if i < len(slices.given.y_raw) - 1:
                assert slices.call("run", lengths[i % len(lengths)]) == code("pending")
        steps = [*lengths, 1]
        turn = 0
        while slices.call("run", steps[turn % len(steps)]) == code("pending"):
            turn += 1
        assert slices.commit() == expected
        found = backend.state()
        assert all(np.array_equal(found[name], words) for name, words in state.items())

    sliced()


def test_a_call_out_of_order_is_refused_with_the_model_untouched(slices):
    backend, refused = slices.backend, code("out_of_order")
    backend.train(slices.given.x_raw, slices.given.y_raw)
    before = slices.model
    assert [slices.push(0), slices.call("run", 1), slices.commit()] == [refused] * 3  # before begin
    assert slices.call("begin") == code("ok")
    assert [slices.call("begin"), slices.commit()] == [refused] * 2  # the second begin, commit too early
    slices.call("cancel")
    make_ready(slices)
    assert [slices.push(0), slices.call("begin")] == [refused] * 2  # a sample too many
    assert slices.model == before
    assert slices.commit() == int(slices.given.expected["status"][0])
    assert slices.commit() == refused
    assert slices.model == before


def test_a_null_pointer_is_refused_in_every_slice(slices):
    null, bad = slices.ffi.NULL, code("bad_argument")
    library, p = slices.backend.library, slices.plan.name
    data = (0,) if slices.x is None else (slices.x, 0)
    calls = [getattr(library, f"{p}_train_begin")(null), getattr(library, f"{p}_train_push")(null, *data),
             getattr(library, f"{p}_train_run")(null, 1),
             getattr(library, f"{p}_train_commit")(null, slices.backend.model),
             getattr(library, f"{p}_train_commit")(slices.backend.trainer, null)]
    getattr(library, f"{p}_train_cancel")(null)  # must return
    assert calls == [bad] * 5


def test_a_trainer_that_was_overwritten_is_refused_with_the_model_untouched(slices):
    backend, refused = slices.backend, code("out_of_order")
    scalars = [f.name for f in backend.plan.workspace
               if f.formula == "1" and f.ctype != "float" and f.name not in CHECKS]
    before = slices.model
    for name in scalars:
        slices.call("cancel")
        make_ready(slices)
        setattr(backend.trainer, name, getattr(backend.trainer, name) ^ 1)
        assert [slices.push(0), slices.call("run", 1), slices.commit()] == [refused] * 3, name
    for junk in (b"\x00", b"\xa5", b"\xff"):
        slices.call("cancel")
        make_ready(slices)
        backend.ffi.memmove(backend.trainer, junk * backend.plan.trainer_bytes, backend.plan.trainer_bytes)
        assert [slices.push(0), slices.call("run", 1), slices.commit()] == [refused] * 3, junk
    assert slices.model == before


#: Trainers with members of type float, and with short arrays: of look-ahead, candidates and outputs.
SHORT = {"lookahead24_f32": {"eps", "found", "level", "recent"}, "tuned16": {"evidence"},
         "lookahead16": {"correction_exps", "recent_q", "recent_e"}, "cg32_outputs": {"rr", "own_exp"}}


@pytest.mark.parametrize("name", SHORT)
def test_a_bit_of_a_short_member_is_noticed_wherever_it_is(host, cases, name):
    backend = host(name)
    slices = Slices(backend, trained_by(cases(name).vectors))
    before = slices.model
    members = [(f, at) for f, at in slices.members() if "n" not in f.formula and f.name not in CHECKS]
    assert SHORT[name] <= {f.name for f, _ in members}
    whole = slices.whole
    for field, at in members:
        for byte in range(at, at + field.bytes):
            slices.call("cancel")
            assert slices.call("begin") == code("ok")
            whole[byte] = bytes([whole[byte][0] ^ 0x20])
            assert slices.call("run", 1) == code("out_of_order"), (field.name, byte - at)
            whole[byte] = bytes([whole[byte][0] ^ 0x20])
            assert slices.call("run", 1) == code("pending")
    assert slices.model == before
    backend.close()


def test_a_failed_training_keeps_the_old_model(host, cases):
    backend = host("indefinite16")
    train = trained_by(cases("indefinite16").vectors)
    backend.ffi.memmove(backend.model, b"\x01" * backend.plan.state_bytes, backend.plan.state_bytes)
    status = int(backend.train(train.x_raw, train.y_raw)["status"][0])
    assert status == code("not_positive_definite")
    assert bytes(backend.ffi.buffer(backend.model)) == b"\x01" * backend.plan.state_bytes
    backend.close()
