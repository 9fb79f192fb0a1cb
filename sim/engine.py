"""sim: the engine of the integer models: numba's compiler, or plain Python where it is absent.

Both run the same functions and give the same words.  ``KERNCAST_ENGINE=python`` chooses plain
Python although numba is installed (to step through a model in a debugger).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")



def _numba() -> ModuleType | None:
    if os.environ.get("KERNCAST_ENGINE") == "python":
        return None
    try:
        return import_module("numba")
    except ImportError:
        return None


_NUMBA = _numba()
COMPILED = _NUMBA is not None


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` to int64 loops (cached on disk), or return it as it is."""
    if _NUMBA is None:
        return function
    try:
        compiled = _NUMBA.njit(cache=True)(function)
    except RuntimeError:  # nowhere to keep the compiled code: a read-only checkout without a home
        compiled = _NUMBA.njit(function)
    return cast("Callable[P, R]", compiled)
