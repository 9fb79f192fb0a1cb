"""No output of a core follows an input within a clock, as AXI requires."""

import random
import re
import subprocess

import pytest

from kerncast.codegen.rtl import LEARNER, PREDICTOR, SOLVER, TRAINER, generate_rtl, rtl_sources

from .conftest import make
from .solver_cases import case_plan

_PORT = re.compile(r"^ {4}(input|output) +wire (?:\[(\d+):0\] )?(\w+)", re.MULTILINE)
_CLOCKS = 400


def bench(top: str, text: str) -> str:
    """Drive every input at random; between two edges turn each bit over, and compare the outputs."""
    ports = [(kind, int(high or 0) + 1, name) for kind, high, name in _PORT.findall(text)]
    ins = [(name, bits) for kind, bits, name in ports if kind == "input" and name not in ("clk", "rst")]
    outs = [name for kind, _, name in ports if kind == "output"]
    wide = sum(bits for _, bits in ins)
    seed = random.Random(top).randrange(1 << 30)
    declared = "\n".join(f"    wire [{bits - 1}:0] {name};" for kind, bits, name in ports
                         if name not in ("clk", "rst"))
    joined = ", ".join(name for name, _ in ins)
    return f"""
module bench;
    reg clk = 0, rst = 1;
    reg [{wide - 1}:0] in = 0;
    integer clock, bit_, seed = {seed}, found = 0;
{declared}
    assign {{{joined}}} = in;
    wire [{sum(bits for kind, bits, _ in ports if kind == "output") - 1}:0] out = {{{", ".join(outs)}}};
    reg [{sum(bits for kind, bits, _ in ports if kind == "output") - 1}:0] held;
    {top} dut (.*);
    initial begin
        repeat (3) begin #5 clk = 1; #5 clk = 0; end
        rst = 0;
        for (clock = 0; clock < {_CLOCKS}; clock = clock + 1) begin
            for (bit_ = 0; bit_ < {wide}; bit_ = bit_ + 1) in[bit_] = $random(seed);
            #1 held = out;
            for (bit_ = 0; bit_ < {wide}; bit_ = bit_ + 1) begin
                in[bit_] = !in[bit_];
                #1 if (out !== held) found = found + 1;
                in[bit_] = !in[bit_];
            end
            #1 clk = 1; #5 clk = 0;
        end
        $display("%0d outputs followed an input", found);
        $finish;
    end
endmodule
"""


@pytest.mark.covering
@pytest.mark.parametrize("behind", ["", "_axi"], ids=["bare", "with registers"])
@pytest.mark.parametrize(("case", "core"), [
    ("grid16", PREDICTOR), ("grid16", TRAINER), ("bias16", PREDICTOR), ("labels16", PREDICTOR),
    ("bias16", SOLVER), ("bias16", TRAINER), ("gains16", PREDICTOR), ("gains16", LEARNER), (None, SOLVER),
    ("band16", SOLVER), ("geometric16", SOLVER), ("ranged16", SOLVER),
    ("labels16", LEARNER), ("values24", LEARNER),
    ("waves16", LEARNER)],
    ids=["grid predictor", "trainer", "intercept predictor", "predictor of classes", "intercept solver",
         "intercept trainer", "predictor", "learner", "solver", "banded solver", "geometric solver",
         "solver of lambda", "learner of classes",
         "learner of outputs", "kernel RLS"])
def test_no_output_follows_an_input_within_a_clock(require_tool, tmp_path, case, core, behind):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    plan = make(case) if case else case_plan("half_up16")
    generate_rtl(plan, tmp_path)
    sources, top = rtl_sources(tmp_path, plan, core), f"{plan.name}_{core.name}{behind}"
    text = (tmp_path / "rtl" / f"{top}.sv").read_text()
    (tmp_path / "bench.sv").write_text(bench(top, text[text.index(f"module {top}"):text.index(");\n")]))
    subprocess.run(["iverilog", "-g2012", "-o", "bench.vvp", *map(str, sources), "bench.sv"], cwd=tmp_path,
                   check=True)
    said = subprocess.check_output(["vvp", "-n", "bench.vvp"], cwd=tmp_path, text=True)
    assert said.splitlines() == ["0 outputs followed an input"]
