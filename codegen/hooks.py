"""codegen: the trace hooks of generated C, compiled in on request: firmware/agent/kc_hil_trace.*."""

from __future__ import annotations

import re
from pathlib import Path

from .resources import read_text

#: The macro that compiles the hooks in.
TRACE_ON = "KC_TRACE_ON"
#: What they offer, as cffi wants it.
TRACE_DECLARATIONS = """
        typedef struct { uint32_t limit; uint32_t count; uint32_t hash; const char *operation;
                         const char *signal; int32_t step; int32_t index; int64_t word; } kc_hil_trace_t;
        const kc_hil_trace_t *kc_hil_trace_take(uint32_t limit);"""


def write_trace_hooks(folder: Path) -> Path:
    """Write the hooks' header and source into `folder`; the source comes back."""
    for name in ("kc_hil_trace.h", "kc_hil_trace.c"):
        (folder / name).write_text(read_text(f"firmware/agent/{name}"), encoding="utf-8")
    return folder / "kc_hil_trace.c"


def find_hook(folder: Path, operation: str, signal: str) -> str:
    """``file:line`` of a hook in a generated folder; empty where there is none."""
    hook = re.compile(rf"\bKC_TRACE(_ALL)?\({operation}, {signal},")
    for path in [*sorted(folder.glob("*.c")), *sorted(folder.glob("rt/*.h"))]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if hook.search(line):
                return f"{path.relative_to(folder).as_posix()}:{number}"
    return ""
