"""Simulate a system on a chip that trains its RTL cores through the C driver, and compare every value.

    python examples/soc/run.py                        with Verilator, in build/soc
    python examples/soc/run.py --icarus -o FOLDER     with Icarus Verilog, in a folder

A RISC-V processor, PicoRV32, runs two programs: firmware/train.c trains on a grid and predicts;
firmware/learn.c learns samples, saves its state and restores it. Both sleep until the interrupt of a core.
The values that they print are compared with the integer model.

You need the extra rtl, riscv64-unknown-elf-gcc, and pythondata-cpu-picorv32 of PyPI (PicoRV32, ISC licence).
"""

import argparse
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pythondata_cpu_picorv32

import kerncast
from kerncast.codegen.rtl import LEARNER, PREDICTOR, TRAINER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.frames import model_frame, sample_frame, state_frames, target_frame
from kerncast.hw.rtl.simulators import find_simulator, simulator_environment
from kerncast.sim.model.kernel import convert_y, input_constants
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.primitives import saturate

HERE = Path(__file__).resolve().parent
CPU = Path(pythondata_cpu_picorv32.data_location) / "picorv32.v"
CC = ["riscv64-unknown-elf-gcc", "-march=rv32ic", "-mabi=ilp32", "-std=c99", "-Os", "-ffreestanding",
      "-nostdlib", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
WAIVED = ["-Wno-UNUSEDSIGNAL", "-Wno-PINCONNECTEMPTY"]
COUNTED = ("interrupts", "clocks", "exit")
RAM_WORDS = 16384
LEARNED = 10


def execute(command, folder):
    """Run a command in a folder and return its output; exit with the output if the command fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def c_array(name, rows):
    """Return rows of beats as a constant array of C."""
    lines = ", ".join("{" + ", ".join(f"{beat}u" for beat in row) + "}" for row in rows)
    return f"static const uint32_t {name}[{len(rows)}][{len(rows[0])}] = {{{lines}}};\n"


def header(text, **numbers):
    """Return the text of inputs.h."""
    defines = "".join(f"#define {name} {number}u\n" for name, number in numbers.items())
    return f"#include <stdint.h>\n{defines}{text}"


def train(plan):
    """Return the inputs of train.c, and the values that the integer model expects."""
    targets = np.round(2048 + 1900 * np.sin(np.arange(plan.sizes["n"]) * np.pi / 4)).astype(np.int64)
    x, model = np.arange(2, 24, 2)[:, None], kerncast.open_backend(plan, "model")
    status = model.train(None, targets)["status"]
    beats, answers = model_frame(plan, model.state()), model.predict(x)
    wanted = [("model", beat) for beat in beats] + [("status", int(status[0]))]
    for f, status in zip(answers["f"], answers["status"], strict=True):
        wanted += [("f", int(f)), ("status", int(status))]
    text = f"static const uint32_t targets[] = {{{', '.join(map(str, target_frame(plan, targets)))}}};\n"
    text += c_array("samples", [sample_frame(plan, row) for row in x])
    return header(text, TARGETS=len(targets), MODEL_BEATS=len(beats), SAMPLES=len(x), SAMPLE_BEATS=1), wanted


def learn(plan):
    """Return the inputs of learn.c, and the values that the integer model expects."""
    chance, model = np.random.default_rng(1), kerncast.open_backend(plan, "model")
    x = chance.integers(-900, 900, (LEARNED + 6, plan.sizes["D"]))
    y = np.round(x[:, 0] - 0.5 * x[:, 1] + 0.001 * x[:, 0] * x[:, 1]).astype(np.int64)
    learned, wanted = model.update(x[:LEARNED], y[:LEARNED]), []
    constants, log = input_constants(plan), Ranges(plan).log
    for f, target, status in zip(learned["f"], y, learned["status"], strict=False):
        error = saturate(int(convert_y(int(target), constants, log)) - int(f), -1 << 15, (1 << 15) - 1)
        wanted += [("learned", int(f)), ("learned", error), ("status", int(status))]
    model_beats, slots = state_frames(plan, model.state())
    wanted += [("model", beat) for beat in model_beats] + [("slots", beat) for beat in slots]
    wanted += [("f", 0), ("status", -2)]        # after the reset: not trained
    answers = model.predict(x[LEARNED:])
    for f, status in zip(answers["f"], answers["status"], strict=True):
        wanted += [("f", int(f)), ("status", int(status))]
    text = c_array("samples", [sample_frame(plan, *pair) for pair in zip(x, y, strict=True)])
    return header(text, SAMPLES=len(x), LEARNED=LEARNED, SAMPLE_BEATS=plan.sizes["D"] + 1,
                  STATE_BEATS=max(len(model_beats), len(slots))), wanted


def compile_firmware(program, inputs, folder, generated):
    """Compile a program with the generated driver; write the image of the RAM to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "inputs.h").write_text(inputs)
    firmware, driver = HERE / "firmware", generated[0] / "kc_core.c"
    execute([*CC, "-I", ".", "-I", firmware, *(word for place in generated for word in ("-I", place)),
             "-T", firmware / "soc.ld", firmware / "start.S", firmware / "platform.c", driver,
             firmware / f"{program}.c", "-o", "firmware.elf"], folder)
    execute(["riscv64-unknown-elf-objcopy", "-O", "binary", "firmware.elf", "firmware.bin"], folder)
    image = np.zeros(RAM_WORDS, "<u4")
    binary = (folder / "firmware.bin").read_bytes()
    image.view(np.uint8)[:len(binary)] = np.frombuffer(binary, np.uint8)
    (folder / "firmware.mem").write_text("".join(f"{word:08x}\n" for word in image))


def build(sources, simulator, folder):
    """Build the system in a simulator; return the command that runs it."""
    if simulator == "icarus":
        execute(["iverilog", "-g2012", "-s", "soc_tb", "-o", "soc_tb", *sources], folder)
        return ["vvp", "-n", folder / "soc_tb"]
    waivers = folder / "picorv32.vlt"       # warnings of the processor alone
    waivers.write_text('`verilator_config\nlint_off -file "*/picorv32.v"\n')
    execute(["verilator", "--binary", "--timing", "-Wall", *WAIVED, "--output-split", "0", "-CFLAGS",
             "-std=c++20 -O0", "-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", "--top-module",
             "soc_tb", "-Mdir", "obj", waivers, *sources], folder)
    return [folder / "obj" / "Vsoc_tb"]


def masked(tag, word):
    """Return a word in its bits: a status has three, every other value 16."""
    return word & (7 if tag == "status" else 0xFFFF)


def printed(text):
    """Return the tags and values that a program printed, and what the testbench counted."""
    rows = [line.split() for line in text.splitlines() if len(line.split()) == 2]
    words = [(tag, int(word, 16)) for tag, word in rows if tag not in COUNTED]
    return words, {tag: int(number) for tag, number in rows if tag in COUNTED}


def compared(wanted, words):
    """Return the number of printed values that are not the expected ones."""
    pairs = itertools.zip_longest(wanted, words, fillvalue=("missing", 0))
    return sum((a, masked(a, value)) != (b, masked(b, word)) for (a, value), (b, word) in pairs)


def main():
    """Generate, compile, simulate and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="folder", type=Path, default=Path("build/soc"))
    parser.add_argument("--icarus", action="store_true", help="simulate with Icarus Verilog")
    options = parser.parse_args()
    folder, simulator = options.folder.resolve(), "icarus" if options.icarus else "verilator"
    grid = kerncast.plan(kerncast.Spec.load(HERE.parent / "rtl" / "grid.toml"))
    online = kerncast.plan(kerncast.Spec.load(HERE / "online.toml"))
    files = [CPU]
    for plan, cores in ((grid, (TRAINER, PREDICTOR)), (online, (LEARNER,))):
        generate_rtl(plan, folder / plan.name)
        for core in cores:
            files += rtl_sources(folder / plan.name, plan, core)
            files.append(folder / plan.name / "rtl" / f"{plan.name}_{core.name}_wrap.v")
    files += [HERE / name for name in ("stream_fifo.sv", "stream_bridge.sv", "soc.sv", "soc_tb.sv")]
    sources = list({path.name: path for path in files}.values())       # kc_*.sv are the same in both folders
    generated, failed = [folder / plan.name / "rtl" for plan in (grid, online)], False
    with simulator_environment(find_simulator(simulator)):
        command = build(sources, simulator, folder)
        for program, (inputs, wanted) in (("train", train(grid)), ("learn", learn(online))):
            compile_firmware(program, inputs, folder / program, generated)
            words, numbers = printed(execute(command, folder / program))
            mismatches = compared(wanted, words)
            failed |= mismatches > 0 or numbers["exit"] != 0
            counted = ", ".join(f"{numbers[name]} {name}" for name in ("interrupts", "clocks"))
            print(f"{program}: {len(wanted)} values compared, {mismatches} mismatches, {counted}, "
                  f"exit code {numbers['exit']}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
