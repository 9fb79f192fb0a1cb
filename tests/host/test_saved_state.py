"""A saved state is the same bytes on every back end, and is restored exactly or refused."""

import zlib

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.hw.backends import open_backend
from kerncast.sim.backend import Comparison
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.replay.saved_state import (
    HEADER_BYTES,
    REFUSALS,
    RestoreStatus,
    check_image,
    encode,
    image_bytes,
    member_ranges,
    restore_error,
    slots_with,
)

#: One of each algorithm; the others in the campaign.
SMALL = ["mean16_bias", "cg24_rails", "lookahead16_f32", "lms16_ties", "rls16"]
MORE = ["grid16", "schur24_varied", "lookahead16", "grid24_refine_bias", "lms32_ties_decay", "lms24_decay"]


@pytest.fixture(scope="module")
def built(cases, require_tool):
    """``built(name)``: the generated C of a case, built once, its model and slots empty."""
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    made: dict[str, HostBackend] = {}

    def backend(name: str) -> HostBackend:
        if name not in made:
            made[name] = HostBackend(cases(name).plan, cases(name).folder, compiler="gcc", flags=("-O1",))
        made[name].reset()
        for slot in made[name].slots:
            made[name].ffi.memmove(slot, bytes(len(slot)), len(slot))
        return made[name]

    yield backend
    for one in made.values():
        one.close()


def same_crc(image: bytes) -> bytes:
    """The image with the checksum that its bytes call for."""
    return image[:-4] + zlib.crc32(image[:-4]).to_bytes(4, "little")


def saved(case) -> tuple[bytes, list]:
    """An image in the middle of a case's calls, and the calls that are left."""
    model = open_model(case.plan)
    calls = case.vectors.calls
    for call in calls[:4]:
        call.run(model)
    return model.save(), calls[4:]


def verdict_of(backend: HostBackend, image: bytes) -> int:
    """What generated C says of an image."""
    for slot, content in zip(backend.slots, slots_with(backend.plan, image, ""), strict=True):
        backend.ffi.memmove(slot, content, len(content))
    return backend._call("state_restore", backend._storage)


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(n, marks=pytest.mark.campaign) for n in MORE)])
def test_a_state_saved_on_one_back_end_continues_on_another(cases, built, ledger, name):
    case = cases(name)
    image, left = saved(case)
    backend, model, first = built(name), open_model(case.plan), open_model(case.plan)
    for call in case.vectors.calls[:4]:
        call.run(backend)
        call.run(first)
    assert backend.save() == image == first.save()
    backend.reset()
    backend.restore(image)
    model.restore(image)
    result = Comparison()
    for call in left:
        want = call.run(first)
        result.add(name, want, call.run(backend))
        result.add(name, want, call.run(model))
    result.add("state", first.state(), backend.state())
    result.add("state", first.state(), model.state())
    assert first.save() == backend.save() == model.save()
    ledger.record(backend="host:gcc:restored", words=result.words, mismatches=result.mismatches, case=name)


@pytest.mark.parametrize("name", [pytest.param("mean16_bias", marks=pytest.mark.campaign), "lms16_ties"])
def test_the_second_model_continues_from_the_first_one_s_state(cases, require_tool, ledger, name):
    require_tool("python:fxpmath", "python -m pip install fxpmath")
    case = cases(name)
    image, _ = saved(case)
    model, second = open_model(case.plan), open_backend(case.plan, "model:fxpmath")
    model.restore(image)
    second.restore(image)
    result = Comparison()
    result.add("state", model.state(), second.state())
    for call in case.vectors.calls[:3]:
        few = slice(0, 5 if call.name != "train" else None)
        given = [words[few] for words in (call.x_raw, call.y_raw) if words is not None]
        given = [None, *given] if call.name == "train" and call.x_raw is None else given
        result.add(call.name, getattr(model, call.name)(*given), getattr(second, call.name)(*given))
    assert model.save() == second.save()
    ledger.record(backend="model:fxpmath:restored", words=result.words, mismatches=result.mismatches,
                  case=name)


def test_a_flipped_or_truncated_image_is_refused_with_the_model_unchanged(cases, built, ledger):
    case = cases("lms16_ties")
    image, _ = saved(case)
    backend = built("lms16_ties")
    for call in case.vectors.calls[:2]:
        call.run(backend)
    before = backend.save()
    accepted = 0
    for bit in range(8 * len(image)):
        flipped = bytearray(image)
        flipped[bit // 8] ^= 1 << bit % 8
        found = verdict_of(backend, bytes(flipped))
        accepted += found == RestoreStatus.OK or found != check_image(case.plan, bytes(flipped))[0]
    for size in range(len(image)):
        assert check_image(case.plan, image[:size])[0] in (RestoreStatus.NONE, RestoreStatus.TRUNCATED)
        with pytest.raises(KerncastError, match=r"E44[03]"):
            backend.restore(image[:size])
    assert encode(case.plan, backend.state(), 0) == encode(case.plan, resumed(case, before).state(), 0)
    ledger.record(backend="host:gcc:refused", words=8 * len(image), mismatches=accepted, case="flipped bits")


def resumed(case, image: bytes):
    """A model that goes on from an image."""
    model = open_model(case.plan)
    model.restore(image)
    return model


def crafted(case, member: str, index: int, word: int) -> bytes:
    """An image whose checksum is right and one word wrong."""
    model = open_model(case.plan)
    case.vectors.calls[1].run(model)
    state = model.state()
    state[member][index] = word
    return encode(case.plan, state, 7)


@pytest.mark.parametrize(("name", "member", "index", "word"), [
    ("lms16_ties", "count", 0, 7), ("lms16_ties", "count", 0, 65535), ("lms16_ties", "age_order", 0, 6),
    ("lms16_ties", "age_order", 1, 255), ("lms16_ties", "nearest_idx", 2, 6),
    ("lms16_ties", "nearest_idx", 2, 255),
    ("lms16_ties", "centers", 3, 16), ("lms16_ties", "reserved", 0, 1), ("grid16", "trained", 0, 2),
    ("grid16", "alpha_exp", 0, 99), ("cg24_rails", "alpha", 0, -(1 << 30))])
def test_a_state_with_a_right_checksum_and_a_wrong_value_is_refused(cases, built, name, member, index, word):
    case = cases(name)
    image = crafted(case, member, index, word)
    backend = built(name)
    before = backend.state()
    with pytest.raises(KerncastError, match="E445") as told:
        backend.restore(image)
    assert member in told.value.problems[0].value
    assert all((before[m] == words).all() for m, words in backend.state().items())
    with pytest.raises(KerncastError, match="E445"):
        open_model(case.plan).restore(image)


def test_two_vectors_of_one_rank_are_refused(cases, built):
    case = cases("lms16_ties")
    model = open_model(case.plan)
    case.vectors.calls[1].run(model)
    state = model.state()
    state["age_order"][0] = state["age_order"][1]
    backend = built("lms16_ties")
    assert verdict_of(backend, encode(case.plan, state, 1)) == RestoreStatus.INCONSISTENT


@pytest.mark.parametrize("name", ["lms16_ties", "grid16", "rls16"])
def test_c_and_python_accept_the_same_payloads_and_can_use_them(cases, built, ledger, name):
    case = cases(name)
    image, left = saved(case)
    backend, rng = built(name), np.random.default_rng(5)
    differ = taken = 0
    for _ in range(200):
        damaged = bytearray(image)
        for at in rng.integers(HEADER_BYTES, len(image) - 4, rng.integers(1, 4)):
            damaged[at] = rng.integers(256)
        found = verdict_of(backend, same_crc(bytes(damaged)))
        differ += found != check_image(case.plan, same_crc(bytes(damaged)))[0]
        if found == RestoreStatus.OK:
            taken += 1
            model = resumed(case, same_crc(bytes(damaged)))
            x = left[-1].x_raw[:2]
            differ += any((backend.predict(x)[k] != model.predict(x)[k]).any() for k in ("f", "status"))
    assert taken > 20
    ledger.record(backend="host:gcc:judged", words=200, mismatches=differ, case=name)


def slot_of(backend: HostBackend, image: bytes) -> int:
    """The slot that holds an image; 2 where none does."""
    return next((k for k, slot in enumerate(backend.slots) if bytes(slot)[:len(image)] == image), 2)


@pytest.mark.parametrize(("a", "b", "newest"), [(1, 2, 1), (2, 1, 0), (0xFFFFFFFF, 0, 1), (0, 0xFFFFFFFF, 0),
                                                (0x7FFFFFFF, 0x80000000, 1), (5, 5, 0)])
def test_restore_reads_the_newer_slot_and_save_overwrites_the_older(
        cases, built, a, b, newest):
    case = cases("lms16_ties")
    model, backend = open_model(case.plan), built("lms16_ties")
    images = []
    for number, call in zip((a, b), case.vectors.calls[1:3], strict=True):
        call.run(model)
        images.append(encode(case.plan, model.state() | {"scratch_row": np.full(6, len(images))}, number))
    for slot, image in zip(backend.slots, images, strict=True):
        backend.ffi.memmove(slot, image, len(image))
    assert backend._call("state_restore", backend._storage) == RestoreStatus.OK
    assert (backend.state()["scratch_row"] == newest).all()
    kept = images[newest]
    again = backend.save()
    assert slot_of(backend, kept) == newest
    assert slot_of(backend, again) == 1 - newest
    assert int.from_bytes(again[8:12], "little") == ((a, b)[newest] + 1) % (1 << 32)


def test_each_refusal_has_its_code_and_states_what_was_found(cases):
    case, other = cases("lms16_ties"), cases("grid16")
    image, plan = saved(case)[0], case.plan
    for code, wrong, told in [
            ("E440", b"", "KCST"), ("E440", bytes(len(image)), "KCST"),
            ("E441", image[:4] + b"\3\0" + image[6:], "format 3"),
            ("E441", image[:6] + b"\xff\0" + image[8:], "ABI 255"),
            ("E442", saved(other)[0], other.plan.hash), ("E443", image[:-1], f"{len(image)} bytes"),
            ("E443", image + b"\0", f"{len(image)} bytes"),
            ("E444", image[:-1] + bytes([image[-1] ^ 1]), "CRC"),
            ("E446", image, "DAMAGED")]:
        with pytest.raises(KerncastError, match=code) as error:
            if code == "E446":
                raise restore_error(plan, image, RestoreStatus.DAMAGED, "here")
            open_model(plan).restore(wrong)
        assert told in str(error.value)
    assert {r.code for r in REFUSALS.values()} == {f"E44{k}" for k in range(7)}


@pytest.mark.parametrize(("unread", "written"), [({0}, 0), ({1}, 1), ({0, 1}, 0)])
@pytest.mark.parametrize("held", [0, 1, 2])
def test_a_slot_that_cannot_be_read_until_it_is_erased_blocks_no_save(cases, built, unread, written, held):
    """Flash with ECC reads nothing where a power cut left a word, nor where it was never erased."""
    case, backend = cases("lms16_ties"), built("lms16_ties")
    ffi, flash, closed = backend.ffi, backend._storage, set(unread)
    for call in case.vectors.calls[1:1 + held]:
        call.run(backend)
        backend.save()

    @ffi.callback("int32_t(void *, uint32_t, uint32_t, uint8_t *, uint32_t)")
    def read(context, slot, *rest):
        return 1 if slot in closed else flash.read(context, slot, *rest)

    @ffi.callback("int32_t(void *, uint32_t)")
    def erase(context, slot):
        closed.discard(slot)
        return flash.erase(context, slot)

    corrected = ffi.new("kc_storage_t *", {"context": flash.context, "read": read, "erase": erase,
                                           "write": flash.write})
    readable = any(slot not in unread for slot in range(held))
    wanted = RestoreStatus.OK if readable else RestoreStatus.STORAGE
    assert backend._call("state_restore", corrected) == wanted
    kept = [bytes(slot) for slot in backend.slots]
    assert backend._call("state_save", corrected) == RestoreStatus.OK
    assert closed == unread - {written}
    assert bytes(backend.slots[1 - written]) == kept[1 - written]
    assert backend._call("state_restore", corrected) == RestoreStatus.OK


def test_a_storage_failure_is_reported_with_at_most_one_slot_touched(cases, built):
    backend = built("lms16_ties")
    newest = [backend.save(), backend.save()][1]
    failing = backend.ffi.callback("int32_t(void *, uint32_t, uint32_t, uint8_t *, uint32_t)", lambda *_: 1)
    working, backend._storage.read = backend._storage.read, failing
    with pytest.raises(KerncastError, match="E446"):
        backend.save()
    assert backend._call("state_restore", backend._storage) == RestoreStatus.STORAGE
    backend._storage.read = working
    assert slot_of(backend, newest) == 1
    assert backend._call("state_restore", backend.ffi.NULL) == RestoreStatus.BAD_ARGUMENT
    assert backend._call("state_save", backend.ffi.NULL) == RestoreStatus.BAD_ARGUMENT


def test_what_is_checked_follows_from_the_plan(cases):
    assert member_ranges(cases("lms16_ties").plan) == {
        "centers": (0, 15), "count": (0, 6), "reserved": (0, 0)}
    assert image_bytes(cases("grid16").plan) == 52 + cases("grid16").plan.state_bytes
