"""sim.reference: the float64 reference, written to be read beside the papers."""

from .expansion import expand
from .first_row import first_row, kernel_first_row, uniform_first_row
from .kernel import solve_kernel, solve_system
from .kernel_lms import KernelLMS
from .loo import loo_errors
from .path import EigenPath
from .solution import Solution, Status
from .system import DenseSystem, KernelSystem, ToeplitzSystem
from .toeplitz import solve_toeplitz
from .toeplitz_product import residual_norm
from .validation import Verdict, toeplitz_applies

__all__ = ["DenseSystem", "EigenPath", "KernelLMS", "KernelSystem", "Solution", "Status", "ToeplitzSystem",
           "Verdict", "expand", "first_row", "kernel_first_row", "loo_errors", "residual_norm",
           "solve_kernel", "solve_system", "solve_toeplitz", "toeplitz_applies", "uniform_first_row"]
