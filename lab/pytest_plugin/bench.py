"""lab: load generated folders, and keep back ends open between tests."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ...codegen.generate import generate, load_plan, load_vectors
from ...hw.backends import open_backend
from ...sim.backend import Backend
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.replay.vectors import Vectors, limit_predictions
from ...sim.spec import Spec
from ..compare.ledger import Row, replay_on
from ..workflow import plan_and_vectors

#: Back ends that are open at a time: each may be a process, and each holds a built image.
_OPEN = 4


@dataclass(frozen=True)
class Material:
    """Generated folder with its plan, and its vectors if there are any."""

    folder: Path
    plan: Plan
    vectors: Vectors | None


class Bench:
    """Open back ends of a test run. Consecutive tests share one build.

    Parameters
    ----------
    flash : str
        Tool that flashes physical boards, ``auto``, or empty if they are flashed already.
    predictions : int
        Maximum number of predictions in each call of the vectors; 0 for all.
    """

    def __init__(self, flash: str = "", predictions: int = 0) -> None:
        self._flash, self._predictions = flash, predictions
        self._work = tempfile.TemporaryDirectory(prefix="kerncast-pytest-")
        self._materials: dict[Path, Material] = {}
        self._open: dict[tuple[Path, str], Backend] = {}

    def material(self, source: Path) -> Material:
        """Return the plan and the vectors of a generated folder or a spec.

        Code is generated for a spec. The results are cached.

        Raises
        ------
        KerncastError
            E305 if kerncast did not generate the folder, E309 if the vectors belong to another plan; the
            errors of the spec.
        """
        if source not in self._materials:
            self._materials[source] = self._generated(source) if source.is_file() else self._read(source)
        return self._materials[source]

    def _generated(self, source: Path) -> Material:
        spec = Spec.load(source)
        plan, vectors = plan_and_vectors(spec, source.parent)
        folder = Path(self._work.name) / f"source-{len(self._materials)}"
        generate(plan, folder, spec.target.id, vectors=vectors, spec=spec)
        return Material(folder, plan, self._shortened(vectors))

    def _read(self, source: Path) -> Material:
        plan, vectors = load_plan(source)[0], load_vectors(source)
        if vectors is not None:
            vectors.check(plan, str(source))
        return Material(source, plan, self._shortened(vectors))

    def _shortened(self, vectors: Vectors | None) -> Vectors | None:
        return limit_predictions(vectors, self._predictions) if vectors and self._predictions else vectors

    def open(self, source: Path, target: str) -> Backend:
        """Return a back end in its initial state; it is built unless it is still open.

        Raises
        ------
        KerncastError
            The errors of :meth:`material` and of :func:`~kerncast.hw.backends.open_backend`.
        """
        material = self.material(source)
        key = material.folder, target
        backend = self._open.pop(key, None)
        if backend is not None:
            try:
                backend.reset()
            except KerncastError:  # it broke in the test before
                backend.close()
                backend = None
        if backend is None:
            self._evict_port(target)
            build = Path(self._work.name) / f"build-{list(self._materials).index(source)}"
            backend = open_backend(
                material.plan, target, source=material.folder, build_dir=self._with_zig_cache(build),
                state=material.vectors.state if material.vectors else None, flash=self._flash)
        self._open[key] = backend  # the last one used is the last to go
        return backend

    def _evict_port(self, target: str) -> None:
        """Close the back ends on the same port; if too many are open, also the oldest.

        The oldest back ends are those that were used least recently.
        """
        def port(name: str) -> str:
            kind, _, rest = name.partition(":")
            return rest.rpartition("@")[2] if kind == "board" else ""

        for key in [key for key in self._open if port(target) and port(key[1]) == port(target)]:
            self._open.pop(key).close()
        while len(self._open) >= _OPEN:
            self._open.pop(next(iter(self._open))).close()

    def _with_zig_cache(self, build: Path) -> Path:
        """Return a build folder for images, with a zig cache that all builds share.

        Therefore, zig compiles its runtime library only once.
        """
        cache = Path(self._work.name) / "zig-cache"
        cache.mkdir(exist_ok=True)
        build.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (build / "zig-cache").symlink_to(cache, target_is_directory=True)
        return build

    def replay(self, source: Path, target: str, vectors: Vectors | None = None) -> Row:
        """Replay vectors on a back end, and compare every value.

        By default, the vectors are those of the folder. Raises E308 if it contains none.
        """
        chosen = vectors or self.material(source).vectors
        if chosen is None:
            raise fail("E308", "the folder contains no test vectors", where=str(source),
                       allowed="a folder generated from a spec with [data]",
                       remedy="add [data] to the spec, and generate the folder again")
        return replay_on(self.open(source, target), chosen)

    def close(self) -> None:
        """Close all back ends, and remove their builds."""
        while self._open:
            self._open.popitem()[1].close()
        self._work.cleanup()
