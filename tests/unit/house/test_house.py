"""The house rules that a reader relies on, read from the sources themselves."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import kerncast
from kerncast.sim.catalogue import CATALOGUE

ROOT = Path(kerncast.__file__).resolve().parent

# A room imports from itself and from the rooms to its left.
ROOMS = ["sim", "codegen", "hw", "lab", "cli"]
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))

# Inside sim a folder imports from itself and from the layers above it in this list. Modules at the top of sim
# are the vocabulary, the first layer.
LAYERS = [
    {"vocabulary"}, {"catalogue"}, {"spec"}, {"data"}, {"replay"}, {"model", "fxp_model", "reference"},
    {"planner"}, {"diagnostics"}, {"interop"}, {"estimators"},
]
DOORS = [ROOT / "__init__.py", ROOT / "__main__.py"]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TEMPLATES = sorted(path for path in (ROOT / "templates").rglob("*") if path.suffix in {".j2", ".js", ".css"})
SHIPPED_C = sorted(path for path in (ROOT / "firmware").rglob("*") if path.suffix in {".c", ".h", ".ld"})
RTL = sorted(path for path in (ROOT / "hw").rglob("*") if path.suffix in {".sv", ".hpp"})


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=name(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree(path)))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of all that a module imports, wherever in it, relative names made absolute."""
    package = ["kerncast", *path.relative_to(ROOT).parent.parts]
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *((node.module or "").split(".") if node.module else [])]
            yield from ((node.lineno, ".".join([*base, alias.name])) for alias in node.names)


def dotted(path: Path) -> str:
    """The name that a module is imported by."""
    return ".".join(["kerncast", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")


def import_graph() -> dict[str, dict[str, int]]:
    """Module -> the modules it imports, lazily and for types included -> line; without the front door."""
    known = {dotted(path): path for path in [*SOURCES, *BENCHMARKS]}
    graph: dict[str, dict[str, int]] = {}
    for module, path in known.items():
        for line, target in imported(path):
            found = target if target in known else target.rpartition(".")[0]
            if found in known and found != module:
                graph.setdefault(module, {})[found] = line
    return graph


GRAPH = import_graph()


def test_there_is_something_to_check():
    assert len(SOURCES) > len(ROOMS)
    assert TESTS
    assert TEMPLATES
    assert SHIPPED_C


# ---- rooms ----
@pytest.mark.parametrize("room", ROOMS)
def test_imports_run_one_way(room):
    allowed = {*ROOMS[: ROOMS.index(room) + 1], "__version__"}
    wrong = [
        f"{name(path)}:{line} imports {target}"
        for path in SOURCES
        if path.relative_to(ROOT).parts[0] == room
        for line, target in imported(path)
        if target.split(".")[0] == "kerncast" and [*target.split("."), ""][1] not in allowed
    ]
    assert not wrong


def test_imports_between_rooms_are_relative():
    wrong = [
        f"{name(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes(path)
        if (isinstance(node, ast.ImportFrom) and not node.level and node.module.startswith("kerncast"))
        or (isinstance(node, ast.Import) and any(a.name.startswith("kerncast") for a in node.names))
    ]
    assert not wrong


def shelf(module: str) -> str:
    """The folder of sim that a module belongs to; modules at its top are the vocabulary."""
    top = module.split(".")[2]
    return top if (ROOT / "sim" / top).is_dir() else "vocabulary"


def test_every_folder_of_sim_has_its_layer():
    folders = {path.parent.name for path in (ROOT / "sim").glob("*/__init__.py")}
    assert folders == set().union(*LAYERS) - {"vocabulary"}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: "+".join(sorted(layer)))
def test_layers_of_sim_import_upwards_only(layer):
    above = set().union(*LAYERS[: LAYERS.index(layer)])
    wrong = [
        f"{module}:{line} imports {target}"
        for module, targets in GRAPH.items()
        if module.startswith("kerncast.sim.") and shelf(module) in layer
        for target, line in targets.items()
        if target.startswith("kerncast.sim.") and shelf(target) not in {*above, shelf(module)}
    ]
    assert not wrong


def reachable(start: str) -> set[str]:
    """Every module that `start` imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for target in GRAPH.get(waiting.pop(), {}):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def test_no_module_imports_itself_through_others():
    """Lazy imports and those for type checkers count; the front door, which names all, does not."""
    assert [module for module in GRAPH if module in reachable(module)] == []


def test_every_module_states_its_purpose_in_its_first_line():
    assert not [name(path) for path in [*SOURCES, *DOORS] if not ast.get_docstring(tree(path))]


def test_every_folder_of_python_is_a_package():
    assert not [name(path) for path in SOURCES if not (path.parent / "__init__.py").is_file()]


# ---- the front door ----
@pytest.mark.parametrize("module", ["kerncast", "kerncast.cli.main"])
def test_import_alone_loads_no_optional_or_heavy_package(module):
    heavy = {"numba", "sklearn", "scipy", "matplotlib", "unicorn", "numpy", "pydantic", "jinja2"}
    code = f"import sys, {module}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_import_alone_loads_little_so_that_ctrl_c_soon_has_a_handler():
    code = ("import sys; before = set(sys.modules); import kerncast;"
            "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))")
    run = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["importlib", "kerncast", "warnings"]


@pytest.mark.parametrize("public", sorted(set(kerncast.__all__)))
def test_public_name_can_be_loaded(public):
    value = getattr(kerncast, public)
    assert public in dir(kerncast)
    assert isinstance(value, str) or callable(value)


def test_type_checkers_find_the_public_names():
    told = {}
    for node in ast.walk(tree(ROOT / "__init__.py")):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                told |= {alias.asname or alias.name: (f".{line.module}", alias.name) for alias in line.names}
    assert told == {key: (module, key) for key, module in kerncast._WHERE.items()}
    assert sorted([*told, "__version__"]) == sorted(kerncast.__all__)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Toeplits'"):
        _ = kerncast.Toeplits


# ---- sizes ----
def test_modules_stay_under_400_lines():
    assert not [f"{name(path)}: {lines(path)}" for path in [*SOURCES, *DOORS, *TESTS] if lines(path) >= 400]


def test_functions_stay_under_50_lines():
    long = [
        f"{name(path)}:{node.lineno} {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno >= 49
    ]
    assert not long


def test_templates_stay_under_200_lines():
    assert not [f"{name(path)}: {lines(path)}" for path in TEMPLATES if lines(path) >= 200]


# ---- the same bytes on every machine ----
def test_templates_and_shipped_sources_ask_for_no_time_and_no_place():
    asks = re.compile(r"__(DATE|TIME|TIMESTAMP|FILE)__|\b(now|today|strftime|getcwd|timestamp)\(")
    wrong = [
        f"{name(path)}: {found.group()}"
        for path in [*TEMPLATES, *SHIPPED_C, *RTL]
        if (found := asks.search(path.read_text(encoding="utf-8")))
    ]
    assert not wrong


def test_generation_never_reads_the_clock():
    wrong = [
        f"{name(path)}:{line} imports {target}"
        for path in SOURCES
        if path.relative_to(ROOT).parts[0] in ("sim", "codegen")
        for line, target in imported(path)
        if target.split(".")[0] in ("time", "datetime")
    ]
    assert not wrong


def test_no_file_names_a_place_of_one_machine():
    # Put together here, so that this file does not find itself.
    homes = "|".join(["home", "root", "Users", "work", "opt/" + "pypi", "opt/" + "wheels"])
    place = re.compile(rf"(?<![\w.$}}])/({homes})/\w|extra-index-" + r"url|find-" + r"links")
    suffixes = {".py", ".j2", ".c", ".h", ".hpp", ".ld", ".sv", ".toml", ".md", ".ini", ".lock", ".sh",
                ".json"}
    found = []
    for top in sorted(ROOT.iterdir()):
        if top.name in (".git", ".venv", ".ruff_cache", "build"):
            continue
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and (path.suffix in suffixes or top.name in ("Makefile", ".ci")):
                text = path.read_text(encoding="utf-8")
                found += [f"{name(path)}: {hit.group()}" for hit in place.finditer(text)]
    assert not found


# ---- errors ----
def strings(path: Path) -> Iterator[str]:
    """Every string of a module, docstrings included; a comment such as `noqa: E501` is none."""
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_error_code_in_use_is_explained():
    unknown = [
        f"{name(path)}: {code}"
        for path in SOURCES
        for text in strings(path)
        for code in re.findall(r"\b[EW]\d{3}\b", text)
        if code not in CATALOGUE
    ]
    assert not unknown


def test_every_explained_error_code_is_in_use():
    # In use: it stands alone as a string, as in `fail("E101", ...)` or in a table of codes.
    used = {text for path in SOURCES if path.parent.name != "catalogue" for text in strings(path)}
    assert sorted(set(CATALOGUE) - used) == []
