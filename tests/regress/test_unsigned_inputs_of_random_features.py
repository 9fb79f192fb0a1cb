"""Generated C of online kernel RLS did not compile for unsigned inputs without an offset."""

import numpy as np
import pytest

from kerncast.hw.backends import open_backend
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


@pytest.mark.parametrize("word", ["u12f0", "u16f0"])
def test_unsigned_inputs_have_the_values_of_the_model(require_tool, word):
    require_tool("gcc", "sudo apt-get install -y gcc")
    spec = Spec(model={"name": "m", "algorithm": "online_kernel_rls"}, input={"word": word, "columns": 2},
                output={"word": "s12f0"}, kernel={"sigma": 300.0}, rls={"features": 4})
    plan = make_plan(spec)
    random = np.random.default_rng(0)
    x, y = random.integers(0, spec.input.format.hi + 1, (60, 2)), random.integers(-2048, 2048, 60)
    backend = open_backend(plan, "host:gcc:-O2")
    try:
        found, expected = backend.update(x, y), open_model(plan).update(x, y)
        assert all(np.array_equal(found[name], expected[name]) for name in ("f", "status"))
    finally:
        backend.close()
