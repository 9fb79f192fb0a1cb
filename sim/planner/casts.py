"""sim.planner: the rounding and overflow of each cast, as the spec asks for them."""

from __future__ import annotations

from ..formats import Overflow, Rounding
from ..spec import Spec
from ..spec.tables import WRAPPABLE
from ..spec.types import OVERFLOWS, ROUNDINGS


def cast_modes(spec: Spec, signal: str) -> tuple[Rounding, Overflow]:
    """What the cast of a signal does with the bits below and above its word.

    ``[numbers.casts]`` decides, and where it is silent ``[numbers] rounding`` and ``overflow``.  A cast
    whose word holds every value by a bound saturates in name only: wrapping would be the same words.
    """
    numbers = spec.numbers
    words = numbers.casts.get(signal, "").split()
    rounding = next((word for word in words if word in ROUNDINGS), numbers.rounding)
    overflow = next((word for word in words if word in OVERFLOWS), numbers.overflow)
    if signal not in WRAPPABLE[spec.model.algorithm]:
        overflow = OVERFLOWS[0]
    return Rounding[rounding.upper()], Overflow[overflow.upper()]
