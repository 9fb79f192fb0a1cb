"""The HIL agent as an application: buffers by the RAM of the target."""

import re

import pytest

from kerncast.codegen.firmware.application import agent_files
from kerncast.codegen.firmware.targets import load_target
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

PLAN = make_plan(Spec(model={"name": "probe", "algorithm": "kernel_lms"},
                      input={"word": "u8f0", "columns": 2}, output={"word": "s8f0"},
                      kernel={"sigma": 20.0}, online={"budget": 4, "eta": 0.3}))


@pytest.mark.parametrize(("target", "payload", "samples", "slots"), [
    ("atmega328p", 64, 64, False), ("atmega2560", 128, 128, True), (None, 128, 128, True),
    ("cortex-m4", 512, 128, True)])
def test_the_buffers_of_the_agent_follow_the_ram_of_the_target(target, payload, samples, slots):
    files = agent_files(PLAN, load_target(target) if target else None)
    port = files["probe_hil_port.c"]
    assert f"#define KC_HIL_MAX_PAYLOAD {payload}u" in files["kc_hil_protocol.h"]
    assert re.search(r"#define CAPACITY (\d+)u", port).group(1) == str(samples)
    assert ("static uint8_t slots" in port) == slots


def test_every_header_that_the_agent_includes_is_there_or_in_the_library():
    files = agent_files(PLAN)
    included = {name for text in files.values() for name in re.findall(r'#include "(\S+)"', text)}
    assert included - set(files) == {"probe.h"}
