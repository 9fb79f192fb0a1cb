"""codegen: document statuses, calling context and cost of public C functions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from ...sim.candidates import EVIDENCE_FRAC
from ...sim.plan import Plan
from ...sim.statuses import c_statuses
from .context import BAND_STEP_ROWS, factor_step_rows
from .delay import delay_cost

_WIDTH = 105
_OWN = "Reentrant for different models; one call at a time on one model."
_READS = "Reentrant: it only reads the model."
_TRAINER = "Reentrant for different trainers; one call at a time on one trainer."
_NO_ISR = "Not from an interrupt, because it takes a long time. A prediction may interrupt it."
_LINE = "Reentrant for different lines; one call at a time on one line."
_STREAM = "Reentrant for different streams; one call at a time on one stream."
_STORED = "Reentrant for different models and storages."
_WAITS = "Not from an interrupt, because it waits for the storage."
_NO_WRITER = "Allowed if the call does not interrupt a function that writes this model."
_NO_CALL = "Allowed if the call does not interrupt another function on this trainer."
#: By kind of function: reentrancy, and whether an interrupt service routine (ISR) may call it.
_CONTEXT = {
    "init": (_OWN, "Allowed on a model that nothing else uses."),
    "predict": (_READS, _NO_WRITER),
    "novelty": (_READS, _NO_WRITER),
    "predict_fixed": ("Reentrant: the model is constant.", "Allowed."),
    "predict_block": (_READS, _NO_WRITER),
    "predict_block_fixed": ("Reentrant: the model is constant.", "Allowed."),
    "train": (_TRAINER, _NO_ISR), "train_run": (_TRAINER, _NO_ISR),
    "train_begin": (_TRAINER, _NO_CALL),
    "train_push": (_TRAINER, _NO_CALL),
    "train_push_block": (_TRAINER, _NO_CALL),
    "train_set_lambda": (_TRAINER, _NO_CALL),
    "train_commit": (_TRAINER, "Allowed if the call does not interrupt another function on this trainer or "
                               "model."),
    "train_fitted": ("Reentrant: it only reads the trainer.", _NO_CALL),
    "train_cancel": (_TRAINER, _NO_CALL),
    "update": (_OWN, "Allowed if the call does not interrupt another function on this model."),
    "update_begin": (_OWN, "Allowed if the call does not interrupt another function on this model."),
    "update_run": (_OWN, "Allowed if the call does not interrupt another function on this model. A "
                         "prediction may interrupt it, because it does not read what this function writes."),
    "solve": (_TRAINER, _NO_ISR),
    "delay_init": (_LINE, "Allowed on a line that nothing else uses."),
    "delay_push": (_LINE, "Allowed if the call does not interrupt another function that uses this line."),
    "delay_window": ("Reentrant: it only reads the line.", "Allowed."),
    "stream_init": (_STREAM, "Allowed on a stream that nothing else uses."),
    "stream_push": (_STREAM, "Allowed if the call does not interrupt another function on this stream."),
    "save": (_STORED, _WAITS), "restore": (_STORED, _WAITS),
}
#: Which calls of the plan count the cost of a kind of function.
_COUNTED = {"predict_fixed": "predict", "solve": "train"}
#: The function whose work a function on a block does for each sample.
_OF_BLOCK = {"predict_block": "model_predict", "predict_block_fixed": "model_predict",
             "train_push_block": "train_push"}
#: Cost of the functions whose time does not depend on the plan.
_CONSTANT = {"stream_init": "writes two members"}


def _wrapped(text: str) -> list[str]:
    return [f" * {line}" for line in textwrap.wrap(text, _WIDTH - 3)]


def contract(plan: Plan, kind: str, saved_bytes: int) -> str:
    """Return a function's Doxygen lines on reentrancy, interrupts and worst-case cost.

    `kind` is the name of the function without the model's prefix; `saved_bytes` is the size of a saved state.
    """
    reentrancy, interrupts = _CONTEXT[kind]
    cost = _cost(plan, kind, saved_bytes)
    rows = (f"@par Reentrancy: {reentrancy}", f"@par Interrupts: {interrupts}", f"@par Worst case: {cost}.")
    return "\n".join(line for row in rows for line in _wrapped(row))


def _cost(plan: Plan, kind: str, saved_bytes: int) -> str:
    """Return the worst-case cost of a function."""
    counts = plan.operations.get(_COUNTED.get(kind, kind), {})
    cost = ", ".join(f"{c.count} {what.replace('_', ' ')}" for what, c in counts.items())
    if kind == "update_run":
        cost += " per search"
    if kind in _CONSTANT:
        cost = _CONSTANT[kind]
    elif kind.startswith("delay_"):
        cost = delay_cost(plan, kind)
    elif kind == "stream_push":
        cost = f"{plan.stream_taps} multiplications; stores one sample twice"
    elif kind in _OF_BLOCK:
        cost = f"count times the cost of {plan.name}_{_OF_BLOCK[kind]}()"
    elif kind == "init":
        cost = f"writes {plan.state_bytes} bytes"
    elif kind.startswith("train_"):
        cost = _slice_cost(plan, kind)
    elif kind in ("save", "restore"):
        cost = f"{saved_bytes} bytes written once and read once" if kind == "save" else \
            f"reads two slots of {saved_bytes} bytes, and the restored one twice"
    return cost


def costs_of_parts(plan: Plan) -> dict[str, str]:
    """Return the worst-case costs of the parts of a training.

    These are the slices of a training, its fitted values, and a sample of a stream.
    """
    kinds = [] if not plan.trains else ["train_begin", "train_push", "train_run", "train_commit"]
    kinds += ["train_set_lambda"] if plan.ranged else []
    kinds += ["train_fitted"] if plan.fits else []
    kinds += ["stream_push"] if plan.stream_taps else []
    return {kind: _cost(plan, kind, 0) for kind in kinds}


def _slice_cost(plan: Plan, kind: str) -> str:
    """Return the worst-case cost of a function that performs part of the training."""
    n = plan.sizes["n"]
    if kind == "train_push" and plan.eager:
        return f"{2 * (n + plan.integer('last_lag'))} multiplications, 2 divisions, 1 kernel value"
    if kind != "train_run":
        return {"train_begin": f"writes {plan.trainer_bytes} bytes", "train_push": "stores one sample",
                "train_commit": f"writes {plan.state_bytes} bytes",
                "train_cancel": "writes two members", "train_set_lambda": "writes two members",
                "train_fitted": f"{n} multiplications"}[kind]
    if plan.looks_ahead:
        return "a step takes O(n) time; a look-ahead step and the last step take O(n^2)"
    if plan.geometric:
        return f"a step takes {max(BAND_STEP_ROWS * 8, n + 3)} multiplications"
    if plan.banded:
        bands = plan.integers("candidate_band") if plan.tunes else (plan.integer("band"),)
        other = 2 * n + EVIDENCE_FRAC + 1 if plan.tunes else n + 3
        if plan.refine:
            bands = (plan.integer("residual_band"),)
        if plan.bias:  # the first step computes the intercept
            other = n + BAND_STEP_ROWS * (max(bands) + 1)
        divisions = f", {factor_step_rows(plan)} divisions" if plan.ranged else ""
        return f"a step takes {max(BAND_STEP_ROWS * (2 * max(bands) + 3), other)} multiplications{divisions}"
    more = "" if plan.uniform else f" or {n} kernel values"
    return f"a step takes {4 * n * plan.outputs} multiplications{more}"


def returned(files: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the Doxygen lines of the statuses that each kind of function returns.

    Parameters
    ----------
    files : mapping of str to str
        Texts of the model's C files by file name.
    prefix : str
        The name of the model.
    """
    texts = {name: text for name, text in files.items() if name.endswith(".c")}
    predict = texts.pop(f"{prefix}_model.c", "")
    for other in ("state", "delay", "stream"):
        texts.pop(f"{prefix}_{other}.c", None)
    train = f"{prefix}_train.c"
    if train in texts:  # its last function has its own list
        texts[train] = texts[train].partition(f"kc_status_t {prefix}_train_fitted(")[0]
        texts[train] = texts[train].replace("KC_PENDING", "")  # of _train_run, which has its own list
    lms = f"{prefix}_lms.c"
    if f"{prefix}_lms_update_run(" in texts.get(lms, ""):  # the header has their own lists
        texts[lms] = texts[lms].partition(f"kc_status_t {prefix}_lms_update_run(")[0].replace(
            "KC_OUT_OF_ORDER", "")
    saved = "KC_OK KC_BAD_ARGUMENT " + " ".join(n for n, *_ in c_statuses() if n.startswith("KC_STATE_"))
    return {kind: _retvals(text) for kind, text in {
        "predict": predict, "learn": "".join(texts.values()), "save": saved, "restore": saved}.items()}


def _retvals(text: str) -> str:
    found = set(re.findall(r"(?<![=!]= )\bKC_\w+", text))  # what is only compared with is not returned
    rows = [f"@retval {name} {meaning}" for name, _, meaning in c_statuses() if name in found]
    return "\n".join(line for row in rows for line in _wrapped(row))
