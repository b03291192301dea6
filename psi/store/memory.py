"""The most memory that a piece of work took, also where another piece is done inside it."""

from __future__ import annotations

import contextlib
import re
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_RESET = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


@dataclass
class Memory:
    """Bytes at the most: of this process in main memory, and of its tensors on the GPU (0: none)."""

    main: int = 0
    gpu: int = 0

    def raise_to(self, other: Memory) -> None:
        """Take over what is larger."""
        self.main, self.gpu = max(self.main, other.main), max(self.gpu, other.gpu)


class Peaks:
    """Watches peaks of nested pieces of work: that of an outer one is never below that of an inner one.

    Where the system cannot reset its record (no /proc), the peak is that of the whole process so far.
    """

    def __init__(self) -> None:
        self._open: list[Memory] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[Memory]:
        """A record that is complete when the block ends."""
        self._note()
        own = Memory()
        self._open.append(own)
        _reset()
        try:
            yield own
        finally:
            self._note()
            self._open.pop()

    def _note(self) -> None:
        """Bring all open records up to date; a reset forgets."""
        now = Memory(_main_peak(), _gpu_peak())
        for each in self._open:
            each.raise_to(now)


def _reset() -> None:
    with contextlib.suppress(OSError):
        _RESET.write_text("5", encoding="ascii")
    if (cuda := _cuda()) is not None:
        cuda.reset_peak_memory_stats()


def _main_peak() -> int:
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", _STATUS.read_text(encoding="ascii"))
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _gpu_peak() -> int:
    cuda = _cuda()
    return 0 if cuda is None else int(cuda.max_memory_allocated())


def _cuda() -> Any:
    """torch.cuda where work uses it already: asking must not start it."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return cuda if cuda is not None and cuda.is_initialized() else None
