"""hw: base class of the back ends that run generated cores in an RTL simulator."""

from __future__ import annotations

from pathlib import Path

from ...codegen.rtl import RtlCore, generate_rtl, rtl_sources
from ...sim.backend import Outputs, Raw
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from .simulators import Simulation


class CoreBackend:
    """Back end that runs generated cores in an RTL simulator.

    Subclasses implement the supported calls. The others raise E431.

    Parameters
    ----------
    plan : Plan
    core : RtlCore
        The core that is simulated in every call.
    simulator : str
        ``icarus`` or ``verilator``.
    build_dir : path
        Folder for the simulation and all of its files.
    source : path, optional
        A generated folder, whose subfolder ``rtl`` is simulated. If it is omitted, the cores are generated.
    waves : path, optional
        A folder for the waveform of each call, ``<prefix>_<core><n>.fst``.

    Raises
    ------
    KerncastError
        E306 or E307 if the core does not support the plan; E420 if the simulator is unknown, E432 if it
        rejects the core, E501 or E513 if a tool is missing.
    """

    calls: frozenset[str] = frozenset()

    def __init__(self, plan: Plan, core: RtlCore, simulator: str, build_dir: str | Path,
                 source: str | Path | None, waves: str | Path | None = None) -> None:
        core.refuse_unfit(plan)
        self.plan = plan
        self.name = f"rtl:{simulator}"
        self._simulator, self._waves = simulator, waves
        self._work = Path(build_dir) / f"rtl-{simulator}"
        self._source = self._work / "source" if source is None else Path(source)
        if source is None:
            generate_rtl(plan, self._source)
        self._simulation = self._built(core)

    def _built(self, core: RtlCore) -> Simulation:
        """Build the simulation of a core."""
        return Simulation(rtl_sources(self._source, self.plan, core), f"{self.plan.name}_{core.name}",
                          self._simulator, self._work / core.name, waves=self._waves)

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train on a set of samples; raise E431 if the core does not support it."""
        raise self._refusal("train")

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from samples in order; raise E431 if the core does not support it."""
        raise self._refusal("update")

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for the given inputs; raise E431 if the core does not support it."""
        raise self._refusal("predict")

    def state(self) -> Outputs:
        """Return the state of the model; raise E431 if it cannot be read."""
        raise self._refusal("state")

    def save(self) -> bytes:
        """Save the state as an image; raise E431 if it cannot be read."""
        raise self._refusal("save")

    def restore(self, image: bytes) -> None:
        """Restore the state from an image; raise E431 if the core cannot load a state."""
        raise self._refusal("restore")

    def close(self) -> None:
        """Do nothing, because no process runs between calls."""

    def _refusal(self, call: str) -> KerncastError:
        return fail("E431", "the plan has no SystemVerilog core for this call",
                    where=f"back end {self.name}", value=call, allowed=", ".join(sorted(self.calls)),
                    remedy="use another back end, or train on another back end and pass its state")
