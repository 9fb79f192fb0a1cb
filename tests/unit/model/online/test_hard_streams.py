"""A learner with quantisation and a linear part does not break on streams made to break learners."""

import numpy as np
import pytest

from kerncast.benchmarks.streams.hard import STREAMS, learned, scores

SAMPLES = 500


@pytest.mark.parametrize("title", STREAMS)
def test_no_stream_makes_the_learner_burst_or_leave_the_range(title: str) -> None:
    f, y = learned(STREAMS[title](SAMPLES), budget=20)
    error, largest = scores(f, y)
    assert f.min() >= -2048 and f.max() <= 2047
    assert largest < 4
    assert error < (1.1 if title == "unpredictable" else 1.5)


@pytest.mark.parametrize(("title", "most"), [("slow sine, no noise", 0.03), ("gain of 8 halfway", 0.15),
                                             ("random walk", 0.3), ("a pause", 0.15)])
def test_a_predictable_stream_is_predicted(title: str, most: float) -> None:
    assert scores(*learned(STREAMS[title](SAMPLES), budget=20))[0] < most


def test_a_constant_is_learned_to_half_a_count() -> None:
    f, y = learned(STREAMS["constant"](300), budget=20)
    assert np.abs(f - y)[-50:].max() <= 0.5
