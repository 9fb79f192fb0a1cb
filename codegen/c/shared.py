"""codegen: render the runtime headers with the ABI version and the status codes."""

from __future__ import annotations

from functools import cache

from ... import __version__
from ...sim.plan import ABI
from ...sim.statuses import c_statuses
from ..manifest import digest
from ..resources import environment, read_text, resource

#: Rendered headers of ``rt/``: what every model shares, and the texts of the statuses.
SHARED = ("kc_config.h", "kc_status.h")
_HASH_DIGITS = 8


def _render(name: str, version: str, runtime: str) -> str:
    return environment().get_template(f"c/{name}.j2").render(
        version=version, abi=ABI, runtime_hash=runtime, kc_statuses=c_statuses())


@cache
def runtime_hash() -> str:
    """Return eight hexadecimal digits of the SHA-256 of all runtime headers.

    The hash does not depend on the version of kerncast: two versions with the same runtime are compatible.
    """
    texts = {name: _render(name, "", "") for name in SHARED}
    texts |= {entry.name: read_text(f"firmware/rt/{entry.name}")
              for entry in resource("firmware/rt").iterdir() if entry.name.endswith(".h")}
    return digest("".join(f"{name}\0{text}\0" for name, text in sorted(texts.items())))[:_HASH_DIGITS]


def render_shared() -> dict[str, str]:
    """Render the shared headers; return texts by path in a generated folder."""
    return {f"rt/{name}": _render(name, __version__, runtime_hash()) for name in SHARED}
