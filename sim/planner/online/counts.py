"""sim.planner.online: memory and operations of the learner as formulas in N and D.

An update computes one row of distances and kernel values for the prediction.  In addition:

* An eviction computes a row of both if its coefficient is projected, or sums of squares are maintained.
* A vector that loses its nearest neighbour is relinked: in the worst case all newer vectors for FKLMS,
  (N-1)(N-2)/2 distances, and all vectors for FMKLMS, (N-1)(N-2).
* FMKLMS computes N kernel values to select the victim, because it stores distances.

With ``bounded_update`` the searches follow the insertion of the new vector, in calls of their own: one
search is N-2 distances for FKLMS, which ignores the new vector, and N-1 for FMKLMS, (N-1)(N-1) in all.

With a fixed N_max one vector is evicted per sample. With a fixed lambda_max, or truncation, all may be
removed at once, if the decay reduces them below a limit together: the counts are sums over c = N, N-1, ...
vectors.
FKLMS with a fixed lambda_max removes only the newest, which is not the nearest vector of another one yet,
because earlier pairs are farther apart.

*The mean* of FKLMS with a fixed N_max is ``update_without_searches``, for any stream that is long enough.
Let delta be the smallest distance between the N - 1 vectors that remain after a removal. The next removal
evicts the next vector x itself, unless x is farther than delta from all of them. The newest vector is never
the nearest older vector of another one, so this needs no search. Otherwise x replaces one of the closest
pair, so that fewer pairs are within delta, or delta is larger. Distances are integers of a bounded range, so
this happens a finite number of times, and so do searches. The number of samples until then depends on the
inputs; docs/measured/online-cost.md counts just after the dictionary has filled. For FMKLMS, whose
coefficients change, no mean is known: ``update_without_searches`` is then an update without a search.
"""

from __future__ import annotations

from ...formats import Format
from ...plan import SIZE_KEYS, Field, Operations
from ...spec.online import Online
from ..counts import memory, operations
from ..words import WordClass
from .metric import NEIGHBOURS, SUMS, WEIGHTED

#: Sums over c = 1 ... N, and of those that start at 2 the same: c - 1, its pairs, and c.
_OTHERS, _PAIRS, _ALL = "N*(N-1)//2", "N*(N-1)*(N-2)//3", "N*(N+1)//2"


def lms_memory(online: Online, words: WordClass, x_word: str, sizes: dict[str, int]) -> tuple[Field, ...]:
    """Return the model structure; with `newest_only` slots are in order of age."""
    distance, metric = words.distance.c_type, online.parts[1]
    index = "uint8_t" if sizes["N"] <= 1 << 8 else "uint16_t"
    near = "older center" if metric == "fklms" else "center"
    fields = [("scratch_row", distance, "N", "distances to the current sample"
               + (", then kernel values" if metric in SUMS else "")),
              ("alpha", Format(True, words.bits, 0).c_type, "N*C" if "C" in sizes else "N",
               "coefficients" + (" of each center" if "C" in sizes else "")),
              ("centers", x_word, "N*D", "dictionary: the centers")]
    if not online.newest_only:
        if metric in NEIGHBOURS:
            fields += [("nearest_d2", distance, "N", f"distance to the nearest {near}"),
                       ("nearest_idx", index, "N",
                        f"slot of the nearest {near}; its own slot if there is none")]
        if metric in SUMS:
            fields += [("sums", distance, "N", "squared kernel values over all others")]
        fields += [("age_order", index, "N", "age order: 0 is the oldest")]
    fields += _linear_fields(online, "C" in sizes)
    if online.max_age is not None:
        fields += [("born", "uint32_t", "N", "clock when the center was added"),
                   ("clock", "uint32_t", "1", "samples learned, modulo 2^32")]
    fields.append(("count", "uint16_t", "1", "number of centers"))
    if online.bounded_update:
        fields.append(("pending", "uint16_t", "1",
                       "1 + the last slot whose nearest center must be searched; 0 if none"))
    return memory(fields, sizes, SIZE_KEYS["kernel_lms"])


def _linear_fields(online: Online, several: bool) -> list[tuple[str, str, str, str]]:
    """Return the members of the linear part, its gate and the last errors.

    Values of several outputs follow each other, one output after the other.
    """
    if online.linear is None:
        return []
    size, each = ("(D+1)*C", " of each output") if several else ("D+1", "")
    fields = [("linear_w", "int32_t", size, f"linear part: w{each}, the intercept first")]
    if online.linear == "rls":
        fields = [("linear_r", "int32_t", "(D+1)*(D+2)//2", "linear part: R, upper triangle, row by row"),
                  ("linear_z", "int32_t", size, f"linear part: z{each}, with R w = z"), *fields,
                  ("linear_next", "uint16_t", "1", "linear part: column of the next ridge row")]
    if online.gate:
        fields += [("gate_sums", "int64_t", "2*C" if several else "2",
                    f"gate{each}: sums of e_L f_K and of f_K^2")]
    if online.last_errors is not None:
        order = str(online.last_errors)
        fields += [("error_past", "int32_t", order, "last errors: the last errors, the newest first"),
                   ("error_w", "int32_t", order, "last errors: their coefficients"),
                   ("error_sums", "int64_t", "2", "last errors: sums of e c and c^2, c predicted")]
    return fields


def lms_operations(online: Online, decays: bool, sizes: dict[str, int]) -> dict[str, dict[str, Operations]]:
    """Return operation counts of an update and of a prediction.

    The update is counted in the worst case, and without searches.
    """
    each = "*C" if "C" in sizes else ""
    step = {"kernel_values": ["N"], "distance_terms": ["N"],
            "multiplications": [f"(N+1){each}" if each else "N+1"]}
    if decays:
        step["multiplications"] += [f"N{each}"]
    step["multiplications"] += _linear_update(online, each)
    quiet = {what: list(terms) for what, terms in step.items()}
    if online.newest_only:
        _newest(online, step)
    else:
        for counts, searches in ((step, True), (quiet, False)):
            _full(online, counts, searches, each)
        _after(online, step, each)
    calls = {"update": _formulas(step), "predict": {
        "kernel_values": "N", "distance_terms": "N*D",
        "multiplications": " + ".join([f"N{each}", *_linear_prediction(online, each)])}}
    if not online.newest_only and online.parts[1] in NEIGHBOURS:
        calls["update_without_searches"] = _formulas(quiet)
    if online.bounded_update:
        calls["update_begin"] = calls["update_without_searches"]
        calls["update_run"] = {"distance_terms": "D*(N-2)" if online.parts[1] == "fklms" else "D*(N-1)"}
    return operations(calls, sizes)


def _linear_update(online: Online, each: str) -> list[str]:
    """Count w.phi, and the operations with which the linear part learns.

    RLS decays, rotates two rows in, and substitutes back. NLMS computes phi.phi and a gain, and changes w.
    """
    if online.linear is None:
        return []
    if online.linear == "nlms":
        learned = ["D+1", f"(D+2){each}" if each else "D+2"]
    elif each:
        learned = ["(D+1)*(D+2)//2", "(D+1)*C", "4*(D+1)*(D+2)", "4*(D+1)*C", "D*(D+1)//2*C"]
    else:
        learned = ["(D+1)*(D+4)//2", "4*(D+1)*(D+3)", "D*(D+1)//2"]
    return [f"(D+1){each}" if each else "D+1", *learned, *([f"3{each}"] if online.gate else []),
            *([f"4*{online.last_errors} + 3"] if online.last_errors else [])]


def _linear_prediction(online: Online, each: str) -> list[str]:
    """Count w.phi, the gate and the correction from the last errors."""
    if online.linear is None:
        return []
    return [f"(D+1){each}" if each else "D+1", *([f"1{each}"] if online.gate else []),
            *([f"{online.last_errors} + 1"] if online.last_errors else [])]


def _formulas(counts: dict[str, list[str]]) -> dict[str, str]:
    """Return the sums of the terms as formulas; a distance has D terms."""
    text = {what: " + ".join(terms) for what, terms in counts.items()}
    return text | {"distance_terms": f"D*({text['distance_terms']})"}


def _newest(online: Online, counts: dict[str, list[str]]) -> None:
    """Count the evaluation and projection of the newest vector from the current row."""
    projection, metric = online.parts
    if metric in SUMS:
        counts["multiplications"] += ["N"]  # squares
    if metric in WEIGHTED:
        counts["multiplications"] += ["2"]
    if metric == "fmklms":
        counts["kernel_values"] += ["1"]
    if projection != "none":
        counts["kernel_values"] += ["N"] if metric not in SUMS else []
        counts["multiplications"] += ["2*N" if online.guard else "N"]


def _full(online: Online, counts: dict[str, list[str]], searches: bool, each: str) -> None:
    """Count the eviction from a full dictionary and the insertion of the new vector.

    `each` multiplies the operations that every output needs.
    """
    projection, metric = online.parts
    if metric == "magnitude" and each:
        counts["multiplications"] += [f"N{each}"]
    if metric in WEIGHTED:
        counts["multiplications"] += ["2*N"]
    if metric == "fmklms":
        counts["kernel_values"] += ["N"]
    if projection != "none" or metric in SUMS:
        counts["kernel_values"] += ["N-1"]
        counts["distance_terms"] += ["N-1"]
    if projection != "none":
        counts["multiplications"] += [f"(N-1){each}" if each else "N-1", *["N-1"] * bool(online.guard)]
    if metric in SUMS:
        counts["multiplications"] += ["2*(N-1)"]
    if metric in NEIGHBOURS and searches:
        others = "N-1" if online.bounded_update else "N-2"  # the new vector is searched if it is there before
        counts["distance_terms"] += ["(N-1)*(N-2)//2" if metric == "fklms" else f"(N-1)*({others})"]


def _after(online: Online, counts: dict[str, list[str]], each: str) -> None:
    """Count the removals after a sample, in the worst case of all vectors.

    `each` multiplies the operations that every output needs.
    """
    projection, metric = online.parts
    if each and online.truncation is not None:
        counts["multiplications"] += [f"N{each}"]
    if each and metric == "magnitude" and online.max_deterioration is not None:
        counts["multiplications"] += [f"{_ALL}{each}"]
    reduces = online.max_deterioration is not None
    discards = online.truncation is not None or online.max_age is not None
    if metric == "fklms" and reduces and projection != "none":  # the newest alone
        for what in counts:
            counts[what] += [f"(N-1){each}" if each and what == "multiplications" else "N-1"]
        counts["multiplications"] += ["N-1"] * bool(online.guard)
    hands_on = reduces and projection != "none" and metric != "fklms"
    if hands_on or (metric in SUMS and (reduces or discards)):
        counts["kernel_values"] += [_OTHERS]
        counts["distance_terms"] += [_OTHERS]
    if hands_on:
        counts["multiplications"] += [f"{_OTHERS}{each}", *[_OTHERS] * bool(online.guard)]
    if metric in SUMS and (reduces or discards):
        counts["multiplications"] += [_OTHERS]
    if metric == "fmklms" and reduces:
        counts["kernel_values"] += [f"{_ALL}-1"]
    if metric in WEIGHTED and reduces:
        counts["multiplications"] += [f"2*({_ALL})" if metric in SUMS else f"2*({_ALL}-1)"]
    if metric == "fklms" and discards:
        counts["distance_terms"] += ["N*(N-1)*(N-2)//6"]
    if metric == "fmklms" and (reduces or discards):
        counts["distance_terms"] += [_PAIRS]
