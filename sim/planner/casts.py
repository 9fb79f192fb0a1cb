"""sim.planner: rounding and overflow of each cast, from the spec."""

from __future__ import annotations

from ..formats import Overflow, Rounding
from ..spec import Spec
from ..spec.tables import WRAPPABLE
from ..spec.types import OVERFLOWS, ROUNDINGS


def cast_modes(spec: Spec, signal: str) -> tuple[Rounding, Overflow]:
    """Return rounding and overflow of a signal's cast.

    The modes come from ``[numbers.casts]``, by default from ``[numbers] rounding`` and ``overflow``.  If a
    bound excludes overflow, saturating and wrapping give equal values.
    """
    numbers = spec.numbers
    words = numbers.casts.get(signal, "").split()
    rounding = next((word for word in words if word in ROUNDINGS), numbers.rounding)
    overflow = next((word for word in words if word in OVERFLOWS), numbers.overflow)
    if signal not in WRAPPABLE[spec.model.algorithm]:
        overflow = OVERFLOWS[0]
    return Rounding[rounding.upper()], Overflow[overflow.upper()]
