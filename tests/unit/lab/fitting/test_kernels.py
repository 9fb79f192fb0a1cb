"""Kernels that smooth a signal as much as another one: their widths, and the search near these widths."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kerncast.lab.fitting import fit_spec, tuners
from kerncast.lab.fitting.kernels import cutoff, density, equivalent_width
from kerncast.lab.fitting.search import Search
from kerncast.sim.data import load_dataset
from kerncast.sim.kernels import make_kernel
from kerncast.sim.spec import Spec

KERNELS = ("laplacian", "matern32", "matern52", "gaussian")


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("frequency", [0.0, 0.4, 1.1])
def test_a_density_is_the_integral_of_the_kernel(name: str, frequency: float) -> None:
    sigma, x = 2.5, np.arange(-20_000, 20_001) / 100
    values = make_kernel({"kernel": name, "sigma": str(sigma)})(np.zeros((1, 1)), x[:, None])[0]
    assert density(name, sigma, frequency) == pytest.approx(
        float(values @ np.cos(frequency * x)) / 100, rel=1e-3)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 0.5])
@pytest.mark.parametrize("other", ["matern32", "matern52"])
def test_an_equivalent_width_keeps_the_cutoff(lam: float, other: str) -> None:
    for name in KERNELS[:1] + KERNELS[3:]:
        width = equivalent_width(name, 3.0, lam, other)
        assert cutoff(other, width, lam) == pytest.approx(cutoff(name, 3.0, lam), rel=1e-4)


def test_without_a_cutoff_the_width_stays() -> None:
    assert equivalent_width("gaussian", 3.0, 10.0, "matern32") == 3.0


def test_the_widths_grow_as_the_kernels_get_rougher() -> None:
    others = ("matern52", "matern32", "laplacian")
    widths = [equivalent_width("gaussian", 3.0, 0.1, other) for other in others]
    assert all(rougher > smoother > 3.0 for smoother, rougher in pairwise(widths))


def rough(folder: Path, n: int = 160) -> Spec:
    """Write a process with two derivatives, that of the Matern kernel 5/2, with noise."""
    rng = np.random.default_rng(2)
    x = np.arange(n, dtype=np.float64)[:, None]
    K = make_kernel({"kernel": "matern52", "sigma": "12"})(x, x)
    y = np.rint(400 * np.linalg.cholesky(K + 1e-9 * np.eye(n)) @ rng.normal(size=n) + 2 * rng.normal(size=n))
    (folder / "d.csv").write_text("y\n" + "".join(f"{int(v)}\n" for v in y))
    return Spec(model={"name": "m", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s12f0"}, kernel={"sigma": 4.0}, numbers={"word": 24},
                toeplitz={"n": n, "lambda": 0.01, "scheme": "uniform"}, data={"file": "d.csv"})


def test_a_rough_signal_gets_a_matern_kernel(tmp_path: Path) -> None:
    spec = rough(tmp_path)
    search = Search(spec, load_dataset(spec, tmp_path), None, lambda done, most: None)
    best = search.run()[0]
    assert best.ok and best.spec.kernel.type == "matern52"
    others = [each.error for each in search.found.values()
              if each.ok and each.spec.kernel.type in ("gaussian", "laplacian")]
    assert len(others) > 20 and best.error < 0.95 * min(others)


def test_matern_kernels_that_do_not_help_take_few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path(__file__).resolve().parents[4] / "examples" / "ecg.toml"
    spec = Spec.load(file)
    found = fit_spec(spec, file.parent, None, lambda done, most: None)
    monkeypatch.setattr(tuners, "_matern", lambda spec: iter(()))
    without = fit_spec(spec, file.parent, None, lambda done, most: None)
    assert found.new.kernel.type == "gaussian"
    assert without.candidates < found.candidates <= 1.2 * without.candidates


@pytest.mark.parametrize("solver", ["banded", "auto"])
def test_other_kernels_and_refinement_drop_the_factor_of_the_laplacian(tmp_path: Path, solver: str) -> None:
    spec = rough(tmp_path)
    assert spec.toeplitz is not None
    values = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    values["kernel"]["type"], values["numbers"]["word"] = "laplacian", 16
    values["toeplitz"] |= {"solver": solver, "factor": "geometric"}
    spec = Spec(**values)
    tuner, changed = tuners.TUNERS["toeplitz_rls"], 0
    variants = [changes for each in tuner.variants(spec) for changes in (each.changes, *each.others)]
    for changes in [*variants, *tuner.remedies(spec)]:
        other = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
        for (table, key), value in changes.items():
            other[table][key] = value
        other["toeplitz"] = {k: v for k, v in other["toeplitz"].items() if v is not None}
        assert Spec(**other).toeplitz is not None  # no E113
        changed += ("toeplitz", "factor") in changes
    assert changed == 2
