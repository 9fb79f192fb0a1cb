"""sim.reference.first_row: tasks on a dask.distributed cluster, with results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, TypeVar

from ..._optional import missing
from ...errors import KerncastError, fail

N = TypeVar("N")
T = TypeVar("T")

# Seconds to wait for the scheduler, and for its first worker.
_PATIENCE = 10
# Submitted tasks per thread of the cluster: enough to keep it busy, few enough to bound the memory.
_AHEAD = 2


def on_cluster(address: str, make: Callable[..., Any], data: tuple[Any, ...], task: Callable[[Any, N], T],
               numbers: Iterable[N]) -> Iterator[T]:
    """Yield ``task(make(*data), number)`` for all numbers in order, computed by workers.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``tcp://10.0.0.1:8786``.
    make : callable
        Creates the first argument of every task; it runs once, on a worker.
    data : tuple
        Its arguments; they are sent to the cluster once.
    task : callable
    numbers : iterable

    Yields
    ------
    T

    Raises
    ------
    KerncastError
        E262 if scheduler or workers do not respond or are lost, E501 without dask.distributed.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise missing("a cluster needs", "distributed", "python -m pip install distributed",
                      "scheduler") from None
    lost = (OSError, TimeoutError, distributed.KilledWorker, distributed.CancelledError)
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (*lost, ValueError) as error:
        raise _unreachable(address, error) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
            shared = client.submit(make, *(client.scatter(part) for part in data), pure=False)
            ahead = _AHEAD * sum(client.nthreads().values())
            waiting: deque[Any] = deque()
            for number in numbers:
                waiting.append(client.submit(task, shared, number, pure=False))
                if len(waiting) >= ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except lost as error:
            raise _unreachable(address, error) from error


def _unreachable(address: str, error: BaseException) -> KerncastError:
    return fail("E262", "the scheduler or its workers do not respond", where="scheduler", value=address,
                allowed="the address of a dask.distributed scheduler with a worker, tcp://HOST:PORT",
                remedy=f"start both, with kerncast installed on the workers ({error})")
