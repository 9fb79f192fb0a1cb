"""The generated C splits an update into calls of bounded time, with the values of one call."""

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.replay.saved_state import RestoreStatus, encode
from kerncast.sim.statuses import DeviceStatus

from .conftest import draw

OK, PENDING, OUT_OF_ORDER, BAD = (int(DeviceStatus[name]) for name in (
    "OK", "PENDING", "OUT_OF_ORDER", "BAD_ARGUMENT"))
NAMES = ("lms16_bounded", "lms32_bounded")
BUILDS = (("gcc", "-O2"), ("gcc", "-O0"), ("clang", "-O2"), ("clang", "-Os"))
REMEDY = "make tools"


def samples(plan: Plan, count: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Samples of a few values and of many in turn."""
    rng, x, y = np.random.default_rng(seed), plan.signals["x_raw"].format, plan.signals["y_raw"].format
    parts = [draw(kind, rng, x, (count, plan.sizes["D"])) for kind in ("few", "noise", "walk")]
    return np.concatenate(parts), draw("noise", rng, y, (3 * count,))


class Split:
    """The calls of a split update in the library of a back end."""

    def __init__(self, backend: HostBackend) -> None:
        self.backend, self.f = backend, backend.ffi.new(f"{backend.plan.word_type} *")

    def call(self, name: str, x: np.ndarray, y: int) -> int:
        return self.backend._call(name, self.backend._raw(x, "x_raw"), y, self.f)

    def begin(self, x: np.ndarray, y: int) -> int:
        return self.call("lms_update_begin", x, y)

    def run(self, searches: int) -> int:
        return self.backend._call("lms_update_run", searches)

    def bytes(self) -> bytes:
        return bytes(self.backend.ffi.buffer(self.backend.model))

    def leave_searches(self) -> tuple[np.ndarray, int]:
        """Learn until an update leaves searches; return the next sample."""
        plan = self.backend.plan
        for seed in range(50):  # FKLMS settles, and then leaves none
            x, y = samples(plan, plan.sizes["N"], seed)
            self.backend.reset()
            for i in range(len(y) - 1):
                self.begin(x[i:i + 1], int(y[i]))
                if self.backend.model.pending:
                    return x[i + 1:i + 2], int(y[i + 1])
        raise AssertionError("no update left a search")


@pytest.fixture
def split(host):
    """``split(name)``: a case in which searches are left, and the next sample."""
    def opened(name: str) -> tuple[Split, np.ndarray, int]:
        found = Split(host(name))
        return found, *found.leave_searches()

    return opened


@pytest.mark.covering
@pytest.mark.parametrize(("compiler", "level"), BUILDS)
@pytest.mark.parametrize("name", NAMES)
def test_every_call_of_a_split_update_leaves_the_state_of_the_model(
        cases, require_tool, ledger, name, compiler, level):
    require_tool(compiler, REMEDY)
    case = cases(name)
    backend = HostBackend(case.plan, case.folder, compiler=compiler, flags=(level,))
    model = open_model(case.plan)
    split, (x, y) = Split(backend), samples(case.plan, 60)
    words = runs = 0
    for i in range(len(y)):
        expected = model.update_begin(x[i:i + 1], y[i:i + 1])
        assert (split.begin(x[i:i + 1], int(y[i])), split.f[0]) == (expected["status"][0], expected["f"][0])
        left = True
        while left:
            found, at = backend.state(), model.state()
            words += sum(values.size for values in at.values())
            assert all(np.array_equal(found[member], values) for member, values in at.items())
            guess, wanted = backend.predict(x[i:i + 1]), model.predict(x[i:i + 1])
            assert all(np.array_equal(guess[key], values) for key, values in wanted.items())
            status = split.run(1)
            assert status == model.update_run(1)
            left, runs = status == PENDING, runs + 1
    backend.close()
    assert runs > (len(y) if name == "lms32_bounded" else 0)  # some samples left several searches
    ledger.record(backend=f"host:{compiler}:{level}", words=words, mismatches=0, case=f"{name} split")


@pytest.mark.parametrize("name", NAMES)
def test_one_call_leaves_every_byte_as_the_calls_of_a_split_update(cases, host, name):
    plan = cases(name).plan
    split, (x, y) = Split(host(name)), samples(plan, 60)
    backend = split.backend
    found = backend.update(x, y)
    again = HostBackend(plan, cases(name).folder, compiler="gcc", flags=("-O1",))
    by_parts, parts = Split(again), []
    for i in range(len(y)):
        parts.append((by_parts.begin(x[i:i + 1], int(y[i])), by_parts.f[0]))
        assert by_parts.run(plan.sizes["N"]) == OK
    assert np.array_equal(np.array(parts), np.stack([found["status"], found["f"]], axis=1))
    assert by_parts.bytes() == split.bytes()
    again.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_refused_while_searches_are_left(split, name):
    found, x, y = split(name)
    before = found.bytes()
    found.f[0] = 77
    for call in ("lms_update", "lms_update_begin"):
        assert found.call(call, x, y) == OUT_OF_ORDER
    assert found.f[0] == 77 and found.bytes() == before
    while found.run(1) == PENDING:
        pass
    assert found.begin(x, y) >= OK


@pytest.mark.parametrize("name", NAMES)
def test_a_save_is_refused_and_writes_nothing_while_searches_are_left(split, name):
    found, _, _ = split(name)
    backend = found.backend
    before, slots = found.bytes(), [bytes(backend.ffi.buffer(slot)) for slot in backend.slots]
    assert backend._call("state_save", backend._storage) == OUT_OF_ORDER
    assert found.bytes() == before
    assert [bytes(backend.ffi.buffer(slot)) for slot in backend.slots] == slots
    assert found.run(1000) == OK
    assert backend._call("state_save", backend._storage) == OK


@pytest.mark.parametrize("name", NAMES)
def test_a_run_without_work_or_steps_changes_nothing(split, name):
    found, _, _ = split(name)
    before = found.bytes()
    assert found.run(0) == PENDING and found.bytes() == before
    assert found.run(0xFFFFFFFF) == OK
    before = found.bytes()
    assert found.run(0) == found.run(5) == OK and found.bytes() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_null_pointer_or_a_damaged_model_is_refused(split, name):
    found, x, y = split(name)
    library, null = found.backend.library, found.backend.ffi.NULL
    run = getattr(library, f"{name}_lms_update_run")
    assert run(null, 1) == BAD
    begin = getattr(library, f"{name}_lms_update_begin")
    assert begin(null, found.backend._raw(x, "x_raw"), y, found.f) == BAD
    model = found.backend.model
    for count, pending in ((model.count, model.count + 1), (60000, 1), (60000, 60000)):
        model.count, model.pending = count, pending
        before = found.bytes()
        assert run(model, 0xFFFFFFFF) == BAD and found.bytes() == before


def test_a_state_with_searches_left_is_not_restored(cases, host):
    plan, backend = cases(NAMES[0]).plan, host(NAMES[0])
    x, y = samples(plan, 20)
    backend.update(x, y)
    state = backend.state()
    state["pending"][0] = 1
    image, before = encode(plan, state, 1), backend.state()
    backend.ffi.buffer(backend.slots[0])[:len(image)] = image
    assert backend._call("state_restore", backend._storage) == RestoreStatus.INCONSISTENT
    assert all(np.array_equal(backend.state()[name], values) for name, values in before.items())
