"""sim.planner: memory and operation counts, as formulas in n, D and N with values."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from types import CodeType

from ..errors import fail
from ..plan import C_BYTES, Field, Operations

#: Members of every trainer structure that say how far a training is.
TRAINER_FIELDS = (("check", "uint32_t", "1", "checksum of the scalars: what else wrote here is noticed"),
                  ("samples_check", "uint32_t", "1", "checksum of the samples and the first row"),
                  ("solution_check", "uint32_t", "1", "checksum of alpha; 0 until it is settled"),
                  ("step", "int32_t", "1", "steps of the stage so far"),
                  ("stage", "int16_t", "1", "what the next step does"),
                  ("status", "int16_t", "1", "status so far"))
#: The device indexes with 32 bits.
MOST_BYTES = (1 << 31) - 1


def evaluate(formula: str, sizes: dict[str, int]) -> int:
    """Evaluate a formula in n, D and N for the given sizes."""
    return int(eval(_compiled(formula), {"__builtins__": {}}, dict(sizes)))


@lru_cache(4096)
def _compiled(formula: str) -> CodeType:
    return compile(formula, "<formula>", "eval")


def memory(fields: Iterable[tuple[str, str, str, str]],
           sizes: dict[str, int], size_key: str) -> tuple[Field, ...]:
    """Lay out a structure from rows of (name, C type, count formula, meaning).

    Wider types precede narrower ones, which avoids padding. `centers` is the first member of its width and is
    aligned to 4 bytes, so that a CPU core can load several values at a time. If necessary, a last member
    `reserved` makes the size a multiple of 8, so that the size is the same on every target, regardless of the
    alignment of int64_t.

    Raises
    ------
    KerncastError
        E206 if 32-bit indices cannot address every byte.
    """
    def width(member: Field) -> int:
        size = C_BYTES[member.ctype]
        return 3 if member.name == "centers" and size == 1 and member.count % 2 == 0 else size

    members = sorted((Field(name, ctype, formula, evaluate(formula, sizes), meaning)
                      for name, ctype, formula, meaning in fields),
                     key=lambda f: (-width(f), f.name != "centers"))
    filler = "uint8_t" if C_BYTES[members[-1].ctype] == 1 else "uint16_t"
    missing = -sum(f.bytes for f in members) % 8 // C_BYTES[filler]
    if missing:
        members.append(Field("reserved", filler, str(missing), missing, "padding to a multiple of 8 bytes"))
    total = sum(f.bytes for f in members)
    if total > MOST_BYTES:
        size = "n" if "n" in sizes else "N"
        raise fail("E206", "the model is larger than any device can address",
                   where=size_key,
                   value=f"{total} bytes for {size} = {sizes[size]}, D = {sizes['D']}",
                   allowed=f"{MOST_BYTES} bytes", remedy=f"lower {size}, or use fewer columns")
    return tuple(members)


def operations(formulas: dict[str, dict[str, str]],
               sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    """Return worst-case operation counts per call, each as a formula with its value.

    ``multiplications`` counts only those of the algorithm. It does not include input conversion, the distance
    terms (one multiplication per term; none for the Laplacian kernel, nine for the periodic kernel) and the
    kernel values (three multiplications at 16 bits, four at 32 bits, two more for each degree of a
    Matern kernel; for a polynomial kernel its degree).
    """
    return {call: {k: Operations(f, evaluate(f, sizes)) for k, f in counts.items()}
            for call, counts in formulas.items()}
