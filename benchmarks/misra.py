"""List where generated C and its runtime deviate from MISRA C:2012, as cppcheck's addon finds it.

``python benchmarks/misra.py`` writes docs/misra.md; ``--check`` only says whether it is up to date
(exit 1 where it is not).  Every rule that is deviated from has its reason in :data:`REASONS`; without
one the program fails, so that no deviation comes in unnoticed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

from kerncast.codegen.generate import render_c
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "misra.md"
CASES = ROOT / "tests" / "host" / "cases.toml"
ALGORITHMS = {"toeplitz": "toeplitz_rls", "online": "kernel_lms", "cg": "kernel_cg"}

#: Rule: why generated C deviates from it.
REASONS = {
    "2.2": "cppcheck takes an operation with a constant of the plan that happens to be 0 or 1 for dead code; "
           "the constant is another one in the next model.",
    "2.3": "The type is what a static assertion of C99 is made of.",
    "2.5": "The header tells an application what the plan decided, whether or not the sources ask.",
    "5.6": "Models that are checked together here, and never meet in one source, share a name.",
    "5.7": "Models that are checked together here, and never meet in one source, share a name.",
    "5.9": "Static functions of different sources share a name where they do the same.",
    "7.2": "Hexadecimal masks of signed 64-bit words, given their type by INT64_C.",
    "8.7": "Called by the other sources of some models only; one header declares it for all.",
    "8.9": "Constant tables stand at the head of their file, whichever function reads them.",
    "10.1": "Words are signed. Only what is not negative is shifted by an operator (the runtime turns a "
            "negative word round first); the counts of shifts are signed because plans subtract them.",
    "10.3": "Narrowing where the plan bounds the value; the compilers' -Wconversion is an error besides.",
    "10.4": "Sizes, indices and counts of differing type meet; all are far below the range of either.",
    "10.5": "A comparison counted as a number.",
    "10.6": "The wider type of the result holds every value of the narrower one.",
    "10.7": "A 32-bit factor widens to 64 bits, which is the product's intention.",
    "10.8": "A sum or a product of words is cast as a whole, after it was bounded.",
    "11.9": "Arguments are compared with 0, so that no library header is needed for NULL.",
    "12.1": "Precedence is left to the language where every reader of C knows it: * before +, + before <.",
    "12.3": "Local variables of one kind share a declaration.",
    "13.3": "An element is counted up or down where it stands.",
    "14.1": "The float solver scales by exact powers of two; an integer exponent bounds the loop.",
    "14.2": "A loop ends early by its own counter.",
    "15.4": "A loop that searches ends where it has found.",
    "15.5": "A function that refuses its arguments, or ends early, returns at once.",
    "17.3": "Every function is declared; cppcheck loses sight of one that is reached through a macro.",
    "17.8": "A parameter passed by value serves as the variable that it is.",
    "18.4": "A row of a matrix is the address of its first element.",
    "20.10": "The name of a static assertion is made from its line, as C99 needs it.",
}

HEAD = """# MISRA C:2012

Generated C and its runtime are held to MISRA C:2012 by the rule set of cppcheck's addon, over every model of
`tests/host/cases.toml`. The deviations below are meant, each for its reason; a test fails when another one
appears. Rules are named by number only; their text is the MISRA Consortium's. The addon checks what can be
checked file by file, and a listing is no claim of compliance. `<p>` stands for the prefix of a model.

Made by `python benchmarks/misra.py`, not by hand.

| deviation | rule | where | reason |
|---|---|---|---|
"""


def plans() -> Iterable[Plan]:
    """The plans of the matrix that every back end is held to."""
    for name, case in tomllib.loads(CASES.read_text(encoding="utf-8")).items():
        tables = {key: table for key, table in case.items() if isinstance(table, dict)}
        (algorithm,) = (ALGORITHMS[key] for key in ALGORITHMS if key in tables)
        yield make_plan(Spec(model={"name": name, "algorithm": algorithm}, **tables))


def write_sources(folder: Path) -> list[str]:
    """Write the C of all plans; the source files with a line that none before has, but for its numbers."""
    seen: set[str] = set()
    chosen = []
    for plan in plans():
        for name, text in render_c(plan).items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            code = re.sub(r"/\*.*?\*/|(?<== )\{[^{}]*\}", "", text, flags=re.DOTALL)
            code = code.replace(plan.name, "p").replace(plan.name.upper(), "P")
            lines = set(re.sub(r"\d+", "0", code).split("\n"))
            if name.endswith(".c") and not lines <= seen:
                seen |= lines
                chosen.append(name)
    return chosen


def found(folder: Path, sources: list[str]) -> set[tuple[str, str]]:
    """Rule and file of every deviation; files without their model's prefix.

    Raises
    ------
    SystemExit
        Where cppcheck is missing, or finds what is no matter of style.
    """
    command = [sys.executable, "-m", "cppcheck", "--addon=misra", "--std=c99", "--quiet", "-I.",
               "--enable=style,warning,performance,portability",
               "--template={severity}|{id}|{file}|{line}|{message}", *sources]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    places, wrong = set(), []
    for line in done.stderr.splitlines():
        severity, rule, file, *_ = [*line.split("|"), "", ""]
        if rule.startswith("misra-c2012-"):
            places.add((rule.removeprefix("misra-c2012-"), _without_prefix(file)))
        elif severity != "style":
            wrong.append(line)
    if done.returncode or wrong:
        raise SystemExit("\n".join(["cppcheck found:", *wrong, done.stdout]))
    return places


def _without_prefix(file: str) -> str:
    path = Path(file)
    if path.parent.name:
        return path.as_posix()
    names = sorted((plan_name for plan_name in tomllib.loads(CASES.read_text(encoding="utf-8"))
                    if path.stem == plan_name or path.stem.startswith(f"{plan_name}_")), key=len)
    return f"<p>{path.name.removeprefix(names[-1])}" if names else path.name


def page(places: set[tuple[str, str]]) -> str:
    """docs/misra.md; SystemExit for a rule without a reason."""
    rules = sorted({rule for rule, _ in places}, key=lambda rule: [int(part) for part in rule.split(".")])
    unknown = [f"{rule} in {', '.join(sorted(f for r, f in places if r == rule))}"
               for rule in rules if rule not in REASONS]
    if unknown:
        raise SystemExit("new deviations, without a reason in benchmarks/misra.py:\n" + "\n".join(unknown))
    rows = [f"| D{number} | {rule} | {', '.join(f'`{f}`' for r, f in sorted(places) if r == rule)} "
            f"| {REASONS[rule]} |" for number, rule in enumerate(rules, 1)]
    return HEAD + "\n".join(rows) + "\n"


def measured() -> str:
    """The page as it should read today."""
    with tempfile.TemporaryDirectory() as folder:
        return page(found(Path(folder), write_sources(Path(folder))))


def main() -> int:
    """Write, or with ``--check`` compare."""
    new = measured()
    if "--check" in sys.argv[1:]:
        stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new
        print("docs/misra.md is " + ("stale: python benchmarks/misra.py" if stale else "up to date"))
        return int(stale)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
