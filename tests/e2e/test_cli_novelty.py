"""``kerncast fit`` and ``sim`` for a learner with a novelty: its threshold, and the picture."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerncast.lab.fitting.novelty import ORIGIN, novelty_threshold
from kerncast.sim.data import load_dataset
from kerncast.sim.diagnostics.novelty import learn_novelty
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

Run = Callable[..., tuple[int, str, str]]
TEXT = """[model]
name = "machine"
algorithm = "online_kernel_rls"
[input]
word = "s12f0"
columns = 2
[output]
word = "s12f0"
[kernel]
sigma = 800.0
[rls]
features = 8
forgetting = 0.99
novelty = 900.0
[data]
file = "machine.csv"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A spec of a sine with noise, whose threshold no sample reaches."""
    chance = np.random.default_rng(1)
    s = np.rint(1200 * np.sin(0.3 * np.arange(402)) + chance.normal(0, 40, 402)).astype(int)
    rows = [f"{a},{b},{y}" for a, b, y in zip(s, s[1:], s[2:], strict=False)]
    (tmp_path / "machine.csv").write_text("\n".join(["x0,x1,y", *rows]) + "\n")
    path = tmp_path / "machine.toml"
    path.write_text(TEXT)
    return path


def simulated(run: Run, path: Path) -> dict[str, Any]:
    code, out, err = run("sim", path, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)["novelty"]
    return found


def test_fit_sets_a_threshold_that_ordinary_samples_rarely_reach(run: Run, machine: Path) -> None:
    code, out, err = run("fit", machine, "-o", machine.parent / "new.toml", "--samples", "64")
    assert code == 0 and ORIGIN in out, err
    threshold = tomllib.loads((machine.parent / "new.toml").read_text())["rls"]["novelty"]
    found = simulated(run, machine.parent / "new.toml")
    assert found["highest"] <= found["threshold"] <= found["largest"] < 2.0
    assert found["threshold"] == pytest.approx(threshold, abs=1e-6)
    spec = Spec.from_text((machine.parent / "new.toml").read_text())
    data = load_dataset(spec, machine.parent)
    learned = learn_novelty(make_plan(spec), data.x_raw, data.y_raw)
    assert learned is not None
    novel = learned[:, 1]
    assert novel.sum() == found["novel"] and 0 < novel[200:].sum() <= 4  # of 200
    assert simulated(run, machine)["novel"] < 3


def test_a_given_release_keeps_its_ratio_to_the_threshold(machine: Path) -> None:
    def changes(**rls: float) -> dict[tuple[str, str], Any]:
        tables = tomllib.loads(TEXT)
        tables["rls"] |= rls
        spec = Spec(**tables)
        found = novelty_threshold(spec, load_dataset(spec, machine.parent))
        Spec(**tables | {"rls": tables["rls"] | {key: value for (_, key), value in found.items()}})
        return found

    plain, quarter, tiny = changes(), changes(novelty_release=225.0), changes(novelty_release=1e-4)
    assert plain.keys() == {("rls", "novelty")} < quarter.keys()
    assert quarter["rls", "novelty_release"] == pytest.approx(plain["rls", "novelty"] / 4, rel=1e-3)
    assert tiny["rls", "novelty_release"] == 1e-4


def test_without_novelty_fit_gives_no_threshold(machine: Path) -> None:
    spec = Spec.from_text(TEXT.replace("novelty = 900.0\n", ""))
    assert novelty_threshold(spec, load_dataset(spec, machine.parent)) == {}


def test_the_plot_shows_the_leverage_the_thresholds_and_the_flags(run: Run, machine: Path) -> None:
    words = ("leverage", "novelty_release", "novel<", "drift", "training sample")
    chart = machine.parent / "chart.svg"
    for novelty, shown in (("0.5", words), (None, ())):
        machine.write_text(TEXT.replace("novelty = 900.0\n", f"novelty = {novelty}\n" if novelty else ""))
        assert run("sim", machine, "--plot", chart)[0] == 0
        text = chart.read_text()
        assert all((word in text) == (word in shown) for word in words), novelty
