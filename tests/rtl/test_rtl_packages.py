"""The Verilog wrapper and the packages of a core take the generated folder alone."""

import subprocess

import pytest

from kerncast.codegen.rtl import CORES, generate_rtl

from .conftest import make
from .solver_cases import case_plan

CASES = [("grid16", "trainer"), ("gains16", "learner"), ("gains16", "predictor"), ("even24", "predictor"),
         (None, "solver")]


def generated(case, folder):
    plan = make(case) if case else case_plan("half_up16")
    generate_rtl(plan, folder)
    return plan.name, folder / "rtl"


@pytest.mark.parametrize(("case", "core"), CASES)
def test_icarus_elaborates_the_wrapper_without_a_warning(require_tool, tmp_path, case, core):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    name, folder = generated(case, tmp_path)
    top = f"{name}_{core}_wrap"
    done = subprocess.run(["iverilog", "-g2012", "-Wall", "-Wno-timescale", "-c", f"{name}_{core}.f",
                           f"{top}.v", "-s", top, "-o", "t.vvp"], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("case", "core"), CASES)
def test_the_wrapper_is_verilog_2005(require_tool, tmp_path, case, core):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    name, folder = generated(case, tmp_path)
    done = subprocess.run(["iverilog", "-g2005", "-i", "-t", "null", f"{name}_{core}_wrap.v"], cwd=folder,
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")  # -i: the core, which is SystemVerilog, may be missing


@pytest.mark.parametrize("case", ["grid16", "gains16"])
def test_each_package_names_the_files_of_the_core(tmp_path, case):
    name, folder = generated(case, tmp_path)
    for core in CORES:
        listed = folder / f"{name}_{core.name}.f"
        if not listed.is_file():
            continue
        files = [line for line in listed.read_text().splitlines() if not line.startswith("//")]
        for package in (folder / f"{name}_{core.name}.core", folder / f"{name}_{core.name}_package_ip.tcl"):
            text = package.read_text()
            assert all(file in text for file in [*files, f"{name}_{core.name}_wrap.v"])
            assert all((folder / file).is_file() for file in files)
