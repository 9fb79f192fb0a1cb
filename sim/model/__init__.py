"""sim.model: the integer models, which compute exactly the values of the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan import Plan

if TYPE_CHECKING:
    from .cg import CgModel
    from .online.float32 import LmsF32Model
    from .online.lms import LmsModel
    from .online.rls import RlsModel
    from .predictor import PredictorModel
    from .toeplitz.trainer import ToeplitzModel


def open_model(plan: Plan) -> ToeplitzModel | CgModel | LmsModel | LmsF32Model | RlsModel | PredictorModel:
    """Create the integer model of a plan; this call imports the compiled code."""
    if plan.algorithm == "toeplitz_rls":
        from .toeplitz.trainer import ToeplitzModel

        return ToeplitzModel(plan)
    if plan.algorithm == "kernel_cg":
        from .cg import CgModel

        return CgModel(plan)
    if plan.fixed:
        from .predictor import PredictorModel

        return PredictorModel(plan)
    if plan.second_order:
        from .online.rls import RlsModel

        return RlsModel(plan)
    if plan.in_float32:
        from .online.float32 import LmsF32Model

        return LmsF32Model(plan)
    from .online.lms import LmsModel

    return LmsModel(plan)
