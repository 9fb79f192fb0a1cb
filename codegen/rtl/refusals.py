"""codegen.rtl: read and check the table of refusals, hw/rtl/refusals.toml.

The table lists the reactions of a core to bad input, for SystemVerilog and HLS C++.
"""

from __future__ import annotations

import tomllib
from functools import cache

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ..resources import read_text


class Refusal(BaseModel):
    """Reaction of a core to one kind of bad input.

    Parameters
    ----------
    name : str
    input, reply, error, after : str
        The bad input, the reply of the core, the error output that it sets, and how it continues.
    frames : bool
        Whether the input is a frame; if so, the cores in HLS C++ react as those in SystemVerilog.
    hls : str
        How HLS C++ differs, if it does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z]+$")
    input: str
    reply: str
    error: str
    after: str
    frames: bool = False
    hls: str = ""


@cache
def refusals() -> tuple[Refusal, ...]:
    """Return the rows of the table, in its order."""
    rows = tomllib.loads(read_text("hw/rtl/refusals.toml"))["refusal"]
    return TypeAdapter(tuple[Refusal, ...]).validate_python(rows)
