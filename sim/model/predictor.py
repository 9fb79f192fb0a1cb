"""sim.model: prediction with an imported model.

Its kernel expansion was trained elsewhere; centers and coefficients are constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backend import FIXED_CALLS, Outputs
from ..plan import Plan
from .base import IntegerModel


class PredictorModel(IntegerModel):
    """Integer model of a plan with algorithm ``kernel_predictor``."""

    calls = FIXED_CALLS | {"trace"}

    def __init__(self, plan: Plan) -> None:
        self._alpha, v = (np.array(plan.tables[name].values, dtype=np.int64) for name in ("alpha", "centers"))
        self._v = v.reshape(plan.sizes["N"], plan.sizes["D"])
        super().__init__(plan)

    def reset(self) -> None:
        """Do nothing: there is no state."""

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y."""
        return self._predict(x_raw, self._v, self._alpha, len(self._alpha), self.plan.integer("f_shift"),
                             self.plan.integer("bias"))

    def _members(self) -> dict[str, NDArray[Any]]:
        return {}

    def state(self) -> Outputs:
        """Return an empty state: all members are constants."""
        return {}
