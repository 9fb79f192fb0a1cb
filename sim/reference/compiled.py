"""sim.reference: choose between compiled loops and NumPy."""

from __future__ import annotations

# Loading numba takes half a second, in which numpy solves a hundred systems of this many rows.
COMPILED_FROM = 256


def compiled(n: int) -> bool:
    """Return whether to use compiled loops for n rows.

    For smaller problems, numba is not imported.
    """
    if n < COMPILED_FROM:
        return False
    from ..jit import COMPILED

    return COMPILED
