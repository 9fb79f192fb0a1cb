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

    It is defined by functions that take a plan.

    Parameters
    ----------
    name : str
    refusal : callable
        Returns an error, with the limit, if the core does not support a plan; otherwise None.
    render : callable
        Returns the files by name, including primitives and the list ``<prefix>_<name>.f``; ``README.md``
        is the core's section of that file.  Only for a plan that the core supports.
    ports : callable
        Returns the ports for a plan.
    cycles : callable
        ``cycles(plan, lanes=1)``: clock cycles of one operation of full size without stalls.
    period : callable, optional
        Clock cycles from one operation to the next, if they overlap; arguments as of ``cycles``.
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
        """Return the parameters of the module for a number of lanes.

        Raises
        ------
        KerncastError
            E340 for more lanes than the core supports.
        """
        if self.ports(plan).lanes:
            return {"LANES": lanes}
        if lanes != 1:
            raise fail("E340", f"the {self.name} core of this plan supports only one lane", where="--lanes",
                       value=lanes, allowed="1", remedy="choose --lanes 1, or another core")
        return {}

    def refuse_unfit(self, plan: Plan) -> None:
        """Raise an error for a plan that the core does not support.

        Raises
        ------
        KerncastError
            E306 if the plan is too large, E307 if it requires an unsupported feature.
        """
        refusal = self.refusal(plan)
        if refusal is not None:
            raise refusal
