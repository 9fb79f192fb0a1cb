"""sim.estimators: the float64 reference as scikit-learn estimators.

Only this folder imports scikit-learn; ``import kerncast`` loads it when an estimator is first used.
"""

from .kernel_lms import KernelLMSClassifier, KernelLMSRegressor
from .kernel_rls import KernelRLSClassifier, KernelRLSRegressor
from .online_rls import OnlineKernelRLSClassifier, OnlineKernelRLSRegressor
from .toeplitz import ToeplitzRLSClassifier, ToeplitzRLSRegressor

__all__ = ["KernelLMSClassifier", "KernelLMSRegressor", "KernelRLSClassifier", "KernelRLSRegressor",
           "OnlineKernelRLSClassifier", "OnlineKernelRLSRegressor",
           "ToeplitzRLSClassifier", "ToeplitzRLSRegressor"]
