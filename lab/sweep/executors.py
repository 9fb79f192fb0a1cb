"""lab.sweep: evaluate points in local processes or on a cluster.

The results do not depend on where the points are evaluated.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from typing import Any

from ...sim._optional import missing
from ...sim.reference.first_row.cluster import check_scheduler, on_cluster
from .evaluate import Evaluator, Point
from .space import Inputs
from .workers import defer_interrupts, end_with_parent

#: Points that a worker takes at once, at most: some tens of milliseconds.
CHUNK = 16
#: Chunks per worker for few points, such as a batch of a search; a cluster reports too late
#: how many it has.
_EACH, _ON_CLUSTER = 2, 16
#: Processes at most, whatever --jobs asks for; nor are there more than points.
MAX_JOBS = 256


def evaluate_points(evaluator: Evaluator, points: Sequence[Inputs], jobs: int = 1,
              scheduler: str | None = None) -> Iterator[list[Point]]:
    """Evaluate points; yield lists of results as they are finished, in any order.

    Parameters
    ----------
    evaluator : Evaluator
    points : sequence of dict
        Inputs of the points.
    jobs : int
        Number of processes on this machine.
    scheduler : str, optional
        Address of a dask.distributed cluster, which is used instead of local processes.

    Raises
    ------
    KerncastError
        E262 if the cluster does not respond, E501 if joblib or distributed is not installed.
    """
    if not points:
        return
    if scheduler is None and jobs == 1:
        for inputs in points:
            yield [evaluator.point(inputs)]
        return
    evaluator.load(points)
    jobs = min(jobs, len(points), MAX_JOBS)
    chunks = cut(points, _ON_CLUSTER if scheduler is not None else _EACH * max(jobs, 1))
    if scheduler is not None:
        yield from on_cluster(scheduler, _itself, (evaluator,), _chunk, chunks)
    else:
        yield from _on_processes(evaluator, chunks, jobs)


def cut(points: Sequence[Inputs], parts: int) -> list[Sequence[Inputs]]:
    """Divide points into chunks of at most CHUNK points.

    If possible, there are at least `parts` chunks.
    """
    size = min(CHUNK, -(-len(points) // parts))
    return [points[at:at + size] for at in range(0, len(points), size)]


def check_workers(jobs: int, scheduler: str | None) -> None:
    """Raise E262 or E501 if the workers are not available."""
    if scheduler is not None:
        check_scheduler(scheduler)
    elif jobs > 1:
        check_processes()


def check_processes() -> Any:
    """Return the joblib module; raise E501 if it is not installed."""
    try:
        return import_module("joblib")
    except ImportError:
        raise missing("evaluation in several processes needs", "joblib", "python -m pip install joblib",
                      "--jobs") from None


def _on_processes(evaluator: Evaluator, chunks: list[Sequence[Inputs]], jobs: int) -> Iterator[list[Point]]:
    joblib = check_processes()
    # What waits is sent early, but not all of it: an interruption waits for what was sent.
    run = joblib.Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1,
                          pre_dispatch="2*n_jobs", initializer=end_with_parent, initargs=(os.getpid(),))
    with ExitStack() as stack:
        with defer_interrupts():
            found = run(joblib.delayed(_chunk)(evaluator, chunk) for chunk in chunks)
            stack.callback(_end, found)
        yield from found


def _end(found: Generator[list[Point], None, None]) -> None:
    """Cancel pending evaluations after an interruption, without printing warnings."""
    _ignore_lost_keys()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found.close()


@cache
def _ignore_lost_keys() -> None:
    """Suppress a KeyError that a thread of loky may raise for cancelled evaluations.

    The thread may outlive the run. Therefore, the exception hook is not removed.
    """
    told = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if not (args.exc_type is KeyError and args.thread and args.thread.name.startswith("ExecutorManager")):
            told(args)

    threading.excepthook = hook


def _itself(evaluator: Evaluator) -> Evaluator:
    return evaluator


def _chunk(evaluator: Evaluator, chunk: Sequence[Inputs]) -> list[Point]:
    """Evaluate the points of a chunk, in a worker process."""
    return [evaluator.point(inputs) for inputs in chunk]
