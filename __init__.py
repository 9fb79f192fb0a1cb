"""Kernel machines that train on the chip, bit-exact on every back end.

This module is the front door: the public Python API, and nothing else. Every name is loaded when it is
first used (PEP 562), so that ``import kerncast`` costs nothing and needs none of the optional extras.
"""

from importlib import import_module

# As in `typing`, whose import takes longer than the rest: until this module is loaded, Ctrl-C prints a
# traceback.
TYPE_CHECKING = False

__version__ = "0.1.0"

# Public name -> its module. The block for type checkers below repeats this; a test compares the two.
_WHERE = {
    "DenseSystem": ".sim.reference",
    "EigenPath": ".sim.reference",
    "Format": ".sim.formats",
    "KernelLMSClassifier": ".sim.estimators",
    "KernelLMSRegressor": ".sim.estimators",
    "KernelRLSClassifier": ".sim.estimators",
    "KernelRLSRegressor": ".sim.estimators",
    "KernelSystem": ".sim.reference",
    "KerncastError": ".sim.errors",
    "OnlineKernelRLSClassifier": ".sim.estimators",
    "OnlineKernelRLSDetector": ".sim.estimators",
    "OnlineKernelRLSRegressor": ".sim.estimators",
    "Samples": ".sim.data.samples",
    "Spec": ".sim.spec",
    "ToeplitzRLSClassifier": ".sim.estimators",
    "ToeplitzRLSRegressor": ".sim.estimators",
    "ToeplitzSystem": ".sim.reference",
    "cautions": ".sim.planner.warnings",
    "export": ".sim.interop",
    "first_row": ".sim.reference",
    "generate": ".codegen.generate",
    "load_dataset": ".sim.data",
    "load_samples": ".sim.data.samples",
    "loo_errors": ".sim.reference",
    "open_backend": ".hw.backends",
    "plan": ".sim.interop.plan",
    "raw_inputs": ".sim.interop",
    "simulate": ".sim.diagnostics.simulate",
    "solve_kernel": ".sim.reference",
    "solve_system": ".sim.reference",
    "solve_toeplitz": ".sim.reference",
    "toeplitz_applies": ".sim.reference",
}

if TYPE_CHECKING:
    from .codegen.generate import generate
    from .hw.backends import open_backend
    from .sim.data import load_dataset
    from .sim.data.samples import Samples, load_samples
    from .sim.diagnostics.simulate import simulate
    from .sim.errors import KerncastError
    from .sim.estimators import (
        KernelLMSClassifier,
        KernelLMSRegressor,
        KernelRLSClassifier,
        KernelRLSRegressor,
        OnlineKernelRLSClassifier,
        OnlineKernelRLSDetector,
        OnlineKernelRLSRegressor,
        ToeplitzRLSClassifier,
        ToeplitzRLSRegressor,
    )
    from .sim.formats import Format
    from .sim.interop import export, raw_inputs
    from .sim.interop.plan import plan
    from .sim.planner.warnings import cautions
    from .sim.reference import (
        DenseSystem,
        EigenPath,
        KernelSystem,
        ToeplitzSystem,
        first_row,
        loo_errors,
        solve_kernel,
        solve_system,
        solve_toeplitz,
        toeplitz_applies,
    )
    from .sim.spec import Spec

__all__ = [
    "DenseSystem",
    "EigenPath",
    "Format",
    "KerncastError",
    "KernelLMSClassifier",
    "KernelLMSRegressor",
    "KernelRLSClassifier",
    "KernelRLSRegressor",
    "KernelSystem",
    "OnlineKernelRLSClassifier",
    "OnlineKernelRLSDetector",
    "OnlineKernelRLSRegressor",
    "Samples",
    "Spec",
    "ToeplitzRLSClassifier",
    "ToeplitzRLSRegressor",
    "ToeplitzSystem",
    "__version__",
    "cautions",
    "export",
    "first_row",
    "generate",
    "load_dataset",
    "load_samples",
    "loo_errors",
    "open_backend",
    "plan",
    "raw_inputs",
    "simulate",
    "solve_kernel",
    "solve_system",
    "solve_toeplitz",
    "toeplitz_applies",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module on first use."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_WHERE[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
