"""lab.fitting: the threshold of the novelty, from the leverage of the samples."""

from __future__ import annotations

import numpy as np

from ...sim.choices import LEVERAGE_FRAC
from ...sim.data import Dataset, with_lags
from ...sim.diagnostics.novelty import learn_novelty
from ...sim.planner import make_plan
from ...sim.spec import Spec
from ...sim.spec.rls import LEAST_NOVELTY, MOST_NOVELTY
from .search import rounded
from .tuners import Changes

#: The samples after the first half, when the model has settled, whose leverage is below the threshold.
QUANTILE = 0.999
#: What the threshold is, as a sentence.
ORIGIN = (f"[rls] novelty is the {100 * QUANTILE:g}th percentile of the leverage of the second half of the "
          "samples.")


def novelty_threshold(spec: Spec, data: Dataset) -> Changes:
    """Return a threshold of the novelty that the samples rarely reach.

    The result is empty if the spec has no novelty. The threshold is a quantile of the leverage of the second
    half of the training samples, in the integer model. A given release keeps its ratio to the threshold.

    Parameters
    ----------
    spec : Spec
        A spec whose training has status ok.
    data : Dataset
        The data of the spec, before lags.
    """
    if spec.rls is None or spec.rls.novelty is None:
        return {}
    data = with_lags(spec, data)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    novelty = learn_novelty(plan, data.x_raw, data.y_raw)
    assert novelty is not None
    leverage = novelty[:, 0] / 2**LEVERAGE_FRAC
    found = float(np.quantile(leverage[len(leverage) // 2:], QUANTILE))
    threshold = rounded(min(max(found, LEAST_NOVELTY), MOST_NOVELTY))
    changes: Changes = {("rls", "novelty"): threshold}
    if spec.rls.novelty_release is not None:
        ratio = spec.rls.novelty_release / spec.rls.novelty
        changes["rls", "novelty_release"] = min(max(rounded(ratio * threshold), LEAST_NOVELTY), threshold)
    return changes
