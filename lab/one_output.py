"""lab: reject models with several outputs in commands that support only one."""

from __future__ import annotations

from ..sim.errors import fail
from ..sim.plan import Plan
from ..sim.spec import Spec


def refuse_several(given: Spec | Plan, what: str) -> None:
    """Raise E124 if a spec or plan has classes or several outputs.

    `what` is the subject of the message, such as the name of the command.
    """
    if isinstance(given, Plan):
        classes, outputs = bool(given.decision), given.outputs
    else:
        classes, outputs = given.output.classes is not None, given.output.targets
    if not classes and outputs == 1:
        return
    key = "classes" if classes else "outputs"
    raise fail("E124", f"{what} supports only one output", where=f"[output] {key}",
               value=key if classes else outputs,
               allowed="a spec without classes and with one output",
               remedy="run kerncast sim SPEC, which prints the error, or accuracy and recall for classes")
