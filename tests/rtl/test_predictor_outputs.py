"""The predictor core of an imported model with several outputs or classes answers as the integer model."""

import numpy as np
import pytest

from kerncast.codegen.rtl import PREDICTOR
from kerncast.hw.rtl.predictor_backend import RtlBackend
from kerncast.sim.backend import Comparison
from kerncast.sim.data.predictor_file import TrainedModel
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

NAMES = ("sit", "walk", "run", "jump")
#: Word length, kernel, decision, further keys of [output], casts.
CASES = {
    "argmax16": (16, "gaussian", "argmax", {}, {}),
    "argmax24": (24, "laplacian", "argmax", {"min_margin": 0.3}, {}),
    "wraps16": (16, "gaussian", "argmax", {"word": "s8f7"}, {"f": "floor wrap"}),
    "sign16": (16, "gaussian", "sign", {}, {}), "sign32": (32, "gaussian", "sign", {"min_margin": 0.2}, {}),
    "outputs32": (32, "gaussian", "", {"outputs": 3}, {}),
    "narrow16": (16, "gaussian", "argmax", {"word": "s4f4"}, {}),
}


def choices(name):
    word, kernel, decision, output, casts = CASES[name]
    return {word, kernel, decision, *output, *casts}
def plan_of(name):
    """A model of 20 vectors with three columns, and an intercept per output."""
    word, kernel, decision, output, casts = CASES[name]
    chance = np.random.default_rng(len(name))
    vectors, outputs = chance.normal(size=(20, 3)), {"": 3, "argmax": 4}.get(decision)
    alpha = chance.normal(size=20 if outputs is None else (20, outputs))
    bias = 0.1 if outputs is None else chance.normal(size=outputs) * 0.2
    classes = {"": (), "argmax": NAMES, "sign": NAMES[:2]}[decision]
    model = TrainedModel({"type": kernel, "sigma": 1.0}, vectors, alpha, bias, classes, np.ones(3), "",
                         decision)
    named = {"classes": list(classes)} if classes else {}
    return make_plan(Spec(model={"name": name, "algorithm": "kernel_predictor"},
                          input={"word": "s16f12", "columns": 3},
                          output={"word": "s14f10", **named, **output},
                          kernel=model.kernel, predictor={"file": "m.json"},
                          numbers={"word": word, "casts": casts}), model=model)


def samples_of(plan):
    """Samples between the vectors, where the classes compete."""
    x = np.rint(np.random.default_rng(1).normal(size=(30, 3)) * 4096)
    return np.clip(x, -32768, 32767).astype(int)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize(("name", "simulator"), [*((name, "icarus") for name in CASES),
                                                 ("argmax24", "verilator"), ("outputs32", "verilator")])
def test_outputs_labels_and_margins_equal_the_model(require_simulator, ledger, tmp_path, name, simulator):
    require_simulator(simulator)
    plan = plan_of(name)
    x, model = samples_of(plan), open_model(plan)
    wanted, compared = model.predict(x), Comparison()
    compared.add("predict", wanted, RtlBackend(plan, model.state(), simulator, tmp_path).predict(x))
    assert len(np.unique(wanted.get("label", wanted["f"]))) > 1
    ledger.record(backend=f"rtl:{simulator}:predictor", words=compared.words, mismatches=compared.mismatches,
                  case=f"imported model {name}")


@pytest.mark.covering
@pytest.mark.parametrize(("word", "n"), [(16, 30), (16, 100), (24, 100), (32, 64)])
def test_signals_on_a_grid_equal_the_model(require_simulator, ledger, tmp_path, word, n):
    """The outputs of a Toeplitz trainer, with and without a window of the grid."""
    require_simulator("icarus")
    plan = make_plan(Spec(
        model={"name": "leads", "algorithm": "toeplitz_rls"}, input={"word": "u12f0"},
        output={"word": "s12f0", "outputs": 3}, kernel={"type": "gaussian", "sigma": 2.0},
        numbers={"word": word},
        toeplitz={"n": n, "lambda": 0.1, "scheme": "uniform", "step": 2, "solver": "banded"}))
    model, compared = open_model(plan), Comparison()
    model.train(None, np.random.default_rng(n).integers(-2048, 2048, (n, 3)))
    x = np.array([[0], [1], [n // 2], [n], [2 * n - 2], [2 * n + 7], [4095]])
    compared.add("predict", model.predict(x), RtlBackend(plan, model.state(), "icarus", tmp_path).predict(x))
    ledger.record(backend="rtl:icarus:predictor", words=compared.words, mismatches=compared.mismatches,
                  case=f"signals {word}, n = {n}")
    assert compared.mismatches == 0, compared.first


def test_the_frame_of_a_reply_is_described_beside_the_core():
    files = PREDICTOR.render(plan_of("argmax24"))
    told = ("that of the largest output; in a tie, the lowest such label, or 4 (unknown) if the margin is "
            "below 157286")
    assert told in files["argmax24_outputs.sv"] and told in files["README.md"]
    assert "6 values: 4 outputs (s24f22), label, margin (s24f22)" in files["README.md"]
