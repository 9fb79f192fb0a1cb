"""sim.spec: the target of generated code, which is a CPU core and its memory.

This module only defines the class, so that the planner can compare sizes. ``codegen.firmware.targets`` reads
the files that describe the targets.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Target(BaseModel):
    """CPU core that code is generated for.

    Parameters
    ----------
    id : str
        Name in ``[target]`` of a spec, such as ``cortex-m4``.
    title : str
        Name for display.
    arch : str
        The folder of ``firmware/`` that contains the start-up code and the compiler settings of the core.
    core : str
        Name of the core in compiler options.
    fpu : bool
        Whether the core has float32 instructions; without them, float32 code is slower, but gives the same
        results.
    intrinsics : str
        Level of intrinsics that the generated code uses in addition to portable C, or ``none``.
    ram_bytes, flash_bytes : int
        Memory of a typical device with this core; plans that need more are rejected.
    stack_bytes : int
        RAM reserved for the stack and for the program that uses the library.
    runtime_stack_bytes : int
        Largest stack use of a function in the compiler's runtime library, such as a 64-bit division.
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
