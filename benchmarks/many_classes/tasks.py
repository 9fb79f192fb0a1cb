"""benchmarks.many_classes: define the tasks: digits, speakers and activities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import isqrt

import numpy as np

from kerncast.benchmarks.classes import TRAINING, shuffled
from kerncast.examples.activity.activity import samples, series
from kerncast.sim._arrays import Raw

#: Steps of a mean and of a deviation per unit of JapaneseVowels; both then fit one byte.
VOWEL_STEPS = (60, 120)
#: Seed of the order that only the choice of parameters sees.
CHOOSING = 1000


@dataclass(frozen=True)
class Split:
    """Training samples in order, and samples to classify."""

    x: Raw
    y: Raw
    x_test: Raw
    y_test: Raw

    def accuracy(self, labels: Raw) -> float:
        """Return the fraction of correct labels among the samples to classify."""
        return float(np.mean(labels == self.y_test))


@dataclass(frozen=True)
class Task:
    """Task with several classes.

    Parameters
    ----------
    name, title : str
    word : str
        Format of the inputs.
    classes : int
    orders : int
        Orders of the training samples over which accuracies are means.
    """

    name: str
    title: str
    word: str
    classes: int
    orders: int

    def split(self, seed: int) -> Split:
        """Return the samples in the order of a seed.

        Of digits the split depends on it, too.
        """
        if self.name == "digits":
            x, y = shuffled(seed)
            return Split(x[:TRAINING], y[:TRAINING], x[TRAINING:], y[TRAINING:])
        x, y = _part(self.name, "TRAIN")
        x_test, y_test = _part(self.name, "TEST")
        order, order_test = (np.random.default_rng(seed).permutation(len(labels)) for labels in (y, y_test))
        return Split(x[order], y[order], x_test[order_test], y_test[order_test])

    def splits(self) -> Iterator[Split]:
        """Yield the samples of each order."""
        return (self.split(seed) for seed in range(self.orders))

    def fits(self) -> Iterator[Split]:
        """Yield the samples for a method to which the order does not matter.

        They are one order, or every split of digits.
        """
        return (self.split(seed) for seed in range(self.orders if self.name == "digits" else 1))


@cache
def _part(name: str, part: str) -> tuple[Raw, Raw]:
    return samples(part) if name == "activities" else speakers(part)


def speakers(part: str) -> tuple[Raw, Raw]:
    """Return the means and deviations of 12 channels, shape (m, 24), and the labels."""
    recordings, names = series("JapaneseVowels", part)
    rows = []
    for channels in recordings:
        row = []
        for channel in channels:
            counts = np.rint(1000 * channel).astype(np.int64)
            n, total = len(counts), int(counts.sum())
            deviation = isqrt(n * int((counts**2).sum()) - total**2)
            row += [round(scale * value / (1000 * n))
                    for scale, value in zip(VOWEL_STEPS, (total, deviation), strict=True)]
        rows.append(row)
    return np.clip(rows, -128, 127).astype(np.int64), np.array(names).astype(np.int64) - 1


TASKS = (
    Task("digits", "Ten digits", "u5f0", 10, 10),
    Task("speakers", "Nine speakers", "s8f0", 9, 20),
    Task("activities", "Four activities", "s8f0", 4, 20),
)
