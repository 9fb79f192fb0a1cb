"""Trainings on a Cortex-M4 in slices of any length, and interrupted by predictions after any instruction."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.backend import Comparison
from kerncast.sim.model import open_model
from kerncast.sim.plan import wire_dtype
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .interrupted import build

N = 10
#: The batch trainers: the options of their tables.
TRAINERS = {
    "levinson": {"solver": "levinson", "scheme": "uniform"},
    "schur": {"solver": "schur", "scheme": "uniform"},
    "lookahead": {"solver": "lookahead", "scheme": "diagonal_mean"},
    "refined": {"scheme": "uniform", "refine": 2, "bias": True},
    "banded": {"solver": "banded", "scheme": "uniform"},
    "centred": {"solver": "banded", "scheme": "uniform", "bias": True},
    "ranged": {"solver": "banded", "scheme": "uniform", "lambda_range": [0.1, 1.0]},
    "ranged32": {"solver": "banded", "scheme": "uniform", "lambda_range": [0.1, 1.0]},
    "geometric": {"solver": "banded", "scheme": "uniform", "factor": "geometric"},
    "means": {"scheme": "diagonal_mean_biased"}, "cg": {}}
#: The answer while commit writes the model.
_GAP = int(DeviceStatus.NOT_TRAINED), 0


def plan_of(name):
    columns = 1 if TRAINERS[name].get("scheme") == "uniform" else 2
    numbers = {"word": 32 if name == "ranged32" else 16}
    tables = ({"cg": {"n": N, "lam": 0.3, "steps": 3}} if name == "cg" else
              {"toeplitz": {"n": N, "lam": 0.3, **TRAINERS[name]}})
    algorithm = "kernel_cg" if name == "cg" else "toeplitz_rls"
    narrow = 0.6 if TRAINERS[name].get("solver") == "banded" else 1.2
    sigma = narrow if columns == 1 else 90.0
    return make_plan(Spec(model={"name": name, "algorithm": algorithm},
                          input={"word": "u8f0", "columns": columns}, output={"word": "s12f0"},
                          kernel={"type": "laplacian" if name == "geometric" else "gaussian",
                                  "sigma": sigma},
                          numbers=numbers, **tables))


class Case:
    """Two sets of a trainer, the model's prediction after each, and the program."""

    def __init__(self, name, folder, level):
        self.plan = plan_of(name)
        self.core = build(self.plan, folder, level)
        rng, columns = np.random.default_rng(19), self.plan.sizes["D"]
        model = open_model(self.plan)
        self.x = [rng.integers(0, 256, (N, columns)) for _ in range(2)]
        self.y = [rng.integers(-2048, 2048, N) for _ in range(2)]
        self.new = np.full((1, columns), N // 2) if self.plan.uniform else rng.integers(0, 256, (1, columns))
        self.statuses, self.answers = [], []
        self.model = model
        for x, y in zip(self.x, self.y, strict=True):
            self.statuses.append(int(model.train(None if self.plan.uniform else x, y)["status"][0]))
            found = model.predict(self.new)
            self.answers.append((int(found["status"][0]), int(found["f"][0])))
        self.give("x_new", self.new, "x_raw")

    def give(self, name, words, signal):
        self.core.write(name, words.astype(wire_dtype(self.plan.signals[signal].format.c_type)))

    def train(self, which):
        self.give("x", self.x[which], "x_raw")
        self.give("y", self.y[which], "y_raw")

    def members(self, name, fields):
        """The members of a structure in the core's memory."""
        found, at = {}, 0
        for member in fields:
            words = self.core.read(name, np.dtype(wire_dtype(member.ctype)), member.count, at)
            found[member.name], at = words.astype(np.int64), at + member.bytes
        return found

    def push(self, which, i):
        """Push sample i of a set by a call from outside."""
        width = np.dtype(wire_dtype(self.plan.signals["x_raw"].format.c_type)).itemsize
        x = self.core.symbols["x"] + i * self.plan.sizes["D"] * width
        given = () if self.plan.uniform else (x,)
        return self.slice("push", *given, int(self.y[which][i]))

    def slice(self, name, *arguments):
        return self.core.call(f"{self.plan.name}_train_{name}", "trainer", *arguments)[0]

    def step(self, function, stride, found):
        """Answers in order without repeats, and the function's result."""
        *answers, result = self.core.stepped(function, stride, found)
        return answers, result[0]


@pytest.fixture(params=list(TRAINERS))
def case(request, tmp_path, require_tool):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    return lambda level: Case(request.param, tmp_path, level)


def inject(case, stride, commit_stride, ledger, level):
    old, new = case.answers
    assert old != new
    case.train(0)
    assert case.core.call("train")[0] == case.statuses[0]
    assert case.core.prediction() == old
    case.train(1)
    found = Counter()
    assert case.step("collect", stride, found) == ([old], 0)
    answers, status = case.step("commit", commit_stride, found)
    assert status == case.statuses[1]
    assert answers == [old, _GAP, new]
    case.train(0)
    answers, status = case.step("train", stride, found)
    assert status == case.statuses[0]
    assert answers[0] == new and answers[-1] == old and set(answers) <= {new, _GAP, old}
    ledger.record(backend=f"unicorn:cortex-m4:{level}", words=2 * sum(found.values()), mismatches=0,
                  case=f"{case.plan.name} interrupted")
    return sum(found.values())


def test_a_prediction_in_an_interrupt_sees_the_old_or_the_new_model(case, ledger):
    assert inject(case("-O2"), 211, 1, ledger, "-O2") > 100


def test_slices_of_any_length_on_a_core_give_the_values_of_the_model(case, ledger):
    case, pending, compared = case("-O2"), int(DeviceStatus.PENDING), []
    state, workspace = case.model.state(), case.model.workspace()  # of the second set
    case.train(1)

    @settings(max_examples=10, deadline=None)
    @given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
    def sliced(lengths):
        case.core.write("model", np.zeros(case.plan.state_bytes, np.uint8))
        assert case.slice("begin") == 0
        for i in range(N):
            assert case.push(1, i) == 0
            if i < N - 1:
                assert case.slice("run", lengths[i % len(lengths)]) == pending
        turn, steps = 0, [*lengths, 1]
        while case.slice("run", steps[turn % len(steps)]) == pending:
            turn += 1
        assert case.slice("commit", "model") == case.statuses[1]
        result = Comparison()
        result.add("state", state, case.members("model", case.plan.memory))
        result.add("workspace", workspace, case.members("trainer", case.plan.workspace))
        assert result.mismatches == 0, result.first
        compared.append(result.words)

    sliced()
    ledger.record(backend="unicorn:cortex-m4:-O2", words=sum(compared), mismatches=0,
                  case=f"{case.plan.name} in slices")


@pytest.mark.campaign
@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_a_prediction_after_every_instruction_sees_the_old_or_the_new_model(case, ledger, level):
    assert inject(case(level), 1, 1, ledger, level) > 5000
