"""Learners in a simulator, with the script that is being written for one and what the model says of it."""

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from covering import variants

from kerncast.codegen.rtl.common import signed
from kerncast.codegen.rtl.frames import sample_frame
from kerncast.codegen.rtl.predictor import framed
from kerncast.hw.rtl.learner_backend import learned_state, longest_update, state_cycles
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.backend import Outputs, Raw
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from .conftest import SPECS, targets
from .rls_cases import RLS

#: Beside the learners of the predictor's cases: forgetting, coefficients that wrap, columns that no lanes
#: divide, other metrics and no projection, and the full size.
LEARNERS = {case: SPECS[case]
            for case in ("gains16", "even32", "even24", "wrap16", "corners16", "angles32", "roots16",
                         "smooth32", "labels16", "sides32", "values24")} | {
    "grows24": """
        model = {name = "grows", algorithm = "kernel_lms"}
        input = {word = "s9f0", columns = 1, offset = 3}
        output = {classes = ["a", "b", "c", "d"]}
        kernel = {type = "laplacian", sigma = 90.0}
        online = {budget = 9, eta = 0.9, rho = 0.05}
        numbers = {word = 24, casts = {alpha = "half_even"}}
        """,
    "pairs16": """
        model = {name = "pairs", algorithm = "kernel_lms"}
        input = {word = "s9f0", columns = 5}
        output = {word = "u10f0", offset = 512, gain = 1.5, outputs = 2}
        kernel = {type = "laplacian", sigma = 300.0}
        online = {budget = 6, eta = 0.9, rho = 0.02}
        numbers = {word = 16, casts = {alpha = "half_even"}, formats = {alpha = "s16f14"}}
        """,
    "centers16": """
        model = {name = "centers", algorithm = "kernel_lms"}
        input = {word = "s10f0", columns = 2}
        output = {word = "s12f0", outputs = 2}
        kernel = {sigma = 300.0}
        online = {budget = 6, eta = 0.5, quantise = 0.9}
        numbers = {word = 16}
        """,
    "smallest24": """
        model = {name = "smallest", algorithm = "kernel_lms"}
        input = {word = "s10f0", columns = 2}
        output = {word = "s12f0", outputs = 3}
        kernel = {sigma = 300.0}
        online = {budget = 6, eta = 0.5, rho = 0.05, reduction = "nt", quantise = 0.95}
        numbers = {word = 24}
        """,
    "oldest32": """
        model = {name = "oldest", algorithm = "kernel_lms"}
        input = {word = "s10f0", columns = 3}
        output = {classes = ["a", "b", "c"]}
        kernel = {sigma = 300.0}
        online = {budget = 5, eta = 0.5, reduction = "at"}
        numbers = {word = 32}
        """,
    "spares16": """
        model = {name = "spares", algorithm = "kernel_lms"}
        input = {word = "s10f0", columns = 3}
        output = {word = "s12f0"}
        kernel = {type = "laplacian", sigma = 300.0}
        online = {budget = 7, eta = 0.7, metric = "magnitude"}
        numbers = {word = 16}
        """,
    "drops16": """
        model = {name = "drops", algorithm = "kernel_lms"}
        input = {word = "s10f0", columns = 2}
        output = {word = "s12f0"}
        kernel = {sigma = 300.0}
        online = {budget = 6, eta = 0.7, projection = "none", quantise = 0.99}
        numbers = {word = 16}
        """,
    "forgets16": """
        model = {name = "forgets", algorithm = "kernel_lms"}
        input = {word = "s9f0", columns = 1, offset = 3}
        output = {word = "u10f0", offset = 512, gain = 1.5}
        kernel = {sigma = 90.0}
        online = {budget = 9, eta = 0.9, rho = 0.05}
        numbers = {word = 16, casts = {alpha = "half_even"}, formats = {alpha = "s16f14"}}
        """,
    "rolls32": """
        model = {name = "rolls", algorithm = "kernel_lms"}
        input = {word = "u12f0", columns = 2, offset = 2000}
        output = {word = "s16f0"}
        kernel = {sigma = 900.0}
        online = {budget = 7, eta = 0.9, rho = 0.01}
        numbers = {word = 32, casts = {alpha = "floor wrap"}, formats = {alpha = "s32f32"}}
        """,
    "fives24": """
        model = {name = "fives", algorithm = "kernel_lms"}
        input = {word = "s11f0", columns = 5}
        output = {word = "s12f0"}
        kernel = {type = "laplacian", sigma = 900.0}
        online = {budget = 8, eta = 0.5, rho = 0.01}
        numbers = {word = 24}
        """,
    "hundred": """
        model = {name = "hundred", algorithm = "kernel_lms"}
        input = {word = "s12f0", columns = 8}
        output = {word = "s12f0"}
        kernel = {sigma = 2500.0}
        online = {budget = 100, eta = 0.5, rho = 0.001}
        numbers = {word = 16}
        """,
}


def choices(case: str) -> set[Hashable]:
    """The choices of the spec of a case, of those of all cores."""
    return variants(Spec.from_text((SPECS | RLS | LEARNERS)[case], f"{case}.toml"))


def make(case: str) -> Plan:
    return make_plan(Spec.from_text(LEARNERS[case], f"{case}.toml"))


def stream(plan: Plan, count: int, seed: int) -> tuple[Raw, Raw]:
    """Raw samples: noise of the whole range, near ones of late, and some that came before."""
    chance, fmt = np.random.default_rng(seed), plan.signals["x_raw"].format
    x = chance.integers(fmt.lo, fmt.hi + 1, (count, plan.sizes["D"]))
    y = targets(plan, count, chance)
    for i in range(2, count):
        kind, before = chance.integers(6), int(chance.integers(max(0, i - 2 * plan.sizes["N"]), i))
        if kind == 0:
            x[i] = x[before]
        elif kind == 1:
            x[i] = np.clip(x[before] + chance.integers(-3, 4, x.shape[1]), fmt.lo, fmt.hi)
    return x, y


@dataclass
class Learner:
    """A core, and an integer model that is asked the same."""

    case: str
    plan: Plan
    simulation: Simulation
    lanes: int = 1
    script: list[tuple[object, ...]] = field(default_factory=list)
    wanted: list[object] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self.model = open_model(self.plan)

    def clear(self) -> None:
        self.script, self.wanted, self.asked = [], [], 0
        self.model.reset()

    def do(self, *operation: object) -> None:
        self.script.append(operation)

    def collect(self) -> None:
        """Wait for the answers to all samples asked."""
        if self.asked:
            self.do("answers", self.asked)
        self.asked = 0

    def expect(self, answer: Outputs, y: int | None = None) -> None:
        if framed(self.plan):
            words = [int(word) for part in answer.values() for word in part.ravel()]
            self.wanted.append(words)
            self.asked += 1
            return
        status, f = int(answer["status"][0]), int(answer["f"][0])
        rail = 1 << (self.plan.word - 1)
        self.wanted.append([status, f] if y is None else [status, f, min(max(y - f, -rail), rail - 1)])
        self.asked += 1

    def learn(self, x: Raw, y: Raw) -> None:
        """Samples with targets, back to back."""
        for row, target in zip(x, y, strict=True):
            self.do("sample", sample_frame(self.plan, row, target), True)
            self.expect(self.model.update(row[np.newaxis], np.array([target])),
                        None if framed(self.plan) else self.target(int(target)))

    def predict(self, x: Raw) -> None:
        """Samples without, back to back."""
        for row in x:
            self.do("sample", sample_frame(self.plan, row), False)
            self.expect(self.model.predict(row[np.newaxis]))

    def target(self, raw: int) -> int:
        """The y word of a raw target."""
        from kerncast.sim.model.kernel import convert_y, input_constants
        from kerncast.sim.model.ranges import Ranges

        return int(convert_y(raw, input_constants(self.plan), Ranges(self.plan).log))

    def read(self) -> None:
        """Read the state, which is to be the model's."""
        self.collect()
        self.do("state")
        self.wanted.append(self.model.state())

    def reset(self) -> None:
        self.do("reset")
        self.model.reset()

    def run(self) -> tuple[int, int, int, int, list[object]]:
        """Words and state words compared, those that differ, and what else the script gave back."""
        self.collect()
        limit = 8 * (longest_update(self.plan) + state_cycles(self.plan) + 100)
        wanted, rest = iter(self.wanted), []
        words = state_words = wrong = wrong_state = 0
        for (name, *_), found in zip([op for op in self.script if op[0] in RETURNING],
                                     self.simulation.run(self.script, limit), strict=True):
            if name == "answers":
                for status, *values in found:
                    want = next(wanted)
                    assert (status, len(values)) == (want[0], len(want) - 1)
                    words += len(values)
                    wrong += int((signed(self.plan.word, np.array(values)) != want[1:]).sum())
            elif name == "state":
                got, want = learned_state(self.plan, found), next(wanted)
                assert set(got) == set(want)
                state_words += sum(len(want[member]) for member in want)
                wrong_state += sum(int((got[member] != want[member]).sum()) for member in want)
            else:
                rest.append(found)
        assert next(wanted, None) is None, "an answer is missing"
        return words, wrong, state_words, wrong_state, rest


#: Operations that give something back.
RETURNING = ("answers", "state", "waiting", "errors", "spans")
