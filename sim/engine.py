"""sim: the engine of the integer models: numba's compiler, or plain Python where it is absent.

Both run the same functions and give the same words.  ``KERNCAST_ENGINE=python`` chooses plain
Python although numba is installed (to step through a model in a debugger).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

try:
    if os.environ.get("KERNCAST_ENGINE") == "python":
        raise ImportError
    import numba
except ImportError:
    numba = None

COMPILED = numba is not None


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` to int64 loops (cached on disk), or return it as it is."""
    if numba is None:
        return function
    return cast("Callable[P, R]", numba.njit(cache=True)(function))
