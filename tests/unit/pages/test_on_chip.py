"""docs/measured/on-chip.md shows the results of the suite, and these are the integer model's."""

import copy
import json

import numpy as np
import pytest

from kerncast.benchmarks.on_chip import measure
from kerncast.benchmarks.on_chip.__main__ import load, main
from kerncast.benchmarks.on_chip.measure import SHOWN
from kerncast.benchmarks.on_chip.methods import Method, methods
from kerncast.benchmarks.on_chip.page import OURS, text
from kerncast.benchmarks.on_chip.series import lorenz, mackey_glass, narma
from kerncast.benchmarks.on_chip.streams import CHOSEN_ON, REPORTED, SOURCES, samples
from kerncast.benchmarks.papers.common import DOCS

PAGE = DOCS / "measured" / "on-chip.md"
RESULTS, METHODS = load(), methods()
STALE = "stale: python -m kerncast.benchmarks.on_chip"


def test_the_page_is_made_from_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kerncast.benchmarks.on_chip.page.save", lambda _, name: f"../figures/{name}.svg")
    assert PAGE.read_text(encoding="utf-8") == text(RESULTS), STALE
    for name in ("pareto", "curves"):
        assert 0 < (DOCS / "figures" / f"on-chip-{name}.svg").stat().st_size < 200_000


def test_every_method_has_a_result_on_every_stream() -> None:
    assert set(RESULTS["methods"]) == set(METHODS)
    for title, method in METHODS.items():
        found = RESULTS["methods"][title]
        assert set(found) == set(SOURCES)
        for name, result in found.items():
            assert len(result["errors"]) == len(result["default_errors"]) == len(REPORTED)
            assert ("cost" in result) == (name in SHOWN and method.cost is not None)


@pytest.mark.parametrize("title", [OURS, "kerncast FKLMS, guarded", "RLS", "QKLMS, float64"])
def test_the_errors_of_the_page_are_measured_again(title: str) -> None:
    method, found = METHODS[title], RESULTS["methods"][title]["equaliser"]
    design = samples("equaliser", CHOSEN_ON[0])
    for seed in REPORTED[:2]:
        of = samples("equaliser", seed)
        for kind, parameters in (("errors", "parameters"), ("default_errors", "default")):
            error = of.error(method.run(design, of, **found[parameters]))
            assert found[kind][seed] == pytest.approx(error, rel=1e-4), STALE


def test_samples_are_exact_values_of_16_bits() -> None:
    of = samples("equaliser", 3)
    assert of.x_raw.min() >= -32768 and of.x_raw.max() <= 32767
    assert np.array_equal(of.X, of.x_raw * of.gains[:-1]) and np.array_equal(of.y, of.y_raw * of.gains[-1])
    assert 0.8 < of.X.std() < 1.25 and of.error(of.y) == 0.0
    assert of.error(np.full(len(of.y), np.nan)) == np.inf


def test_the_series_are_bounded_and_depend_on_the_seed() -> None:
    for series in (lambda seed: mackey_glass(300, seed), lambda seed: lorenz(300, seed),
                   lambda seed: narma(300, seed)[1]):
        assert len(series(1)) == 300 and np.all(np.abs(series(1)) < 30.0)
        assert np.array_equal(series(1), series(1)) and not np.allclose(series(1), series(2))


def test_one_method_on_one_stream_leaves_the_other_results(monkeypatch, tmp_path) -> None:
    target, path = "kerncast.benchmarks.on_chip.__main__", tmp_path / "results.json"
    path.write_text(json.dumps(RESULTS), encoding="utf-8")
    monkeypatch.setattr(f"{target}.RESULTS", path)
    monkeypatch.setattr(f"{target}.units", lambda streams: {name: 1.5 for name in streams})
    monkeypatch.setattr(f"{target}.measure", lambda method, streams: {name: {} for name in streams})
    monkeypatch.setattr(f"{target}.write_page", lambda _: None)
    assert main(["NLMS", "laser"]) == 0
    expected = copy.deepcopy(RESULTS)
    expected["methods"]["NLMS"]["laser"], expected["units"]["laser"] = {}, 1.5
    assert json.loads(path.read_text(encoding="utf-8")) == expected


def test_the_parameters_are_chosen_one_after_the_other(monkeypatch) -> None:
    def error(_method, _name, found):
        return abs(found["a"] - 2) + abs(found["b"] - 5) + 10 * (found["a"] != 2 and found["b"] == 5)

    monkeypatch.setattr(measure, "_score", error)
    method = Method("m", lambda *_: np.zeros(1), {"b": 4}, ("a", (1, 2, 3)), {"b": (4, 5)})
    assert measure.choose(method, "laser") == ({"a": 2, "b": 4}, {"a": 2, "b": 5})


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(SystemExit, match="unknown method or stream"):
        main(["best of all"])
