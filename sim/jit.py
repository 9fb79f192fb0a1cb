"""sim: compilation of the models and the reference with numba.

Without numba they run as plain Python.

Both run the same functions and return the same integers.  ``KERNCAST_ENGINE=python`` selects plain
Python even if numba is installed (to step through a model in a debugger).

Compiled functions do not allocate memory, as on the device: arrays come from the caller.  So numba need not
count references to arrays, which would cost more than the arithmetic in loops that call small functions.
"""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, update_wrapper
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_ROOM = Path(__file__).parent
# Folders of sim without compiled functions and without constants that these read; a test checks it.
_UNCOMPILED = frozenset({"catalogue", "diagnostics", "estimators", "interop", "planner", "spec"})
_FOLDER = "kerncast-engine-"
_DAY = 24 * 3600


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable the garbage collector while numba loads.

    Garbage collection takes a tenth of the start-up time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _numba() -> ModuleType | None:
    if os.environ.get("KERNCAST_ENGINE") == "python":
        return None
    try:
        with _no_collection():
            numba = import_module("numba")
            _spare_scipy()
            # Objects that exist by now are exempt from collection, even at exit: another quarter of the time.
            gc.freeze()
    except ImportError:
        return None
    return numba


def _spare_scipy() -> None:
    """Let numba load its array functions without scipy.linalg.

    This saves a third of the start-up time. Numba imports scipy there only to check that `np.dot` finds a
    BLAS, and repeats the check when a function that calls `np.dot` is compiled.
    """
    linalg: Any = import_module("numba.np.linalg")
    if find_spec("scipy") is None or "numba.np.arraymath" in sys.modules:
        return
    asked, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = asked


_NUMBA = _numba()
COMPILED = _NUMBA is not None


def compiled_sources(room: Path = _ROOM) -> list[Path]:
    """List every module below `room` that compiled code may contain.

    These are the modules whose functions or constants compiled code uses.
    """
    return sorted(path for path in room.rglob("*.py") if path.relative_to(room).parts[0] not in _UNCOMPILED)


def sources_digest(room: Path = _ROOM) -> str:
    """Return a digest of the names and contents of :func:`compiled_sources`."""
    digest = hashlib.sha256()
    for path in compiled_sources(room):
        digest.update(f"{path.relative_to(room).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder(chosen: str) -> str:
    """Return the cache folder of compiled code for this state of the sources.

    numba itself checks only the file of a function, and would reuse stale code of the functions that it
    calls.  Folders of other states are removed a day after their last use.

    Parameters
    ----------
    chosen : str
        The user's ``NUMBA_CACHE_DIR``, or empty.

    Returns
    -------
    str
        The folder; empty if no folder is writable.
    """
    for base in [chosen] if chosen else [str(_ROOM / "__pycache__"), "~/.cache"]:
        try:
            folder = Path(base).expanduser() / f"{_FOLDER}{sources_digest()}"
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
        except (OSError, RuntimeError):  # no permission; no home
            continue
        if os.access(folder, os.W_OK):
            _forget(folder)
            return str(folder)
    return ""


def _forget(folder: Path) -> None:
    """Remove the sibling folders of `folder` that were unused for a day."""
    now = folder.stat().st_mtime
    for other in folder.parent.glob(f"{_FOLDER}*"):
        with suppress(OSError):
            if now - other.stat().st_mtime > _DAY:
                shutil.rmtree(other, ignore_errors=True)


_CACHE = _cache_folder(_NUMBA.config.CACHE_DIR) if _NUMBA else ""


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` to int64 loops (cached on disk), or return it unchanged.

    The function may neither create arrays nor return views of them.
    """
    return _compiled(function, _nrt=False)


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`jit`, and inline it in its callers.

    Use it for functions that inner loops call.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def jit_real(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a floating-point loop like :func:`jit`, without the GIL.

    The order of operations is kept, but a fused multiply-add may replace a product and a sum.
    """
    return _compiled(function, _nrt=False, nogil=True, error_model="numpy", fastmath={"contract"})


def jit_sums(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit_real`, but allow sums in any order.

    This enables vector units.
    """
    return _compiled(function, _nrt=False, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    return function if _NUMBA is None else cast("Callable[P, R]", _Jit(function, options))


class _Jit:
    """Function that is registered with numba at its first call.

    The call comes from Python or from compiled code. A process that finds compiled code on disk calls a
    few of about a hundred functions; to register all of them would take as long as to load those that are
    called.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._options = options
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        if "_dispatcher" in vars(self):
            return self._dispatcher(*arguments)
        with _no_collection():
            return self._dispatcher(*arguments)

    @cached_property
    def _dispatcher(self) -> Any:
        """Return the function as Python calls it."""
        return self._known(_CACHE)

    @cached_property
    def _callee(self) -> Any:
        """Return the function as compiled code calls it."""
        return self._known(_CACHE and str(Path(_CACHE) / "callees"), no_cpython_wrapper=True)

    def _known(self, cache: str, **more: Any) -> Any:
        """Register the function with numba.

        Its code is cached in the folder `cache` unless that is empty.
        """
        assert _NUMBA is not None
        function = vars(self)["__wrapped__"]
        options = {"no_cfunc_wrapper": True, **self._options, **more}
        users = _NUMBA.config.CACHE_DIR
        _NUMBA.config.CACHE_DIR = cache  # read when a function is decorated; restored below
        try:
            return _NUMBA.njit(cache=cache != "", **options)(function)
        except RuntimeError:  # numba found no folder for the compiled code after all
            return _NUMBA.njit(**options)(function)
        finally:
            _NUMBA.config.CACHE_DIR = users

    @property
    def _numba_type_(self) -> Any:
        """Return the type that numba requests for a value of an unknown class."""
        return self._callee._numba_type_
