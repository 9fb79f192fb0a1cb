"""The key stream_lag needs one fixed linear filter."""

from __future__ import annotations

import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.spec import Spec
from kerncast.sim.spec.text import render


def spec(toeplitz: dict[str, object], **tables: object) -> Spec:
    return Spec(**{
        "model": {"name": "t", "algorithm": "toeplitz_rls"}, "input": {"word": "u16f0"},
        "output": {"word": "s16f0"}, "kernel": {"sigma": 2.0},
        "toeplitz": {"n": 64, "lambda": 0.1, "scheme": "uniform", "stream_lag": 12, **toeplitz}, **tables})


@pytest.mark.parametrize(("toeplitz", "tables", "message"), [
    ({"scheme": "diagonal_mean"}, {}, 'needs scheme = "uniform"'), ({"bias": True}, {}, "no intercept"),
    ({"solver": "banded", "candidates": [[3.0, 0.1]]}, {}, "one fixed sigma and lambda"),
    ({}, {"kernel": {"type": "periodic", "sigma": 1.0, "period": 20.0}}, "does not decay"),
    ({"stream_lag": 32}, {}, "filter of 65 taps is longer than n"),
    ({}, {"hls": {"interface": "memory"}}, "array in memory")])
def test_a_stream_that_is_no_fixed_filter_is_refused(toeplitz: dict[str, object], tables: dict[str, object],
                                                    message: str) -> None:
    with pytest.raises(KerncastError) as error:
        spec(toeplitz, **tables)
    assert [(p.code, message in p.message, p.where) for p in error.value.problems] == [
        ("E113", True, "[toeplitz] stream_lag")]


def test_a_spec_without_a_stream_keeps_its_hash_and_text() -> None:
    plain = spec({"stream_lag": None})
    assert "stream_lag" not in plain.to_toml() and plain.hash != spec({}).hash
    assert Spec.from_text(spec({}).to_toml()) == spec({})


@pytest.mark.parametrize("scheme", ["uniform", "diagonal_mean"])
def test_a_draft_offers_a_stream_only_on_a_grid(scheme: str) -> None:
    values = spec({"stream_lag": None}).model_dump(mode="json", by_alias=True, exclude_none=True)
    values["toeplitz"]["scheme"] = scheme
    assert ("# stream_lag = 30" in render(values)) == (scheme == "uniform")
