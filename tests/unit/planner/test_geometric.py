"""The planner's choice of the geometric factor, its tables, and what does not support it."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg

from kerncast.codegen import hls, rtl
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def planned(kind="laplacian", sigma=3.0, lam=0.1, n=256, outputs=1, solver="banded", word=16, **toeplitz):
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f0", "outputs": outputs}, kernel={"type": kind, "sigma": sigma},
        numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": solver, **toeplitz}))


@pytest.mark.parametrize("sigma", [0.3, 3.0, 50.0, 1000.0])
@pytest.mark.parametrize("lam", [1e-4, 0.1, 100.0])
@pytest.mark.parametrize("n", [2, 3, 60])
def test_the_tables_are_the_factor_of_the_rounded_first_row(sigma, lam, n):
    plan = planned(sigma=sigma, lam=lam, n=n, word=32)
    rho, rows = plan.integer("rho") / 2**31, plan.integer("rows")
    assert rho == pytest.approx(np.exp(-1 / sigma), abs=2**-32)
    L = scipy.linalg.cholesky(scipy.linalg.toeplitz(rho ** np.arange(n)) + lam * np.eye(n), lower=True)
    g, ratio, pivot = (plan.tables[name] for name in ("generator", "ratio", "pivot"))
    for i in range(n - 1):
        row = min(i, rows - 1)
        assert g.values[row] * 2.0**-31 * rho == pytest.approx(L[i + 1, i] / L[i, i], rel=1e-8, abs=2**-31)
        lsb = float(pivot.format.lsb)
        assert lsb * pivot.values[row] == pytest.approx(L[i, i] ** -2, rel=1e-8, abs=lsb / 2)
    assert ratio.values[-1] == 1 << 30 and max(ratio.values) < 1 << 31


@pytest.mark.parametrize("sigma", [0.3, 3.0, 63.0, 65.0, 1000.0])
@pytest.mark.parametrize("lam", [1e-4, 100.0])
def test_the_bound_uses_no_more_than_the_smallest_eigenvalue(sigma, lam):
    plan, n = planned(sigma=sigma, lam=lam, n=300), 300
    rho, c = Fraction(plan.integer("rho"), 1 << 31), plan.integer("ridge_scale") / 2**31
    least = Fraction(2) ** (plan.integer("bound_shift") - 31 + plan.integer("residual_shift")) \
        / plan.integer("bound_gain")
    A = np.eye(n) * (1 - c) + c * scipy.linalg.toeplitz(float(rho) ** np.arange(n))
    assert float(least) <= np.linalg.eigvalsh(A)[0] * (1 + 1e-9)
    assert float(least) >= ((1 - c) + c * float((1 - rho) / (1 + rho))) * (1 - 1e-6)


@pytest.mark.parametrize("solver", ["banded", "auto"])
def test_a_laplacian_kernel_has_a_geometric_factor_for_every_sigma(solver):
    for sigma in (0.3, 3.0, 1e5):
        plan = planned(sigma=sigma, solver=solver)
        assert plan.geometric and "band" not in plan.tables
    why = planned(solver="auto").evidence["solver"]["why"]
    assert why == "the first row of the kernel matrix is geometric"


@pytest.mark.parametrize("more", [
    {"kind": "gaussian"}, {"bias": True}, {"refine": 1}, {"outputs": 2}, {"factor": "columns"},
    {"candidates": [[2.0, 0.2]]}, {"lambda_range": [0.05, 0.2]}])
def test_what_the_geometric_factor_does_not_support_has_columns(more):
    plan = planned(**more)
    assert not plan.geometric and "factor" not in plan.options


@pytest.mark.parametrize(("key", "more"), [
    ("[kernel] type", {"kind": "gaussian"}), ("[toeplitz] bias", {"bias": True}),
    ("[toeplitz] refine", {"refine": 1}), ("[output] outputs", {"outputs": 2}),
    ("[toeplitz] candidates", {"candidates": [[2.0, 0.2]]}),
    ("[toeplitz] lambda_range", {"lambda_range": [0.05, 0.2]}), ("[toeplitz] solver", {"solver": "schur"})])
def test_a_geometric_factor_that_is_not_supported_is_refused(key, more):
    with pytest.raises(KerncastError) as caught:
        planned(factor="geometric", **more)
    problem = caught.value.problems[0]
    assert (problem.code, problem.where) == ("E113", key) and "remove `factor`" in problem.remedy


@pytest.mark.parametrize("core", [rtl.solver.SOLVER, rtl.trainer.TRAINER, hls.cores.SOLVER,
                                  hls.cores.TRAINER])
def test_cores_that_train_support_it(core):
    assert core.fits(planned()) and core.fits(planned(factor="columns"))


@pytest.mark.parametrize(("sigma", "solver"), [(2.0, "banded"), (30.0, "levinson")])
def test_automatic_choice_respects_a_factor_of_columns(sigma, solver):
    """If the band is too wide, Levinson's recursion remains."""
    plan = planned(sigma=sigma, n=128, solver="auto", factor="columns")
    assert plan.solver == solver and not plan.geometric
    assert rtl.solver.SOLVER.fits(plan)
