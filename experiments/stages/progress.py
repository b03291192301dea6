"""The one progress bar: count, rate, time left, failures."""

from __future__ import annotations

from typing import Any

from tqdm import tqdm


def progress(what: str, total: int, *, done: int = 0) -> tqdm[Any]:
    """A bar on standard error that leaves nothing behind when it ends."""
    return tqdm(total=total, initial=done, desc=what, unit="question", dynamic_ncols=True, mininterval=0.5, leave=False)
