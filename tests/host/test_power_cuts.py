"""Power may fail at any byte of a save: the state saved before is there, nothing else is taken for one."""

from pathlib import Path

import cffi
import pytest

from kerncast.codegen.build.compilers import host_compiler
from kerncast.codegen.build.host import HostBackend, declarations
from kerncast.codegen.c.trace_hooks import STORE_DECLARATIONS
from kerncast.codegen.generate import load_manifest

PAGES = (1, 8, 32, 100, 256)
#: As the harness numbers them.
KINDS = ("overwrites", "rewrites pages", "erases to ones", "erases to zeros", "erases, with ECC")
#: Case, bytes that generated C writes at a time, and pages.
BUILDS = [("lms16_ties", 16, (1, 100)), ("lms16_ties", 32, (8, 256))]


@pytest.fixture
def harness(cases, require_tool, tmp_path):
    """``harness(name, block)``: cffi, the library, and six states in the order in which they came about."""
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")

    def build(name: str, block: int):
        case = cases(name)
        ffi = cffi.FFI()
        ffi.cdef(STORE_DECLARATIONS + declarations(case.plan) + f"""
            typedef struct {{ int64_t cuts; int64_t places; int64_t lost; int64_t wrong; }} tally_t;
            void power_cuts(const {name}_model_t *states, uint32_t page, uint32_t kind, uint32_t mixes,
                            uint64_t seed, tally_t *tally);""")
        sources = [case.folder / file for file in load_manifest(case.folder).sources]
        sources.append(Path(__file__).with_name("power_cuts.c"))
        flags = ["-O2", f"-DKC_STATE_BLOCK={block}u", f"-DMODEL={name}",
                 f"-DSAVED={name.upper()}_SAVED_STATE_BYTES", "-include", f"{name}.h"]
        host_compiler("gcc").build_library(sources, flags, tmp_path / "cuts.so", tmp_path)
        library = ffi.dlopen(str(tmp_path / "cuts.so"))
        model = HostBackend(case.plan, case.folder, compiler="gcc", flags=("-O1",))
        states = ffi.new(f"{name}_model_t[6]")
        call = next(c for c in case.vectors.calls if c.name in ("train", "update"))
        for i in range(6):
            if case.plan.trains:
                model.train(call.x_raw, call.y_raw + i % 2 - i)
            else:
                model.update(call.x_raw[7 * i:7 * i + 7], call.y_raw[7 * i:7 * i + 7])
            ffi.memmove(ffi.addressof(states, i), model.ffi.buffer(model.model), case.plan.state_bytes)
        model.close()
        return ffi, library, states

    return build


def cut(harness, name: str, block: int, pages: tuple[int, ...], seeds: range):
    """The tally of all kinds of memory and ways to fail."""
    ffi, library, states = harness(name, block)
    tally = ffi.new("tally_t *")
    for seed in seeds:
        for page in pages:
            for kind in range(len(KINDS)):
                for mixes in (0, 1):
                    library.power_cuts(states, page, kind, mixes, 1 + seed, tally)
    return tally


@pytest.mark.parametrize(("name", "block", "pages"), BUILDS)
def test_a_power_cut_at_any_byte_of_a_save_loses_no_state_and_makes_none(harness, ledger, name, block, pages):
    tally = cut(harness, name, block, pages, range(1))
    assert tally.cuts >= tally.places > 10_000
    ledger.record(backend="host:gcc power cuts", words=tally.cuts, mismatches=tally.lost + tally.wrong,
                  case=f"{name} in blocks of {block}")


@pytest.mark.campaign
@pytest.mark.parametrize("block", [16, 32, 48, 64, 256])
@pytest.mark.parametrize("name", ["lms16_ties", "lms32_ties_decay", "grid16", "cg16", "lookahead16_f32"])
def test_no_power_cut_of_a_million_loses_a_state(harness, ledger, name, block):
    tally = cut(harness, name, block, PAGES, range(4))
    ledger.record(backend="host:gcc power cuts", words=tally.cuts, mismatches=tally.lost + tally.wrong,
                  case=f"{name} in blocks of {block}")
