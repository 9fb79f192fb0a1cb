"""Each level of intrinsics gives the words of the portable C, on the emulated core that has it."""

import re
import subprocess
from math import isqrt
from pathlib import Path

import numpy as np
import pytest

from kerncast.benchmarks.cortex_m import SCRIPT, CortexM
from kerncast.benchmarks.instructions import Learner, example
from kerncast.codegen.build.toolchains import choose_toolchain, compilers
from kerncast.codegen.firmware.targets import load_board, load_target
from kerncast.codegen.resources import resource

FIXTURE = Path(__file__).parent / "fixtures" / "simd.c"
ROOT = Path(__file__).resolve().parents[2]
COLUMNS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 31, 64, 66)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simd")
    (folder / "core.ld").write_text(SCRIPT)
    (folder / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    return folder


def build(folder, *flags):
    image = folder / f"simd{''.join(flags)}.elf"
    subprocess.run(["arm-none-eabi-gcc", *load_target("cortex-m4").flags["gcc"], *flags, "-std=c99", "-Wall",
                    "-Wextra", "-Wconversion", "-Werror", "-ffreestanding", "-nostdlib", "-I",
                    str(ROOT / "firmware"), str(FIXTURE), str(folder / "kc_memory.c"), "-T",
                    str(folder / "core.ld"), "-Wl,-e,main", "-lgcc", "-o", str(image)], check=True)
    return CortexM(image)


def words(random, columns, rows):
    """x words as a plan lets them be: the largest difference whose sum fits, at the rails or between them."""
    most = min((1 << 15) - 1, isqrt(((1 << 32) - 1) // columns))
    low = int(random.choice([-(1 << 15), -(most // 2) - 1, 0, (1 << 15) - 1 - most]))
    draw = random.integers(low, low + most, (rows + 1, columns), endpoint=True)
    rails = low + most * random.integers(0, 1, (rows + 1, columns), endpoint=True)
    kind = random.integers(0, 3)
    mixed = np.where(random.random(draw.shape) < 0.5, draw, rails)
    chosen = (draw, rails, mixed)[kind]
    if kind == 2:
        chosen[0] = low
    return chosen.astype(np.int16)


def test_the_instructions_that_a_target_file_lists_are_used_at_its_level():
    line = re.search(r'^intrinsics = "dsp" +# ARMv7E-M: (.*)$',
                     resource("firmware/targets/cortex-m4.toml").read_text(), re.M)
    assert line
    used = "".join(resource(f"firmware/rt/{name}").read_text()
                   for name in ("kc_simd_dsp.h", "kc_simd_dsp_8.h", "kc_rows_dsp.h", "kc_outputs_dsp.h"))
    assert [name for name in line[1].split(", ") if not re.search(rf'(__|"){name.lower()}\b', used)] == []


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer",
                                   "-O2 -ffixed-r9"])
def test_dsp_instructions_give_the_values_of_portable_c(folder, require_tool, ledger, level):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    core = build(folder, *level.split())
    assert core.text("kc_level") == "dsp"
    random, compared, wrong = np.random.default_rng(5), 0, 0
    for columns in COLUMNS:
        for _ in range(12):
            rows = int(random.integers(1, 14))
            chosen = words(random, columns, rows)
            core.write("u", chosen[0])
            core.write("v", chosen[1:])
            wrong += core.call("rows_differ", columns, rows)[0]
            compared += rows + 1
    for count in (1, 3, 4, 5, 31, 100):
        for word in (0, 1, 7, 127, 128, 255):
            core.write("bytes", random.choice(np.array([word, word ^ 1, 0, 255, 128, 3], np.uint8), count))
            wrong += core.call("bytes_differ", count, word)[0]
            compared += 3 * count
    core.write("bytes", random.permutation(np.arange(256, dtype=np.uint8)))
    for start, count in ((0, 256), (1, 64), (2, 7), (3, 3), (0, 1)):
        wrong += core.call("widened_differ", start, count)[0]
        compared += 8 * count
    for first in (-(1 << 30), -(1 << 15) - 500, (1 << 15) - 500, (1 << 30) - 2000):
        wrong += core.call("saturation_differs", first & 0xFFFFFFFF, 1, 1000)[0]
        compared += 1000
    wrong += core.call("all_outputs_differ")[0]
    compared += 32 * (sum(range(1, 13)) + 12)  # sums of 1 to 12 outputs, and a sum of squares each time
    compared += 200 * (sum(range(1, 13)) + 12)  # projections of 1 to 12 outputs, and a report each time
    assert wrong == 0
    ledger.record(backend=f"unicorn:cortex-m4:{level}", words=compared, mismatches=wrong, case="dsp")


@pytest.fixture(scope="module")
def digits(require_tool):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    task = example("digits", 16)
    learner = Learner(task, "learn", "-O2", "-DKC_PORTABLE=0")
    learner.update(task)  # compares every value with the model's
    learner.core.start_counting()
    return task, learner


def test_a_prediction_of_the_digits_takes_at_most_4500_instructions(digits, ledger):
    task, learner = digits
    assert learner.predict(task.x_test).mean() <= 4500
    ledger.record(backend="unicorn:cortex-m4:-O2", words=2 * len(task.x_test), mismatches=0, case="digits")


def test_bytes_beyond_the_format_count_as_its_largest_value(digits, ledger):
    _, learner = digits
    ends = np.random.default_rng(1).choice(np.array([0, 1, 30, 31, 32, 33, 254, 255]), (40, 64))
    ends = np.concatenate([ends, np.full((1, 64), 255), np.zeros((1, 64), np.int64)])
    model = learner.model.predict(np.minimum(ends, 31))
    for x, status, f in zip(ends, model["status"], model["f"], strict=True):
        learner.run("model_predict", x, int(status), int(f))  # exits where they differ
    ledger.record(backend="unicorn:cortex-m4:-O2", words=2 * len(ends), mismatches=0, case="digits")


def test_where_r9_is_the_base_of_data_the_instructions_leave_it(folder, require_tool):
    require_tool("clang", "sudo apt-get install -y clang")
    subprocess.run(["clang", *load_target("cortex-m4").flags["clang"], "-frwpi", "-O2", "-std=c99", "-Wall",
                    "-Wextra", "-Werror", "-ffreestanding", "-I", str(ROOT / "firmware"), "-c", str(FIXTURE),
                    "-o", str(folder / "rwpi.o")], check=True)


@pytest.mark.parametrize("macro", ["KC_PORTABLE=1", "__ICCARM__=1", "__CC_ARM=1"])
def test_a_macro_or_another_compiler_selects_the_portable_c(folder, require_tool, macro):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    assert build(folder, "-O2", f"-D{macro}").text("kc_level") == "portable"


BARE = """MEMORY {
  code (rx) : ORIGIN = 0x0, LENGTH = 512K
  ram (rwx) : ORIGIN = 0x20000000, LENGTH = 512K
}
SECTIONS {
  .text : { *(.vectors) *(.text*) *(.rodata*) *(.data*) } > code
  .ARM.exidx : { *(.ARM.ex*) } > code
  .bss : { *(.bss*) *(COMMON) } > ram
  kc_stack_top = ORIGIN(ram) + LENGTH(ram);
}
"""
#: Values that the program of the fixture compares by itself: rows and bytes of 1 to 70, saturated, widened.
SELF_COMPARED = (3 * (70 * (18 * 19 // 2 + 18) + 12) + 3 * (70 * 71 // 2) + 2 * 8047
                 + 8 * sum(n - n % 3 for n in range(1, 71)))


#: Level of intrinsics, its core, its board in QEMU (which faults where the core does), and the standard of C.
BOARDS = {"helium": ("cortex-m55", "mps3-an547", "gnu99"), "dsp": ("cortex-m4", "mps2-an386", "c99")}


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_each_level_gives_the_values_of_portable_c_wherever_rows_begin(
        folder, require_tool, ledger, level, name):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    require_tool("qemu-system-arm", "sudo apt-get install -y qemu-system-arm")
    target, machine, standard = BOARDS[name]
    image, script = folder / f"{name}{level}.elf", folder / "bare.ld"
    script.write_text(BARE)
    subprocess.run(["arm-none-eabi-gcc", *load_target(target).flags["gcc"], level, f"-std={standard}",
                    "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffreestanding", "-nostdlib", "-I",
                    str(ROOT / "firmware"), str(FIXTURE), str(FIXTURE.with_name("semihosting.c")),
                    str(folder / "kc_memory.c"), "-T", str(script), "-Wl,--no-warn-rwx-segments", "-lgcc",
                    "-o", str(image)], check=True)
    assert f"{name}\0".encode() in image.read_bytes()
    done = subprocess.run(["qemu-system-arm", "-M", machine, "-nographic", "-monitor", "none", "-serial",
                           "none", "-semihosting-config", "enable=on,target=native", "-kernel", str(image)],
                          check=False, timeout=120)
    assert done.returncode == 0  # unequal words; 100 and more are 100, a fault is 101
    ledger.record(backend=f"qemu:{target}:{level}", words=SELF_COMPARED, mismatches=done.returncode,
                  case=name)


#: Programs under Linux: board, compiler, optimisation; in `make test` one of each board.
LINUX = tuple(pytest.param(name, compiler, level,
                           marks=[] if (compiler, level) == few else pytest.mark.campaign)
              for name, few in (("hexagon-linux", ("zig", "-O2")), ("hexagon-linux-hvx", ("zig", "-O2")),
                                ("mips-linux", ("gcc", "-O2")))
              for compiler in compilers(load_target(load_board(name).target))
              for level in ("-O0", "-O2", "-O3", "-Os"))


@pytest.mark.parametrize(("name", "compiler", "optimise"), LINUX)
def test_the_level_of_a_dsp_gives_the_values_of_portable_c(
        folder, require_tool, ledger, name, compiler, optimise):
    board = load_board(name)
    target, emulator = load_target(board.target), board.emulators["qemu"]
    row = compilers(target)[compiler]
    require_tool(row.program, row.install)
    require_tool(emulator.program, emulator.install)
    toolchain = choose_toolchain(compiler, target)
    image = folder / f"{target.id}-{compiler}{optimise}.elf"
    flags = [optimise, *toolchain.flags, "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror",
             "-ffreestanding", "-I", str(ROOT / "firmware")]
    sources = [str(FIXTURE), str(FIXTURE.with_name("leave.c")), "kc_memory.c"]
    objects = [str(Path(name).stem) + ".o" for name in sources]
    for source, name in zip(sources, objects, strict=True):
        subprocess.run([*toolchain.compiler, *flags, "-c", source, "-o", name], cwd=folder, check=True)
    subprocess.run([*toolchain.linker, *toolchain.flags, "-nostdlib", "-static", "-Wl,-e,_start", *objects,
                    "-o", str(image)], cwd=folder, check=True)
    assert f"{target.intrinsics}\0".encode() in image.read_bytes()
    done = subprocess.run([emulator.program, *emulator.args[:2], str(image)], check=False, timeout=120)
    assert done.returncode == 0  # unequal words; 100 and more are 100
    ledger.record(backend=f"qemu:{target.id}:{compiler}:{optimise}", words=SELF_COMPARED,
                  mismatches=done.returncode, case=target.intrinsics)


@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_sums_over_a_band_are_those_of_their_definitions(folder, require_tool, ledger, level):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    image = folder / f"band{level}.elf"
    subprocess.run(["arm-none-eabi-gcc", *load_target("cortex-m4").flags["gcc"], level, "-std=c99", "-Wall",
                    "-Wextra", "-Wconversion", "-Werror", "-ffreestanding", "-nostdlib", "-I",
                    str(ROOT / "firmware"), str(FIXTURE.with_name("band.c")),
                    str(folder / "kc_memory.c"), "-T", str(folder / "core.ld"), "-Wl,-e,main", "-lgcc", "-o",
                    str(image)], check=True)
    core = CortexM(image)
    wrong = core.call("band_differs", 1500)[0]
    assert wrong == 0 and core.read("kc_compared", np.int32, 1)[0] == 13_500
    ledger.record(backend=f"unicorn:cortex-m4:{level}", words=13_500, mismatches=wrong, case="band")


def test_sums_over_a_band_on_the_host_are_those_of_their_definitions(folder, require_tool, ledger):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    image = folder / "band"
    subprocess.run(["gcc", "-O2", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror",
                    "-fsanitize=undefined", "-fno-sanitize-recover", "-I", str(ROOT / "firmware"),
                    str(FIXTURE.with_name("band.c")),
                    "-o", str(image)], check=True)
    assert subprocess.run([image], check=False).returncode == 0
    ledger.record(backend="host:gcc:-O2", words=160_000, mismatches=0, case="band")
