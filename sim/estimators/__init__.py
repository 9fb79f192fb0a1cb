"""sim.estimators: scikit-learn estimators that run the float64 reference.

Only this folder imports scikit-learn. ``import kerncast`` does not load the folder; the first use of an
estimator does.
"""

from .kernel_lms import KernelLMSClassifier, KernelLMSRegressor
from .kernel_rls import KernelRLSClassifier, KernelRLSRegressor
from .online_rls import OnlineKernelRLSClassifier, OnlineKernelRLSDetector, OnlineKernelRLSRegressor
from .toeplitz import ToeplitzRLSClassifier, ToeplitzRLSRegressor

__all__ = ["KernelLMSClassifier", "KernelLMSRegressor", "KernelRLSClassifier", "KernelRLSRegressor",
           "OnlineKernelRLSClassifier", "OnlineKernelRLSDetector", "OnlineKernelRLSRegressor",
           "ToeplitzRLSClassifier", "ToeplitzRLSRegressor"]
