"""Measure memory, accuracy and instructions for several sizes of the exp2 tables.

``python -m kerncast.benchmarks.exp2`` writes the page. It requires arm-none-eabi-gcc and unicorn.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile

from ..codegen.build.toolchains import choose_toolchain
from ..codegen.firmware.targets import load_target
from ..sim import tables
from ..sim.jit import jit
from ..sim.planner.words import EXP2_BITS
from ..sim.primitives import Words, exp2_16, exp2_32
from ..sim.spec.keys import Numbers

COMMAND = "python -m kerncast.benchmarks.exp2"
HOME = Path(__file__).resolve().parent.parent
PAGE, HEADER = HOME / "docs" / "measured" / "exp2.md", HOME / "firmware" / "rt" / "kc_exp2.h"
CHUNK = 1 << 20
SAMPLES = 1 << 24
#: Of the machine that counts instructions.
ORIGIN, BYTES, STACK = 0x0, 0x40000, 0x20000000

TEXT = """# The exponential

Every kernel except the polynomial ones is computed as 2^-t, where t is an exact distance times a constant.
The Matern kernels multiply this power by a polynomial in t. `[numbers] exp_table` selects the size of the
tables of this exponential; the default is `{default}`. LSB is the least significant bit of the result.

| word | size | entries | bytes | worst error, LSB | bound, LSB | instructions |
|--:|---|--:|--:|--:|--:|--:|
{rows}

* The LSB is 2^-15 at 16 bits, 2^-23 at 24 bits and 2^-31 at 32 bits. Errors are differences from 2^-t,
  including the final rounding of half an LSB. At 16 bits, the test covers all
  {all16:,} values of t below 16, in steps of 2^-20. At 32 bits, it covers all values of t next to a
  table entry and {samples:,} others. The 24-bit values are rounded 32-bit values.
* The last column counts the instructions (not cycles) of one call and its return on an {core}. gcc {gcc}
  compiles the code with -O2, and the Unicorn emulator runs it for {calls} arguments. No branch depends on t,
  and all {calls} values equal those of the integer model.
* The values never increase with t. At 16 bits, a test checks this for all t. At 32 bits, a test checks it at
  every step from one table entry to the next. Between two entries, the value decreases by construction. The
  value of 2^0 is exactly 1.
* Only `small` at 16 bits has an error above one LSB.

## Where the bounds come from

Each bound is the sum of half an LSB for the final rounding and the error of the value before rounding. The
bound is evaluated at t near 0, where this error is largest.

At 16 bits the spacing of the entries is h = 2^-b. A chord lies above the curve, by up to (h ln 2)^2 / 8 of
the value. The entries are lowered by half of this difference, but by at most 31/64 LSB, because 2^0 must
round to 1. The bound uses the larger of two errors: the remaining chord error and the amount by which the
entries are lowered. An entry is accurate to 2^-22, and the slope of the chord is rounded down to a multiple
of 2^-21.

At 32 bits there are two tables of 2^b entries, and the value has 33 fraction bits. A coarse entry is accurate
to 2^-34, except that the first entry, 1, is 2^-33 too low. Rounding the subtracted part down raises the value
by less than 2^-33. The subtracted part has 30 + b fraction bits, and a fine entry is accurate to half an LSB
of this part. Three roundings add an error of one such LSB each: one upward and two downward. With b = 8,
there are only two roundings, one upward and one downward. The series for the last bits is truncated, with z <
2^-2b ln 2. For b = 8 the first omitted term is z^2 / 2, which lowers the value. Otherwise it is z^3 / 6,
which raises the value.

At 24 bits, the 32-bit value is rounded once more. Before this rounding, its error in 24-bit LSB is 1/256 of
the error in 32-bit LSB.

<!-- {stamp} -->
"""


# ---- accuracy ----
@jit
def _sweep_16(t: Words, table: Words, bits: int, out: Words) -> None:
    for i in range(t.shape[0]):
        out[i] = exp2_16(t[i], table, bits)


@jit
def _sweep_32(t: Words, coarse: Words, fine: Words, bits: int, out: Words) -> None:
    for i in range(t.shape[0]):
        out[i] = exp2_32(t[i], coarse, fine, bits)


def entries(word: int, bits: int) -> tuple[Words, ...]:
    """Return the exp2 tables for a word length and a table size."""
    found = (tables.exp2_16(bits),) if word == 16 else (tables.exp2_coarse(bits), tables.exp2_fine(bits))
    return tuple(np.array(table, dtype=np.int64) for table in found)


def words(word: int, bits: int) -> Callable[[Words], Words]:
    """Return a function that computes exp2 of an array."""
    held = entries(word, bits)

    def run(t: Words) -> Words:
        out = np.zeros_like(t)
        if word == 16:
            _sweep_16(t, *held, bits, out)
            return out
        _sweep_32(t, *held, bits, out)
        return out if word == 32 else (out + 128) >> 8

    return run


def arguments(word: int, bits: int) -> Iterator[Words]:
    """Yield the arguments to test.

    For 16 bits, these are all arguments; otherwise, arguments next to table entries, and random arguments.
    """
    if word == 16:
        for first in range(0, 16 << 20, CHUNK):
            yield np.arange(first, first + CHUNK, dtype=np.int64)
        return
    chance, count = np.random.default_rng(31), word << (2 * bits)
    for first in range(0, count, CHUNK):
        crossing = np.arange(first, min(first + CHUNK, count), dtype=np.int64) << (32 - 2 * bits)
        yield crossing
        yield np.maximum(crossing - 1, 0)
    for _ in range(SAMPLES // CHUNK):
        yield np.sort(chance.integers(0, 2 << 32, CHUNK))


def worst_error(word: int, bits: int) -> float:
    """Return the maximum error found, in LSB."""
    run, frac = words(word, bits), 20 if word == 16 else 32
    exact = np.longdouble(word - 1)
    return max(float(np.abs(run(t) - np.exp2(exact - t / np.longdouble(2**frac))).max())
               for t in arguments(word, bits))


def bound(word: int, bits: int) -> float:
    """Return the error bound stated on the page, in LSB."""
    if word == 16:
        chord = (log(2) * 2**-bits) ** 2 / 8 * 2**15
        lowered = min(chord / 2, 31 / 64)
        return 0.5 + max(chord - lowered, lowered) + 2.0**-7 + 2.0**-6
    z, step = log(2) * 2.0 ** (-2 * bits), 2.0 ** (1 - bits)  # a step of what is taken off, in lsb of u32f31
    upward = 0.125 + 0.25 + 1.5 * step + (0 if bits == 8 else z**3 / 6 * 2**31)
    downward = 0.25 + (1.5 if bits == 8 else 2.5) * step + (z**2 / 2 * 2**31 if bits == 8 else 0)
    long = 0.5 + max(upward, downward)
    return long if word == 32 else 0.5 + long / 256


# ---- cost ----
@dataclass(frozen=True)
class Cost:
    """Mean number of instructions per call, and the number of calls."""

    instructions: int
    calls: int
    compiler: str


def _source(word: int, bits: int) -> str:
    names = ("table",) if word == 16 else ("coarse", "fine")
    arrays = "".join(f"static const uint32_t {name}[] = {{{', '.join(f'{v}u' for v in values)}}};\n"
                     for name, values in zip(names, entries(word, bits), strict=True))
    call = f"kc_exp2_{16 if word == 16 else 32}(t, {', '.join(names)}, {bits})"
    if word == 24:
        call = f"kc_shift_round({call}, 8, KC_HALF_UP)"
    return f'#include "kc_rt.h"\n{arrays}uint32_t value(int64_t t);\n' \
           f"uint32_t value(int64_t t)\n{{\n    return (uint32_t){call};\n}}\n"


def cost(word: int, bits: int, folder: Path) -> Cost:
    """Count the instructions on an emulated Cortex-M4.

    The C is compiled, run in Unicorn, and compared with the integer model.
    """
    tools = choose_toolchain("gcc", load_target("cortex-m4"))
    folder.mkdir()
    (folder / "value.c").write_text(_source(word, bits), encoding="utf-8")
    (folder / "value.ld").write_text("SECTIONS { .all : { *(.text*) *(.rodata*) } }\n", encoding="utf-8")
    flags = [*tools.flags, "-O2", "-ffreestanding", f"-I{HEADER.parent}"]
    objects = tools.compile(["value.c"], flags, folder)
    done = tools.link([*objects, "-Wl,-e,value"], "value.ld", "value.elf", folder)
    assert done.returncode == 0, done.stderr
    chance = np.random.default_rng(4)
    t = np.concatenate([[0, 1], chance.integers(0, 16 << (20 if word == 16 else 32), 62)]).astype(np.int64)
    counts = _counted(folder / "value.elf", t, words(word, bits)(t))
    assert len(set(counts)) == 1, "a branch depends on t"
    return Cost(counts[0], len(t), tools.version)


def _counted(image: Path, arguments: Words, wanted: Words) -> list[int]:
    """Return the number of instructions of each call, including the return."""
    unicorn: Any = import_module("unicorn")
    arm: Any = import_module("unicorn.arm_const")
    machine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    machine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    machine.mem_map(ORIGIN, BYTES)
    machine.mem_map(STACK, BYTES)
    with image.open("rb") as stream:
        elf = ELFFile(stream)
        entry = elf["e_entry"]
        for segment in elf.iter_segments("PT_LOAD"):
            machine.mem_write(segment["p_paddr"], segment.data())
    seen: list[int] = []
    machine.hook_add(unicorn.UC_HOOK_CODE, lambda *_: seen.append(1))
    counts, end = [], ORIGIN + BYTES - 4
    for t, word in zip(arguments.tolist(), wanted.tolist(), strict=True):
        seen.clear()
        for register, value in ((arm.UC_ARM_REG_R0, t & 0xFFFFFFFF), (arm.UC_ARM_REG_R1, t >> 32),
                                (arm.UC_ARM_REG_SP, STACK + BYTES), (arm.UC_ARM_REG_LR, end | 1)):
            machine.reg_write(register, value)
        machine.emu_start(entry | 1, end)
        assert machine.reg_read(arm.UC_ARM_REG_R0) == word, f"t = {t}"
        counts.append(len(seen))
    return counts


# ---- page ----
def stamp() -> str:
    """Return a digest of the C code and of every table that is measured."""
    text = HEADER.read_text(encoding="utf-8")
    held = [[table.tolist() for table in entries(word, bits)]
            for word, sizes in EXP2_BITS.items() for bits in sizes.values()]
    digest = hashlib.sha256(f"{text}{held}".encode()).hexdigest()
    return f"measured of {digest[:16]}: {COMMAND}"


def _row(word: int, size: str, bits: int, error: float, instructions: int) -> str:
    held = entries(word, bits)
    count = " + ".join(str(len(table)) for table in held)
    return f"| {word} | {size} | {count} | {4 * sum(map(len, held)):,} | {error:.3f} " \
           f"| {bound(word, bits):.3f} | {instructions} |"


def page() -> str:
    """Run all measurements, and return the page."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for word, sizes in EXP2_BITS.items():
            for size, bits in sizes.items():
                found = cost(word, bits, Path(folder) / f"{size}{word}")
                rows.append(_row(word, size, bits, worst_error(word, bits), found.instructions))
    return TEXT.format(
        rows="\n".join(rows), default=Numbers.model_fields["exp_table"].default, all16=16 << 20,
        samples=SAMPLES, core=load_target("cortex-m4").title, gcc=found.compiler, calls=found.calls,
        stamp=stamp())


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
