"""Names made to confuse what reads them: matplotlib's TeX, the names of files, and links."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.c.frozen import freeze, write_frozen
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

TABLES = {
    "model": {"name": "named", "algorithm": "kernel_lms"},
    "input": {"word": "s8f0"},
    "output": {"word": "s8f0"},
    "kernel": {"sigma": 20.0},
    "online": {"budget": 4, "eta": 0.5},
}
COLUMN = "$\\frac{$"


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(KerncastError) as caught:
        call()
    return caught.value.problems[0].code


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_plot_shows_any_name_of_a_column_as_it_is(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]], suffix: str
) -> None:
    rows = "".join(f"{i % 50},{(i * 7) % 40}\n" for i in range(40))
    (tmp_path / "a.csv").write_text(f"{COLUMN},y_$^\n{rows}")
    data = {"file": "a.csv", "inputs": [COLUMN], "target_column": "y_$^"}
    (tmp_path / "a.toml").write_text(Spec(**TABLES, data=data).to_toml())
    code, _, errors = run("sim", tmp_path / "a.toml", "--plot", tmp_path / f"a.{suffix}")
    assert (code, errors) == (0, "")
    assert (tmp_path / f"a.{suffix}").stat().st_size > 1000


@pytest.mark.parametrize("name", ["../evil", "x */ int y; /*", "A", "", "a\nb"])
def test_a_plan_whose_name_could_leave_its_folder_is_no_plan(name: str) -> None:
    whole = json.loads(make_plan(Spec(**TABLES)).to_json())
    whole["decisions"]["name"] = name
    text = json.dumps(whole["decisions"], sort_keys=True, separators=(",", ":"))
    whole["hash"] = hashlib.sha256(text.encode()).hexdigest()
    assert code_of(lambda: Plan.from_json(json.dumps(whole))) == "E210"


def test_a_constant_model_replaces_no_link(tmp_path: Path) -> None:
    plan = make_plan(Spec(**TABLES))
    model = open_model(plan)
    model.update(np.arange(6)[:, None], np.arange(6))
    files = freeze(plan, model.save())
    (tmp_path / "named_frozen.c").symlink_to(tmp_path / "elsewhere.c")  # which does not exist
    assert code_of(lambda: write_frozen(files, tmp_path)) == "E192"
    assert (tmp_path / "named_frozen.c").is_symlink() and not (tmp_path / "named_frozen.h").exists()


def test_a_range_too_narrow_for_a_step_is_refused() -> None:
    data = {"file": "a.csv", "target_column": "y", "ranges": {"a": [0, 5e-324], "y": [0, 1]}}
    assert code_of(lambda: Spec(**TABLES, data=data)) == "E108"
