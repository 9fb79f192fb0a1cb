"""Count what the integer model does in one call, in plain Python, with integers that notice a product.

``KERNCAST_ENGINE=python python count_operations.py CASE...`` prints for each case, as JSON, its name, and the
counts of learning and predicting by the names of ``plan.operations``, beside those that the plan states.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kerncast.sim.jit import COMPILED
from kerncast.sim.model import base, bound, certify, cg, kernel, open_model, outputs, predict, toeplitz
from kerncast.sim.model.online import lms, metric, slots, state
from kerncast.sim.model.statuses import PENDING
from kerncast.sim.model.toeplitz import banded, candidate, levinson, ranged, refine, schur, trainer
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

MODULES = (banded, base, bound, candidate, certify, cg, toeplitz.corrections, toeplitz.first_row,
           toeplitz.geometric, toeplitz.intercept, toeplitz.long_factor, kernel, levinson, lms, metric,
           outputs, predict, ranged, refine, schur, slots, state, trainer)
COUNTS: Counter[str] = Counter()
#: The call of a case that is neither a training nor an update.
CALLS = {"settled": "update_without_searches", "star_begin": "update_begin", "star_run": "update_run",
         "simplex_run": "update_run"}
#: What multiplies on its own account: such products are counted with the function that makes them.
INSIDE: list[str] = []


class Counted(int):
    """An integer whose product of two such integers is counted."""


def _binary(name: str) -> None:
    def forward(self: int, other: Any) -> Any:
        if name == "__mul__" and isinstance(other, Counted):
            COUNTS[f"products in {INSIDE[0]}" if INSIDE else "multiplications"] += 1
        found = getattr(int, name)(int(self), int(other))
        return found if found is NotImplemented else Counted(found)

    setattr(Counted, name, forward)
    # A literal 2 before something is a shift, any other number from without a factor like those within.
    def reverse(self: int, other: Any) -> Any:
        return Counted(2 * int(self)) if name == "__mul__" and other == 2 else forward(Counted(other), self)

    setattr(Counted, "__r" + name[2:], reverse)


for _name in ("__add__", "__sub__", "__mul__", "__lshift__", "__rshift__", "__and__", "__or__", "__xor__",
              "__floordiv__"):
    _binary(_name)
Counted.__abs__ = lambda self: Counted(abs(int(self)))  # type: ignore[method-assign]
Counted.__neg__ = lambda self: Counted(-int(self))  # type: ignore[method-assign]


def counted(values: Any) -> Any:
    """`values` as counted integers, of the same shape."""
    array = np.empty(np.shape(values), dtype=object)
    for index, value in np.ndenumerate(np.asarray(values, dtype=object)):
        array[index] = Counted(value)
    return array


class _Numpy:
    """What the models use of NumPy, with counted integers."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def zeros(shape: Any, dtype: Any = None) -> Any:
        """Zeros to compute with."""
        return counted(np.zeros(shape, dtype=np.int64))

    @staticmethod
    def array(values: Any, dtype: Any = None) -> Any:
        """Constants to compute with."""
        return counted(values)

    @staticmethod
    def arange(count: int, dtype: Any = None) -> Any:
        """Indices to compute with."""
        return counted(np.arange(count))


class _Raw:
    """The models' check of raw words, which would make plain integers of counted ones."""

    @staticmethod
    def inputs(_: Any, x_raw: Any) -> Any:
        """What came."""
        return x_raw

    @staticmethod
    def targets(_: Any, y_raw: Any) -> Any:
        """What came."""
        return y_raw

    @staticmethod
    def samples(_: Any, x_raw: Any, y_raw: Any) -> Any:
        """What came."""
        return x_raw, y_raw

    @staticmethod
    def whole_set(plan: Any, x_raw: Any, y_raw: Any) -> Any:
        """What came."""
        return None if plan.uniform else x_raw, y_raw


def watch(name: str, label: str, owns_products: bool) -> None:
    """Count the calls of a function wherever a model calls it."""
    for module in MODULES:
        real: Callable[..., Any] | None = getattr(module, name, None)
        if real is None:
            continue

        def call(*arguments: Any, real: Callable[..., Any] = real) -> Any:
            COUNTS[label] += 1
            if not owns_products:
                return real(*arguments)
            INSIDE.append(label)
            try:
                return real(*arguments)
            finally:
                INSIDE.pop()

        setattr(module, name, call)


def open_counted(plan: Any) -> Any:
    """The model of a plan with counted integers in its state and its constants."""
    for module in MODULES:
        if hasattr(module, "np"):
            module.np = _Numpy()  # type: ignore[attr-defined]
        if hasattr(module, "raw"):
            module.raw = _Raw()  # type: ignore[attr-defined]
    watch("kernel_word", "kernel_values", owns_products=True)
    watch("exponent", "exponents", owns_products=True)
    watch("square_diff", "distance_terms", owns_products=True)
    watch("abs_diff", "distance_terms", owns_products=True)
    watch("divide", "divisions", owns_products=True)
    watch("isqrt_ceil", "roots", owns_products=True)
    watch("divide_round", "divisions", owns_products=True)
    watch("convert_x", "inputs converted", owns_products=True)
    watch("convert_y", "targets converted", owns_products=True)
    watch("bounded_sum", "limits", owns_products=True)  # the limit is a constant of the device
    watch("window", "windows", owns_products=True)  # so are those of the window
    # One word by 64 bits: one multiplication, whatever a processor makes of it.
    real = levinson.mul_shift

    def mul_shift(a: int, c: int, s: int) -> int:
        COUNTS["multiplications"] += 1
        return Counted(real(int(a), int(c), int(s)))

    levinson.mul_shift = mul_shift
    metric.mul_shift = mul_shift
    # Products with a constant of the plan count as well.
    real_integer = type(plan).integer
    type(plan).integer = lambda self, name: Counted(real_integer(self, name))
    return open_model(plan)


def uniform() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Training on a grid."""
    return _trainer("uniform", 1)


def diagonal_mean() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Training on rows of three columns."""
    return _trainer("diagonal_mean_biased", 3)


def static() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Training with exponents that stand still."""
    return _trainer("diagonal_mean_biased", 3, scaling="static")


def generators() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Training by the Schur form."""
    return _trainer("diagonal_mean_biased", 3, solver="schur")


def zeros() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Training on a grid with a first row that ends early."""
    return _trainer("uniform", 1, n=40)


def zeros_of_generators() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """The same by the Schur form."""
    return _trainer("uniform", 1, solver="schur", n=40)


def refined() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Two solves, neither of which leaves nothing to do."""
    return _trainer("diagonal_mean_biased", 3, refine=1)


def _trainer(scheme: str, columns: int, n: int = 9, outputs: int = 1,
             kind: str = "gaussian", word: int = 16, sigma: float = 4.3, **options: Any) -> tuple[Any, ...]:
    plan = make_plan(Spec(model={"name": "probe", "algorithm": "toeplitz_rls"},
                          input={"word": "u8f0", "columns": columns}, numbers={"word": word},
                          output={"word": "s8f0", "outputs": outputs},
                          kernel={"sigma": sigma if n > 9 else 100.0, "type": kind},
                          toeplitz={"n": n, "lam": 2.0, "scheme": scheme, **options}))
    rng = np.random.default_rng(0)
    x, y = counted(rng.integers(0, 256, (n, columns))), rng.integers(-128, 128, (n, outputs)[:outputs])
    return (plan, lambda model: model.train(None if scheme == "uniform" else x, counted(y)),
            lambda model: model.predict(x[:1] if n == 9 else counted([[n // 2]])))


bias = partial(_trainer, "diagonal_mean_biased", 3, bias=True)
band = partial(_trainer, "uniform", 1, solver="banded", n=40)
band_refined = partial(_trainer, "uniform", 1, solver="banded", n=60, refine=1)
band_bias = partial(_trainer, "uniform", 1, solver="banded", n=40, bias=True)
band_ranged = partial(_trainer, "uniform", 1, solver="banded", n=64, lambda_range=[0.01, 4.0])
band_ranged_32 = partial(band_ranged, word=32)
band_outputs = partial(_trainer, "uniform", 1, solver="banded", n=40, bias=True, outputs=3)
geometric_16 = partial(_trainer, "uniform", 1, solver="banded", n=40, kind="laplacian")
geometric_wide = partial(_trainer, "uniform", 1, solver="banded", n=80, kind="laplacian", sigma=300.0)
geometric_32 = partial(_trainer, "uniform", 1, solver="banded", n=40, kind="laplacian", word=32)


def gradients() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Conjugate gradients that need every step they are given."""
    n, columns = 9, 3
    plan = make_plan(Spec(model={"name": "probe", "algorithm": "kernel_cg"},
                          input={"word": "u8f0", "columns": columns}, output={"word": "s8f0"},
                          kernel={"sigma": 100.0}, cg={"n": n, "lam": 0.01, "steps": 4}))
    rng = np.random.default_rng(0)
    x, y = counted(rng.integers(0, 256, (n, columns))), counted(rng.integers(-128, 128, n))
    return plan, lambda model: model.train(x, y), lambda model: model.predict(x[:1])


def _update(model: Any, x: Any, y: Any) -> Any:
    return model.update(x, y)


def _costliest_search(model: Any, x: Any, y: Any) -> None:
    """Learn one sample; count the most of each operation in a call with one search."""
    model.update_begin(x, y)
    most: Counter[str] = Counter()
    status = PENDING
    while status == PENDING:
        COUNTS.clear()
        status = model.update_run(1)
        most |= COUNTS
    COUNTS.clear()
    COUNTS.update(most)


def _simplex(rho: float = 0.0, how: Callable[[Any, Any, Any], Any] = _update,
             **online: Any) -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Vectors 20 e_i, of which none is near another; multipliers a quarter of full scale, older ones smaller.

    With rho the decay takes all of them below 0.25 full scales, 32 in units of y, together.
    """
    budget = 8
    plan = make_plan(Spec(model={"name": "probe", "algorithm": "kernel_lms"},
                          input={"word": "u8f0", "columns": budget + 1}, output={"word": "s8f0"},
                          kernel={"sigma": 6.4}, online={"budget": budget, "eta": 0.5, "rho": rho, **online},
                          numbers={"formats": {"alpha": "s16f16"}}))
    corners = 20 * np.eye(budget + 1, dtype=np.int64)

    def learn(model: Any) -> Any:
        model.update(counted(corners[:budget]), counted(np.full(budget, 100)))
        quarter = 1 << 14
        for slot in range(budget):
            model._state.alpha[slot] = Counted(quarter + 300 + 40 * slot)
        COUNTS.clear()
        return how(model, counted(corners[budget:]), counted([63]))

    return plan, learn, lambda model: model.predict(counted(corners[:1]))


def stream() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Each update of a long random stream; the most of each count over all of them."""
    plan, _, ask = _learner(0.1)
    rng = np.random.default_rng(2)

    def learn(model: Any) -> None:
        most: Counter[str] = Counter()
        for _ in range(150):
            COUNTS.clear()
            model.update(counted(rng.integers(0, 8, (1, plan.sizes["D"])) * 30), counted([3]))
            most |= COUNTS
        COUNTS.clear()
        COUNTS.update(most)

    return plan, learn, ask


def settled() -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """The sum of the counts of 100 updates, after 60 budgets of a stream in random order."""
    plan = make_plan(Spec(model={"name": "probe", "algorithm": "kernel_lms"},
                          input={"word": "u10f0", "columns": 2}, output={"word": "s8f0"},
                          kernel={"sigma": 300.0}, online={"budget": 8, "eta": 0.5, "rho": 0.1}))
    rng = np.random.default_rng(3)

    def learn(model: Any) -> None:
        for samples in (480, 100):
            COUNTS.clear()
            model.update(counted(rng.integers(0, 1024, (samples, 2))), counted(np.resize([3, -5], samples)))

    return plan, learn, lambda model: model.predict(counted(rng.integers(0, 1024, (1, 2))))


def _learner(rho: float, near: bool = False, how: Callable[[Any, Any, Any], Any] = _update,
             **online: Any) -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    budget = 8
    columns = budget - 2
    plan = make_plan(Spec(model={"name": "probe", "algorithm": "kernel_lms"},
                          input={"word": "u8f0", "columns": columns}, output={"word": "s8f0"},
                          kernel={"sigma": 300.0},
                          online={"budget": budget, "eta": 0.5, "rho": rho, **online}))
    centre = np.full(columns, 50)
    held = np.vstack([centre - 1, centre, centre + 20 * np.eye(columns, dtype=np.int64)])
    fresh = counted(held[3:4] + np.eye(columns, dtype=np.int64)[:1] if near else centre[np.newaxis] + 90)

    def learn(model: Any) -> Any:
        model.update(counted(held), counted(np.arange(budget)))
        assert model.state()["nearest_idx"][2:].tolist() == [1] * columns
        COUNTS.clear()
        return how(model, fresh, counted([7]))

    return plan, learn, lambda model: model.predict(fresh)


#: Cases of online learners.
LEARNERS: dict[str, Callable[[], Any]] = {
    # The worst update: the second oldest vector goes, and it was every younger one's nearest elder.
    "star": partial(_learner, 0.0),
    # The same with forgetting.
    "star_decay": partial(_learner, 0.1),
    # The same with fixed lambda_max: the new vector goes at once, too near to one that stays.
    "star_near": partial(_learner, 0.0, near=True, max_deterioration=8e-6),
    # The worst update again, with the searches after the insertion.
    "star_bounded": partial(_learner, 0.0, bounded_update=True),
    # The worst update again, up to its searches.
    "star_begin": partial(_learner, 0.0, how=lambda model, x, y: model.update_begin(x, y),
                          bounded_update=True),
    # The most expensive of the searches of the worst update, also with FMKLMS.
    "star_run": partial(_learner, 0.0, how=_costliest_search, bounded_update=True),
    "simplex_run": partial(_simplex, how=_costliest_search, reduction="fmklms", bounded_update=True),
    # FMKLMS: each search includes the new vector.
    "simplex_bounded": partial(_simplex, reduction="fmklms", bounded_update=True),
    # FMKLMS: all vectors are equally far apart, and the oldest, everybody's neighbour, goes.
    "simplex": partial(_simplex, reduction="fmklms"),
    # FMKLMS with fixed lambda_max: one after the other goes, and all others search each time.
    "simplex_all": partial(_simplex, reduction="fmklms", max_deterioration=1024.0, rho=0.1),
    # NT: neither rows nor searches.
    "magnitudes": partial(_simplex, reduction="nt"),
    # MT with forgetting: all go at once.
    "magnitudes_all": partial(_simplex, reduction="mt", max_deterioration=32.0, rho=0.1),
    # AT with the projection of FKLMS; fast KLMS, a row for the sums; fast MKLMS, fixed lambda_max: all go.
    "ages": partial(_simplex, reduction="at", projection="fklms"),
    "squares": partial(_simplex, metric="fast_klms"),
    "weighed_squares_all": partial(_simplex, metric="fast_mklms", max_deterioration=1024.0, rho=0.1),
    # The newest only, and the memory is full: FKLMS, FMKLMS, fast MKLMS.
    "newest": partial(_simplex, max_deterioration=0.1, newest_only=True),
    "newest_weighed": partial(_simplex, reduction="fmklms", max_deterioration=1e-3, newest_only=True),
    "newest_squares": partial(_simplex, metric="fast_mklms", max_deterioration=1e-3, newest_only=True),
}


def counts_of(case: str) -> dict[str, list[dict[str, int]]]:
    """Run one case; return what each of its two calls did, and the counts that its plan states."""
    plan, learn, ask = (LEARNERS.get(case) or globals()[case])()
    calls = ("train" if plan.trains else "update", "predict")
    calls = (CALLS.get(case, calls[0]), calls[1])
    planned = [{what: o.count for what, o in plan.operations[call].items()} for call in calls]
    model = open_counted(plan)
    found = []
    for call in (learn, ask):
        if call is ask and not plan.trains:
            model._count = plan.sizes["N"]  # a prediction costs most when no vector went
        COUNTS.clear()
        call(model)
        found.append(dict(COUNTS))
    return {"found": found, "planned": planned}


if __name__ == "__main__":
    assert not COMPILED, "set KERNCAST_ENGINE=python"
    for name in sys.argv[1:]:
        if os.fork():  # a case replaces functions of the model
            assert os.wait()[1] == 0, name
        else:
            print(json.dumps([name, counts_of(name)]), flush=True)
            os._exit(0)
