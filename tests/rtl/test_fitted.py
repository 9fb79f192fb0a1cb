"""The core of fitted values: the values of the integer model, stalls and refused frames."""

import re
import subprocess

import numpy as np
import pytest

from kerncast.codegen.rtl import FITTED
from kerncast.codegen.rtl.fitted import fitted_cycles
from kerncast.hw.backends import open_backend
from kerncast.sim.backend import Comparison
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.toeplitz.fitted import fitted_words
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .test_combinational_paths import bench
from .test_testbench import built, execute, run, verilated, write

#: Word, output, kernel, keys of [toeplitz], numbers.
CASES = {
    "band16": (16, {"word": "u12f0", "offset": 2048}, {"sigma": 1.5}, {"solver": "banded"}, {}),
    "peaks16": (16, {"word": "s16f0"}, {"sigma": 3.0}, {"solver": "banded", "lambda": 0.0009},
                {"rounding": "floor"}),
    "wraps16": (16, {"word": "s16f0"}, {"sigma": 3.0}, {"solver": "banded", "lambda": 0.0009},
                {"casts": {"f": "wrap"}}),
    "bias16": (16, {"word": "s20f0", "offset": -5}, {"sigma": 1.0}, {"solver": "banded", "bias": True},
               {"rounding": "half_even"}),
    "means24": (24, {"word": "s16f0"}, {"sigma": 1.0}, {"solver": "levinson", "bias": True}, {}),
    "levinson32": (32, {"word": "s24f0", "offset": 99}, {"sigma": 1.0}, {"solver": "levinson"},
                   {"rounding": "half_even"}),
    "tiny32": (32, {"word": "s24f0"}, {"sigma": 0.5}, {"solver": "banded", "lambda": 1e-6}, {}),
    "two16": (16, {"word": "s16f0", "outputs": 2}, {"sigma": 1.0}, {"solver": "banded"}, {}),
    "decay24": (24, {"word": "s16f0"}, {"type": "laplacian", "sigma": 3.0},
                {"solver": "banded", "factor": "geometric"}, {}),
}


def plan_of(case, n=40):
    word, output, kernel, toeplitz, numbers = CASES[case]
    return make_plan(Spec(
        model={"name": "line", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output=output,
        kernel=kernel, numbers={"word": word, **numbers},
        toeplitz={"n": n, "lambda": 0.1, "scheme": "uniform"} | toeplitz))


def vectors_of(plan):
    """A training whose targets jump between the rails, and lie between."""
    fmt, n = plan.signals["y_raw"].format, plan.sizes["n"]
    y = np.random.default_rng(5).integers(fmt.lo, fmt.hi, (n, plan.outputs), endpoint=True)
    y[:n // 2] = np.where(np.arange(n // 2) % 6 < 3, fmt.hi, fmt.lo)[:, np.newaxis]
    return make_vectors(open_model(plan), [("train", None, y if plan.outputs > 1 else y[:, 0])])


def passed(done):
    """Return the beats and the clocks of a testbench that passed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return map(int, re.search(r"PASS: (\d+) beats equal in (\d+) clocks", done.stdout).groups())


def beats(plan, words, users=0):
    """Return the beats of a frame: tuser, tlast and word, in hexadecimal."""
    mask, last = (1 << plan.word) - 1, len(words) - 1
    return [[f"{user:02x}", f"{int(k == last):02x}", f"{int(word) & mask:08x}"]
            for k, (word, user) in enumerate(zip(words, np.broadcast_to(users, len(words)), strict=True))]


def frames_of(rtl):
    """Return the frames of the testbench of one training: y, alpha, f."""
    ports = ("s_axis_y", "s_axis_alpha", "m_axis_f")
    texts = [(rtl / f"line_fitted_tb_{port}.mem").read_text().splitlines()[1:] for port in ports]
    return [[line.split("_")[1:] for line in lines] for lines in texts]


def replayed(rtl, frames):
    """Run the testbench with other frames, each a port and its beats; return what it prints.

    It continues after an error of a frame, and prints the error outputs at the end.
    """
    lines, sent = {"s_axis_y": [], "s_axis_alpha": [], "m_axis_f": [], "commands": []}, 0
    for port, words in frames:
        lines[port] += ["_".join([f"{sent:08x}", *beat]) for beat in words]
        sent += len(words)
    bench_file = rtl / "line_fitted_tb.sv"
    text = bench_file.read_text()
    for port, own in lines.items():
        (rtl / f"line_fitted_tb_{port}.mem").write_text("// beats\n" + "".join(f"{line}\n" for line in own))
        text, found = re.subn(rf'\.BEATS\(\d+\)(, \.SEED\(\d+\),\s+\.FILE\("line_fitted_tb_{port}\.mem)',
                              rf".BEATS({len(own)})\1", text)
        assert found == 1
    text = text.replace("if (error) $fatal", "if (0) $fatal")
    text = text.replace('$display("PASS', '$display("errors %b%b", error_y, error_alpha); $display("PASS')
    bench_file.write_text(text)
    built(rtl, "line_fitted")
    return run(rtl, "line_fitted").stdout


@pytest.mark.parametrize("case", CASES)
def test_the_core_returns_the_values_of_the_model(case, require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = plan_of(case)
    vectors = vectors_of(plan)
    rtl = write(tmp_path, plan, vectors)
    built(rtl, "line_fitted")
    for options in ((), ("+stall=100",)):
        beats, clocks = passed(run(rtl, "line_fitted", *options))
        assert beats == vectors.fitted["f"].size
        if not options:  # and the wait of the testbench
            least = plan.outputs * (plan.sizes["n"] + fitted_cycles(plan))
            assert least <= clocks <= least + 80
        ledger.record(backend="rtl:icarus", words=beats, mismatches=0, case=f"fitted values, {case}")


@pytest.mark.parametrize("case", CASES)
def test_any_solution_and_exponent_give_the_values_of_the_model(case, require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = plan_of(case)
    rtl = write(tmp_path, plan, vectors_of(plan))
    chance, n, word = np.random.default_rng(8), plan.sizes["n"], plan.word
    frames, statuses = [], set()
    for exponent in (plan.integer("alpha_exp_min"), plan.integer("alpha_exp_max"), 0):
        y = chance.integers(-1 << word - 1, 1 << word - 1, n)
        alpha = chance.integers(-1 << word - 1, 1 << word - 1, n)
        alpha[:4] = [-1 << word - 1, (1 << word - 1) - 1] * 2
        y[:4] = np.array([-1, 1, 1, -1]) * ((1 << word - 1) - 1)
        status, f = fitted_words(plan, y, alpha, exponent)
        statuses |= set(status.tolist())
        frames += [("s_axis_y", beats(plan, y)),
                   ("s_axis_alpha", beats(plan, [exponent, *([7] if plan.bias else []), *alpha])),
                   ("m_axis_f", beats(plan, f, status))]
    assert statuses == ({0} if case == "wraps16" else {0, 1})
    assert f"PASS: {3 * n} beats equal" in replayed(rtl, frames)
    ledger.record(backend="rtl:icarus", words=3 * n, mismatches=0, case=f"fitted values, rails, {case}")


@pytest.mark.parametrize("case", ["peaks16", "means24"])
def test_verilator_returns_the_values_of_the_model(case, require_simulator, ledger, tmp_path):
    require_simulator("verilator")
    rtl = write(tmp_path, plan_of(case), vectors_of(plan_of(case)))
    verilated(rtl, "line_fitted", "-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0")
    beats, _ = passed(execute(rtl, "obj_dir/Vline_fitted_tb", "+stall=64"))
    ledger.record(backend="rtl:verilator", words=beats, mismatches=0, case=f"fitted values, {case}")


ZERO = "00000000"


@pytest.mark.parametrize(("case", "change"), [
    ("band16", "failed"), ("bias16", "failed"), ("band16", "exponent"), ("bias16", "intercept"),
    ("band16", "short"), ("band16", "long")])
def test_a_wrong_solution_ends_the_reply_with_its_status(case, change, require_simulator, tmp_path):
    require_simulator("icarus")
    plan = plan_of(case)
    rtl = write(tmp_path, plan, vectors_of(plan))
    y, alpha, f = frames_of(rtl)
    if change == "failed":
        alpha, f = [["00", "01", ZERO]], [["07", "01", ZERO]]
    elif change == "exponent":
        alpha[0] = ["00", "00", "00007fff"]
        f = [["05", "01", ZERO]]
    elif change == "intercept":
        alpha, f = [alpha[0], ["00", "01", ZERO]], [["05", "01", ZERO]]
    elif change == "short":
        alpha = [*alpha[:9], ["00", "01", alpha[9][2]]]
        f = [*f[:8], ["05", "01", ZERO]]
    else:
        alpha = [*alpha[:-1], ["00", "00", alpha[-1][2]], ["00", "01", ZERO]]
        f = [*f[:-1], ["05", "01", ZERO]]
    text = replayed(rtl, [("s_axis_y", y), ("s_axis_alpha", alpha), ("m_axis_f", f)])
    assert f"errors {'00' if change == 'failed' else '01'}\nPASS: {len(f)} beats equal" in text


#: Stalls m_axis_f until nothing moves, then takes all values; reports a tvalid that falls without tready.
STALL_BENCH = """
module stall;
    logic clk = 0, rst = 1, ready = 0, fell = 0, was_valid = 0, was_ready = 0;
    logic [15:0] y_words [0:%(n)d-1], alpha_words [0:%(n)d];
    int y_sent = 0, alpha_sent = 0, clocks = 0;
    wire y_ready, alpha_ready, valid, last;
    wire [15:0] f;
    line_fitted dut (
        .clk(clk), .rst(rst), .s_axis_y_tdata(y_words[y_sent]), .s_axis_y_tvalid(!rst && y_sent < %(n)d),
        .s_axis_y_tready(y_ready), .s_axis_y_tlast(y_sent == %(n)d - 1),
        .s_axis_alpha_tdata(alpha_words[alpha_sent]), .s_axis_alpha_tvalid(!rst && alpha_sent <= %(n)d),
        .s_axis_alpha_tready(alpha_ready), .s_axis_alpha_tlast(alpha_sent == %(n)d),
        .m_axis_f_tdata(f), .m_axis_f_tuser(), .m_axis_f_tvalid(valid), .m_axis_f_tready(ready),
        .m_axis_f_tlast(last), .drop(1'b0), .error_clear(1'b0), .error_y(), .error_alpha(), .dropped(),
        .busy());
    initial begin
        $readmemh("y.mem", y_words);
        $readmemh("alpha.mem", alpha_words);
        forever #5 clk = !clk;
    end
    always @(posedge clk) begin
        clocks <= clocks + 1;
        rst <= clocks < 3;
        ready <= clocks > 300;
        y_sent <= y_sent + (!rst && y_ready && y_sent < %(n)d);
        alpha_sent <= alpha_sent + (!rst && alpha_ready && alpha_sent <= %(n)d);
        was_valid <= valid && !rst;
        was_ready <= ready;
        fell <= fell || (was_valid && !was_ready && !valid);
        if (!rst && valid && ready) $display("%%04x", f);
        if (!rst && valid && ready && last || clocks > 2000) begin
            $display("fell %%b", fell);
            $finish;
        end
    end
endmodule
"""


def test_a_receiver_that_stops_for_long_gets_every_value(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = plan_of("band16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    y, alpha, f = frames_of(rtl)
    for name, words in (("y", y), ("alpha", alpha)):
        (rtl / f"{name}.mem").write_text("".join(f"{word[-4:]}\n" for _, _, word in words))
    (rtl / "stall.sv").write_text(STALL_BENCH % {"n": plan.sizes["n"]})
    done = execute(rtl, "iverilog", "-g2012", "-o", "stall", "-s", "stall", "-c", "line_fitted.f", "stall.sv")
    assert done.returncode == 0, done.stderr
    lines = execute(rtl, "vvp", "-n", "stall").stdout.split("\n")
    assert lines[:-1] == [*(word[-4:] for _, _, word in f), "fell 0"]
    ledger.record(backend="rtl:icarus", words=len(f), mismatches=0, case="fitted values, a long stall")


@pytest.mark.parametrize("at", ["waiting", "before"])
def test_a_system_that_the_solver_drops_releases_its_right_hand_side(at, require_simulator, tmp_path):
    """The reply to the next solution then belongs to the next right-hand side."""
    require_simulator("icarus")
    plan = plan_of("band16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    y, alpha, f = frames_of(rtl)
    other = [["00", last, f"{(int(word, 16) ^ 0x55) & 0xffff:08x}"] for _, last, word in y]
    drop = [("commands", [["00", "01", "00000001"]])]
    # A pulse without a right-hand side, as after a frame that both cores dropped, does nothing.
    first = [("s_axis_y", other), *drop] if at == "waiting" else drop
    text = replayed(rtl, [*first, ("s_axis_y", y), ("s_axis_alpha", alpha), ("m_axis_f", f)])
    assert f"errors 00\nPASS: {len(f)} beats equal" in text


def test_an_incomplete_right_hand_side_is_dropped(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = plan_of("band16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    y, alpha, f = frames_of(rtl)
    short = [*y[:4], ["00", "01", y[4][2]]]
    text = replayed(rtl, [("s_axis_y", short), ("s_axis_y", y), ("s_axis_alpha", alpha), ("m_axis_f", f)])
    assert f"errors 10\nPASS: {len(f)} beats equal" in text


def test_no_output_of_the_core_follows_an_input_within_a_clock(require_simulator, tmp_path):
    require_simulator("icarus")
    rtl = write(tmp_path, plan_of("bias16"), None)
    (rtl / "bench.sv").write_text(bench("line_fitted", (rtl / "line_fitted.sv").read_text()))
    done = execute(rtl, "iverilog", "-g2012", "-o", "bench", "-s", "bench", "-c", "line_fitted.f", "bench.sv")
    assert done.returncode == 0, done.stderr
    found = subprocess.run(["vvp", "bench"], cwd=rtl, capture_output=True, text=True, check=True).stdout
    assert "0 outputs followed an input" in found


def test_the_rtl_back_end_computes_the_fitted_values(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = plan_of("two16")
    vectors = vectors_of(plan)
    backend = open_backend(plan, "rtl:icarus:solver", build_dir=tmp_path)
    assert backend.fitted()["status"].tolist() == [DeviceStatus.OUT_OF_ORDER]
    [training] = vectors.calls
    compared = Comparison()
    compared.add("train", training.expected, training.run(backend))
    compared.add("fitted", vectors.fitted, backend.fitted())
    backend.close()
    assert compared.mismatches == 0, compared.first
    ledger.record(backend="rtl:icarus", words=compared.words, mismatches=0, case="fitted, back end")


def test_the_readme_names_the_source_of_the_solution():
    solved, other = plan_of("band16"), make_plan(Spec(
        model={"name": "line", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0"}, kernel={"sigma": 1.0},
        toeplitz={"n": 40, "lambda": 0.1, "scheme": "uniform", "solver": "schur"}))
    texts = [FITTED.render(plan)["README.md"] for plan in (solved, other)]
    assert "to this core and to the solver" in texts[0] and "no solver core" not in texts[0]
    assert "This plan has no solver core" in texts[1]


@pytest.mark.parametrize(("toeplitz", "place"), [
    ({"scheme": "diagonal_mean"}, "scheme"),
    ({"scheme": "uniform", "solver": "banded", "candidates": [[2.0, 0.1], [3.0, 0.1]]}, "candidates"),
    ({"scheme": "uniform", "solver": "banded", "lambda_range": [0.05, 0.2]}, "lambda_range")])
def test_plans_without_one_grid_and_lambda_have_no_such_core(toeplitz, place):
    plan = make_plan(Spec(
        model={"name": "line", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0"}, kernel={"sigma": 1.0}, toeplitz={"n": 40, "lambda": 0.1} | toeplitz))
    with pytest.raises(KerncastError, match=rf"{place}: E307"):
        FITTED.refuse_unfit(plan)
    assert not FITTED.fits(plan)
