"""codegen: call the compiled C library, on the host or in WebAssembly.

The class here is abstract. Its subclasses define how a C function is called and where arrays are stored:
:mod:`.host` uses cffi, and ``hw/wasm.py`` uses a WebAssembly runtime.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...sim.data import raw
from ...sim.backend import Outputs, Raw, calls_of, refused_update
from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.replay.saved_state import RestoreStatus, image_bytes, restore_error, slots_with
from ...sim.statuses import DeviceStatus
from ..generate import load_manifest, write_c
from ..c.trace_hooks import TRACE_ON, write_store, write_trace_hooks


def library_sources(plan: Plan, source: Path | None, work: Path,
                     traced: bool) -> tuple[list[Path], tuple[str, ...]]:
    """List the C sources of a plan and their compiler flags.

    The list includes a store for saved states. If `traced` is true, it also includes the trace hooks.

    Parameters
    ----------
    plan : Plan
    source : Path, optional
        A generated folder. If it is omitted, only the C files of the plan are written, into `work`.
    work : Path
        Temporary folder of the back end.
    traced : bool
        Whether to include the trace hooks.

    Raises
    ------
    KerncastError
        E413 if `source` was generated from another plan.
    """
    if source is None:
        source, names = work / "source", write_c(plan, work / "source")
    else:
        manifest = load_manifest(source)
        if manifest.plan != plan.hash:  # its structure would have another layout
            raise fail("E413", "the generated code belongs to another plan", where=str(source),
                       value=manifest.plan, allowed=plan.hash,
                       remedy="generate the folder again: kerncast gen SPEC -o FOLDER")
        names = manifest.sources
    sources = [*(source / name for name in names), write_store(work)]
    flags: tuple[str, ...] = (f"-I{(source / 'rt').absolute()}",)
    if traced:
        sources.append(write_trace_hooks(work))
        flags = (*flags, f"-D{TRACE_ON}", f"-I{work.absolute()}")
    return sources, flags


class LibraryBackend(ABC):
    """Back end that calls the functions of a compiled library.

    Parameters
    ----------
    plan : Plan
    name : str
        Name of the back end in reports.
    traced : bool
        Whether the back end supports ``trace``.
    """

    def __init__(self, plan: Plan, name: str, traced: bool) -> None:
        self.plan, self.name = plan, name
        self.calls = calls_of(plan) | ({"trace"} if traced else set())

    @abstractmethod
    def _call(self, name: str, *arguments: Any) -> int:
        """Call a C function of the library, and return its status.

        The structures that the function requires precede `arguments`.
        """

    @abstractmethod
    def _raw(self, words: Raw, signal: str) -> Any:
        """Return values as a C array whose element type is the ADC count type of `signal`."""

    @abstractmethod
    def _each(self, name: str, x_raw: Raw, y_raw: Raw | None) -> Outputs:
        """Call a C function once for each sample. The values must have been validated."""

    @abstractmethod
    def _save(self) -> tuple[int, bytes]:
        """Save the state; return the status and the bytes of the slot that was written."""

    @abstractmethod
    def _restore(self) -> int:
        """Restore the state from the slots; return the status."""

    @abstractmethod
    def _kept(self) -> list[bytes]:
        """Return the contents of all slots for saved states."""

    @abstractmethod
    def _fill(self, contents: Sequence[bytes]) -> None:
        """Write the contents of all slots for saved states."""

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train on a set of samples; see :class:`~kerncast.sim.backend.Backend`."""
        status: int = DeviceStatus.BAD_ARGUMENT
        if self.plan.trains:
            y, n = raw.targets(self.plan, y_raw), self.plan.sizes["n"]
            x = None if x_raw is None else raw.inputs(self.plan, x_raw)
            if len(y) == n and self.plan.uniform:
                status = self._call("train", self._raw(y, "y_raw"))
            elif len(y) == n and x is not None and len(x) == n:
                status = self._call("train", self._raw(x, "x_raw"), self._raw(y, "y_raw"))
        return {"status": np.array([status], dtype=np.int64)}

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from samples in order; see :class:`~kerncast.sim.backend.Backend`."""
        if not self.plan.learns:
            return refused_update(y_raw)
        return self._each(self.plan.update_name, *raw.samples(self.plan, x_raw, y_raw))

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for the given inputs; see :class:`~kerncast.sim.backend.Backend`."""
        return self._each("model_predict", raw.inputs(self.plan, x_raw), None)

    def save(self) -> bytes:
        """Save the state as an image; see :class:`~kerncast.sim.backend.Backend`."""
        status, slot = self._save()
        image = slot[:image_bytes(self.plan)]
        if status != RestoreStatus.OK:
            raise restore_error(self.plan, image, status, f"back end {self.name}")
        return image

    def restore(self, image: bytes) -> None:
        """Restore the state from an image; see :class:`~kerncast.sim.backend.Backend`."""
        where, kept = f"back end {self.name}", self._kept()
        self._fill(slots_with(self.plan, image, where))
        status = self._restore()
        if status != RestoreStatus.OK:
            self._fill(kept)
            raise restore_error(self.plan, image, status, where)
