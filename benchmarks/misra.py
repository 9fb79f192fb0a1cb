"""List the deviations of generated C from MISRA C:2012 that cppcheck finds.

``python -m kerncast.benchmarks.misra`` writes docs/measured/misra.md. With ``--check``, it only reports
whether the page is up to date (exit code 1 if not). In :data:`REASONS`, every rule with a deviation must have
a reason, and every reason must have a deviation. Otherwise, the program fails, so that each new or removed
deviation is noticed.
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
PAGE = ROOT / "docs" / "measured" / "misra.md"
CASES = ROOT / "tests" / "host" / "cases.toml"
ALGORITHMS = {"toeplitz": "toeplitz_rls", "online": "kernel_lms", "cg": "kernel_cg",
              "rls": "online_kernel_rls"}
#: One configuration of the preprocessor: C99 without trace hooks, with the constant macros of <stdint.h>.
DEFINES = ("__STDC_VERSION__=199901L", "INT32_C(c)=((int32_t)c)", "INT64_C(c)=((int64_t)c##LL)",
           "UINT32_C(c)=((uint32_t)c##U)", "UINT64_C(c)=((uint64_t)c##ULL)")

#: Rule: why generated C deviates from it; true of every place where it does.
REASONS = {
    "2.2": "An operation with a constant of the plan that is 0 or 1 in this model, and another value in "
            "the next.",
    "2.3": "`KC_STATIC_ASSERT` is a type in C99. `<p>_solver_t` is for solvers in integers; the float "
            "solver does not use it.",
    "2.5": "`ABI`, `VERSION_STRING`, `KC_USABLE`, `TO_UNIT`, `TABLE_BYTES`, `SAVED_STATE_BYTES` and "
            "`KC_STATE_SLOT` are for the application. `KC_TABLE_APART` is for models with a lambda set at "
            "run time, and the size of the header of a saved state for models that store the ages of "
            "their vectors.",
    "5.5": "A level of intrinsics replaces a function by a macro with the name of the function.",
    "8.7": "The functions of the interface in `<p>.h`, which the application calls.",
    "8.9": "`offsets` and `gains`, with one entry per column: tables are at the top of their file.",
    "10.1": "Values are signed, and >> and << are applied only to values that are not negative. Negative "
            "values are inverted by ~ for >>, and multiplied by a power of two instead of <<. Shift "
            "counts are signed because plans subtract them, and are not negative when used.",
    "10.3": "cppcheck takes the type of the shift count, 64 bits here, as the type of the result. The "
            "result has the type of the shifted value, and so has the variable.",
    "10.4": "The index of the next table entry, unsigned, plus a 1 without suffix.",
    "10.6": "A product of 64 bits, with its bound stated in a comment, becomes a value of 32 bits.",
    "10.7": "cppcheck compares the shift count with the shifted value, one of 32 and one of 64 bits here, "
            "as if they were converted to one type.",
    "10.8": "Bits masked out of an unsigned value, below 2^63, become signed again.",
    "11.9": "Pointers are compared with 0, so that NULL needs no header.",
    "12.1": "The precedence of C applies where every reader is sure of it: products before sums, sums before "
            "comparisons, comparisons before logical operators, all before `?:`.",
    "12.3": "Local variables of one type may share a declaration.",
    "13.3": "A pointer that walks along a row is incremented where it is read or written.",
    "14.1": "The float solver scales by exact powers of two; an integer exponent bounds the loop.",
    "14.2": "A loop that walks a row from both ends stops when its two pointers meet; both move in its "
            "body.",
    "15.5": "A function returns at once if it rejects its arguments, finds no solution or has its answer.",
    "17.8": "A scalar parameter, passed by value, is used as a variable.",
    "18.4": "Pointers walk the rows, because instructions that load two values at a time need them.",
    "19.2": "A saved state stores the bits of a float32 as an integer; in C99 a union converts them.",
    "20.1": "Levels of intrinsics follow the portable C that they are compared with, and use it.",
    "20.7": "A pragma takes its number, and a type its name, without parentheses.",
    "20.10": "A pragma in a macro is made from text.",
}

HEAD = """# MISRA C:2012

`python -m kerncast.benchmarks.misra` writes this page. The MISRA addon of cppcheck checks the generated C and
its runtime against MISRA C:2012. The checked models come from `tests/host/cases.toml`, and together they
contain every line that the templates can generate. All deviations below are intentional, and the table gives
the reason for each.

`make test` checks the models with the most lines, and fails if a new deviation appears. `make campaign` fails
if a new deviation appears in any model, or if a listed deviation disappears. The rules are listed by number
only, because the MISRA Consortium owns their text. The addon performs static analysis only. This page does
not claim compliance. `<p>` is the prefix of a model.

Each model is checked separately, in the form used in a product: in C99, without trace hooks. Every name that
a model defines, including static names, starts with the prefix of the model.

| deviation | rule | where | reason |
|---|---|---|---|
"""


def plans() -> Iterable[Plan]:
    """Yield the plans of the test cases with which all back ends are tested."""
    for name, case in tomllib.loads(CASES.read_text(encoding="utf-8")).items():
        tables = {key: table for key, table in case.items() if isinstance(table, dict)}
        (algorithm,) = (ALGORITHMS[key] for key in ALGORITHMS if key in tables)
        yield make_plan(Spec(model={"name": name, "algorithm": algorithm}, **tables))


def lines(name: str, files: dict[str, str]) -> set[str]:
    """Return the distinct lines of C in a model.

    Names, numbers, tables and comments are removed before.
    """
    text = "\n".join(text for file, text in files.items() if re.fullmatch(r"[^/]*\.[ch]", file))
    text = re.sub(r"/\*.*?\*/|(?<== )\{[^{}]*\}|^#define .*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = text.replace(name, "p").replace(name.upper(), "P")
    return set(re.sub(r"0x\w+|\d+", "0", text).split("\n"))


def covering(models: dict[str, dict[str, str]]) -> list[str]:
    """Return models that together contain every line, selected greedily."""
    of = {name: lines(name, files) for name, files in models.items()}
    left = set().union(*of.values())
    names = []
    while left:
        names.append(max(of, key=lambda name: len(of[name] & left)))
        left -= of[names[-1]]
    return names


def found(name: str, files: dict[str, str]) -> set[tuple[str, str]]:
    """Return the rule and the file of each deviation; file names have no model prefix.

    Raises
    ------
    SystemExit
        If cppcheck is missing, or if it reports anything other than style.
    """
    command = [sys.executable, "-m", "cppcheck", "--addon=misra", "--std=c99", "--quiet", "-I.",
               "--enable=style,warning,performance,portability", *(f"-D{define}" for define in DEFINES),
               "--template={severity}|{id}|{file}|{line}|{message}",
               *(file for file in files if file.endswith(".c"))]
    with tempfile.TemporaryDirectory() as folder:
        for file, text in files.items():
            (Path(folder) / file).parent.mkdir(exist_ok=True)
            (Path(folder) / file).write_text(text, encoding="utf-8")
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    places, wrong = set(), []
    for line in done.stderr.splitlines():
        severity, rule, file, *_ = [*line.split("|"), "", ""]
        if rule.startswith("misra-c2012-"):
            own = "/" not in file and file.startswith(name)
            places.add((rule.removeprefix("misra-c2012-"), f"<p>{file.removeprefix(name)}" if own else file))
        elif severity != "style":
            wrong.append(line)
    if done.returncode or wrong:
        raise SystemExit("\n".join([f"cppcheck found in {name}:", *wrong, done.stdout]))
    return places


def page(places: set[tuple[str, str]]) -> str:
    """Return the page; raise SystemExit if reasons and deviations do not match."""
    rules = sorted({rule for rule, _ in places}, key=lambda rule: [int(part) for part in rule.split(".")])
    where = {rule: [f"`{file}`" for other, file in sorted(places) if other == rule] for rule in rules}
    unknown = [f"{rule} in {', '.join(where[rule])}" for rule in rules if rule not in REASONS]
    if unknown:
        raise SystemExit("deviations without a reason in benchmarks/misra.py:\n" + "\n".join(unknown))
    gone = [rule for rule in REASONS if rule not in where]
    if gone:
        raise SystemExit("benchmarks/misra.py has a reason for these rules, which have no deviation: "
                         + ", ".join(gone))
    rows = [f"| D{number} | {rule} | {', '.join(where[rule])} | {REASONS[rule]} |"
            for number, rule in enumerate(rules, 1)]
    return HEAD + "\n".join(rows) + "\n"


def models() -> dict[str, dict[str, str]]:
    """Return the generated files of the models that are checked, by name."""
    rendered = {plan.name: render_c(plan) for plan in plans()}
    return {name: rendered[name] for name in covering(rendered)}


def listed(text: str) -> set[tuple[str, str]]:
    """Return the rule and the file of every deviation on a page."""
    rows = re.findall(r"^\| D\d+ \| ([\d.]+) \| (.*?) \|", text, flags=re.MULTILINE)
    return {(rule, file.strip("`")) for rule, files in rows for file in files.split(", ")}


def measured() -> str:
    """Run cppcheck, and return the page."""
    return page(set().union(*(found(name, files) for name, files in models().items())))


def main() -> int:
    """Write the page, or with ``--check`` compare it with the existing one."""
    new = measured()
    if "--check" in sys.argv[1:]:
        stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new
        print("docs/measured/misra.md is "
              + ("stale: python -m kerncast.benchmarks.misra" if stale else "up to date"))
        return int(stale)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
