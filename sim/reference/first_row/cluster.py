"""sim.reference.first_row: run tasks on a dask.distributed cluster."""

from __future__ import annotations

import logging
import re
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from ..._optional import missing
from ...errors import KerncastError, fail

N = TypeVar("N")
T = TypeVar("T")

# Seconds to wait for the scheduler to speak, and for its first worker.
_PROBE, _PATIENCE = 1, 10
# Submitted tasks per thread of the cluster: enough to keep it busy, few enough to bound the memory.
_AHEAD = 2
# What dask.distributed can call, without a client that is hard to end if it cannot.
_ADDRESS = re.compile(r"(?:(?P<scheme>tcp|tls|wss?)://)?(?P<host>[\w.-]+|\[[0-9a-fA-F:.%\w]+\]):(?P<port>\d{1,5})/?"
                      r"|inproc://[\w.:]+/\d+/\d+", re.ASCII)
# E262 contains the message of distributed about a lost cluster; tornado repeats it.
_LOGGERS = ("distributed", "tornado.application")


def on_cluster(address: str, make: Callable[..., Any], data: tuple[Any, ...], task: Callable[[Any, N], T],
               numbers: Iterable[N]) -> Iterator[T]:
    """Run tasks on workers; yield ``task(make(*data), number)`` in order of numbers.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``tcp://10.0.0.1:8786``.
    make : callable
        Function that creates the first argument of all tasks; it runs once, on a worker.
    data : tuple
        Arguments of `make`, which are sent to the cluster once.
    task : callable
        Function that runs on the workers.
    numbers : iterable
        Second argument of each task.

    Yields
    ------
    T
        The result of each task.

    Raises
    ------
    KerncastError
        E262 if the scheduler or its workers do not respond or are lost, E501 if dask.distributed is not
        installed.
    """
    check_scheduler(address)
    distributed: Any = import_module("distributed")
    lost = (OSError, TimeoutError, distributed.KilledWorker, distributed.CancelledError)
    with _quiet():
        try:
            client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (*lost, ValueError, TypeError) as error:
            raise _unreachable(address, error) from error
        yield from _results(client, address, lost, make, data, task, numbers)


def check_scheduler(address: str) -> None:
    """Raise E262 immediately if no scheduler responds at an address.

    Raise E501 if dask.distributed is not installed.
    """
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise missing("a cluster needs", "distributed", "python -m pip install distributed",
                      "scheduler") from None
    _probe(address, distributed)


def _results(client: Any, address: str, lost: tuple[type[BaseException], ...], make: Callable[..., Any],
             data: tuple[Any, ...], task: Callable[[Any, N], T], numbers: Iterable[N]) -> Iterator[T]:
    """Submit the tasks, several of them in advance, and yield the results in order."""
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


def _probe(address: str, distributed: Any) -> None:
    """Reject an address immediately if it is not valid or has no scheduler.

    Without this check, the client of dask would retry a refused connection until its timeout, would wait
    forever for a server that accepts connections but does not reply, and would leave a thread and a traceback
    if it cannot be created.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found["port"] or 0) > 65_535:
        raise _unreachable(address, ValueError("not tcp://HOST:PORT"))
    if found["host"] is None:  # a cluster in this process
        return
    try:
        place = found["host"].strip("[]"), int(found["port"])
        encrypt = _encryption(distributed) if found["scheme"] in ("tls", "wss") else lambda line: line
        with socket.create_connection(place, timeout=_PROBE) as plain, encrypt(plain) as line:
            if found["scheme"] in (None, "tcp", "tls") and not line.recv(1):  # a scheduler speaks first
                raise ConnectionError("the connection was closed")
    except (OSError, UnicodeError) as error:
        raise _unreachable(address, error) from error


def _encryption(distributed: Any) -> Callable[[socket.socket], socket.socket]:
    """Return the function that encrypts connections if dask is configured to do so."""
    context = distributed.Security().get_connection_args("client").get("ssl_context")
    if context is None:
        raise OSError("TLS needs certificates: distributed.comm.tls in the configuration of dask")
    return lambda line: context.wrap_socket(line)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the loggers of the cluster libraries, because E262 reports the cause."""
    loggers = [logging.getLogger(name) for name in (*_LOGGERS, *logging.root.manager.loggerDict)
               if name.startswith(_LOGGERS)]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _unreachable(address: str, error: BaseException) -> KerncastError:
    return fail("E262", f"the scheduler or its workers do not respond ({error})", where="scheduler",
                value=address,
                allowed="the address of a dask.distributed scheduler with a worker, tcp://HOST:PORT",
                remedy="start a scheduler and workers that have kerncast installed")
