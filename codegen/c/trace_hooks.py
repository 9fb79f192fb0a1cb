"""codegen: add trace hooks and a store for saved states to the C under test."""

from __future__ import annotations

import re
from pathlib import Path

from ..resources import read_text

#: The macro that compiles the hooks in.
TRACE_ON = "KC_TRACE_ON"
#: Their declarations, for cffi.
TRACE_DECLARATIONS = """
        typedef struct { uint32_t limit; uint32_t count; uint32_t hash; const char *operation;
                         const char *signal; int32_t step; int32_t index; int64_t word; } kc_hil_trace_t;
        const kc_hil_trace_t *kc_hil_trace_take(uint32_t limit);"""
#: What the store offers.
STORE_DECLARATIONS = """
        typedef struct { void *context;
                         int32_t (*read)(void *, uint32_t, uint32_t, uint8_t *, uint32_t);
                         int32_t (*erase)(void *, uint32_t);
                         int32_t (*write)(void *, uint32_t, uint32_t, const uint8_t *, uint32_t);
                       } kc_storage_t;
        typedef struct { uint8_t *data; uint32_t bytes; } kc_hil_memory_t;
        typedef struct { kc_hil_memory_t slots[2]; uint32_t written; } kc_hil_store_t;
        kc_storage_t kc_hil_store_open(kc_hil_store_t *store);
        """


def _write(folder: Path, name: str) -> Path:
    for file in (f"{name}.h", f"{name}.c"):
        (folder / file).write_text(read_text(f"firmware/agent/{file}"), encoding="utf-8")
    return folder / f"{name}.c"


def write_trace_hooks(folder: Path) -> Path:
    """Write the header and the source of the trace hooks; return the source's name."""
    return _write(folder, "kc_hil_trace")


def write_store(folder: Path) -> Path:
    """Write the header and the source of the state store; return the source's name."""
    return _write(folder, "kc_hil_store")


def find_hook(folder: Path, operation: str, signal: str) -> str:
    """Return the ``file:line`` of a trace hook in a generated folder, or ""."""
    hook = re.compile(rf"\bKC_TRACE(_ALL)?\({operation}, {signal},")
    for path in [*sorted(folder.glob("*.c")), *sorted(folder.glob("rt/*.h"))]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if hook.search(line):
                return f"{path.relative_to(folder).as_posix()}:{number}"
    return ""
