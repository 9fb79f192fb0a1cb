"""What generated C refuses: null pointers, a model that learnt nothing, a model that was overwritten."""

import numpy as np
import pytest

from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_TRAINED, OK


def snapshot(backend):
    return bytes(backend.ffi.buffer(backend.model))


@pytest.mark.parametrize("name", ["grid16", "mean32_varied", "cg16", "lms16", "lms32_rails"])
def test_a_null_pointer_is_a_bad_argument_and_changes_nothing(host, cases, name):
    backend = host(name)
    lib, null, p = backend.library, backend.ffi.NULL, name
    x = backend.ffi.new(f"{backend.plan.signals['x_raw'].format.c_type}[]", 64 * 20)
    y = backend.ffi.new(f"{backend.plan.signals['y_raw'].format.c_type}[]", 64)
    f = backend.ffi.new(f"{backend.plan.word_type} *", 77)
    model = backend.model
    before = snapshot(backend)
    predict = getattr(lib, f"{p}_model_predict")
    calls = [predict(null, x, f), predict(model, null, f), predict(model, x, null)]
    if backend.plan.algorithm == "kernel_lms":
        update = getattr(lib, f"{p}_lms_update")
        calls += [update(null, x, 0, f), update(model, null, 0, f), update(model, x, 0, null)]
    else:
        train = getattr(lib, f"{p}_train")
        data = (backend.trainer, model, y) if backend.plan.uniform else (backend.trainer, model, x, y)
        calls += [train(*data[:i], null, *data[i + 1:]) for i in range(len(data))]
    getattr(lib, f"{p}_model_init")(null)  # must return, that is all
    assert calls == [BAD_ARGUMENT] * len(calls)
    assert snapshot(backend) == before
    assert f[0] == 77
    backend.close()


@pytest.mark.parametrize("name", ["grid16", "biased16_varied", "lms32_ties_decay"])
def test_predicting_with_an_untrained_model_gives_its_status_and_0(host, name):
    backend = host(name)
    answer = backend.predict(np.zeros((3, backend.plan.sizes["D"]), dtype=np.int64))
    assert answer["status"].tolist() == [NOT_TRAINED] * 3
    assert answer["f"].tolist() == [0] * 3
    backend.close()


def test_a_learner_whose_count_was_overwritten_is_refused(host, cases):
    backend = host("lms16")
    case = cases("lms16")
    update = next(call for call in case.vectors.calls if call.name == "update")
    backend.update(update.x_raw, update.y_raw)
    for count in (case.plan.sizes["N"] + 1, 0xFFFF):
        backend.model.count = count
        before = snapshot(backend)
        assert set(backend.update(update.x_raw[:2], update.y_raw[:2])["status"]) == {BAD_ARGUMENT}
        assert set(backend.predict(update.x_raw[:2])["status"]) == {BAD_ARGUMENT}
        assert snapshot(backend) == before
    backend.close()


def test_a_learner_whose_ages_were_overwritten_is_refused(host, cases):
    backend = host("lms16")
    update = next(call for call in cases("lms16").vectors.calls if call.name == "update")
    backend.update(update.x_raw, update.y_raw)
    for i in range(cases("lms16").plan.sizes["N"]):
        backend.model.age_order[i] = 0  # no vector has an elder: none may go
    other = np.full((1, 20), -77, dtype=np.int64)
    assert backend.update(other, np.zeros(1, dtype=np.int64))["status"].tolist() == [BAD_ARGUMENT]
    backend.close()


@pytest.mark.parametrize("field", ["trained", "alpha_exp"])
def test_a_trained_model_that_was_overwritten_predicts_nothing(host, cases, field):
    backend = host("grid16")
    train = next(call for call in cases("grid16").vectors.calls if call.name == "train")
    assert backend.train(None, train.y_raw)["status"].tolist() == [OK]
    x = np.array([[3]])
    assert backend.predict(x)["status"].tolist() == [OK]
    setattr(backend.model, field, 0x1234)
    assert backend.predict(x)["status"].tolist() == [BAD_ARGUMENT]
    backend.model.trained = 0
    assert backend.predict(x)["status"].tolist() == [NOT_TRAINED]  # whatever the other members are
    backend.close()


def test_a_least_squares_learner_with_another_flag_is_refused(host, cases):
    backend = host("rls16")
    update = next(call for call in cases("rls16").vectors.calls if call.name == "update")
    backend.update(update.x_raw[:2], update.y_raw[:2])
    backend.model.trained = 2
    before = snapshot(backend)
    assert set(backend.predict(update.x_raw[:2])["status"]) == {BAD_ARGUMENT}
    assert set(backend.update(update.x_raw[:2], update.y_raw[:2])["status"]) == {BAD_ARGUMENT}
    assert snapshot(backend) == before
    backend.close()


@pytest.mark.parametrize("name", ["lms16", "lms16_ties"])
def test_an_overwritten_learner_never_writes_outside_its_structure(host, cases, name):
    """Whatever the words of the structure are, the guard bytes around it stay as they were."""
    backend = host(name)
    size = backend.ffi.sizeof(backend.model[0])
    rng = np.random.default_rng(5)
    update = next(call for call in cases(name).vectors.calls if call.name == "update")
    for _ in range(20):
        around = backend.ffi.new("uint8_t[]", size + 128)
        backend.ffi.buffer(around)[:] = b"\xa5" * (size + 128)
        junk = rng.integers(0, 256, size, dtype=np.uint8).tobytes()
        backend.ffi.buffer(around)[64:64 + size] = junk
        backend.model = backend.ffi.cast(f"{name}_model_t *", around + 64)
        backend.model.count = int(rng.integers(0, backend.plan.sizes["N"] + 1))
        backend.update(update.x_raw[:30], update.y_raw[:30])
        whole = bytes(backend.ffi.buffer(around))
        assert whole[:64] + whole[64 + size:] == b"\xa5" * 128
    backend.close()
