"""One numbering of the statuses: texts, the model's constants and the generated header follow it."""

import re
import subprocess
from pathlib import Path

import numpy as np

from kerncast.codegen.c.shared import render_shared
from kerncast.sim import backend, statuses
from kerncast.sim.model import statuses as compiled
from kerncast.sim.statuses import (
    MEANINGS,
    RESTORE_MEANINGS,
    DeviceStatus,
    RestoreStatus,
    c_statuses,
    severity,
)


def test_every_status_has_its_text_at_its_code():
    assert list(MEANINGS) == [status.word for status in DeviceStatus] == list(backend.STATUSES.values())


def test_the_constants_of_compiled_code_are_plain_integers_of_the_same_codes():
    for status in DeviceStatus:
        value = getattr(compiled, status.name)
        assert value == status and type(value) is int
    assert list(statuses.TRAINED) == list(compiled.TRAINED)


def test_the_sign_of_a_status_tells_warnings_from_refusals():
    refused = {"not_positive_definite", "not_trained", "bad_argument", "breakdown", "out_of_order",
               "no_candidate"}
    assert {status.word for status in DeviceStatus if status < 0} == refused
    assert {status.word for status in DeviceStatus if not status.usable} == refused | {"pending"}
    assert all(status < 0 for status in RestoreStatus if status != RestoreStatus.OK)


def test_the_statuses_of_hardware_fit_three_bits_with_their_sign():
    # of iterative refinement, training in slices and self-tuning, which no core has
    in_software = {DeviceStatus.STALLED, DeviceStatus.PENDING, DeviceStatus.OUT_OF_ORDER,
                   DeviceStatus.NO_CANDIDATE}
    assert all(-4 <= status <= 3 for status in set(DeviceStatus) - in_software)


def test_the_generated_header_has_the_same_codes():
    written = dict(re.findall(r"KC_(\w+) = (-?\d+)", render_shared()["rt/kc_config.h"]))
    codes = {status.name: str(int(status)) for status in DeviceStatus}
    codes |= {f"STATE_{status.name}": str(int(status)) for status in RESTORE_MEANINGS}
    assert written == codes and len(set(codes.values())) == len(codes)


def test_the_worst_status_is_a_refusal_before_a_warning():
    codes = np.array([DeviceStatus.OK, DeviceStatus.STALLED, DeviceStatus.NOT_POSITIVE_DEFINITE])
    assert severity(codes).argsort().tolist() == [0, 1, 2]


def test_the_text_of_every_status_compiles_and_is_returned(require_tool, tmp_path):
    gcc = require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    for name, text in render_shared().items():
        (tmp_path / Path(name).name).write_text(text)
    calls = "".join(f"puts(kc_status_text({name}));\n" for name, *_ in c_statuses())
    (tmp_path / "main.c").write_text(
        f'#include <stdio.h>\n#include "kc_status.h"\nint main(void) {{ {calls} return 0; }}\n')
    subprocess.run([gcc, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.c", "-o", "main"],
                   cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [meaning for _, _, meaning in c_statuses()]


def test_the_generated_macro_accepts_what_python_calls_usable(require_tool, tmp_path):
    gcc = require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    (tmp_path / "kc_config.h").write_text(render_shared()["rt/kc_config.h"])
    codes = [code for _, code, _ in c_statuses()]
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "kc_config.h"\nstatic int calls;\n'
        "static kc_status_t status_of(int code) { calls++; return (kc_status_t)code; }\n"
        f"int main(void) {{ static const int codes[] = {{ {', '.join(map(str, codes))} }}; int i;\n"
        f"for (i = 0; i < {len(codes)}; i++) {{\n"
        '    (void)printf("%d ", KC_USABLE(status_of(codes[i])) ? 1 : 0);\n}\n'
        '(void)printf("%d", calls); return 0; }\n')
    subprocess.run([gcc, "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "main.c", "-o", "main"],
                   cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split()
    assert said == [str(int(code in statuses.TRAINED)) for code in codes] + [str(len(codes))]
