"""A sample costs the online learner instructions in proportion to its budget."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from kerncast.benchmarks.online_cost import TOLERANCE, cost_plan, exponent, instructions, one_by_one

if TYPE_CHECKING:
    from kerncast.lab.pytest_plugin.ledger import Ledger

CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
BUDGETS, SAMPLES = ((32, 64, 128, 256, 512, 1024), 64) if CAMPAIGN else ((32, 128), 24)
#: Samples in the model, of which some take many searches and most few.
MODELLED = 400


def test_instructions_and_distances_of_a_sample_are_linear_in_the_budget(
        require_tool: Callable[[str, str], str], ledger: "Ledger") -> None:
    """From counts, never from times; and no sample takes more than the plan states."""
    require_tool("python:unicorn", "python -m pip install unicorn")
    require_tool("arm-none-eabi-gcc", "make tools")
    pytest.importorskip("matplotlib")
    counted, searched = [], []
    for budget in BUDGETS:
        plan = cost_plan(budget)
        terms, answers = one_by_one(plan, MODELLED)
        answers = {name: words[:budget + SAMPLES] for name, words in answers.items()}
        counts, _ = instructions(plan, SAMPLES, answers)  # compares every word
        ledger.record(backend="emu:mps2-an386:unicorn", words=2 * len(answers["f"]), mismatches=0,
                      case=f"online cost N={budget}")
        assert terms.max() <= plan.operations["update"]["distance_terms"].count
        counted.append(counts.mean())
        searched.append(terms.mean())
    assert abs(exponent(BUDGETS, counted) - 1) <= TOLERANCE
    assert abs(exponent(BUDGETS, searched) - 1) <= TOLERANCE
