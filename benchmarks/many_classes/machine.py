"""benchmarks.many_classes: run a program on an emulated Cortex-M4.

A program has a variable `x` with one sample, and the functions ``int predict(void)``, which returns a label,
and, if it learns, ``int learn(int label)``.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerncast.benchmarks.beside import HOSTED, headers
from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import build
from kerncast.codegen.generate import generate
from kerncast.sim._arrays import Raw
from kerncast.sim.plan import Plan

#: Samples whose instructions are counted.
COUNTED = 20
#: Headers that only these libraries include; they use nothing of the empty ones.
MORE_HEADERS = {"stdio.h": "", "stdlib.h": "",
                "stdbool.h": "#ifndef __cplusplus\n#define bool _Bool\n#endif\n"}
#: Functions of a program that are called here, and not from its main.
CALLED = ("begin", "learn", "finish", "predict")
MAIN = "int main(void);\nint main(void) { return 0; }\n"


@dataclass(frozen=True)
class Cost:
    """Instructions per sample, bytes of flash, and bytes of static data and stack.

    The sample itself is not counted. `learn` is None for a program that does not learn.
    """

    learn: float | None
    predict: float
    flash: int
    ram: int


class Program:
    """Program on the emulated core.

    Parameters
    ----------
    sources : mapping of str to str
        Texts by file name.
    kind : str
        Type of the sample, such as ``int8``.
    flags : sequence of str
    files : sequence of Path
        Further sources.
    plan : Plan, optional
        Plan whose generated C the program uses; it needs no headers of C libraries.
    """

    def __init__(self, sources: Mapping[str, str], kind: str, flags: Sequence[str] = (),
                 files: Sequence[Path] = (), *, plan: Plan | None = None) -> None:
        self._kind = np.dtype(kind)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            if plan is None:
                headers(folder, MORE_HEADERS)
                flags = (*flags, *HOSTED)
            else:
                generate(plan, folder / "c")
                flags, files = (*flags, f"-I{folder / 'c'}"), sorted((folder / "c").glob("*.c"))
            for name, text in sources.items():
                (folder / name).write_text(text, encoding="utf-8")
            (folder / "zero.c").write_text(MAIN, encoding="utf-8")
            keep = [f"-Wl,-u,{name}" for name in CALLED
                    if any(f"int {name}(" in text for text in sources.values())]
            mine = sorted(path for name in sources if (path := folder / name).suffix in (".c", ".cpp"))
            image, _ = build(folder, [*mine, folder / "zero.c", *files], "-O2", *flags, *keep)
            size = subprocess.run(["arm-none-eabi-size", str(image)], check=True, capture_output=True,
                                  text=True)
            text, data, bss = (int(cell) for cell in size.stdout.splitlines()[1].split()[:3])
            self.flash, self.static = text + data, data + bss
            self.core = CortexM(image)

    def write(self, x: Raw) -> None:
        """Set the sample."""
        self.core.write("x", x.astype(self._kind))

    def learn(self, x: Raw, label: int) -> int:
        """Learn a sample; return the instruction count, or 0 before counting starts."""
        self.write(x)
        return self.core.call("learn", label)[1]

    def predict(self, x: Raw) -> tuple[int, int]:
        """Return the label of a sample and the instructions."""
        self.write(x)
        return self.core.call("predict")

    def labels(self, x: Raw) -> Raw:
        """Return the label of each sample."""
        return np.array([self.predict(row)[0] for row in x])

    def cost(self, x_test: Raw, learning: Sequence[tuple[Raw, int]] = ()) -> Cost:
        """Learn samples, and classify others: count instructions, and measure the stack."""
        stack = 0
        for x, label in learning[:1]:
            self.write(x)
            stack = self.core.stack_of("learn", label)
        self.core.start_counting()
        learned = [self.learn(x, label) for x, label in learning[1:]]
        counts = [self.predict(x)[1] for x in x_test[:COUNTED]]
        stack = max(stack, self.core.stack_of("predict"))
        return Cost(float(np.mean(learned)) if learned else None, float(np.mean(counts)), self.flash,
                    self.static - x_test.shape[1] * self._kind.itemsize + stack)
