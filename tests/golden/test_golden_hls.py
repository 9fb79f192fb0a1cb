"""The reviewed samples of generated HLS C++ are what is generated today."""

import difflib
import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REFRESH = "after reading the difference: .venv/bin/python tests/golden/refresh.py"
SAMPLES = runpy.run_path(str(HERE / "refresh.py"))["hls_samples"]()


def test_golden_folder_has_the_samples_and_nothing_else():
    folder = HERE / "hls"
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == set(SAMPLES), REFRESH


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_golden_sample_is_what_is_generated(name):
    golden = (HERE / "hls" / name).read_text(encoding="utf-8")
    difference = "\n".join(difflib.unified_diff(golden.splitlines(), SAMPLES[name].splitlines(),
                                                f"golden/{name}", f"generated/{name}", lineterm=""))
    assert golden == SAMPLES[name], f"{difference}\n{REFRESH}"
