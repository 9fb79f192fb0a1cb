"""sim.reference: the float64 reference, written to be read beside the papers."""

from .expansion import expand
from .first_row import first_row, kernel_first_row, uniform_first_row
from .kernel_lms import KernelLMS
from .levinson import residual_norm, solve_toeplitz
from .solution import Solution, Status

__all__ = ["KernelLMS", "Solution", "Status", "expand", "first_row", "kernel_first_row",
           "residual_norm", "solve_toeplitz", "uniform_first_row"]
