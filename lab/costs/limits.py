"""lab: check the costs of a library against the resource limits of its spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ...codegen.build.toolchains import TELL_FRAMES, compilers
from ...codegen.firmware.targets import Board, all_boards, load_board, load_target, target_ids
from ...sim.errors import KerncastError, Problem
from ...sim.plan import Plan
from ...sim.spec import Spec

if TYPE_CHECKING:
    from .measure import Costs

UNITS = ("instructions", "cycles", "packets")


def refuse_unmeasurable(spec: Spec) -> None:
    """Raise an error if a target is unknown, or if a limit cannot be measured.

    Raises
    ------
    KerncastError
        E323 if a target is unknown; E334 if no emulated board of the target can count the unit of a limit, or
        if no compiler reports the stack frames that a stack limit requires.
    """
    if found := [*_unknown_targets(spec), *_unmeasurable(spec)]:
        raise spec.located(KerncastError(found))


def _unknown_targets(spec: Spec) -> Iterator[Problem]:
    places = {"[target] id": spec.target.id, "[budget] target": spec.budget.target if spec.budget else None}
    for where, name in places.items():
        if name is not None and name not in target_ids():
            yield Problem("E323", "no such target", where, name, ", ".join(target_ids()),
                          "choose one of the allowed values")


def _unmeasurable(spec: Spec) -> Iterator[Problem]:
    budget = spec.budget
    if budget is None:
        return
    target = budget.target or spec.target.id
    if target not in target_ids():  # reported elsewhere
        return
    counted = sorted({board.counter.unit for board in all_boards()[0]
                      if board.target == target and _counts(board)})
    for unit in UNITS:
        limits = getattr(budget, unit)
        if limits and unit not in counted:
            yield Problem("E334", f"{unit} cannot be measured on {target}", f"[budget] {unit}",
                          ", ".join(f"{call} = {most}" for call, most in limits.items()),
                          " or ".join(counted) or "no limit on counts", _other_unit(counted))
    if budget.stack is not None and not _compilers_with_stack_usage(target):
        yield Problem("E334", f"the stack cannot be measured on {target}", "[budget] stack",
                      str(budget.stack), f"no stack limit for {target}", _NO_FRAMES)


def _counts(board: Board) -> bool:
    return board.counter.kind != "none" and bool(board.emulators)


def _compilers_with_stack_usage(target: str) -> list[str]:
    """List the compilers for a target that report stack usage."""
    return [name for name in compilers(load_target(target)) if name in TELL_FRAMES]


_NO_FRAMES = "remove the key: no compiler for this target reports stack frames"


def _other_unit(counted: Sequence[str]) -> str:
    return (f"set a limit on {' or '.join(counted)}, which its emulator counts, or remove the key" if counted
            else "remove the key: no emulator of this target counts operations")


def budget_of(plan: Plan) -> Mapping[str, Any]:
    """Return the resource limits of a plan, with their target and optimisation level.

    The result is empty if there are no limits.
    """
    return cast(Mapping[str, Any], plan.evidence.get("budget", {}))


def budget_status(plan: Plan, measured: Iterable[Costs]) -> dict[str, Any] | None:
    """Return the target and the level of the limits, and whether costs are known.

    The costs are known if `measured` contains an entry for this target and level. Without limits, the result
    is None.
    """
    budget = budget_of(plan)
    return {"target": budget["target"], "optimise": budget["optimise"],
            "looked_at": any(_is_for(budget, costs) for costs in measured)} if budget else None


def _is_for(budget: Mapping[str, Any], costs: Costs) -> bool:
    return (budget["target"], budget["optimise"]) == (costs.target, costs.optimise)


def over_budget(plan: Plan, costs: Costs, *, counted: bool = True) -> list[Problem]:
    """Return a problem for each limit of the spec that the library exceeds.

    Parameters
    ----------
    plan : Plan
    costs : Costs
    counted : bool
        Whether to check limits of operation counts, too.

    Returns
    -------
    list of Problem
        E333 for each exceeded limit; E334 for each limit whose quantity was not measured.
    """
    budget = budget_of(plan)
    if not budget or not _is_for(budget, costs):
        return []
    place = f"{costs.target} {costs.optimise}"
    smaller = "" if costs.optimise == "-Os" else "choose -Os, or "
    faster = {"-O3": "", "-O2": "choose -O3, "}.get(costs.optimise, "choose -O2 or -O3, ")
    sizes = {"flash": (costs.flash["all"], f"{smaller}set exp_table = \"small\", or a shorter word length"),
             "ram": (sum(costs.ram.values()), f"lower {plan.size_key}, or use a shorter word length"),
             "stack": (costs.deepest, _without_frames(costs) if costs.stack is None
                       else f"{smaller}use a shorter word length")}
    found = []
    for key, (size, remedy) in sizes.items():
        if key in budget:
            found += _judged(f"[budget] {key}", place, size, budget[key], "bytes", remedy)
    for unit in UNITS if counted else ():
        for call, allowed in budget.get(unit, {}).items():
            count = costs.counts.get(call) if costs.unit == unit else None
            remedy = (f"{faster}lower {plan.size_key}, or use a shorter word length" if count
                      else _uncounted(plan, costs, unit))
            found += _judged(f"[budget] {unit}", f"{call}, {place}", count.worst if count else None, allowed,
                             unit, remedy)
    return found


def _without_frames(costs: Costs) -> str:
    """Return the remedy if the compiler does not report stack usage."""
    compilers = _compilers_with_stack_usage(costs.target)
    return (f"choose --compiler {' or '.join(compilers)} (kerncast doctor prints how to install it), or "
            "remove the key" if compilers else _NO_FRAMES)


def _uncounted(plan: Plan, costs: Costs, unit: str) -> str:
    """Return the remedy if a call was not counted, according to the cause."""
    board = load_board(costs.board)
    if not _counts(board) or board.counter.unit != unit:
        return _other_unit([board.counter.unit] if _counts(board) else [])
    if costs.unit is not None:
        return (f"lower {plan.size_key}, or remove the key: the counter overflowed, or the test vectors lack "
                "this call")
    from ...hw.hil.board_backend import default_emulator  # not at import: `kerncast check` needs no emulator
    from ...hw.hil.emulators import available

    emulator = default_emulator(board)
    if not available(board, emulator):
        return f"install the target's emulator: {board.emulators[emulator].install}"
    return "add [data] to the spec and generate the folder again, or remove the key"


def _judged(where: str, place: str, found: int | None, allowed: int, unit: str,
            remedy: str) -> list[Problem]:
    if found is None:
        return [Problem("E334", f"the {where.split()[-1]} of {place} cannot be measured", where,
                        "not measured", f"at most {allowed} {unit}", remedy)]
    if found <= allowed:
        return []
    return [Problem("E333", f"the {where.split()[-1]} of {place} exceeds its limit", where, f"{found} {unit}",
                    f"at most {allowed} {unit}", f"{remedy}, or raise the limit in [budget]")]
