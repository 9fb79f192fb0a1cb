"""benchmarks.beside_svc: compare an exported SVM classifier with other libraries.

All programs run on an emulated Cortex-M4.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import OPTIMISED, build
from kerncast.codegen.generate import generate
from kerncast.sim.interop import raw_inputs
from kerncast.sim.interop.plan import plan as plan_of
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan

#: There are no instructions for words of 32 bits.
LEVELS = (("portable C", "-DKC_PORTABLE=1"), ("DSP", "-DKC_PORTABLE=0"))
#: Makes a line of one of the others: its classifier, its vectors and the test digits.
PeerRows = Callable[[object, NDArray[np.int64], NDArray[np.int64]], Iterator[str]]

HEAD = """
## A classifier trained with scikit-learn

The model is `SVC` of scikit-learn for the digits 3 and 8, fitted to 250 of them: {vectors} vectors of 64
inputs, with an intercept. `kerncast.export` stores its vectors and coefficients as constants in flash. Flash
is measured as above, and the exponential of the other libraries is again an empty function. Every value from
kerncast equals the value of the integer model, and **the label agrees with scikit-learn on {same} of {digits}
digits**, at 16 bits and at 32.

| | format | level | instructions, mean | worst | flash | vectors |
| --- | --- | --- | --: | --: | --: | --: |
"""

MAIN = """#include "digits.h"
digits_in_t x[DIGITS_INPUT_DIM];
digits_out_t f;
int main(void);
int main(void) { return (int)digits_model_predict(x, &f); }
"""


def digits() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Load the digits 3 and 8 of scikit-learn, with 64 columns, and their labels."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return x[chosen].astype(np.int64), y[chosen]


def svc_section(peers: PeerRows) -> tuple[str, Iterator[str]]:
    """Return the section and its rows; `peers` yields the rows of other libraries."""
    from sklearn.svm import SVC

    x, y = digits()
    svc = SVC(gamma=float(1.0 / (64 * x[:250].var()))).fit(x[:250], y[:250])  # "scale", as a number
    plans = {word: plan_of(svc, x[:250], name="digits", word=word) for word in (16, 32)}
    same = min(_same(plan, svc, x) for plan in plans.values())
    head = HEAD.format(vectors=len(svc.support_), same=same, digits=len(x))
    return head, _rows(plans, svc, x[250:], peers)


def _same(plan: Plan, svc: object, x: NDArray[np.int64]) -> int:
    """Count the digits with the same label in the integer model and in scikit-learn."""
    f = open_model(plan).predict(raw_inputs(plan, x))["f"]
    labels = np.where(f > 0, *svc.classes_[::-1])  # type: ignore[attr-defined]
    return int((labels == svc.predict(x)).sum())  # type: ignore[attr-defined]


def _rows(plans: dict[int, Plan], svc: object, x_test: NDArray[np.int64], peers: PeerRows) -> Iterator[str]:
    for word, plan in plans.items():
        for title, define in LEVELS[:2 if word == 16 else 1]:
            for level in OPTIMISED:
                counts, flash = _counted(plan, x_test, level, define)
                v = plan.tables["centers"].bytes + plan.tables["alpha"].bytes
                yield (f"| kerncast, {title} | {word} bits | {level} | {counts.mean():,.0f} "
                       f"| {counts.max():,} | {flash - v:,} | {v:,} |")
    vectors = np.asarray(svc.support_vectors_).astype(np.int64)  # type: ignore[attr-defined]
    yield from peers(svc, vectors, x_test)


def _counted(plan: Plan, x_test: NDArray[np.int64], *flags: str) -> tuple[NDArray[np.int64], int]:
    """Count the instructions of each prediction and the flash; check each value."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "c"
        generate(plan, folder)
        (folder / "main.c").write_text(MAIN)
        image, flash = build(folder, sorted(folder.glob("*.c")), *flags)
        core = CortexM(image)
    expected = open_model(plan).predict(raw_inputs(plan, x_test))
    kind, word = (np.dtype(plan.signals[s].format.c_type.removesuffix("_t")).type for s in ("x_raw", "f"))
    core.start_counting()
    counts = []
    for x, status, f in zip(x_test, expected["status"], expected["f"], strict=True):
        core.write("x", x.astype(kind))
        found, count = core.call("digits_model_predict", "x", "f")
        if (found, int(core.read("f", word, 1)[0])) != (status, f):
            raise SystemExit("a word of the classifier differs from the model's")
        counts.append(count)
    return np.array(counts), flash
