"""sim.spec: the target of generated code.

A target is a processor core and its memory.

This module defines the class, so that the planner can compare sizes; ``codegen.firmware.targets``
reads the data files.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Target(BaseModel):
    """A processor core that code is generated for.

    Parameters
    ----------
    id : str
        Its name in ``[target]`` of a spec, such as ``cortex-m4``.
    title : str
        Name for display.
    arch : str
        The folder of ``firmware/`` with its start-up code and compiler settings.
    core : str
        Its name in compiler options.
    fpu : bool
        Whether it has instructions for float32; without them float code is slower, with equal results.
    intrinsics : str
        Level of intrinsics beyond portable C, or ``none``.
    ram_bytes, flash_bytes : int
        Memory of a typical part with this core; larger plans are rejected.
    stack_bytes : int
        RAM reserved for the stack and for the program around the library.
    runtime_stack_bytes : int
        Largest stack use of a function of the compiler's runtime, such as a 64-bit division.
    flags : mapping of str to tuple of str
        Flags for each compiler that supports this core: ``gcc``, ``clang``, ``zig``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    arch: str = Field(pattern=r"^[a-z0-9_]+$")
    core: str
    fpu: bool
    intrinsics: str = "none"
    ram_bytes: int = Field(gt=0)
    flash_bytes: int = Field(gt=0)
    stack_bytes: int = Field(gt=0)
    runtime_stack_bytes: int = Field(default=0, ge=0)
    flags: dict[str, tuple[str, ...]] = Field(default_factory=dict)
