"""Complex input is refused everywhere: its imaginary part would be lost without a word."""

import numpy as np
import pytest

import kerncast
from kerncast.sim.errors import KerncastError

X, y = np.arange(6.0)[:, np.newaxis], np.arange(6.0)
Z = y + 1j


@pytest.mark.parametrize(("call", "code"), [
    (lambda: kerncast.solve_toeplitz(Z, y), "E225"),
    (lambda: kerncast.solve_toeplitz(y + 9, list(Z)), "E225"),
    (lambda: kerncast.solve_kernel(X + 1j, y, 1.0, 1.0), "E224"),
    (lambda: kerncast.solve_kernel(X, Z, 1.0, 1.0), "E225"),
    (lambda: kerncast.first_row(Z, 1.0), "E224"),
    (lambda: kerncast.loo_errors(X, y, 1.0, Z), "E221"),
    (lambda: kerncast.KernelRLSRegressor().fit(X, Z), "E233"),
    (lambda: kerncast.ToeplitzRLSRegressor().fit(X + 1j, y), "E233"),
    (lambda: kerncast.KernelLMSRegressor().fit(X, Z), "E233"),
    (lambda: kerncast.KernelRLSRegressor().fit(X, y).predict(X + 1j), "E233"),
])
def test_complex_input_is_refused(call, code):
    with pytest.raises(KerncastError, match=rf"(?i){code}: [^\n]*complex"):
        call()


def test_a_file_of_complex_values_is_refused(tmp_path):
    np.savez(tmp_path / "complex.npz", X=X, y=Z)
    with pytest.raises(KerncastError, match=r"E257[\s\S]*complex128"):
        kerncast.load_samples(tmp_path / "complex.npz")
