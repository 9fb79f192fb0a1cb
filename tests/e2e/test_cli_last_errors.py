"""``kerncast init`` and ``fit`` correct predictions by the last errors where samples are in order."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerncast.lab.fitting import fit_spec
from kerncast.lab.fitting.search import Search, applied
from kerncast.sim.data import load_dataset
from kerncast.sim.spec import Spec

Run = Callable[..., tuple[int, str, str]]


def error_of(run: Run, path: Path) -> float:
    code, out, err = run("sim", path, "--json")
    assert code == 0, err
    return float(json.loads(out)["held_out"]["error"])


def column(folder: Path, values: np.ndarray[Any, Any]) -> Path:
    path = folder / "d.csv"
    path.write_text("y\n" + "".join(f"{round(v)}\n" for v in values))
    return path


def sine(noise: float) -> np.ndarray[Any, Any]:
    """Return a signal behind a sensor with noise: the last errors predict a part of the next."""
    return 1500 * np.sin(np.arange(1500) / 9) + noise * np.random.default_rng(2).normal(size=1500)


# ---- init ----
@pytest.mark.parametrize(("header", "stamped", "options", "count"), [
    ("y", False, ["--lags", "5"], 6), ("time,a,b,level", True, [], 6), ("a,b,level", False, [], None)])
def test_init_writes_last_errors_for_samples_in_order_of_time(run: Run, tmp_path: Path, header: str,
                                                              stamped: bool, options: list[str],
                                                              count: int | None) -> None:
    values = np.random.default_rng(0).normal(size=(60, header.count(",") + 1 - stamped)).round(3)
    rows = [",".join([*[str(i / 10)] * stamped, *map(str, row)]) for i, row in enumerate(values.tolist())]
    (tmp_path / "d.csv").write_text("\n".join([header, *rows, ""]))
    code, out, err = run("init", "m", "--data", tmp_path / "d.csv", "-o", tmp_path, *options)
    assert code == 0, err
    text = (tmp_path / "m.toml").read_text()
    assert tomllib.loads(text)["online"].get("last_errors") == count
    assert "# correct each prediction with this number of the last errors" in text
    assert ("each prediction is corrected" in out) == (count is not None)


def test_init_writes_no_last_errors_for_classes(run: Run, tmp_path: Path) -> None:
    rows = [f"{i / 10},{(7 * i) % 11},{(5 * i) % 13},{('idle', 'run')[i % 2]}" for i in range(60)]
    (tmp_path / "d.csv").write_text("\n".join(["time,a,b,label", *rows, ""]))
    assert run("init", "m", "--data", tmp_path / "d.csv", "-o", tmp_path)[0] == 0
    spec = Spec.load(tmp_path / "m.toml")
    assert spec.data is not None and spec.data.time == "time"
    assert spec.online is not None and spec.online.linear == "rls" and spec.online.last_errors is None


def test_the_last_errors_of_init_lower_the_error_of_a_signal_with_noise(run: Run, tmp_path: Path) -> None:
    data, path = column(tmp_path, sine(150.0)), tmp_path / "m.toml"
    assert run("init", "m", "--data", data, "-o", tmp_path, "--lags", "8")[0] == 0
    corrected = error_of(run, path)
    path.write_text(re.sub(r"(?m)^last_errors = 6.*\n", "", path.read_text()))
    assert corrected < 0.98 * error_of(run, path)


# ---- fit ----
def learner(folder: Path, values: np.ndarray[Any, Any]) -> Spec:
    """Write a signal; return a spec that predicts its next sample with a linear part."""
    column(folder, values)
    return Spec(model={"name": "m", "algorithm": "kernel_lms"}, kernel={"sigma": 2000.0},
                input={"word": "s12f0", "columns": 3}, output={"word": "s12f0"},
                online={"budget": 16, "eta": 0.2, "reduction": "nt", "quantise": 0.8, "linear": "rls",
                        "linear_ridge": 1000.0},
                data={"file": "d.csv", "lagged": True})


def test_fit_writes_and_names_last_errors_that_lower_the_error(run: Run, tmp_path: Path) -> None:
    path, new, without = (tmp_path / f"{name}.toml" for name in ("m", "new", "without"))
    path.write_text(learner(tmp_path, sine(60.0)).to_toml())
    code, out, err = run("fit", path, "-o", new)
    assert code == 0, err
    count = tomllib.loads(new.read_text())["online"]["last_errors"]
    assert re.search(rf"^\[online\] last_errors +- +{count}$", out, re.MULTILINE)
    without.write_text(new.read_text().replace(f"last_errors = {count}\n", ""))
    assert error_of(run, new) < 0.99 * error_of(run, without)


def test_fit_removes_last_errors_that_do_not_help(tmp_path: Path) -> None:
    spec = learner(tmp_path, np.random.default_rng(3).integers(-900, 900, 600))
    found = fit_spec(Spec(**applied(spec, {("online", "last_errors"): 16})), tmp_path, None,
                     lambda done, total: None)
    assert found.new.online is not None and found.new.online.last_errors is None


def test_fit_does_not_try_last_errors_on_test_samples(tmp_path: Path) -> None:
    spec = learner(tmp_path, sine(60.0))
    rows = [f"{a},{b}\n" for a, b in zip(sine(0.0)[:80].round(), sine(60.0)[:80].round(), strict=True)]
    for name in ("d.csv", "test.csv"):
        (tmp_path / name).write_text("".join(["x0,y\n", *rows]).replace(".0", ""))
    spec = Spec(**applied(spec, {("input", "columns"): 1, ("data", "lagged"): None,
                                 ("data", "test"): "test.csv"}))
    search = Search(spec, load_dataset(spec, tmp_path), None, lambda done, total: None)
    search.run()
    assert len(search.found) > 20
    assert not any("last_errors" in values for values in search.found)
