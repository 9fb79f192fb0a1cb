"""sim: the engine of models and reference: numba's compiler, or plain Python where it is absent.

Both run the same functions and give the same words.  ``KERNCAST_ENGINE=python`` chooses plain
Python although numba is installed (to step through a model in a debugger).

What `jit` compiles allocates nothing, as on the device: arrays come from the caller.  So numba need
not count references to them, which in loops that call small functions costs more than the arithmetic.
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
# Folders of sim without compiled functions, nor constants that these read; a test holds them to it.
_UNCOMPILED = frozenset({"catalogue", "diagnostics", "estimators", "interop", "planner", "spec"})
_FOLDER = "kerncast-engine-"
_DAY = 24 * 3600


@contextmanager
def _no_collection() -> Iterator[None]:
    """While numba loads what it keeps for good, a search for garbage takes a tenth of our start."""
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
            # Nor are searched, of what exists by now, the cycles, even at the end: another quarter of it.
            gc.freeze()
    except ImportError:
        return None
    return numba


def _spare_scipy() -> None:
    """Let numba load its array functions without scipy.linalg, a third of our start.

    It imports scipy there only to see whether `np.dot` will find a BLAS; that it asks again, and then
    truly, wherever somebody's function calls `np.dot`.
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
    """List every module below `room` whose functions, or whose constants, compiled code may contain."""
    return sorted(path for path in room.rglob("*.py") if path.relative_to(room).parts[0] not in _UNCOMPILED)


def sources_digest(room: Path = _ROOM) -> str:
    """Digest the names and contents of :func:`compiled_sources`."""
    digest = hashlib.sha256()
    for path in compiled_sources(room):
        digest.update(f"{path.relative_to(room).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder(chosen: str) -> str:
    """Where compiled code is kept: one folder for each state of the sources.

    numba itself looks only at the file of a function, and would go on with the old code of those
    that it calls.  Folders of other states are removed a day after their last use.

    Parameters
    ----------
    chosen : str
        The user's ``NUMBA_CACHE_DIR``, or empty.

    Returns
    -------
    str
        Empty where there is no place to write to.
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
    """Remove the folders beside `folder`, just touched, that no process used for a day before."""
    now = folder.stat().st_mtime
    for other in folder.parent.glob(f"{_FOLDER}*"):
        with suppress(OSError):
            if now - other.stat().st_mtime > _DAY:
                shutil.rmtree(other, ignore_errors=True)


_CACHE = _cache_folder(_NUMBA.config.CACHE_DIR) if _NUMBA else ""


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` to int64 loops (cached on disk), or return it as it is.

    It may not make arrays, nor return views of them.
    """
    return _compiled(function, _nrt=False)


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """:func:`jit` for what inner loops call: its constants are not handed over at every call."""
    return _compiled(function, _nrt=False, forceinline=True)


def jit_real(function: Callable[P, R]) -> Callable[P, R]:
    """:func:`jit` for the reference's loops over real numbers, which leave other threads running.

    In the order written; but a product may be added without being rounded first, where the processor can.
    """
    return _compiled(function, _nrt=False, nogil=True, error_model="numpy", fastmath={"contract"})


def jit_sums(function: Callable[P, R]) -> Callable[P, R]:
    """:func:`jit_real`, but sums may be taken in any order, which keeps the vector units busy."""
    return _compiled(function, _nrt=False, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    return function if _NUMBA is None else cast("Callable[P, R]", _Jit(function, options))


class _Jit:
    """A function that numba hears of when it is first called, from Python or by one that is compiled.

    A process that finds compiled code on disk calls a few of a hundred functions; to make each of them
    known to numba would take as long as to load what is called.
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
        """The function as Python calls it."""
        return self._known(_CACHE)

    @cached_property
    def _callee(self) -> Any:
        """As compiled code calls it, without what unpacks arguments of Python, a third of compiling."""
        return self._known(_CACHE and str(Path(_CACHE) / "callees"), no_cpython_wrapper=True)

    def _known(self, cache: str, **more: Any) -> Any:
        """What numba makes of the function, its code kept in the folder `cache` unless that is empty."""
        assert _NUMBA is not None
        function = vars(self)["__wrapped__"]
        options = {"no_cfunc_wrapper": True, **self._options, **more}
        users = _NUMBA.config.CACHE_DIR
        _NUMBA.config.CACHE_DIR = cache  # read where a function is decorated; other people's keep theirs
        try:
            return _NUMBA.njit(cache=cache != "", **options)(function)
        except RuntimeError:  # numba found nowhere to keep the compiled code after all
            return _NUMBA.njit(**options)(function)
        finally:
            _NUMBA.config.CACHE_DIR = users

    @property
    def _numba_type_(self) -> Any:
        """What numba asks a value of an unknown class for: here, the type of a compiled function."""
        return self._callee._numba_type_
