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
    lines, sent = {"s_axis_y": [], "s_axis_alpha": [], "m_axis_f": []}, 0
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
