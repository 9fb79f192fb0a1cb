"""A delay line of several channels whose samples are means of readings: the windows of the model."""

from functools import cache

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.data.windows import tapped
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

GCC = "apt-get install gcc"
#: By name: format of a reading, length, channels, readings per sample.
LINES = {"axes": ("s12f0", 4, 3, None), "means": ("s12f0", 5, None, 16), "bytes": ("s8f0", 3, 3, 256),
         "unsigned": ("u16f0", 4, 2, 2), "wide": ("s32f0", 2, 2, 4)}


@cache
def learner(name):
    word, length, channels, readings = LINES[name]
    return make_plan(Spec(
        model={"name": "tapped", "algorithm": "kernel_lms"},
        input={"word": word, "delay": length, "channels": channels, "decimate": readings},
        output={"word": "s12f0"}, kernel={"sigma": 0.3 * 2.0 ** int(word[1:-2])},
        online={"budget": 9, "eta": 0.3, "reduction": "nt", "quantise": 0.8}))


def readings_of(plan, count, extremes=False):
    """Random readings of all channels, or only the two ends of their format."""
    fmt, rng = plan.signals["x_raw"].format, np.random.default_rng(count)
    shape = (count, plan.channels)
    if extremes:
        return np.where(rng.random(shape) < 0.3, fmt.lo, fmt.hi)
    return rng.integers(fmt.lo, fmt.hi, shape, endpoint=True)


def opened(plan, compiler="gcc"):
    return HostBackend(plan, compiler=compiler, flags=(
        "-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"))


def pusher(host, line):
    """A function that pushes one reading of all channels."""
    plan, ffi = host.plan, host.ffi
    ctype = plan.signals["x_raw"].format.c_type

    def push(reading):
        given = ffi.new(f"{ctype}[]", reading) if plan.channels > 1 else reading[0]
        return host.library.tapped_delay_push(line, given)

    return push


@pytest.mark.covering
@pytest.mark.parametrize("name", sorted(LINES))
@pytest.mark.parametrize("extremes", [False, True])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_line_holds_the_rounded_means_of_its_readings(name, extremes, compiler, require_tool, ledger):
    require_tool(compiler, GCC)
    plan = learner(name)
    count = (plan.delay + 5) * plan.decimate + plan.decimate // 2
    readings = readings_of(plan, count, extremes)
    expected = tapped(readings, plan.delay, plan.decimate)
    host = opened(plan, compiler)
    line = host.ffi.new("tapped_delay_t *")  # all zero is empty
    assert host.ffi.sizeof("tapped_delay_t") <= plan.delay_bytes
    push, found = pusher(host, line), []
    for k, reading in enumerate(readings.tolist(), start=1):
        complete = k % plan.decimate == 0 and k >= plan.delay * plan.decimate
        assert push(reading) == (DeviceStatus.OK if complete else DeviceStatus.PENDING)
        if complete:
            found.append(list(host.library.tapped_delay_window(line)[0:plan.sizes["D"]]))
    wrong = int((np.array(found) != expected).sum())
    ledger.record(backend=f"host:{compiler}:-O1", words=expected.size, mismatches=wrong, case=f"line {name}")
    assert wrong == 0 and len(found) == len(expected)
    host.close()


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_learner_learns_from_the_line_as_from_windows(name, require_tool):
    require_tool("gcc", GCC)
    plan = learner(name)
    windows = tapped(readings_of(plan, (plan.delay + 40) * plan.decimate), plan.delay, plan.decimate)
    targets = np.random.default_rng(2).integers(-900, 900, len(windows))
    host, model = opened(plan), open_model(plan)
    for call, arguments in (("update", (windows, targets)), ("predict", (windows,))):
        found, expected = getattr(host, call)(*arguments), getattr(model, call)(*arguments)
        for signal, values in expected.items():
            assert (found[signal] == values).all()
    host.close()


@pytest.mark.parametrize("damage", [{"taken": 16}, {"taken": 65535}, {"newest": 5}, {"count": 6},
                                    {"sums": [2**31 - 1]}, {"sums": [-2**31]}, {"sums": [16 * 32767 + 1]}])
def test_a_damaged_line_of_means_is_refused(damage, require_tool):
    require_tool("gcc", GCC)
    host = opened(learner("means"))
    line = host.ffi.new("tapped_delay_t *", damage)
    push = pusher(host, line)
    assert push([1]) == DeviceStatus.BAD_ARGUMENT
    host.library.tapped_delay_init(line)
    assert push([1]) == DeviceStatus.PENDING
    host.close()


def test_a_null_reading_is_refused_and_the_line_stays(require_tool):
    require_tool("gcc", GCC)
    host = opened(learner("axes"))
    line = host.ffi.new("tapped_delay_t *")
    assert host.library.tapped_delay_push(line, host.ffi.NULL) == DeviceStatus.BAD_ARGUMENT
    assert (line.count, line.newest) == (0, 0)
    host.close()


def test_init_forgets_the_readings_of_an_unfinished_sample(require_tool):
    require_tool("gcc", GCC)
    plan = learner("means")
    host = opened(plan)
    line = host.ffi.new("tapped_delay_t *")
    push = pusher(host, line)
    for _ in range(plan.decimate - 1):
        push([2047])
    host.library.tapped_delay_init(line)
    for _ in range(plan.delay * plan.decimate):
        push([-3])
    assert list(host.library.tapped_delay_window(line)[0:plan.delay]) == [-3] * plan.delay
    host.close()
