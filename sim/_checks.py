"""sim: argument checks shared by several modules."""

from __future__ import annotations

import os
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Array
from .errors import fail


def is_real(value: object) -> bool:
    """Return whether `value` is a real number of Python or NumPy.

    `value` comes from the user, so it can be of any type, despite the annotation.
    """
    return isinstance(value, Real)


def is_integer(value: object) -> bool:
    """Return whether `value` is an integer of Python or NumPy.

    `value` comes from the user, so it can be of any type, despite the annotation.
    """
    return isinstance(value, Integral)


def finite_array(values: ArrayLike, where: str, code: str) -> Array:
    """Convert values to a float64 array; raise an error for NaN and infinity.

    Parameters
    ----------
    values : array_like
        Values of any shape.
    where : str
        Name of the argument, for the error message.
    code : str
        Error code to raise.

    Raises
    ------
    KerncastError
        `code` if the values contain NaN or infinity, with the index of the first such value, or if they are
        not real numbers.
    """
    try:
        given = np.asarray(values)
        array = given if np.iscomplexobj(given) else np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise fail(code, "the values are not numbers", where=where, value=type(values).__name__,
                   allowed="an array of real numbers", remedy=str(error)) from error
    if np.iscomplexobj(array):  # numpy would drop the imaginary part
        raise fail(code, "the values are complex", where=where, value=array.dtype,
                   allowed="an array of real numbers",
                   remedy="pass the real and the imaginary part as separate columns")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        raise fail(code, "NaN or infinity in the data", where=f"{where}{list(index)}",
                   value=array[index], allowed="finite numbers",
                   remedy="remove or replace these samples")
    return array


def positive(value: float, where: str, code: str, remedy: str) -> float:
    """Return `value` as a float; raise the error `code` if it is not finite and > 0."""
    if not is_real(value) or not 0.0 < value < float("inf"):  # also refuses NaN
        raise fail(code, f"{where} must be positive", where=where, value=value,
                   allowed="a finite number > 0", remedy=remedy)
    return float(value)


def free_bytes() -> int:
    """Return the available memory in bytes.

    If psutil is installed, the result includes memory that the operating system can reclaim.
    """
    try:
        from psutil import virtual_memory
    except ImportError:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(virtual_memory().available)
