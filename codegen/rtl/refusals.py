"""codegen.rtl: read and validate hw/rtl/refusals.toml.

The table states how a core reacts to invalid input, for SystemVerilog and for HLS C++.
"""

from __future__ import annotations

import tomllib
from functools import cache

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ..resources import read_text


class Refusal(BaseModel):
    """Response of a core to one kind of invalid input.

    Parameters
    ----------
    name : str
    input, reply, error, after : str
        Descriptions of the invalid input, the reply of the core, the error output that it sets, and how
        operation continues.
    frames : bool
        Whether the input is a frame. If so, the HLS C++ cores react in the same way as the SystemVerilog
        cores.
    hls : str
        How the HLS C++ cores differ; empty if they do not.
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
    """Return the rows of the table in file order."""
    rows = tomllib.loads(read_text("hw/rtl/refusals.toml"))["refusal"]
    return TypeAdapter(tuple[Refusal, ...]).validate_python(rows)
