"""Every kernel in integers: how near it is to the real one, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.jit import jit
from kerncast.sim.kernels import KERNELS, Laplacian, Periodic, Polynomial, make_kernel
from kerncast.sim.model.kernel import distance, kernel, kernel_constants
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.kernel import word_error
from kerncast.sim.planner.words import WORD_CLASSES
from kerncast.sim.primitives import abs_diff, abs_sinpi
from kerncast.sim.spec import Spec
from kerncast.sim.tables import sine as sine_table

#: Largest error seen, in lsb of the kernel, with a margin; words of 16, 24 and 32 bits.
ACCURACY = [
    ({"type": "gaussian", "sigma": 0.7}, (1.0, 1.0, 2.0)),
    ({"type": "laplacian", "sigma": 0.7}, (1.0, 1.0, 2.0)),
    ({"type": "matern32", "sigma": 0.7}, (1.5, 0.6, 4.0)),
    ({"type": "matern52", "sigma": 0.7}, (1.5, 0.6, 4.0)),
    ({"type": "periodic", "sigma": 1.0, "period": 0.9}, (1.0, 1.0, 4.0)),
    ({"type": "periodic", "sigma": 0.1, "period": 0.9}, (1.0, 1.0, 40.0)),
    ({"type": "linear"}, (1.0, 1.0, 2.0)),
    ({"type": "polynomial", "degree": 2, "gamma": 0.5, "coef0": 1.0}, (0.6, 0.6, 4.0)),
    ({"type": "polynomial", "degree": 5, "gamma": 0.5, "coef0": 1.0}, (0.6, 0.7, 10.0)),
]
PARAMETERS = {"gaussian": {"sigma": 1.0}, "laplacian": {"sigma": 1.0}, "matern32": {"sigma": 1.0},
              "matern52": {"sigma": 1.0},
              "periodic": {"sigma": 1.0, "period": 0.5}, "linear": {},
              "polynomial": {"degree": 2, "gamma": 1.0, "coef0": 1.0}}


def spec_of(given, word, columns=2, raw="s16f14", **changes):
    return Spec(**{
        "model": {"name": "probe", "algorithm": "kernel_cg"}, "cg": {"n": 4, "lambda": 0.5, "steps": 4},
        "input": {"word": raw, "columns": columns}, "output": {"word": "s12f0"}, "kernel": given,
        "numbers": {"word": word}, **changes})


def plan_of(given, word, columns=2, **changes):
    return make_plan(spec_of(given, word, columns, **changes))


def values(plan, U, V):
    """Kernel words of pairs of x words."""
    k, log = kernel_constants(plan), Ranges(plan).log
    return np.array([kernel(distance(u, v, k), k, log) for u, v in zip(U, V, strict=True)])


def pairs(plan, count, seed):
    """Pairs of x words: the rails, neighbours, and others."""
    x, chance = plan.signals["x"], np.random.default_rng(seed)
    U, V = (chance.integers(x.lo, x.hi + 1, (count, plan.sizes["D"])) for _ in range(2))
    near = chance.random(count) < 0.5
    V[near] = np.clip(U[near] + chance.integers(-(x.hi >> 3), x.hi >> 3, V[near].shape), x.lo, x.hi)
    U[:3], V[:3] = x.lo, x.lo
    U[1:3], V[2] = x.hi, x.hi
    return U, V


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize(("given", "most"), ACCURACY)
def test_kernel_values_are_within_the_stated_distance_of_the_real_kernel(given, most, word):
    plan = plan_of(given, word)
    U, V = pairs(plan, 4000, 5)
    lsb = float(Fraction(plan.units["x"]))
    exact = make_kernel(plan.options).pairs(U * lsb, V * lsb) * 2.0 ** plan.signals["kernel"].format.frac
    error = np.abs(values(plan, U, V) - exact).max()
    assert error <= most[(16, 24, 32).index(word)]
    spec = spec_of(given, word)
    assert error <= word_error(spec, WORD_CLASSES[word], plan.constants.get("kernel_out_shift", 0))


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("kind", ["gaussian", "laplacian", "matern32", "matern52", "periodic"])
def test_kernels_of_a_distance_are_1_at_0_symmetric_and_fall(kind, word):
    plan = plan_of({"type": kind, **PARAMETERS[kind]}, word)
    one = 1 << plan.signals["kernel"].format.frac
    U, V = pairs(plan, 500, 6)
    assert (values(plan, U, U) == one).all()
    assert (values(plan, U, V) == values(plan, V, U)).all()
    k, log = kernel_constants(plan), Ranges(plan).log
    rising = np.sort([distance(u, v, k) for u, v in zip(U, V, strict=True)])
    # A Matern kernel is a product of two rounded numbers.
    assert (np.diff([kernel(d, k, log) for d in rising]) <= (1 if plan.matern else 0)).all()


def test_a_period_further_on_the_periodic_kernel_is_the_same():
    plan = plan_of({"type": "periodic", "sigma": 0.3, "period": 0.25}, 32, columns=1)
    step = int(Fraction(1, 4) / Fraction(plan.units["x"]))
    u = np.arange(0, step, 37)[:, np.newaxis]
    for turns in (1, 3):
        assert (values(plan, u, np.zeros_like(u)) == values(plan, u + turns * step, np.zeros_like(u))).all()


@jit
def _sines(start, step, table, out):
    for i in range(out.shape[0]):
        out[i] = abs_sinpi(start + i * step, table)


def test_sine_is_within_1_2_lsb_symmetric_and_at_its_ends_exact():
    table = np.array(sine_table(), dtype=np.int64)
    for start, step, count in ((0, 1 << 10, 1 << 22), (0, 1, 1 << 20), ((1 << 31) - (1 << 19), 1, 1 << 20),
                               ((255 << 23) - 1000, 1, 2000), (123, 1009, 1 << 22)):
        found = np.zeros(count, dtype=np.int64)
        _sines(start, step, table, found)
        t = (start + step * np.arange(count, dtype=np.int64)) % (1 << 32)
        wanted = np.sin(np.pi * (np.minimum(t, (1 << 32) - t) / 2.0**32)) * 2.0**31
        assert np.abs(found - wanted).max() <= 1.2
        assert found.min() >= 0 and found.max() <= 1 << 31
    for t in (0, 1, 1 << 23, (1 << 31) - 1, 1 << 31):
        assert abs_sinpi(t, table) == abs_sinpi((1 << 32) - t, table) == abs_sinpi(t + (5 << 32), table)
    assert (abs_sinpi(0, table), abs_sinpi(1 << 31, table)) == (0, 1 << 31)


def test_abs_diff_for_all_values_of_8_bits():
    for u in range(-128, 128):
        for v in range(-128, 128):
            assert abs_diff(7, u, v) == 7 + abs(u - v)


def test_float_kernels_are_their_formulas():
    U, V = np.array([[1.0, 2.0]]), np.array([[4.0, -2.0]])
    assert Laplacian(2.0)(U, V)[0, 0] == pytest.approx(np.exp(-7 / 2))
    sines = np.sin(np.pi * 3 / 5) ** 2 + np.sin(np.pi * 4 / 5) ** 2
    assert Periodic(0.8, 5.0)(U, V)[0, 0] == pytest.approx(np.exp(-2 * sines / 0.64))
    assert Polynomial(3, 0.5, 2.0)(U, V)[0, 0] == pytest.approx(8.0)
    assert make_kernel({"kernel": "linear"})(U, V)[0, 0] == 0.0


def test_laplacian_and_polynomial_are_scikit_learns():
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    U, V = np.random.default_rng(0).normal(size=(2, 6, 3))
    np.testing.assert_allclose(Laplacian(2.5)(U, V), pairwise.laplacian_kernel(U, V, gamma=0.4), rtol=1e-12)
    np.testing.assert_allclose(Polynomial(3, 0.2, 1.5)(U, V),
                               pairwise.polynomial_kernel(U, V, degree=3, gamma=0.2, coef0=1.5), rtol=1e-12)


@pytest.mark.parametrize("kind", ["polynomial", "linear"])
@pytest.mark.parametrize(("algorithm", "table", "names"), [
    ("toeplitz_rls", {"toeplitz": {"n": 4, "lam": 0.1, "scheme": "diagonal_mean"}},
     ["depends on u - v only"]),
    ("kernel_lms", {"online": {"budget": 4, "eta": 0.1}}, ["k(v, v) = 1", "decreases with a distance"]),
])
def test_a_kernel_without_the_properties_is_refused_and_they_are_named(kind, algorithm, table, names):
    with pytest.raises(KerncastError, match="E231") as caught:
        plan_of({"type": kind, **PARAMETERS[kind]}, 16, model={"name": "probe", "algorithm": algorithm},
                cg=None, **table)
    problem = caught.value.problems[0]
    assert all(name in problem.message for name in names)
    assert problem.allowed == "gaussian, laplacian, matern32, matern52, periodic"


@pytest.mark.parametrize("kind", KERNELS)
def test_keys_of_another_kernel_are_refused_and_missing_ones_named(kind):
    own = PARAMETERS[kind]
    others = {key: value for given in PARAMETERS.values() for key, value in given.items() if key not in own}
    for key, value in others.items():
        with pytest.raises(KerncastError, match=f"E113: the {kind} kernel has no parameter {key}"):
            plan_of({"type": kind, **own, key: value}, 16)
    for key in own:
        with pytest.raises(KerncastError, match=f"E106: {key} is missing"):
            plan_of({"type": kind, **{k: v for k, v in own.items() if k != key}}, 16)


@pytest.mark.parametrize(("given", "word"), [
    ({"type": "periodic", "sigma": 1.0, "period": 1e-4}, 16),
    ({"type": "periodic", "sigma": 1.0, "period": 1e6}, 16),
    ({"type": "periodic", "sigma": 1e-7, "period": 0.5}, 16), ({"type": "laplacian", "sigma": 1e-11}, 16),
    ({"type": "polynomial", "degree": 5, "gamma": 1e-6, "coef0": 1.0}, 16),
    ({"type": "polynomial", "degree": 2, "gamma": 1e-10, "coef0": 1.0}, 24),
])
def test_what_leaves_no_bits_is_refused_with_place_and_remedy(given, word):
    with pytest.raises(KerncastError, match="E204") as caught:
        plan_of(given, word)
    problem = caught.value.problems[0]
    assert problem.where.startswith("[kernel]") and problem.allowed and problem.remedy


def test_spec_and_plan_carry_the_parameters_of_their_kernel():
    plan = plan_of({"type": "periodic", "sigma": 1.5, "period": 0.5}, 16)
    assert dict(plan.options).items() >= {"kernel": "periodic", "sigma": "1.5", "period": "0.5"}.items()
    assert {"exp2", "sine"} == set(plan.tables)
    assert not plan_of({"type": "linear"}, 16).tables
