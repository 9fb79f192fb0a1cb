"""codegen: name the outputs and the classes of a model for the C templates."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from ...sim.plan import Plan

#: Constants that a label becomes, and their meaning.
CLASS_TARGETS = {"y_class": "target of the class", "y_other": "target of the other classes"}
_MARGINS = {
    "sign": "the magnitude of the output",
    "argmax": "the largest output minus the second largest",
    "vote": "the smallest output in favour of the label, negative if another class wins against it",
}


def class_macros(names: tuple[str, ...]) -> list[str]:
    """Return a unique upper-case identifier for each class, without model prefix.

    Each run of characters other than ASCII letters and digits becomes one ``_``. A name without letters and
    digits becomes ``NO_`` and its class number.
    """
    found: list[str] = []
    taken = {"UNKNOWN", "NAMES"}
    for label, name in enumerate(names):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        base = re.sub(r"[^A-Z0-9]+", "_", plain.upper()).strip("_") or f"NO_{label}"
        chosen, number = base, 2
        while chosen in taken:
            chosen, number = f"{base}_{number}", number + 1
        taken.add(chosen)
        found.append(chosen)
    return found


def c_text(text: str) -> str:
    r"""Return text as an ASCII C string literal without trigraphs.

    Characters other than printable ASCII, and the characters \ " ?, become octal escapes of their UTF-8
    bytes.
    """
    def escaped(byte: int) -> str:
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        return chr(byte) if plain else f"\\{byte:03o}"

    return '"' + "".join(map(escaped, text.encode())) + '"'


def comment_text(name: str) -> str:
    """Return a name that is safe to print in a C comment.

    All characters except ASCII letters, digits, spaces and ``_ . + -`` become ``_``.
    """
    return re.sub(r"[^\w .+-]", "_", name, flags=re.ASCII)


def _parameters(plan: Plan) -> dict[str, str]:
    """Return the C parameters of a target, of a sample with target, and of a block."""
    name, x = "label" if plan.decision else "y", "" if plan.uniform else f"const {plan.name}_in_t *x, "
    several = f"const {plan.name}_target_t *{name}"
    target = f"{plan.name}_target_t {name}" if plan.targets == 1 else several
    return {"update_target": target, "update_sample": x + target, "update_block": x + several}


def multiplies_pairs(plan: Plan) -> bool:
    """Check whether a learner can use the sums of kc_outputs.h over its outputs.

    The sums need coefficients of 16 bits, kernel values of at most 2^15, and unshifted products.
    """
    constants = plan.constants
    return (plan.algorithm == "kernel_lms" and plan.outputs > 1 and plan.word == 16 and not plan.in_float32
            and not plan.polynomial and str(plan.signals["kernel"].format) == "u16f15"
            and not constants["mac_shift"] and not constants.get("norm_shift"))


def classes_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of models with several outputs or with classes."""
    names, pairs = plan.class_names, plan.outputs
    macros = class_macros(names) if plan.decision else []
    return {
        "several": "C" in plan.sizes, "outputs": plan.outputs, "pairwise": plan.pairwise,
        **_parameters(plan), "multiplies_pairs": multiplies_pairs(plan),
        "columns": plan.sizes.get("M", plan.outputs), "decision": plan.decision,
        "labels": list(zip(macros, map(comment_text, names), strict=False)),
        "label_texts": [c_text(name) for name in names] if plan.decision else [],
        "margin_text": _MARGINS.get(plan.decision.removesuffix("_confidence"), ""),
        "decision_cost": 2 * pairs + len(names) if plan.pairwise else max(1, 2 * len(names) - 2),
    }
