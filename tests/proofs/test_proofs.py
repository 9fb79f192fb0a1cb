"""The C equals its definitions for all arguments; docs/measured/primitives.md is current."""

import re
from itertools import pairwise

import pytest

from kerncast.benchmarks.proofs.__main__ import MUTANT_TIMEOUT
from kerncast.benchmarks.proofs.c_source import header_texts, parse
from kerncast.benchmarks.proofs.definitions_words import BITS_16, BITS_32, CLAIMS
from kerncast.benchmarks.proofs.equivalents import EQUIVALENT
from kerncast.benchmarks.proofs.mutants import mutants, prove_mutant
from kerncast.benchmarks.proofs.page import COMMAND, PAGE, Score, page
from kerncast.benchmarks.proofs.prover import PROVED, REFUTED, ProofResult, prove
from kerncast.sim import primitives, tables
from kerncast.sim.planner.words import EXP2_BITS

PROGRAM = parse()
LAST_CLAIM = {claim.function: claim for claim in CLAIMS}
#: By function and operands what the page says of the solver's time: where it is long, `make test` holds the
#: page's digest of the C against the C that ships, and the proof is done again by `make campaign`.
LONG = ("10 to 60", "60 to 600", "> 600")
# Seconds for all their mutants; the others wait for `make campaign`.
QUICK = ("kc_shift_floor", "kc_arithmetic_shift", "kc_saturate", "kc_wrap", "kc_mac", "kc_square_diff",
         "kc_abs_diff",
         "kc_magnitude", "kc_bit_length", "kc_normalisation_shift", "kc_floor_div", "kc_divide_round")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def page_rows():
    """Rows of the page's table of claims, by function and operands."""
    found = (cells(line) for line in PAGE.read_text(encoding="utf-8").splitlines())
    return {(row[1].strip("`"), row[2]): row for row in found if len(row) == 7}


def is_long(claim):
    return page_rows().get((claim.function, claim.operands), [""])[-1] in LONG


@pytest.mark.covering(claim=lambda claim: {claim.function})
@pytest.mark.parametrize("claim", [
    pytest.param(claim, id=claim.key, marks=[pytest.mark.campaign] if is_long(claim) else [])
    for claim in CLAIMS])
def test_shipped_c_equals_its_definition_and_is_free_of_undefined_behaviour(claim):
    verdict = prove(PROGRAM, claim)
    assert verdict.outcome == PROVED, verdict.why


def test_every_function_of_the_runtime_has_a_claim():
    assert set(LAST_CLAIM) == set(PROGRAM.functions)


def test_every_primitive_of_the_closed_list_has_a_claim():
    claimed = {re.split(r"[ ,]", claim.primitive)[0] for claim in CLAIMS}
    assert claimed == set(primitives.PRIMITIVES)


def test_tables_that_ship_meet_the_precondition_of_their_proof():
    """But for the value, which is at least 2^32: tests/unit/test_tables.py tries it where it is least."""
    for bits in BITS_16:
        table = tables.exp2_16(bits)
        assert len(table) == (1 << bits) + 1
        assert all(0 <= a - b <= 1 << (12 + bits) for a, b in pairwise(table))
    for bits in BITS_32:
        assert len(tables.exp2_coarse(bits)) == len(tables.exp2_fine(bits)) == 1 << bits
        assert max(tables.exp2_fine(bits)) < 1 << 30
    assert len(tables.sine()) == 257
    assert max(tables.sine()) == 1 << 31
    assert set(BITS_16) == set(EXP2_BITS[16].values())
    assert set(BITS_32) == set(EXP2_BITS[32].values()) == set(EXP2_BITS[24].values())


def check_mutants(function):
    missed, changes = [], set()
    for mutant in mutants(PROGRAM, function):
        changes.add(mutant.change)
        if mutant.change not in EQUIVALENT:
            verdict = prove_mutant(mutant, LAST_CLAIM[function], MUTANT_TIMEOUT)
            missed += [] if verdict.outcome == REFUTED else [f"{mutant}: {verdict.outcome} {verdict.why}"]
    assert changes
    assert not missed
    assert not [change for change in EQUIVALENT if change[0] == function and change not in changes]


@pytest.mark.parametrize("function", QUICK)
def test_every_mutant_of_a_short_function_is_refuted(function):
    check_mutants(function)


@pytest.mark.campaign
@pytest.mark.parametrize("function", sorted(set(PROGRAM.functions) - set(QUICK)))
def test_every_mutant_of_a_long_function_is_refuted(function):
    check_mutants(function)


@pytest.mark.campaign
def test_mutants_called_equivalent_are_not_refuted():
    wrong = [str(mutant) for function in PROGRAM.functions for mutant in mutants(PROGRAM, function)
             if mutant.change in EQUIVALENT
             and prove_mutant(mutant, LAST_CLAIM[function], 60).outcome == REFUTED]
    assert not wrong


def test_narrower_parameters_are_another_claim():
    tried = 0
    for claim in CLAIMS:
        narrow = {name: text.replace(claim.prototype, claim.prototype.replace("int32_t s", "int16_t s"))
                  for name, text in header_texts().items()}
        if narrow != header_texts():
            tried += 1
            assert prove(parse(narrow), claim).outcome == REFUTED
    assert tried > 5


def test_page_of_the_proofs_speaks_of_the_c_that_ships():
    """All but the seconds is written anew; seconds and scores of long proofs are taken from the page."""
    text, rows = PAGE.read_text(encoding="utf-8"), page_rows()
    middle = {"< 1": 0.5, "1 to 10": 5, "10 to 60": 30, "60 to 600": 300, "> 600": 700}
    verdicts = {}
    for claim in CLAIMS:
        row = rows.get((claim.function, claim.operands), [""] * 7)
        verdicts[claim.key] = ProofResult(row[5], middle.get(row[6], 0.0))
    scores = {}
    for name in PROGRAM.functions:
        found = list(mutants(PROGRAM, name))
        equivalent = sum(mutant.change in EQUIVALENT for mutant in found)
        scores[name] = Score(len(found), len(found) - equivalent, equivalent)
    equivalent = [(*change, reason) for change, reason in EQUIVALENT.items()]
    assert text == page(verdicts, scores, equivalent), f"stale: {COMMAND}"
