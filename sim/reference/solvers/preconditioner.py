"""sim.reference: matrices near A that conjugate gradients divide by, and which is taken.

===========  =====================================  ==========================================
name         is                                     takes
===========  =====================================  ==========================================
none         the identity                           any system
nystrom      what s rows tell of K, plus lambda     any system, O(n s) memory, O(n s^2) time
strang       a circulant, the middle diagonals      Toeplitz systems
chan         the circulant nearest to T             Toeplitz systems
===========  =====================================  ==========================================
"""

from __future__ import annotations

from typing import Protocol

from ..._arrays import Array
from ...errors import fail
from ..systems.system import Cost, KernelSystem, System, ToeplitzSystem
from ..toeplitz.circulant import nearest_circulant
from .nystrom import Landmarks, Nystrom, checked_landmarks

PRECONDITIONERS = ("none", "nystrom", "strang", "chan")

# Fewer samples than these are not worth the landmarks.
_NYSTROM_FROM = 500


class Preconditioner(Protocol):
    """What conjugate gradients ask of a matrix C near A.

    Attributes
    ----------
    positive : bool
        Whether C is positive definite.
    cost : Cost
        Of a division.
    kernel_values : int
        That making C took.
    note : str
        What it is.
    """

    positive: bool
    cost: Cost
    kernel_values: int
    note: str

    def solve(self, V: Array) -> Array:
        """C^-1 V, up to a positive factor, for `V` of shape (n, m)."""


class Identity:
    """No preconditioner."""

    positive = True
    cost = Cost(0, 0, 0)
    kernel_values = 0
    note = "preconditioner none"

    def solve(self, V: Array) -> Array:
        """`V` itself."""
        return V


def choose_preconditioner(system: System) -> str:
    """What "auto" stands for."""
    if isinstance(system, ToeplitzSystem):
        return "strang"
    return "nystrom" if isinstance(system, KernelSystem) and system.n >= _NYSTROM_FROM else "none"


def make_preconditioner(system: System, name: str, landmarks: Landmarks = None,
                        seed: int = 0) -> Preconditioner:
    """The preconditioner of that name for `system`; E236 where there is none, E238 landmarks or seed."""
    checked_landmarks(landmarks, system.n, seed)  # whether they are used or not
    if name == "none":
        return Identity()
    if name == "nystrom":
        return Nystrom(system, landmarks, seed)
    if name not in PRECONDITIONERS:
        raise fail("E236", "no such preconditioner", where="preconditioner", value=repr(name),
                   allowed=", ".join(("auto", *PRECONDITIONERS)), remedy="use auto")
    if not isinstance(system, ToeplitzSystem):
        raise fail("E236", "a circulant preconditioner needs a Toeplitz matrix", where="preconditioner",
                   value=repr(name), allowed="none, nystrom", remedy="use auto")
    return nearest_circulant(system.r, name)
