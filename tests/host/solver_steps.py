"""Run a generated solver by itself: its steps, on a first row and targets that no training would give."""

from typing import Any

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.backend import Outputs, Raw
from kerncast.sim.statuses import DeviceStatus


def solved(backend: HostBackend, solver: str, r: Raw, y: Raw) -> tuple[int, Outputs]:
    """Return the status of all steps for a row r (n,) and y (n,), and the trainer's members afterwards."""
    library: Any = backend.library
    step = getattr(library, f"{backend.plan.name}_{solver}_step")
    trainer = backend.trainer
    backend.ffi.memmove(trainer, bytes(backend.plan.trainer_bytes), backend.plan.trainer_bytes)
    trainer.r, trainer.y = r.tolist(), y.tolist()
    if not backend.plan.uniform:
        trainer.last_lag = len(r) - 1
    status: int = DeviceStatus.OK
    for i in range(len(r)):
        trainer.step = i
        status = step(trainer)
        if status != DeviceStatus.OK:
            return status, backend.workspace()
    return trainer.status, backend.workspace()
