"""Errors on samples that the training did not see, and the baselines they are compared with."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerncast.lab.workflow import shipped_spec
from kerncast.sim.data import Dataset, load_dataset
from kerncast.sim.data.samples import load_samples
from kerncast.sim.diagnostics import held_out as module
from kerncast.sim.diagnostics.baselines import baselines, savitzky_golay
from kerncast.sim.diagnostics.held_out import FOLDS, Judged, held_out, make_folds, part_of
from kerncast.sim.diagnostics.quality import error_of, is_clear, judge, quality
from kerncast.sim.kernels import Gaussian
from kerncast.sim.spec import Spec

RNG = np.random.default_rng(5)


def spec_of(algorithm: str, columns: int = 1, **tables: Any) -> Spec:
    own: dict[str, Any] = {"toeplitz_rls": {"toeplitz": {"n": 40, "lam": 0.2, "scheme": "uniform"}},
                           "kernel_cg": {"cg": {"n": 40, "lam": 0.2}},
                           "kernel_lms": {"online": {"budget": 16, "eta": 0.5}}}[algorithm]
    common = {"model": {"name": "m", "algorithm": algorithm}, "input": {"word": "s12f0", "columns": columns},
              "output": {"word": "s12f0"}, "kernel": {"sigma": 3.0}}
    return Spec(**{**common, **own, **tables})


def samples(x: np.ndarray, y: np.ndarray, **more: Any) -> Dataset:
    return Dataset(**({"x_raw": x, "y_raw": y, "x_test_raw": None, "y_test_raw": None, "clean": None,
                       "title": "made", "licence": ""} | more))


def signal(n: int = 40) -> Dataset:
    at = np.arange(n)
    return samples(at[:, None], np.rint(1000 * np.sin(at / 5) + RNG.normal(0, 50, n)).astype(np.int64))


def test_a_sample_left_out_is_predicted_as_by_a_training_without_it() -> None:
    data, spec = signal(), spec_of("toeplitz_rls", numbers={"word": 32})
    found = held_out(spec, data)
    assert found is not None and found.judged is Judged.LEFT_OUT
    x = np.arange(40.0)[:, None]
    for i in (0, 1, 17, 39):
        rest = np.delete(np.arange(40), i)
        K = Gaussian(3.0)(x[rest], x[rest]) + 0.2 * np.eye(39)
        f = Gaussian(3.0)(x[[i]], x[rest]) @ np.linalg.solve(K, data.y_raw[rest])
        assert found.f[i] == pytest.approx(f[0], abs=1e-2)


def test_noise_that_is_memorised_is_an_error() -> None:
    noise = samples(np.arange(40)[:, None], RNG.integers(-1000, 1000, 40))
    spec = spec_of("toeplitz_rls", numbers={"word": 32}, kernel={"sigma": 0.3},
                   toeplitz={"n": 40, "lam": 1e-3, "scheme": "uniform"})
    found = quality(spec, noise)
    assert found is not None and found.error > 0.9 * np.std(noise.y_raw)
    assert not found.verdict.startswith("Good")


def test_the_stream_is_predicted_before_it_is_learnt() -> None:
    x = np.arange(80)[:, None] % 7
    data, spec = samples(x, 100 * x[:, 0]), spec_of("kernel_lms")
    changed = replace(data, y_raw=np.concatenate([data.y_raw[:-1], [2000]]))
    before, after = held_out(spec, data), held_out(spec, changed)
    assert before is not None and after is not None and before.judged is Judged.AHEAD
    assert len(before.f) == 60 and np.array_equal(before.f, after.f)


def test_folds_are_disjoint_and_cover_the_samples() -> None:
    for n, shuffled in ((8, False), (41, False), (41, True)):
        folds = list(make_folds(n, shuffled))
        assert len(folds) == FOLDS and sorted(np.concatenate(folds)) == list(range(n))


def test_a_fold_is_predicted_without_its_samples() -> None:
    x = RNG.integers(-50, 50, (40, 2))
    data, spec = samples(x, x.sum(axis=1)), spec_of("kernel_cg", 2, kernel={"sigma": 20.0})
    found = held_out(spec, data)
    assert found is not None and found.judged is Judged.FOLDS
    fold = found.folds[0]
    y = data.y_raw.copy()
    y[fold] += RNG.integers(-9, 9, len(fold))
    changed = held_out(spec, replace(data, y_raw=y))
    assert changed is not None and np.array_equal(found.f[fold], changed.f[fold])


def test_the_clean_signal_and_test_samples_come_first() -> None:
    data, spec = signal(), spec_of("toeplitz_rls")
    clean = held_out(spec, replace(data, clean=1000 * np.sin(np.arange(40) / 5)))
    assert clean is not None and clean.judged is Judged.CLEAN
    test = {"x_test_raw": data.x_raw[:5], "y_test_raw": data.y_raw[:5]}
    tested = held_out(spec_of("kernel_lms"), replace(data, **test))
    assert tested is not None and tested.judged is Judged.TEST and len(tested.f) == 5


def test_large_data_are_sampled_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("toeplitz_rls", toeplitz={"n": 100, "lam": 0.2, "scheme": "uniform"})
    monkeypatch.setattr(module, "MAX_SAMPLES", 40)
    _, part, what = part_of(spec, signal(100), 40)
    assert len(part.y_raw) == 40 and "40 consecutive samples of 100" in what
    x = RNG.integers(-9, 9, (300, 2))
    for y in (x[:, 0], np.sign(x[:, 0] + 0.5).astype(np.int64)):
        cg = spec_of("kernel_cg", 2, cg={"n": 300, "lam": 0.2})
        smaller, rows, what = part_of(cg, samples(x, y), 100)
        assert smaller.samples == len(rows.y_raw) == 100 and what == "100 of 300 samples"


def test_too_few_samples_hold_none_out() -> None:
    spec = spec_of("toeplitz_rls", toeplitz={"n": 5, "lam": 0.2, "scheme": "uniform"})
    assert quality(spec, signal(5)) is None


def test_a_refused_training_has_no_error() -> None:
    x = 1000 + (np.arange(40) * 37 % 101)[:, None]
    spec = spec_of("kernel_cg", kernel={"type": "linear"}, input={"word": "u16f0"})
    found = quality(spec, samples(x, np.arange(40) ** 2 % 23))
    assert found is not None and found.error == np.inf and found.verdict.startswith("There is no model")


# ---- baselines ----
@pytest.mark.parametrize(("window", "order"), [(3, 1), (9, 2), (13, 4)])
def test_the_filter_is_that_of_scipy(window: int, order: int) -> None:
    scipy = pytest.importorskip("scipy.signal")
    y = RNG.normal(size=50)
    assert np.allclose(savitzky_golay(y, window, order), scipy.savgol_filter(y, window, order))


def test_on_the_ecg_the_filter_is_as_good_as_the_measured_one() -> None:
    spec = shipped_spec("ecg")
    found = quality(spec, load_dataset(spec))
    page = (Path(__file__).resolve().parents[3] / "docs" / "measured" / "filters.md").read_text()
    measured = re.search(r"Savitzky-Golay, tuned[^|]* \| ([\d.]+)", page)
    assert found is not None and measured is not None and f"{found.best[1]:.3f}" == measured[1]


def test_a_filter_without_its_sample_is_a_polynomial_of_the_others() -> None:
    y, at = RNG.normal(size=30), np.arange(30.0)
    found = savitzky_golay(y, 9, 2, left_out=True)
    for i, first in ((12, 8), (1, 0), (29, 21)):
        others = np.array([j for j in range(first, first + 9) if j != i])
        assert found[i] == pytest.approx(np.polyval(np.polyfit(at[others], y[others], 2), i))


def names(spec: Spec, data: Dataset, lagged: bool = False) -> list[str]:
    found = held_out(spec, data)
    assert found is not None
    return [each.name.split(",")[0] for each in baselines(found, lagged, lambda f: error_of(found, f))]


def test_each_task_has_its_baselines() -> None:
    data = signal()
    clean = replace(data, clean=data.y_raw.astype(float))
    classes = samples(data.x_raw, np.sign(data.y_raw + 0.5).astype(np.int64))
    toeplitz, lms = spec_of("toeplitz_rls"), spec_of("kernel_lms")
    assert names(toeplitz, data) == ["mean", "Savitzky-Golay filter"]
    assert names(toeplitz, clean) == ["mean", "noisy samples", "Savitzky-Golay filter"]
    assert names(lms, data) == ["mean", "previous sample", "linear model"]
    assert names(lms, classes) == names(spec_of("kernel_cg"), classes) == ["majority class", "linear model"]


def test_a_linear_relation_is_learnt_by_the_linear_model() -> None:
    x = RNG.integers(-100, 100, (400, 2))
    y = 3 * x[:, 0] - 2 * x[:, 1] + 7
    test = {"x_test_raw": x[300:], "y_test_raw": y[300:]}
    for spec, data in ((spec_of("kernel_lms", 2), samples(x, y)),
                       (spec_of("kernel_lms", 2), samples(x[:300], y[:300], **test)),
                       (spec_of("kernel_cg", 2, cg={"n": 400, "lam": 0.2}), samples(x, y))):
        found = quality(spec, data)
        assert found is not None and found.best[0] == "linear model" and found.best[1] < 0.5
        assert not found.beats_baselines and "linear model" in found.verdict


def test_a_streamed_baseline_does_not_see_the_future() -> None:
    data = signal(80)
    changed = replace(data, y_raw=np.concatenate([data.y_raw[:-1], [-2000]]))
    runs = [held_out(spec_of("kernel_lms"), each) for each in (data, changed)]
    made = [{each.name: each.f for each in baselines(run, False, lambda f: 0.0)} for run in runs if run]
    for name in made[0]:
        assert np.array_equal(made[0][name], made[1][name]), name


def test_the_verdict_names_the_baseline_that_decides() -> None:
    found = quality(spec_of("toeplitz_rls"), signal())
    assert found is not None
    for error, words in ((2.0, "Not good: a baseline has a smaller error than the model (mean)"),
                         (0.98, "about that of"),
                         (1.02, "No gain: the error of a baseline is 2.0% smaller (mean)"),
                         (0.5, "50% below")):
        made = replace(found, error=error, baselines={"mean": 1.0}, clear=True)
        assert words in made.verdict and made.beats_baselines == (error <= 1)


def test_of_two_classes_the_error_is_the_share_of_wrong_ones() -> None:
    x = np.concatenate([RNG.integers(-90, -50, 40), RNG.integers(50, 90, 40)])[:, None]
    found = held_out(spec_of("kernel_cg", cg={"n": 80, "lam": 0.2}, kernel={"sigma": 40.0}),
                     samples(x, np.repeat([2, 5], 40)))
    assert found is not None
    made = judge(found, lagged=False)
    assert (made.measure, made.error, made.as_dict()["accuracy"]) == ("error rate", 0.0, 1.0)


def test_results_print_as_a_few_lines() -> None:
    from kerncast.sim.diagnostics.simulate import simulate
    from kerncast.sim.planner import make_plan
    from kerncast.sim.reference import solve_toeplitz, toeplitz_applies

    spec, data = spec_of("toeplitz_rls"), signal()
    simulation = repr(simulate(make_plan(spec), None, data.y_raw))
    assert simulation.startswith("Simulation: status ok, 40 predictions\n") and simulation.count("\n") == 2
    solution = repr(solve_toeplitz(2.0 ** -np.arange(50.0), np.ones(50)))
    assert solution.startswith("Solution by ") and "status ok" in solution and solution.count("\n") <= 3
    chosen = toeplitz_applies(data.x_raw, data.y_raw)
    results = [simulation, solution, *map(repr, (make_plan(spec), data, load_samples("ecg"), chosen))]
    assert all(text.count("\n") <= 3 and max(map(len, text.split("\n"))) <= 160 for text in results[:5])
    assert repr(make_plan(spec)).startswith("Plan: m, toeplitz_rls, 16 bits, n = 40, D = 1\n")
    assert "40 samples" in repr(data) and "1,024 samples" in results[4] and "errors=" not in results[5]


def test_a_difference_within_its_standard_error_is_no_gain() -> None:
    """Of 75 candidates, one has a smaller error than the mean even on noise."""
    y = np.random.default_rng(1).normal(size=40)
    found = held_out(spec_of("toeplitz_rls"), signal(40))
    assert found is not None and not found.classes
    noise = 0.3 * np.random.default_rng(2).normal(size=40)
    for f, clear in ((0 * y, False), (noise, False), (0.9 * y, True)):
        assert is_clear(replace(found, y=y, f=f), np.zeros(40)) == clear
    luck = np.where(np.arange(40) == int(np.argmax(abs(y))), y, 0.0)  # one sample decides
    assert not is_clear(replace(found, y=y, f=luck), np.zeros(40))
    made = replace(judge(found, lagged=False), error=0.5, baselines={"mean": 1.0}, clear=False)
    assert made.verdict.startswith("No clear gain: the error is 50% below") and not made.gains
