"""A refused restore reset the sequence number; what is no bytes at all was a bare TypeError."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.hw.backends import open_backend
from kerncast.sim.backend import Backend
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.saved_state import HEADER_BYTES, decode
from kerncast.sim.spec import Spec

PLAN = make_plan(Spec(model={"name": "kept", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                      output={"word": "s8f0"}, kernel={"sigma": 10.0}, online={"budget": 4, "eta": 0.5}))
X, Y = np.arange(0, 60, 10)[:, np.newaxis], np.arange(-30, 30, 10)


@pytest.fixture(params=["model", "host", "emu:mps2-an386:unicorn"])
def opened(request: pytest.FixtureRequest, require_tool: Callable[..., None]) -> Backend:
    if request.param.startswith("emu"):
        require_tool("python:unicorn", "make tools")
    backend = open_backend(PLAN, request.param)
    request.addfinalizer(backend.close)
    return backend


def test_the_next_save_after_a_refused_restore_counts_on(opened: Backend) -> None:
    opened.update(X, Y)
    image = [opened.save(), opened.save()][1]
    damaged = image[:HEADER_BYTES] + bytes([image[HEADER_BYTES] ^ 1]) + image[HEADER_BYTES + 1:]
    for wrong in (damaged, image[:-1], None):
        with pytest.raises(KerncastError, match=r"E44[034]"):
            opened.restore(wrong)  # type: ignore[arg-type]
    third = opened.save()
    assert decode(PLAN, third).sequence == 3
    assert decode(PLAN, third).state["alpha"].tolist() == decode(PLAN, image).state["alpha"].tolist()


@pytest.mark.parametrize("image", [None, 7, "KCST", Path("saved.bin"), [75, 67]])
def test_input_other_than_bytes_is_refused_with_the_required_type(image: object) -> None:
    with pytest.raises(KerncastError) as told:
        decode(PLAN, image)  # type: ignore[arg-type]
    problem = told.value.problems[0]
    assert problem.code == "E440" and type(image).__name__ in problem.value and "bytes" in problem.allowed
