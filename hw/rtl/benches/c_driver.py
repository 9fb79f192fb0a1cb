"""hw: run the C driver of a core in the simulator, with the simulated core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cffi import FFI
from cocotb.task import bridge, resume

_DECLARATIONS = """
typedef struct {
    void *context;
    uint32_t (*read)(void *, uint32_t);
    void (*write)(void *, uint32_t, uint32_t);
    int (*send)(void *, uint32_t, const uint32_t *, size_t, uint32_t);
    int (*receive)(void *, uint32_t, uint32_t *, size_t, size_t *, uint32_t *);
} kc_core_t;
int kc_core_probe(const kc_core_t *, uint32_t, uint32_t, const uint32_t *);
void kc_core_start(const kc_core_t *);
void kc_core_stop(const kc_core_t *);
int kc_core_reset(const kc_core_t *, uint32_t);
void kc_core_discard(const kc_core_t *);
void kc_core_command(const kc_core_t *, uint32_t);
int kc_core_wait(const kc_core_t *, uint32_t, uint32_t);
void kc_core_irq_enable(const kc_core_t *, uint32_t);
uint32_t kc_core_irq(const kc_core_t *);
uint32_t kc_core_errors(const kc_core_t *);
uint64_t kc_core_clocks(const kc_core_t *);
int32_t kc_core_status(const kc_core_t *);
int kc_core_load(const kc_core_t *, uint32_t, const uint32_t *, size_t, uint32_t);
int kc_core_read(const kc_core_t *, uint32_t, uint32_t *, size_t, size_t *, uint32_t *);
"""


class CDriver:
    """Compiled C driver whose platform functions access the simulated core.

    Parameters
    ----------
    library : str
        Path of the shared library.
    bench : AxiBench
        Testbench of the core.
    inputs, outputs : sequence of str
        Names of the streams, in the order of their numbers in the driver.
    """

    def __init__(self, library: str, bench: Any, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self._ffi = FFI()
        self._ffi.cdef(_DECLARATIONS)
        self._library = self._ffi.dlopen(library)
        self._bench, self._inputs, self._outputs = bench, inputs, outputs
        self._callbacks = {
            "read": self._ffi.callback("uint32_t(void *, uint32_t)", self._read),
            "write": self._ffi.callback("void(void *, uint32_t, uint32_t)", self._write),
            "send": self._ffi.callback("int(void *, uint32_t, const uint32_t *, size_t, uint32_t)",
                                       self._send, error=-1),
            "receive": self._ffi.callback("int(void *, uint32_t, uint32_t *, size_t, size_t *, uint32_t *)",
                                          self._receive, error=-1)}
        self._core = self._ffi.new("kc_core_t *", {"context": self._ffi.NULL, **self._callbacks})

    async def carry_out(self, calls: Sequence[Sequence[Any]]) -> list[Any]:
        """Call functions of the driver in order; return their results."""
        return list(await bridge(self._call_all)(calls))

    def _call_all(self, calls: Sequence[Sequence[Any]]) -> list[Any]:
        found = []
        for name, *arguments in calls:
            if name == "load":
                stream, words, user = arguments
                found.append(self._library.kc_core_load(self._core, stream, words, len(words), user))
            elif name == "read":
                found.append(self._receive_frame(*arguments))
            else:
                found.append(getattr(self._library, f"kc_core_{name}")(self._core, *arguments))
        return found

    def _receive_frame(self, stream: int, room: int) -> list[int]:
        """Receive a frame of at most `room` words with the driver.

        Returns the result code, the ``tuser``, and the words of the frame.
        """
        words, count, user = (self._ffi.new(kind, *size) for kind, *size in (
            ("uint32_t[]", room), ("size_t *",), ("uint32_t *",)))
        result = self._library.kc_core_read(self._core, stream, words, room, count, user)
        return [result, user[0], *words[0:count[0]]]

    def _read(self, _: Any, offset: int) -> int:
        return int(resume(self._bench.read)(offset)[0])

    def _write(self, _: Any, offset: int, value: int) -> None:
        resume(self._bench.write)(offset, value)

    def _send(self, _: Any, stream: int, words: Any, count: int, user: int) -> int:
        resume(self._bench.send)(self._inputs[stream], list(words[0:count]), user)
        return 0

    def _receive(self, _: Any, stream: int, words: Any, room: int, count: Any, user: Any) -> int:
        found, users = resume(self._bench.receive)(self._outputs[stream])
        if len(found) > room:
            return -1
        words[0:len(found)] = found
        count[0], user[0] = len(found), users[0]
        return 0
