"""``kerncast init DATA`` for samples in order of time: columns of time, and previous samples as inputs."""


import numpy as np
import pytest

from .init_runs import SINE, TABLE, made, refused, remedy_of, run, timed


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- time ----
@pytest.mark.parametrize(("instants", "header"), [
    ([i * 0.25 for i in range(60)], "time,value"), ([f"{i / 360:.3f}" for i in range(60)], "Time [s],value"),
    ([f"2026-01-01T00:00:{i:02d}" for i in range(60)], "when,value"), (range(100, 160), "count,value")])
def test_a_column_of_time_is_not_an_input(instants, header):
    spec, data, found = made(timed(instants, header))
    assert spec.toeplitz.scheme == "uniform" and spec.data.time == header.split(",")[0]
    assert len(data.y_raw) == 60 and "step" in found["time"] and found["inputs"].startswith("none")


def test_time_beside_inputs_is_left_out_of_them():
    text = "stamp," + "\n".join(f"{i / 10}," * bool(i) + line for i, line in enumerate(TABLE.splitlines()))
    spec, data, found = made(text + "\n")
    assert spec.data.time == "stamp" and data.x_raw.shape == (60, 2) and "not an input" in found["time"]


def test_time_is_an_input_on_request():
    spec, data, _ = made(timed([i / 10 for i in range(60)]), "--inputs", "time")
    assert spec.data.time is None and data.x_raw.shape == (60, 1)


def test_gaps_of_the_time_are_refused_with_the_longest_stretch():
    problem = refused(timed([i + 3 * (i > 30) + (i > 50) for i in range(60)]))
    assert (problem["code"], problem["where"]) == ("E251", "d.csv:33")
    assert "4 samples are missing in 2 gaps" in problem["message"]
    assert "by linear interpolation" in problem["remedy"]
    _, data, _ = made(timed([i + 3 * (i > 30) + (i > 50) for i in range(60)]), *remedy_of(problem))
    assert len(data.y_raw) == 31


@pytest.mark.parametrize("instants", [
    [0, 1, 2, 1.5, *range(3, 59)], np.cumsum(1 + np.random.default_rng(6).random(60)).round(2)])
def test_uneven_instants_are_refused_with_the_way_to_learn_from_them(instants):
    problem = refused(timed(instants))
    assert problem["code"] == "E259" and "--algorithm kernel_cg --inputs" in problem["remedy"]
    spec, _, _ = made(timed(instants), "--algorithm", "kernel_cg", "--inputs", "time")
    assert spec.cg is not None and spec.input.columns == 1


def test_a_repeated_instant_is_refused_with_the_longest_stretch():
    problem = refused(timed([*range(20), *range(19, 59)]))
    assert (problem["code"], problem["where"]) == ("E259", "d.csv:22")
    assert problem["value"].startswith("a step of 0; the usual one is 1")
    _, data, _ = made(timed([*range(20), *range(19, 59)]), *remedy_of(problem))
    assert len(data.y_raw) == 40


def test_deviations_that_add_up_shorten_the_stretch():
    instants = np.cumsum([1.04] * 20 + [1.0] * 38)
    problem = refused(timed(instants))
    _, data, _ = made(timed(instants), *remedy_of(problem))
    assert 16 <= len(data.y_raw) < 58


# ---- previous samples as inputs ----
SIGNAL = "y\n" + "".join(f"{round(99 * float(v))}\n" for v in SINE)


@pytest.mark.parametrize("text", [timed(range(60)), SIGNAL])
def test_the_next_sample_of_a_signal_is_predicted_from_previous_ones(text):
    spec, data, found = made(text, "--lags", "5")
    assert spec.model.algorithm == "kernel_lms" and spec.data.lagged and spec.input.columns == 5
    assert data.x_raw.shape == (len(data.y_raw), 5)
    assert data.x_raw[5].tolist() == data.y_raw[4::-1].tolist()
    assert found["inputs"] == "the 5 samples before the target, the latest first"


@pytest.mark.parametrize("algorithm", ["kernel_lms", "online_kernel_rls"])
def test_an_online_learner_of_a_signal_gets_previous_samples(algorithm):
    spec, data, _ = made(timed(range(60)), "--algorithm", algorithm)
    assert spec.model.algorithm == algorithm
    assert spec.data.lagged and spec.input.columns == data.x_raw.shape[1] == 8


@pytest.mark.parametrize(("text", "options", "remedy"), [
    ("a,b,c\n" + "1.5,2,3\n4,5,6\n" * 8, ("--lags", "4"), "omit --lags"),
    (timed(range(60)), ("--lags", "4", "--algorithm", "toeplitz_rls"), "omit --algorithm")])
def test_previous_samples_need_a_signal_and_an_online_learner(text, options, remedy):
    assert refused(text, *options)["remedy"] == remedy


def test_recursive_least_squares_learn_a_table():
    spec, data, _ = made(TABLE, "--algorithm", "online_kernel_rls")
    assert spec.rls.features == 64 and data.x_raw.shape == (60, 2)
    assert run("sim", "d.toml")[0] == 0
