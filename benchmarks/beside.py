"""Compare prediction and Durbin's recursion on a Cortex-M4 with other libraries.

``python -m kerncast.benchmarks.beside`` writes docs/measured/peers.md.  The other libraries, micromlgen,
m2cgen and CMSIS-DSP, are downloaded from PyPI into a temporary folder.  If the download fails, no page is
written.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kerncast.benchmarks.beside_durbin import cmsis_flags, durbin_rows
from kerncast.benchmarks.beside_svc import LEVELS, svc_section
from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import CMSIS, HEADERS, OPTIMISED, Learner, Task, build, built, example
from kerncast.codegen.build.toolchains import choose_toolchain
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.resources import read_text

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "peers.md"
PACKAGES = ("m2cgen==0.10.0", "micromlgen==1.1.28")
GAMMA = 0.005
#: Flags that undo what only our sources can be compiled with: these may take the compiler's own functions.
HOSTED = ("-fhosted", "-fno-exceptions", "-fno-rtti", "-w")
#: An exponential that costs nothing but its call, and a square where the compiler makes none of pow(x, 2).
FREE = ("int predict(void) __attribute__((noinline));\n"
        "double pow(double x, double y) { (void)y; return x * x; }\n"
        "double exp(double x) { return x; }\nfloat expf(float x) { return x; }\n")
MATH = HEADERS["math.h"] + "double exp(double x);\ndouble pow(double x, double y);\n"

HEAD = """# Comparison with other libraries on a Cortex-M4

`python -m kerncast.benchmarks.beside` writes this page, in one run. gcc {gcc} compiles all programs, and the
Unicorn emulator counts their instructions (not cycles).

## Prediction

As in `examples/digits.toml`, the task is to distinguish the digits 3 and 8. The model consists of 41 vectors
of 64 inputs, which the learner has stored after 250 digits. The figures are means over the 107 test digits.
The other libraries run a support vector classifier of scikit-learn, fitted to the same 41 vectors with the
same kernel, in the number formats that they support.

In these measurements **their exponential is an empty function**, so their instructions and flash are lower
bounds. Flash is the size of a program that only predicts, without the vectors. In kerncast, the vectors are
in RAM, because the model learns on the device. In the other libraries, the vectors are constants. m2cgen and
micromlgen write them into the code.

With DSP instructions kerncast needs fewer instructions than every other library.

| | format | level | instructions, mean | worst | flash | vectors and state |
| --- | --- | --- | --: | --: | --: | --: |
"""

DURBIN = """
## Durbin's recursion

Durbin's recursion computes the predictor polynomial of a Toeplitz matrix from its first row, here with 32-bit
words. `arm_levinson_durbin_q31` of CMSIS-DSP computes the same polynomial. The recursion is one part of the
Levinson solver of kerncast. kerncast uses a block exponent and detects matrices that are not positive
definite. The coefficients of CMSIS-DSP are in Q31 format, so each of them must be below 1.

The rows are Gaussian kernels of width sigma (in samples) on a uniform grid, with lambda on the diagonal,
scaled so that r[0] = 1. `largest` is the largest exact coefficient. The error is |a - exact| / |exact|,
where `exact` is float64 on the same inputs. The code is compiled with -O2. kerncast needs fewer instructions
and has a smaller error in each row.

| sigma | lambda | n | largest | kerncast: instructions per order | error | \
CMSIS-DSP: instructions per order | error |
| --: | --: | --: | --: | --: | --: | --: | --: |
"""


def fetched(folder: Path, packages: Sequence[str] = PACKAGES) -> Path:
    """Download packages to `folder`; return the folder of CMSIS-DSP's sources."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder), *packages], check=True)
    subprocess.run([*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", CMSIS,
                    "-d", str(folder)], check=True)
    with tarfile.open(next(folder.glob("cmsisdsp-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    sys.path.insert(0, str(folder))
    return next(folder.rglob("Source"))


def held(task: Task, model: Learner) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the learner's dictionary and its targets."""
    state = model.model.state()
    count = int(state["count"][0])
    v = state["centers"].reshape(-1, task.plan.sizes["D"])[:count]
    places = [int(np.flatnonzero((task.x == row).all(axis=1))[0]) for row in v]
    return v, task.y[places]


def array(kind: str, name: str, values: NDArray[np.float64]) -> str:
    """Format a constant array in C."""
    return f"const {kind} {name}[] = {{{', '.join(f'{v:.9e}f' for v in values.ravel())}}};\n"


def cmsis(svc: object, v: NDArray[np.int64]) -> tuple[str, str]:
    """Return the file suffix and the text of a program that predicts with CMSIS-DSP."""
    dual = np.asarray(svc.dual_coef_)  # type: ignore[attr-defined]
    return ".c", ('#include "arm_math.h"\n#include "dsp/svm_functions.h"\n' + FREE
                  + array("float32_t", "vectors", v.astype(float)) + array("float32_t", "dual", dual)
                  + "const int32_t classes[2] = {0, 1};\n"
                  f"const arm_svm_rbf_instance_f32 svm = {{{len(v)}, 64, 0.0f, dual, vectors, classes, "
                  f"{svc.gamma}f}};\n"  # type: ignore[attr-defined]
                  "float32_t in[64];\nint32_t label;\n"
                  "int predict(void) { arm_svm_rbf_predict_f32(&svm, in, &label); return label; }\n"
                  "int main(void) { return predict(); }\n")


def m2cgen(svc: object, v: NDArray[np.int64]) -> tuple[str, str]:
    """Return the file suffix and the text of a program with m2cgen's C."""
    from m2cgen import export_to_c

    return ".c", (export_to_c(svc) + FREE + "double in[64];\nint predict(void) { return score(in) > 0; }\n"
                  "int main(void) { return predict(); }\n")


def micromlgen(svc: object, v: NDArray[np.int64]) -> tuple[str, str]:
    """Return the file suffix and the text of a program with micromlgen's C++."""
    from micromlgen import port

    return ".cpp", ("#include <stdint.h>\n#include <math.h>\n" + port(svc)
                    + f'extern "C" {{\n{FREE}float in[64];\n'
                    "Eloquent::ML::Port::SVM svm;\nint predict(void) { return svm.predict(in); }\n"
                    "int main(void) { return predict(); }\n}\n")


PEERS: dict[str, tuple[Callable[[object, NDArray[np.int64]], tuple[str, str]], str, type[np.generic]]] = {
    f"`arm_svm_rbf_predict_f32`, {CMSIS}": (cmsis, "float32", np.float32),
    PACKAGES[0]: (m2cgen, "double", np.float64), PACKAGES[1]: (micromlgen, "float32, double", np.float32)}


def headers(folder: Path, more: Mapping[str, str] | None = None) -> None:
    """Write the C standard headers that the other libraries need, and those in `more`."""
    texts = {**HEADERS, "math.h": MATH, "cstdarg": "#include <stdarg.h>\n", **(more or {})}
    for name, text in texts.items():
        (folder / name).write_text(f'#ifdef __cplusplus\nextern "C" {{\n#endif\n{text}'
                                   "#ifdef __cplusplus\n}\n#endif\n")


def our_row(task: Task, title: str, define: str, level: str) -> tuple[str, Learner]:
    """Measure kerncast, for one row of the table.

    Return the row, and the learner, whose dictionary the other libraries share.
    """
    learner = Learner(task, "learn", level, define)
    learner.update(task)
    learner.core.start_counting()
    counts, flash = learner.predict(task.x_test), built(task.plan, "predict", level, define)[1]
    return (f"| kerncast, {title} | 16 bits | {level} | {counts.mean():,.0f} | {counts.max():,} "
            f"| {flash:,} | {task.plan.state_bytes:,} |"), learner


def prediction_rows(sources: Path) -> Iterator[str]:
    """Measure kerncast at both optimisation levels, then the other libraries."""
    from sklearn.svm import SVC

    task = example("digits", 16)
    for title, define in LEVELS:
        for level in OPTIMISED:
            row, learner = our_row(task, title, define, level)
            yield row
    v, y = held(task, learner)
    svc = SVC(kernel="rbf", gamma=GAMMA, C=1.0).fit(v, y)
    if len(svc.support_) != len(v):
        raise SystemExit(f"the classifier holds {len(svc.support_)} of the {len(v)} vectors")
    yield from peer_rows(sources, svc, svc.support_vectors_.astype(np.int64), task.x_test)


def peer_rows(sources: Path, svc: object, v: NDArray[np.int64], x_test: NDArray[np.int64]) -> Iterator[str]:
    """Measure the rows of the other libraries."""
    for name in PEERS:
        for level in OPTIMISED:
            yield peer_row(name, level, svc, v, x_test, sources)


def peer_row(name: str, level: str, svc: object, v: NDArray[np.int64], x_test: NDArray[np.int64],
             sources: Path) -> str:
    """Measure the row of another library."""
    made, words, kind = PEERS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        headers(folder)
        ending, text = made(svc, v)
        (folder / f"main{ending}").write_text(text)
        used = [next(sources.rglob("arm_svm_rbf_predict_f32.c"))] if made is cmsis else []
        image, flash = build(folder, [*used, folder / f"main{ending}"], level, *HOSTED,
                             f"-std=gnu{'11' if ending == '.c' else '++11'}", *cmsis_flags(sources))
        core = CortexM(image)
    core.start_counting()
    counts = []
    for x in x_test:
        core.write("in", x.astype(kind))
        counts.append(core.call("predict")[1])
    data = v.size * 4 if made is cmsis else 0
    return (f"| {name} | {words} | {level} | {np.mean(counts):,.0f} | {max(counts):,} | {flash - data:,} "
            f"| {f'{data:,}' if data else 'in the code'} |")


def main() -> int:
    """Write the page."""
    with tempfile.TemporaryDirectory() as place:
        sources = fetched(Path(place))
        head, rows = svc_section(partial(peer_rows, sources))
        page = (HEAD + joined(prediction_rows(sources)) + head + joined(rows) + DURBIN
                + joined(durbin_rows(sources, read_text("examples/ecg.toml"))))
    gcc = choose_toolchain("gcc", load_target("cortex-m4")).version
    PAGE.write_text(page.replace("{gcc}", gcc, 1), encoding="utf-8")
    return 0


def joined(rows: Iterator[str]) -> str:
    """Join the lines of a table, and print each as soon as it is measured."""
    lines = []
    for row in rows:
        print(row, file=sys.stderr, flush=True)
        lines.append(f"{row}\n")
    return "".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
