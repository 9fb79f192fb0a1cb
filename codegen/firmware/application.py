"""codegen: render the HIL agent as a Zephyr or Arduino application.

The operating system or framework provides start-up code, UART and clock. A program of the package connects
them to the agent.
"""

from __future__ import annotations

from ...sim.plan import Plan
from ...sim.spec.target import Target
from ..resources import read_text, resource
from .hil_table import link_table, render_header
from .image import AGENT_HEADERS, BATCH_BYTES, render_port, saved_states_fit

#: RAM and stack in bytes if no target is given: those of an Arduino Mega.
_RAM, _STACK = 8192, 1024
_MIN_PAYLOAD = 64


def agent_files(plan: Plan, target: Target | None = None) -> dict[str, str]:
    """Render the C files of the agent and of its port, keyed by file name.

    Parameters
    ----------
    plan : Plan
    target : Target, optional
        Its RAM determines the size of the buffers, and whether saved states are supported.
    """
    ram, stack = (target.ram_bytes, target.stack_bytes) if target else (_RAM, _STACK)
    payload = max(_MIN_PAYLOAD, min(link_table().max_payload, ram // 64))
    batch = min(BATCH_BYTES, ram // 16)
    slots = saved_states_fit(plan, ram - stack, batch, payload)
    shipped = [entry for entry in resource("firmware/agent").iterdir() if entry.name.endswith((".c", ".h"))]
    files = {entry.name: entry.read_text(encoding="utf-8") for entry in shipped}
    files |= {path.rpartition("/")[2]: read_text(path) for path in AGENT_HEADERS}
    files |= {"kc_hil_protocol.h": render_header(payload),
              f"{plan.name}_hil_port.c": render_port(plan, batch, slots=slots)}
    return dict(sorted(files.items()))
