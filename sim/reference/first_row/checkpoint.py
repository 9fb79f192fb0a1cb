"""sim.reference: how far the sums of diagonals have come, kept in a file that is whole at any moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ...errors import KerncastError, fail

# Sums of float32 values are right to some 1e-6 of themselves.
_ROUNDING = 1e-4


class State(NamedTuple):
    """The bands done, and the sums over them, of shape (n,)."""

    bands: int
    sums: Array


def save(path: str | Path, key: str, state: State) -> None:
    """Put the state in its place at one stroke; E191 where that fails."""
    write_npz(path, "checkpoint", key=np.array(key), bands=np.array(state.bands), sums=state.sums)


def write_npz(path: str | Path, what: str, **arrays: NDArray[Any]) -> None:
    """Write an NPZ file beside its place and put it there at one stroke, so that it is whole or not there.

    Parameters
    ----------
    path : str or Path
    what : str
        What it is, for messages.
    **arrays
        By their names in the file.

    Raises
    ------
    KerncastError
        E191 where that fails; the file before, if there is one, is left as it was.
    """
    path = Path(path)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with new.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # its own keywords are no names here
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise fail("E191", f"cannot write the {what}", where=what, value=str(path),
                   allowed="a file in an existing folder with free space", remedy=str(error)) from error
    finally:
        new.unlink(missing_ok=True)


def load(path: str | Path, key: str, n: int, rows: int) -> State:
    """The state in the file; none of the bands where there is no file yet.

    Parameters
    ----------
    path : str or Path
    key : str
        What the file must have been written with.
    n : int
        Number of samples.
    rows : int
        Rows of a band; `n` of them at most are done.

    Raises
    ------
    KerncastError
        E260 where the file belongs to another computation, E261 where it is no checkpoint, or holds sums
        that no run can have written.
    """
    path = Path(path)
    if not path.exists():
        save(path, key, start := State(0, np.zeros(n)))  # better to fail now than after hours
        return start
    try:
        with np.load(path, allow_pickle=False) as file:
            found, bands, sums = str(file["key"]), np.array(file["bands"]), np.array(file["sums"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise _damaged(path, str(error)) from error
    if found != key:
        raise fail("E260", "the checkpoint belongs to another computation", where="checkpoint",
                   value=str(path), allowed="a checkpoint of the same samples, kernel and dtype",
                   remedy="name another file, or remove this one")
    if bands.shape or bands.dtype.kind not in "iu" or not 0 <= bands <= -(-n // rows):
        raise _damaged(path, f"{bands} of {-(-n // rows)} bands done")
    if sums.shape != (n,) or sums.dtype != np.float64:
        raise _damaged(path, f"sums of shape {sums.shape} and type {sums.dtype}")
    # Diagonal j has n - j values from 0 to 1, and one at most in each row that is done.
    most = np.minimum(float(bands) * rows, np.arange(n, 0.0, -1.0)) * (1.0 + _ROUNDING)
    wrong = ~((sums >= 0.0) & (sums <= most))  # NaN too
    if wrong.any():
        j = int(np.argmax(wrong))
        raise _damaged(path, f"sum {j} is {sums[j]:g}, not 0 to {most[j]:.6g}")
    return State(int(bands), sums)


def _damaged(path: Path, reason: str) -> KerncastError:
    return fail("E261", "the checkpoint cannot be read", where="checkpoint", value=f"{path}: {reason}",
                allowed="a file that an earlier run wrote", remedy="name another file, or remove this one")
