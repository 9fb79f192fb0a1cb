"""sim.reference.solvers: preconditioners for conjugate gradients.

===========  =====================================  ==========================================
name         matrix                                 requires
===========  =====================================  ==========================================
none         the identity                           any system
nystrom      approximation from s rows, + lambda I  any system, O(n s) memory, O(n s^2) time
strang       circulant with middle diagonals of T   Toeplitz systems
chan         circulant that is closest to T         Toeplitz systems
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

# Smaller systems do not justify landmarks.
_NYSTROM_FROM = 500


class Preconditioner(Protocol):
    """Approximation C of A, whose inverse conjugate gradients apply.

    Attributes
    ----------
    positive : bool
        Whether C is positive definite.
    cost : Cost
        Cost of one application of C^-1.
    kernel_values : int
        Number of kernel values that were computed to construct C.
    note : str
        Description of the preconditioner.
    """

    positive: bool
    cost: Cost
    kernel_values: int
    note: str

    def solve(self, V: Array) -> Array:
        """Return C^-1 V, up to a positive factor, for `V` of shape (n, m)."""


class Identity:
    """Identity matrix, which means that there is no preconditioner."""

    positive = True
    cost = Cost(0, 0, 0)
    kernel_values = 0
    note = "preconditioner none"

    def solve(self, V: Array) -> Array:
        """Return `V` itself."""
        return V


def choose_preconditioner(system: System) -> str:
    """Return the preconditioner that "auto" selects."""
    if isinstance(system, ToeplitzSystem):
        return "strang"
    return "nystrom" if isinstance(system, KernelSystem) and system.n >= _NYSTROM_FROM else "none"


def make_preconditioner(system: System, name: str, landmarks: Landmarks = None,
                        seed: int = 0) -> Preconditioner:
    """Create a preconditioner of `system` by its name.

    Raise E236 if the name is not valid, and E238 if landmarks or seed are not valid.
    """
    checked_landmarks(landmarks, system.n, seed)  # even if they are not used
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
