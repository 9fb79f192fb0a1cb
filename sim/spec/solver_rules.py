"""sim.spec: rules on the solver of a Toeplitz trainer."""

from __future__ import annotations

from .draft import Draft, Found


def solver(draft: Draft) -> Found:
    """Allow some keys only with some solvers (E113).

    Static scaling needs solver `levinson`; refinement and a bias also work with `banded`. Require scheme
    uniform for solver banded.
    """
    chosen = draft.get("toeplitz", "solver")
    if not draft.has("toeplitz") or chosen in (None, "levinson", "auto"):
        return
    only = "levinson"
    for key, plain, names in (("scaling", "block", (only,)), ("refine", 0, (only, "banded")),
                              ("bias", False, (only, "banded"))):
        if draft.get("toeplitz", key) not in (None, plain) and chosen not in names:
            yield draft.problem("E113", f"solver = \"{chosen}\" does not support {key}", "toeplitz", key,
                                allowed=f"{key} with solver = " + " or ".join(f"\"{n}\"" for n in names),
                                remedy=f"remove {key}, or set [toeplitz] solver = \"levinson\"")
    if chosen == "banded" and draft.get("toeplitz", "scheme") not in (None, "uniform"):
        yield draft.problem("E113", "solver = \"banded\" needs scheme = \"uniform\"", "toeplitz", "scheme",
                            allowed="scheme = \"uniform\" with solver = \"banded\"",
                            remedy="set scheme = \"uniform\", or [toeplitz] solver = \"levinson\"")


def refined_band(draft: Draft) -> Found:
    """Reject what the banded solver does not support with refinement (E113)."""
    if draft.get("toeplitz", "solver") != "banded" or draft.get("toeplitz", "refine") in (None, 0):
        return
    for table, key, plain in (("toeplitz", "bias", False), ("toeplitz", "candidates", None),
                              ("output", "outputs", 1)):
        if draft.get(table, key) not in (None, plain):
            yield draft.problem("E113", f"refinement by the banded solver does not support `{key}`", table,
                                key, allowed=f"`refine` with solver = \"banded\" and without `{key}`",
                                remedy="set [numbers] word = 32 and remove `refine`: this is more accurate")


def candidates(draft: Draft) -> Found:
    """Require solver `banded` and no bias for candidates (E113).

    Reject duplicates (E109).
    """
    pairs, chosen = draft.get("toeplitz", "candidates"), draft.get("toeplitz", "solver")
    if not isinstance(pairs, (list, tuple)) or not pairs:
        return
    if chosen not in (None, "banded"):
        yield draft.problem("E113", f"solver = \"{chosen}\" does not compare candidates", "toeplitz",
                            "candidates", allowed="candidates with solver = \"banded\"",
                            remedy="set [toeplitz] solver = \"banded\", or remove `candidates`")
    if draft.get("toeplitz", "bias"):
        yield draft.problem("E113", "training with `candidates` does not support `bias`", "toeplitz", "bias",
                            allowed="bias = false with `candidates`",
                            remedy="remove `bias` or `candidates`; a fixed intercept is `offset` in [output]")
    given = [[draft.get("kernel", "sigma"), draft.get("toeplitz", "lambda")], *map(list, pairs)]
    for pair in given:
        if given.count(pair) > 1:
            yield draft.problem("E109", "a pair of sigma and lambda is listed twice", "toeplitz",
                                "candidates", value=pair, allowed="pairs that differ from each other and "
                                "from sigma and lambda of the spec", remedy="remove the duplicate pair")
            return


def lambda_range(draft: Draft) -> Found:
    """Require what a lambda at run time needs (E113).

    lambda must be within its range (E108).
    """
    given = draft.get("toeplitz", "lambda_range")
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        return
    for table, key, wanted, allowed in (
            ("toeplitz", "solver", "banded", 'solver = "banded"'),
            ("toeplitz", "refine", 0, "no `refine`"), ("toeplitz", "bias", False, "no `bias`"),
            ("toeplitz", "candidates", None, "no `candidates`"),
            ("toeplitz", "stream_lag", None, "no `stream_lag`"),
            ("output", "outputs", 1, "one output"), ("output", "classes", None, "no `classes`")):
        if draft.get(table, key) not in (None, wanted):
            yield draft.problem("E113", f"a lambda at run time does not support this `{key}`", table, key,
                                allowed=f"{allowed} with `lambda_range`",
                                remedy="remove `lambda_range`, or choose the allowed value")
    lam = draft.get("toeplitz", "lambda")
    if isinstance(lam, (int, float)) and not given[0] <= lam <= given[1]:
        yield draft.problem("E108", "lambda is outside `lambda_range`", "toeplitz", "lambda",
                            allowed=f"{given[0]:g} to {given[1]:g}",
                            remedy="lambda is the value at the start: choose one within the range")


def factor(draft: Draft) -> Found:
    """Require what the key `factor` supports (E113)."""
    chosen = draft.get("toeplitz", "factor")
    if chosen is None:
        return
    needs: list[tuple[str, str, object, str]] = []
    if draft.get("toeplitz", "solver") != "auto":
        needs += [("toeplitz", "solver", "banded", 'solver = "banded" or "auto"')]
    if chosen == "geometric":
        needs += [("kernel", "type", "laplacian", 'type = "laplacian"'),
                  ("output", "outputs", 1, "one output")]
        needs += [("toeplitz", key, plain, f"no `{key}`") for key, plain in (
            ("refine", 0), ("bias", False), ("candidates", None), ("lambda_range", None))]
    for table, key, wanted, allowed in needs:
        if draft.get(table, key) not in (None, wanted):
            yield draft.problem("E113", f"factor = \"{chosen}\" does not support this `{key}`", table, key,
                                allowed=f"{allowed} with factor = \"{chosen}\"",
                                remedy="remove `factor`: the planner then chooses it")


def signals(draft: Draft) -> Found:
    """Require solver `banded` or `auto` for several outputs (E113).

    Reject the schemes and the keys that support only one output.
    """
    if not draft.has("toeplitz") or (draft.get("output", "outputs") or 1) == 1:
        return
    chosen, scheme = draft.get("toeplitz", "solver"), draft.get("toeplitz", "scheme")
    if chosen not in (None, "banded", "auto"):
        yield draft.problem("E113", f"solver = \"{chosen}\" supports only one output", "output", "outputs",
                            allowed="`outputs` with solver = \"banded\" or \"auto\"",
                            remedy="set [toeplitz] solver = \"banded\", or remove `outputs`")
    if chosen != "banded" and scheme not in (None, "uniform"):  # with "banded" the rule `solver` reports it
        yield draft.problem("E113", f"scheme = \"{scheme}\" supports only one output", "output", "outputs",
                            allowed="`outputs` with scheme = \"uniform\"",
                            remedy="set scheme = \"uniform\", use algorithm kernel_cg, or remove `outputs`")
    unsupported = {"candidates": None, "stream_lag": None} | (
        {"refine": 0, "scaling": "block"} if chosen == "auto" else {})
    for key, plain in unsupported.items():
        if draft.given("toeplitz", key) and draft.get("toeplitz", key) != plain:
            yield draft.problem("E113", f"`{key}` supports only one output", "toeplitz", key,
                                allowed=f"`{key}` without `outputs`", remedy=f"remove `{key}` or `outputs`")
