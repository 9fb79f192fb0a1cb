"""codegen.rtl: the interface of a core: name, supported plans, files, clocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from .axi import Ports


@dataclass(frozen=True)
class RtlCore:
    """RTL core, module ``<prefix>_<name>``.

    Functions of a plan define it.

    Parameters
    ----------
    name : str
    refusal : callable
        Why there is no such core of a plan, as an error with its limit; None where there is one.
    render : callable
        The files by name, primitives and the list ``<prefix>_<name>.f`` among them; under ``README.md``
        the core's part of that file.  Only of a plan that is not refused.
    ports : callable
        The ports of a plan.
    cycles : callable
        ``cycles(plan, lanes=1)``: clocks of one operation of full size when no stream waits.
    period : callable, optional
        Where the next operation begins before the end of one: clocks from one to the next, as ``cycles``.
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
            raise fail("E340", f"the {self.name} core of this plan has one lane", where="--lanes",
                       value=lanes, allowed="1", remedy="choose --lanes 1, or another core")
        return {}

    def refuse_unfit(self, plan: Plan) -> None:
        """Raise an error for a plan that the core does not support.

        Raises
        ------
        KerncastError
            E306 where it is too large, E307 where it asks for what the core does not do.
        """
        refusal = self.refusal(plan)
        if refusal is not None:
            raise refusal
