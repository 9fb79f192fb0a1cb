"""Run the integer models on integers that refuse to leave 64 bits.

Used as a program, with ``KERNCAST_ENGINE=python``, by ``test_int64.py``: numba's integers wrap
silently and NumPy's shifts too, so that an overflow inside a model would go unnoticed.
"""

from __future__ import annotations

import operator
import sys
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np


class Int64Overflow(AssertionError):
    """An intermediate value needs more than 64 bits."""


class CheckedInt(int):
    """An integer whose every result is checked to lie within int64."""

    def __hash__(self) -> int:
        return int.__hash__(self)


def _checked(value: int) -> CheckedInt:
    if not -(1 << 63) <= value < 1 << 63:
        raise Int64Overflow(f"{value} = 2**{abs(value).bit_length()} or so")
    return CheckedInt(value)


def _binary(name: str) -> None:
    plain = getattr(operator, name.strip("_") + ("_" if name in ("__and__", "__or__") else ""))

    def forward(self: CheckedInt, other: Any) -> CheckedInt:
        return _checked(plain(int(self), int(other)))

    def backward(self: CheckedInt, other: Any) -> CheckedInt:
        return _checked(plain(int(other), int(self)))

    setattr(CheckedInt, name, forward)
    setattr(CheckedInt, "__r" + name[2:], backward)


for _name in ("__add__", "__sub__", "__mul__", "__lshift__", "__rshift__", "__and__", "__or__",
              "__xor__", "__floordiv__", "__mod__"):
    _binary(_name)
CheckedInt.__neg__ = lambda self: _checked(-int(self))  # type: ignore[method-assign,assignment]
CheckedInt.__abs__ = lambda self: _checked(abs(int(self)))  # type: ignore[method-assign,assignment]


def checked_array(values: Any) -> np.ndarray[Any, Any]:
    """An object array of checked integers."""
    source = np.asarray(values, dtype=object)
    out = np.empty(source.shape, dtype=object)
    for index in np.ndindex(*source.shape):
        out[index] = _checked(int(source[index]))
    return out


def checked_numpy() -> SimpleNamespace:
    """What the models use of NumPy, giving checked integers for int64."""
    def zeros(shape: Any, dtype: Any = None) -> Any:
        return checked_array(np.zeros(shape, dtype=np.int64))

    def full(shape: Any, value: int, dtype: Any = None) -> Any:
        return checked_array(np.full(shape, value, dtype=np.int64))

    def arange(n: int, dtype: Any = None) -> Any:
        return checked_array(np.arange(n))

    return SimpleNamespace(zeros=zeros, full=full, arange=arange, int64=np.int64,
                           array=lambda values, dtype=None: checked_array(values),
                           asarray=lambda values, dtype=None: checked_array(values),
                           ascontiguousarray=lambda values: values,  # models read one of the two layouts
                           newaxis=np.newaxis, ndarray=np.ndarray)


def use_checked_integers() -> None:
    """Make the models of this process compute with checked integers; needs the Python jit."""
    from kerncast.sim import jit
    from kerncast.sim.model import base, cg, kernel, ranges
    from kerncast.sim.model.online import lms
    from kerncast.sim.model.toeplitz import lookahead, trainer

    assert not jit.COMPILED, "set KERNCAST_ENGINE=python"
    for module in (base, cg, kernel, lms, lookahead, ranges, trainer):
        module.np = checked_numpy()  # type: ignore[attr-defined]
        if hasattr(module, "raw"):  # which would make NumPy's integers of checked ones
            module.raw = SimpleNamespace(inputs=lambda _, x: x, targets=lambda _, y: y,
                                         samples=lambda _, x, y: (x, y),
                                         whole_set=lambda plan, x, y: (None if plan.uniform else x, y))


def _raw(words: Any) -> Any:
    return None if words is None else checked_array(words)


def run(case: Any) -> None:
    """Train or learn, then predict, with checked integers; stored words must fit their C type."""
    from kerncast.sim.model import open_model

    model = open_model(case.plan)
    if case.plan.trains:
        model.train(_raw(case.x_raw), _raw(case.y_raw))
    else:
        model.update(_raw(case.x_raw), _raw(case.y_raw))
    model.predict(_raw(case.x_test))
    check_memory(case.plan, model.state())
    check_ranges(case.plan, model)


def look_ahead(random: Random) -> None:
    """Solve a system whose leading blocks may be singular; every word fits its C type."""
    import random_cases

    from kerncast.sim.model.toeplitz.lookahead import Lookahead

    r, y = (checked_array(words) for words in random_cases.indefinite_system(random, 12))
    solver = Lookahead(len(r))
    solver.solve(_checked(random.choice((2**31, 2**31, 0, random.randint(-(2**31), 2**31)))), r, y, 1)
    for name, words in solver.fields().items():
        limit = 2 ** (63 if name == "wide" else 31)
        assert words.min() >= -limit and words.max() < limit, f"{name} does not fit its type"


def check_memory(plan: Any, state: Any) -> None:
    """Every member of the model structure holds words of its C type."""
    for field in plan.memory:
        bits = int(field.ctype.strip("uint_"))
        unsigned = field.ctype.startswith("u")
        lo, hi = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        words = state[field.name]
        assert words.min() >= lo and words.max() <= hi, f"{field.name} does not fit {field.ctype}"


def check_ranges(plan: Any, model: Any) -> None:
    """Every signal stayed in the range of its plan, and inputs never saturated."""
    for found in model.ranges:
        signal = plan.signals[found.name]
        assert signal.lo <= found.lo and found.hi <= signal.hi, f"{found.name} left its range: {found}"
        if found.name in ("x", "y"):
            assert found.saturated == 0, f"{found.name} saturated: {found}"


def main(first: int, last: int) -> None:
    """Run the cases of seeds first to last - 1; a line for each that fails."""
    import random_cases

    use_checked_integers()
    variants = (*random_cases.VARIANTS, {"solver": "lookahead"}, {"solver": "lookahead"})
    for seed in range(first, last):
        case = random_cases.any_case(Random(seed), 24, (-12.0, 12.0), variants)
        try:
            run(case)
            if seed % 10 == 0:
                look_ahead(Random(seed))
        except AssertionError as error:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            print(f"seed {seed}: {error} (line {place.tb_lineno if place else '?'}) in {case}")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
