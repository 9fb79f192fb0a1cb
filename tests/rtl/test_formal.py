"""docs/measured/formal.md is current: quick claims here, all of them in the campaign."""

import pytest

from kerncast.benchmarks.formal.__main__ import is_found, is_found_in_core, planted
from kerncast.benchmarks.formal.claims import CLAIMS, MUTANTS
from kerncast.benchmarks.formal.cores import CORE_CLAIMS, CORE_MUTANTS, core_sources, prove_core
from kerncast.benchmarks.formal.page import PAGE, digests
from kerncast.benchmarks.formal.prover import BOUNDED, HW, PROPERTIES, PROVED, prove
from kerncast.codegen.rtl import unique_file
from kerncast.codegen.rtl.names import module_text
from kerncast.hw.rtl import synthesis
from kerncast.sim.errors import KerncastError

#: Claims of a few seconds each; a default run has a minute for all that is new here.
QUICK = ("kc_magnitude", "kc_frame", "kc_rom_sender", "kc_model_store")


@pytest.fixture
def sby(require_tool):
    try:
        synthesis.find_tools(["yosys"])
    except KerncastError as error:
        for problem in error.problems:
            require_tool(problem.value, problem.remedy)


def slow(module):
    return [] if module in QUICK else [pytest.mark.campaign]


@pytest.mark.covering(claim=lambda claim: {claim.module, claim.mode})
@pytest.mark.parametrize("claim", [pytest.param(c, id=c.key, marks=slow(c.module)) for c in CLAIMS])
def test_a_module_has_the_properties_stated(sby, claim):
    verdict = prove(claim)
    assert verdict.outcome == (PROVED if claim.mode == "prove" else BOUNDED), verdict.why


@pytest.mark.parametrize("mutant", [
    pytest.param(m, id=f"{m[0]}-{i}", marks=[] if m[0] == "kc_rom_sender" else [pytest.mark.campaign])
    for i, m in enumerate(MUTANTS)])
def test_a_planted_fault_is_found(sby, mutant):
    assert is_found(mutant)


@pytest.mark.parametrize("claim", [
    pytest.param(c, id=c.key, marks=[] if c.key == "trainer-1" else [pytest.mark.campaign])
    for c in CORE_CLAIMS])
def test_every_output_stream_of_a_core_keeps_its_handshake(sby, claim):
    verdict = prove_core(claim)
    assert verdict.outcome == PROVED, verdict.why


@pytest.mark.parametrize("mutant", [
    pytest.param(m, id=f"{m[0]}-{i}", marks=[] if m[0] == "trainer" else [pytest.mark.campaign])
    for i, m in enumerate(CORE_MUTANTS)])
def test_a_fault_in_the_handshake_of_a_core_is_found(sby, mutant):
    assert is_found_in_core(mutant)


def test_every_fault_can_be_planted_and_every_module_named_is_there():
    for mutant in MUTANTS:
        assert planted(*mutant) != module_text(mutant[0])
    for claim in CLAIMS:
        assert (PROPERTIES / f"{claim.module}.sv").is_file()
        assert all((HW / f"{name}.sv").is_file() for name in (claim.module, *claim.below))
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)


def test_the_digest_covers_every_file_of_the_cores():
    named = {name.partition("/")[2].partition("_")[2].removesuffix(".sv") for name in core_sources()
             if "/small_" in name}
    assert named >= {"distance", "kernel", "expansion", "predictor", "learner", "coefficients", "step",
                     "solver", "trainer", "predictor_axi", "learner_axi", "solver_axi", "trainer_axi"}
    shared = {name.partition("/")[2] for name in core_sources() if "/kc_" in name}
    assert shared >= {unique_file(f"{name}.sv")
                      for name in ("kc_mac", "kc_levinson", "kc_banded", "kc_neighbours")}


def test_the_page_speaks_of_these_modules_and_properties():
    text = PAGE.read_text(encoding="utf-8")
    assert all(digest in text for digest in digests().values())
    assert "not decided" not in text
