"""Other code writes to a trainer between two slices: commit refuses, or the error bound covers the model."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.codegen.c.context import CHECKS, context
from kerncast.sim.model.toeplitz.trainer import certified_accurate, certified_bound
from kerncast.sim.statuses import DeviceStatus

from .conftest import choices
from .slices import Slices, trained_by

OK, PENDING, REFUSED = (int(DeviceStatus[name]) for name in ("OK", "PENDING", "OUT_OF_ORDER"))
#: Vectors that the solver computes: no checksum covers them while they change.
LEVINSON, BANDED = {"a", "alpha"}, {"alpha"}
SCHUR = LEVINSON | {"p", "q", "s"}
LOOKAHEAD = {"row", "target", "predictor", "inverse", "columns", "solution", "wide", "blocks"}
CORRECTIONS = {"a", "rhs", "z"}
#: Those of each trainer, by the name of its case.
RECURSION = {
    "grid16": LEVINSON, "mean32_varied": LEVINSON, "schur16": SCHUR, "lookahead16": LOOKAHEAD,
    "lookahead24_f32": LOOKAHEAD, "band16": BANDED, "band16_bias": BANDED, "band32": BANDED,
    "tuned16": BANDED, "geometric16": BANDED, "geometric32": BANDED,
    "band16_refine": {"rhs", "z"}, "band16_outputs": BANDED, "band24_outputs_bias": BANDED,
    "grid16_refine": CORRECTIONS, "grid24_refine_bias": CORRECTIONS | {"eta"},
    "grid32_bias": CORRECTIONS | {"eta"}, "cg16": {"wide"}, "cg32_outputs": {"wide", "p", "r", "alpha"},
    "cg16_classes": {"wide", "p", "r", "alpha"}}
#: Arrays that are written once, and covered from then on.
SETTLED = {"y", "centers", "r", "r_short"}


class Training(Slices):
    """A training that is damaged at a pause."""

    def pauses(self, steps) -> Iterator[int]:
        """Train with `steps` steps per call; yield the status of each call, at last that of commit."""
        self.call("cancel")
        yield self.call("begin")
        for i in range(self.plan.sizes["n"]):
            yield self.push(i)
        status = PENDING
        while status == PENDING:
            status = self.call("run", steps)
            yield status
        yield self.commit()

    def train(self, steps=1 << 20, pause=-1, damage: Callable[[], None] = lambda: None):
        """Train with `damage` at the pause before a call; return the status of commit and the last call."""
        status, at, training = OK, 0, self.pauses(steps)
        for at, status in enumerate(training):
            if status < 0:
                return self.commit(), at
            if at == pause:
                damage()
        return status, at

    def restore(self, model):
        self.ffi.buffer(self.backend.model)[:] = model


@pytest.fixture(params=RECURSION)
def slices(request, host, cases):
    backend = host(request.param)
    yield Training(backend, trained_by(cases(request.param).vectors))
    backend.close()


def stages(plan):
    """The names of the stages, by their numbers."""
    return ["NONE", "COLLECT", *(name for name, _ in context(plan, "")["stages"]), "READY", "FAILED"]


def old_model(backend):
    """A model to find again: all bytes but the flag are noise."""
    return np.random.default_rng(5).bytes(backend.plan.state_bytes)


def honest(slices):
    """Whether the bound in a model of one pair of sigma and lambda is the bound of its solution."""
    backend = slices.backend
    plan, state = backend.plan, backend.state()
    if plan.algorithm != "toeplitz_rls" or plan.tunes:
        return True
    offset, n = backend.ffi.offsetof(f"{plan.name}_trainer_t", "y"), plan.sizes["n"]
    kind = next(f.ctype for f in plan.workspace if f.name == "y")
    whole = slices.whole
    y = np.frombuffer(whole, kind.removesuffix("_t"), n, offset).astype(np.int64)
    y += int(state["bias"][0]) if plan.banded and plan.bias else 0
    return certified_bound(plan, y, state) == state["bound"][0] and certified_accurate(plan, y, state)


@pytest.mark.covering(slices=choices)
def test_a_trainer_overwritten_at_a_pause_publishes_no_unbounded_model(slices):
    backend, before = slices.backend, old_model(slices.backend)
    whole, members, names = slices.whole, slices.members(), stages(backend.plan)
    reference = {}
    for steps in (1, 7, 1 << 20):
        slices.restore(before)
        status, last = slices.train(steps)
        reference[steps] = status, last, slices.model

    @settings(max_examples=120, deadline=None)
    @given(st.sampled_from(sorted(reference)), st.floats(0, 1, exclude_max=True),
           st.integers(0, len(members) - 1), st.floats(0, 1, exclude_max=True),
           st.binary(min_size=1, max_size=12), st.booleans())
    def overwrite(steps, pause, member, place, junk, flip):
        expected, last, trained = reference[steps]
        field, offset = members[member]
        at = offset + int(place * field.bytes)
        stage = []

        def damage():
            size = min(1 if flip else len(junk), offset + field.bytes - at)
            wrong = bytes([whole[at][0] ^ 1 << junk[0] % 8]) if flip else junk[:size]
            stage.append(names[backend.trainer.stage])
            whole[at:at + size] = wrong

        slices.restore(before)
        status, _ = slices.train(steps, int(pause * last), damage)
        found = slices.model
        if status < 0:
            assert found == before, (field.name, stage)
        elif found != trained and status == OK:
            assert expected == OK
            assert field.name in RECURSION[backend.plan.name], (field.name, stage)
            assert stage[0] not in ("READY", "FINISH") and honest(slices), (field.name, stage)

    overwrite()


def covered(slices):
    """Offset and bytes of each element of the arrays that are settled when a solution is ready."""
    for field, offset in slices.members():
        if field.name in SETTLED | {"alpha"} and ("n" in field.formula):
            size = field.bytes // field.count
            for i in range(field.count):
                if field.name in ("r", "r_short") and i == 0:
                    continue  # it is the implicit 1
                if field.name == "r" and slices.backend.plan.algorithm == "kernel_cg":
                    continue  # the residual
                yield offset + i * size, size


@pytest.mark.covering(slices=choices)
def test_a_bit_of_a_sample_row_or_solution_is_noticed_by_commit(slices):
    before = old_model(slices.backend)
    whole, rng = slices.whole, np.random.default_rng(0)
    slices.restore(before)
    _, last = slices.train()
    trained = slices.model
    slices.restore(before)
    for at, size in list(covered(slices))[::3]:
        byte, bit = at + int(rng.integers(size)), 1 << int(rng.integers(8))

        def damage(byte=byte, bit=bit):
            whole[byte] = bytes([whole[byte][0] ^ bit])

        assert slices.train(pause=last - 1, damage=damage)[0] == REFUSED, byte
        assert slices.model == before
    assert slices.train()[0] >= 0 and slices.model == trained  # begin needs no cancel after that


@pytest.mark.covering(slices=choices)
def test_two_samples_or_coefficients_that_are_exchanged_are_noticed(slices):
    before = old_model(slices.backend)
    whole, rng = slices.whole, np.random.default_rng(0)
    slices.restore(before)
    _, last = slices.train()
    slices.restore(before)
    tried = 0
    for field, offset in slices.members():
        if field.name not in ("y", "alpha") or field.count < 2:
            continue
        size = field.bytes // field.count
        for _ in range(40):
            i, j = (offset + int(k) * size for k in rng.choice(field.count, 2, replace=False))
            same = []

            def damage(i=i, j=j, size=size, same=same):
                one, two = bytes(whole[i:i + size]), bytes(whole[j:j + size])
                whole[i:i + size], whole[j:j + size] = two, one
                same.append(one == two)

            slices.restore(before)
            status, _ = slices.train(pause=last - 1, damage=damage)
            assert same[0] or (status == REFUSED and slices.model == before)
            tried += not same[0]
    assert tried >= 20


@pytest.mark.covering(slices=choices)
def test_a_checksum_that_was_overwritten_is_refused(slices):
    before = old_model(slices.backend)
    whole = slices.whole
    slices.restore(before)
    _, last = slices.train()
    slices.restore(before)
    for field, offset in slices.members():
        if field.name in CHECKS and field.name not in ("reserved", "last_check"):
            def damage(offset=offset):
                whole[offset + 1] = bytes([whole[offset + 1][0] ^ 0x10])

            assert slices.train(pause=last - 1, damage=damage)[0] == REFUSED, field.name
            assert slices.model == before
