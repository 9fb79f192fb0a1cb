"""sim.fxp_model: a kernel expansion that was trained elsewhere, in plain fxpmath."""

from __future__ import annotations

import numpy as np

from ..backend import FIXED_CALLS, Outputs, Raw
from ..plan import Plan
from .arithmetic import number
from .base import FxpModel


class FxpPredictor(FxpModel):
    """The second model of a plan whose algorithm is ``kernel_predictor``."""

    calls = FIXED_CALLS

    def __init__(self, plan: Plan) -> None:
        alpha, v = (plan.tables[name] for name in ("alpha", "centers"))
        self._alpha = number(np.array(alpha.values, dtype=np.int64), alpha.format)
        self._v = np.array(v.values, dtype=np.int64).reshape(plan.sizes["N"], plan.sizes["D"])
        super().__init__(plan)

    def reset(self) -> None:
        """Nothing to do: there is no state."""

    def predict(self, x_raw: Raw) -> Outputs:
        """Predictions in y words of raw inputs (m, D): ``status`` (m,) and ``f`` (m,)."""
        return self._predict(x_raw, self._v, self._alpha, self.plan.integer("bias"))
