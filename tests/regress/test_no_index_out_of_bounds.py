"""Compiled code checks no index: the log without a trace had no rows, so a range was written beside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kerncast.sim.model.ranges import LOGGED, NULL_LOG

TESTS = Path(__file__).resolve().parents[1]
CHECKED = ["unit", "property"]


def test_the_log_without_a_trace_has_a_row_per_signal():
    assert NULL_LOG.ranges.shape == (len(LOGGED), 3)


@pytest.mark.campaign
@pytest.mark.parametrize("part", CHECKED)
def test_no_compiled_index_is_out_of_bounds(tmp_path, part):
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path), "KERNCAST_CAMPAIGN": ""}
    done = subprocess.run([sys.executable, "-m", "pytest", "-c", TESTS / "pytest.ini", "-q", TESTS / part],
                          env=os.environ | checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
