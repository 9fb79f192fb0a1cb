"""``kerncast init`` corrects predictions by the last errors where samples are in order."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
    assert "# correct a prediction by this number of last errors" in text
    assert ("correct each prediction" in out) == (count is not None)


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
