"""Programs of packages that sample in an interrupt, predict, and learn in the background: real values."""

import re
import subprocess

import numpy as np
import pytest

from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate
from kerncast.codegen.resources import read_text
from kerncast.sim.data.windows import latest_first, tapped
from kerncast.sim.model import open_model
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.statuses import DeviceStatus

from . import test_class_learner as learners
from . import test_class_trainer as trainers
from . import test_classes as predictors
from . import test_delay_channels as channels
from . import test_delay_line as lines
from .conftest import calls, draw
from .test_one_program import plan_of
from .test_packages import APT, ARDUINO, BARE, HERE, SEMIHOSTING, WARNINGS, ran

SAMPLES = 200


def case(name):
    """A plan, its samples (inputs and targets), and vectors for the package."""
    if name == "tapped":
        plan = lines.learner("nt", 7)
        x = lines.SIGNAL[:SAMPLES, None]
        windows = latest_first(lines.SIGNAL, 7)[:20]
        return plan, x, x[:, :0], make_vectors(open_model(plan), [("predict", windows, None)])
    if name in channels.LINES:
        plan = channels.learner(name)
        x, y = channels.readings_of(plan, SAMPLES), np.arange(SAMPLES)[:, None] * 10 - 900
        windows = tapped(x, plan.delay, plan.decimate)
        return plan, x, y, make_vectors(open_model(plan), [("predict", windows, None)])
    if name in predictors.CASES:
        vectors = predictors.vectors_of(name)
        return predictors.plan_of(name), vectors.calls[0].x_raw, np.zeros((40, 0), int), vectors
    if name in learners.CASES:
        plan, (x, y) = learners.plan_of(name), learners.samples_of(name)
        return plan, x, y.reshape(len(x), -1), make_vectors(open_model(plan), [("update", x[:9], y[:9])])
    if name.startswith("trained "):
        name = name.removeprefix("trained ")
        plan, (x, y) = trainers.plan_of(name), trainers.samples_of(name)
        vectors = make_vectors(open_model(plan), [("train", x, y), ("predict", x[:9], None)])
        many = np.concatenate([y, y[::-1], y[:9]]).reshape(-1, plan.targets)
        return plan, np.concatenate([x, x[::-1], x[:9]]), many, vectors
    plan, rng = plan_of(name), np.random.default_rng(3)
    n = 3 * plan.sizes["n"] + 9 if plan.trains else SAMPLES
    x = draw("walk", rng, plan.signals["x_raw"].format, (n, 0 if plan.uniform else plan.sizes["D"]))
    y = draw("walk", rng, plan.signals["y_raw"].format, (n, plan.targets))
    return plan, x, y, make_vectors(open_model(plan), calls(plan, "walk")[:2])


def blocks(plan, model, x, y, every=1):
    """A batch trainer: each block, or every second one, is learned before the next begins."""
    n, found, grid = plan.sizes["n"], [], None
    targets = y if plan.targets > 1 else y[:, 0]
    if plan.uniform:
        grid = plan.integers("x_offset")[0] + plan.integer("x_step") * np.arange(n)[:, None]
    for block, first in enumerate(range(0, len(y), n)):
        inputs = grid[:len(y[first:first + n])] if plan.uniform else x[first:first + n]
        answer = model.predict(inputs)
        found += [*zip(answer["status"], answer["f"], strict=True)]
        if block % every == 0 and first + n <= len(y):
            model.train(None if plan.uniform else x[first:first + n], targets[first:first + n])
    return found


def sampled(plan, x, y):
    """A learner or a constant model: each sample is predicted, then learned."""
    model, found = open_model(plan), []
    for k in range(len(x)):
        answer = model.predict(x[k][None])
        found.append((answer["status"][0], answer["f"][0]))
        if y.shape[1]:
            model.update(x[k][None], y[k] if plan.targets == 1 else y[k][None])
    return found


def delayed(plan, x):
    """A delay line: sample k is learned as the successor of the samples before, after its prediction."""
    model, taps, found = open_model(plan), plan.sizes["D"], []
    for k in range(len(x)):
        found.append((DeviceStatus.PENDING, 0))
        if k + 1 >= taps:
            answer = model.predict(x[k + 1 - taps:k + 1, 0][::-1][None])
            found[-1] = (answer["status"][0], answer["f"][0])
        if k >= taps:
            model.update(x[k - taps:k, 0][::-1][None], x[k])
    return found


def tapped_readings(plan, x, y):
    """A delay line whose target is another signal: a window is predicted, then learned."""
    full = plan.delay * plan.decimate
    windows, targets = tapped(x, plan.delay, plan.decimate), y[full - 1::plan.decimate]
    rows = iter(sampled(plan, windows, targets))
    return [next(rows) if k >= full and k % plan.decimate == 0 else (DeviceStatus.PENDING, 0)
            for k in range(1, len(x) + 1)]


def expected(plan, x, y, every=1):
    """Status and outputs of the integer model, for each sample."""
    rows = blocks(plan, open_model(plan), x, y, every) if plan.trains else \
        tapped_readings(plan, x, y) if plan.delay and y.shape[1] else \
        delayed(plan, x) if plan.delay else sampled(plan, x, y)
    return [[int(status), *map(int, np.ravel(f))] for status, f in rows]


def packaged(name, place, *kinds):
    plan, x, y, vectors = case(name)
    generate(plan, place, vectors=vectors, packages=kinds)
    return plan, x, y


@pytest.mark.parametrize("name", ["grid16", "mean16_bias", "cg16", "lms16", "tapped", "axes", "means",
                                  "outputs16", "two16", "argmax16", "trained three16", "trained outputs16",
                                  "band24_outputs_bias"])
def test_the_filter_of_a_package_predicts_and_learns_as_the_model(name, tmp_path, ledger, require_tool):
    require_tool("make", f"{APT} make")
    plan, x, y = packaged(name, tmp_path, "make")
    ran("make", "realtime", f"CFLAGS=-O1 {WARNINGS}", cwd=tmp_path)
    text = "\n".join(" ".join(map(str, row)) for row in np.hstack([x, y]).tolist())
    done = subprocess.run([tmp_path / f"build/make/{plan.name}_realtime"], input=text, text=True,
                          capture_output=True, check=True)
    found = [[*map(int, line.split())] for line in done.stdout.splitlines()]
    assert found == expected(plan, x, y)
    assert any(row[0] >= 0 and row[1] for row in found)
    assert " 0 lost, 0 failed" in done.stderr
    ledger.record(backend="package:realtime:host", words=sum(map(len, found)), case=name)


# ---- a Cortex-M4 with SysTick ----
DEVICE = """
#include <stdint.h>
extern uint32_t SystemCoreClock;
#define REGISTER(address) (*(volatile uint32_t *)(address))
/* As CMSIS-Core documents it: load, clear, enable with the clock of the core and the interrupt. */
static inline uint32_t SysTick_Config(uint32_t ticks)
{
    REGISTER(0xE000E014u) = ticks - 1u;
    REGISTER(0xE000E018u) = 0u;
    REGISTER(0xE000E010u) = 7u;
    return 0u;
}
#define __WFI() __asm volatile("wfi" ::: "memory")
"""
OUTPUT = """
#include "{p}_realtime.h"
uint32_t SystemCoreClock = 25000000u;
static char text[400];
static char *at;
static void call(uint32_t operation, const void *argument)
{{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}}
static void number(int64_t value)
{{
    uint32_t rest = (uint32_t)(value < 0 ? -value : value);
    char digits[12];
    int n = 0;
    *at = '-';
    at += value < 0 ? 1 : 0;
    do {{
        digits[n++] = (char)('0' + rest % 10u);
        rest /= 10u;
    }} while (rest != 0u);
    while (n > 0) {{
        *at++ = digits[--n];
    }}
    *at++ = ' ';
}}
void app_output(kc_status_t status, {args}const {p}_out_t *f)
{{
    static uint32_t count;
    at = text;
    {numbers}
    number(status);
    number(*f);
    number({p}_realtime_counts().lost);
    at[-1] = '\\n';
    *at = 0;
    call(4u, text);
    if (++count == {samples}u) {{
        static const volatile uint32_t block[2] = {{0x20026u, 0u}};
        call(0x20u, (const void *)block);
    }}
}}
"""


@pytest.mark.parametrize("name", ["grid16", "lms16", "tapped"])
def test_systick_samples_and_predicts_while_the_main_loop_learns(name, tmp_path, ledger, require_tool):
    compiler = require_tool("arm-none-eabi-gcc", f"{APT} gcc-arm-none-eabi")
    require_tool("qemu-system-arm", f"{APT} qemu-system-arm")
    plan, x, y = packaged(name, tmp_path, "cmsis")
    p, parts = plan.name, [(kind, array.shape[1]) for kind, array in (("x", x), ("y", y)) if array.shape[1]]
    types = {"x": f"const {p}_in_t *x, ", "y": f"const {p}_target_t *y, "}
    numbers = "\n    ".join(f"number({kind}[{i}]);" for kind, columns in parts for i in range(columns))
    (tmp_path / "output.c").write_text(OUTPUT.format(
        p=p, args="".join(types[kind] for kind, _ in parts), numbers=numbers, samples=SAMPLES))
    (tmp_path / "device.h").write_text(DEVICE)
    (tmp_path / "RTE_Components.h").write_text('#define CMSIS_device_header "device.h"\n')
    start = SEMIHOSTING.read_text()
    assert start.endswith("(uintptr_t)fault,\n};\n")
    (tmp_path / "start.c").write_text("void SysTick_Handler(void);\n" + start.removesuffix("};\n")
                                      + "    [15] = (uintptr_t)SysTick_Handler\n};\n")
    (tmp_path / "bare.ld").write_text(BARE)
    (tmp_path / "kc_memory.c").write_text(read_text("firmware/support/kc_memory.c"))
    ran(compiler, *load_target("cortex-m4").flags["gcc"], "-O2", "-std=gnu99", "-ffreestanding", "-nostdlib",
        *WARNINGS.split(), "-Wno-override-init", "-I.", "-Iexamples/realtime", "examples/cortex_m/main.c",
        f"examples/realtime/{p}_realtime.c", "output.c", "start.c", "kc_memory.c",
        *(path.name for path in tmp_path.glob(f"{p}_*.c")), "-lgcc", "-T", "bare.ld",
        "-Wl,--no-warn-rwx-segments", "-o", "image.elf", cwd=tmp_path)
    said = ran("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
               "-icount", "shift=6,align=off,sleep=off",
               "-semihosting-config", "enable=on,target=native,chardev=out",
               "-chardev", "file,id=out,path=out.txt", "-kernel", "image.elf", cwd=tmp_path)
    rows = np.array([line.split() for line in (tmp_path / "out.txt").read_text().splitlines()], int)
    assert said == "" and len(rows) == SAMPLES
    x, y = rows[:, :x.shape[1]], rows[:, x.shape[1]:x.shape[1] + y.shape[1]]
    every = 1 if rows[-1, -1] == 0 else 2  # blocks that arrived while another one was learned
    assert rows[:, -3:-1].tolist() == expected(plan, x, y, every)
    assert np.count_nonzero(rows[:, -2]) > 50 and (plan.trains or every == 1)
    ledger.record(backend="package:realtime:qemu:cortex-m4", words=2 * SAMPLES, case=name)


# ---- an Arduino Uno: timer 1 interrupts, the converter reads a voltage ----
VOLTAGE = """
#include <stdio.h>
#include <simavr/avr_adc.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

static avr_irq_t *input;
static uint32_t k;

static void on_conversion(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)value, (void)context;
    k++;
    avr_raise_irq(input, 300u + 37u * (k % 64u < 32u ? k % 64u : 64u - k % 64u) + 11u * (k % 3u)); /* mV */
}

static void on_output(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)context;
    putchar((int)value);
}

int main(int count, char **arguments)
{
    const uint32_t quiet = 0;
    static elf_firmware_t firmware;
    avr_t *avr = avr_make_mcu_by_name("atmega328p");

    if (count != 2 || avr == NULL || avr_init(avr) != 0 || elf_read_firmware(arguments[1], &firmware) != 0) {
        return 1;
    }
    firmware.frequency = 16000000;
    firmware.vcc = firmware.avcc = firmware.aref = 5000;
    avr_load_firmware(avr, &firmware);
    (void)avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), (void *)&quiet);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_output, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER), on_conversion,
        NULL);
    input = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0);
    avr_raise_irq(input, 300u);
    while (avr->cycle < 16000000u * 6u) {
        const int state = avr_run(avr);

        if (state == cpu_Done || state == cpu_Crashed) {
            return 2;
        }
    }
    return 0;
}
"""


def test_the_sketch_on_an_uno_learns_the_signal_of_its_converter(tmp_path, ledger, require_tool):
    builder = require_tool("arduino-builder", f"{APT} arduino-builder arduino-core-avr")
    require_tool("simavr", f"{APT} simavr libsimavr-dev libelf-dev")
    libraries, folders = tmp_path / "libraries", [tmp_path / name for name in ("build", "cache")]
    for folder in (libraries, *folders):
        folder.mkdir()
    plan, _, _ = packaged("tapped", libraries / "tapped", "arduino")
    ran(builder, "-compile", "-hardware", "/usr/share/arduino-builder", "-hardware", f"{ARDUINO}/hardware",
        "-tools", "/usr/bin", "-fqbn", "arduino:avr:uno", "-libraries", libraries, "-build-path", folders[0],
        "-build-cache", folders[1], "-prefs", "compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__",
        libraries / "tapped/examples/realtime/realtime.ino", cwd=tmp_path)
    (tmp_path / "voltage.c").write_text(VOLTAGE)
    ran("gcc", "-O2", "voltage.c", "-o", "voltage", "-lsimavr", "-lelf", cwd=tmp_path)
    said = ran(tmp_path / "voltage", folders[0] / "realtime.ino.elf", cwd=tmp_path)
    said = [line.split() for line in said.splitlines()[:-1] if not line.startswith("Loaded")]
    rows = np.array(said, int)  # without what simavr prints, and the last line, which may be cut
    assert len(rows) > 100 and len(set(rows[:, 0])) > 30
    assert rows[:, 1:].tolist() == expected(plan, rows[:, :1], rows[:, :0])
    assert np.count_nonzero(rows[:, 2]) > 50
    ledger.record(backend="package:realtime:simavr:uno", words=2 * len(rows), case="tapped")


# ---- Zephyr ----
def test_the_zephyr_program_learns_in_its_main_thread(tmp_path, ledger, require_tool):
    """In the stand-in for Zephyr, the timer is a signal: it interrupts the program at any instruction."""
    require_tool("cmake", f"{APT} cmake")
    packaged("tapped", tmp_path / "tapped", "zephyr")
    ran("cmake", "-S", tmp_path / "tapped/zephyr/samples/realtime", "-B", "build",
        f"-DZephyr_DIR={HERE / 'zephyr'}", f"-DCMAKE_C_FLAGS={WARNINGS}", cwd=tmp_path)
    ran("cmake", "--build", "build", cwd=tmp_path)
    with subprocess.Popen([tmp_path / "build" / "zephyr.elf"], stdout=subprocess.PIPE, text=True) as program:
        said = [program.stdout.readline() for _ in range(2)]
        program.kill()
    found = re.fullmatch(r"tapped: (\d+) samples, (\d+) learned, \d+ lost, prediction (-?\d+)\n", said[1])
    assert found and int(found.group(1)) >= 200 and int(found.group(2)) >= 190 and int(found.group(3)) != 0
    ledger.record(backend="package:realtime:zephyr", words=3, case="tapped")
