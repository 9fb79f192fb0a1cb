"""Measure learners with ten classes: accuracy, memory and instructions.

Accuracy is measured over ten shuffles.  ``python -m kerncast.benchmarks.classes`` writes
docs/measured/classes.md; ``--check`` only compares, with exit code 1 if the page is stale.  The data are
scikit-learn's handwritten digits: 1,000 samples are learnt in one pass and 797 are predicted.  Instructions
are counted in Unicorn, call by call, and every value is compared with the integer model. The learner
with one output has the same kernel and the targets of one class, so that the number of outputs is the only
difference.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import LEVELS, build
from kerncast.codegen.generate import generate
from kerncast.codegen.resources import read_text
from kerncast.sim._arrays import Raw
from kerncast.sim.data.builtin import handwritten_digits
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "classes.md"
COMMAND = "python -m kerncast.benchmarks.classes"
EXAMPLE = "examples/learn_digits.toml"
TRAINING, SHUFFLES = 1000, 10
#: Title -> keys of [online] and [kernel] that differ from the example's.
LEARNERS = {
    "quantised, nt, N = 100": ({}, {}),
    "quantised, nt, N = 50": ({"budget": 50, "eta": 0.2}, {"sigma": 29.5}),
    "fklms, N = 100": ({"reduction": "fklms", "quantise": None}, {"sigma": 12.3}),
}
#: Tables of the batch trainer, as docs/classes.md has them.
BATCH = {"model": {"name": "train_digits", "algorithm": "kernel_cg"}, "kernel": {"sigma": 22.0},
         "cg": {"n": TRAINING, "lambda": 0.5, "steps": 16}, "numbers": {"word": 16}}
#: Samples whose instructions are counted, after the dictionary has filled.
COUNTED = 50
#: Keys of [online] of the learners whose instructions are counted.
COUNTED_RULES = {rule: {"reduction": rule, "quantise": None} for rule in ("nt", "fklms")}

HEAD = f"""# Ten classes

`{COMMAND}` writes this page. The data are `sklearn.datasets.load_digits`, with 64 inputs and ten classes.
Each learner is trained on 1,000 samples in one pass and predicts the other 797. The learners are variants of
`{EXAMPLE}`, with the changes that the tables list. `nt` with quantisation is the most accurate of these
learners.

## Accuracy

Accuracies are means over {SHUFFLES} shuffles of the data, and deviations are standard deviations. RAM is the
size of the model structure, and the tables are constants in flash. Both sizes are for 16 bits. Each pixel is
an integer from 0 to 16 and takes one byte.

| learner | 16 bits | float64 | deviation at 16 bits | RAM, bytes | tables, bytes |
|---|---:|---:|---:|---:|---:|
"""

BATCHES = """
`kernel_cg` trains on all 1,000 samples at once. Its parameters, sigma = 22, lambda = 0.5 and 16 steps, were
chosen on three of the shuffles. The trainer structure is needed only during training.

| batch trainer | 16 bits | float64 | deviation at 16 bits | model, bytes | trainer, bytes |
|---|---:|---:|---:|---:|---:|
"""

COUNTS = """
## Instructions

The numbers are mean instructions per call on an emulated Cortex-M4, with a full dictionary of 100 centers
(arm-none-eabi-gcc -O2). The learner with one output distinguishes class 7 from the other classes.

| rule | level | call | one output | ten outputs | ratio |
|---|---|---|---:|---:|---:|
"""


def spec_of(online: dict[str, object], kernel: dict[str, object] | None = None, *, ten: bool = True) -> Spec:
    """Return the example's spec with changed keys."""
    spec = Spec.from_text(read_text(EXAMPLE), EXAMPLE)
    tables = spec.model_dump(exclude_none=True, exclude={"data", "target"})
    tables["online"] = {key: value for key, value in {**tables["online"], **online}.items()
                        if value is not None}
    tables["kernel"] = {**tables["kernel"], **(kernel or {})}
    tables["output"] = {"classes": spec.output.classes if ten else ["rest", "7"]}
    return Spec(**tables)


def shuffled(seed: int) -> tuple[Raw, Raw]:
    """Return all digits in another order: pixels (1797, 64) and labels."""
    pixels, labels = handwritten_digits("benchmarks")
    order = np.random.default_rng(seed).permutation(len(labels))
    return pixels[order].astype(np.int64), labels[order].astype(np.int64)


def accuracies(spec: Spec, seed: int) -> tuple[float, float, Plan]:
    """Return the accuracy at 16 bits and in float64, and the plan."""
    x, y = shuffled(seed)
    plan = make_plan(spec, x[:TRAINING], y[:TRAINING])
    model, reference = open_model(plan), FloatReference(plan)
    model.update(x[:TRAINING], y[:TRAINING])
    reference.update(x[:TRAINING], y[:TRAINING])
    labels = model.predict(x[TRAINING:])["label"]
    of_float = np.argmax(reference.predict(x[TRAINING:]), axis=1)
    return float(np.mean(labels == y[TRAINING:])), float(np.mean(of_float == y[TRAINING:])), plan


def accuracy_rows() -> Iterator[str]:
    """Measure every learner on every shuffle; yield the rows of the table."""
    for title, (online, kernel) in LEARNERS.items():
        found = [accuracies(spec_of(online, kernel), seed) for seed in range(SHUFFLES)]
        words, exact = (np.array([row[i] for row in found]) for i in range(2))
        plan = found[0][2]
        yield (f"| {title} | {words.mean():.1%} | {exact.mean():.1%} | {words.std():.1%} "
               f"| {plan.state_bytes:,} | {plan.table_bytes:,} |")


def batch_accuracies(seed: int) -> tuple[float, float, Plan]:
    """Return the batch trainer's accuracy at 16 bits and in float64, and its plan."""
    x, y = shuffled(seed)
    spec = Spec.from_text(read_text(EXAMPLE), EXAMPLE)
    plan = make_plan(Spec(**BATCH, input=spec.input, output={"classes": spec.output.classes}))
    model, reference = open_model(plan), FloatReference(plan)
    status = int(model.train(x[:TRAINING], y[:TRAINING])["status"][0])
    if status != DeviceStatus.OK:
        raise SystemExit(f"{plan.name}: the training of shuffle {seed} returned status {status}")
    reference.train(x[:TRAINING], y[:TRAINING])
    labels = model.predict(x[TRAINING:])["label"]
    of_float = np.argmax(reference.predict(x[TRAINING:]), axis=1)
    return float(np.mean(labels == y[TRAINING:])), float(np.mean(of_float == y[TRAINING:])), plan


def batch_row() -> str:
    """Measure the batch trainer on every shuffle; return its row."""
    found = [batch_accuracies(seed) for seed in range(SHUFFLES)]
    words, exact = (np.array([row[i] for row in found]) for i in range(2))
    plan = found[0][2]
    return (f"| kernel_cg, n = {TRAINING:,} | {words.mean():.1%} | {exact.mean():.1%} | {words.std():.1%} "
            f"| {plan.state_bytes:,} | {plan.trainer_bytes:,} |")


def program(plan: Plan) -> str:
    """Return a main program with an update and a prediction."""
    p = plan.name
    return (f'#include "{p}.h"\n{p}_model_t model;\n{p}_in_t x[{plan.sizes["D"]}];\n'
            f"{p}_out_t f[{plan.outputs}];\nint main(void);\nint main(void)\n{{\n"
            f"    {p}_model_init(&model);\n    (void){p}_lms_update(&model, x, 0, f);\n"
            f"    return (int){p}_model_predict(&model, x, f);\n}}\n")


def counts(plan: Plan, x: Raw, y: Raw, define: str) -> dict[str, float]:
    """Return the mean instructions of updates and predictions.

    Raises SystemExit if a value differs.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "c"
        generate(plan, folder)
        (folder / "main.c").write_text(program(plan))
        core = CortexM(build(folder, sorted(folder.glob("*.c")), "-O2", define)[0])
    model, p = open_model(plan), plan.name
    core.call(f"{p}_model_init", "model")
    found: dict[str, list[int]] = {"update": [], "predict": []}

    def run(call: str, expected: dict[str, Raw], at: int, *target: int) -> None:
        core.write("x", x[at].astype(np.uint8))
        status, count = core.call(f"{p}_{call}", "model", "x", *target, "f")
        values = core.read("f", np.int16, plan.outputs).tolist()
        if (status, values) != (int(expected["status"][0]), np.atleast_1d(expected["f"][0]).tolist()):
            raise SystemExit(f"{p}: a value of {call} differs from the integer model's")
        found[call.rpartition("_")[2]].append(count)

    first = len(y) - COUNTED
    for at in range(len(y)):
        if at == first:
            core.start_counting()
        run("lms_update", model.update(x[at:at + 1], y[at:at + 1]), at, int(y[at]))
        if at >= first:
            run("model_predict", model.predict(x[at:at + 1]), at)
    return {name: float(np.mean(each[-COUNTED:])) for name, each in found.items()}


def count_rows() -> Iterator[str]:
    """Count instructions with one output and with ten; yield the rows."""
    x, y = (part[:300] for part in shuffled(0))
    for rule, online in COUNTED_RULES.items():
        plans = [make_plan(spec_of(online, ten=ten), x, y if ten else (y == 7).astype(np.int64))
                 for ten in (False, True)]
        for level, define in LEVELS:
            one, ten = (counts(plan, x, y if plan.outputs > 1 else (y == 7).astype(np.int64), define)
                        for plan in plans)
            for call in ("predict", "update"):
                yield (f"| {rule} | {level} | {call} | {one[call]:,.0f} | {ten[call]:,.0f} "
                       f"| {ten[call] / one[call]:.2f} |")


def page() -> str:
    """Measure everything and return the page."""
    batch = BATCHES + batch_row() + "\n"
    return HEAD + "\n".join(accuracy_rows()) + "\n" + batch + COUNTS + "\n".join(count_rows()) + "\n"


def main() -> int:
    """Write the page, or with ``--check`` report whether it is up to date."""
    text = page()
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
