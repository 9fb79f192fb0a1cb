"""From outputs to a class: what ties give, what scikit-learn says, and what a margin is."""

import itertools

import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from kerncast.sim.decisions import confusion_matrix, decide, pair_slots, recalls, spread

RNG = np.random.default_rng(3)


def libsvm_vote(f: np.ndarray, classes: int) -> list[int]:
    """svm_predict_values of libsvm: the first class with most votes."""
    found = []
    for row in f:
        votes, at = [0] * classes, iter(row)
        for i in range(classes):
            for j in range(i + 1, classes):
                votes[i if next(at) > 0 else j] += 1
        found.append(votes.index(max(votes)))
    return found


def test_a_tie_of_the_largest_output_goes_to_the_lowest_label():
    labels, margins = decide("argmax", np.array([[3, 5, 5], [-1, -1, -1], [0, 1, 2]]), 3)
    assert (labels.tolist(), margins.tolist()) == ([1, 0, 2], [0, 0, 1])


def test_an_output_of_zero_is_the_first_of_two_classes():
    labels, margins = decide("sign", np.array([0, 1, -7]), 2)
    assert (labels.tolist(), margins.tolist()) == ([0, 1, 0], [0, 1, 7])


def test_votes_of_every_small_output_are_those_of_libsvm():
    f = np.array(list(itertools.product((-2, -1, 0, 1, 2), repeat=6)))
    assert decide("vote", f, 4)[0].tolist() == libsvm_vote(f, 4)


def test_votes_with_confidences_are_those_of_scikit_learn():
    f = np.array(list(itertools.product((-2, -1, 0, 1, 2), repeat=6)))
    scores = _ovr_decision_function(f < 0, -f.astype(float), 4)
    assert decide("vote_confidence", f, 4)[0].tolist() == scores.argmax(axis=1).tolist()


def test_the_margin_of_a_vote_is_the_smallest_output_in_favour_of_the_label():
    labels, margins = decide("vote", np.array([[5, 3, 9], [-4, 3, 9], [4, -3, 9]]), 3)
    assert (labels.tolist(), margins.tolist()) == ([0, 1, 0], [3, 4, -3])


def test_a_margin_below_the_least_is_unknown():
    f = np.array([[3, 5, 0], [3, 6, 0]])
    assert decide("argmax", f, 3, 3)[0].tolist() == [3, 1]


@pytest.mark.parametrize("decision", ["argmax", "vote", "vote_confidence"])
def test_real_outputs_and_integers_give_the_same_labels(decision):
    f = RNG.integers(-50, 50, size=(200, 3))
    found = [decide(decision, outputs, 3, 7) for outputs in (f, f.astype(np.float64))]
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])


def test_coefficients_of_pairs_are_spread_over_the_outputs():
    alpha = np.arange(1, 9).reshape(4, 2)
    dense = spread(alpha, (1, 0, 3))
    assert pair_slots(3).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert dense.tolist() == [[1, 2, 0], [0, 3, 4], [0, 5, 6], [0, 7, 8]]


def test_a_confusion_matrix_counts_unknown_in_its_last_column():
    confusion = confusion_matrix(np.array([0, 0, 1]), np.array([0, 2, 0]), 2)
    assert confusion.tolist() == [[1, 0, 1], [1, 0, 0]] and recalls(confusion).tolist() == [0.5, 0.0]
