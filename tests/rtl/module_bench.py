"""One module of hw/rtl in a plain bench: words in, one result a row; at once, or from `start` to `done`."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kerncast.codegen.resources import resource

_BENCH = """
module bench;
    localparam COUNT = {count};
    logic clk = 0;
    logic start = 0;
    logic prepare = 0;
    logic [{total}-1:0] inputs [0:COUNT-1];
    logic [{total}-1:0] now;
    wire done;
    {outputs}
    integer i, j;
    {module} #({parameters}) dut ({connections});
    initial begin
        $readmemh("inputs.hex", inputs);
        for (i = 0; i < COUNT; i = i + 1) begin
            now = inputs[i];
{prepare}            start = 1;
            #1;
{clocks}
            $display("%h", {shown});
        end
        $finish;
    end
endmodule
"""
_PREPARE = """            prepare = 1; #1;
            clk = 1; #1; clk = 0; prepare = 0; #1;
"""
_ONE_CLOCK = "            clk = 1; #1; clk = 0; #1;"
_CLOCKS = """            for (j = 0; j < {clocks}; j = j + 1) begin
                clk = 1; #1; clk = 0; start = 0; #1;
                if (done != (j == {clocks} - 1)) $display("done after %0d clocks", j + 1);
            end"""


@dataclass
class Module:
    """A module, its ports and their widths; `clocks` from start to done, 0 where it has none.

    With `prepares` a clock with `prepare` comes before each start.
    """

    name: str
    ports: dict[str, int]
    results: dict[str, int]
    clocks: int = 0
    parameters: dict[str, object] = field(default_factory=dict)
    one_clock: bool = False
    prepares: bool = False

    def text(self, count: int) -> str:
        total, at, wired = sum(self.ports.values()), 0, []
        for port, width in self.ports.items():
            wired.append(f".{port}(now[{at} +: {width}])")
            at += width
        wired += [f".{name}({name})" for name in self.results]
        if self.one_clock:
            wired.append(".clk(clk)")
        if self.clocks:
            wired += [".clk(clk)", ".rst(1'b0)", ".start(start)", ".done(done)"]
        if self.prepares:
            wired.append(".prepare(prepare)")
        return _BENCH.format(
            prepare=_PREPARE if self.prepares else "",
            count=count, total=total, module=self.name, connections=", ".join(wired),
            outputs=" ".join(f"wire [{width}-1:0] {name};" for name, width in self.results.items()),
            shown="{" + ", ".join(reversed(self.results)) + "}",
            parameters=", ".join(f".{k}({v})" for k, v in self.parameters.items()),
            clocks=_CLOCKS.format(clocks=self.clocks) if self.clocks
            else _ONE_CLOCK if self.one_clock else "")


def pack(row: Sequence[int], widths: Sequence[int]) -> int:
    """Words side by side, the first in the lowest bits."""
    word, at = 0, 0
    for value, width in zip(row, widths, strict=True):
        word |= (value & ((1 << width) - 1)) << at
        at += width
    return word


def simulate(module: Module, folder: Path, inputs: Sequence[Sequence[int]], unknown: int = 0) -> list[int]:
    """The results, packed, of inputs by port, without the first ones, which are `unknown`."""
    hw = str(resource("hw/rtl"))
    rows = [pack(row, list(module.ports.values())) for row in inputs]
    (folder / "inputs.hex").write_text("".join(f"{row:x}\n" for row in rows))
    (folder / "bench.sv").write_text(module.text(len(inputs)))
    subprocess.run(["iverilog", "-g2012", "-y", hw, "-Y", ".sv", "-s", "bench", "-o", "bench.vvp",
                    "bench.sv"], cwd=folder, check=True)
    done = subprocess.run(["vvp", "bench.vvp"], cwd=folder, check=True, capture_output=True, text=True)
    return [int(line, 16) for line in done.stdout.split("\n")[unknown:] if line]
