"""The stream core: the values of the integer model at every number of lanes, records, stalls and refusals."""

import re
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.rtl import STREAM, render_rtl
from kerncast.codegen.rtl.stream import MOST_TAPS, stream_cycles, stream_period
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .test_combinational_paths import bench
from .test_testbench import built, execute, run, verilated, write

#: Word, output, lag, sigma, lambda, numbers.
CASES = {
    "plain16": (16, {"word": "u12f0", "offset": 2048}, 10, 1.5, 0.1, {}),
    "peaks16": (16, {"word": "s16f0"}, 60, 3.0, 3e-7, {"rounding": "floor"}),
    "wraps16": (16, {"word": "s16f0"}, 60, 3.0, 3e-7, {"casts": {"f": "wrap"}}),
    "shifts16": (16, {"word": "s20f0", "offset": -5}, 1, 0.5, 0.1, {"rounding": "half_even"}),
    "plain24": (24, {"word": "s16f0"}, 8, 1.0, 0.1, {}),
    "plain32": (32, {"word": "s24f0", "offset": 99}, 7, 1.0, 0.1, {"rounding": "half_even"}),
}

#: Sends COUNT samples, the last one with tlast, and resets the core before sample CUT.
RESET_BENCH = """
module bench #(parameter int CUT = 1, parameter int COUNT = 2);
    logic [15:0] samples [0:COUNT-1];
    logic clk = 0, rst = 1;
    int sent = 0;
    wire ready, valid, last;
    wire [15:0] f;
    flow_stream dut (
        .clk(clk), .rst(rst), .s_axis_y_tdata(samples[sent]), .s_axis_y_tvalid(!rst && sent < COUNT),
        .s_axis_y_tready(ready), .s_axis_y_tlast(sent == COUNT - 1), .m_axis_f_tdata(f), .m_axis_f_tuser(),
        .m_axis_f_tvalid(valid), .m_axis_f_tready(1'b1), .m_axis_f_tlast(last), .error_clear(1'b0),
        .error_y(), .busy());
    initial begin
        $readmemh("samples.mem", samples);
        forever #5 clk = !clk;
    end
    always @(posedge clk) begin
        rst <= sent == 0 && $time < 30;
        if (!rst && ready && sent < COUNT) begin
            sent <= sent + 1;
            if (sent == CUT - 1) rst <= 1;
        end
        if (rst && sent == CUT) $display("reset");
        if (!rst && valid) $display("%04x", f);
        if (!rst && valid && last) $finish;
    end
endmodule
"""


def plan_of(case, n=64):
    word, output, lag, sigma, lam, numbers = CASES[case]
    n = max(n, 2 * lag + 20)
    return make_plan(Spec(
        model={"name": "flow", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output=output,
        kernel={"sigma": sigma}, numbers={"word": word, **numbers},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "stream_lag": lag}))


def vectors_of(plan):
    """A record with both rails in the signs of the taps, and values between."""
    fmt, n, taps = plan.signals["y_raw"].format, plan.sizes["n"], plan.stream_taps
    y = np.random.default_rng(3).integers(fmt.lo, fmt.hi, n, endpoint=True)
    signs = np.sign(plan.tables["taps"].values)
    y[:taps], y[n - taps:] = np.where(signs > 0, fmt.hi, fmt.lo), np.where(signs > 0, fmt.lo, fmt.hi)
    return make_vectors(open_model(plan), [("train", None, y)])


def icarus(rtl, lanes):
    """Build the testbench of a stream with some lanes."""
    lines = (rtl / "flow_stream_tb.sv").read_text().splitlines()
    command = next(line for line in lines if "$ iverilog" in line)
    done = execute(rtl, *command.split("$ ")[1].split(), f"-Pflow_stream_tb.LANES={lanes}")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def passed(done):
    """Return the beats and the clocks of a testbench that passed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return map(int, re.search(r"PASS: (\d+) beats equal in (\d+) clocks", done.stdout).groups())


@pytest.mark.parametrize("case", CASES)
def test_every_lane_count_returns_the_values_of_the_model(case, require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = plan_of(case)
    vectors = vectors_of(plan)
    saturated = (vectors.stream["status"] == DeviceStatus.SATURATED).any()
    assert saturated == (case == "peaks16")
    rtl = write(tmp_path, plan, vectors)
    for lanes in (1, 4, 16):
        icarus(rtl, lanes)
        for options in ((), ("+stall=100",)):
            beats, clocks = passed(run(rtl, "flow_stream", *options))
            n, taps = plan.sizes["n"], plan.stream_taps
            samples = n + min(n, taps + taps // 2)
            assert beats == samples - 2 * (plan.stream_taps - 1)
            if not options:  # both records, their way through the core, and the wait of the testbench
                least = samples * stream_period(plan, lanes)
                assert least <= clocks <= least + 2 * stream_cycles(plan, lanes) + 90
            ledger.record(backend="rtl:icarus", words=beats, mismatches=0, case=f"stream {case}, {lanes}")


@pytest.mark.parametrize(("case", "lanes"), [("peaks16", 4), ("plain32", 8)])
def test_verilator_returns_the_values_of_the_model(case, lanes, require_simulator, ledger, tmp_path):
    require_simulator("verilator")
    rtl = write(tmp_path, plan_of(case), vectors_of(plan_of(case)))
    options = ("-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0")
    verilated(rtl, "flow_stream", f"-GLANES={lanes}", *options)
    beats, _ = passed(execute(rtl, "obj_dir/Vflow_stream_tb", "+stall=64"))
    ledger.record(backend="rtl:verilator", words=beats, mismatches=0, case=f"stream {case}, {lanes} lanes")


def test_a_stream_that_differs_fails(require_simulator, tmp_path):
    require_simulator("icarus")
    rtl = write(tmp_path, plan_of("plain16"), vectors_of(plan_of("plain16")))
    memory = rtl / "flow_stream_tb_m_axis_f.mem"
    lines = memory.read_text().splitlines()
    lines[3] = lines[3][:-1] + ("0" if lines[3][-1] != "0" else "1")
    memory.write_text("\n".join(lines) + "\n")
    built(rtl, "flow_stream")
    assert "FAIL: 1 beats differ" in run(rtl, "flow_stream").stdout


def test_a_record_shorter_than_the_filter_raises_an_error(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = plan_of("plain16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    memory = rtl / "flow_stream_tb_s_axis_y.mem"
    lines = memory.read_text().splitlines()
    lines[plan.stream_taps - 1] = lines[plan.stream_taps - 1].replace("_00_00_", "_00_01_")  # tlast too early
    memory.write_text("\n".join(lines) + "\n")
    built(rtl, "flow_stream")
    assert "FAIL: the core reports an error of a frame" in run(rtl, "flow_stream").stdout


def test_no_value_depends_on_samples_before_a_reset(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = plan_of("plain16")
    vectors = vectors_of(plan)
    rtl, taps = write(tmp_path, plan, None), plan.stream_taps
    y, f = vectors.streamed, vectors.stream["f"][taps - 1:]
    (rtl / "bench.sv").write_text(RESET_BENCH)
    sent = [*y[:taps + 3], *y]  # a reset cuts the first record after some values
    (rtl / "samples.mem").write_text("".join(f"{word & 0xffff:04x}\n" for word in sent))
    done = execute(rtl, "iverilog", "-g2012", "-o", "bench", "-s", "bench", "-c", "flow_stream.f", "bench.sv",
                   f"-Pbench.CUT={taps + 3}", f"-Pbench.COUNT={len(sent)}")
    assert done.returncode == 0, done.stderr
    lines = execute(rtl, "vvp", "-n", "bench").stdout.split("reset\n")[1].split()
    assert lines == [f"{word & 0xffff:04x}" for word in f]
    ledger.record(backend="rtl:icarus", words=len(lines), mismatches=0, case="stream after a reset")


def test_no_output_of_a_stream_follows_an_input_within_a_clock(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = plan_of("plain16")
    rtl = write(tmp_path, plan, None)
    (rtl / "bench.sv").write_text(bench("flow_stream", (rtl / "flow_stream.sv").read_text()))
    done = execute(rtl, "iverilog", "-g2012", "-o", "bench", "-s", "bench", "-c", "flow_stream.f", "bench.sv")
    assert done.returncode == 0, done.stderr
    found = subprocess.run(["vvp", "bench"], cwd=rtl, capture_output=True, text=True, check=True).stdout
    assert "0 outputs followed an input" in found


def test_plans_without_a_lag_or_with_a_long_one_have_no_stream_core():
    plan = plan_of("plain16")
    assert STREAM.fits(plan) and "rtl/flow_stream.sv" in render_rtl(plan)
    plain = make_plan(Spec(
        model={"name": "flow", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0"}, kernel={"sigma": 1.0},
        toeplitz={"n": 64, "lambda": 0.1, "scheme": "uniform"}))
    assert not any("stream.sv" in name and "flow" in name for name in render_rtl(plain))
    with pytest.raises(KerncastError, match="E307"):
        STREAM.refuse_unfit(plain)
    longer = make_plan(Spec(
        model={"name": "flow", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0"}, kernel={"sigma": 1.0},
        toeplitz={"n": 1024, "lambda": 0.1, "scheme": "uniform", "stream_lag": MOST_TAPS // 2 + 1}))
    with pytest.raises(KerncastError, match="E306"):
        STREAM.refuse_unfit(longer)


def test_gen_writes_the_core_and_lists_it(tmp_path):
    (tmp_path / "flow.toml").write_text(Spec(
        model={"name": "flow", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0"}, kernel={"sigma": 1.0},
        toeplitz={"n": 64, "lambda": 0.1, "scheme": "uniform", "stream_lag": 9}).to_toml())
    command = ["gen", str(tmp_path / "flow.toml"), "-o", str(tmp_path / "out"), "--core", "stream"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "stream" in done.output and (tmp_path / "out" / "rtl" / "flow_stream.f").is_file()
    assert "# flow_stream: fitted values" in (tmp_path / "out" / "rtl" / "README.md").read_text()
