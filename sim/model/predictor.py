"""sim.model: predict with a model that was trained elsewhere.

Its centers and coefficients are constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backend import FIXED_CALLS, Outputs
from ..data import raw
from ..plan import Plan
from .base import IntegerModel
from .outputs import classified, predict_outputs, several_outputs


class PredictorModel(IntegerModel):
    """Integer model of a plan with algorithm ``kernel_predictor``."""

    calls = FIXED_CALLS | {"trace"}

    def __init__(self, plan: Plan) -> None:
        self._alpha, v = (np.array(plan.tables[name].values, dtype=np.int64) for name in ("alpha", "centers"))
        self._v = v.reshape(plan.sizes["N"], plan.sizes["D"])
        self._several = several_outputs(plan) if "C" in plan.sizes else None
        super().__init__(plan)

    def reset(self) -> None:
        """Do nothing: there is no state."""

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D).

        The result contains ``status`` (m,) and ``f`` (m,), or (m, C) for several outputs, in LSBs of y. For a
        classifier it also contains ``label`` (m,) and ``margin`` (m,).
        """
        if self._several is not None:
            x_raw = raw.inputs(self.plan, x_raw)
            return classified(self.plan, predict_outputs(x_raw, self._input, self._v, self._several,
                                                         self._kernel, self.ranges.log))
        return classified(self.plan, self._predict(x_raw, self._v, self._alpha, len(self._alpha),
                                                   self.plan.integer("f_shift"), self.plan.integer("bias")))

    def _members(self) -> dict[str, NDArray[Any]]:
        return {}

    def state(self) -> Outputs:
        """Return an empty state: all members are constants."""
        return {}
