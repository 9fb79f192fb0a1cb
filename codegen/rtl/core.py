"""codegen.rtl: the interface of a core: name, supported plans, files, latency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from .axi import Ports


@dataclass(frozen=True)
class RtlCore:
    """RTL core, generated as the module ``<prefix>_<name>``.

    Each callable takes a plan as its first argument.

    Parameters
    ----------
    name : str
    refusal : callable
        Returns an error with the limit if the core does not support a plan; else None.
    render : callable
        Returns the core's files by name for a plan that the core supports. They include the shared modules
        and the file list ``<prefix>_<name>.f``. The text for ``README.md`` is only the section of this core.
    ports : callable
        Returns the ports.
    cycles : callable
        ``cycles(plan, lanes=1)``: clock cycles of one operation of full size, without stalls.
    period : callable, optional
        ``period(plan, lanes=1)``: clock cycles from the start of one operation to the start of the next, if
        operations overlap.
    """

    name: str
    refusal: Callable[[Plan], KerncastError | None]
    render: Callable[[Plan], dict[str, str]]
    ports: Callable[[Plan], Ports]
    cycles: Callable[..., int]
    period: Callable[..., float] | None = None

    def fits(self, plan: Plan) -> bool:
        """Report whether the core supports the plan."""
        return self.refusal(plan) is None

    def parameters(self, plan: Plan, lanes: int) -> dict[str, int]:
        """Return the module parameters for the given number of lanes.

        Raises
        ------
        KerncastError
            E340 if the core does not support this number of lanes.
        """
        if self.ports(plan).lanes:
            return {"LANES": lanes}
        if lanes != 1:
            raise fail("E340", f"the {self.name} core of this plan supports only one lane", where="--lanes",
                       value=lanes, allowed="1", remedy="choose --lanes 1, or another core")
        return {}

    def refuse_unfit(self, plan: Plan) -> None:
        """Raise an error if the core does not support a plan.

        Raises
        ------
        KerncastError
            E306 if the plan is too large, E307 if it requires an unsupported feature.
        """
        refusal = self.refusal(plan)
        if refusal is not None:
            raise refusal
