"""sim.reference: whether a loop is worth being compiled."""

from __future__ import annotations

# Loading numba takes half a second, for which numpy solves some hundred systems of so many rows.
COMPILED_FROM = 256


def compiled(n: int) -> bool:
    """Whether a problem of n rows is left to compiled loops; numba is loaded for no smaller one."""
    if n < COMPILED_FROM:
        return False
    from ..jit import COMPILED

    return COMPILED
