"""codegen: build the template context of the real-time example program."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan


def realtime_context(plan: Plan) -> dict[str, Any]:
    """Return the template parameters for one sample: sizes, ranges and arguments.

    If a delay line of one channel has inputs and targets of the same format, the model predicts the signal
    itself: the target is the next sample.
    """
    p, x, y = plan.name, plan.signals["x_raw"].format, plan.signals.get("y_raw")
    tapped = bool(plan.delay)
    own_past = bool(tapped and not plan.fixed and not plan.decision and plan.targets == 1
                    and plan.channels == plan.decimate == 1 and y is not None and y.format == x)
    targets = 0 if plan.fixed or own_past else plan.targets
    inputs = 0 if plan.trains and plan.uniform else plan.channels if tapped else plan.sizes["D"]
    single = tapped and inputs == 1
    args, call = [], []
    if inputs:
        args.append(f"{p}_in_t x" if single else f"const {p}_in_t *x")
        call.append("x[0]" if single else "x")
    if targets:
        args.append(f"{p}_target_t y" if targets == 1 else f"const {p}_target_t *y")
        call.append("y[0]" if targets == 1 else "y")
    return {"stream": {
        "own_past": own_past, "inputs": inputs, "single": single, "targets": targets, "args": ", ".join(args),
        "call": ", ".join(call), "x_lo": x.lo, "x_hi": x.hi,
        "y_lo": y.format.lo if y is not None else 0, "y_hi": y.format.hi if y is not None else 0}}
