"""``kerncast demo``, once, as a new user runs it; and what it promises."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kerncast.benchmarks import demo as page

ROOT = Path(__file__).resolve().parents[2]
BOARDS = ("emu:mps2-an386:unicorn", "emu:mps2-an386:qemu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(folder: Path) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "kerncast", "demo", "-o", str(folder), "--json"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def example(demo: dict[str, Any], name: str) -> dict[str, Any]:
    return next(e for e in demo["examples"] if e["name"] == name)


@pytest.mark.parametrize("name", ["ecg", "digits"])
def test_every_back_end_answers_with_the_model_s_values(demo: dict[str, Any], name: str, ledger: Any) -> None:
    found = example(demo, name)
    assert found["missing"] == []
    rows = {row["backend"]: row for row in found["backends"] if row["words"]}
    assert {*BOARDS, "rtl:icarus:predictor"} < set(rows)
    assert any(backend.startswith("host:") for backend in rows)
    for backend, row in rows.items():
        ledger.record(backend=backend, words=row["words"], mismatches=row["mismatches"], case=f"demo {name}")


def test_both_emulators_report_the_same_flash_ram_stack_and_instructions(
        demo: dict[str, Any]) -> None:
    for found in demo["examples"]:
        unicorn, qemu = (next(r["costs"] for r in found["backends"] if r["backend"] == b) for b in BOARDS)
        assert unicorn == qemu
        assert min(unicorn[k] for k in ("flash", "ram", "stack")) > 0
        assert min(unicorn["counts"].values()) > 500


def test_the_filtered_ecg_is_closer_to_the_clean_signal_than_the_samples(
        demo: dict[str, Any]) -> None:
    found = example(demo, "ecg")
    assert found["errors"]["model"]["rms"] < 0.7 * found["peers"]["no filter"]
    assert found["errors"]["model"]["rms"] == pytest.approx(found["errors"]["float"]["rms"], rel=0.02)


def test_alpha_of_the_ecg_is_within_half_a_percent_of_float64(demo: dict[str, Any]) -> None:
    assert example(demo, "ecg")["errors"]["model"]["alpha_error"] <= 5e-3


def test_the_accuracy_on_digits_is_within_one_point_of_float(demo: dict[str, Any]) -> None:
    found = example(demo, "digits")
    assert abs(found["errors"]["model"]["accuracy"] - found["errors"]["float"]["accuracy"]) <= 0.01
    assert found["peers"]["sklearn SVC"] > 0.9


def test_the_demo_and_sim_report_the_same_errors(demo: dict[str, Any]) -> None:
    for name, key, measure in (("ecg", "rms", "error"), ("digits", "accuracy", "accuracy")):
        done = subprocess.run([sys.executable, "-m", "kerncast", "sim", ROOT / "examples" / f"{name}.toml",
                               "--json"], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)["held_out"]
        assert example(demo, name)["errors"]["model"][key] == found[measure]


def without_values(found: Any) -> Any:
    """Drop the key `values`, which a command prints beside every count under `words`."""
    if isinstance(found, dict):
        return {key: without_values(value) for key, value in found.items() if key != "values"}
    return [without_values(value) for value in found] if isinstance(found, list) else found


def test_a_picture_for_each_example_and_the_results_are_written_and_named(
        demo: dict[str, Any], folder: Path) -> None:
    for name in ("ecg", "digits"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n")
        assert str(folder / f"{name}.png") in demo["files"]
    assert json.loads((folder / "demo.json").read_text()) == without_values(demo)


def test_a_second_run_into_the_same_folder_gives_the_same_results(demo: dict[str, Any], folder: Path) -> None:
    code = ("from pathlib import Path; import sys; from kerncast.lab.workflow import prepare, shipped_spec;"
            "prepare(shipped_spec('ecg'), Path(), Path(sys.argv[1]) / 'ecg')")
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
    assert example(demo, "ecg")["plan"] in (folder / "ecg" / "plan.json").read_text()


def test_the_table_of_the_page_is_what_the_demo_measures(demo: dict[str, Any]) -> None:
    """Bytes and instructions hold for one compiler; with another the rest is compared."""
    text = page.PAGE.read_text()
    costs = next(r["costs"] for r in demo["examples"][0]["backends"] if r["costs"])
    if costs["compiler"] not in text:
        text = page.without_costs(text)
        demo = {**demo, "examples": [{**e, "backends": [{**r, "costs": {}} for r in e["backends"]]}
                                     for e in demo["examples"]]}
    assert page.spliced(text, page.measured(demo)) == text, "make figures"


def test_without_qemu_and_icarus_the_demo_runs_and_names_what_adds_them(tmp_path: Path) -> None:
    code = ("from kerncast.lab.workflow import *; import sys, json; from pathlib import Path;"
            "p = prepare(shipped_spec('ecg'), Path(), Path(sys.argv[1]) / 'ecg');"
            "o = run_example(p, ['emu:mps2-an386:qemu', 'rtl:icarus'], print);"
            "print(json.dumps(o.as_dict()))")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True,
                          check=True, env={**os.environ, "PATH": ""})
    missing = json.loads(done.stdout.splitlines()[-1])["missing"]
    assert len(missing) == 2
    assert all(m["code"].startswith("E5") and "install" in m["remedy"] for m in missing)
