"""Measure the shipped examples on every emulated target, at -O2 and -Os.

``python benchmarks/costs.py`` writes docs/measured/costs.md for all examples, or for those named on the
command line (``costs.py digits``).  Flash, RAM and stack come from the compilers, counts from the emulators.
Every value is compared with the integer model's.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kerncast.codegen.targets import board_ids, load_board, target_ids
from kerncast.lab.costs import COUNTED, Costs, measured_costs
from kerncast.lab.example import Prepared, prepare
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "costs.md"
LEVELS = ("-O2", "-Os")

HEAD = f"""# What the examples cost

`python benchmarks/costs.py` measures this page. `kerncast cost OUT --target all` does the same for a folder
of yours, and says where it is over the budget of its spec:

    [budget]
    target = "cortex-m4"                  # that of [target] where it is left away
    optimise = "-Os"                      # -O2 where it is left away
    flash = 6500                          # bytes, every call of the library made
    ram = 5800                            # bytes of the model and of the library's own variables
    stack = 512                           # bytes, the worst of training, updating and predicting
    instructions = {{ predict = 9000 }}     # the worst that the vectors show; cycles or packets likewise

`kerncast check` and `kerncast gen` hold the model's RAM against it, and refuse what no tool measures on its
target; `kerncast build` holds flash, RAM and stack against it, and `kerncast cost` the counts as well. Both
take its level unless told another, and say that it was not looked at where its target or level is not among
those built. A budget is no decision: neither the plan nor the generated code depends on it, but for the hash
of the spec in the banners.

* **Flash**: code, constants and initial values of a program that predicts (`predict`), trains or updates as
  well (`learn`), saves and restores its state as well (`all`): after `--gc-sections`, with what it calls of
  the compiler's runtime, without start-up, test agent and the caller; [instructions.md](instructions.md)
  counts its caller as well. `image` is the test firmware, agent, link and drivers included; on a board
  without room for saved states it lacks them.
* **RAM**: the model's structure, which the caller owns, at the size that the plan states. The library has no
  other.
* **Stack**: the most that training, updating or predicting takes, from the frames that the compiler states
  (`-fstack-usage`) and the relocations of the objects, which say who calls whom. A function that may call
  itself, or whose frame depends on data, is refused. A function of the compiler's runtime is taken at the
  target's `runtime_stack_bytes`. Interrupts are not in it. zig does not tell its frames.
* **Counts**: the mean and, in brackets, the worst of the last {COUNTED} samples, in the unit of the
  emulator's counter. Cycles are simavr's alone; an emulator's instructions are no cycles.
"""
PART = """
So far this page holds {measured} alone; {left} are measured by the program without a name.
"""

HEADS = ("target", "level", "compiler", "predict", "learn", "all", "image", "stack", "unit", "train",
         "update", "a prediction")


def emulated() -> list[str]:
    """Targets with a board that has an emulator."""
    having = {load_board(name).target for name in board_ids() if load_board(name).emulators}
    return [name for name in target_ids() if name in having]


def row(costs: Costs) -> str:
    """A line of an example's table."""
    counts = {name: f"{n.mean:,}" + (f" ({n.worst:,})" if name != "train" else "")
              for name, n in costs.counts.items()}
    cells = (f"`{costs.target}`", costs.optimise, f"{costs.compiler} {costs.version}",
             *(f"{costs.flash[part]:,}" for part in ("predict", "learn", "all", "image")),
             "-" if costs.deepest is None else f"{costs.deepest:,}", costs.unit or "not measured",
             *(counts.get(name, "-") for name in ("train", "update", "predict")))
    return f"| {' | '.join(cells)} |"


def rows(prepared: Prepared) -> Iterator[str]:
    """Every target and level; what does not fit, or lacks its tool, is named below; all else is raised."""
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
        yield "Left out: " + "; ".join(f"{where}: {why}" for where, why in left.items()) + "."


def section(path: Path, folder: Path) -> str:
    """The part of the page on one example."""
    spec = Spec.load(path)
    prepared = prepare(spec, path.parent, folder)
    plan = prepared.plan
    lines = [f"\n## `examples/{path.name}`\n", f"{spec.summary()}. RAM: {plan.state_bytes:,} bytes, on every "
             f"target; {plan.table_bytes:,} bytes of tables are in the flash.\n",
             f"| {' | '.join(HEADS)} |", f"|---|---|---|{'--:|' * 5}---|{'--:|' * 3}", *rows(prepared)]
    return "\n".join(lines) + "\n"


def coverage(measured: list[str], left: list[str]) -> str:
    """What the page says of examples that are not on it; nothing where there are none."""
    return PART.format(measured=" and ".join(measured), left=", ".join(left)) if left else ""


def main(names: list[str]) -> int:
    """Write the page, of the examples named or of all, anew after each."""
    examples = {path.stem: path for path in sorted((ROOT / "examples").glob("*.toml"))}
    if unknown := sorted({*names} - {*examples}):
        raise SystemExit(f"no such example: {', '.join(unknown)}; there are {', '.join(examples)}")
    chosen = [name for name in examples if name in names or not names]
    parts: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        for at, name in enumerate(chosen, 1):
            parts.append(section(examples[name], Path(folder) / name))
            left = [name for name in examples if name not in chosen[:at]]
            PAGE.write_text(HEAD + coverage(chosen[:at], left) + "".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
