"""What a reviewer of generated C looks for: all warnings, no library, no recursion, no data of its own."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ["grid16", "mean32_varied", "biased16_varied", "lms16_ties", "lms32_ties_decay"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-qual",
            "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wundef", "-Wvla", "-Wswitch-enum", "-Werror"]
#: What the language lets a compiler call on its own account.
OWN_CALLS = {"memcpy", "memset", "memmove", "memcmp"}
REMEDY = {"gcc": "sudo apt-get install -y gcc libc6-dev", "clang": "sudo apt-get install -y clang",
          "g++": "sudo apt-get install -y g++", "nm": "sudo apt-get install -y binutils"}


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, " ".join(command) + "\n" + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def sources(cases, tmp_path):
    """``sources(name)``: a copy of the generated folder, and its C files."""
    def copied(name: str) -> tuple[Path, list[str]]:
        folder = Path(shutil.copytree(cases(name).folder, tmp_path / name))
        return folder, sorted(path.name for path in folder.glob("*.c"))
    return copied


@pytest.mark.covering
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", NAMES)
def test_sources_compile_without_a_warning_as_c99_c11_and_c17(sources, require_tool, name, compiler):
    require_tool(compiler, REMEDY[compiler])
    folder, files = sources(name)
    for standard in ("c99", "c11", "c17"):
        run([compiler, f"-std={standard}", *WARNINGS, "-O1", "-fsyntax-only", "-I.", *files], folder)


@pytest.mark.parametrize("name", NAMES)
def test_header_stands_alone_and_includes_twice_in_c_and_cplusplus(sources, require_tool, name):
    folder, _ = sources(name)
    text = (f'#include "{name}.h"\n#include "{name}.h"\nint use({name}_model_t *m);\n'
            f"int use({name}_model_t *m) {{ {name}_model_init(m); return KC_OK; }}\n")
    for compiler, standard, file in (("gcc", "c99", "use.c"), ("g++", "c++11", "use.cpp"),
                                     ("g++", "c++17", "use.cpp")):
        require_tool(compiler, REMEDY[compiler])
        (folder / file).write_text(text)
        run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
             "-fsyntax-only", file], folder)


@pytest.mark.covering
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("name", NAMES)
def test_objects_ask_for_no_library_and_keep_no_data_of_their_own(sources, require_tool, name, level):
    require_tool("gcc", REMEDY["gcc"])
    require_tool("nm", REMEDY["nm"])
    folder, files = sources(name)
    run(["gcc", "-std=c99", level, "-ffreestanding", "-fno-pic", "-c", "-I.", *files], folder)
    symbols = run(["nm", *(f"{Path(f).stem}.o" for f in files)], folder)
    found = [(line.split()[-2], line.split()[-1]) for line in symbols.splitlines() if len(line.split()) > 1]
    defined = {symbol for kind, symbol in found if kind != "U"}
    asked = {symbol for kind, symbol in found if kind == "U"} - defined - OWN_CALLS
    assert asked == set()
    assert {kind for kind, _ in found if kind.upper() in "BDCSG"} == set()
    public = {symbol for kind, symbol in found if kind.isupper() and kind != "U"}
    assert {symbol for symbol in public if not symbol.startswith(f"{name}_")} == set()


@pytest.mark.parametrize("name", NAMES)
def test_no_function_calls_itself_even_through_others(sources, require_tool, name):
    require_tool("gcc", REMEDY["gcc"])
    folder, files = sources(name)
    run(["gcc", "-std=c99", "-O0", "-fcallgraph-info", "-c", "-I.", *files], folder)
    calls: dict[str, set[str]] = {}
    for file in folder.glob("*.ci"):
        for caller, callee in re.findall(r'sourcename: "([^"]+)" targetname: "([^"]+)"', file.read_text()):
            calls.setdefault(caller, set()).add(callee)
    assert len(calls) > 5
    # Saved states alone go through functions of the application, which know nothing of the model.
    through = {caller.split(":")[-1] for caller, callees in calls.items() if "__indirect_call" in callees}
    assert all(function.startswith("kc_state_") for function in through)
    while calls:  # take away what calls nothing that is left; a cycle would stay
        leaves = [f for f, callees in calls.items() if not callees & calls.keys()]
        assert leaves, f"recursion among {sorted(calls)}"
        for leaf in leaves:
            del calls[leaf]


@pytest.mark.parametrize("name", NAMES)
def test_the_stack_of_every_function_is_bounded(sources, require_tool, name):
    require_tool("gcc", REMEDY["gcc"])
    folder, files = sources(name)
    run(["gcc", "-std=c99", "-O0", "-fstack-usage", "-c", "-I.", *files], folder)
    used = [line.split("\t") for file in folder.glob("*.su") for line in file.read_text().splitlines()]
    assert len(used) > 5
    # Arguments that a call finds no register for are pushed: dynamic for gcc, but of a size it knows.
    assert {kind for *_, kind in used} <= {"static", "dynamic,bounded"}


#: Words of C++ and of compilers for microcontrollers and DSPs, which sources in C must not use as names.
FOREIGN_WORDS = """
    asm bool catch class delete explicit export false friend mutable namespace new operator private protected
    public template this throw true try typeid typename using virtual wchar_t
    near far huge bit sbit sfr data idata xdata pdata code bdata interrupt cregister restrict __near __far
    reentrant pascal cdecl fract accum sat vector pixel shared volatile_t min max abs
"""


@pytest.mark.parametrize("name", NAMES)
def test_no_name_is_a_keyword_of_another_compiler(sources, name):
    folder, _ = sources(name)
    for path in [*folder.glob("*.[ch]"), *folder.glob("rt/*.h")]:
        code = re.sub(r"/\*.*?\*/|\"[^\"\n]*\"|#include[^\n]*", " ", path.read_text(), flags=re.DOTALL)
        # Levels of instructions are for gcc and clang; `bit` is one compiler's, for a CPU core of 8 bits.
        known = {"bit"} if path.name == "kc_arith.h" else {"restrict"} if "kc_simd_" in path.name else set()
        assert set(re.findall(r"\b[A-Za-z_]\w*", code)) & set(FOREIGN_WORDS.split()) <= known, path.name


@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_a_structure_of_another_size_does_not_compile(sources, require_tool, standard):
    require_tool("gcc", REMEDY["gcc"])
    folder, _ = sources("grid16")
    header = folder / "grid16.h"
    text = header.read_text()
    assert "uint16_t trained;" in text
    header.write_text(text.replace("uint16_t trained;", "uint32_t trained;"))
    done = subprocess.run(["gcc", f"-std={standard}", "-fsyntax-only", "-I.", "grid16_model.c"], cwd=folder,
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "grid16_size_of_model" in done.stderr or "size of the model" in done.stderr


def test_a_runtime_of_another_version_does_not_compile(sources, require_tool):
    require_tool("gcc", REMEDY["gcc"])
    folder, _ = sources("grid16")
    runtime = folder / "rt" / "kc_config.h"
    text = runtime.read_text()
    runtime.write_text(re.sub(r"(#define KC_ABI) \d+", r"\1 999", text))
    assert runtime.read_text() != text
    done = subprocess.run(["gcc", "-fsyntax-only", "-I.", "grid16_model.c"], cwd=folder, capture_output=True,
                          text=True, check=False)
    assert done.returncode != 0
    assert "generate the folder again" in done.stderr
