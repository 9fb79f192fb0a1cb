"""codegen.rtl: the banded solver whose lambda is set at run time.

Before each solution, the module ``kc_schur`` writes the factor into memories of the solver. Therefore, the
module ``<prefix>_banded`` has the code of ``kc_banded``, with memories in place of the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from .names import module_text

#: What the solver needs besides the modules of the banded solver; below comes before above.
MODULES = ("kc_divide", "kc_schur")
#: Word length whose generators have 32 bits.
SHORT_WORD = 16
#: Bits of lambda, the first values of a right-hand side.
LAMBDA_BITS = 32
# Clocks of a division and of its operands; from the first row to the first quotient, besides those of the
# lags; of the scaling of a column; of a lag; from the last lag of a column to its last generator.
_DIVIDE, _FILL, _SCALE, _LAG, _DRAIN = 25, 7, 5, 3, 6
# What makes kc_banded a solver with memories: original text, replacement.
_MEMORIES = (
    ("    parameter logic [ROWS*BAND*W-1:0] FACTOR = 0,\n    parameter logic [ROWS*32-1:0] PIVOT = 0,\n"
     "    parameter int INDEX_BITS = $clog2(N)\n",
     "    parameter int INDEX_BITS = $clog2(N),\n"
     "    parameter int ENTRY_BITS = ROWS*BAND > 1 ? $clog2(ROWS*BAND) : 1,\n"
     "    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1\n"),
    ("    localparam ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1;\n", ""),
    ("    localparam ENTRY_BITS = ROWS*BAND > 1 ? $clog2(ROWS*BAND) : 1;\n", ""),
    ("    input  wire rst,\n",
     "    input  wire rst,\n"
     "    input  wire factor_write,                 // only while the core is idle\n"
     "    input  wire [ENTRY_BITS-1:0] factor_address,\n"
     "    input  wire [W-1:0] factor_word,\n"
     "    input  wire pivot_write,\n"
     "    input  wire [ROW_BITS-1:0] pivot_address,\n"
     "    input  wire [31:0] pivot_word,\n"),
    ("    kc_rom #(.WIDTH(W), .DEPTH(ROWS*BAND), .TABLE(FACTOR))\n"
     "        factor_inst (.clk(clk), .address(entry_reg), .q(factor));\n",
     "    kc_ram #(.WIDTH(W), .DEPTH(ROWS*BAND))\n"
     "        factor_inst (.clk(clk), .write_enable(factor_write), .write_address(factor_address),\n"
     "                     .write_data(factor_word), .read_address(entry_reg), .read_data(factor));\n"),
    ("    kc_rom #(.WIDTH(32), .DEPTH(ROWS), .TABLE(PIVOT))\n"
     "        pivot_inst (.clk(clk), .address(pivot_row_reg), .q(pivot));\n",
     "    kc_ram #(.WIDTH(32), .DEPTH(ROWS))\n"
     "        pivot_inst (.clk(clk), .write_enable(pivot_write), .write_address(pivot_address),\n"
     "                    .write_data(pivot_word), .read_address(pivot_row_reg), .read_data(pivot));\n"))


def refusal(plan: Plan, core: str) -> KerncastError | None:
    """Return an error if lambda cannot be set at run time in this core; else None."""
    if not plan.ranged or (core == "solver" and plan.word == SHORT_WORD):
        return None
    if core != "solver":
        return fail("E307", f"the SystemVerilog {core} stores the factor for a single lambda",
                    where="[toeplitz] lambda_range", value=plan.options["lambda_range"],
                    allowed=f"one lambda, or the solver core with `word = {SHORT_WORD}`",
                    remedy="remove `lambda_range`, or choose the solver core")
    return fail("E307", "the SystemVerilog solver sets lambda at run time only for values of "
                        f"{SHORT_WORD} bits", where="[numbers] word", value=plan.word,
                allowed=str(SHORT_WORD),
                remedy=f"set `word = {SHORT_WORD}`, remove `lambda_range`, or train in C or in HLS C++")


def lambda_beats(plan: Plan, lam: int | None = None) -> list[int]:
    """Return the beats of an integer lambda, low bits first.

    By default, it is lambda of the plan. There are no beats if lambda is constant.
    """
    if not plan.ranged:
        return []
    word = plan.integer("lambda_word") if lam is None else lam
    return [word >> low & ((1 << plan.word) - 1) for low in range(0, LAMBDA_BITS, plan.word)]


def system_frame(plan: Plan, y: Iterable[int], lam: int | None = None) -> list[int]:
    """Return the frame of a right-hand side in fixed point as unsigned beats.

    If the plan has a range of lambda, the frame begins with an integer lambda, by default that of the plan.
    """
    return [*lambda_beats(plan, lam), *(int(word) & ((1 << plan.word) - 1) for word in y)]


def factor_cycles(plan: Plan) -> int:
    """Return the clock cycles of the factor; 0 if it is a table."""
    if not plan.ranged:
        return 0
    band, rows = plan.integer("band"), plan.integer("rows")
    lags = _LAG * (band + 1)
    between = max(lags + _DRAIN, _DRAIN + _DIVIDE)
    return max(band + _FILL, _DIVIDE) + rows * _SCALE + (rows - 1) * between + lags


def _memories_code(plan: Plan) -> str:
    """Return the source of the module ``<prefix>_banded`` without its head."""
    text = module_text("kc_banded").partition("`default_nettype none\n")[2]
    for before, after in ((" kc_banded ", f" {plan.name}_banded "), *_MEMORIES):
        if text.count(before) != 1:  # the table above does not fit the module
            raise ValueError(f"kc_banded does not contain {before!r} once")
        text = text.replace(before, after)
    return text.strip("\n")


def ranged_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of the module that computes the factor."""
    if not plan.ranged:
        return {}
    return {"row": [f"32'd{value}" for value in reversed(plan.tables["band"].values)],
            "lambda_beats": len(lambda_beats(plan)), "factor_clocks": factor_cycles(plan),
            "memories_code": _memories_code(plan)}
