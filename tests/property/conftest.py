"""Modules of this folder as fixtures; :mod:`checked_int` imports them as a program."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def cases() -> ModuleType:
    """The module ``random_cases`` beside this file."""
    return _load("random_cases")


@pytest.fixture(scope="session")
def exact() -> ModuleType:
    """The module ``exact_systems`` beside this file."""
    return _load("exact_systems")
