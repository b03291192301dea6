"""A limit on the wall time of one start, all the cells of a sweep together."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from psi.errors import TimeLimitError

STARTED = "PSI_STARTED"  # environment variable: seconds since 1970 at which the sweep began, for all its processes


@contextlib.contextmanager
def deadline(hours: float | None) -> Iterator[None]:
    """Interrupt the block when the start is as old as this; None: never.

    Stages keep what they have finished, so the next start goes on there.

    Raises:
        TimeLimitError: inside the block, where the time is over.
    """
    if hours is None or threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread alone
        return
    left = float(os.environ.get(STARTED, time.time())) + 3600 * hours - time.time()

    def over(_: int, __: FrameType | None) -> None:
        raise TimeLimitError(f"max_hours={hours:g} are over. Start again to go on: finished work is kept.")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
