"""Several servers of one model: calls go to the least busy one that works."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psi.errors import ModelError

if TYPE_CHECKING:
    from openai import OpenAI

REST = 30.0
"""Seconds for which a server that failed is asked only where all others failed too."""


@dataclass
class Endpoint:
    """One server: its client, the calls under way, and until when (monotonic seconds) it is left in peace."""

    address: str
    client: OpenAI
    busy: int = 0
    resting_until: float = 0.0


class Endpoints:
    """Servers of one model, for any number of threads."""

    def __init__(self, addresses: Sequence[str], connect: Callable[[str], OpenAI]):
        self._endpoints = [Endpoint(address, connect(address)) for address in addresses]
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[Endpoint]:
        """A server for one call. If the call fails as only a broken server makes it fail, the server rests."""
        with self._lock:
            now = time.monotonic()
            endpoint = min(self._endpoints, key=lambda each: (max(each.resting_until, now), each.busy))
            endpoint.busy += 1
        try:
            yield endpoint
        finally:
            with self._lock:
                endpoint.busy -= 1

    def failed(self, endpoint: Endpoint, failure: ModelError) -> bool:
        """Take note of a failure; True where another server can be asked at once."""
        broken = failure.kind in ("connection", "timeout") or failure.kind.startswith("http_5")
        with self._lock:
            now = time.monotonic()
            if broken:
                endpoint.resting_until = now + REST
            return broken and any(each.resting_until <= now for each in self._endpoints)

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self._endpoints)
