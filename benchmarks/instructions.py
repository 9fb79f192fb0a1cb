"""Count instructions on a Cortex-M4 for each level of intrinsics.

``python -m kerncast.benchmarks.instructions`` writes docs/measured/instructions.md. With ``--check``, it only
compares (exit code 1 if the page is out of date). Instructions are counted in Unicorn for each call, and
every value is compared with the integer model. For comparison, ``arm_svm_rbf_predict_f32`` of
CMSIS-DSP is counted in the same run. CMSIS-DSP is downloaded from PyPI; if that fails, the page states the
reason.
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

from kerncast.benchmarks.cortex_m import SCRIPT, CortexM
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate
from kerncast.codegen.resources import read_text, resource
from kerncast.lab.workflow import test_inputs
from kerncast.sim._arrays import Raw
from kerncast.sim.data import load_dataset
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "instructions.md"
FLAGS = (*load_target("cortex-m4").flags["gcc"], "-std=c99", "-ffreestanding", "-ffp-contract=off",
         "-nostdlib", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wl,-e,main")
LEVELS = (("portable", "-DKC_PORTABLE=1"), ("dsp", "-DKC_PORTABLE=0"))
OPTIMISED = ("-O2", "-Os")
CMSIS = "cmsisdsp==1.10.3"
#: Seconds that the package index is given.
TIMEOUT_S = 60

#: A stream of D = 8 inputs; N = 100.
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
reduction = "{}"
[numbers]
word = 16
"""

HEAD = """# Instructions on a Cortex-M4

`python -m kerncast.benchmarks.instructions` writes this page. The Unicorn emulator counts the instructions of
each call (not cycles). Every value was compared with the integer model. `portable` is plain C99. `dsp` uses
the DSP instructions of ARMv7E-M (`firmware/rt/kc_simd_dsp.h`), which predefined macros of the compiler
select. Both levels compute the same values. The flash size is for a program that makes only the counted
calls. The RAM size is the size of the model structure.

A prediction with DSP instructions takes less than half as many instructions as portable C.

"""

PREDICTION = """
## Prediction

The model comes from `examples/digits.toml`, with 41 vectors of 64 inputs at 16 bits, after learning 250
digits. The figures cover the 107 test digits.

| level | | mean | worst | flash |
| --- | --- | --: | --: | --: |
"""

LEARNING = """
## Learning

The learners store 100 vectors of 8 inputs and compute with 16-bit words. The stream `equaliser` consists of
random signs that pass through a linear channel and a nonlinearity, with added noise. The stream `random`
consists of independent samples, so vectors lose their nearest neighbour more often. The counts cover the
second half of the stream, when the dictionary is full and each sample evicts a vector. `worst` is the largest
count observed. The formula of the plan gives the largest possible count, in which all younger vectors search
for a new neighbour in the same update.

FKLMS (fast kernel least mean squares) takes 2,808 bytes of RAM at 16 bits. The vectors take 1,600 bytes, a
kernel row 400, the distances to neighbours 400, the coefficients 200, the neighbours and ages 200, and the
count 2. The alignment to 8 bytes takes 6. FKLMS needs fewer instructions than KLMS in float32, which updates
a matrix.

| reduction | stream | samples | level | | mean | worst | flash | RAM |
| --- | --- | --: | --- | --- | --: | --: | --: | --: |
"""

TRAINING = """
## Training

The figures are for `examples/ecg.toml` at 32 bits with Levinson's recursion and n = 256. The counts cover
one call of `ecg_train`, including both recursions.

| level | | instructions | per step |
| --- | --- | --: | --: |
"""


@dataclass(frozen=True)
class Task:
    """Plan with training samples and samples to predict."""

    plan: Plan
    x: Raw
    y: Raw
    x_test: Raw
    counted: int


def example(name: str, word: int) -> Task:
    """Return the task of an example at a word length."""
    text = read_text(f"examples/{name}.toml").replace("word = 16", f"word = {word}")
    spec = Spec.from_text(text, f"{name}.toml")
    data = load_dataset(spec)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    return Task(plan, data.x_raw, data.y_raw, test_inputs(plan, data), 0)


def equaliser(count: int) -> tuple[Raw, Raw]:
    """Return windows of a noisy nonlinear channel with delayed symbols as targets.

    The target is the sign of the symbol two samples before.
    """
    random = np.random.default_rng(1)
    sent = random.integers(0, 2, count + 20) * 2 - 1
    linear = np.convolve(sent, [0.35, 0.87, 0.35])[:len(sent)]
    heard = linear + 0.2 * linear**2 - 0.1 * linear**3 + 0.05 * random.standard_normal(len(sent))
    words = np.clip(np.round(heard * 1000), -2048, 2047).astype(np.int64)
    x = np.stack([words[i - 7:i + 1] for i in range(10, 10 + count)])
    return x, (sent[8:8 + count] * 1000).astype(np.int64)


def independent(count: int) -> tuple[Raw, Raw]:
    """Return independent random samples."""
    random = np.random.default_rng(2)
    return random.integers(-1000, 1001, (count, 8)), random.integers(-1000, 1001, count)


def stream(reduction: str, samples: tuple[Raw, Raw]) -> Task:
    """Return the task of a learner whose updates are counted in the second half."""
    x, y = samples
    plan = make_plan(Spec.from_text(STREAM.format(reduction), "stream.toml"), x, y)
    return Task(plan, x, y, x[:0], len(y) // 2)


def program(plan: Plan, call: str) -> str:
    """Return the text of a main program with one call.

    The linker removes all code that this call does not use.
    """
    p, n, samples = plan.name, plan.sizes["D"], max(plan.sizes.values())
    calls = {"predict": f"(void){p}_model_predict(&model, x, &f);",
             "update": f"(void){p}_lms_update(&model, x, 0, &f);",
             "learn": f"(void){p}_lms_update(&model, x, 0, &f); (void){p}_model_predict(&model, x, &f);",
             "train": f"(void){p}_train(&trainer, &model, y); (void){p}_model_predict(&model, x, &f);"}
    trainer = f"{p}_trainer_t trainer;\n" if plan.trains else ""
    return (f'#include "{p}.h"\n{trainer}{p}_model_t model;\n{p}_in_t x[{n}];\n{p}_target_t y[{samples}];\n'
            f'{p}_out_t f;\nint main(void);\n'
            f"int main(void)\n{{\n    {p}_model_init(&model);\n    {calls[call]}\n    return 0;\n}}\n")


def build(folder: Path, sources: list[Path], *flags: str) -> tuple[Path, int]:
    """Compile and link sources; return the image and its flash size in bytes."""
    (folder / "core.ld").write_text(SCRIPT)
    (folder / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    image = folder / "image.elf"
    subprocess.run(["arm-none-eabi-gcc", *FLAGS, *flags, "-I", str(folder), *map(str, sources),
                    str(folder / "kc_memory.c"), "-T", str(folder / "core.ld"), "-lgcc", "-o", str(image)],
                   check=True)
    size = subprocess.run(["arm-none-eabi-size", str(image)], check=True, capture_output=True, text=True)
    return image, int(size.stdout.splitlines()[1].split()[0])


def linked(plan: Plan, main: str, *flags: str) -> tuple[CortexM, int]:
    """Build a library with a text of `main`; return the core and the flash size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "c"
        generate(plan, folder)
        (folder / "main.c").write_text(main)
        image, flash = build(folder, sorted(folder.glob("*.c")), *flags)
        return CortexM(image), flash


def counting(plan: Plan, main: str, *flags: str) -> CortexM:
    """Build a library with a text of `main`; return a core that counts."""
    core, _ = linked(plan, main, *flags, "-O2")
    core.start_counting()
    return core


def built(plan: Plan, call: str, *flags: str) -> tuple[CortexM, int]:
    """Build a library with a main program; return the core and the flash size."""
    return linked(plan, program(plan, call), *flags)


class Learner:
    """Model that runs both on the emulated core and in Python.

    Its methods raise ``SystemExit`` if the values differ.
    """

    def __init__(self, task: Task, call: str, *flags: str) -> None:
        self.plan, self.model = task.plan, open_model(task.plan)
        self.core, self.flash = built(task.plan, call, *flags)
        self.core.call(f"{task.plan.name}_model_init", "model")

    def write(self, name: str, words: Raw) -> None:
        """Write integers to a variable of the program."""
        c_type = self.plan.signals[f"{name}_raw"].format.c_type
        self.core.write(name, words.astype(np.dtype(c_type.removesuffix("_t"))))

    def run(self, call: str, x: Raw, status: int, f: int, *target: int) -> int:
        """Run a call, check its result, and return the number of instructions."""
        self.write("x", x)
        found, count = self.core.call(f"{self.plan.name}_{call}", "model", "x", *target, "f")
        word = np.int16 if self.plan.signals["f"].format.c_type == "int16_t" else np.int32
        if (found, int(self.core.read("f", word, 1)[0])) != (status, f):
            raise SystemExit(f"{self.plan.name}: a value of {call} differs from the integer model")
        return count

    def update(self, task: Task) -> Raw:
        """Run all updates, and check all values; return the instructions of those counted."""
        learnt, counts = self.model.update(task.x, task.y), []
        for i, (x, y, s, f) in enumerate(zip(task.x, task.y, learnt["status"], learnt["f"], strict=True)):
            if i == len(task.y) - task.counted:
                self.core.start_counting()
            counts.append(self.run("lms_update", x, int(s), int(f), int(y) & 0xFFFFFFFF))
        return np.array(counts[len(counts) - task.counted:])

    def predict(self, x_test: Raw) -> Raw:
        """Run all predictions, and check all values; return the instructions of each."""
        told = self.model.predict(x_test)
        return np.array([self.run("model_predict", x, int(s), int(f)) for x, s, f in
                         zip(x_test, told["status"], told["f"], strict=True)])

    def train(self, task: Task) -> int:
        """Run the training, and check all values; return the instructions."""
        status = int(self.model.train(task.x, task.y)["status"][0])
        self.write("y", task.y)
        self.core.start_counting()
        found, count = self.core.call(f"{self.plan.name}_train", "trainer", "model", "y")
        if found != status:
            raise SystemExit(f"{self.plan.name}: the status of training differs from the integer model")
        self.predict(task.x_test)
        return count


def builds() -> Iterator[tuple[str, str, str]]:
    """Yield the combinations of intrinsics and optimisation: name, define, option."""
    for title, define in LEVELS:
        for option in OPTIMISED:
            yield title, define, option


def prediction_rows(task: Task) -> Iterator[str]:
    """Yield the rows of predictions.

    The flash size is that of a program that only predicts.
    """
    for title, define, option in builds():
        learner = Learner(task, "learn", option, define)
        learner.update(task)
        learner.core.start_counting()
        counts, flash = learner.predict(task.x_test), built(task.plan, "predict", option, define)[1]
        yield f"| {title} | {option} | {counts.mean():,.0f} | {counts.max():,} | {flash:,} |"


def learning_rows(reduction: str, name: str, samples: tuple[Raw, Raw]) -> Iterator[str]:
    """Yield the rows of updates with a full dictionary.

    Learners in float32 are measured only at the DSP level.
    """
    task = stream(reduction, samples)
    for title, define, option in builds():
        if reduction.endswith("f32") and (title, option) != ("dsp", "-O2"):
            continue
        learner = Learner(task, "update", option, define)
        counts = learner.update(task)
        yield (f"| {reduction} | {name} | {len(task.y):,} | {title} | {option} | {counts.mean():,.0f} "
               f"| {counts.max():,} | {learner.flash:,} | {task.plan.state_bytes:,} |")


def training_rows(task: Task) -> Iterator[str]:
    """Yield the rows of training on a uniform grid."""
    for title, define, option in builds():
        count = Learner(task, "train", option, define).train(task)
        yield f"| {title} | {option} | {count:,} | {count / len(task.y):,.0f} |"


PEER = """
#include "arm_math.h"
#include "dsp/svm_functions.h"
float32_t in[64], vectors[41 * 64], dual[41];
const int32_t classes[2] = {0, 1};
int32_t label;
arm_svm_rbf_instance_f32 svm = {41, 64, 0.0f, dual, vectors, classes, 0.005f};
float expf(float x);
float expf(float x) { return x; }
void predict(void) __attribute__((noinline));
void predict(void) { arm_svm_rbf_predict_f32(&svm, in, &label); }
int main(void) { predict(); return 0; }
"""


#: What of a C library CMSIS-DSP's headers ask for.
HEADERS = {"math.h": "float expf(float x);\nfloat sqrtf(float x);\nfloat fabsf(float x);\n",
           "string.h": "#include <stddef.h>\nvoid *memcpy(void *to, const void *from, size_t count);\n"
                       "void *memset(void *to, int word, size_t count);\n"}


def cmsis_sources(folder: Path) -> Path:
    """Download CMSIS-DSP; return the folder with its ``Source`` and ``Include``."""
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation",
                    "--no-binary", ":all:", CMSIS, "-d", str(folder)], check=True, capture_output=True,
                   timeout=TIMEOUT_S)
    with tarfile.open(next(folder.glob("cmsisdsp-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.rglob("arm_math.h")).parent.parent


def peer(folder: Path) -> str:
    """Return the table row of a CMSIS-DSP prediction of the same size.

    If it cannot be measured, the text states the reason.
    """
    try:
        sources = cmsis_sources(folder)
    except subprocess.TimeoutExpired:
        return f"CMSIS-DSP was not measured: {CMSIS} was not there within {TIMEOUT_S} seconds."
    except subprocess.CalledProcessError:
        return f"CMSIS-DSP was not measured: pip could not download {CMSIS}."
    source = next(sources.rglob("arm_svm_rbf_predict_f32.c"))
    main = folder / "main.c"
    main.write_text(PEER)
    for name, text in HEADERS.items():
        (folder / name).write_text(text)
    counts = []
    for level in OPTIMISED:
        image, _ = build(folder, [source, main], level, "-std=gnu11", "-I", str(sources / "Include"), "-I",
                         str(sources / "PrivateInclude"), "-D__GNUC_PYTHON__")
        core = CortexM(image)
        core.start_counting()
        counts.append(f"{core.call('predict')[1]:,} instructions at {level}")
    return (f"For comparison, `arm_svm_rbf_predict_f32` of {CMSIS.replace('==', ' ')} takes "
            f"{' and '.join(counts)}, with 41 vectors of 64 inputs in float32. Its `expf` is an empty "
            "function, so these figures are lower bounds.")


def page() -> str:
    """Run all measurements, and return docs/measured/instructions.md."""
    learning: list[str] = []
    for name, samples in (("equaliser", equaliser), ("random", independent)):
        learning += learning_rows("fklms", name, samples(1200))
        for reduction in ("fklms_f32", "klms_f32"):
            learning += learning_rows(reduction, name, samples(180))
    with tempfile.TemporaryDirectory() as folder:
        beside = peer(Path(folder))
    return (HEAD.rstrip() + "\n" + PREDICTION + "\n".join(prediction_rows(example("digits", 16)))
            + f"\n\n{beside}\n" + LEARNING + "\n".join(learning)
            + "\n" + TRAINING + "\n".join(training_rows(example("ecg", 32))) + "\n")


def main() -> int:
    """Write the page, or with ``--check`` report whether it is up to date."""
    text = page()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
