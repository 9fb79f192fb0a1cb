"""sim.spec: the spec, which states the user's requirements in TOML or Python.

The names are loaded when they are first used (PEP 562). An emulated board, which is a separate program,
uses only modules of this folder that need none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .spec import (
        Budget,
        Cg,
        Data,
        Hls,
        Input,
        Kernel,
        Model,
        Numbers,
        Online,
        Output,
        Predictor,
        Spec,
        Sweep,
        TargetChoice,
        Toeplitz,
    )

__all__ = ["Budget", "Cg", "Data", "Hls", "Input", "Kernel", "Model", "Numbers", "Online", "Output",
           "Predictor", "Spec", "Sweep", "TargetChoice", "Toeplitz"]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(".spec", __name__), name)
    return found
