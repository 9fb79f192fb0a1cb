"""sim: the target, a value that says what core the generated code is for and what memory it has.

Only the value lives here, so that planning can weigh sizes against it; the data files are read
by ``codegen.targets``.
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
        For people.
    arch : str
        The folder of ``firmware/`` that starts it and says how its compilers are called.
    core : str
        What the compilers call it.
    fpu : bool
        Whether it has instructions for float32; without them float code is slow, not different.
    intrinsics : str
        What it has beyond portable C: ``none``, or the name of a level.
    ram_bytes, flash_bytes : int
        Memory of a usual part with this core: a plan that needs more is refused.
    stack_bytes : int
        RAM kept free for the stack and for the program around the library.
    runtime_stack_bytes : int
        What a function of the compiler's own runtime, such as a division of 64 bits, takes of it at most.
    flags : mapping of str to tuple of str
        Flags by compiler, ``gcc``, ``clang``, ``zig``: those that can build for this core, no others.
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
