"""codegen: run the generated C on the host through cffi."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from numpy.typing import NDArray

from ...sim.data import raw
from ...sim.backend import Outputs, Raw, answer_width, answered, fitted_answer
from ...sim.plan import Field, Plan
from ...sim.replay.saved_state import slot_bytes
from ...sim.replay.trace import Event, Trace
from ...sim.statuses import DeviceStatus
from .compilers import Compiler, host_compiler
from ..c.delay import delay_context
from ..c.trace_hooks import STORE_DECLARATIONS, TRACE_DECLARATIONS
from .library import LibraryBackend, library_sources

_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

#: The function that reads the delay line, by the one that reads a window.
_FROM_LINE = {"model_predict": "delay_predict", "lms_update": "delay_update"}


def _members(fields: tuple[Field, ...]) -> str:
    """Return the C declarations of the members of a structure."""
    return " ".join(f"{f.ctype} {f.name}{'' if f.formula == '1' else f'[{f.count}]'};" for f in fields)


def _training(p: str, x: str, raw_y: str, word: str, members: str, target: str, ranged: bool) -> str:
    """Return the C declarations of a batch trainer's structure and functions.

    `word` is the C type of the fitted values, or empty if the trainer has no function for them. `target` is
    the declaration of the target parameter of ``train_push``.
    """
    fitted = f"int {p}_train_fitted(const {p}_trainer_t *t, {word} *f);" if word else ""
    set_lambda = f"int {p}_train_set_lambda({p}_trainer_t *t, uint32_t lambda);" if ranged else ""
    return f"""typedef struct {{ {members} }} {p}_trainer_t;
        int {p}_train_begin({p}_trainer_t *t);
        int {p}_train_push({p}_trainer_t *t, {x}{target});
        int {p}_train_push_block({p}_trainer_t *t, {x}const {raw_y} *y, uint32_t count);
        int {p}_train_run({p}_trainer_t *t, uint32_t max_steps);
        int {p}_train_commit({p}_trainer_t *t, {p}_model_t *m);
        void {p}_train_cancel({p}_trainer_t *t);
        {fitted}
        {set_lambda}
        int {p}_train({p}_trainer_t *t, {p}_model_t *m, {x}const {raw_y} *y);"""


def _delay_line(plan: Plan, raw_x: str, raw_y: str) -> str:
    """Return the C declarations of the delay line's structure and functions."""
    p, model, word = plan.name, "" if plan.fixed else f"const {plan.name}_model_t *m, ", plan.word_type
    update = f"int {p}_delay_update({p}_model_t *m, const {p}_delay_t *d, {_target(plan, raw_y)}, {word} *f);"
    reading = f"const {raw_x} *reading" if plan.channels > 1 else f"{raw_x} sample"
    members = f"{raw_x} samples[{2 * plan.sizes['D']}]; uint16_t newest; uint16_t count;"
    if plan.decimate > 1:
        sums = f"{delay_context(plan)['line']['sum_type']} sums[{plan.channels}];"
        members = f"{sums} {members} uint16_t taken;"
    return f"""typedef struct {{ {members} }} {p}_delay_t;
        void {p}_delay_init({p}_delay_t *d);
        int {p}_delay_push({p}_delay_t *d, {reading});
        const {raw_x} *{p}_delay_window(const {p}_delay_t *d);
        int {p}_delay_predict({model}const {p}_delay_t *d, {word} *f);
        {"" if plan.fixed else update}"""


def _stream(plan: Plan, raw_y: str) -> str:
    """Return the declarations of a stream of fitted values."""
    p, word = plan.name, plan.word_type
    return f"""typedef struct {{ {word} samples[{2 * plan.stream_taps}]; uint16_t newest; uint16_t count; }} {p}_stream_t;
        void {p}_stream_init({p}_stream_t *s);
        int {p}_stream_push({p}_stream_t *s, {raw_y} y, {word} *f);"""


def declarations(plan: Plan) -> str:
    """Return the C declarations of the generated API for cffi."""
    p = plan.name
    raw_x, raw_y = (plan.signals[s].format.c_type for s in ("x_raw", "y_raw"))
    word = plan.word_type
    line = _delay_line(plan, raw_x, raw_y) if plan.delay else _stream(plan, raw_y) if plan.stream_taps else ""
    model = "" if plan.fixed else f"const {p}_model_t *m, "
    decide = f"""int {p}_model_decide(const {word} *f, uint8_t *label, {word} *margin);
        int {p}_model_classify({model}const {raw_x} *x, uint8_t *label, {word} *margin);"""
    if plan.fixed:
        return f"""extern const uint8_t {p}_plan_hash[32];
        int {p}_model_predict(const {raw_x} *x, {word} *f);
        int {p}_model_predict_block(const {raw_x} *x, uint32_t count, {word} *f);
        {decide if plan.decision else ""}
        {line}"""
    learn = (_training(p, "" if plan.uniform else f"const {raw_x} *x, ", raw_y, word if plan.fits else "",
                       _members(plan.workspace), _target(plan, raw_y), plan.ranged)
             if plan.trains else
             f"int {p}_{plan.update_name}({p}_model_t *m, const {raw_x} *x, {_target(plan, raw_y)}, {word} *f);")
    if plan.bounded_update:
        learn += f"""
        int {p}_lms_update_begin({p}_model_t *m, const {raw_x} *x, {_target(plan, raw_y)}, {word} *f);
        int {p}_lms_update_run({p}_model_t *m, uint32_t max_searches);"""
    if plan.novelty:
        learn += f"""
        int {p}_rls_novelty(const {p}_model_t *m, const {raw_x} *x, int32_t *leverage, uint8_t *novel);"""
    return f"""typedef struct {{ {_members(plan.memory)} }} {p}_model_t;
        extern const uint8_t {p}_plan_hash[32];
        void {p}_model_init({p}_model_t *m);
        int {p}_model_predict(const {p}_model_t *m, const {raw_x} *x, {word} *f);
        int {p}_model_predict_block(const {p}_model_t *m, const {raw_x} *x, uint32_t count, {word} *f);
        int {p}_state_save(const {p}_model_t *m, const kc_storage_t *storage);
        int {p}_state_restore({p}_model_t *m, const kc_storage_t *storage);
        {learn}
        {decide if plan.decision else ""}
        {line}"""


def _target(plan: Plan, raw_y: str) -> str:
    """Return the C declaration of the target parameter of an update.

    The parameter is a value for one target, and a pointer for several targets.
    """
    return f"const {raw_y} *y" if plan.targets > 1 else f"{raw_y} y"


class HostBackend(LibraryBackend):
    """Back end that runs the generated C on this machine.

    Parameters
    ----------
    plan : Plan
    source : path, optional
        A generated folder. If it is omitted, the code is generated into a temporary folder, which `close`
        removes.
    compiler : str
        ``auto``, ``gcc``, ``clang`` or ``zig``.
    build_dir : path, optional
        Folder for the compiled library. By default a temporary folder, which `close` removes.
    flags : tuple of str
        Compiler flags for optimisation and instrumentation, such as ``("-O2",)``.
    traced : bool
        Whether to compile the trace hooks, which the method ``trace`` requires.
    together : bool
        Whether to compile all files as one translation unit, which takes about half the time.

    Attributes
    ----------
    ffi, library
        The cffi interface and the loaded library.
    model, trainer, line
        The C structures of the model, the trainer and the delay line.
    slots
        The two RAM slots that store saved states.

    Raises
    ------
    KerncastError
        E511 if no compiler is found, E320 if compilation fails, E413 if `source` was generated from
        another plan.
    """

    def __init__(self, plan: Plan, source: Path | None = None, *, compiler: str = "auto",
                 flags: tuple[str, ...] = ("-O2",), build_dir: Path | None = None,
                 traced: bool = False, together: bool = True) -> None:
        chosen = host_compiler(compiler)
        super().__init__(plan, f"host:{chosen.name}:{''.join(flags)}", traced)
        self.ffi = cffi.FFI()
        self.ffi.cdef(STORE_DECLARATIONS + declarations(plan) + (TRACE_DECLARATIONS if traced else ""))
        self._folder = tempfile.TemporaryDirectory(prefix="kerncast-")
        try:
            self.library: Any = self.ffi.dlopen(str(self._build(
                chosen, source, flags, build_dir, traced, together)))
        except BaseException:
            self._folder.cleanup()
            raise
        # A model that was trained elsewhere is all constants.
        self.model: Any = None if plan.fixed else self.ffi.new(f"{plan.name}_model_t *")
        self.line: Any = self.ffi.new(f"{plan.name}_delay_t *") if plan.delay else None
        self.trainer: Any = self.ffi.new(f"{plan.name}_trainer_t *") if plan.trains else None
        self.slots = [self.ffi.new("uint8_t[]", slot_bytes(plan)) for _ in range(2)]
        self._store = self.ffi.new("kc_hil_store_t *", {"slots": [
            {"data": slot, "bytes": len(slot)} for slot in self.slots]})
        self._storage = self.ffi.new("kc_storage_t *", self.library.kc_hil_store_open(self._store))
        self.reset()

    def _build(self, chosen: Compiler, source: Path | None, flags: tuple[str, ...],
               build_dir: Path | None, traced: bool, together: bool) -> Path:
        """Build the library and return its path.

        Each build has a new file name, because a loaded library must not be overwritten.
        """
        work = Path(self._folder.name)
        sources, own = library_sources(self.plan, source, work, traced)
        library = work / f"{self.plan.name}{_SUFFIX}"
        chosen.build_library(sources, (*flags, *own), library, build_dir or work, together)
        return library

    def _call(self, name: str, *arguments: Any) -> int:
        first = (self.trainer, *self._first) if name == "train" else self._first
        return int(getattr(self.library, f"{self.plan.name}_{name}")(*first, *arguments))

    @property
    def _first(self) -> tuple[Any, ...]:
        """Return the leading arguments of a call: the model structure, if there is one."""
        return () if self.model is None else (self.model,)

    def _raw(self, words: Raw, signal: str) -> Any:
        # The buffer lives as long as the result.
        ctype = self.plan.signals[signal].format.c_type
        return self.ffi.from_buffer(f"{ctype}[]", raw.little_endian(self.plan, signal, words))

    @property
    def plan_hash(self) -> str:
        """Return the plan hash that is compiled into the library."""
        return bytes(getattr(self.library, f"{self.plan.name}_plan_hash")).hex()

    def _each(self, name: str, x_raw: Raw, y_raw: Raw | None) -> Outputs:
        count, columns = x_raw.shape
        outputs = self.plan.outputs
        rows = np.zeros((count, answer_width(self.plan)), dtype=np.int64)
        status = np.zeros(count, dtype=np.int64)
        f = self.ffi.new(f"{self.plan.word_type}[]", outputs)
        label, margin = self.ffi.new("uint8_t *"), self.ffi.new(f"{self.plan.word_type} *")
        x = self._raw(x_raw, "x_raw")
        y = None if y_raw is None else self._raw(y_raw, "y_raw")
        for i in range(count):
            target = () if y is None else (y + i * self.plan.targets,) if self.plan.targets > 1 else (y[i],)
            if self.line is not None:
                self._feed(x_raw, i)
                status[i] = self._call(_FROM_LINE[name], self.line, *target, f)
            else:
                status[i] = self._call(name, x + i * columns, *target, f)
            rows[i, :outputs] = list(f)
            if self.plan.decision:
                getattr(self.library, f"{self.plan.name}_model_decide")(f, label, margin)
                rows[i, outputs:] = label[0], margin[0]
        return answered(self.plan, status, rows)

    def _feed(self, x_raw: Raw, i: int) -> None:
        """Push the samples of row i into the delay line.

        If row i is row i - 1 shifted by one sample, only the new sample is pushed. If the line decimates, all
        readings of a sample are equal.
        """
        channels = self.plan.channels
        follows = i > 0 and bool((x_raw[i, channels:] == x_raw[i - 1, :-channels]).all())
        if not follows:
            getattr(self.library, f"{self.plan.name}_delay_init")(self.line)
        push = getattr(self.library, f"{self.plan.name}_delay_push")
        for sample in x_raw[i].reshape(-1, channels)[:1 if follows else None][::-1].tolist():
            for _ in range(self.plan.decimate):
                push(self.line, self.ffi.new(f"{self.plan.signals['x_raw'].format.c_type}[]", sample)
                     if channels > 1 else sample[0])

    def state(self) -> Outputs:
        """Return the model structure; see :class:`~kerncast.sim.backend.Backend`."""
        return {f.name: self._member(f.name, f.formula == "1", self.model) for f in self.plan.memory}

    def workspace(self) -> Outputs:
        """Return all members of the trainer structure, or nothing if there is no trainer."""
        return {f.name: self._member(f.name, f.formula == "1", self.trainer) for f in self.plan.workspace}

    def fitted(self) -> Outputs:
        """Return the fitted values; see :class:`~kerncast.sim.backend.FittedBackend`."""
        f = self.ffi.new(f"{self.plan.word_type}[]", self.plan.sizes["n"] * self.plan.outputs)
        call = getattr(self.library, f"{self.plan.name}_train_fitted")
        return fitted_answer(self.plan, call(self.trainer, f), list(f))

    def train_with(self, lam: int, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train in slices with lambda; see :class:`~kerncast.sim.backend.LambdaBackend`."""
        y = self._raw(raw.targets(self.plan, y_raw), "y_raw")
        steps = ("begin",), ("set_lambda", lam), ("push_block", y, len(y_raw)), ("run", 2**32 - 1), (
            "commit", self.model)
        for name, *arguments in steps:
            status = getattr(self.library, f"{self.plan.name}_train_{name}")(self.trainer, *arguments)
            if status != DeviceStatus.OK and name != "commit":
                getattr(self.library, f"{self.plan.name}_train_cancel")(self.trainer)
                break
        return {"status": np.array([status], dtype=np.int64)}

    def leverage(self, x_raw: Raw) -> Outputs:
        """Compute leverages; see :class:`~kerncast.sim.backend.NoveltyBackend`."""
        x_raw = raw.inputs(self.plan, x_raw)
        x, leverage, novel = self._raw(x_raw, "x_raw"), self.ffi.new("int32_t *"), self.ffi.new("uint8_t *")
        columns = self.plan.sizes["D"]
        rows = np.array([(self._call("rls_novelty", x + i * columns, leverage, novel), leverage[0], novel[0])
                         for i in range(len(x_raw))], dtype=np.int64).reshape(-1, 3)
        return dict(zip(("status", "leverage", "novel"), rows.T, strict=True))

    def predict_block(self, x_raw: Raw) -> tuple[int, Raw]:
        """Predict all inputs in one call.

        Returns
        -------
        int
            The status of the call.
        numpy.ndarray
            Outputs (m, outputs) as integers.
        """
        x = raw.inputs(self.plan, x_raw)
        f = self.ffi.new(f"{self.plan.word_type}[]", max(1, len(x) * self.plan.outputs))
        status = self._call("model_predict_block", self._raw(x, "x_raw"), len(x), f)
        rows = np.array(list(f), dtype=np.int64)[:len(x) * self.plan.outputs]
        return status, rows.reshape(len(x), self.plan.outputs)

    def stream(self, y_raw: Raw) -> Outputs:
        """Return the values of a new stream.

        See :class:`~kerncast.sim.backend.StreamBackend`.
        """
        p, y = self.plan.name, raw.targets(self.plan, y_raw)
        stream, f = self.ffi.new(f"{p}_stream_t *"), self.ffi.new(f"{self.plan.word_type} *")
        push = getattr(self.library, f"{p}_stream_push")
        rows = np.array([(push(stream, sample, f), f[0]) for sample in y.tolist()], dtype=np.int64).reshape(-1, 2)
        return {"status": rows[:, 0], "f": rows[:, 1]}

    def _member(self, name: str, scalar: bool, structure: Any) -> NDArray[np.int64]:
        value = getattr(structure, name)
        if isinstance(value, float):  # the integers of the bits
            return np.array([value], dtype=np.float32).view(np.uint32).astype(np.int64)
        if not scalar and self.ffi.typeof(value).item.cname == "float":
            return np.frombuffer(self.ffi.buffer(value), dtype=np.uint32).astype(np.int64)
        return np.array([value] if scalar else list(value), dtype=np.int64)

    def _save(self) -> tuple[int, bytes]:
        status = self._call("state_save", self._storage)
        return status, bytes(self.slots[self._store.written])

    def _restore(self) -> int:
        return self._call("state_restore", self._storage)

    def _kept(self) -> list[bytes]:
        return [bytes(slot) for slot in self.slots]

    def _fill(self, contents: Sequence[bytes]) -> None:
        for slot, content in zip(self.slots, contents, strict=True):
            self.ffi.memmove(slot, content, len(content))

    def reset(self) -> None:
        """Initialise the model; see :class:`~kerncast.sim.backend.Backend`."""
        if not self.plan.fixed:
            getattr(self.library, f"{self.plan.name}_model_init")(self.model)
        if self.plan.trains:
            getattr(self.library, f"{self.plan.name}_train_cancel")(self.trainer)

    def trace(self, limit: int) -> Trace:
        """Return the trace; see :class:`~kerncast.sim.replay.trace.TracedBackend`."""
        found = self.library.kc_hil_trace_take(limit)
        event = None
        if found.operation != self.ffi.NULL:
            operation, signal = (self.ffi.string(text).decode() for text in (found.operation, found.signal))
            event = Event(operation, signal, found.step, found.index, found.word)
        return Trace(found.count, found.hash, event)

    def close(self) -> None:
        """Remove the compiled library."""
        self._folder.cleanup()
