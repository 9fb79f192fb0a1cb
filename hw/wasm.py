"""hw: run the generated C as WebAssembly with the runtime wasmtime."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..codegen.build.library import LibraryBackend
from ..codegen.build.wasm import build_wasm
from ..sim._optional import missing
from ..sim.backend import Outputs, Raw, answer_width, answered, fitted_answer
from ..sim.data import raw
from ..sim.plan import C_BYTES, Field, Plan, wire_dtype
from ..sim.replay.saved_state import slot_bytes
from ..sim.replay.trace import Event, Trace

_PAGE = 1 << 16
_ALIGNED = 16
#: As firmware/agent lays them out with pointers of 32 bits: kc_hil_store_t, of which `written` is the last
#: word; kc_storage_t; kc_hil_trace_t up to the word traced.
_STORE, _STORAGE, _TRACE = struct.Struct("<5I"), struct.Struct("<4I"), struct.Struct("<5I2i4xq")


class Module:
    """Instance of a WebAssembly module, with an allocator for its memory.

    Parameters
    ----------
    code : bytes
        The WebAssembly module.
    """

    def __init__(self, code: bytes) -> None:
        import wasmtime

        engine = wasmtime.Engine()
        self._store = wasmtime.Store(engine)
        self._exports = wasmtime.Instance(self._store, wasmtime.Module(engine, code), []).exports(self._store)
        self._memory: Any = self._exports["memory"]
        self.free = self.address("__heap_base")

    def address(self, name: str) -> int:
        """Return the address of an exported constant."""
        at: Any = self._exports[name]
        return int(at.value(self._store))

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported function, and return its result (0 if it has none)."""
        function: Any = self._exports[name]
        return int(function(self._store, *arguments) or 0)

    def room(self, size: int) -> int:
        """Allocate `size` bytes of the module's memory, and return their address."""
        at = -(-self.free // _ALIGNED) * _ALIGNED
        self.free = at + size
        lacking = self.free - int(self._memory.data_len(self._store))
        if lacking > 0:
            self._memory.grow(self._store, -(-lacking // _PAGE))
        return at

    def read(self, at: int, size: int) -> bytes:
        """Read bytes from the module's memory."""
        return bytes(self._memory.read(self._store, at, at + size))

    def write(self, at: int, content: bytes) -> None:
        """Write bytes to the module's memory."""
        self._memory.write(self._store, content, at)

    def text(self, at: int) -> str:
        """Read a zero-terminated string from the module's memory."""
        found = b""
        while b"\0" not in found:
            found += self.read(at + len(found), 1)
        return found[:-1].decode()


class WasmBackend(LibraryBackend):
    """Back end that runs the generated C as WebAssembly.

    Parameters
    ----------
    plan : Plan
    source : path, optional
        A generated folder. If it is omitted, the code is generated into a temporary folder.
    flags : tuple of str
        Compiler flags for optimisation.
    build_dir : path, optional
        Folder for zig's cache. If it is omitted, the cache is temporary.
    traced : bool
        Whether to compile the trace hooks, which the method ``trace`` requires.

    Raises
    ------
    KerncastError
        E501 if wasmtime is not installed, E511 if zig is not installed, E320 if zig fails, E413 if `source`
        was generated from another plan.
    """

    def __init__(self, plan: Plan, source: Path | None = None, *, flags: tuple[str, ...] = ("-O2",),
                 build_dir: Path | None = None, traced: bool = False) -> None:
        if find_spec("wasmtime") is None:
            raise missing("running WebAssembly needs", "wasmtime", "python -m pip install wasmtime",
                          "back end wasm")
        super().__init__(plan, f"wasm:{''.join(flags)}", traced)
        self._module = Module(build_wasm(plan, source, flags=flags, build_dir=build_dir, traced=traced))
        self._model = self._module.room(plan.state_bytes)
        self._trainer = self._module.room(plan.trainer_bytes)
        self._word = self._module.room(C_BYTES[plan.word_type] * plan.outputs)
        self._label, self._margin = (self._module.room(C_BYTES[plan.word_type]) for _ in range(2))
        self._slots = [self._module.room(slot_bytes(plan)) for _ in range(2)]
        self._store, self._storage = (self._module.room(part.size) for part in (_STORE, _STORAGE))
        self._module.write(self._store, _STORE.pack(
            *(value for slot in self._slots for value in (slot, slot_bytes(plan))), 0))
        self._module.call("kc_hil_store_open", self._storage, self._store)
        self._arrays = self._module.free
        self.reset()

    def _call(self, name: str, *arguments: Any) -> int:
        first = () if self.plan.fixed else (self._model,)
        if name == "train":
            first = (self._trainer, *first)
        status = self._module.call(f"{self.plan.name}_{name}", *first, *arguments)
        self._module.free = self._arrays  # the arrays of this call
        return status

    def _raw(self, words: Raw, signal: str) -> int:
        content = raw.little_endian(self.plan, signal, words).tobytes()
        at = self._module.room(len(content))
        self._module.write(at, content)
        return at

    def _each(self, name: str, x_raw: Raw, y_raw: Raw | None) -> Outputs:
        rows = np.zeros((len(x_raw), answer_width(self.plan)), dtype=np.int64)
        status, outputs = np.zeros(len(x_raw), dtype=np.int64), self.plan.outputs
        sample = x_raw.shape[1] * self.plan.signals["x_raw"].format.c_bits // 8
        word = np.dtype(wire_dtype(self.plan.word_type))
        x = self._raw(x_raw, "x_raw")
        step = self.plan.targets * self.plan.signals["y_raw"].format.c_bits // 8
        y = self._raw(y_raw, "y_raw") if y_raw is not None and self.plan.targets > 1 else 0
        for i in range(len(x_raw)):
            # An integer argument has 32 bits; its signedness does not matter.
            target = () if y_raw is None else (
                (y + i * step,) if self.plan.targets > 1 else ((int(y_raw[i]) + 2**31) % 2**32 - 2**31,))
            status[i] = self._call(name, x + i * sample, *target, self._word)
            rows[i, :outputs] = np.frombuffer(self._module.read(self._word, outputs * word.itemsize),
                                              dtype=word)
            if self.plan.decision:
                self._module.call(f"{self.plan.name}_model_decide", self._word, self._label, self._margin)
                rows[i, outputs:] = self._module.read(self._label, 1)[0], np.frombuffer(
                    self._module.read(self._margin, word.itemsize), dtype=word)[0]
        return answered(self.plan, status, rows)

    @property
    def plan_hash(self) -> str:
        """Return the plan hash that is compiled into the module."""
        return self._module.read(self._module.address(f"{self.plan.name}_plan_hash"), 32).hex()

    def state(self) -> Outputs:
        """Return the model structure; see :class:`~kerncast.sim.backend.Backend`."""
        return self._members(self._model, self.plan.memory)

    def workspace(self) -> Outputs:
        """Return all members of the trainer structure, or nothing if there is no trainer."""
        return self._members(self._trainer, self.plan.workspace)

    def fitted(self) -> Outputs:
        """Return the fitted values; see :class:`~kerncast.sim.backend.FittedBackend`."""
        word, n = np.dtype(wire_dtype(self.plan.word_type)), self.plan.sizes["n"] * self.plan.outputs
        at = self._module.room(n * word.itemsize)
        status = self._module.call(f"{self.plan.name}_train_fitted", self._trainer, at)
        self._module.free = self._arrays
        values = np.frombuffer(self._module.read(at, n * word.itemsize), dtype=word)
        return fitted_answer(self.plan, status, values)

    def leverage(self, x_raw: Raw) -> Outputs:
        """Compute leverages; see :class:`~kerncast.sim.backend.NoveltyBackend`."""
        rows = np.zeros((len(x_raw), 3), dtype=np.int64)
        for i, sample in enumerate(raw.inputs(self.plan, x_raw)):
            at, leverage, novel = self._raw(sample, "x_raw"), self._module.room(4), self._module.room(1)
            status = self._call("rls_novelty", at, leverage, novel)
            found = np.frombuffer(self._module.read(leverage, 4), dtype="<i4")[0]
            rows[i] = status, found, self._module.read(novel, 1)[0]
        return dict(zip(("status", "leverage", "novel"), rows.T, strict=True))

    def stream(self, y_raw: Raw) -> Outputs:
        """Return the values of a new stream.

        See :class:`~kerncast.sim.backend.StreamBackend`.
        """
        p, word = self.plan.name, np.dtype(wire_dtype(self.plan.word_type))
        at, f = (self._module.room(size) for size in (self.plan.stream_bytes, word.itemsize))
        self._module.write(f, bytes(word.itemsize))
        self._module.call(f"{p}_stream_init", at)
        rows = np.zeros((len(y_raw), 2), dtype=np.int64)
        for i, sample in enumerate(raw.targets(self.plan, y_raw).tolist()):
            status = self._module.call(f"{p}_stream_push", at, (sample + 2**31) % 2**32 - 2**31, f)
            rows[i] = status, np.frombuffer(self._module.read(f, word.itemsize), dtype=word)[0]
        self._module.free = self._arrays
        return {"status": rows[:, 0], "f": rows[:, 1]}

    def _members(self, at: int, members: Iterable[Field]) -> Outputs:
        found = {}
        for member in members:
            content = self._module.read(at, member.bytes)
            found[member.name] = np.frombuffer(content, dtype=wire_dtype(member.ctype)).astype(np.int64)
            at += member.bytes
        return found

    def _save(self) -> tuple[int, bytes]:
        status = self._call("state_save", self._storage)
        written = _STORE.unpack(self._module.read(self._store, _STORE.size))[-1]
        return status, self._kept()[written]

    def _restore(self) -> int:
        return self._call("state_restore", self._storage)

    def _kept(self) -> list[bytes]:
        return [self._module.read(slot, slot_bytes(self.plan)) for slot in self._slots]

    def _fill(self, contents: Sequence[bytes]) -> None:
        for slot, content in zip(self._slots, contents, strict=True):
            self._module.write(slot, content)

    def reset(self) -> None:
        """Initialise the model; see :class:`~kerncast.sim.backend.Backend`."""
        if not self.plan.fixed:
            self._call("model_init")
        if self.plan.trains:
            self._module.call(f"{self.plan.name}_train_cancel", self._trainer)

    def trace(self, limit: int) -> Trace:
        """Return the trace; see :class:`~kerncast.sim.replay.trace.TracedBackend`."""
        at = self._module.call("kc_hil_trace_take", limit - (limit >> 31 << 32))
        _, count, folded, operation, signal, step, index, word = _TRACE.unpack(
            self._module.read(at, _TRACE.size))
        named = operation and (self._module.text(operation), self._module.text(signal))
        return Trace(count, folded, Event(*named, step, index, word) if named else None)

    def close(self) -> None:
        """Do nothing, because the instance has no resources to release."""
