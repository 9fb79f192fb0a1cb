"""The scripts of examples/, each beside its spec, run as they stand and say what they promise."""

import contextlib
import io
import re
import runpy

import numpy as np
import pytest

from kerncast.benchmarks import drift_data, figures

EXAMPLES = figures.ROOT / "examples"


def said(name, folder, monkeypatch) -> list[list[float]]:
    """The numbers of each line that a script prints."""
    monkeypatch.chdir(folder)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return [[float(number) for number in re.findall(r"(?<![\w-])\d+(?:\.\d+)?(?![\w-])", line)]
            for line in out.getvalue().splitlines()]


def test_every_task_has_a_spec_and_a_script():
    scripts = {path.stem for path in EXAMPLES.glob("*.py")} - {"ecg_noise", "export_svc", "ten_digits"}
    assert scripts == {"ecg", "digits", "equaliser", "drift"}
    assert all((EXAMPLES / f"{name}.toml").is_file() for name in scripts)


@pytest.mark.parametrize(("name", "worse"), [("ecg", 1.5), ("equaliser", 3.0)])
def test_the_integer_model_matches_float64_and_beats_the_baseline(
        name, worse, tmp_path, monkeypatch):
    (peer, *_), (float64, *_), (integers, *_), *_ = said(name, tmp_path, monkeypatch)
    assert integers == pytest.approx(float64, rel=0.1)
    assert peer > worse * integers
    assert (tmp_path / "build" / name / f"{name}.h").is_file()


def test_the_chosen_lambda_is_the_best_of_each_noise_level(tmp_path, monkeypatch):
    _, *levels, mean = said("ecg_noise", tmp_path, monkeypatch)
    best = {fixed.index(min(fixed)) for _, *fixed, chosen, _ in levels if chosen == min(fixed)}
    assert best == {0, 1, 2}
    assert mean[-1] < 0.9 * min(mean[:-1])
    assert (tmp_path / "build" / "ecg_noise" / "ecg_noise_tune.c").is_file()


@pytest.mark.campaign
def test_the_digits_are_classified(tmp_path, monkeypatch):
    (float64, all_), (integers, _), *_ = said("digits", tmp_path, monkeypatch)
    assert float64 - integers <= 0.01 * all_ + 1


def test_a_drifting_sensor_is_followed_unlike_by_a_fixed_calibration(tmp_path, monkeypatch):
    _, *rows, (predictions, unequal) = said("drift", tmp_path, monkeypatch)
    assert all(going_on < 2.5 for going_on, _ in rows) and rows[-1][1] > 10
    assert (predictions, unequal) == (drift_data.SAMPLES, 0)


def test_the_drifting_sensors_data_are_made_here_and_small():
    assert drift_data.FILE.read_text(encoding="utf-8") == drift_data.text()
    assert drift_data.IN_UNITS.read_text(encoding="utf-8") == drift_data.text_in_units()
    assert max(path.stat().st_size for path in (drift_data.FILE, drift_data.IN_UNITS)) < 200_000
    assert np.abs(np.corrcoef(drift_data.words()[1:, 2], drift_data.words()[:-1, 2])[0, 1]) < 0.05
