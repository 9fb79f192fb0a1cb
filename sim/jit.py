"""sim: compile the integer models and the float reference with numba.

If numba is not installed, the same functions run as plain Python and return the same integers.
``KERNCAST_ENGINE=python`` selects plain Python even if numba is installed, for example to step through a
model in a debugger.

As on the device, compiled functions do not allocate memory: the caller passes all arrays. Therefore numba
does not have to count references to arrays, which would take longer than the arithmetic in loops that call
small functions.
"""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, update_wrapper
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar, cast

from ._optional import in_command

P = ParamSpec("P")
R = TypeVar("R")

_ROOM = Path(__file__).parent
# Folders of sim without compiled functions and without constants that these read; a test checks it.
_UNCOMPILED = frozenset({"catalogue", "diagnostics", "estimators", "interop", "planner", "spec"})
_FOLDER = "kerncast-engine-"
_DAY = 24 * 3600


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable the garbage collector during the ``with`` block.

    Garbage collection while numba is imported takes a tenth of the start-up time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextmanager
def _without_settings() -> Iterator[None]:
    """Hide the settings of the working folder from numba in a command.

    ``.numba_config.yaml`` could name a cache of compiled code. Without a parser of YAML, numba does not read
    it.
    """
    if not in_command():
        yield
        return
    loaded = sys.modules.get("yaml")
    sys.modules["yaml"] = cast(ModuleType, None)  # importing it fails
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the file
            yield
    finally:
        del sys.modules["yaml"]
        if loaded is not None:
            sys.modules["yaml"] = loaded


def _numba() -> ModuleType | None:
    if os.environ.get("KERNCAST_ENGINE") == "python":
        return None
    try:
        with _no_collection(), _without_settings():
            numba = import_module("numba")
            _spare_scipy()
            # Objects that exist by now are exempt from collection, even at exit: another quarter of the time.
            gc.freeze()
    except ImportError:
        return None
    return numba


def _spare_scipy() -> None:
    """Import numba's array functions without scipy.linalg.

    This saves a third of the start-up time. Numba imports scipy.linalg only to check that a BLAS for `np.dot`
    exists, and it repeats the check when it compiles a function that calls `np.dot`.
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
    """List the modules below `room` whose functions or constants compiled code uses."""
    return sorted(path for path in room.rglob("*.py") if path.relative_to(room).parts[0] not in _UNCOMPILED)


def sources_digest(room: Path = _ROOM) -> str:
    """Return a digest of the names and contents of :func:`compiled_sources`."""
    digest = hashlib.sha256()
    for path in compiled_sources(room):
        digest.update(f"{path.relative_to(room).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder(chosen: str) -> str:
    """Return the folder for cached compiled code of the current sources.

    The folder name contains a digest of the sources: numba itself checks only the file of a function, and
    would reuse outdated code of the functions that it calls. Folders of other versions of the sources are
    removed one day after their last use.

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
    """Remove other cache folders next to `folder` that have not been used for a day."""
    now = folder.stat().st_mtime
    for other in folder.parent.glob(f"{_FOLDER}*"):
        with suppress(OSError):
            if now - other.stat().st_mtime > _DAY:
                shutil.rmtree(other, ignore_errors=True)


_CACHE = _cache_folder(_NUMBA.config.CACHE_DIR) if _NUMBA else ""


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile an integer function with numba, with a cache on disk.

    Without numba, the function is returned unchanged. It must not create arrays or return views of arrays.
    """
    return _compiled(function, _nrt=False)


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`jit`, and inline it into its callers.

    Use it for functions that inner loops call.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def jit_real(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a floating-point function like :func:`jit`; it releases the GIL.

    The compiler keeps the order of operations, but can replace a product and a sum by a fused multiply-add.
    """
    return _compiled(function, _nrt=False, nogil=True, error_model="numpy", fastmath={"contract"})


def jit_sums(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`jit_real`, but allow sums in any order.

    The order of a sum can then be changed to use vector instructions.
    """
    return _compiled(function, _nrt=False, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    return function if _NUMBA is None else cast("Callable[P, R]", _Jit(function, options))


class _Jit:
    """Function that is registered with numba when it is first called.

    The caller can be Python or compiled code. A process that uses cached code typically calls only a few of
    about a hundred functions. Registering all of them would take as long as loading those that are called.
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
        """Return the compiled function for calls from Python."""
        return self._known(_CACHE)

    @cached_property
    def _callee(self) -> Any:
        """Return the compiled function for calls from compiled code."""
        return self._known(_CACHE and str(Path(_CACHE) / "callees"), no_cpython_wrapper=True)

    def _known(self, cache: str, **more: Any) -> Any:
        """Register the function with numba.

        The compiled code is cached in the folder `cache`, unless `cache` is empty.
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
        """Return the numba type of the function, which compiled callers need."""
        return self._callee._numba_type_
