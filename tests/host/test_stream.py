"""The stream of fitted values in C: restart, refusals, damage, and the portable sum beside the intrinsics."""

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.model import open_model
from kerncast.sim.statuses import DeviceStatus

NAMES = ["stream16", "stream16_wrap", "stream24", "stream32"]
SANITISED = ("-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")


def record(plan, m, seed=5):
    fmt = plan.signals["y_raw"].format
    return np.random.default_rng(seed).integers(fmt.lo, fmt.hi, m, endpoint=True)


def pushed(host, stream, samples):
    f = host.ffi.new(f"{host.plan.word_type} *", 77)
    push = getattr(host.library, f"{host.plan.name}_stream_push")
    return [(push(stream, int(y), f), f[0]) for y in samples]


@pytest.mark.covering
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", NAMES)
def test_every_value_equals_that_of_the_model(name, compiler, cases, require_tool):
    require_tool(compiler, "sudo apt-get install -y gcc clang")
    case = cases(name)
    host = HostBackend(case.plan, case.folder, compiler=compiler, flags=SANITISED)
    fmt = case.plan.signals["y_raw"].format
    signs = np.sign(np.resize(case.plan.tables["taps"].values, 3 * case.plan.stream_taps))
    for y in (record(case.plan, 500), np.where(signs > 0, fmt.hi, fmt.lo), np.full(100, fmt.lo)):
        found, expected = host.stream(y), open_model(case.plan).stream(y)
        assert (found["status"] == expected["status"]).all() and (found["f"] == expected["f"]).all()
    host.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_restarted_midway_forgets_the_samples_before(name, host):
    c = host(name)
    taps, y = c.plan.stream_taps, record(c.plan, 3 * c.plan.stream_taps)
    stream = c.ffi.new(f"{c.plan.name}_stream_t *")
    pushed(c, stream, record(c.plan, taps + taps // 2, seed=9))
    getattr(c.library, f"{c.plan.name}_stream_init")(stream)
    found, fresh = pushed(c, stream, y), c.stream(y)
    assert [status for status, _ in found[:taps - 1]] == [DeviceStatus.PENDING] * (taps - 1)
    assert {f for _, f in found[:taps - 1]} == {77}  # nothing was written
    assert found[taps - 1:] == list(zip(fresh["status"][taps - 1:], fresh["f"][taps - 1:], strict=True))
    c.close()


@pytest.mark.parametrize("name", NAMES)
def test_damaged_streams_and_null_pointers_are_refused(name, host):
    c = host(name)
    p, taps, f = c.plan.name, c.plan.stream_taps, c.ffi.new(f"{c.plan.word_type} *", 77)
    push, init = (getattr(c.library, f"{p}_stream_{call}") for call in ("push", "init"))
    for members in ({"newest": taps}, {"count": taps + 1}, {"newest": 65535, "count": 65535}):
        assert push(c.ffi.new(f"{p}_stream_t *", members), 1, f) == DeviceStatus.BAD_ARGUMENT
    stream = c.ffi.new(f"{p}_stream_t *")
    assert push(c.ffi.NULL, 1, f) == push(stream, 1, c.ffi.NULL) == DeviceStatus.BAD_ARGUMENT
    assert (f[0], stream.count) == (77, 0)
    init(c.ffi.NULL)
    c.close()


def test_samples_beyond_their_format_saturate_as_in_the_model(host):
    c = host("stream16")
    stream, most = c.ffi.new("stream16_stream_t *"), 32767
    taps = c.plan.tables["taps"].values
    for k, tap in enumerate(taps):
        stream.samples[k] = stream.samples[k + len(taps)] = most if tap > 0 else -most - 1
    stream.count = len(taps)
    weighed = sum(abs(t) for t in taps) * most >> c.plan.integer("stream_shift")
    found = pushed(c, stream, [most])
    assert (weighed > most) and found == [(DeviceStatus.SATURATED, most)]
    c.close()
