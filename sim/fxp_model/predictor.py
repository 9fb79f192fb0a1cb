"""sim.fxp_model: prediction with an imported model in plain fxpmath."""

from __future__ import annotations

import numpy as np

from ..backend import FIXED_CALLS, Outputs, Raw
from ..plan import Plan
from .arithmetic import number
from .base import FxpModel


class FxpPredictor(FxpModel):
    """The fxpmath model of a plan with algorithm ``kernel_predictor``."""

    calls = FIXED_CALLS

    def __init__(self, plan: Plan) -> None:
        alpha, v = (plan.tables[name] for name in ("alpha", "centers"))
        self._alpha = number(np.array(alpha.values, dtype=np.int64), alpha.format)
        self._v = np.array(v.values, dtype=np.int64).reshape(plan.sizes["N"], plan.sizes["D"])
        super().__init__(plan)

    def reset(self) -> None:
        """Do nothing: there is no state."""

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y."""
        return self._predict(x_raw, self._v, self._alpha, self.plan.integer("bias"))
