"""The matrix of specs, each with its data, its plan, the model's answers and its generated C; built once."""

import tomllib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from covering import variants

from kerncast.codegen.build.host import HostBackend
from kerncast.codegen.generate import generate
from kerncast.sim.backend import Raw
from kerncast.sim.formats import Format
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import Vectors, make_vectors
from kerncast.sim.spec import Spec
from kerncast.sim.spec.keys import TABLE_OF

CASES = tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))


def spec_of(name: str) -> Spec:
    """The spec of a case of ``cases.toml``."""
    tables = {key: table for key, table in CASES[name].items() if isinstance(table, dict)}
    algorithm = next(a for a, table in TABLE_OF.items() if table in tables)
    return Spec(model={"name": name, "algorithm": algorithm}, **tables)


@cache
def choices(name: str) -> frozenset[Hashable]:
    """The choices of its spec, and the statuses that it is made for."""
    return frozenset(variants(spec_of(name))) | {("meets", status) for status in CASES[name]["meets"]}


@dataclass
class Case:
    """A spec of ``cases.toml`` with all that follows from it."""

    name: str
    meets: list[str]
    plan: Plan
    vectors: Vectors
    place: Path

    @cached_property
    def folder(self) -> Path:
        """The generated folder without cores, written when a test first needs it."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("kerncast.codegen.generate.rtl_fits", lambda _: False)
            generate(self.plan, self.place / "generated", vectors=self.vectors)
        return self.place / "generated"


def draw(kind: str, rng: np.random.Generator, fmt: Format, shape: tuple[int, ...]) -> Raw:
    """Raw words of a format.

    ``noise``: all words alike, every eighth a rail; ``rails``: half of them rails or next to one;
    ``few``: three words; ``cycle``: seven samples over and over; ``walk``: a slow signal.
    """
    count = int(np.prod(shape))
    words = rng.integers(fmt.lo, fmt.hi, count, endpoint=True)
    edges = np.clip([fmt.lo, fmt.lo + 1, fmt.hi - 1, fmt.hi], fmt.lo, fmt.hi)
    edge = rng.random(count) < {"rails": 0.5, "noise": 0.125}.get(kind, 0)
    words[edge] = edges[rng.integers(0, 4, int(edge.sum()))]
    if kind == "few":
        words = rng.choice([fmt.lo, (fmt.lo + fmt.hi) // 2, fmt.hi], count)
    if kind == "cycle":
        width = 7 * (shape[1] if len(shape) > 1 else 1)
        words = np.resize(words[:width], count)
    if kind == "walk":
        steps = np.cumsum(rng.integers(-99, 99, count, endpoint=True))
        words = np.clip((fmt.lo + fmt.hi) // 2 + steps, fmt.lo, fmt.hi)
    return words.reshape(shape).astype(np.int64)


#: The kinds of data in turn, by the kind that a case asks for.
TURNS = {"noise": ("noise", "walk", "rails"), "walk": ("walk", "noise", "rails"), "cycle": ("cycle", "noise"),
         "rails": ("rails", "noise"), "few": ("few", "few")}


def calls(plan: Plan, kind: str) -> list[tuple[str, Raw | None, Raw | None]]:
    """Predict untrained; then train or learn, and predict, with one kind of data after the other."""
    rng = np.random.default_rng(crc32(plan.name.encode()))
    columns, raw_x, raw_y = plan.sizes["D"], plan.signals["x_raw"].format, plan.signals["y_raw"].format

    def inputs(m: int, kind: str) -> Raw:
        return draw(kind, rng, raw_x, (m, columns))

    def targets(m: int, kind: str) -> Raw:
        if plan.decision:
            return rng.integers(0, len(plan.class_names), m)
        return draw(kind, rng, raw_y, (m, plan.targets) if plan.targets > 1 else (m,))

    found: list[tuple[str, Raw | None, Raw | None]] = [("predict", inputs(2, "rails"), None)]
    for now in TURNS[kind]:
        if plan.trains:
            n = plan.sizes["n"]
            x = None if plan.options.get("scheme") == "uniform" else inputs(n, now)
            found.append(("train", x, targets(n, now)))
        else:
            m = 25 * plan.sizes["N"]
            x = inputs(m, now)
            x[m // 2:: 3] = x[: m - m // 2: 3]  # a third of the later samples was there before
            found.append(("update", x, targets(m, now)))
        found += [("predict", inputs(40, "noise"), None), ("predict", inputs(40, "rails"), None)]
    return found


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    """``cases(name)``: a case of ``cases.toml``."""
    made: dict[str, Case] = {}

    def case(name: str) -> Case:
        if name not in made:
            kind, meets = CASES[name]["data"], CASES[name]["meets"]
            plan = make_plan(spec_of(name))
            vectors = make_vectors(open_model(plan), calls(plan, kind))
            made[name] = Case(name, meets, plan, vectors, tmp_path_factory.mktemp(name))
        return made[name]

    return case


@pytest.fixture
def host(cases: Callable[[str], Case],
         require_tool: Callable[[str, str], str]) -> Callable[[str], HostBackend]:
    """``host(name)``: the generated C of a case, built by gcc and open to calls of its own API."""
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    return lambda name: HostBackend(cases(name).plan, cases(name).folder, compiler="gcc", flags=("-O1",))
