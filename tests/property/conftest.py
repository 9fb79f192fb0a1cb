"""The random cases of this folder as a fixture; :mod:`checked_int` imports them as a program."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def cases() -> ModuleType:
    """The module ``random_cases`` beside this file."""
    spec = importlib.util.spec_from_file_location("random_cases", Path(__file__).parent / "random_cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
