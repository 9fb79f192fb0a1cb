"""sim.reference: the float reference, in which each module follows a paper."""

from .first_row import first_row, kernel_first_row, uniform_first_row
from .online.expansion import expand
from .online.kernel_lms import KernelLMS
from .result import Solution, Status
from .selection.loo import loo_errors
from .selection.path import EigenPath
from .selection.validation import ToeplitzVerdict, toeplitz_applies
from .solvers.auto import solve_kernel, solve_system
from .systems.system import DenseSystem, KernelSystem, ToeplitzSystem
from .toeplitz.auto import solve_toeplitz
from .toeplitz.product import residual_norm

__all__ = ["DenseSystem", "EigenPath", "KernelLMS", "KernelSystem", "Solution", "Status", "ToeplitzSystem",
           "ToeplitzVerdict", "expand", "first_row", "kernel_first_row", "loo_errors", "residual_norm",
           "solve_kernel", "solve_system", "solve_toeplitz", "toeplitz_applies", "uniform_first_row"]
