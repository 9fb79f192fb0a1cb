"""Count instructions on a Cortex-M4: prediction and learning at each level, beside what others offer.

``python benchmarks/instructions.py`` writes docs/instructions.md; ``--check`` only says whether it is up
to date (exit 1 where it is not).  Instructions are counted in Unicorn, call by call, and every word that
the core gives is compared with the integer model's.  CMSIS-DSP, whose ``arm_svm_rbf_predict_f32`` is
measured in the same run, is taken from its package on PyPI; where that cannot be had, the page says so.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kerncast.benchmarks.cortex_m import SCRIPT, Core
from kerncast.codegen.generate import generate
from kerncast.codegen.resources import resource
from kerncast.codegen.targets import load_target
from kerncast.lab.example import prepare, shipped_spec
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

PAGE = Path(__file__).resolve().parent.parent / "docs" / "instructions.md"
FLAGS = (*load_target("cortex-m4").flags["gcc"], "-std=c99", "-ffreestanding", "-ffp-contract=off",
         "-nostdlib", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wl,-e,main")
LEVELS = (("portable", "-DKC_PORTABLE=1"), ("dsp", "-DKC_PORTABLE=0"))
CMSIS = "cmsisdsp==1.10.3"
Raw = NDArray[np.int64]

#: Channel equalisation: D = 8 samples of what a nonlinear channel made of random signs; N = 100.
STREAM = """
[model]
name = "stream"
algorithm = "kernel_lms"
[input]
word = "s12f11"
columns = 8
[output]
word = "s12f11"
[kernel]
sigma = 0.4
[online]
budget = 100
eta = 0.5
[numbers]
word = 16
"""

HEAD = """# Instructions on a Cortex-M4

Instructions a call, counted in Unicorn; not cycles. Every word was compared with the integer model's.
`portable` is plain C99, `dsp` the same with the instructions of ARMv7E-M (`firmware/rt/kc_simd_dsp.h`),
chosen by the compiler's own macros; both give the same words. Flash is that of a program that does what is
counted, and nothing else.

* digits: `examples/digits.toml`, 41 vectors of 64 inputs, 16 bits, after 250 digits; the 107 test digits.
* stream: FKLMS, 100 vectors of 8 inputs, 16 bits, on 1,200 samples of an equalised channel; counted over the
  last 600, where the memory is full and each sample removes a vector.

"""


@dataclass(frozen=True)
class Task:
    """A plan with samples to learn and samples to predict."""

    plan: Plan
    x: Raw
    y: Raw
    x_test: Raw
    counted: int


def digits() -> Task:
    """The example that ships."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(shipped_spec("digits"), Path(), Path(folder) / "digits")
    data = prepared.data
    assert data.x_test_raw is not None
    return Task(prepared.plan, data.x_raw, data.y_raw, data.x_test_raw, len(data.y_raw) // 2)


def stream(count: int = 1200) -> Task:
    """Random signs through a linear channel, a nonlinearity and noise, to be told two samples later."""
    random = np.random.default_rng(1)
    sent = random.integers(0, 2, count + 20) * 2 - 1
    linear = np.convolve(sent, [0.35, 0.87, 0.35])[:len(sent)]
    heard = linear + 0.2 * linear**2 - 0.1 * linear**3 + 0.05 * random.standard_normal(len(sent))
    words = np.clip(np.round(heard * 1000), -2048, 2047).astype(np.int64)
    x = np.stack([words[i - 7:i + 1] for i in range(10, 10 + count)])
    y = (sent[8:8 + count] * 1000).astype(np.int64)
    return Task(make_plan(Spec.from_text(STREAM, "stream.toml"), x[:400], y[:400]), x, y, x[:100], count // 2)


def program(plan: Plan, call: str) -> str:
    """A main that does one thing: what is not called leaves the image."""
    p, n = plan.name, plan.sizes["D"]
    calls = {"predict": f"(void){p}_model_predict(&model, x, &f);",
             "update": f"(void){p}_lms_update(&model, x, 0, &f); (void){p}_model_predict(&model, x, &f);"}
    return (f'#include "{p}.h"\n{p}_model_t model;\n{p}_xraw_t x[{n}];\n{p}_word_t f;\nint main(void);\n'
            f"int main(void)\n{{\n    {p}_model_init(&model);\n    {calls[call]}\n    return 0;\n}}\n")


def build(folder: Path, sources: list[Path], *flags: str) -> tuple[Path, int]:
    """Link sources for the core: the image, and its bytes of flash."""
    (folder / "core.ld").write_text(SCRIPT)
    (folder / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    image = folder / "image.elf"
    subprocess.run(["arm-none-eabi-gcc", *FLAGS, *flags, "-I", str(folder), *map(str, sources),
                    str(folder / "kc_memory.c"), "-T", str(folder / "core.ld"), "-lgcc", "-o", str(image)],
                   check=True)
    size = subprocess.run(["arm-none-eabi-size", str(image)], check=True, capture_output=True, text=True)
    return image, int(size.stdout.splitlines()[1].split()[0])


def built(plan: Plan, call: str, *flags: str) -> tuple[Core, int]:
    """The generated library and a main as a program on the core."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "c"
        generate(plan, folder)
        (folder / "main.c").write_text(program(plan, call))
        image, flash = build(folder, sorted(folder.glob("*.c")), *flags)
        return Core(image), flash


def measure(task: Task, *flags: str) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Instructions of each counted update and of each prediction; flash of the learner.

    Raises
    ------
    SystemExit
        Where a word differs from the model's.
    """
    plan, p = task.plan, task.plan.name
    core, flash = built(plan, "update", *flags)
    model = open_model(plan)
    xtype = np.dtype(plan.signals["x_raw"].format.c_type.removesuffix("_t"))
    core.call(f"{p}_model_init", "model")

    def run(call: str, x: Raw, status: int, f: int, *target: int) -> int:
        core.write("x", x.astype(xtype))
        found, count = core.call(f"{p}_{call}", "model", "x", *target, "f")
        if (found, int(core.read("f", np.int16, 1)[0])) != (status, f):
            raise SystemExit(f"{p}: a word of {call} differs from the model's")
        return count

    learnt = model.update(task.x, task.y)
    updates = [run("lms_update", x, int(s), int(f), int(y) & 0xFFFFFFFF) for x, y, s, f in
               zip(task.x, task.y, learnt["status"], learnt["f"], strict=True)]
    told = model.predict(task.x_test)
    predictions = [run("model_predict", x, int(s), int(f)) for x, s, f in
                   zip(task.x_test, told["status"], told["f"], strict=True)]
    return np.array(updates[-task.counted:]), np.array(predictions), flash


def rows(name: str, task: Task) -> Iterator[str]:
    """The table's rows of a task."""
    for title, define in LEVELS:
        for level in ("-O2", "-O3", "-Os"):
            updates, predictions, flash = measure(task, level, define)
            least = built(task.plan, "predict", level, define)[1]
            yield (f"| {name} | {title} | {level} | {predictions.mean():,.0f} | {predictions.max():,} "
                   f"| {least:,} | {updates.mean():,.0f} | {updates.max():,} | {flash:,} |")


PEER = """
#include "arm_math.h"
#include "dsp/svm_functions.h"
float32_t in[64], vectors[41 * 64], dual[41];
const int32_t classes[2] = {0, 1};
int32_t told;
arm_svm_rbf_instance_f32 svm = {41, 64, 0.0f, dual, vectors, classes, 0.005f};
float expf(float x);
float expf(float x) { return x; }
void predict(void) __attribute__((noinline));
void predict(void) { arm_svm_rbf_predict_f32(&svm, in, &told); }
int main(void) { predict(); return 0; }
"""


#: What of a C library CMSIS-DSP's headers ask for.
HEADERS = {"math.h": "float expf(float x);\nfloat sqrtf(float x);\nfloat fabsf(float x);\n",
           "string.h": "#include <stddef.h>\nvoid *memcpy(void *to, const void *from, size_t count);\n"
                       "void *memset(void *to, int word, size_t count);\n"}


def peer(folder: Path) -> str:
    """CMSIS-DSP's prediction with as many vectors of as many inputs, or why it was not measured."""
    got = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation",
                          "--no-binary", ":all:", CMSIS, "-d", str(folder)], check=False, capture_output=True)
    archives = list(folder.glob("cmsisdsp-*.tar.gz"))
    if got.returncode or not archives:
        return "CMSIS-DSP could not be had and was not measured."
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    source = next(folder.rglob("arm_svm_rbf_predict_f32.c"))
    header = next(folder.rglob("arm_math.h"))
    main = folder / "main.c"
    main.write_text(PEER)
    for name, text in HEADERS.items():
        (folder / name).write_text(text)
    counts = []
    for level in ("-O2", "-O3", "-Os"):
        image, _ = build(folder, [source, main], level, "-std=gnu11", "-I", str(header.parent), "-I",
                         str(header.parent.parent / "PrivateInclude"), "-D__GNUC_PYTHON__")
        counts.append(f"{Core(image).call('predict')[1]:,} at {level}")
    return (f"`arm_svm_rbf_predict_f32` of {CMSIS.replace('==', ' ')}, 41 vectors of 64 inputs, float32: "
            f"{', '.join(counts)}, with an `expf` that costs nothing but its call: a lower bound.")


def page() -> str:
    """docs/instructions.md."""
    lines = ["| task | level | | predict, mean | worst | flash | update, mean | worst | flash |",
             "| --- | --- | --- | --: | --: | --: | --: | --: | --: |"]
    for name, task in (("digits", digits()), ("stream", stream())):
        lines += rows(name, task)
    with tempfile.TemporaryDirectory() as folder:
        beside = peer(Path(folder))
    return HEAD + "\n".join([*lines, "", "## Beside it", "", beside, ""])


def main() -> int:
    """Write the page, or check it."""
    text = page()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
