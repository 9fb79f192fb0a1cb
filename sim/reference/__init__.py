"""sim.reference: the float64 reference, written to be read beside the papers."""

from .expansion import expand
from .first_row import first_row, kernel_first_row, uniform_first_row
from .kernel import solve_kernel
from .kernel_lms import KernelLMS
from .loo import loo_errors
from .solution import Solution, Status
from .toeplitz import solve_toeplitz
from .toeplitz_product import residual_norm
from .validation import Verdict, toeplitz_applies

__all__ = ["KernelLMS", "Solution", "Status", "Verdict", "expand", "first_row", "kernel_first_row",
           "loo_errors", "residual_norm", "solve_kernel", "solve_toeplitz", "toeplitz_applies",
           "uniform_first_row"]
