"""The pages on peers and costs agree with what compilers and emulators give today.

Figures hold for the compiler that a page names; with another one the aims are still looked at.
"""

import re
from types import SimpleNamespace

import pytest

from kerncast.benchmarks import costs
from kerncast.benchmarks.beside import PAGE, our_row
from kerncast.benchmarks.instructions import example
from kerncast.codegen.build.toolchains import choose_toolchain
from kerncast.codegen.firmware.targets import load_target
from kerncast.lab.costs.measure import measured_costs
from kerncast.lab.workflow import prepare
from kerncast.sim.errors import KerncastError, fail
from kerncast.sim.spec import Spec

OURS = "| kerncast, DSP | 16 bits | -O2 |"
PEERS = PAGE.read_text(encoding="utf-8")
COSTS = costs.PAGE.read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip().replace(",", "") for cell in line.split("|")[1:-1]]


@pytest.fixture
def version(require_tool) -> str:
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    return choose_toolchain("gcc", load_target("cortex-m4")).version


def test_a_prediction_costs_no_more_than_its_target():
    *_, worst, flash, _ = cells(next(line for line in PEERS.splitlines() if line.startswith(OURS)))
    assert int(worst) <= 6000 and int(flash) <= 6500


@pytest.mark.campaign
def test_a_prediction_costs_as_much_as_the_page_states(version):
    row, _ = our_row(example("digits", 16), "DSP", "-DKC_PORTABLE=0", "-O2")
    assert f"gcc {version} " not in PEERS or row in PEERS, "stale: python -m kerncast.benchmarks.beside"


def test_durbin_s_recursion_is_cheaper_and_more_accurate_than_cmsis():
    rows = [cells(line) for line in PEERS.partition("## Durbin's")[2].splitlines()
            if re.match(r"\| [0-9]", line)]
    assert len(rows) == 6
    for *_, ours, error, theirs, their_error in rows:
        assert int(ours) < int(theirs) and float(error) < float(their_error)


def test_the_table_of_costs_has_every_example_and_the_bytes_of_today(version, tmp_path):
    examples = sorted((costs.ROOT / "examples").glob("*.toml"))
    assert re.findall(r"^## `examples/(.*)`$", COSTS, re.MULTILINE) == [path.name for path in examples]
    digits = prepare(Spec.load(examples[0]), examples[0].parent, tmp_path / "digits")
    row = costs.row(measured_costs(digits.plan, digits.folder, "cortex-m4", "-Os"))
    held = next(line for line in COSTS.splitlines() if line.startswith("| `cortex-m4` | -Os |"))
    assert cells(held)[2] != f"gcc {version}" or cells(held)[:8] == cells(row)[:8], (
        "stale: python -m kerncast.benchmarks.costs")


@pytest.mark.parametrize(("code", "left_out"), [
    ("E326", True), ("E501", True), ("E335", False), ("E320", False)])
def test_the_page_leaves_out_what_does_not_fit_and_nothing_that_fails(code, left_out, monkeypatch):
    def refuse(*_given, **_choices):
        raise fail(code, "refused")

    monkeypatch.setattr(costs, "measured_costs", refuse)
    prepared = SimpleNamespace(plan=None, folder=None, vectors=None)
    if left_out:
        (told,) = re.findall(rf"not measured \({code}, refused\): (.*)\.", "".join(costs.rows(prepared)))
        assert "`cortex-m55` -O2" in told
    else:
        with pytest.raises(KerncastError, match=code):
            list(costs.rows(prepared))


def test_a_page_that_is_held_leaves_out_only_what_does_not_fit():
    told = re.findall(r"^These were not measured \((E\d+),", COSTS, re.MULTILINE)
    assert set(told) == {"E326"}


def test_measuring_one_example_keeps_the_sections_of_the_others(monkeypatch, tmp_path):
    page = tmp_path / "costs.md"
    page.write_text(COSTS, encoding="utf-8")
    monkeypatch.setattr(costs, "PAGE", page)
    monkeypatch.setattr(costs, "section", lambda path, _folder: costs.kept()[path.stem].replace("gcc", "GCC"))
    assert costs.main(["drift"]) == 0
    new = page.read_text(encoding="utf-8")
    assert new != COSTS and new.replace("GCC", "gcc") == COSTS
    assert "GCC" not in new.partition("## `examples/ecg.toml`")[2]
