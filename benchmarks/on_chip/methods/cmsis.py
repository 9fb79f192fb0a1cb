"""LMS and NLMS of CMSIS-DSP in Q15.

The C comes from the package of CMSIS-DSP on PyPI. It runs on the host to measure errors, and on the emulated
core to measure costs.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from ...cortex_m import CortexM
from ...instructions import HEADERS, build, cmsis_sources
from ...papers.common import Array
from ..costs import COUNTED, LEARNED, Cost
from ..streams import SOURCES, Samples
from . import Method

_C = """
#include <string.h>
#include "dsp/filtering_functions.h"

int16_t x[N];
int16_t y, f, mu = MU;
uint8_t post = POST;
static q15_t coefficients[N], state[N];
static FILTER(instance) filter;
static int started;
void start(void);
void start(void)
{
    memset(coefficients, 0, sizeof coefficients);
    INIT(&filter, N, coefficients, state, mu, 1, post);
    started = 1;
}
void update(void) __attribute__((noinline));
void update(void)
{
    q15_t target = (q15_t)(y >> 1), error;

    if (!started) {
        start();
    }
#if !LAGGED /* the inputs are not a window of a signal: write all but the newest into the state */
    int i;
#if NORMALISED
    filter.energy = 0;
    filter.x0 = 0;
#endif
    for (i = 0; i < N - 1; i++) {
        state[i] = x[N - 1 - i];
#if NORMALISED
        filter.energy = (q15_t)__SSAT(filter.energy + (((q31_t)state[i] * state[i]) >> 15), 16);
#endif
    }
#endif
    RUN(&filter, x, &target, &f, &error, 1);
}
#ifdef HOST
void learn(const int16_t *xs, const int16_t *ys, int16_t *fs, int count, int16_t step, uint8_t shift);
void learn(const int16_t *xs, const int16_t *ys, int16_t *fs, int count, int16_t step, uint8_t shift)
{
    mu = step;
    post = shift;
    start();
    for (; count > 0; count--, xs += N) {
        memcpy(x, xs, sizeof x);
        y = *ys++;
        update();
        *fs++ = f;
    }
}
#else
int main(void);
int main(void) { update(); return 0; }
#endif
"""
#: Files that are kept until the process ends.
_FOLDER = tempfile.TemporaryDirectory(prefix="kerncast-")
_Flags = tuple[str, ...]


@cache
def _library() -> Path:
    return cmsis_sources(Path(_FOLDER.name))


def _sources(normalised: bool) -> list[Path]:
    """Return the C files of CMSIS-DSP that a filter needs."""
    name = "arm_lms_norm" if normalised else "arm_lms"
    found = [next(_library().rglob(f"{name}{part}_q15.c")) for part in ("", "_init")]
    return [*found, next(_library().rglob("arm_common_tables.c"))]


def _flags(normalised: bool, columns: int, lagged: bool) -> _Flags:
    name = "arm_lms_norm" if normalised else "arm_lms"
    include = (f"-I{_library() / part}" for part in ("Include", "PrivateInclude"))
    return ("-std=gnu11", "-w", "-D__GNUC_PYTHON__", *include, f"-DN={columns}", f"-DRUN={name}_q15",
            f"-DINIT={name}_init_q15", f"-DFILTER(part)={name}_##part##_q15",
            f"-DNORMALISED={int(normalised)}", f"-DLAGGED={int(lagged)}")


@cache
def _on_host(normalised: bool, columns: int, lagged: bool) -> ctypes.CDLL:
    """Compile a filter for the host, and load it."""
    folder = Path(tempfile.mkdtemp(dir=_FOLDER.name))
    (folder / "main.c").write_text(_C)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-DHOST", "-DMU=0", "-DPOST=0",
                    *_flags(normalised, columns, lagged), str(folder / "main.c"),
                    *map(str, _sources(normalised)), "-o", str(folder / "filter.so")], check=True)
    return ctypes.CDLL(str(folder / "filter.so"))


def _step(mu: float) -> int:
    return min(round(mu * 32768), 32767)


def _inputs(samples: Samples, shift: int) -> tuple[Array, Array]:
    """Return the inputs, with the newest sample of each window first, and the targets."""
    x = samples.x_raw >> shift
    newest_last = np.array_equal(x[1:, :-1], x[:-1, 1:])
    x = np.ascontiguousarray(x[:, ::-1] if newest_last else x, dtype=np.int16)
    return x, samples.y_raw.astype(np.int16)


def _run(normalised: bool, samples: Samples, mu: float, post: int, shift: int) -> Array:
    """Return the predictions of a filter on the host.

    The target is halved, because the error in CMSIS-DSP wraps around on overflow.
    """
    x, y = _inputs(samples, shift)
    f = np.zeros(len(y), dtype=np.int16)
    library = _on_host(normalised, x.shape[1], SOURCES[samples.name].lagged)
    library.learn(*(a.ctypes.data_as(ctypes.c_void_p) for a in (x, y, f)), len(y),
                  ctypes.c_int16(_step(mu)), ctypes.c_uint8(post))
    return 2.0 * f * samples.gains[-1]


def _cost(normalised: bool, samples: Samples, mu: float, post: int, shift: int) -> Cost:
    """Measure the cost of a filter; compare its predictions with those on the host."""
    x, y = _inputs(samples, shift)
    with tempfile.TemporaryDirectory(prefix="kerncast-") as name:
        folder = Path(name)
        for header, text in HEADERS.items():
            (folder / header).write_text(text)
        (folder / "main.c").write_text(_C)
        image, flash = build(folder, [folder / "main.c", *_sources(normalised)], "-O2",
                             *_flags(normalised, x.shape[1], SOURCES[samples.name].lagged),
                             f"-DMU={_step(mu)}", f"-DPOST={post}")
        core, counts, found = CortexM(image), [], []
        for m in range(LEARNED):
            if m == LEARNED - COUNTED:
                core.start_counting()
            core.write("x", x[m])
            core.write("y", y[m:m + 1])
            counts.append(core.call("update")[1])
            found.append(float(core.read("f", np.int16, 1)[0]))
    f = 2.0 * np.array(found) * samples.gains[-1]
    if not np.array_equal(f, _run(normalised, samples, mu, post, shift)[:LEARNED]):
        raise SystemExit(f"{samples.name}: the predictions of CMSIS-DSP differ between core and host")
    return Cost(round(np.mean(counts[-COUNTED:])), max(counts[-COUNTED:]), 4 * x.shape[1] + 24, flash)


def _method(title: str, normalised: bool) -> Method:
    steps = (0.003, 0.01, 0.03, 0.1, 0.3, 0.9)
    return Method(title, lambda _, samples, **keys: _run(normalised, samples, **keys),
                  {"post": 2, "shift": 2}, ("mu", steps),
                  {"post": (0, 2, 4), "shift": (0, 2), "mu": steps},
                  cost=lambda _, samples, **keys: _cost(normalised, samples, **keys), linear=True)


METHODS = [_method("CMSIS-DSP LMS, Q15", False), _method("CMSIS-DSP NLMS, Q15", True)]
