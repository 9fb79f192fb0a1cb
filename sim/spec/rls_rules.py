"""sim.spec: rules on combinations of the keys of online kernel RLS."""

from __future__ import annotations

from .draft import Draft, Found

#: Keys that have no effect without `novelty`.
_OF_NOVELTY = ("novelty_release", "novelty_steps", "drift_samples")


def novelty(draft: Draft) -> Found:
    """Reject keys of the novelty without a threshold, and a release above it (E113)."""
    if not draft.has("rls"):
        return
    if not draft.given("rls", "novelty"):
        for name in _OF_NOVELTY:
            if draft.given("rls", name):
                yield draft.problem("E113", f"{name} has no effect without `novelty`", "rls", name,
                                    allowed=f"{name} with novelty",
                                    remedy=f"add novelty = 1.0, or remove {name}")
        return
    threshold, release = draft.get("rls", "novelty"), draft.get("rls", "novelty_release")
    if threshold is not None and release is not None and release > threshold:
        yield draft.problem("E113", "novelty_release is above `novelty`", "rls", "novelty_release",
                            allowed=f"up to {threshold:g}, the value of `novelty`",
                            remedy="remove novelty_release: the default is half of `novelty`")
