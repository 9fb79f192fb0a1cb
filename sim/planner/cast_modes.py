"""sim.planner: choose the rounding and overflow modes of each cast.

The casts themselves are in :mod:`..primitives`.
"""

from __future__ import annotations

from ..formats import Overflow, Rounding
from ..spec import Spec
from ..spec.keys import WRAPPABLE
from ..spec.types import OVERFLOWS, ROUNDINGS


def cast_modes(spec: Spec, signal: str) -> tuple[Rounding, Overflow]:
    """Return the rounding and overflow modes of a signal's cast.

    The modes are those of ``[numbers.casts]``; by default they are ``[numbers] rounding`` and ``overflow``.
    If a bound excludes overflow, saturation and wrapping give the same values.
    """
    numbers = spec.numbers
    words = numbers.casts.get(signal, "").split()
    rounding = next((word for word in words if word in ROUNDINGS), numbers.rounding)
    overflow = next((word for word in words if word in OVERFLOWS), numbers.overflow)
    if signal not in WRAPPABLE[spec.model.algorithm]:
        overflow = OVERFLOWS[0]
    return Rounding[rounding.upper()], Overflow[overflow.upper()]
