"""Estimators took parts of a reduction that the spec refuses, and NaN brought advice to use others."""

from typing import Any

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.estimators import KernelLMSClassifier, KernelLMSRegressor, KernelRLSRegressor
from kerncast.sim.spec import Spec

X = np.random.default_rng(2).uniform(-1, 1, (40, 1))
Y = np.sin(3 * X[:, 0])
REFUSED = [({"newest_only": True}, "newest_only"),
           ({"metric": "age", "max_deterioration": 3.0}, "max_deterioration"),
           ({"reduction": "at", "max_deterioration": 3.0}, "max_deterioration"),
           ({"reduction": "mt"}, "max_deterioration")]


@pytest.mark.parametrize(("options", "where"), REFUSED)
@pytest.mark.parametrize("kind", [KernelLMSRegressor, KernelLMSClassifier])
def test_what_the_spec_refuses_the_estimators_refuse(kind: type, options: dict[str, Any], where: str) -> None:
    model = kind(sigma=0.5, budget=8, **options)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(KerncastError) as told:
            call(X, Y > 0)
        problem = told.value.problems[0]
        assert (problem.code, problem.where) == ("E258", where) and problem.allowed and problem.remedy
    with pytest.raises(KerncastError) as told:
        Spec(model={"name": "m", "algorithm": "kernel_lms"}, input={"word": "u8f0"}, output={"word": "s8f0"},
             kernel={"sigma": 9.0}, online={"budget": 8, "eta": 0.5, **options})
    assert [p.where for p in told.value.problems] == [f"[online] {where}"]


def test_a_learner_without_room_reports_that_it_is_full() -> None:
    model = KernelLMSRegressor(0.1, budget=3, max_deterioration=0.01, newest_only=True).fit(X, Y)
    assert model.status_ == "full" and len(model.dual_coef_) == 3
    assert '"full"' in (KernelLMSRegressor.__doc__ or "")


@pytest.mark.parametrize("kind", [KernelLMSRegressor, KernelLMSClassifier, KernelRLSRegressor])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_for_nan_and_infinity_the_samples_are_to_be_mended(kind: type, bad: float) -> None:
    spoilt = X.copy()
    spoilt[3] = bad
    model = kind(sigma=0.5).fit(X, Y > 0)
    for call in (lambda: kind(sigma=0.5).fit(spoilt, Y > 0), lambda: model.predict(spoilt)):
        with pytest.raises(KerncastError, match=r"E233.*(NaN|inf)") as told:
            call()
        assert "remove these samples" in told.value.problems[0].remedy
        assert "HistGradientBoosting" not in str(told.value) and "missing values" not in str(told.value)
