"""codegen: build the template context of online kernel RLS."""

from __future__ import annotations

from typing import Any

from ...sim.choices import LEVERAGE_FRAC, RESIDUAL_FRAC
from ...sim.plan import Plan
from ...sim.planner.online.rls import FADING_BITS, TURN_BITS

#: Constants that become macros.
RLS_MACROS = {
    "Random features: cosines of turns, and scaled inputs": ("rls_phase_shift", "rls_x_exp"),
    "Normal equations": ("rls_fading", "rls_ridge_one", "rls_ridge_x", "rls_ridge_cosine", "rls_fade_one",
                         "rls_fade_x", "rls_fade_cosine", "rls_product_shift"),
    "Coordinate descent": ("rls_steps", "rls_error_shift", "rls_step_shift"),
    "Novelty": ("novelty_release", "novelty_steps", "novelty_exp"),
    "Prediction: w.phi is shifted by out": ("rls_out_shift", "f_lo", "f_hi"),
}
_MEANINGS = {"rls_fading": "1 - forgetting, 32 fraction bits", "rls_ridge_one": "ridge of the constant",
             "rls_ridge_x": "ridge of an input", "rls_ridge_cosine": "ridge of a cosine",
             "rls_fade_one": "(1 - forgetting) ridge", "rls_steps": "coefficients that change per sample",
             "novelty_release": "leverage below which the novelty ends",
             "novelty_exp": "exponent of an increase of the bound",
             "f_lo": "range of y", "f_hi": "range of y"}


def rls_value(name: str) -> str:
    """Return a description of a constant of online RLS; empty if there is none."""
    return _MEANINGS.get(name, "")


def rls_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of online RLS; empty for other algorithms."""
    if not plan.second_order:
        return {}
    x = plan.signals["x"].format
    short = x.signed and x.c_bits == 16 and plan.integer("rls_phase_shift") + TURN_BITS <= 32
    # (1 - forgetting) ridge w must have fewer than 30 bits, so that a change of beta fits 32
    fades = {name.removeprefix("rls_fade_").upper(): plan.integer(name) for name in plan.constants
             if name.startswith("rls_fade_")}
    shift = plan.integer("rls_step_shift")
    narrow = shift <= 32 and (max(fades.values()) << 31) >> shift < 1 << 29
    scaled = {kind: fade << 32 - shift for kind, fade in fades.items()} if narrow else {}
    return {"inputs": plan.options["inputs"] == "1", "cosines": plan.sizes["M"], "short_phase": short,
            "narrow": narrow, "fades": scaled,
            "rounded": -(-2 * 2**FADING_BITS // plan.integer("rls_fading"))}


def novelty_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of leverage and novelty; empty without it."""
    if not plan.novelty:
        return {"novelty": {}}
    texts = {name: f"{plan.integer(key) / 2**LEVERAGE_FRAC:.6g}"
             for name, key in (("threshold", "novelty"), ("release", "novelty_release"))}
    return {"novelty": {"frac": LEVERAGE_FRAC, "scale": RESIDUAL_FRAC - 15, **texts}}
