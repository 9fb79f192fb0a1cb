"""sim.fxp_model: training sets, predictions and errors that the models share."""

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
STATUS = {name: code for code, name in STATUSES.items()}


class RefusedError(Exception):
    """Error that is raised if the system was not solved; `status` is the reason."""

    status = ""


class NotPositiveDefiniteError(RefusedError):
    """Error that is raised if a pivot or an exponent shows that T is not definite."""

    status = "not_positive_definite"


class BreakdownError(RefusedError):
    """Error that is raised if no block of rows is suitable, or the residual is large."""

    status = "breakdown"


class NoCandidateError(RefusedError):
    """Error that is raised if no candidate has a certified solution."""

    status = "no_candidate"


def joined(found: list[Outputs]) -> Outputs:
    """Join the predictions of all outputs: ``status`` (m,), and ``f`` (m, C)."""
    return {"status": np.max([each["status"] for each in found], axis=0),
            "f": np.stack([each["f"] for each in found], axis=1)}


class FxpModel(Saving):
    """Base class of the fxpmath model of a plan; a subclass trains or learns.

    Parameters
    ----------
    plan : Plan

    Raises
    ------
    KerncastError
        E501 if fxpmath is not installed.
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
        """Reset the model to its initial state."""
        raise NotImplementedError

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Raise an error: this model is not a batch trainer."""
        return refused_training()

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Reject every sample: this model is not an online learner."""
        return refused_update(y_raw)

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y."""
        raise NotImplementedError

    def _predict(self, x_raw: Raw, v: Words, alpha: Fxp | None, bias: int = 0) -> Outputs:
        """Evaluate the kernel expansion at inputs (m, D) in ADC counts.

        alpha are the coefficients of the vectors v. An untrained model has no vectors.
        """
        x_raw = raw.inputs(self.plan, x_raw)
        if alpha is None or len(x_raw) == 0:  # fxpmath does not support empty arrays
            return {"status": np.full(len(x_raw), STATUS["not_trained"]),
                    "f": np.zeros(len(x_raw), dtype=np.int64)}
        found = [self._kernel.expand(v, alpha, x, bias) for x in self._kernel.x_words(x_raw)]
        status = [STATUS["saturated" if saturated else "ok"] for _, saturated in found]
        return {"status": np.array(status, dtype=np.int64),
                "f": np.array([word for word, _ in found], dtype=np.int64)}

    def state(self) -> Outputs:
        """Return every member of the device's model structure."""
        return field_arrays(self.plan, self._state)

    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        refused = state["trained"][0] == 0
        self._state = {f.name: int(state[f.name][0]) if f.formula == "1" else state[f.name]
                       for f in self.plan.memory if not refused or f.name in ("centers", "r")}
        if "centers" in state:
            self._v = state["centers"].reshape(self._v.shape)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
