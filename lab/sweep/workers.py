"""lab.sweep: end worker processes with their parent."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from threading import Thread
from time import sleep

#: Seconds between two looks at the parent.
_LOOK = 1.0


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block.

    Processes that start in the block ignore Ctrl-C: they inherit the signal mask of the thread that starts
    them. A terminal sends Ctrl-C to workers, too, which would print a traceback. On Windows, which has no
    signal masks, nothing is changed.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # the first process of multiprocessing, whose start clears the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Ignore Ctrl-C, and end with the parent process, even after SIGKILL.

    Windows always reports the original parent, so there a worker ends after a long idle time, as joblib's
    workers do.

    Parameters
    ----------
    parent : int
        Process ID of the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        sleep(_LOOK)
    os._exit(1)
