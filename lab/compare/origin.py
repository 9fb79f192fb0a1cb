"""lab: derive a plan again from its spec, its samples and its trained model.

A plan contains sizes and names that appear in generated code. A forged plan could therefore run foreign code
on another machine. In contrast, a spec, samples and a trained model are only data, and are strictly
validated.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...codegen.generate import SPEC
from ...sim._files import MAX_SPEC, read_text
from ...sim._output_files import write_whole
from ...sim.backend import Raw
from ...sim.data.predictor_file import is_inside, model_file
from ...sim.diagnostics.simulate import grid
from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.replay.vectors import Vectors, arrays
from ...sim.spec import Spec


@dataclass(frozen=True)
class Origin:
    """Inputs from which a plan is derived.

    Parameters
    ----------
    spec : str
        The text of the spec.
    x_raw, y_raw : ndarray of int64 or None
        Samples from which the plan was made, as ADC counts of shapes (m, D) and (m,).
    model : str or None
        Contents of the trained model's file, if the spec refers to one.
    """

    spec: str
    x_raw: Raw | None
    y_raw: Raw | None
    model: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the origin as a dictionary for JSON."""
        return {"spec": self.spec, "x": None if self.x_raw is None else self.x_raw.tolist(),
                "y": None if self.y_raw is None else self.y_raw.tolist(), "model": self.model}

    @classmethod
    def from_dict(cls, written: dict[str, Any]) -> Origin:
        """Build an origin from the result of :meth:`as_dict`.

        Raises KeyError, TypeError or ValueError if it is invalid.
        """
        model = written["model"]
        found = arrays({key: written[key] for key in ("x", "y") if written[key] is not None})
        if not isinstance(written["spec"], str) or not isinstance(model, str | None):
            raise TypeError("the origin of the plan is not text")
        return cls(written["spec"], found.get("x"), found.get("y"), model)

    def plan(self) -> Plan:
        """Derive the plan.

        Raises E214 if the spec refers to a trained model that is not part of the origin, and the errors of
        :func:`~kerncast.sim.planner.make_plan`.
        """
        with tempfile.TemporaryDirectory(prefix="kerncast-") as made:
            folder = Path(made)
            (folder / SPEC).write_text(self.spec, encoding="utf-8")
            spec = Spec.load(folder / SPEC)
            if spec.predictor is not None:
                if self.model is None or not is_inside(spec.predictor.file):  # read no file of this machine
                    raise fail("E214", "the trained model of the plan is not part of the recording",
                               where="[predictor] file", value=spec.predictor.file,
                               allowed="a model in the folder of its spec, or below it",
                               remedy="move the model there, and generate and record again")
                write_whole(folder / spec.predictor.file, self.model)
                spec = Spec.load(folder / SPEC)
            return make_plan(spec, self.x_raw, self.y_raw)


def planning_samples(plan: Plan, vectors: Vectors) -> tuple[Raw | None, Raw | None]:
    """Return the samples from which a plan was derived.

    These are the samples of the first training or update or, for a model trained elsewhere, of the first
    prediction.
    """
    if plan.fixed:
        return vectors.calls[0].x_raw, None
    for call in vectors.calls:
        if call.y_raw is not None:
            return grid(plan) if call.x_raw is None else call.x_raw, call.y_raw
    return None, None


def origin_of(folder: Path, plan: Plan, vectors: Vectors | None) -> Origin | None:
    """Return the origin of a generated folder's plan; None if it is not known.

    Parameters
    ----------
    folder : Path
        A folder that ``kerncast gen`` wrote.
    plan : Plan
        The folder's plan. If the plan derived from the stored inputs differs from it, the result is None.
    vectors : Vectors or None
        The test vectors of the folder, which contain the samples.
    """
    if not (folder / SPEC).is_file():
        return None
    spec = Spec.load(folder / SPEC)
    x, y = (None, None) if vectors is None else planning_samples(plan, vectors)
    model = next(iter(model_file(spec).values()), None)
    if spec.predictor is not None and model is None:
        return None
    origin = Origin(read_text(folder / SPEC, MAX_SPEC), x, y, model)
    return origin if origin.plan().hash == plan.hash else None
