"""One numbering of the statuses: texts, the model's constants and the generated header follow it."""

from kerncast.codegen.generate import render_c
from kerncast.sim import backend, statuses
from kerncast.sim.model import statuses as compiled
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import MEANINGS, DeviceStatus


def test_every_status_has_its_text_at_its_code():
    assert list(MEANINGS) == [status.word for status in DeviceStatus] == list(backend.STATUSES)
    assert [int(status) for status in DeviceStatus] == list(range(len(DeviceStatus)))


def test_the_constants_of_compiled_code_are_plain_integers_of_the_same_codes():
    for status in DeviceStatus:
        value = getattr(compiled, status.name)
        assert value == status and type(value) is int
    assert list(statuses.TRAINED) == list(compiled.TRAINED)


def test_the_generated_header_has_the_same_codes():
    header = render_c(make_plan(Spec(
        model={"name": "tiny", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"}, output={"word": "s8f0"},
        kernel={"sigma": 2.0}, toeplitz={"n": 4, "lam": 0.5, "scheme": "uniform"})))["tiny.h"]
    for status in DeviceStatus:
        assert f"TINY_{status.name} = {status.value}" in header
