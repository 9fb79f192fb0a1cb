"""hw: base class of the back ends that run generated cores in an RTL simulator."""

from __future__ import annotations

from pathlib import Path

from ...codegen.rtl import RtlCore, generate_rtl, rtl_sources
from ...sim.backend import Outputs, Raw
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from .simulators import Simulation


class CoreBackend:
    """Back end of generated cores in an RTL simulator.

    Unsupported calls raise E431.

    Parameters
    ----------
    plan : Plan
    core : RtlCore
        The core that is simulated in every call.
    simulator : str
        ``icarus`` or ``verilator``.
    build_dir : path
        Folder below which everything is built and written.
    source : path, optional
        A generated folder whose ``rtl`` is simulated; without it the cores are generated.
    waves : path, optional
        A folder for the waveform of each call, ``<prefix>_<core><n>.fst``.

    Raises
    ------
    KerncastError
        E306, E307 for a plan that the core does not support; E420 for an unknown simulator, E432 if the
        simulator rejects the core, E501 and E513 for missing tools.
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
        """Build a core for the simulator."""
        return Simulation(rtl_sources(self._source, self.plan, core), f"{self.plan.name}_{core.name}",
                          self._simulator, self._work / core.name, waves=self._waves)

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train if the core supports training; otherwise raise E431."""
        raise self._refusal("train")

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn if the core supports updates; otherwise raise E431."""
        raise self._refusal("update")

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict if the core supports predictions; otherwise raise E431."""
        raise self._refusal("predict")

    def state(self) -> Outputs:
        """Return the model if it can be read back; otherwise raise E431."""
        raise self._refusal("state")

    def save(self) -> bytes:
        """Save the model if it can be read back; otherwise raise E431."""
        raise self._refusal("save")

    def restore(self, image: bytes) -> None:
        """Load a model if the core accepts one; otherwise raise E431."""
        raise self._refusal("restore")

    def close(self) -> None:
        """Do nothing: no process runs between two calls."""

    def _refusal(self, call: str) -> KerncastError:
        return fail("E431", "the plan has no SystemVerilog core for this call",
                    where=f"back end {self.name}", value=call, allowed=", ".join(sorted(self.calls)),
                    remedy="use another back end, or train on another back end and pass its state")
