"""sim.fxp_model: what the models in plain fxpmath have in common: training sets, predictions and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import ALL_CALLS, STATUSES, Outputs, Raw, field_arrays, refused_training, refused_update
from ..data import raw
from ..plan import Plan
from ..replay.saved_state import Saving
from .arithmetic import Fxp, Words
from .kernel import FxpKernel

#: The code of every status, by its name.
STATUS = {name: code for code, name in enumerate(STATUSES)}


class RefusedError(Exception):
    """The system was not solved; `status` says why."""

    status = ""


class NotPositiveDefiniteError(RefusedError):
    """The solver met a matrix, or an exponent, that no positive definite system gives."""

    status = "not_positive_definite"


class BreakdownError(RefusedError):
    """No block of rows leads on, or what was found is no solution."""

    status = "breakdown"


class FxpModel(Saving):
    """The second model of a plan; a subclass trains or learns.

    Parameters
    ----------
    plan : Plan

    Raises
    ------
    KerncastError
        E501 where fxpmath is not installed.
    """

    name = "model:fxpmath"
    calls = ALL_CALLS

    _v: Words

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._kernel = FxpKernel(plan)
        self._state: dict[str, Any] = {}
        self.reset()

    def reset(self) -> None:
        """Back to the initial state."""
        raise NotImplementedError

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Not a batch trainer: refused."""
        return refused_training()

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Not an online learner: every sample is refused."""
        return refused_update(y_raw)

    def predict(self, x_raw: Raw) -> Outputs:
        """Predictions in y words of raw inputs (m, D): ``status`` (m,) and ``f`` (m,)."""
        raise NotImplementedError

    def _predict(self, x_raw: Raw, v: Words, alpha: Fxp | None, bias: int = 0) -> Outputs:
        """The expansion alpha in the vectors v, none for an untrained model, at raw inputs (m, D)."""
        x_raw = raw.inputs(self.plan, x_raw)
        if alpha is None or len(x_raw) == 0:  # fxpmath has no empty arrays
            return {"status": np.full(len(x_raw), STATUS["not_trained"]),
                    "f": np.zeros(len(x_raw), dtype=np.int64)}
        found = [self._kernel.expand(v, alpha, x, bias) for x in self._kernel.x_words(x_raw)]
        status = [STATUS["saturated" if saturated else "ok"] for _, saturated in found]
        return {"status": np.array(status, dtype=np.int64),
                "f": np.array([word for word, _ in found], dtype=np.int64)}

    def state(self) -> Outputs:
        """Every member of the device's model structure."""
        return field_arrays(self.plan, self._state)

    def load(self, state: Outputs) -> None:
        """Take over a state."""
        refused = state["trained"][0] == 0
        self._state = {f.name: int(state[f.name][0]) if f.formula == "1" else state[f.name]
                       for f in self.plan.memory if not refused or f.name in ("centers", "r")}
        if "centers" in state:
            self._v = state["centers"].reshape(self._v.shape)

    def close(self) -> None:
        """Nothing to close."""
