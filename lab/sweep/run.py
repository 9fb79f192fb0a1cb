"""lab.sweep: run a sweep, and store its settings and results in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from ... import __version__
from ...codegen.generate import refuse_foreign
from ...sim.errors import KerncastError, Problem, fail
from ...sim.formats import Format
from ...sim.planner import make_plan
from ...sim.spec import Spec
from ..one_output import refuse_several
from . import front as of
from .evaluate import Evaluator, Point
from .executors import check_workers, evaluate_points
from .measures import (
    DEFAULT_CONSTRAINT,
    DEFAULT_OBJECTIVES,
    OF_FLOAT,
    Constraint,
    checked_names,
    computed,
    current_name,
    parse_constraint,
    renamed,
)
from .search import check_search, search
from .space import Axis, Inputs, Space, make_space
from .store import DATABASE, Store, check_settings, opened
from .upkeep import LOCK, open_for_writing

#: Points of a grid that are tried without a search.
MOST_POINTS = 1_000_000
#: One in this many points of a search is reserved to improve its best design, one key at a time.
_TO_DESCEND = 4
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Settings:
    """Settings of a sweep.

    Parameters
    ----------
    space : Space
    base_dir : str
        Folder to which the paths of the spec's data files are relative.
    objectives : tuple of str
        Measures to minimise.
    constraints : tuple of Constraint
    trials : int, or None
        Maximum number of points of a search; None for the whole grid.
    seed : int
    notes : tuple of str
        Notes for the user on names of version 0.1 that were replaced.
    """

    space: Space
    base_dir: str
    objectives: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    trials: int | None = None
    seed: int = 0
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def searches(self) -> bool:
        """Report whether a search selects the points. If not, the grid is evaluated."""
        return self.trials is not None and self.trials < self.space.size

    @property
    def evaluator(self) -> Evaluator:
        """Return the evaluator of the points."""
        asked = {*self.objectives, *(c.name for c in self.constraints)}
        return Evaluator(self.space, self.base_dir, beside_float=bool(asked & set(OF_FLOAT)))


def make_settings(spec: Spec, base_dir: Path, *, grid: Sequence[str] = (), objectives: Sequence[str] = (),
                  constraints: Sequence[str] = (), trials: int | None = None,
                  seed: int | None = None) -> Settings:
    """Combine [sweep] in the spec with the command's options, which take precedence.

    Raises
    ------
    KerncastError
        E124 for several outputs; otherwise, all errors of :func:`~.space.make_space`, E240 if the spec has no
        data, E362 or E363 if a measure or a limit is invalid, E368 if the grid is too large.
    """
    refuse_several(spec, "a sweep")
    problems: list[Problem] = []
    space, asked, algorithm = None, spec.sweep, spec.model.algorithm
    try:
        space = make_space(spec, grid)
    except KerncastError as error:
        problems += error.problems
    where = "--objective" if objectives else spec.place("sweep", "objectives")
    wanted = list(objectives or (asked and asked.objectives) or DEFAULT_OBJECTIVES)
    names = checked_names(wanted, algorithm, where, problems)
    where = "--constraint" if constraints else spec.place("sweep", "constraints")
    texts = [*(constraints or (asked and asked.constraints) or [DEFAULT_CONSTRAINT])]
    if spec.budget is not None and spec.budget.ram is not None:
        texts.append(f"ram <= {spec.budget.ram} B")
    limits = [found for text in texts
              if (found := parse_constraint(text, algorithm, where, problems)) is not None]
    trials = trials if trials is not None else asked.trials if asked else None
    if spec.data is None:
        problems.append(Problem("E240", "a sweep needs data", spec.place("data"), "", "builtin or file",
                                "add [data] with builtin = \"ecg\" or file = \"train.csv\""))
    if space is not None and trials is None and space.size > MOST_POINTS:
        problems.append(Problem("E368", "the grid is too large", "--grid",
                                f"{space.size:,} points", f"{MOST_POINTS:,} points, or a search",
                                "add --trials 1000, or use fewer values"))
    if problems or space is None:
        raise KerncastError(problems)
    first = seed if seed is not None else asked.seed if asked else 0
    return Settings(space, str(base_dir), tuple(names), tuple(limits), trials, first,
                    renamed([*wanted, *texts]))


class SweepRun:
    """Settings and evaluated points of a sweep, from its folder.

    Parameters
    ----------
    folder : Path
    store : Store
        The open store of the folder. It is read only once.

    Attributes
    ----------
    settings : Settings
    baseline : dict of str to float
        ``error`` and ``rms`` of the float64 model for the spec without changes.
    judged_by : str
        Description of the targets with which predictions were compared.
    points : list of Point
        Points of the most recent grid, sorted by their hash.
    """

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        held = store.meta("settings")
        if held is None:
            raise fail("E365", "the folder contains no sweep", where=str(folder),
                       allowed=f"a folder with the {DATABASE} of a sweep",
                       remedy="run: kerncast sweep SPEC -o FOLDER")
        try:
            self.settings = _settings_of(held)
            self.baseline: dict[str, float] = dict(held["baseline"])
            self.judged_by = str(held["judged_by"])
            if any(c.above_float and c.name not in self.baseline for c in self.settings.constraints):
                raise ValueError("a limit is relative to the error of float64, but the sweep has no error of "
                                 "float64")
        except KerncastError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise store.damaged(f"invalid settings: {error!r}") from error
        values = {axis.key: set(axis.values) for axis in self.space.axes}
        self.points = [p for p in store.points().values() if p.inputs.keys() == values.keys()
                       and all(value in values[key] for key, value in p.inputs.items())]

    @property
    def space(self) -> Space:
        """Return the spec as written, and the swept keys with their values."""
        return self.settings.space

    @cached_property
    def front(self) -> list[Point]:
        """Return the Pareto front for the objectives."""
        return of.pareto(self.points, self.settings.objectives)

    @cached_property
    def best(self) -> Point | None:
        """Return the cheapest feasible design; None if there is none."""
        return of.cheapest(self.points, self.settings.constraints, self.baseline, self.settings.objectives)

    def misses(self, point: Point) -> list[of.Miss]:
        """List the constraints that a point violates."""
        return of.misses(point, self.settings.constraints, self.baseline)

    def spec(self, point: Point) -> Spec:
        """Return the spec of a point.

        It can be passed to :func:`~kerncast.sim.planner.make_plan`, or written with ``Spec.to_toml``.
        """
        return self.space.spec(point.inputs)

    @cached_property
    def why(self) -> list[of.CheaperStep]:
        """Return cheaper alternatives to the best design, with the limits they violate.

        These are cheaper values of the swept keys, and shorter formats.
        """
        if self.best is None:
            return []
        s, evaluator, known = self.settings, self.settings.evaluator, {p.key: p for p in self.points}
        around = [known.get(evaluator.key(inputs)) or evaluator.point(inputs)
                  for inputs in of.neighbours(self.space, self.best.inputs)]
        found = of.steps(self.space, self.best, around, s.constraints, self.baseline, s.objectives)
        for key, before, after in shorter_formats(self.space, evaluator, self.best):
            point = evaluator.point({**self.best.inputs, key: after})
            broken = self.misses(point) if point.answers else []
            found.append(of.CheaperStep(key, before, after, point, broken, narrowed=True))
        return found


def shorter_formats(space: Space, evaluator: Evaluator,
                    best: Point) -> list[tuple[str, str | int, str | int]]:
    """Return shorter formats for unswept keys, as (key, value, shorter value)."""
    spec, data = evaluator.spec_and_data(best.inputs)
    uniform = spec.uniform
    found: list[tuple[str, str | int, str | int]] = []
    for table, word in (("input", spec.input.word), ("output", str(spec.output.word))):
        fmt = Format.parse(word)
        if fmt.bits > 2 and not (uniform and table == "input"):
            found.append((f"{table}.word", word, str(Format(fmt.signed, fmt.bits - 1, fmt.frac - 1))))
    if spec.online is not None and not spec.online.reduction.endswith("_f32"):
        alpha = make_plan(spec, data.x_raw, data.y_raw).signals["alpha"].format
        found.append(("numbers.formats.alpha", str(alpha), str(Format(True, alpha.bits, alpha.frac - 1))))
    shorter = {32: 24, 24: 16}.get(spec.numbers.word)
    if shorter is not None:
        found.append(("numbers.word", spec.numbers.word, shorter))
    return [step for step in found if step[0] not in best.inputs]


def open_run(folder: str | Path) -> SweepRun:
    """Read the folder of a sweep.

    Raises E365 if the folder contains no sweep, and E366 if its results cannot be read.
    """
    with opened(Path(folder)) as store:
        return SweepRun(Path(folder), store)


def checked_baseline(evaluator: Evaluator, constraints: Sequence[Constraint]) -> dict[str, float]:
    """Return the errors of the float64 model for the spec without changes.

    Raises E364 if a limit refers to an error of float64, and float64 has no solution.
    """
    baseline = evaluator.baseline()
    against = next((c for c in constraints if c.above_float and c.name not in baseline), None)
    if against is not None:
        raise fail("E364", "float64 has no solution for the spec as written", where="--constraint",
                   value=against.text, allowed="a limit that is a number",
                   remedy="raise lambda in the spec, or replace float by a number")
    return baseline


def run_sweep(settings: Settings, folder: Path, *, jobs: int = 1, scheduler: str | None = None,
              progress: Progress = lambda done, total: None,
              report: Callable[[str], None] = lambda text: None) -> SweepRun:
    """Evaluate the points of a grid or a search, and store every result.

    Parameters
    ----------
    settings : Settings
    folder : Path
        A new or empty folder, or that of an earlier run with the same spec and data, which is resumed.
    jobs : int
        Number of processes.
    scheduler : str, optional
        Address of a dask.distributed cluster, which is used instead of local processes.
    progress : callable, optional
        Progress callback; receives the number of finished points, and the total number.
    report : callable, optional
        Callback for messages; receives one if earlier results were damaged and recovered.

    Raises
    ------
    KerncastError
        E302 if the folder contains other files, E366 if all results are damaged, E367 if they belong to
        another spec, E377 if another sweep is using the folder, E364 if a limit refers to float64 and float64
        has no solution, E262 or E501 if workers are not available; the errors of the spec as written.
    """
    refuse_foreign(folder, ours=any((folder / name).is_file() for name in (DATABASE, LOCK)),
                   allowed="a new or an empty folder, or the folder of an earlier sweep")
    if settings.searches:
        check_search()
    check_workers(jobs, scheduler)
    evaluator = settings.evaluator
    baseline, judged_by = checked_baseline(evaluator, settings.constraints), evaluator.judged_by()
    folder.mkdir(parents=True, exist_ok=True)
    with open_for_writing(folder, report) as store:
        _refuse_another(store, settings, evaluator, folder)
        work = _Work(store, settings, evaluator, baseline, jobs, scheduler, progress)  # reads them all
        store.put(settings=_kept(settings, baseline, judged_by))
        if settings.searches:
            assert settings.trials is not None
            search(settings.space, settings.trials - settings.trials // _TO_DESCEND, settings.seed,
                   settings.objectives, work.over, work.done)
            work.descend(settings.trials)
        else:
            work.done(list(settings.space.grid()))
        return SweepRun(folder, store)


def _kept(settings: Settings, baseline: Mapping[str, float], judged_by: str) -> dict[str, Any]:
    return {"base": settings.space.values, "axes": [[a.key, list(a.values)] for a in settings.space.axes],
            "base_dir": settings.base_dir, "objectives": settings.objectives,
            "constraints": [vars(c) for c in settings.constraints], "trials": settings.trials,
            "seed": settings.seed, "baseline": baseline, "judged_by": judged_by}


def _settings_of(held: Mapping[str, Any]) -> Settings:
    """Restore the settings from their stored form; see :func:`_kept`."""
    check_settings(held)
    space = Space(Spec(**held["base"]), tuple(Axis(key, tuple(values)) for key, values in held["axes"]))
    return Settings(space, held["base_dir"], tuple(map(current_name, held["objectives"])),
                    tuple(Constraint(**c | {"name": current_name(c["name"])}) for c in held["constraints"]),
                    held["trials"], held["seed"])


def _refuse_another(store: Store, settings: Settings, evaluator: Evaluator, folder: Path) -> None:
    """Raise E367 if the folder contains a sweep of another spec, data set or version."""
    mine = [__version__, settings.space.values, evaluator.source]
    held = store.meta("identity")
    if held is None:
        store.put(identity=mine)
    elif not isinstance(held, list) or len(held) != len(mine):
        raise store.damaged("an invalid identity")
    elif held != mine:
        parts = zip(("version of kerncast", "spec", "data"), held, mine, strict=True)
        what = next(name for name, a, b in parts if a != b)
        raise fail("E367", f"the folder contains a sweep of another {what}", where=str(folder), value=what,
                   allowed="a folder with the same spec and data", remedy="name another folder with -o")


class _Work:
    """Evaluated points of a run; new points are evaluated on request."""

    def __init__(self, store: Store, settings: Settings, evaluator: Evaluator, baseline: Mapping[str, float],
                 jobs: int, scheduler: str | None, progress: Progress) -> None:
        self._store, self._settings, self._evaluator, self._baseline = store, settings, evaluator, baseline
        self._jobs, self._scheduler, self._progress = jobs, scheduler, progress
        self._known = {key: p for key, p in store.points().items()
                       if not evaluator.beside_float or not p.answers or "excess" in p.measures}
        self._asked: set[str] = set()

    def over(self, point: Point) -> list[float]:
        """Return the excess of a point over the limit of each constraint."""
        return [c.over(point.measures, self._baseline) for c in self._settings.constraints]

    def done(self, inputs: list[Inputs]) -> list[Point]:
        """Return the results of points in order; new points are evaluated and stored."""
        total = max(len(inputs), self._settings.trials or 0 if self._settings.searches else 0)
        keys = [self._evaluator.key(point) for point in inputs]
        self._asked |= {*keys}
        pending = {key: point for key, point in zip(keys, inputs, strict=True) if key not in self._known}
        # The same spec may have been reached by other keys: it is described by the current ones.
        renamed = [replace(self._known[key], inputs=point) for key, point in zip(keys, inputs, strict=True)
                   if key in self._known and self._known[key].inputs != point]
        self._keep(renamed)
        count = len(self._asked) - len(pending)
        for points in evaluate_points(self._evaluator, list(pending.values()), self._jobs, self._scheduler):
            self._keep(points)
            count += len(points)
            self._progress(count, total)
        return [self._known[key] for key in keys]

    def _keep(self, points: list[Point]) -> None:
        if points:
            self._store.add(points)
            self._known |= {point.key: point for point in points}

    def descend(self, most: int) -> None:
        """Improve the best design of a search in steps that change one key.

        The descent ends when no step is cheaper. Including the points of the search, at most `most` points
        are tried. Points of other runs do not influence the steps. Therefore, a resumed run tries the same
        points.
        """
        s = self._settings
        best = None
        while True:
            tried = (self._known[key] for key in self._asked)
            found = of.cheapest(tried, s.constraints, self._baseline, s.objectives)
            if found is None or found == best:
                return
            best = found
            new = [inputs for inputs in self._cheaper(best) if self._evaluator.key(inputs) not in self._asked]
            self.done(new[:most - len(self._asked)])

    def _cheaper(self, best: Point) -> list[Inputs]:
        """Return designs with a cheaper plan that differ in one key, most expensive first."""
        objectives = self._settings.objectives
        found = []
        for inputs in of.neighbours(self._settings.space, best.inputs):
            with suppress(KerncastError):
                plan = self._evaluator.planned(inputs).plan
                found.append((of.costs(computed(plan), objectives), inputs))
        own = of.costs(best.measures, objectives)
        return [inputs for costs, inputs in sorted(found, key=itemgetter(0), reverse=True) if costs < own]
