"""Nearest neighbours among stored samples, with the integer C code of emlearn."""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np

from ....sim.jit import jit
from ...cortex_m import CortexM
from ...instructions import HEADERS, build
from ...papers.common import Array
from ..costs import COUNTED, LEARNED, Cost
from ..streams import Samples
from . import Method

#: Stored samples; bits that inputs lose, because emlearn squares their differences in 32 bits.
ITEMS, DROPPED = 100, 6

#: Headers of a C library that emlearn includes, in addition to those of the instructions page.
_LIBRARY = {"stdio.h": "typedef int FILE;\nextern FILE *stderr;\nint fprintf(FILE *, const char *, ...);\n",
            "stdlib.h": ""}
_C = """
#include <eml_neighbors.h>
int16_t x[N];
int16_t y, f;
static int16_t data[ITEMS * N], labels[ITEMS];
static EmlNeighborsDistanceItem distances[ITEMS];
static EmlNeighborsModel model = {N, 0, ITEMS, data, labels, K};
static int16_t next;
void update(void) __attribute__((noinline));
void update(void)
{
    int32_t sum = 0, i;

    (void)eml_neighbors_infer(&model, x, N, distances, ITEMS);
    (void)eml_neighbors_sort_distances(distances, (size_t)model.n_items);
    for (i = 0; i < K && i < model.n_items; i++) {
        sum += labels[distances[i].index];
    }
    f = (int16_t)(i > 0 ? sum / i : 0);
    if (model.n_items < ITEMS) {
        (void)eml_neighbors_add_item(&model, x, N, y);
    } else { /* full: the oldest is replaced */
        memcpy(&data[next * N], x, sizeof x);
        labels[next] = y;
        next = (int16_t)((next + 1) % ITEMS);
    }
}
FILE *stderr;
int fprintf(FILE *file, const char *text, ...) { return 0; }
int main(void);
int main(void) { update(); return 0; }
"""


@jit
def _nearest(x: Array, y: Array, k: int, distances: Array, taken: Array, f: Array) -> None:
    """Predict the mean target of the k nearest samples among the last ITEMS."""
    for m in range(x.shape[0]):
        first = max(0, m - ITEMS)
        for i in range(first, m):
            distances[i - first] = 0
            for d in range(x.shape[1]):
                distances[i - first] += (x[m, d] - x[i, d])**2
            distances[i - first] = np.int64(np.sqrt(distances[i - first]))
            taken[i - first] = 0
        found = min(k, m - first)
        total = 0
        for _ in range(found):
            best = -1
            for i in range(m - first):
                if taken[i] == 0 and (best < 0 or distances[i] < distances[best]):
                    best = i
            taken[best] = 1
            total += y[first + best]
        f[m] = total / found if found > 0 else 0.0


def _run(_: Samples, samples: Samples, k: int) -> Array:
    f = np.zeros(len(samples.y))
    _nearest(samples.x_raw >> DROPPED, samples.y_raw, k, np.zeros(ITEMS, dtype=np.int64),
             np.zeros(ITEMS, dtype=np.int64), f)
    return f * samples.gains[-1]


def _cost(design: Samples, samples: Samples, k: int) -> Cost:
    """Measure the cost of emlearn's C, and check its predictions."""
    columns = samples.X.shape[1]
    with tempfile.TemporaryDirectory(prefix="kerncast-") as name:
        folder = Path(name)
        for header, text in (HEADERS | _LIBRARY).items():
            (folder / header).write_text(text)
        (folder / "main.c").write_text(_C)
        image, flash = build(folder, [folder / "main.c"], "-O2", "-w", f"-DN={columns}", f"-DK={k}",
                             f"-DITEMS={ITEMS}", "-isystem", str(files("emlearn")))
        core, counts, found = CortexM(image), [], []
        for m in range(LEARNED):
            if m == LEARNED - COUNTED:
                core.start_counting()
            core.write("x", (samples.x_raw[m] >> DROPPED).astype(np.int16))
            core.write("y", samples.y_raw[m:m + 1].astype(np.int16))
            counts.append(core.call("update")[1])
            found.append(float(core.read("f", np.int16, 1)[0]))
    gap = np.abs(np.array(found) * samples.gains[-1] - _run(design, samples, k)[:LEARNED])
    if not np.median(gap) < 0.01:
        raise SystemExit(f"{samples.name}: the predictions of emlearn's C differ from its Python model")
    ram = ITEMS * (2 * columns + 2 + 8) + 16
    return Cost(round(np.mean(counts[-COUNTED:])), max(counts[-COUNTED:]), ram, flash)


METHODS = [Method("emlearn kNN", _run, {}, ("k", (1, 2, 3, 5, 10)), cost=_cost)]
