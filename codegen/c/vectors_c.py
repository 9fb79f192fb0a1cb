"""codegen: write test vectors as C constants, limited by the flash size."""

from __future__ import annotations

import textwrap
from typing import Any

from numpy.typing import NDArray

from ...sim.backend import answer_width
from ...sim.model import open_model
from ...sim.plan import C_BYTES, Plan
from ...sim.replay.vectors import Call, Vectors, make_vectors
from ...sim.spec.target import Target
from .context import c_integer

#: Largest size of the constants, except the samples of a batch trainer, which needs all of them.
MOST_BYTES = 16384
#: And the share of a target's flash.
FLASH_SHARE = 8


def room(target: Target | None) -> int:
    """Return the number of bytes available for the constants on a target."""
    return MOST_BYTES if target is None else min(MOST_BYTES, target.flash_bytes // FLASH_SHARE)


def _sample_bytes(plan: Plan, call: str) -> int:
    """Return the bytes per sample of a call: its inputs, target, result and status."""
    names = {"update": ("y_raw", "y"), "predict": ("y",)}[call]
    bits = sum(plan.signals[name].format.c_bits for name in names)
    bits += (answer_width(plan) - 1) * plan.signals["y"].format.c_bits
    if call == "update":
        bits += (plan.targets - 1) * plan.signals["y_raw"].format.c_bits
    return (plan.sizes["D"] * plan.signals["x_raw"].format.c_bits + bits) // 8 + 1


def truncate_calls(plan: Plan, vectors: Vectors, most: int) -> Vectors:
    """Keep the first samples of each call, and recompute the expected results.

    The integer model computes the results. At most half of the space is for updates and a quarter for
    predictions. Calls of the same kind share their space equally.

    Parameters
    ----------
    plan : Plan
    vectors : Vectors
    most : int
        Available bytes.

    Returns
    -------
    Vectors
        `vectors` itself if all samples fit.
    """
    shares = {"update": most // 2, "predict": most // 4}
    names = [call.name for call in vectors.calls]
    limit = {name: max(1, share // max(1, names.count(name)) // _sample_bytes(plan, name))
             for name, share in shares.items()}
    if all(call.x_raw is None or len(call.x_raw) <= limit.get(call.name, len(call.x_raw))
           for call in vectors.calls):
        return vectors
    return make_vectors(open_model(plan), [
        (call.name, None if call.x_raw is None else call.x_raw[:limit.get(call.name)],
         None if call.y_raw is None else call.y_raw[:limit.get(call.name)]) for call in vectors.calls])


def _array(ctype: str, name: str, words: NDArray[Any]) -> dict[str, Any]:
    """Format an array as a C constant for the template."""
    text = ", ".join(c_integer(int(word)) for word in words.ravel())
    return {"ctype": ctype, "name": name, "count": words.size,
            "lines": textwrap.wrap(text, 100, break_long_words=False)}


def _arrays(plan: Plan, i: int, call: Call) -> list[dict[str, Any]]:
    p = plan.name
    columns = (("x", f"{p}_in_t", call.x_raw), ("y", f"{p}_target_t", call.y_raw),
               ("f", f"{p}_out_t", call.expected.get("f")), ("label", "uint8_t", call.expected.get("label")),
               ("margin", f"{p}_out_t", call.expected.get("margin")),
               ("status", "int8_t", call.expected["status"]))
    return [_array(ctype, f"call_{i}_{name}", words) for name, ctype, words in columns if words is not None]


def vectors_context(plan: Plan, vectors: Vectors, target: Target | None = None) -> dict[str, Any]:
    """Build the template context of test vectors for ``templates/package``.

    Parameters
    ----------
    plan : Plan
    vectors : Vectors
        Vectors as ``kerncast test`` replays them.
    target : Target, optional
        Its flash size limits the constants.

    Returns
    -------
    dict
        ``arrays``: the C constants; ``calls``: the calls with their number of samples, in the program
        (``kept``) and in `vectors` (``all``); ``state``: the members of the model structure with the same
        numbers of values; ``vector_words``: the number of values compared; ``vector_bytes``: the size of the
        constants.
    """
    most = room(target)
    short = truncate_calls(plan, vectors, most)
    arrays = [array for i, call in enumerate(short.calls) for array in _arrays(plan, i, call)]
    calls = [{"name": call.name, "kept": _samples(call), "all": _samples(whole), "x": call.x_raw is not None}
             for call, whole in zip(short.calls, vectors.calls, strict=True)]
    state: list[dict[str, Any]] = []
    for field in plan.memory:
        ctype = "uint32_t" if field.ctype == "float" else field.ctype
        kept = short.state[field.name][:max(1, most // 4 // len(plan.memory) // C_BYTES[ctype])]
        arrays.append(_array(ctype, f"state_{field.name}", kept))
        state.append({"name": field.name, "kept": kept.size, "all": field.count,
                      "scalar": field.formula == "1", "real": field.ctype == "float"})
    types = {"in_t": "x_raw", "target_t": "y_raw", "out_t": "y"}
    sizes = {f"{plan.name}_{ctype}": plan.signals[name].format.c_bits // 8 for ctype, name in types.items()}
    return {"arrays": arrays, "calls": calls, "state": state, "names": {call["name"] for call in calls},
            "real_state": any(field.ctype == "float" for field in plan.memory),
            "vector_words": sum(words.size for call in short.calls for words in call.expected.values())
            + sum(member["kept"] for member in state),
            "vector_bytes": sum(array["count"] * (sizes | C_BYTES)[array["ctype"]] for array in arrays)}


def _samples(call: Call) -> int:
    return max(0 if words is None else len(words) for words in (call.x_raw, call.y_raw))
