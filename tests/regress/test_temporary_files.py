"""Temporary files: leftovers of killed runs are removed, links are not followed, ranges name a given key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.sim._output_files import partial_path, write_whole
from kerncast.sim.errors import KerncastError
from kerncast.sim.reference.first_row.checkpoint import write_npz
from kerncast.sim.spec import Spec


def test_leftovers_of_killed_runs_are_removed(tmp_path: Path) -> None:
    old, recent, users = (tmp_path / name for name in ("r.npz.11.new", "r.npz.12.new", "r.npz.mine.new"))
    for path in (old, recent, users):
        path.write_bytes(b"half")
    for path in (old, users):
        os.utime(path, (0, 0))
    write_npz(tmp_path / "r.npz", "first row", r=np.ones(3))
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "r.npz", recent, users])


@pytest.mark.parametrize("made", [lambda path, target: path.symlink_to(target),
                                  lambda path, target: os.mkfifo(path)])
def test_no_link_or_fifo_of_the_temporary_name_is_written(tmp_path: Path,
                                                           made: Callable[[Path, Path], None]) -> None:
    target, output = tmp_path / "kept", tmp_path / "out.html"
    target.write_text("kept")
    made(partial_path(output), target)
    with pytest.raises(KerncastError, match="E191"):
        write_whole(output, "text")
    assert target.read_text() == "kept" and not output.exists()


@pytest.mark.parametrize(("delay", "channels"), [(500, 200), (0, 200), (-3, 2), (99999, 999)])
def test_a_range_error_names_a_key_of_the_spec(delay: int, channels: int) -> None:
    text = f"""[model]
name = "m"
algorithm = "kernel_lms"
[input]
word = "u12f0"
delay = {delay}
channels = {channels}
[output]
word = "u12f0"
[kernel]
sigma = 0.4
[online]
budget = 32
eta = 0.2
[data]
file = "d.csv"
"""
    with pytest.raises(KerncastError) as caught:
        Spec.from_text(text)
    found = str(caught.value)
    assert "E108" in found and "columns" not in found and "the spec has none" not in found
