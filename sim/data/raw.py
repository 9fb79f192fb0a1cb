"""sim.data: convert arrays from the user to ADC counts, and check them.

Values that are out of range are rejected; they never wrap around.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Words as Words
from ..errors import KerncastError, Problem, fail
from ..formats import Format
from ..plan import Plan


def inputs(plan: Plan, x_raw: Any, where: str = "x_raw") -> Words:
    """Convert the inputs for a plan to ADC counts, shape (m, D).

    The errors are those of :func:`check_raw`.
    """
    return check_raw(x_raw, plan.signals["x_raw"].format, plan.sizes["D"], where)


def targets(plan: Plan, y_raw: Any) -> Words:
    """Convert the targets for a plan to ADC counts.

    The shape is (m,), or (m, C) for several outputs. For a classifier, the targets are labels of shape (m,).
    The errors are those of :func:`check_targets`.
    """
    outputs, classes = (1, plan.class_names) if plan.decision else (plan.outputs, ())
    return check_targets(y_raw, plan.signals["y_raw"].format, outputs, classes)


def check_targets(y_raw: Any, fmt: Format, outputs: int, classes: tuple[str, ...] = ()) -> Words:
    """Convert targets to ADC counts, shape (m,) or (m, outputs).

    For a classifier, the targets are labels of shape (m,). The errors are those of :func:`check_raw`, and
    E253 for a label that is not one of the classes.
    """
    y = check_raw(y_raw, fmt, None if outputs == 1 else outputs, "y_raw")
    if classes and y.size and int(y.max()) >= len(classes):
        at = int(np.argmax(y >= len(classes)))
        raise fail("E253", "the label is not one of the classes", where=f"y_raw[{at}]", value=int(y[at]),
                   allowed=f"0 to {len(classes) - 1}", remedy="pass class indices")
    return y


def samples(plan: Plan, x_raw: Any, y_raw: Any) -> tuple[Words, Words]:
    """Convert inputs and targets to ADC counts; raise E248 if their numbers differ."""
    y, x = targets(plan, y_raw), inputs(plan, [] if x_raw is None else x_raw)
    if len(x) != len(y):
        raise fail("E248", "x and y have different numbers of samples", where="x_raw",
                   value=f"{len(x)} and {len(y)}", allowed="one target per sample",
                   remedy="pass x and y with the same number of samples")
    return x, y


def training_set(plan: Plan, x_raw: Any, y_raw: Any) -> tuple[Words | None, Words]:
    """Convert the inputs and targets of a batch trainer to ADC counts.

    For a uniform grid, the inputs are None.

    Raises
    ------
    KerncastError
        The errors of :func:`check_raw`, and E248 if the number of samples is not n.
    """
    uniform = plan.uniform
    x, y = (None, targets(plan, y_raw)) if uniform else samples(plan, x_raw, y_raw)
    wanted = plan.sizes.get("n", len(y))
    if len(y) != wanted:
        raise fail("E248", "the number of samples differs from the number in the plan", where="y_raw",
                   value=len(y), allowed=f"n = {wanted}", remedy=f"pass n samples, or change {plan.size_key}")
    return x, y


def whole_set(plan: Plan, x_raw: Any, y_raw: Any) -> tuple[Words | None, Words] | None:
    """Convert the samples of a batch trainer; return None if their number is not n."""
    y, n = targets(plan, y_raw), plan.sizes["n"]
    x = None if plan.uniform or x_raw is None else inputs(plan, x_raw)
    return (x, y) if len(y) == n and (plan.uniform or (x is not None and len(x) == n)) else None


def quantise(values: NDArray[np.float64], steps: Any, offsets: Any, fmt: Format, where: str) -> Words:
    """Convert physical values to ADC counts, ``round(value / step) + offset``.

    Parameters
    ----------
    values : ndarray of float64, shape (m, D)
        Finite values.
    steps, offsets : array_like of shape (D,) or ()
        Value of one ADC count in each column, and ADC count of the value 0.
    fmt : Format
        Format of the ADC counts.
    where : str
        Name of the argument, for the error message.

    Raises
    ------
    KerncastError
        E246 if a value exceeds the range of `fmt`.
    """
    rounded = np.rint(values / np.asarray(steps, dtype=np.float64)) + np.asarray(offsets, dtype=np.float64)
    return check_raw(rounded, fmt, values.shape[1], where)


def little_endian(plan: Plan, signal: str, words: Words) -> NDArray[Any]:
    """Convert ADC counts to a flat little-endian array of the type on the device."""
    kind = np.dtype(plan.signals[signal].format.c_type.removesuffix("_t")).newbyteorder("<")
    return np.ascontiguousarray(words.reshape(-1), dtype=kind)


def check_raw(values: Any, fmt: Format, columns: int | None, where: str) -> Words:
    """Convert an array of any type to ADC counts, and check it.

    Parameters
    ----------
    values : array_like of shape (m, columns), or (m,) if `columns` is 1 or None
        Integers; floats are accepted if all of them are whole numbers.
    fmt : Format
        Format of the ADC counts.
    columns : int or None
        Number of columns; None for an array of shape (m,).
    where : str
        Name of the argument, for the error message.

    Returns
    -------
    ndarray of int64, shape (m, columns), or (m,) if `columns` is None

    Raises
    ------
    KerncastError
        E248 for the wrong shape, E244 for values that are not integers, E245 for NaN or infinity, E246 for
        values out of range. Each of these is reported once, with the index of the first such value.
    """
    array = _as_numbers(values, where)
    if columns == 1 and array.ndim == 1:
        array = array[:, None]
    right = array.ndim == 1 if columns is None else array.ndim == 2 and array.shape[1] == columns
    if not right:
        raise fail("E248", "the array has the wrong shape", where=where, value=np.shape(values),
                   allowed="(m,)" if columns is None else f"(m, {columns})",
                   remedy="reshape the array, or correct `columns` in [input]")
    infinite, fraction, outside = _offenders(array, fmt)
    problems = [_offence(code, message, array, bad, where, allowed, remedy)
                for code, message, bad, allowed, remedy in (
        ("E245", "NaN or infinity in the data", infinite, "finite numbers", "remove or repair the sample"),
        ("E244", "ADC counts must be integers", fraction, "integers",
         "pass ADC counts, which offset and gain of [input] convert; for the plan of an estimator use "
         "kerncast.raw_inputs(plan, X)"),
        ("E246", f"the value does not fit the ADC format {fmt}", outside, f"{fmt.lo} to {fmt.hi}",
         "use a wider format, or repair the sample")) if bad.any()]
    if problems:
        raise KerncastError(problems)
    return array.astype(np.int64)


def _as_numbers(values: Any, where: str) -> NDArray[Any]:
    """Convert values to an array of real numbers; raise E244 for other types.

    Python integers of any size remain exact, because the array then contains objects.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = np.array([_exact(v) for v in array.ravel()], dtype=object).reshape(array.shape)
    except (TypeError, ValueError):
        array = np.asarray("")
    if array.dtype.kind not in "biufO":
        raise fail("E244", "ADC counts must be integers", where=where, value=f"an array of {array.dtype}"
                   if array.ndim else type(values).__name__, allowed="an array of integers",
                   remedy="pass ADC counts as integers")
    return array


def _exact(value: Any) -> int | float:
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


def _offenders(array: NDArray[Any], fmt: Format) -> tuple[NDArray[np.bool_], ...]:
    """Return masks of values that are not finite, not whole, and out of range.

    Each value is in at most one of the masks.
    """
    nothing = np.zeros(array.shape, dtype=bool)
    infinite = fraction = nothing
    if array.dtype.kind in "fO":
        finite = np.isfinite(array) if array.dtype.kind == "f" else np.array(
            [abs(v) != float("inf") and v == v for v in array.ravel()], dtype=bool).reshape(array.shape)
        infinite = ~finite
        held = np.where(finite, array, 0)
        fraction = np.asarray(held % 1 != 0, dtype=bool)
    held = np.where(infinite | fraction, 0, array)
    outside = np.asarray((held < fmt.lo) | (held > fmt.hi), dtype=bool) & ~infinite & ~fraction
    return infinite, fraction, outside


def _offence(code: str, message: str, array: NDArray[Any], bad: NDArray[np.bool_], where: str,
             allowed: str, remedy: str) -> Problem:
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    count = int(bad.sum())
    more = f" ({count} such values)" if count > 1 else ""
    return Problem(code, message + more, f"{where}{list(index)}", str(array[index]), allowed, remedy)
