"""The ESP-IDF component: built against the documented functions; its target runs on an emulated RV32IMC."""

import re
import subprocess

import pytest

from kerncast.codegen.firmware import targets
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate
from kerncast.codegen.resources import OWN_FIRMWARE, read_text
from kerncast.hw.backends import open_backend
from kerncast.sim.replay.vectors import replay

from .test_packages import APT, HERE, WARNINGS, ran
from .test_realtime_programs import packaged

ESP_IDF = HERE / "esp_idf"


@pytest.mark.parametrize("name", ["tapped", "grid16"])
def test_the_program_builds_as_esp_idf_documents_it_and_learns(
        name, tmp_path, ledger, require_tool, monkeypatch):
    """In the stand-in for ESP-IDF, the timer is a signal: it interrupts the program at any instruction."""
    require_tool("cmake", f"{APT} cmake")
    monkeypatch.setenv("IDF_PATH", str(ESP_IDF))
    packaged(name, tmp_path / name, "esp-idf", "cmake")
    ran("cmake", "-S", tmp_path / name / "examples/esp_idf", "-B", "build", f"-DCMAKE_C_FLAGS={WARNINGS}",
        cwd=tmp_path)
    ran("cmake", "--build", "build", cwd=tmp_path)
    elf = tmp_path / f"build/{name}_realtime.elf"
    with subprocess.Popen([elf], stdout=subprocess.PIPE, text=True) as program:
        said = [program.stdout.readline() for _ in range(2)]
        program.kill()
    found = re.fullmatch(rf"{name}: (\d+) samples, (\d+) learned, \d+ lost, prediction (-?\d+)\n", said[1])
    assert found and int(found.group(1)) >= 200 and int(found.group(2)) >= 2 and int(found.group(3)) != 0
    ledger.record(backend="package:realtime:esp-idf", words=3, case=name)


def test_the_manifest_has_the_documented_keys(tmp_path, require_tool):
    require_tool("python:yaml", "python -m pip install pyyaml")
    import yaml

    packaged("tapped", tmp_path, "esp-idf")
    manifest = yaml.safe_load((tmp_path / "idf_component.yml").read_text())
    assert set(manifest) == {"version", "description", "license", "dependencies"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert manifest["dependencies"] == {"idf": ">=5.0"}


def test_the_target_esp32_c3_gives_the_values_of_the_model_in_qemu(
        cases, tmp_path, monkeypatch, ledger, require_tool):
    """QEMU's virt stands for the chip: its own peripherals are not emulated, its instructions are."""
    require_tool("riscv64-unknown-elf-gcc", f"{APT} gcc-riscv64-unknown-elf")
    require_tool("qemu-system-riscv32", f"{APT} qemu-system-misc")
    board = read_text("firmware/boards/riscv-virt.toml").replace('id = "riscv-virt"', 'id = "c3-virt"')
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "c3-virt.toml").write_text(board.replace('"rv32imac"', '"esp32-c3"'))
    monkeypatch.setenv(OWN_FIRMWARE, str(tmp_path))
    for load in (targets.load_target, targets.load_board):
        load.cache_clear()
    try:
        for name in ("grid16", "lms16"):
            backend = open_backend(cases(name).plan, "emu:c3-virt:qemu")
            try:
                found = replay(backend, cases(name).vectors)
            finally:
                backend.close()
            ledger.record(backend="emu:c3-virt:qemu", words=found.words, mismatches=found.mismatches,
                          case=name)
            assert found.words > 100 and found.mismatches == 0, found.first
    finally:
        for load in (targets.load_target, targets.load_board):
            load.cache_clear()


def test_the_library_for_an_esp32_c3_has_no_atomic_or_float_instruction(cases, tmp_path, require_tool):
    compiler = require_tool("riscv64-unknown-elf-gcc", f"{APT} gcc-riscv64-unknown-elf")
    plan = cases("lms16").plan
    generate(plan, tmp_path, "esp32-c3")
    ran(compiler, *load_target("esp32-c3").flags["gcc"], "-O2", "-std=c99", "-ffreestanding",
        *WARNINGS.split(), "-I.", "-c", *(path.name for path in tmp_path.glob("*.c")), cwd=tmp_path)
    objects = [path.name for path in tmp_path.glob("*.o")]
    said = ran("riscv64-unknown-elf-objdump", "-d", *objects, cwd=tmp_path)
    codes = set(re.findall(r"^\s+[0-9a-f]+:\t[0-9a-f ]+\t(\S+)", said, re.MULTILINE))
    assert {"mul", "ret"} <= codes
    assert not {code for code in codes if code.startswith(("amo", "lr.", "sc.", "f"))} - {"fence"}
