"""lab: flip bits in saved states and protocol frames, and count detected errors.

States and frames contain a CRC-32. It detects every burst of up to 32 bits and, at these lengths, any two
flipped bits. Other random damage is not detected with a probability of 2^-32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...hw.hil.protocol import TABLE, FrameSplitter, seal
from ...sim.backend import Backend, Outputs
from ...sim.errors import KerncastError
from ...sim.replay.vectors import Vectors

_BURST = 32


@dataclass(frozen=True)
class Damage:
    """Number of detected errors for one kind of damage.

    Parameters
    ----------
    what, kind : str
        What was damaged, and the kind of damage.
    injected, noticed, harmless : int
        Numbers of damaged items, of rejected items, and of harmless items. Damage to a frame is harmless if
        only the gap between frames was affected, so that the frame was received intact.
    """

    what: str
    kind: str
    injected: int
    noticed: int
    harmless: int = 0

    @property
    def missed(self) -> int:
        """Return the number of damaged items that were accepted as valid."""
        return self.injected - self.noticed - self.harmless

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for ``--json``."""
        return {"what": self.what, "kind": self.kind, "injected": self.injected, "noticed": self.noticed,
                "harmless": self.harmless, "missed": self.missed}


def _flipped(data: bytes, bits: Any) -> bytes:
    damaged = bytearray(data)
    for bit in bits:
        damaged[bit >> 3] ^= 1 << (bit & 7)
    return bytes(damaged)


def _bits(count: int) -> Callable[[bytes, np.random.Generator], bytes]:
    return lambda data, rng: _flipped(data, rng.choice(8 * len(data), count, replace=False))


def _burst(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip a bit, and a random selection of the 31 bits after it."""
    first = int(rng.integers(8 * len(data) - _BURST))
    return _flipped(data, [first, *(first + 1 + np.flatnonzero(rng.integers(2, size=_BURST - 1)))])


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[:int(rng.integers(len(data)))]


KINDS = {"one bit": _bits(1), "two bits": _bits(2), "seven bits": _bits(7), "a burst within 32 bits": _burst,
         "truncated": _cut}


def damage_states(backend: Backend, count: int, seed: int = 0) -> list[Damage]:
    """Restore damaged images of a back end's state, and count the rejections.

    An image counts as rejected if restoring it raises an error and does not change the state.

    Parameters
    ----------
    backend : Backend
        A back end with a trained model.
    count : int
        Number of images for each kind of damage.
    seed : int

    Returns
    -------
    list of Damage
    """
    image, before, rng = backend.save(), backend.state(), np.random.default_rng(seed)
    found = []
    for kind, damage in KINDS.items():
        noticed = 0
        for _ in range(count):
            try:
                backend.restore(damage(image, rng))
            except KerncastError:
                noticed += _equal(before, backend.state())
        found.append(Damage(f"saved state, {backend.name}", kind, count, noticed))
    backend.restore(image)
    return found


def _equal(one: Outputs, other: Outputs) -> bool:
    return all(np.array_equal(words, other[name]) for name, words in one.items())


def damage_frames(vectors: Vectors, count: int, seed: int = 0) -> list[Damage]:
    """Damage frames whose payload is taken from the vectors, and decode them.

    The decoder is that of the HIL link. `count` frames are damaged in each way.
    """
    words = b"".join(array.astype("<i4").tobytes() for call in vectors.calls
                     for array in (call.x_raw, call.y_raw, *call.expected.values()) if array is not None)
    rng = np.random.default_rng(seed)
    size = min(TABLE.max_payload, len(words))
    found = []
    for kind, damage in KINDS.items():
        noticed = harmless = 0
        for _ in range(count):
            at = int(rng.integers(len(words) - size + 1))
            content = words[at:at + int(rng.integers(1, size + 1))]
            # The silence after it ends what a damaged delimiter leaves open.
            arrived = [*FrameSplitter().feed(damage(seal(content), rng) + b"\0")]
            wrong = any(part not in (None, content) for part in arrived)
            harmless += not wrong and content in arrived
            noticed += not wrong and content not in arrived
        found.append(Damage("frames of the link", kind, count, noticed, harmless))
    return found
