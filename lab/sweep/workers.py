"""lab.sweep: end worker processes when their parent process ends."""

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

    Processes that are started in the block ignore Ctrl-C, because they inherit the signal mask of the thread
    that starts them. Otherwise, the workers would receive the signal from the terminal, too, and would print
    a traceback. The function has no effect on Windows, which has no signal masks.
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
    """Ignore Ctrl-C, and end this process when its parent ends or is killed.

    On Windows, the end of the parent is not detected. There, a worker ends after a long idle time, as usual
    for joblib.

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
