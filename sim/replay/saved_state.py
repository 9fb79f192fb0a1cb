"""sim.replay: save a model structure as bytes, and restore it with checks.

The bytes of a saved state, called its image, consist of a header, the members of the model structure in the
order of the plan, and a CRC-32. Integers are little-endian without padding, so that every machine writes the
same bytes. :data:`LAYOUT` defines the header; firmware/rt/kc_state.h defines the same in C, and
docs/saved-state.md describes the format.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import numpy as np

from ..backend import Outputs
from ..errors import KerncastError, fail
from ..plan import ABI, Plan, wire_dtype
from ..statuses import DeviceStatus
from ..statuses import RestoreStatus as RestoreStatus

MAGIC = b"KCST"
#: Of the image; kerncast 0.1 wrote version 1, with the hash of another form of the plan.
VERSION = 2
CRC_BYTES = 4
#: Bytes that generated C writes at a time, unless compiled with another ``KC_STATE_BLOCK``.
BLOCK = 32
BLANK = 0xFF


class Part(NamedTuple):
    """Field of the header, with its name, its code in `struct`, and its meaning."""

    name: str
    code: str
    meaning: str

    @property
    def size(self) -> int:
        """Return the size of the field in bytes."""
        return struct.calcsize(f"<{self.code}")


#: The header, in order.
LAYOUT = (
    Part("magic", "4s", f"`{MAGIC.decode()}`"),
    Part("version", "H", f"version of this format: {VERSION}"),
    Part("abi", "H", "ABI of the generated code and its runtime"),
    Part("sequence", "I", "counts the saves, modulo 2^32"),
    Part("length", "I", "length of the payload in bytes"),
    Part("plan_hash", "32s", "SHA-256 of the plan"),
)
_HEADER = struct.Struct("<" + "".join(part.code for part in LAYOUT))
HEADER_BYTES = _HEADER.size


class Refusal(NamedTuple):
    """Code, message and remedy of the error for a rejected state."""

    code: str
    message: str
    remedy: str


_OLDER = "restore an older state, or train the model again"
REFUSALS = {
    RestoreStatus.NONE: Refusal("E440", "no saved state", "save a state first, or name another file"),
    RestoreStatus.OTHER_VERSION: Refusal("E441", "the state was saved by another version of kerncast",
                                   "train the model again, or use the version that saved it"),
    RestoreStatus.OTHER_PLAN: Refusal("E442", "the state was saved by a model of another plan",
                                "restore it into a model of the plan that saved it"),
    RestoreStatus.TRUNCATED: Refusal("E443", "the saved state has the wrong length for this plan", _OLDER),
    RestoreStatus.DAMAGED: Refusal("E444", "the saved state is damaged", _OLDER),
    RestoreStatus.INCONSISTENT: Refusal("E445", "the saved state contains values that training never "
                                                "produces", _OLDER),
    RestoreStatus.STORAGE: Refusal("E446", "reading or writing the saved state failed",
                             "check the storage, then save again"),
}


class SavedState(NamedTuple):
    """Members of a model structure, with the sequence number of their image."""

    sequence: int
    state: Outputs


def payload_bytes(plan: Plan) -> int:
    """Return the number of bytes between the header and the CRC."""
    return sum(f.bytes for f in plan.memory)


def image_bytes(plan: Plan) -> int:
    """Return the number of bytes of a saved state."""
    return HEADER_BYTES + payload_bytes(plan) + CRC_BYTES


def slot_bytes(plan: Plan) -> int:
    """Return the size of a slot for one image, a multiple of :data:`BLOCK` bytes."""
    return -(-image_bytes(plan) // BLOCK) * BLOCK


def slots_with(plan: Plan, image: bytes, where: str) -> tuple[bytes, bytes]:
    """Return the contents of two slots; the first slot contains an image.

    Raise E440 or E443 if the image has the wrong length.
    """
    if _length(image) != image_bytes(plan):
        raise restore_error(plan, image, check_image(plan, image)[0], where)
    blank = bytes([BLANK]) * slot_bytes(plan)
    return image + blank[len(image):], blank


def _length(image: object) -> int:
    """Return the number of bytes of an image, or -1 if it is not a bytes object."""
    return len(image) if isinstance(image, (bytes, bytearray)) else -1


def next_sequence(sequence: int) -> int:
    """Return the sequence number of the next save, modulo 2^32."""
    return (sequence + 1) % (1 << 32)


def _range_of(ctype: str) -> tuple[int, int]:
    kind = np.iinfo(wire_dtype(ctype))
    return int(kind.min), int(kind.max)


def member_ranges(plan: Plan) -> dict[str, tuple[int, int]]:
    """Return the ranges that members of the model structure must have.

    Returns
    -------
    dict of str to (int, int)
        Smallest and largest valid value of each member whose range is narrower than its type.
    """
    found: dict[str, tuple[int, int]] = {"reserved": (0, 0)}
    if plan.trains:
        exponents = (plan.integer("alpha_exp_min"), plan.integer("alpha_exp_max"), 0)  # 0: not trained
        found |= {"trained": (0, 1), "alpha_exp": (min(exponents), max(exponents)),
                  "candidate": (0, plan.sizes.get("K", 1) - 1)}
    elif plan.second_order:
        found |= {"trained": (0, 1), "rls_beta": (-(1 << 60), 1 << 60),
                  "rls_w": (1 - (1 << 31), (1 << 31) - 1)}
        if plan.novelty:
            found |= {"leverage": (0, (1 << 31) - 1), "novel": (0, 1), "drift": (0, 1),
                      "novel_count": (0, plan.integer("drift_samples"))}
    else:
        found |= {"count": (0, plan.sizes["N"]), "pending": (0, 0)}  # a split update is not saved
    if "kappa_one" in plan.constants:
        found["sums"] = (0, plan.sizes["N"] * plan.integer("kappa_one"))
    for member, signal in (("alpha", "alpha"), ("centers", "x"), ("bias", "y"), ("nearest_d2", "distance")):
        if signal in plan.signals:  # alpha in float32 is not an integer
            word = plan.signals[signal]
            found[member] = (min(word.lo, 0), max(word.hi, 0))  # 0: still empty
    return {f.name: found[f.name] for f in plan.memory if f.name in found and f.ctype != "float"
            and found[f.name] != _range_of(f.ctype)}


def finite_members(plan: Plan) -> frozenset[str]:
    """Return the names of the float32 members, which must be finite."""
    return frozenset(f.name for f in plan.memory if (f.name, f.ctype) == ("alpha", "float"))


def encode(plan: Plan, state: Outputs, sequence: int) -> bytes:
    """Return the image of a model structure.

    Parameters
    ----------
    plan : Plan
    state : dict of str to ndarray of int64
        Every member as a flat array, from :meth:`..backend.Backend.state`; a float32 value is represented by
        its bits, read as an integer.
    sequence : int
        Sequence number, 0 to 2^32 - 1.

    Returns
    -------
    bytes
        The image.
    """
    header = _HEADER.pack(MAGIC, VERSION, ABI, sequence, payload_bytes(plan), bytes.fromhex(plan.hash))
    content = header + b"".join(state[f.name].astype(wire_dtype(f.ctype)).tobytes() for f in plan.memory)
    return content + zlib.crc32(content).to_bytes(CRC_BYTES, "little")


def _members(plan: Plan, payload: bytes) -> Outputs:
    state, at = {}, 0
    for f in plan.memory:
        words = np.frombuffer(payload, dtype=wire_dtype(f.ctype), count=f.count, offset=at)
        state[f.name] = words.astype(np.int64)
        at += f.bytes
    return state


def _inconsistency(plan: Plan, state: Outputs) -> tuple[str, str]:
    """Return descriptions of the first invalid member and of its allowed values.

    Both are empty if all members are valid.
    """
    for name, (lo, hi) in member_ranges(plan).items():
        wrong = np.flatnonzero((state[name] < lo) | (state[name] > hi))
        if len(wrong):
            return f"{name}[{wrong[0]}] = {state[name][wrong[0]]}", f"{lo} to {hi}"
    if plan.trains and int(state["trained"][0]):
        lo, hi = plan.integer("alpha_exp_min"), plan.integer("alpha_exp_max")
        if not lo <= int(state["alpha_exp"][0]) <= hi:
            return f"alpha_exp = {state['alpha_exp'][0]} after training", f"{lo} to {hi}"
    for name in finite_members(plan):
        if np.any(state[name] & 0x7F800000 == 0x7F800000):
            return f"{name} holds infinity or NaN", "finite numbers"
    held = int(state["count"][0]) if "count" in state else 0
    if "age_order" in state and sorted(state["age_order"][:held]) != list(range(held)):
        return (f"age_order = {state['age_order'][:held].tolist()}",
                f"each number from 0 to {held - 1} exactly once")
    if "nearest_idx" in state and np.any(state["nearest_idx"][:held] >= held):
        return f"nearest_idx = {state['nearest_idx'][:held].tolist()}", f"slots 0 to {held - 1}"
    return "", ""


def check_image(plan: Plan, image: bytes) -> tuple[RestoreStatus, str, str]:
    """Check an image; return the status, the value found and the allowed value."""
    if _length(image) < 0:
        return RestoreStatus.NONE, f"an object of type {type(image).__name__}", "the bytes that save returned"
    if not image or image[:4] != MAGIC[:len(image)]:
        return RestoreStatus.NONE, repr(image[:4]), f"{MAGIC!r} at the beginning"
    size = image_bytes(plan)
    if len(image) < HEADER_BYTES:
        return RestoreStatus.TRUNCATED, f"{len(image)} bytes", f"{size} bytes"
    _, version, abi, _, length, plan_hash = _HEADER.unpack_from(image)
    if (version, abi) != (VERSION, ABI):
        return RestoreStatus.OTHER_VERSION, f"format {version}, ABI {abi}", f"format {VERSION}, ABI {ABI}"
    if plan_hash.hex() != plan.hash:
        return RestoreStatus.OTHER_PLAN, f"plan {plan_hash.hex()}", f"plan {plan.hash}"
    if length != payload_bytes(plan) or len(image) != size:
        return RestoreStatus.TRUNCATED, f"{len(image)} bytes, {length} of them payload", \
            f"{size} bytes, {payload_bytes(plan)} of them payload"
    crc, expected = zlib.crc32(image[:-CRC_BYTES]), int.from_bytes(image[-CRC_BYTES:], "little")
    if crc != expected:
        return RestoreStatus.DAMAGED, f"CRC {crc:08x}", f"CRC {expected:08x}, from the saved state"
    found, allowed = _inconsistency(plan, _members(plan, image[HEADER_BYTES:-CRC_BYTES]))
    return (RestoreStatus.INCONSISTENT if found else RestoreStatus.OK), found, allowed


def restore_error(plan: Plan, image: bytes, status: int, where: str) -> KerncastError:
    """Create the error for an image that a back end rejected with `status`."""
    if status == DeviceStatus.OUT_OF_ORDER:
        return fail("E449", "the last update is not complete", where=where, value="an incomplete update",
                    allowed="a complete update", remedy="call update_run until it returns ok, then save")
    verdict, found, allowed = check_image(plan, image)
    if status != verdict:  # its storage returned other bytes than were written
        found, allowed, verdict = f"status {RestoreStatus(status).name}", verdict.name, RestoreStatus.STORAGE
    refusal = REFUSALS[verdict]
    return fail(refusal.code, refusal.message, where=where, value=found, allowed=allowed,
                remedy=refusal.remedy)


class Saving:
    """Mixin that implements ``save`` and ``restore`` with ``state`` and ``load``."""

    plan: Plan
    name: str
    _sequence = 0

    def state(self) -> Outputs:
        """Return every member of the device's model structure."""
        raise NotImplementedError

    def load(self, state: Outputs) -> None:
        """Load a state, which must be consistent and belong to this plan."""
        raise NotImplementedError

    def save(self) -> bytes:
        """Save the state as an image; see :class:`~kerncast.sim.backend.Backend`."""
        self._sequence = next_sequence(self._sequence)
        return encode(self.plan, self.state(), self._sequence)

    def restore(self, image: bytes) -> None:
        """Restore an image; see :class:`~kerncast.sim.backend.Backend`."""
        self._sequence, state = decode(self.plan, image, f"back end {self.name}")
        self.load(state)


def decode(plan: Plan, image: bytes, where: str = "saved state") -> SavedState:
    """Check an image and decode it.

    Parameters
    ----------
    plan : Plan
        Plan of the model that loads the image.
    image : bytes
    where : str
        The file or the back end, for the error message.

    Returns
    -------
    SavedState

    Raises
    ------
    KerncastError
        E440 to E445 if the image is not valid; see :data:`REFUSALS`.
    """
    verdict = check_image(plan, image)[0]
    if verdict is not RestoreStatus.OK:
        raise restore_error(plan, image, verdict, where)
    sequence = _HEADER.unpack_from(image)[3]
    return SavedState(sequence, _members(plan, image[HEADER_BYTES:-CRC_BYTES]))
