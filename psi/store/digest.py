"""Digests: one canonical way to turn plain data and files into sha256."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical(data: Any) -> bytes:
    """JSON with sorted keys, no spaces and ASCII only: equal data gives equal bytes on every machine.

    Raises:
        ValueError: NaN or infinity; they have no place in a configuration.
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest(data: Any) -> str:
    """sha256 of plain data, in hex."""
    return hashlib.sha256(canonical(data)).hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
