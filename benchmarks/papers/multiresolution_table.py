"""Reproduce Table I and Figure 1 of the multi-resolution LS-SVM paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.linalg
from scipy import sparse

from ...sim.diagnostics.simulate import relative_error
from ...sim.reference.systems.system import ToeplitzSystem
from ...sim.reference.wavelet.basis import transforms
from ...sim.reference.wavelet.bordered import BorderedToeplitz
from ...sim.reference.wavelet.factor import factorise
from ...sim.reference.wavelet.ns_form import NSForm, ns_form
from . import multiresolution_cost as cost
from .common import Array
from .multiresolution_cost import Row

N, LEVELS, T = 256, 4, 1e-5
#: Table I as printed: t, n_e, error.
PRINTED = ((1e-2, 1448, 9.83e-3), (1e-3, 2101, 1.31e-3), (1e-4, 2795, 1.42e-4), (1e-5, 3245, 9.21e-6),
           (1e-6, 3580, 1.62e-6), (1e-7, 4042, 1.31e-7), (1e-8, 4338, 5.20e-9), (1e-9, 4522, 1.41e-9),
           (1e-10, 5825, 2.31e-10), (1e-11, 7496, 9.08e-12))


# ---- Table I ----
def form_of(t: float, basis: str = "db10", *, regularised: bool = True) -> NSForm:
    """Return the thresholded NS-form of the paper's matrix Z, or only of Omega."""
    r = cost.first_column(N, "finer")
    r[0] -= 0 if regularised else 1 / cost.GAMMA
    return ns_form(BorderedToeplitz(r), N, LEVELS, t, basis)


def table_i() -> list[Row]:
    """Return the rows of Table I, one for each threshold."""
    r, y = cost.first_column(N, "finer"), cost.targets(N, "finer")
    exact = scipy.linalg.solve(ToeplitzSystem(r).dense(), y, assume_a="pos")
    found = []
    for t, n_e, error in PRINTED:
        form, lifted = form_of(t), form_of(t, "lifting")
        full, cut = factorise(form, 0.0), factorise(form, t)
        found.append({
            "t": t, "printed n_e": n_e, "n_e": sum(form.nonzeros),
            "Omega n_e": sum(form_of(t, regularised=False).nonzeros),
            "printed error": error, "error": relative_error(cut.solve(y), exact),
            "full error": relative_error(full.solve(y), exact),
            "factor": sum(cut.nonzeros), "full factor": sum(full.nonzeros),
            "lifting n_e": sum(lifted.nonzeros),
            "lifting Omega n_e": sum(form_of(t, "lifting", regularised=False).nonzeros),
            "lifting error": relative_error(factorise(lifted, t).solve(y), exact)})
    return found


def unthresholded(basis: str) -> float:
    """Return the relative error without a threshold."""
    r, y = cost.first_column(N, "finer"), cost.targets(N, "finer")
    return relative_error(factorise(form_of(0.0, basis), 0.0).solve(y),
                         scipy.linalg.solve(ToeplitzSystem(r).dense(), y, assume_a="pos"))


def diagonal_survives() -> float:
    """Return the maximum deviation from equation (10) of the paper.

    According to the equation, the NS-form of Z is that of Omega, plus I / gamma.
    """
    Z, Omega = form_of(0.0), form_of(0.0, regularised=False)
    pairs = [(one.A.toarray(), other.A.toarray()) for one, other in zip(Z.levels, Omega.levels, strict=True)]
    return max(float(np.abs(a - b - np.eye(len(a)) / cost.GAMMA).max()) for a, b in [*pairs, (Z.Z, Omega.Z)])


def wrapped_part() -> float:
    """Return the fraction of n_e, at threshold `T`, that wrapped wavelets contribute.

    There are nine of them in each level.
    """
    form, wrapped = form_of(T), 0
    for level in form.levels:
        inner = slice(0, level.A.shape[0] - 9)
        wrapped += level.A.nnz - level.A[inner, inner].nnz + level.C.nnz - level.C[:, inner].nnz
    return wrapped / sum(form.nonzeros)


def condition(levels: int) -> float:
    """Return the condition number of several levels of the lifting basis, combined.

    The coarsest level has 16 samples.
    """
    n = size = 16 << levels
    product = np.eye(n)
    for W in transforms(n, levels, "lifting"):
        step = np.eye(n)
        step[n - size:, n - size:] = sparse.hstack([W.G, W.H]).toarray()
        product, size = product @ step, W.H.shape[1]
    return float(np.linalg.cond(product))


# ---- Figure 1 ----
def nested(form: NSForm, levels: int, Z: Array) -> Array:
    """Assemble the nested matrix of an NS-form.

    Its blocks are [[A_1, C_1'], [C_1, [[A_2, C_2'], [C_2, Z_2]]]], and so on.
    """
    for level in reversed(form.levels[:levels]):
        Z = sparse.block_array([[level.A, level.C.T], [level.C, sparse.csr_array(Z)]]).toarray()
    return Z


def draw(path: Path) -> None:
    """Draw Figure 1 of the paper, with the threshold t = 1e-5.

    It shows |Z|, its two-scale transform, and two more steps of the NS-form.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    r = cost.first_column(N, "finer")
    figure, axes = plt.subplots(2, 2, figsize=(6.4, 6.8), layout="constrained")
    names = ("Z", "two-scale transform", "second step of the NS-form", "third step of the NS-form")
    for levels, (axis, name) in enumerate(zip(axes.flat, names, strict=True)):
        form = ns_form(BorderedToeplitz(r), N, levels, T, "db10")
        M = np.abs(nested(form, levels, form.Z))
        with np.errstate(divide="ignore"):
            drawn = axis.imshow(np.log10(M), cmap="gray_r", vmin=np.log10(T), vmax=1, interpolation="none")
        axis.set_title(name, fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.colorbar(drawn, ax=axes, location="bottom", shrink=0.6, aspect=40,
                    label="log10 of the absolute value")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None}, pil_kwargs={"optimize": True})
    plt.close(figure)
