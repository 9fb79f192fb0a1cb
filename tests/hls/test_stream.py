"""The stream core in HLS C++ gives the integer model's fitted values, in C simulation."""

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from kerncast.codegen.hls import DIALECTS, STREAM, VECTORS, render_hls
from kerncast.codegen.hls.vectors import line, streamed, vectors_text
from kerncast.sim.model import open_model
from kerncast.sim.replay.vectors import replay

from .conftest import drawn, make, vectors


@pytest.mark.parametrize(("case", "dialect"), [
    ("fir16", "vitis"), ("fir24", "catapult"),
    *(pytest.param(case, dialect, marks=pytest.mark.campaign)
      for case, dialect in (("fir16", "catapult"), ("fir24", "vitis")))])
def test_the_stream_returns_the_model_s_values_of_every_record(case, dialect, backend, ledger, tmp_path):
    plan, chance = make(case), np.random.default_rng(1)
    opened, taps, words, mismatches = backend(plan, dialect), plan.stream_taps, 0, 0
    met = set()
    for size in (1500, 1, taps - 1, taps, taps + 1, 2 * taps, 400):
        y = drawn(plan, "y_raw", (size,), chance)
        if size > 1000:  # a stretch at the rail saturates, unless f wraps
            y[200:400] = plan.signals["y_raw"].format.hi
        wanted = open_model(plan).stream(y)
        found = opened._bench.call(line("stream", y.tolist()))
        met |= set(wanted["status"].tolist())
        words, mismatches = words + len(found), mismatches + (found != streamed(wanted))
        assert all((opened.stream(y)[name] == wanted[name]).all() for name in wanted)
    ledger.record(backend=opened.name, words=words, mismatches=mismatches, case=f"{case} stream")
    file, calls = tmp_path / VECTORS, vectors(plan, 1000)
    file.write_text(vectors_text(plan, calls))
    assert "\nstream " in file.read_text()
    assert replay(opened, calls).mismatches == 0
    done = subprocess.run([opened.program, file], capture_output=True, text=True, check=False)
    opened.close()
    assert done.returncode == 0, done.stderr
    assert mismatches == 0 and words > 3500 and len(met) >= 2


@pytest.mark.parametrize(("lanes", "clocks"), [(1, 11), (2, 6), (4, 3), (11, 1), (64, 1)])
def test_a_sample_starts_as_often_as_the_lanes_allow(lanes, clocks):
    plan = make("fir16")
    plan = replace(plan, evidence={**plan.evidence, "hls": {"lanes": lanes}})
    for dialect, pragma in (("vitis", "#pragma HLS PIPELINE II"), ("catapult", "hls_pipeline_init_interval")):
        text = render_hls(plan, dialect)[f"hls/{dialect}/fir16_stream.cpp"]
        assert set(re.findall(rf"{pragma}[= ](\d+)\n", text)) == {str(clocks)}


def test_the_stream_is_three_processes_and_keeps_no_state():
    for dialect in DIALECTS:
        text = render_hls(make("fir16"), dialect)[f"hls/{dialect}/fir16_stream.cpp"]
        top = text[text.index("void fir16_stream("):]
        calls = re.findall(r"^    (\w+)\(", top, re.MULTILINE)
        assert calls == ["read_samples", "filter_samples", "write_values"]
        assert ("#pragma HLS DATAFLOW\n" in top) == (dialect == "vitis")
        assert "static" not in text[:text.index("void fir16_stream(")]


def test_the_readme_states_why_a_stream_is_missing():
    plan = make("fir16")
    memory = replace(plan, evidence={**plan.evidence, "hls": {"interface": "memory"}})
    assert not STREAM.fits(memory) and STREAM.fits(plan)
    files = render_hls(memory, "vitis")
    assert "no stream: `[hls] interface` is memory, allowed is stream or free_running" in files[
        "hls/vitis/README.md"]
    assert "fir16_stream" not in files["hls/vitis/fir16_cores.hpp"]
    assert "no stream" not in render_hls(make("grid16"), "vitis")["hls/vitis/README.md"]
