"""Packages: each is built by its own tool, and its program runs the vectors without Python.

Of Zephyr there is Kconfig, and a stand-in for its build; of PlatformIO the core, with a platform of ours.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kerncast.codegen.c.packages import PACKAGES
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate
from kerncast.codegen.resources import read_text

HERE = Path(__file__).parent
SEMIHOSTING = HERE.parent / "hil" / "fixtures" / "semihosting.c"
WARNINGS = "-Wall -Wextra -Wconversion -Wshadow -Werror"
STRICT = f"-std=c99 -O0 {WARNINGS}"
APT = "sudo apt-get install -y --no-install-recommends"


@pytest.fixture(scope="module")
def packaged(cases, tmp_path_factory) -> Callable[[str], Path]:
    """``packaged(case)``: the folder of a case as a package of every kind."""
    root = tmp_path_factory.mktemp("packages")

    def folder(name: str) -> Path:
        if not (root / name).exists():
            generate(cases(name).plan, root / name, vectors=cases(name).vectors, packages=tuple(PACKAGES))
        return root / name

    return folder


def run(*command: str | Path, cwd: Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False,
                          timeout=300, **options)


def ran(*command: str | Path, cwd: Path, **options) -> str:
    done = run(*command, cwd=cwd, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def words(name: str, said: str) -> int:
    """Words that a program says it compared, all equal."""
    found = re.search(rf"^{name}: (\d+) words, 0 mismatches", said, re.MULTILINE)
    assert found, said
    return int(found.group(1))


# ---- Make ----
@pytest.mark.parametrize(("name", "compiler"), [
    ("grid16", "gcc"), ("mean16_bias", "clang"), ("cg16", "clang"), ("lms16", "gcc"), ("fklms16_f32", "gcc"),
    pytest.param("lookahead24_f32", "clang", marks=pytest.mark.campaign)])
def test_make_check_compares_every_value_without_a_warning(packaged, require_tool, ledger, name, compiler):
    require_tool("make", f"{APT} make")
    require_tool(compiler, f"{APT} {compiler}")
    said = ran("make", "check", f"CC={compiler}", f"CFLAGS={STRICT}", cwd=packaged(name))
    ledger.record(backend=f"package:make:{compiler}", words=words(name, said), case=name)


def test_make_check_fails_and_names_the_first_mismatch(cases, require_tool, tmp_path):
    require_tool("make", f"{APT} make")
    generate(cases("grid16").plan, tmp_path, vectors=cases("grid16").vectors, packages=("make",))
    constants = tmp_path / "grid16_internal.h"
    text = constants.read_text()
    shift = re.search(r"#define GRID16_F_SHIFT (\d+)", text)
    constants.write_text(text.replace(shift.group(), f"#define GRID16_F_SHIFT {int(shift.group(1)) - 1}"))
    done = run("make", "check", cwd=tmp_path)
    assert done.returncode != 0
    first, last = [line for line in done.stdout.splitlines() if line.startswith("grid16: ")]
    assert re.match(r"grid16: first mismatch: call 2 predict, f\[\d+\] is -?\d+, expected -?\d+$", first)
    assert re.match(r"grid16: \d+ words, [1-9]\d* mismatches$", last)


# ---- CMake ----
APP = """
cmake_minimum_required(VERSION 3.16)
project(app C CXX)
set(before "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS} ${CMAKE_C_STANDARD} ${BUILD_SHARED_LIBS}")
enable_testing()
set(KERNCAST_GRID16_VECTORS ON)
set(KERNCAST_LMS16_VECTORS ON)
add_subdirectory("${PACKAGES}/grid16" grid16)
add_subdirectory("${PACKAGES}/lms16" lms16)
if(NOT before STREQUAL "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS} ${CMAKE_C_STANDARD} ${BUILD_SHARED_LIBS}")
    message(FATAL_ERROR "flags of the project were touched")
endif()
get_directory_property(options COMPILE_OPTIONS)
if(options)
    message(FATAL_ERROR "options of the folder were touched: ${options}")
endif()
add_executable(app main.cpp "${PACKAGES}/grid16/examples/vectors/grid16_vectors.c"
    "${PACKAGES}/lms16/examples/vectors/lms16_vectors.c")
target_link_libraries(app PRIVATE kerncast::grid16 kerncast::lms16)
add_test(NAME both COMMAND app)
"""
BOTH = """
#include "examples/vectors/grid16_vectors.h"
#include "examples/vectors/lms16_vectors.h"
static grid16_model_t a;
static grid16_trainer_t t;
static lms16_model_t b;
int main()
{
    grid16_vectors_t r;
    lms16_vectors_t s;
    return grid16_vectors_run(&t, &a, &r) != 0 || lms16_vectors_run(&b, &s) != 0;
}
"""
USER = """
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(lms16 0.1 REQUIRED)
get_target_property(plan kerncast::lms16 KERNCAST_PLAN)
message(STATUS "found ${lms16_VERSION} ${lms16_PLAN_HASH} ${plan}")
find_package(lms16 99.0 QUIET)
if(lms16_FOUND)
    message(FATAL_ERROR "a version that is none was found")
endif()
add_executable(user main.c)
target_link_libraries(user PRIVATE kerncast::lms16)
"""


def project(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_two_packages_live_in_one_cmake_tree_and_one_program(packaged, require_tool, ledger, tmp_path):
    require_tool("cmake", f"{APT} cmake")
    root = packaged("grid16").parent
    assert packaged("lms16").parent == root
    app = project(tmp_path / "app", CMakeLists__txt=APP, main__cpp=BOTH)
    ran("cmake", "-S", app, "-B", "build", f"-DPACKAGES={root}", f"-DCMAKE_C_FLAGS={WARNINGS}",
        f"-DCMAKE_CXX_FLAGS={WARNINGS}", cwd=tmp_path)
    ran("cmake", "--build", "build", "-j2", cwd=tmp_path)
    said = ran("ctest", "--test-dir", "build", "-V", cwd=tmp_path)
    assert "100% tests passed, 0 tests failed out of 3" in said
    for name in ("grid16", "lms16"):
        ledger.record(backend="package:cmake", words=words(name, re.sub(r"(?m)^\d+: ", "", said)), case=name)


def test_find_package_finds_what_was_installed_with_its_version_and_plan(
        packaged, cases, require_tool, tmp_path):
    require_tool("cmake", f"{APT} cmake")
    ran("cmake", "-S", packaged("lms16"), "-B", "build", "-DKERNCAST_LMS16_VECTORS=OFF", cwd=tmp_path)
    ran("cmake", "--build", "build", "-j2", cwd=tmp_path)
    ran("cmake", "--install", "build", "--prefix", "there", cwd=tmp_path)
    main = "#include <lms16.h>\nstatic lms16_model_t m;\nint main(void) { lms16_model_init(&m); return 0; }\n"
    user = project(tmp_path / "user", CMakeLists__txt=USER, main__c=main)
    said = ran("cmake", "-S", user, "-B", "other", f"-DCMAKE_PREFIX_PATH={tmp_path / 'there'}", cwd=tmp_path)
    version = json.loads((packaged("lms16") / "library.json").read_text())["version"]
    assert f"found {version} {cases('lms16').plan.hash} {cases('lms16').plan.hash}" in said
    ran("cmake", "--build", "other", cwd=tmp_path)
    ran(tmp_path / "other" / "user", cwd=tmp_path)


# ---- a chip ----
BARE = """
ENTRY(Reset_Handler)
kc_stack_top = 0x20100000;
SECTIONS {
    .text 0 : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
    .data 0x20000000 : { *(.data*) *(.bss*) *(COMMON) }
    /DISCARD/ : { *(.ARM.exidx*) *(.ARM.extab*) *(.comment) }
}
"""
MAIN = """
#include "{name}_vectors.h"
static {name}_model_t model;
int main(void);
int main(void)
{{
    {name}_vectors_t r;
    return {name}_vectors_run(&model, &r) == 0u && r.words == {words}u ? 0 : 1;
}}
"""


def test_the_library_that_make_cross_compiles_answers_alike_on_a_cortex_m4(
        packaged, require_tool, ledger, tmp_path):
    compiler = require_tool("arm-none-eabi-gcc", f"{APT} gcc-arm-none-eabi")
    require_tool("qemu-system-arm", f"{APT} qemu-system-arm")
    name, folder = "lms16", packaged("lms16")
    core = " ".join(load_target("cortex-m4").flags["gcc"])
    ran("make", "CC=arm-none-eabi-gcc", "AR=arm-none-eabi-ar", f"BUILD={tmp_path}",
        f"CFLAGS=-Os -ffreestanding {core} {STRICT.replace('-O0', '')}", cwd=folder)
    said = (folder / "README.md").read_text()
    total = int(re.search(r"compares (\d+) values", said).group(1))
    (tmp_path / "main.c").write_text(MAIN.format(name=name, words=total))
    (tmp_path / "bare.ld").write_text(BARE)
    (tmp_path / "kc_memory.c").write_text(read_text("firmware/support/kc_memory.c"))
    ran(compiler, *core.split(), "-Os", "-std=gnu99", "-ffreestanding", "-nostdlib", f"-I{folder}",
        f"-I{folder}/examples/vectors", "main.c", "kc_memory.c", SEMIHOSTING,
        folder / "examples/vectors/lms16_vectors.c", "liblms16.a", "-lgcc", "-T", "bare.ld",
        "-Wl,--no-warn-rwx-segments", "-o", "image.elf", cwd=tmp_path)
    ran("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
        "-semihosting-config", "enable=on,target=native", "-kernel", "image.elf", cwd=tmp_path)
    ledger.record(backend="package:make:qemu:cortex-m4", words=total, case=name)


# ---- Arduino ----
ARDUINO = "/usr/share/arduino"


def test_arduino_builds_the_sketch_and_an_uno_compares_every_value(
        cases, packaged, require_tool, ledger, tmp_path):
    builder = require_tool("arduino-builder", f"{APT} arduino-builder arduino-core-avr")
    require_tool("simavr", f"{APT} simavr")
    libraries, folders = tmp_path / "libraries", [tmp_path / name for name in ("build", "cache")]
    for folder in (libraries, *folders):
        folder.mkdir()
    for name in ("grid16", "lms16"):  # the core is for one of them; the other one lies beside it
        generate(cases(name).plan, libraries / name, "atmega328p", vectors=cases(name).vectors,
                 packages=("arduino",))
    # Debian's float.h leaves out of C++ what the core asks for.
    ran(builder, "-compile", "-hardware", "/usr/share/arduino-builder", "-hardware", f"{ARDUINO}/hardware",
        "-tools", "/usr/bin", "-fqbn", "arduino:avr:uno", "-libraries", libraries, "-build-path", folders[0],
        "-build-cache", folders[1], "-prefs", "compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__",
        libraries / "lms16/examples/vectors/vectors.ino", cwd=tmp_path)
    chip = subprocess.Popen(["stdbuf", "-oL", "simavr", "-m", "atmega328p", "-f", "16000000",
                             folders[0] / "vectors.ino.elf"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:  # a line in colours; the sketch itself runs for ever
        said = next(line for line in chip.stdout if "mismatches" in line or "crash" in line)
    finally:
        chip.kill()
        chip.communicate()
    total = words("lms16", re.sub(r"\x1b\[\d+m", "", said))
    ledger.record(backend="package:arduino:simavr:uno", words=total, case="lms16")


# ---- PlatformIO ----
PLATFORM = """
from platformio.public import PlatformBase


class NativePlatform(PlatformBase):
    pass
"""
BUILDER = """
from SCons.Script import Default, DefaultEnvironment

Default(DefaultEnvironment().BuildProgram())
"""
SCONS = """
import SCons.Script

SCons.Script.main()
"""
PROJECT = """
[platformio]
src_dir = {sources}
[env:native]
platform = native
build_src_filter = +<main.c> +<vectors/*.c>
build_flags = {warnings}
lib_deps =
    lms16=symlink://{root}/lms16
    grid16=symlink://{root}/grid16
"""


def installed(folder: Path, kind: str, name: str, version: str, **files: str) -> None:
    """A package of PlatformIO as its manager leaves it."""
    folder.mkdir(parents=True)
    spec = {"owner": "platformio", "id": None, "name": name, "requirements": None, "uri": None}
    about = {"type": kind, "name": name, "version": version, "spec": spec}
    (folder / ".piopm").write_text(json.dumps(about))
    manifest = {"name": name, "version": version, "title": name, "description": name, "packages": {}}
    (folder / ("platform.json" if kind == "platform" else "package.json")).write_text(json.dumps(manifest))
    for file, text in files.items():
        (folder / file.replace("__", ".")).write_text(text)


def test_platformio_finds_and_builds_two_libraries_and_the_program_runs(
        packaged, require_tool, ledger, tmp_path):
    """The native platform and SCons come from PlatformIO's registry elsewhere: here from SCons itself."""
    require_tool("python:platformio", "python -m pip install platformio scons")
    require_tool("python:SCons", "python -m pip install scons")
    from platformio.dependencies import get_core_dependencies

    core, root = tmp_path / "core", packaged("grid16").parent
    assert packaged("lms16").parent == root
    installed(core / "packages" / "tool-scons", "tool", "tool-scons",
              get_core_dependencies()["tool-scons"].lstrip("~^="), scons__py=SCONS)
    installed(core / "platforms" / "native", "platform", "native", "1.0.0", platform__py=PLATFORM)
    project(core / "platforms" / "native" / "builder", main__py=BUILDER)
    user = project(tmp_path / "user", platformio__ini=PROJECT.format(
        sources=root / "lms16/examples", root=root, warnings=WARNINGS))
    env = os.environ | {"PLATFORMIO_CORE_DIR": str(core), "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
                        "PLATFORMIO_SETTING_CHECK_PLATFORMIO_INTERVAL": "9999", "CI": "true"}
    said = ran(sys.executable, "-m", "platformio", "run", cwd=user, env=env)
    assert "lms16 @" in said and "grid16 @" in said
    said = ran(user / ".pio/build/native/program", cwd=user)
    ledger.record(backend="package:platformio", words=words("lms16", said), case="lms16")


@pytest.mark.parametrize("manifest", ["library.json", "library.properties"])
def test_platformio_takes_either_manifest(packaged, require_tool, monkeypatch, manifest):
    require_tool("python:platformio", "python -m pip install platformio")
    from platformio.package.manifest.parser import ManifestParserFactory
    from platformio.package.manifest.schema import ManifestSchema

    known = {"licenses": [{"licenseId": "Apache-2.0"}]}  # it would ask the net for a list of them
    monkeypatch.setattr(ManifestSchema, "load_spdx_licenses", staticmethod(lambda: known))
    read = ManifestParserFactory.new_from_file(str(packaged("lms16") / manifest)).as_dict()
    found = ManifestSchema().load_manifest(read)
    assert (found["name"], found["license"]) == ("lms16", "Apache-2.0")
    assert "homepage" not in found  # nobody knows the user's


# ---- Zephyr ----
def test_the_zephyr_module_names_existing_files_by_keys_of_the_schema(packaged, require_tool):
    require_tool("python:yaml", "python -m pip install pyyaml")
    import yaml

    folder = packaged("lms16")
    module = yaml.safe_load((folder / "zephyr" / "module.yml").read_text())
    assert set(module) <= {"name", "build", "samples"} and set(module["build"]) <= {"cmake", "kconfig"}
    assert (folder / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (folder / module["build"]["kconfig"]).is_file()
    (samples,) = module["samples"]
    sample = yaml.safe_load((folder / samples / "vectors" / "sample.yaml").read_text())
    (test,) = sample["tests"].values()
    assert re.match(r"lms16: \d+ words, 0 mismatches$", test["harness_config"]["regex"][0])


def test_kconfig_has_one_symbol_per_model_which_its_sample_sets(
        packaged, require_tool, tmp_path):
    require_tool("python:kconfiglib", "python -m pip install kconfiglib")
    from kconfiglib import Kconfig

    names = ("grid16", "lms16")
    files = [os.path.relpath(packaged(name) / "zephyr" / "Kconfig", tmp_path) for name in names]
    (tmp_path / "Kconfig").write_text("\n".join([
        "config MAIN_STACK_SIZE", '\tint "stack"', *(f'rsource "{file}"' for file in files), ""]))
    tree = Kconfig(str(tmp_path / "Kconfig"), warn_to_stderr=False)
    tree.load_config(str(packaged("lms16") / "zephyr/samples/vectors/prj.conf"))
    assert tree.warnings == []
    assert [tree.syms[f"KERNCAST_{name.upper()}"].str_value for name in names] == ["n", "y"]


def test_the_zephyr_sample_builds_against_the_documented_zephyr_functions(
        packaged, require_tool, ledger, tmp_path):
    require_tool("cmake", f"{APT} cmake")
    sample = packaged("lms16") / "zephyr" / "samples" / "vectors"
    ran("cmake", "-S", sample, "-B", "build", f"-DZephyr_DIR={HERE / 'zephyr'}",
        f"-DCMAKE_C_FLAGS={WARNINGS}", cwd=tmp_path)
    ran("cmake", "--build", "build", "-j2", cwd=tmp_path)
    said = ran(tmp_path / "build" / "zephyr.elf", cwd=tmp_path)
    ledger.record(backend="package:zephyr", words=words("lms16", said), case="lms16")
