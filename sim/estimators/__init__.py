"""sim.estimators: the float64 reference as scikit-learn estimators.

The only folder that imports scikit-learn; the front door loads it when one of these is asked for.
"""

from .kernel_lms import KernelLMSClassifier, KernelLMSRegressor
from .kernel_rls import KernelRLSClassifier, KernelRLSRegressor
from .toeplitz import ToeplitzRLSClassifier, ToeplitzRLSRegressor

__all__ = ["KernelLMSClassifier", "KernelLMSRegressor", "KernelRLSClassifier", "KernelRLSRegressor",
           "ToeplitzRLSClassifier", "ToeplitzRLSRegressor"]
