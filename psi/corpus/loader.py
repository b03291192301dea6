"""What every dataset loader offers: one component a kind of data, in one file, with one YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from psi.corpus.records import Benchmark


@runtime_checkable
class Loader(Protocol):
    """A source of one benchmark."""

    def load(self) -> Benchmark:
        """Read (or generate) the benchmark."""
        ...

    def fingerprint(self) -> Mapping[str, str]:
        """sha256 of every source file by name, without parsing them; for generated data, the version of the generator.

        Together with `identity()` it decides whether a stored benchmark is still the right one.
        """
        ...

    def identity(self) -> dict[str, Any]:
        """The loader's settings, as JSON data."""
        ...
