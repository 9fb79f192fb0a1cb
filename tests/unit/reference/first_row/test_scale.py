"""First rows at scale: precision, random features, clusters, checkpoints."""

import importlib
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy.linalg import eigvalsh, toeplitz

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, Laplacian, Matern32, Matern52, Periodic
from kerncast.sim.reference import compiled, first_row, kernel_first_row
from kerncast.sim.reference.first_row import checkpoint
from kerncast.sim.reference.systems import system

N = 2500  # three bands
X = np.random.default_rng(3).normal(size=(N, 4))


@pytest.fixture(scope="module")
def row():
    return first_row(X, 1.5, "diagonal_mean")


# ---- what is computed ----
@pytest.mark.covering
@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-13), ("float32", 2e-7)])
@pytest.mark.parametrize("fast_from", [0, 1 << 60])
def test_bands_and_tiles_leave_no_diagonal_out(dtype, error, fast_from, monkeypatch):
    monkeypatch.setattr(compiled, "COMPILED_FROM", fast_from)
    r = first_row(X, 1.5, "diagonal_mean", dtype=dtype)
    for j in [0, 1, 127, 128, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, N - 2, N - 1]:
        assert r[j] == pytest.approx(Gaussian(1.5).pairs(X[: N - j], X[j:]).mean(), abs=error)
    assert r.dtype == np.float64 and r[0] == 1.0


@pytest.mark.parametrize("kernel", [Laplacian(1.5), Periodic(1.0, 3.0), Gaussian(1e-4)], ids=lambda k: k.name)
def test_other_kernels_and_narrow_ones_are_summed_alike(kernel):
    r = kernel_first_row(X[:1100], kernel, "diagonal_mean")
    for j in [0, 3, 600, 1099]:
        assert r[j] == pytest.approx(kernel.pairs(X[: 1100 - j], X[j:1100]).mean(), abs=1e-14)


def test_progress_counts_up_to_all_kernel_values():
    told = []
    first_row(X, 1.5, "diagonal_mean", progress=lambda done, total: told.append((done, total)))
    assert len(told) == 3 and told[-1] == (N * (N + 1) // 2,) * 2
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    first_row(X, 1.5, "rff", features=300, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (300, 300)


# ---- random features ----
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(2.0), Periodic(0.8, 3.0), Matern32(2.0),
                                    Matern52(1.5)], ids=lambda k: k.name)
def test_the_error_of_random_features_falls_as_one_over_root_features(kernel, dtype):
    exact = kernel_first_row(X[:200], kernel, "diagonal_mean_biased")
    error = {m: np.sqrt(np.mean([np.mean((kernel_first_row(X[:200], kernel, "rff", features=m, seed=seed,
                                                           dtype=dtype) - exact) ** 2) for seed in range(4)]))
             for m in (64, 4096)}
    assert error[64] < 0.1 and error[64] / 30 < error[4096] < error[64] / 4  # 8 is meant


def test_a_matrix_of_random_features_is_positive_semidefinite():
    r = first_row(X[:150], 0.7, "rff", features=40, seed=5)
    assert eigvalsh(toeplitz(r))[0] > -1e-12 and r[0] == 1.0


def test_the_seed_of_random_features_repeats_their_row():
    r = first_row(X[:150], 0.7, "rff", features=40, seed=5)
    np.testing.assert_array_equal(r, first_row(X[:150], 0.7, "rff", features=40, seed=5))
    assert np.any(r != first_row(X[:150], 0.7, "rff", features=40, seed=6))


def test_a_periodic_kernel_of_almost_no_width_has_frequencies_all_the_same():
    assert np.all(np.isfinite(kernel_first_row(X[:50], Periodic(1e-8, 3.0), "rff", features=8)))


# ---- checkpoints ----
def test_an_interrupted_row_resumes_from_its_checkpoint_to_the_same_bits(row, tmp_path):
    path = tmp_path / "row.npz"

    def stop(done, total):
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first_row(X, 1.5, "diagonal_mean", checkpoint=path, progress=stop)
    with np.load(path) as kept:
        assert kept["bands"] == 1
    assert list(tmp_path.iterdir()) == [path]
    told = []
    for _ in range(2):  # what is left of it, and nothing
        resumed = first_row(X, 1.5, "diagonal_mean", checkpoint=path, progress=lambda *now: told.append(now))
        assert len(told) == 2
        np.testing.assert_array_equal(resumed, row)


def test_an_interruption_during_a_checkpoint_keeps_the_one_before(tmp_path, monkeypatch):
    path = tmp_path / "row.npz"
    checkpoint.save(path, "key", checkpoint.SumsState(1, np.ones(5)))

    def interrupted(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(path, "key", checkpoint.SumsState(2, np.zeros(5)))
    assert checkpoint.load(path, "key", 5, 2).bands == 1 and list(tmp_path.iterdir()) == [path]


KILLED = """
import importlib, os, signal, sys
import numpy as np
from kerncast.sim.reference import first_row
importlib.import_module("kerncast.sim.reference.first_row.diagonal_sums")._SAVE_EVERY = 1
X = np.random.default_rng(3).normal(size=(2500, 4))
calls = []
def progress(done, total):
    calls.append(done)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
first_row(X, 1.5, "diagonal_mean", checkpoint=sys.argv[1], progress=progress)
"""


def test_a_killed_run_resumes_with_the_same_bits(row, tmp_path):
    path = tmp_path / "row.npz"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    with np.load(path) as kept:
        assert kept["bands"] == 2
    np.testing.assert_array_equal(first_row(X, 1.5, "diagonal_mean", checkpoint=path), row)


@pytest.mark.parametrize("change", [{"X": X + 1e-9}, {"sigma": 1.4}, {"dtype": "float32"}, {"X": X[:-1]}])
def test_a_checkpoint_of_another_computation_is_refused_and_kept(change, tmp_path):
    path = tmp_path / "row.npz"
    given = {"X": X, "sigma": 1.5, "scheme": "diagonal_mean", "checkpoint": path}
    with pytest.raises(KeyboardInterrupt):
        first_row(**given, progress=lambda done, total: os.kill(os.getpid(), signal.SIGINT))
    before = path.read_bytes()
    with pytest.raises(KerncastError, match="E260"):
        first_row(**given | change)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"text"])
def test_a_file_other_than_a_checkpoint_is_refused(content, tmp_path):
    path = tmp_path / "row.npz"
    path.write_bytes(content)
    with pytest.raises(KerncastError, match="E261"):
        first_row(X, 1.5, "diagonal_mean", checkpoint=path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(KerncastError, match="E261"):
        first_row(X, 1.5, "diagonal_mean", checkpoint=path)


@pytest.mark.parametrize(("change", "told"), [
    ({"sums": np.full(5, np.nan)}, "sum 0 is nan"), ({"sums": np.full(5, -1.0)}, "sum 0 is -1"),
    ({"sums": np.array([2, 2, np.inf, 0, 0])}, "sum 2 is inf"),
    ({"sums": np.array([2, 2, 2, 2, 1.5])}, "sum 4 is 1.5"),
    ({"sums": np.ones(4)}, "shape"), ({"sums": np.ones(5, np.float32)}, "float32"),
    ({"bands": np.array(4)}, "4 of 3 bands"), ({"bands": np.array(-1)}, "-1 of"),
    ({"bands": np.array(0.5)}, "0.5 of"), ({"bands": np.ones(2, int)}, "bands")])
def test_a_checkpoint_that_no_run_can_have_written_is_refused(change, told, tmp_path):
    path = tmp_path / "row.npz"
    whole = {"key": np.array("key"), "bands": np.array(1), "sums": np.array([2.0, 2, 2, 2, 1])}
    np.savez(path, **whole | change)
    with pytest.raises(KerncastError, match=rf"E261[\s\S]*{told}"):
        checkpoint.load(path, "key", 5, 2)


def test_a_checkpoint_that_cannot_be_written_is_reported_before_the_work(tmp_path):
    with pytest.raises(KerncastError, match="E191"):
        first_row(X, 1.5, "diagonal_mean", checkpoint=tmp_path / "no folder" / "row.npz",
                  progress=lambda *so_far: pytest.fail("work was done"))


# ---- a cluster ----
def test_cluster_workers_give_the_bits_of_one_process(row, require_tool):
    require_tool("python:distributed", "python -m pip install distributed")
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        np.testing.assert_array_equal(first_row(X, 1.5, "diagonal_mean", scheduler=address), row)


def test_one_process_resumes_from_a_checkpoint_of_a_cluster(row, tmp_path, require_tool):
    require_tool("python:distributed", "python -m pip install distributed")
    from distributed import LocalCluster

    path = tmp_path / "row.npz"
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        address = cluster.scheduler_address

        def stop(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            first_row(X, 1.5, "diagonal_mean", scheduler=address, checkpoint=path, progress=stop)
    np.testing.assert_array_equal(first_row(X, 1.5, "diagonal_mean", checkpoint=path), row)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere"])
def test_a_missing_cluster_is_an_error_with_its_address(address, monkeypatch):
    cluster = importlib.import_module("kerncast.sim.reference.first_row.cluster")
    monkeypatch.setattr(cluster, "_PATIENCE", 1)
    with pytest.raises(KerncastError, match=rf"E262[\s\S]*{address}"):
        first_row(X, 1.5, "diagonal_mean", scheduler=address)


# ---- what is refused ----
@pytest.mark.parametrize(("options", "code"), [
    ({"scheme": "rff_unbiased"}, r"E222[\s\S]*short diagonal"), ({"scheme": "rff", "features": 0}, "E238"),
    ({"scheme": "rff", "seed": -1}, "E238"), ({"dtype": "float16"}, "E263")])
def test_options_out_of_range_are_refused_by_code(options, code):
    with pytest.raises(KerncastError, match=code):
        first_row(X, 1.5, **options)


@pytest.mark.parametrize("scheme", ["diagonal_mean", "rff"])
def test_samples_beyond_the_memory_are_refused_with_the_bytes(scheme, monkeypatch):
    monkeypatch.setattr(system, "free_bytes", lambda: 50_000)
    with pytest.raises(KerncastError, match=r"E237[\s\S]*bytes"):
        first_row(X, 1.5, scheme)


def test_the_state_is_small_beside_the_matrix():
    diagonal_sums = importlib.import_module("kerncast.sim.reference.first_row.diagonal_sums")
    assert diagonal_sums._VECTORS * 8 * N < N * N * 8 / 100


def test_random_features_refuse_samples_whose_phases_overflow():
    for X in ([1e308, -1e308], [1e308, 1.5e308], [[1e300, 0.0], [0.0, 1e305]]):
        with pytest.raises(KerncastError, match=r"E224[\s\S]*too far from each other"):
            first_row(X, 1e-10, "rff")
    with pytest.raises(KerncastError, match=r"E224[\s\S]*too far from each other"):
        first_row([1e300, -1e300], 1.0, "rff", dtype="float32")
    with pytest.warns(UserWarning, match="do not lie on a uniform grid"):
        assert first_row([1e308, -1e308], 1.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("options", "code"), [
    ({"scheme": None}, "E222"), ({"scheme": 3}, "E222"), ({"scheme": ["rff"]}, "E222"),
    ({"scheduler": 5}, "E262"), ({"checkpoint": 5}, "E191"), ({"progress": 3}, "E238"),
    ({"scheme": "rff", "progress": 3}, "E238"), ({"scheme": "rff", "scheduler": "tcp://127.0.0.1:1"}, "E262"),
    ({"scheme": "rff", "checkpoint": "row.npz"}, "E191")])
def test_options_of_the_wrong_kind_or_without_effect_are_refused_by_code(options, code):
    with pytest.raises(KerncastError, match=rf"{next(reversed(options))}: {code}"):
        first_row(X[:50], 1.5, **options)
