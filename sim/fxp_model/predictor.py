"""sim.fxp_model: predict with an imported model, with fxpmath."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..backend import FIXED_CALLS, Outputs, Raw
from ..data import raw
from ..plan import Plan
from .arithmetic import Words, number, word_of
from .base import STATUS, FxpModel
from .classes import with_classes


class FxpPredictor(FxpModel):
    """The fxpmath model of a plan with algorithm ``kernel_predictor``."""

    calls = FIXED_CALLS

    def __init__(self, plan: Plan) -> None:
        alpha, v = (plan.tables[name] for name in ("alpha", "centers"))
        count = plan.sizes["N"]
        self._alpha = number(np.array(alpha.values, dtype=np.int64), alpha.format)
        self._v = np.array(v.values, dtype=np.int64).reshape(count, plan.sizes["D"])
        self._every = _every_alpha(plan) if "C" in plan.sizes else None
        super().__init__(plan)

    def reset(self) -> None:
        """Do nothing: there is no state."""

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for ADC counts (m, D).

        The result is that of :meth:`.model.predictor.PredictorModel.predict`.
        """
        plan = self.plan
        answer = self._predict(x_raw, self._v, self._alpha, plan.integer("bias")) if self._every is None \
            else self._outputs(x_raw, self._every)
        return with_classes(plan, answer)

    def _outputs(self, x_raw: Raw, every: Words) -> Outputs:
        """Predict each output separately, from its coefficients in `every` (C, N)."""
        x_raw, fmt = raw.inputs(self.plan, x_raw), self.plan.tables["alpha"].format
        f = np.zeros((len(x_raw), len(every)), dtype=np.int64)
        status = np.zeros(len(x_raw), dtype=np.int64)
        for m, x in enumerate(self._kernel.x_words(x_raw) if len(x_raw) else ()):
            values = self._kernel.values(self._kernel.distances(self._v, x))
            found = [self._kernel.kernel_expansion(number(alpha, fmt), values, bias)
                     for alpha, bias in zip(every, self.plan.tables["bias"].values, strict=True)]
            f[m] = [word_of(word) for word, _ in found]
            status[m] = STATUS["saturated" if any(lost for _, lost in found) else "ok"]
        return {"status": status, "f": f}


def _every_alpha(plan: Plan) -> Words:
    """Return the coefficients of every output, shape (C, N).

    A coefficient is 0 if the output belongs to a pair that does not contain the class of the center.
    """
    count, rows = plan.sizes["N"], iter(plan.tables["alpha"].values)
    every = np.zeros((plan.outputs, count), dtype=np.int64)
    if not plan.pairwise:
        every[:] = np.array(list(rows), dtype=np.int64).reshape(count, -1).T
        return every
    ends, classes = plan.tables["group_end"].values, range(len(plan.class_names))
    for i in range(count):
        own = next(a for a in classes if i < ends[a])
        for other in classes:
            if other != own:
                pair = list(combinations(classes, 2)).index((min(own, other), max(own, other)))
                every[pair, i] = next(rows)
    return every
