"""sim.reference.first_row: checkpoints of the diagonal sums, written atomically."""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ..._files import UNREADABLE_NPZ, open_npz
from ..._output_files import refuse_unwritable
from ...errors import KerncastError, fail

# Sums of float32 values have a relative error of about 1e-6.
_ROUNDING = 1e-4

# Seconds without a write after which a temporary file belongs to no running process.
_ABANDONED = 600


class SumsState(NamedTuple):
    """State of a computation: the number of completed bands, and their sums (n,)."""

    bands: int
    sums: Array


def save(path: str | Path, key: str, state: SumsState) -> None:
    """Write the state to a file atomically; raise E191 if it cannot be written."""
    write_npz(path, "checkpoint", key=np.array(key), bands=np.array(state.bands), sums=state.sums)


def write_npz(path: str | Path, what: str, **arrays: NDArray[Any]) -> None:
    """Write an NPZ file atomically: write a temporary file, then rename it.

    Parameters
    ----------
    path : str or Path
    what : str
        Description of the file, for error messages.
    **arrays
        The arrays, by their names in the file.

    Raises
    ------
    KerncastError
        E191 if the file cannot be written; an existing file is then unchanged.
    """
    path = Path(path)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with new.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # savez's keywords are not used as names
            file.flush()
            os.fsync(file.fileno())
        _remove_leftovers(path, new.stat().st_mtime)
        new.replace(path)
    except OSError as error:
        raise fail("E191", f"cannot write the {what}", where=what, value=str(path),
                   allowed="a file in an existing folder with free space", remedy=str(error)) from error
    finally:
        new.unlink(missing_ok=True)


def _remove_leftovers(path: Path, now: float) -> None:
    """Remove temporary files of killed runs that no process wrote to recently.

    `now` is the time of the last write to the current temporary file, in seconds.
    """
    for left in path.parent.glob(f"{glob.escape(path.name)}.*.new"):
        with suppress(OSError):
            if left.name[len(path.name) + 1:-len(".new")].isdecimal() and \
                    now - left.lstat().st_mtime > _ABANDONED:
                left.unlink()


def load(path: str | Path, key: str, n: int, rows: int) -> SumsState:
    """Load the state from a file; return the initial state if there is no file.

    Parameters
    ----------
    path : str or Path
    key : str
        Digest that identifies the computation; the file must contain it.
    n : int
        Number of samples.
    rows : int
        Number of rows per band.

    Raises
    ------
    KerncastError
        E191 if the file could not be written later, E260 if it belongs to another computation, E261 if it is
        not a checkpoint or contains invalid sums.
    """
    path = Path(path)
    refuse_unwritable(path, "checkpoint", "the checkpoint")
    if not path.exists():
        save(path, key, start := SumsState(0, np.zeros(n)))  # fail now rather than after hours
        return start
    try:
        with open_npz(path) as file:
            found, bands, sums = str(file["key"]), np.array(file["bands"]), np.array(file["sums"])
    except UNREADABLE_NPZ as error:
        raise _damaged(path, str(error)) from error
    if found != key:
        raise fail("E260", "the checkpoint belongs to a different computation", where="checkpoint",
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
    return SumsState(int(bands), sums)


def _damaged(path: Path, reason: str) -> KerncastError:
    return fail("E261", "the checkpoint cannot be read", where="checkpoint", value=f"{path}: {reason}",
                allowed="a file that an earlier run wrote", remedy="name another file, or remove this one")
