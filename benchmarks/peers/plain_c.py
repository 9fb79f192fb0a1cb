"""benchmarks.peers: compile the hand-written C in this folder with cffi."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from numpy.typing import NDArray

from kerncast.sim._arrays import Words
from kerncast.sim.model.toeplitz.levinson import LevinsonConstants
from kerncast.sim.plan import Plan

#: What the generated C is compiled with as well.
FLAGS = ("-std=c99", "-O3", "-march=native", "-Wall", "-Wextra", "-Werror")
HERE = Path(__file__).parent


class PlainC:
    """Compiled C file of this folder, with the constants of one plan.

    Parameters
    ----------
    source, compiler : str
        Name of the C file, and command of the compiler.
    constants : mapping of str to int
        Values of macros.
    declarations : str
        C declarations for cffi.
    """

    def __init__(self, source: str, compiler: str, constants: Mapping[str, int], declarations: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        library = Path(self._folder.name) / "plain.so"
        defines = [f"-D{name}={value}" for name, value in constants.items()]
        subprocess.run([compiler, *FLAGS, *defines, "-shared", "-fPIC", str(HERE / source), "-o",
                        str(library)], check=True)
        self.ffi = cffi.FFI()
        self.ffi.cdef(declarations)
        self.library: Any = self.ffi.dlopen(str(library))

    def view(self, ctype: str, words: NDArray[Any]) -> Any:
        """Return a pointer to values, as an array of a C type."""
        return self.ffi.from_buffer(f"{ctype}[]", words)


def levinson(compiler: str, k: LevinsonConstants, y: Words, r: Words) -> Callable[[], tuple[Words, ...]]:
    """Return a function that solves T x = y, given y (n,) and the first row r (n,).

    y is the right-hand side, and r the first row of the matrix.

    The function returns x, a, and (eps, a_exp, x_exp).
    """
    n = len(y)
    c = PlainC("levinson.c", compiler, {
        "N": n, "XI_FRAC": k.xi_frac, "INNOV_FRAC": k.innov_frac, "SHIFT": k.solver_shift,
        "A_EXP_MIN": k.a_exp_min,
        "A_EXP_MAX": k.a_exp_max, "X_EXP_MIN": k.x_exp_min, "X_EXP_MAX": k.x_exp_max, "EPS_MIN": k.eps_min},
        "int solve(const int32_t *y, const int32_t *r, int32_t *a, int32_t *x, int64_t *out);")
    short = [words.astype(np.int32) for words in (y, r)]
    a, x, out = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32), np.zeros(3, dtype=np.int64)
    arguments = [c.view("int32_t", words) for words in (*short, a, x)]

    def call() -> tuple[Words, ...]:
        status = c.library.solve(*arguments, c.view("int64_t", out))
        assert status == 0
        return x, a, out

    return call


def fklms(compiler: str, plan: Plan, x: Words, y: Words) -> Callable[[], tuple[Words, ...]]:
    """Return a function that learns x (m, D) and y (m,), starting from an empty model.

    The samples are ADC counts. The function returns f and statuses (m,).
    """
    budget, columns = plan.sizes["N"], plan.sizes["D"]
    names = ("project_shift", "mac_shift", "f_shift", "eta", "eta_shift", "kernel_c", "kernel_shift",
             "y_gain")
    c = PlainC("fklms.c", compiler, {
        "N": budget, "D": columns, "D2_END": plan.integer("kernel_d2_end"),
        **{name.upper(): plan.integer(name) for name in names}},
        f"""typedef struct {{ int16_t v[{budget * columns}]; int32_t alpha[{budget}], elder[{budget}],
            rank[{budget}]; int64_t row[{budget}], dist[{budget}]; int32_t count; }} state_t;
        void learn_all(state_t *s, const uint32_t *coarse, const uint32_t *fine, const int16_t *x,
                       const int16_t *y, int64_t *f, int64_t *status, int samples);""")
    tables = [np.array(plan.tables[name].values, dtype=np.uint32) for name in ("exp2_coarse", "exp2_fine")]
    raw = [words.astype(np.int16).reshape(-1) for words in (x, y)]
    f, status = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    arguments = [c.view("uint32_t", table) for table in tables] + [c.view("int16_t", words) for words in raw]
    state = c.ffi.new("state_t *")

    def call() -> tuple[Words, ...]:
        state.count = 0
        c.library.learn_all(state, *arguments, c.view("int64_t", f), c.view("int64_t", status), len(y))
        return f, status

    return call
