"""Data: bundled samples, the user's CSV files, and arrays of raw words."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kerncast
from kerncast.sim.data import builtin, check_raw, load_dataset, with_lags
from kerncast.sim.data.inspection import inspect_file
from kerncast.sim.data.windows import tapped
from kerncast.sim.data.words_csv import width
from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.spec import Data, Spec

EXAMPLES = Path(kerncast.__file__).parent / "examples"
U12 = Format.parse("u12f0")


def ecg_spec(**output):
    return Spec(model={"name": "ecg", "algorithm": "toeplitz_rls"}, input={"word": "u16f0", "offset": 5},
                output={"word": "s12f0"} | output, kernel={"sigma": 3.0},
                toeplitz={"n": 256, "lam": 0.1, "scheme": "uniform", "step": 2}, data={"builtin": "ecg"})


def csv_spec(uniform=False, n=3, **data):
    return Spec(model={"name": "m", "algorithm": "toeplitz_rls"},
                input={"word": "u8f0", "columns": 1 if uniform else 2}, output={"word": "s8f0"},
                kernel={"sigma": 3.0}, data={"file": "train.csv"} | data,
                toeplitz={"n": n, "lam": 0.1, "scheme": "uniform" if uniform else "diagonal_mean"})


def codes(function, *args):
    with pytest.raises(KerncastError) as caught:
        function(*args)
    assert caught.value.exit_code == 2
    assert all(p.allowed and p.remedy and p.message for p in caught.value.problems)
    return [(p.code, p.where) for p in caught.value.problems]


# ---- bundled ---------------------------------------------------------------------------------------------
def test_the_ecg_is_a_window_in_adc_counts_with_known_noise():
    spec = Spec.load(EXAMPLES / "ecg.toml")
    data = load_dataset(spec)
    assert (data.x_raw.shape, data.y_raw.shape, data.clean.shape) == ((256, 1), (256,), (256,))
    assert data.x_raw.dtype == data.y_raw.dtype == np.int64
    assert list(data.x_raw[:, 0]) == list(range(256))
    noise = (data.y_raw - spec.output.offset) * spec.output.gain - data.clean
    assert 9 < np.sqrt(np.mean(noise**2)) < 11  # ECG_NOISE is 10
    assert abs(np.mean(noise)) < 1
    assert data.y_raw.min() >= 0
    assert data.y_raw.max() < 4096
    assert data.y_raw.max() - data.y_raw.min() > 1024  # most of the converter's range is used
    assert data.x_test_raw is None


def test_the_ecg_fits_12_signed_bits_without_a_gain():
    data = load_dataset(ecg_spec())
    assert list(data.x_raw[:3, 0]) == [5, 7, 9]  # offset + step * j
    assert np.abs(data.y_raw - data.clean).max() < 50


def test_the_bundled_values_are_the_same_everywhere():
    # The first and last words are pinned: noise and split must not depend on machine or version.
    ecg, digits = (load_dataset(Spec.load(EXAMPLES / f"{name}.toml")) for name in ("ecg", "digits"))
    assert list(ecg.y_raw[:6]) == [1786, 1855, 1781, 1752, 1739, 1737]
    assert int(ecg.y_raw.sum()) == 474801
    assert list(digits.x_raw[0, :8]) == [0, 0, 10, 13, 0, 0, 0, 0]
    assert int((digits.x_raw.sum(axis=1) * np.arange(250)).sum()) == 9864440
    equaliser = load_dataset(Spec.load(EXAMPLES / "equaliser.toml"))
    assert list(equaliser.x_raw[0]) == [-108, -684, 118, -117, -113]
    assert int(equaliser.x_raw.sum()) == -1563718


def test_the_digits_are_split_once_into_training_and_test():
    data = load_dataset(Spec.load(EXAMPLES / "digits.toml"))
    assert (data.x_raw.shape, data.x_test_raw.shape) == ((250, 64), (107, 64))
    assert set(data.y_raw) == set(data.y_test_raw) == {-1, 1}
    assert (data.x_raw.min(), data.x_raw.max()) == (0, 16)
    assert len(np.unique(np.vstack([data.x_raw, data.x_test_raw]), axis=0)) == 357
    assert data.clean is None
    assert "BSD" in data.licence


def test_an_output_word_too_short_for_the_ecg_is_refused_with_its_length():
    assert codes(load_dataset, ecg_spec(word="s8f0")) == [("E246", "[output] word")]
    assert codes(load_dataset, ecg_spec(gain=0.01)) == [("E246", "[output] word")]


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(KerncastError) as caught:
        builtin.ecg(ecg_spec())
    assert caught.value.exit_code == 3
    assert caught.value.problems[0].remedy == "python -m pip install PyWavelets"


def test_a_spec_without_data_is_reported():
    spec = Spec(**{name: getattr(ecg_spec(), name) for name in Spec.model_fields if name != "data"})
    assert codes(load_dataset, spec) == [("E240", "[data]")]


def test_each_equaliser_window_is_the_one_before_shifted_by_a_sample():
    data = load_dataset(Spec.load(EXAMPLES / "equaliser.toml"))
    assert (data.x_raw.shape, data.x_test_raw.shape) == ((1000, 5), (1000, 5))
    np.testing.assert_array_equal(data.x_raw[1:, :-1], data.x_raw[:-1, 1:])


def test_the_symbol_of_an_equaliser_window_is_that_of_its_middle_sample():
    data = load_dataset(Spec.load(EXAMPLES / "equaliser.toml"))
    s = data.y_raw.astype(float)
    z = s[1:] + 0.5 * s[:-1]
    noise = data.x_raw[1:, 2] / 256 - (z - 0.9 * z**2)
    assert abs(noise.mean()) < 0.03
    assert 0.37 < noise.std() < 0.43  # CHANNEL_NOISE is 0.4


@pytest.mark.parametrize(("table", "values", "code", "where"), [
    ("input", {"columns": 17}, "E115", "[input] columns"),
    ("output", {"word": "u4f0"}, "E115", "[output] word"),
    ("input", {"word": "s8f8"}, "E246", "[input] word")])
def test_an_equaliser_beyond_the_word_length_is_refused(table, values, code, where):
    tables = Spec.load(EXAMPLES / "equaliser.toml").model_dump(exclude_none=True)
    assert codes(lambda: load_dataset(Spec(**tables | {table: tables[table] | values}))) == [(code, where)]


# ---- CSV -------------------------------------------------------------------------------------------------
def test_columns_of_a_csv_file_are_found_by_name_in_any_order(tmp_path):
    (tmp_path / "train.csv").write_text("y, x1 ,x0\n-1,2,1\n1,4.0,3\n\n0,6e0,+5\n7,7,7\n")
    (tmp_path / "test.csv").write_text("\ufeffx0,x1,y\r\n8,9,10\r\n", encoding="utf-8")
    data = load_dataset(csv_spec(test="test.csv"), tmp_path)
    assert data.x_raw.tolist() == [[1, 2], [3, 4], [5, 6]]  # the first n rows
    assert data.y_raw.tolist() == [-1, 1, 0]
    assert (data.x_test_raw.tolist(), data.y_test_raw.tolist()) == ([[8, 9]], [10])


def test_a_uniformly_sampled_file_has_targets_only(tmp_path):
    (tmp_path / "train.csv").write_text("y\n1\n2\n3\n")
    data = load_dataset(csv_spec(uniform=True), tmp_path)
    assert (data.x_raw.tolist(), data.y_raw.tolist()) == ([[0], [1], [2]], [1, 2, 3])


def lagged_spec(columns=2, **data):
    return Spec(model={"name": "m", "algorithm": "kernel_lms"}, input={"word": "u8f0", "columns": columns},
                output={"word": "s9f0"}, kernel={"sigma": 3.0}, online={"budget": 4, "eta": 0.1},
                data={"file": "train.csv", "lagged": True} | data)


def test_a_lagged_file_predicts_each_target_from_the_latest_ones_first(tmp_path):
    for name, count in (("train", 5), ("test", 3)):
        (tmp_path / f"{name}.csv").write_text("y\n" + "".join(f"{10 * i}\n" for i in range(count)))
    data = load_dataset(lagged_spec(test="test.csv"), tmp_path)
    assert data.x_raw.tolist() == [[10, 0], [20, 10], [30, 20]]
    assert data.y_raw.tolist() == [20, 30, 40]
    assert (data.x_test_raw.tolist(), data.y_test_raw.tolist()) == ([[10, 0]], [20])
    (tmp_path / "test.csv").write_text("y\n0\n10\n")  # not a single sample has all its lags
    assert codes(load_dataset, lagged_spec(test="test.csv"), tmp_path) == [
        ("E247", str(tmp_path / "test.csv"))]


def test_the_number_of_previous_samples_can_change_after_loading(tmp_path):
    signal = [3, 1, 4, 1, 5, 9, 2, 6]
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text("y\n" + "".join(f"{v}\n" for v in signal))
    two = load_dataset(lagged_spec(test="test.csv"), tmp_path)
    for columns in (1, 2, 3):
        spec = lagged_spec(columns, test="test.csv")
        found, wanted = with_lags(spec, two), load_dataset(spec, tmp_path)
        for name in ("x_raw", "y_raw", "x_test_raw", "y_test_raw"):
            assert getattr(found, name).tolist() == getattr(wanted, name).tolist()


def test_a_lagged_file_too_short_or_of_other_values_is_refused(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("y\n1\n2\n")
    assert codes(load_dataset, lagged_spec(), tmp_path) == [("E247", str(path))]
    path.write_text("y\n1\n-2\n3\n")
    assert codes(load_dataset, lagged_spec(), tmp_path) == [("E246", "[input] word[0, 0]")]
    path.write_text("y\n1\nnan\n3\n")
    assert codes(load_dataset, lagged_spec(), tmp_path) == [("E245", f"{path}:3 y")]


def test_lagged_is_refused_where_inputs_are_known():
    assert codes(lambda: csv_spec(uniform=True, lagged=True)) == [("E116", "[data] lagged")]
    assert codes(lambda: lagged_spec(1, file=None, builtin="ecg")) == [("E116", "[data] lagged")]


def delayed_spec(delay=3, lagged=False, channels=None, decimate=None, **data):
    return Spec(model={"name": "m", "algorithm": "kernel_lms"},
                input={"word": "u8f0", "delay": delay, "channels": channels, "decimate": decimate},
                output={"word": "s9f0"}, kernel={"sigma": 3.0}, online={"budget": 4, "eta": 0.1},
                data={"file": "train.csv"} | ({"lagged": True} if lagged else {}) | data)


def test_a_delay_line_gets_windows_of_the_one_input_column_latest_first(tmp_path):
    (tmp_path / "train.csv").write_text("x0,y\n" + "".join(f"{10 * i},{i}\n" for i in range(5)))
    (tmp_path / "test.csv").write_text("x0,x1,x2,y\n7,8,9,-1\n")  # windows already
    data = load_dataset(delayed_spec(test="test.csv"), tmp_path)
    assert data.x_raw.tolist() == [[20, 10, 0], [30, 20, 10], [40, 30, 20]]
    assert data.y_raw.tolist() == [2, 3, 4]
    assert (data.x_test_raw.tolist(), data.y_test_raw.tolist()) == ([[7, 8, 9]], [-1])
    table = load_dataset(delayed_spec(inputs=["x0"], target_column="y"), tmp_path)
    assert table.x_raw.tolist() == data.x_raw.tolist()


def test_a_delay_line_of_channels_gets_means_of_its_readings_latest_first(tmp_path):
    rows = [(1, 100, 0), (2, 101, 0), (3, 110, 1), (3, 111, 2), (9, 120, 3), (8, 123, 4), (0, 0, 5)]
    (tmp_path / "train.csv").write_text("x0,x1,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    spec = delayed_spec(2, channels=2, decimate=2)
    data = load_dataset(spec, tmp_path)
    assert data.x_raw.tolist() == [[3, 111, 2, 101], [9, 122, 3, 111]]  # halves are rounded up
    assert data.y_raw.tolist() == [2, 4]
    table = delayed_spec(2, channels=2, decimate=2, inputs=["x0", "x1"], target_column="y")
    assert load_dataset(table, tmp_path).x_raw.tolist() == data.x_raw.tolist()
    (tmp_path / "train.csv").write_text("x0,x1,x2,x3,y\n1,2,3,4,5\n")  # windows already
    assert load_dataset(spec, tmp_path).x_raw.tolist() == [[1, 2, 3, 4]]
    (tmp_path / "train.csv").write_text("x0,x1,y\n1,1,1\n1,1,1\n1,1,1\n")
    assert codes(load_dataset, spec, tmp_path) == [("E247", str(tmp_path / "train.csv"))]


def test_means_of_negative_readings_are_rounded_half_up():
    assert tapped(np.array([[-3], [-2], [-1], [-2], [3], [4]]), 1, 2).tolist() == [[-2], [-1], [4]]


def test_a_lagged_file_fills_the_delay_line(tmp_path):
    (tmp_path / "train.csv").write_text("y\n1\n2\n3\n4\n")
    data = load_dataset(delayed_spec(lagged=True), tmp_path)
    assert (data.x_raw.tolist(), data.y_raw.tolist()) == ([[3, 2, 1]], [4])


def test_a_file_with_fewer_samples_than_the_delay_line_is_refused(tmp_path):
    (tmp_path / "train.csv").write_text("x0,y\n1,1\n2,2\n")
    assert codes(load_dataset, delayed_spec(), tmp_path) == [("E247", str(tmp_path / "train.csv"))]
    (tmp_path / "train.csv").write_text("x0,y\n1,1\n2,2\n3,3\n")
    (tmp_path / "test.csv").write_text("x0,y\n1,1\n2,2\n")
    assert codes(load_dataset, delayed_spec(test="test.csv"), tmp_path) == [
        ("E247", str(tmp_path / "test.csv"))]


def test_the_bundled_windows_of_a_delay_line_are_those_of_one_signal():
    spec = Spec.load(EXAMPLES / "equaliser.toml")
    values = spec.model_dump(by_alias=True, exclude_none=True)
    values["input"] = {"word": "s12f8", "delay": 5}
    data = load_dataset(Spec(**values))
    for x in (data.x_raw, data.x_test_raw):
        assert (x[1:, 1:] == x[:-1, :-1]).all()
    assert (data.x_raw[:, ::-1] == load_dataset(spec).x_raw).all()


def test_every_error_of_a_csv_file_is_reported_with_its_line_and_column(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("x0,x1,y\n1,nan,1\n1,2\n1.5,inf,1\n256,-1,128\n,x,1e999\n1,2,3,4\n"
                    "99999999999999999999999,0,0\n")
    assert codes(load_dataset, csv_spec(), tmp_path) == [
        ("E245", f"{path}:2 x1"), ("E243", f"{path}:3"), ("E244", f"{path}:4 x0"), ("E245", f"{path}:4 x1"),
        ("E246", f"{path}:5 x0"), ("E246", f"{path}:5 x1"), ("E246", f"{path}:5 y"), ("E244", f"{path}:6 x0"),
        ("E244", f"{path}:6 x1"), ("E245", f"{path}:6 y")]


def test_a_file_full_of_errors_is_not_listed_to_the_end(tmp_path):
    (tmp_path / "train.csv").write_text("x0,x1,y\n" + "nan,nan,nan\n" * 100)
    with pytest.raises(KerncastError, match=r"in 100 rows\n.*found: nan\n") as caught:
        load_dataset(csv_spec(), tmp_path)
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("header", ["x0,y", "x0,x1,x2,y", "a,b,y", "x0,x0,y", "1,2,3", ""])
def test_a_file_with_the_wrong_columns_is_refused_with_those_needed(tmp_path, header):
    (tmp_path / "train.csv").write_text(header + "\n1,2,3\n")
    assert codes(load_dataset, csv_spec(), tmp_path) == [("E242", f"{tmp_path / 'train.csv'}:1")]


def test_too_few_rows_are_refused(tmp_path):
    (tmp_path / "train.csv").write_text("x0,x1,y\n1,2,3\n1,2,3\n")
    assert codes(load_dataset, csv_spec(), tmp_path) == [("E247", str(tmp_path / "train.csv"))]


def test_files_that_cannot_be_read_are_reported_together(tmp_path):
    (tmp_path / "test.csv").write_bytes(b"\xff\xfe\xff")
    assert codes(load_dataset, csv_spec(test="test.csv"), tmp_path) == [
        ("E241", str(tmp_path / "train.csv")), ("E241", str(tmp_path / "test.csv"))]


def test_an_inspection_reports_the_properties_of_a_file(tmp_path):
    path = tmp_path / "any.csv"
    path.write_text("x0,x1,y\n0,-3,1\n300,4,1\n300,4,-1\n")
    seen = inspect_file(path, Data(), find_classes=False)
    assert seen.values.X.shape == (3, 2)
    assert [seen.ranges[name] for name in ("x0", "x1", "y")] == [[0, 300], [-3, 4], [-1, 1]]
    assert width(seen.values.X.astype(np.int64)) > 0


# ---- arrays ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("values", [
    [1, 2, 4095], (1.0, 2.0, 4095.0), np.array([1, 2, 4095], np.uint64), np.array([1, 2, 4095], np.float32),
    np.array([1, 2, 4095], object)])
def test_integers_of_any_type_become_raw_values(values):
    words = check_raw(values, U12, None, "y")
    assert words.dtype == np.int64
    assert words.tolist() == [1, 2, 4095]


def test_one_column_may_be_given_flat():
    assert check_raw([1, 2], U12, 1, "x").tolist() == [[1], [2]]
    assert check_raw([[1], [2]], U12, 1, "x").tolist() == [[1], [2]]


@pytest.mark.parametrize(("values", "code"), [
    ([0.0, float("nan")], "E245"), ([0.0, float("-inf")], "E245"), ([0, 1.5], "E244"), ([0, 4096], "E246"),
    ([0, -1], "E246"), ([0, 2**200], "E246"), (np.array([0, 2**64 - 1], np.uint64), "E246"),
    ([0, Fraction(1, 2)], "E244")])
def test_an_invalid_raw_value_is_refused_with_its_index(values, code):
    assert codes(check_raw, values, U12, None, "y") == [(code, "y[1]")]


def test_each_kind_of_error_in_an_array_is_reported_once():
    x = [[0, np.nan], [np.inf, 0.5], [-1, 4096]]
    with pytest.raises(KerncastError) as caught:
        check_raw(x, U12, 2, "x")
    assert [(p.code, p.where) for p in caught.value.problems] == [
        ("E245", "x[0, 1]"), ("E244", "x[1, 1]"), ("E246", "x[2, 0]")]
    assert "2 such values" in caught.value.problems[0].message


@pytest.mark.parametrize(("values", "columns"), [
    ([[1, 2], [3, 4]], 3), ([1, 2, 3], 3), ([[1, 2]], None), (5, None), (5, 1), ([[[1]]], 1)])
def test_an_array_of_the_wrong_shape_is_refused(values, columns):
    assert codes(check_raw, values, U12, columns, "x") == [("E248", "x")]


@pytest.mark.parametrize("values", [["a", "b"], "word", None, [[1], [1, 2]], [1 + 2j, 0], [None, 1], {}])
def test_input_other_than_an_array_of_numbers_is_refused(values):
    assert codes(check_raw, values, U12, None, "y") == [("E244", "y")]
