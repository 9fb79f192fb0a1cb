"""docs/measured/streams.md speaks of the examples and of the integer model that ship."""

import re

import numpy as np
import pytest

from kerncast.benchmarks.papers.common import DOCS
from kerncast.benchmarks.streams import drift, equalise, on_board, predict
from kerncast.benchmarks.streams.tasks import example

TEXT = (DOCS / "measured" / "streams.md").read_text(encoding="utf-8")
STALE = "stale: python -m kerncast.benchmarks.streams"
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]]
        for line in TEXT.splitlines() if line.startswith("| ")]


def row(title, columns):
    """The first row with such a first cell and so many columns."""
    return next(cells for cells in ROWS if cells[0] == title and len(cells) == columns)


def test_every_method_is_on_the_page():
    for method in equalise.METHODS:
        assert float(row(method.title, 5)[2]) < 0.5
    for method in predict.METHODS:
        assert re.fullmatch(r"diverged|[0-9.]+", row(method.title, 4)[3])


@pytest.mark.parametrize("word", [16, 32])
def test_the_bit_errors_of_the_page_are_the_integer_models(word):
    found = equalise.integers(word)
    assert row(f"{equalise.OURS}, {word} bits", 5)[2] == f"{np.mean(found.rate):.4f}", STALE


@pytest.mark.parametrize("word", predict.WORDS)
def test_the_errors_of_the_page_are_the_integer_models(word):
    found = predict.root_mean_square(predict.integers(word)[0])
    assert row(f"{predict.DIFFERENCES}, {word} bits", 4)[3] == f"{found:.2f}", STALE


def test_the_example_of_the_ecg_predicts_far_better_than_the_sample_before():
    for word in predict.WORDS:
        assert float(row(f"{predict.DIFFERENCES}, {word} bits", 4)[3]) < 0.6 * float(
            row("the sample before", 4)[3])


@pytest.mark.parametrize(("name", "chosen"), [
    ("equaliser", row(equalise.OURS, 5)[1]), ("ecg_stream", row(predict.DIFFERENCES, 4)[1])])
def test_the_examples_have_the_parameters_that_were_chosen(name, chosen):
    spec = example(name)
    values = {"sigma": spec.kernel.sigma, "eta": spec.online.eta, "columns": spec.input.columns,
              "max_deterioration": spec.online.max_deterioration}
    for key, value in re.findall(r"(\w+) ([\d.]+)", chosen):
        assert values[key] == float(value), f"{key} of examples/{name}.toml"


def test_truncation_follows_a_changing_stream_only_with_rho():
    without, with_it = (drift.settled(drift.curve(drift.LEARNERS["NT"], rho, 1))[1] for rho in (0.0, 0.01))
    assert with_it < 0.8 * without


def test_the_page_lists_the_boards_values_without_a_mismatch():
    found = [cells for cells in ROWS if len(cells) == 4 and cells[1] in on_board.BOARDS]
    assert len(found) == 2 * len(on_board.BOARDS)
    assert all(int(words.replace(",", "")) > on_board.SAMPLES for *_, words, _ in found)
    assert all(unequal == "0" for *_, unequal in found)


@pytest.mark.parametrize("name", ["equaliser", "ecg", "drift"])
def test_every_figure_is_there_and_small(name):
    figure = DOCS / "figures" / f"streams-{name}.svg"
    assert f"figures/{figure.name}" in TEXT and figure.stat().st_size < 100_000
