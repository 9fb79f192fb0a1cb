"""Measure the examples on every emulated target, at -O2 and -Os.

``python -m kerncast.benchmarks.costs`` writes docs/measured/costs.md. If names of examples are given (``costs
digits``), only these are measured, and the sections of the others are kept. Flash, RAM and stack come from
the compilers, counts from the emulators. Every value is compared with the integer model.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kerncast.codegen.firmware.targets import board_ids, load_board, target_ids
from kerncast.lab.costs.measure import COUNTED, Costs, measured_costs
from kerncast.lab.workflow import Prepared, prepare
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "costs.md"
LEVELS = ("-O2", "-Os")

HEAD = f"""# Flash, RAM, stack and instructions of the examples

`python -m kerncast.benchmarks.costs` writes this page.
`kerncast cost OUT --target all` measures your own generated
folder in the same way, and compares it with the resource limits of its spec:

    [budget]
    target = "cortex-m4"                  # default: the target of the spec
    optimise = "-Os"                      # default: -O2
    flash = 6500                          # bytes, if the program makes every call of the library
    ram = 5800                            # bytes of the model and of the library's variables
    stack = 512                           # bytes, worst case of training, updating and predicting
    instructions = {{ predict = 9000 }}     # worst case of the test vectors; also cycles, packets

`kerncast check` and `kerncast gen` compare the RAM of the model with its limit, and reject a limit that no
tool can measure on the target. `kerncast build` also compares flash and stack, and `kerncast cost` also
compares the counts. All these commands use the target and the optimisation level in `[budget]` unless you
specify others. If no build exists for this target or level, the output reports that the limits were not
checked. A limit never changes the plan. It also does not change the generated code, except for the hash of
the spec in the file headers.

* **Flash**: code, constants and initial values after `--gc-sections`, including functions of the compiler's
  runtime library. Start-up code, test agent and caller are not included. The page on
  [instructions](instructions.md) includes the caller. The program `predict` only predicts, `learn` also
  trains or updates, and `all` also saves and restores its state. `image` is the test firmware. It also
  contains the serial protocol, the drivers of the board and the test agent, which executes the requests of
  the host. If a board has too little memory for saved states, its image does not support them.
* **RAM**: the structure of the model and, for a trainer, the structure of the trainer. The caller owns both.
  The plan states their sizes. The library uses no other RAM.
* **Stack**: the worst case of training, updating and predicting. It is computed from the frame sizes that the
  compiler reports (`-fstack-usage`) and from the call graph in the relocations of the object files. Recursive
  functions and frames of variable size are rejected. For functions of the compiler's runtime library,
  `runtime_stack_bytes` of the target is used. Interrupts are not included. zig does not report frame sizes,
  so no stack size is available for its builds.
* **Counts**: the mean and, in parentheses, the worst case of the last {COUNTED} samples, in the unit of the
  emulator's counter. Only simavr counts cycles. The other emulators count instructions (packets on
  Hexagon).

On a Cortex-M4 at -O2, the examples with one output predict a sample in fewer than 5,000 instructions on
average, and learn a sample in fewer than 11,000. `learn_digits`, with ten outputs, needs fewer than 18,000
instructions to predict and fewer than 22,000 to learn. For the learners, `-Os` saves about 30 to 50 % of the
flash and costs about 15 to 40 % more instructions.
"""
HEADS = ("target", "level", "compiler", "predict", "learn", "all", "image", "stack", "unit", "train",
         "update", "prediction")


def emulated() -> list[str]:
    """List the targets for which there is an emulated board."""
    having = {load_board(name).target for name in board_ids() if load_board(name).emulators}
    return [name for name in target_ids() if name in having]


def row(costs: Costs) -> str:
    """Return a table row for an example."""
    counts = {name: f"{n.mean:,}" + (f" ({n.worst:,})" if name != "train" else "")
              for name, n in costs.counts.items()}
    cells = (f"`{costs.target}`", costs.optimise, f"{costs.compiler} {costs.version}",
             *(f"{costs.flash[part]:,}" for part in ("predict", "learn", "all", "image")),
             "-" if costs.deepest is None else f"{costs.deepest:,}", costs.unit or "not measured",
             *(counts.get(name, "-") for name in ("train", "update", "predict")))
    return f"| {' | '.join(cells)} |"


def rows(prepared: Prepared) -> Iterator[str]:
    """Yield a row for each target and level.

    If the example does not fit, or if a tool is missing, the row states this.
    """
    left: dict[str, str] = {}
    for target in emulated():
        for level in LEVELS:
            try:
                costs = measured_costs(prepared.plan, prepared.folder, target, level,
                                       vectors=prepared.vectors)
            except KerncastError as error:
                problem = error.problems[0]
                if problem.code != "E326" and error.exit_code != EXIT_TOOL_MISSING:
                    raise
                left[f"`{target}` {level}"] = f"{problem.code}, {problem.message}"
                continue
            print(f"{prepared.plan.name} {row(costs)}", file=sys.stderr, flush=True)
            yield row(costs)
    if left:
        yield ""
        places: dict[str, list[str]] = {}
        for where, why in left.items():
            places.setdefault(why, []).append(where)
        yield " ".join(f"These were not measured ({why}): {', '.join(found)}."
                       for why, found in places.items())


def section(path: Path, folder: Path) -> str:
    """Return the section of the page on one example."""
    spec = Spec.load(path)
    prepared = prepare(spec, path.parent, folder)
    plan = prepared.plan
    holder = "model and its trainer need" if plan.trainer_bytes else "model needs"
    lines = [f"\n## `examples/{path.name}`\n", f"`{spec.summary()}`. The {holder} {plan.ram_bytes:,} "
             f"bytes of RAM on every target, and the tables need {plan.table_bytes:,} bytes of flash.\n",
             f"| {' | '.join(HEADS)} |", f"|---|---|---|{'--:|' * 5}---|{'--:|' * 3}", *rows(prepared)]
    return "\n".join(lines) + "\n"


def kept() -> dict[str, str]:
    """Return the sections of the existing page, by example."""
    parts = re.split(r"(?=^\n## `examples/)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {re.findall(r"`examples/(.*)\.toml`", part)[0]: part for part in parts}


def main(names: list[str]) -> int:
    """Measure the given examples, or all; write the page after each of them."""
    examples = {path.stem: path for path in sorted((ROOT / "examples").glob("*.toml"))}
    if unknown := sorted({*names} - {*examples}):
        raise SystemExit(f"unknown example: {', '.join(unknown)}; choose from {', '.join(examples)}")
    # An interrupted run keeps the sections that it has not measured.
    parts = {name: text for name, text in kept().items() if name in examples}
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        for name in names or examples:
            parts[name] = section(examples[name], Path(folder) / name)
            text = "".join(parts[name] for name in examples if name in parts)
            PAGE.write_text(HEAD + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
