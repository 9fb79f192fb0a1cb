"""The unit of an input whose features the estimator's kernel scales."""

import numpy as np

from kerncast.sim.interop.convert import _named


def test_a_scaled_input_loses_its_unit():
    words = {"word": "u8f0", "unit": "mV"}
    assert _named(words, np.ones(2)) == words
    assert _named(words, np.array([1.0, 2.0])) == {"word": "u8f0"}
