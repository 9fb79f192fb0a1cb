"""The Schur form and look-ahead in generated C equal their models on any first row, floats bit for bit."""

import os

import numpy as np
import pytest
import scipy.linalg

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.backend import STATUSES
from kerncast.sim.model.kernel import cast_of, convert_y, input_constants
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.statuses import OK
from kerncast.sim.model.toeplitz.corrections import solver_constants
from kerncast.sim.model.toeplitz.lookahead import Lookahead
from kerncast.sim.model.toeplitz.lookahead_f32 import Lookahead as LookaheadF32
from kerncast.sim.model.toeplitz.schur import SchurConstants, schur

from .solver_steps import solved

STEP = "int {0}_schur_step({0}_trainer_t *t);"
SOLVE_F32 = "int {0}_lookahead_f32_solve_row({0}_trainer_t *t, const float *r, const float *y, float *x);"
SOLVE_S32 = ("int {0}_lookahead_solve_s32({0}_trainer_t *t, const int32_t *r, const int32_t *y, int32_t *x, "
             "int32_t *x_exp);")
CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
COMPILERS = ("gcc", "clang", "zig")
#: A campaign takes every level of every compiler.
LEVELS = dict.fromkeys(COMPILERS, ("-O0", "-O1", "-O2", "-O3", "-Os")) if CAMPAIGN else {
    "gcc": ("-O0", "-O2"), "clang": ("-O2", "-Os"), "zig": ("-O2",)}
REMEDY = {"gcc": "sudo apt-get install -y gcc libc6-dev", "clang": "sudo apt-get install -y clang",
          "zig": "python -m pip install ziglang"}


def rows(n, word, rng):
    """First rows over 1 + lambda: noise, decaying ones, near the edge of stability, hardly regularised."""
    t = np.arange(n)
    for size in (0.1, 0.3, 1.0):
        yield rng.uniform(-size, size, n)
    for rho in (0.5, -0.9, 0.999, 1 - 2.0**-word):
        yield rho**t
    for width in (1.0, 3.0):
        yield np.exp(-0.5 * (t / width) ** 2) * (1 - 2.0**-word)
    yield np.cos(t * rng.uniform(0, np.pi)) * 0.9
    yield np.where(t == 3, 1 - 2.0 ** -(word - 2), 0.01)


@pytest.mark.parametrize("name", ["schur16", "schur24_varied", "schur32_even"])
def test_schur_equals_its_model_on_rows_of_every_kind(host, ledger, name):
    backend = host(name)
    plan, rng = backend.plan, np.random.default_rng(12)
    n, word, raw, hi = plan.sizes["n"], plan.word, plan.signals["y_raw"].format, plan.signals["r"].format.hi
    generator = SchurConstants(plan.integer("s_exp_max"), cast_of(plan, "p"))
    backend.ffi.cdef(STEP.format(name))
    log, compared, met = Ranges(plan).log, 0, set()
    for turn in range(6):
        for row in rows(n, word, rng):
            r = np.clip(np.rint(row * (hi + 1)), -hi, hi).astype(np.int64)
            y_raw = rng.integers(raw.lo, raw.hi, n, endpoint=True)
            if turn % 3 == 1:  # all targets 0: only the predictor polynomial can leave its range
                y_raw[:] = plan.integer("y_offset")
            y = np.array([convert_y(int(v), input_constants(plan), log) for v in y_raw], dtype=np.int64)
            a, x, out = (np.zeros(size, dtype=np.int64) for size in (n, n, 5 + n))
            g, room = np.zeros((3, n), dtype=np.int64), np.zeros((2, 1), dtype=np.int64)
            status = schur(y.reshape(1, n), r, a, x.reshape(1, n), g, room, out, solver_constants(plan),
                           generator, log)
            backend.reset()
            found, state = solved(backend, "schur", r, y)
            assert STATUSES[found] == STATUSES[status]
            for member, expected in zip(("a", "alpha", "p", "q", "s"), (a, x, *g), strict=True):
                assert state[member].tolist() == expected.tolist(), member
            if found == OK:  # else the caller forgets what is there
                assert [int(state[k][0]) for k in ("eps", "a_exp", "alpha_exp")] == out[:3].tolist()
            compared += 5 * n + 4
            met.add(STATUSES[found])
    assert met == {"ok", "not_positive_definite"}
    backend.close()
    ledger.record(backend="host:gcc:-O1", words=compared, case=f"{name} schur")


def systems(n, rng):
    """First rows of indefinite, singular and plain T, of any size, and none at all."""
    t = np.arange(n)
    gauss = np.exp(-0.5 * (t / 3.0) ** 2)
    eigenvalues = np.linalg.eigvalsh(scipy.linalg.toeplitz(gauss[:7]))
    for scale in (1.0, 1e-20, 1e30):
        yield rng.uniform(-1, 1, n) * scale
    yield rng.integers(-1, 2, n).astype(float)
    yield np.where(t == 1, 1.0, 0.0)                     # every odd leading minor is 0
    yield np.concatenate(([0, 1, 1, 0.3], 0.2 * 0.9 ** t[4:]))
    yield np.where(t == 2, -0.5, 0.5**t)                 # the third leading minor is 0
    yield gauss - np.where(t == 0, eigenvalues[3], 0.0)  # the seventh is
    yield gauss + np.where(t == 0, 0.01, 0.0)
    yield np.ones(n)
    yield np.zeros(n)
    yield np.full(n, np.nan)
    yield np.where(t == 0, np.inf, 1.0)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_lookahead_in_float32_equals_its_model_bit_for_bit(cases, require_tool, ledger, compiler):
    tool = "python:ziglang" if compiler == "zig" else compiler
    require_tool(tool, REMEDY[compiler])
    case, name = cases("lookahead16_f32"), "lookahead16_f32"
    n, met = case.plan.sizes["n"], set()
    expected = []
    rng = np.random.default_rng(5)
    for row in systems(n, rng):
        r, y = row.astype(np.float32), rng.uniform(-1, 1, n).astype(np.float32)
        solver = LookaheadF32(n)
        status, x = solver.solve(r, y)
        expected.append((r, y, status, x if status == OK else np.zeros_like(x), solver.fields()))
        met.add(STATUSES[status])
    assert met == {"ok", "breakdown"}
    for level in LEVELS[compiler]:
        backend, compared = HostBackend(case.plan, case.folder, compiler=compiler, flags=(level,)), 0
        backend.ffi.cdef(SOLVE_F32.format(name))
        for r, y, status, x, fields in expected:
            found = np.zeros(n, dtype=np.float32)
            pointers = [backend.ffi.from_buffer("float[]", v) for v in (r, y, found)]
            got = getattr(backend.library, f"{name}_lookahead_f32_solve_row")(backend.trainer, *pointers)
            assert (STATUSES[got], found.view(np.uint32).tolist()) == (
                STATUSES[status], x.view(np.uint32).tolist())
            state = backend.workspace()
            if status == OK:  # else NaN may be there, of which there are many
                for member, words in fields.items():
                    assert state[member].tolist() == words.ravel().tolist(), member
                    compared += len(words)
            compared += n + 1
        backend.close()
        ledger.record(backend=f"host:{compiler}:{level}", words=compared, case="lookahead float32")


def word_systems(n, rng):
    """The same in words of 32 bits, and words at the rails; what is no number has none."""
    for row in systems(n, rng):
        size = np.abs(row).max()
        if np.isfinite(size):
            yield np.rint(row / max(size, 1e-30) * (2**31 - 1)).astype(np.int64)
    for lo, hi in ((-(2**31), 2**31), (-3, 4), (0, 2)):
        yield rng.integers(lo, hi, n)
    yield rng.choice([-(2**31), 2**31 - 1], n)
    yield np.where(np.arange(n) % 5 == 4, 2**31 - 1, 1)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_fixed_point_lookahead_equals_its_model_on_rows_of_every_kind(cases, require_tool, ledger, compiler):
    """A word of -2**31 in the row counts as one more: its negative must be a word."""
    tool = "python:ziglang" if compiler == "zig" else compiler
    require_tool(tool, REMEDY[compiler])
    case, name = cases("lookahead16"), "lookahead16"
    n, met, expected = case.plan.sizes["n"], set(), []
    rng = np.random.default_rng(5)
    for r in word_systems(n, rng):
        for size in (2**31, 1):  # targets at the rails; and next to nothing
            y, solver = rng.integers(-size, size, n), Lookahead(n)
            row = np.maximum(r, 1 - 2**31)
            status, x, e = solver.solve(int(row[0]), row, y, 0)
            found = (x.tolist(), e) if status == OK else ([0] * n, 0)
            expected.append((r, y, STATUSES[status], found, solver.fields()))
            met.add(STATUSES[status])
    assert met == {"ok", "breakdown"}
    for level in LEVELS[compiler]:
        backend, compared = HostBackend(case.plan, case.folder, compiler=compiler, flags=(level,)), 0
        backend.ffi.cdef(SOLVE_S32.format(name))
        for r, y, status, found, fields in expected:
            x, e = backend.ffi.new("int32_t[]", n), backend.ffi.new("int32_t *")
            got = getattr(backend.library, f"{name}_lookahead_solve_s32")(
                backend.trainer, *(backend.ffi.new("int32_t[]", v.tolist()) for v in (r, y)), x, e)
            assert (STATUSES[got], (list(x), e[0])) == (status, found)
            state = backend.workspace()
            for member, words in fields.items():
                assert state[member].tolist() == words.ravel().tolist(), member
                compared += len(words)
            compared += n + 2
        backend.close()
        ledger.record(backend=f"host:{compiler}:{level}", words=compared, case="lookahead in words")
