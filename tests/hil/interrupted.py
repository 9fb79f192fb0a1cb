"""Single-step a training on an emulated Cortex-M4 and predict in an interrupt between its instructions."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from unicorn import arm_const

from kerncast.benchmarks.cortex_m import SCRIPT, CortexM
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate
from kerncast.codegen.resources import resource
from kerncast.sim.plan import Plan, wire_dtype

#: Where the core stops, and the stack of the interrupt: apart from that of the training.
_STOP, _STACK, _OTHER_STACK = 0xFFFF0, 0x200FFFF0, 0x20080000
#: More instructions than any call of these programs takes.
_MOST = 1 << 24


def program(plan: Plan) -> str:
    """A training in slices, the blocking one, and a prediction; all structures are variables."""
    p, sample = plan.name, "" if plan.uniform else f"&x[i * {plan.sizes['D']}], "
    given = "" if plan.uniform else "x, "
    return f"""#include "{p}.h"
{p}_model_t model;
{p}_trainer_t trainer;
{p}_in_t x[{plan.sizes["n"] * plan.sizes["D"]}], x_new[{plan.sizes["D"]}];
{p}_target_t y[{plan.sizes["n"]}];
{p}_out_t f;
int32_t predict(void);
int32_t train(void);
int32_t collect(void);
int32_t commit(void);
int main(void);

int32_t predict(void)
{{
    return {p}_model_predict(&model, x_new, &f);
}}

int32_t train(void)
{{
    return {p}_train(&trainer, &model, {given}y);
}}

int32_t collect(void)
{{
    int32_t i, status = {p}_train_begin(&trainer);

    for (i = 0; i < {plan.sizes["n"]} && status == KC_OK; i++) {{
        status = {p}_train_push(&trainer, {sample}y[i]);
    }}
    while (status == KC_OK && {p}_train_run(&trainer, 1) == KC_PENDING) {{
    }}
    return status;
}}

int32_t commit(void)
{{
    return {p}_train_commit(&trainer, &model);
}}

int main(void)
{{
    return 0;
}}
"""


def build(plan: Plan, folder: Path, level: str) -> "Interrupted":
    """Generate and link the program for a Cortex-M4."""
    generate(plan, folder / "generated")
    (folder / "core.ld").write_text(SCRIPT)
    (folder / "main.c").write_text(program(plan))
    (folder / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    sources = [folder / "main.c", folder / "kc_memory.c", *(folder / "generated").glob(f"{plan.name}_*.c")]
    subprocess.run(["arm-none-eabi-gcc", *load_target("cortex-m4").flags["gcc"], level, "-std=c99",
                    "-ffreestanding", "-nostdlib", "-I", str(folder / "generated"), *map(str, sources), "-T",
                    str(folder / "core.ld"), "-Wl,-e,main", "-lgcc", "-o", str(folder / "program.elf")],
                   check=True)
    return Interrupted(folder / "program.elf", plan)


class Interrupted(CortexM):
    """The program of a plan, with a prediction between any two instructions of a function."""

    def __init__(self, image: Path, plan: Plan) -> None:
        super().__init__(image)
        self.word = np.dtype(wire_dtype(plan.word_type))
        self._clean = self._uc.context_save()

    def prediction(self) -> tuple[int, int]:
        """Predict on the stack of the interrupt; return status and f."""
        self._uc.context_restore(self._clean)  # an exception clears the state of an IT block, too
        self._uc.reg_write(arm_const.UC_ARM_REG_SP, _OTHER_STACK)
        self._uc.reg_write(arm_const.UC_ARM_REG_LR, _STOP | 1)
        self._uc.emu_start(self.symbols["predict"] | 1, _STOP, count=_MOST)
        status = int(np.int32(np.uint32(self._uc.reg_read(arm_const.UC_ARM_REG_R0))))
        return status, int(self.read("f", self.word, 1)[0])

    def stepped(self, name: str, stride: int, found: Counter[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Run a function with a prediction every `stride` instructions; yield each new kind of answer.

        `found` counts the answers. The last one is the function's own result.
        """
        self.prediction()
        self._uc.ctl_flush_tb()  # blocks from before the first call with a count are not counted
        self._uc.context_restore(self._clean)
        self._uc.reg_write(arm_const.UC_ARM_REG_SP, _STACK)
        self._uc.reg_write(arm_const.UC_ARM_REG_LR, _STOP | 1)
        at, last = self.symbols[name] & ~1, None
        while at != _STOP:
            self._uc.emu_start(at | 1, _STOP, count=stride)
            at = self._uc.reg_read(arm_const.UC_ARM_REG_PC)
            saved = self._uc.context_save()
            answer = self.prediction()
            self._uc.context_restore(saved)
            found[answer] += 1
            if answer != last:
                yield answer
                last = answer
        yield int(np.int32(np.uint32(self._uc.reg_read(arm_const.UC_ARM_REG_R0)))), 0
