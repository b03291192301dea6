"""The one progress bar: count, rate, time left, failures."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm


def progress(what: str, total: int, *, done: int = 0) -> tqdm[Any]:
    """A bar on standard error that leaves nothing behind when it ends; in a file, a line a minute at most."""
    live = sys.stderr.isatty()
    return tqdm(
        total=total, initial=done, desc=what, unit="question", dynamic_ncols=True, leave=False,
        mininterval=0.5 if live else 60, maxinterval=10 if live else 60, delay=0 if live else 60,
    )  # fmt: skip
