"""The online learner in 16 bits keeps its order, its formats and its accuracy for as long as a stream lasts.

With ``KERNCAST_CAMPAIGN=1`` that is a day at 1 kHz.
"""

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kerncast.sim.model.online.lms import LmsModel
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.selection.width import overlap_width
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

Words = NDArray[np.int64]
CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
HOURS, BUDGET, COLUMNS, FULL_SCALE = 24, 100, 8, 2.0**15
#: Samples of an hour, in which what drifts comes back to where it was; and between two looks at the model.
HOUR, CHUNK = (3_600_000, 100_000) if CAMPAIGN else (2000, 500)
LOOKS = HOUR // CHUNK
SATURATED = DeviceStatus.SATURATED


def stream(chunk: int) -> Iterator[tuple[Words, Words]]:
    """A nonlinear system that drifts, driven by coloured noise whose mean drifts: x (m, D), y (m,)."""
    rng = np.random.default_rng(836)
    taps, drift = rng.normal(0, 1, (2, COLUMNS))
    noise, first = rng.uniform(-0.36, 0.36, COLUMNS), 0
    while True:
        noise = np.append(noise[-COLUMNS:], rng.uniform(-0.36, 0.36, chunk))
        swing = np.sin(2 * np.pi * np.arange(first, first + chunk) / HOUR)[:, np.newaxis]
        past = np.lib.stride_tricks.sliding_window_view(noise[1:] + 0.3 * noise[:-1], COLUMNS)
        x = past + 0.05 * swing
        y = 0.5 * np.tanh((x * (taps + 0.3 * swing * drift)).sum(1)) + rng.normal(0, 0.01, chunk)
        first += chunk
        yield words(x), words(y)


def words(values: NDArray[np.float64]) -> Words:
    """Values of full scale 1 as s16f15."""
    return np.clip(np.round(values * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1).astype(np.int64)


@cache
def width() -> float:
    """Three quarters of the sigma of the estimators, so that not only on average few vectors overlap."""
    return 0.75 * overlap_width(next(stream(2000))[0] / FULL_SCALE, BUDGET)


def model_of(numbers: dict[str, Any], **online: Any) -> LmsModel:
    return LmsModel(make_plan(Spec(
        model={"name": "day", "algorithm": "kernel_lms"}, input={"word": "s16f15", "columns": COLUMNS},
        output={"word": "s16f15"}, kernel={"sigma": width()}, numbers={"word": 16, **numbers},
        online={"budget": BUDGET, "eta": 0.2, **online})))


def told(model: LmsModel) -> int:
    """Casts that saturated, of the range log."""
    return sum(signal.saturated for signal in model.ranges)


def reach(model: LmsModel) -> int:
    """Largest multiplier of the range log, in words."""
    alpha = next(signal for signal in model.ranges if signal.name == "alpha")
    return max(-alpha.lo, alpha.hi)


def in_order(model: LmsModel) -> None:
    """Ages are a permutation, everybody's neighbour is its nearest elder, and few vectors overlap."""
    s, count = model.state(), int(model.state()["count"][0])
    rank, near, dist = (s[name][:count] for name in ("age_order", "nearest_idx", "nearest_d2"))
    v = s["centers"].reshape(BUDGET, COLUMNS)[:count].astype(np.int64)
    d2 = ((v[:, np.newaxis] - v) ** 2).sum(2)
    to_elders = np.where(rank < rank[:, np.newaxis], d2, np.iinfo(np.int64).max)
    younger = np.flatnonzero(rank > 0)
    assert sorted(rank) == list(range(count))
    assert (to_elders.min(1)[younger] == dist[younger]).all()
    assert (to_elders[younger, near[younger]] == dist[younger]).all()
    sigma = width() * 2.0 ** model.plan.signals["x"].format.frac
    assert np.exp(-d2 / sigma**2).sum(1).max() <= 1 + 2  # itself, and what stability allows


def in_format(model: LmsModel) -> None:
    alpha = model.plan.signals["alpha"].format
    assert alpha.lo <= model.state()["alpha"].min() and model.state()["alpha"].max() <= alpha.hi


@pytest.mark.parametrize("online", [{"rho": 0.0}, {"rho": 0.01, "max_age": 1000}], ids=["keeps", "forgets"])
def test_a_day_of_samples_neither_drifts_nor_saturates(online: dict[str, Any]) -> None:
    """Nor do errors or multipliers of its second half exceed those of its first, after an hour to learn.

    FKLMS, which looks at distances alone, forgets by age: with rho alone the far vectors stay, at 0.
    """
    model, samples, errors, reaches = model_of({}, **online), stream(CHUNK), [], []
    for look in range(HOURS * LOOKS):
        x, y = next(samples)
        answer = model.update(x, y)
        assert told(model) == np.count_nonzero(answer["status"]) == 0
        in_order(model)
        in_format(model)
        errors.append(float(np.mean((2 * answer["f"] - y) ** 2.0)) / FULL_SCALE**2)  # f is s16f14
        reaches.append(reach(model))
        model.ranges.clear()
        if look % LOOKS == LOOKS - 1:
            print(f"{online}, {(look + 1) * CHUNK:,} samples: mean square of errors "
                  f"{np.mean(errors[-LOOKS:]):.5f}, largest multiplier {max(reaches[-LOOKS:])}", flush=True)
    early, late = np.split(np.array(errors[LOOKS:]), 2)
    # Which vectors are held changes slowly, so that errors of neighbouring looks are alike: of a whole day
    # seen, halves differed by 3 %.
    assert late.mean() <= 1.1 * early.mean()
    assert max(reaches[-len(late):]) <= 1.5 * max(reaches[LOOKS:-len(late)])
    assert late.mean() < 0.75 * np.var(y / FULL_SCALE)  # it has learned, and remembers


def test_status_and_log_agree_on_saturation() -> None:
    """Sample by sample, on a plan whose multipliers have too little room."""
    model, (x, y), seen = model_of({"formats": {"alpha": "s16f18"}}), next(stream(3000)), 0
    for m in range(len(y)):
        before = told(model)
        saturated = model.update(x[m:m + 1], y[m:m + 1])["status"][0] == SATURATED
        assert saturated == (told(model) > before)
        seen += saturated
    assert 0 < seen < len(y)
