"""The hop discriminator: how many passages a question needs, told from its embedding (paper, appendix C)."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psi.component import Component
from psi.errors import ConfigError, StoreError
from psi.models.protocols import Embedder
from psi.models.vectors import checked_vectors
from psi.store import file_digest

SCHEMA = 1
MOST_HOPS = 4
"""Classes are 1 to this many hops; questions that need more count as this."""
RECORD, WEIGHTS = "hops.json", "weights.npz"


class HopWeights(NamedTuple):
    """Two layers: (d, hidden) and (hidden, classes), with their biases."""

    first: NDArray[np.float32]
    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]

    def hops(self, vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        """(n,) most probable number of hops of (n, d) question vectors; ties go to the smaller number."""
        hidden = np.maximum(_unit(vectors) @ self.first.astype(np.float64) + self.first_bias, 0)
        found: NDArray[np.int64] = (hidden @ self.second.astype(np.float64) + self.second_bias).argmax(axis=1) + 1
        return found


@dataclass(frozen=True, kw_only=True)
class HopDiscriminator(Component):
    """Predicts hops with stored weights, which hold for the embedder that they were trained with and for no other.

    folder: where `python -m experiments.hops` put them; what counts for the identity is what they are.
    """

    embedder: Embedder
    folder: str = field(metadata={"identity": False})

    def identity(self) -> dict[str, Any]:
        """The embedder and the digest of the weights."""
        return {**super().identity(), "weights": self.record["weights"]}

    def budgets(self, questions: Sequence[str]) -> list[int]:
        """Extra retrievals for each question: one retrieval a predicted hop, the first of which is no extra one."""
        return [hops - 1 for hops in self.hops(questions)]

    def hops(self, questions: Sequence[str]) -> list[int]:
        """The predicted number of hops of each question, 1 to 4."""
        weights = self._weights
        if not questions:
            return []
        vectors = checked_vectors(self.embedder.encode_questions(questions), questions, len(weights.first))
        return [int(hops) for hops in weights.hops(vectors)]

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """What is known about the weights: embedder, training data, accuracy.

        Raises:
            StoreError: there is none, or it can't be read.
            ConfigError: the weights belong to another embedder.
        """
        path = Path(self.folder) / RECORD
        try:
            record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{path}: no hop discriminator can be read ({error}). Train one with `python -m experiments.hops`."
            ) from error
        if record.get("schema") != SCHEMA:
            raise StoreError(f"{path} has another format. Train it again with `python -m experiments.hops`.")
        self._check_embedder(record["embedder"])
        return record

    @cached_property
    def _weights(self) -> HopWeights:
        expected, path = self.record["weights"], Path(self.folder) / WEIGHTS
        if not path.exists() or file_digest(path) != expected:
            raise StoreError(f"{path} is missing or altered. Train it again with `python -m experiments.hops`.")
        with np.load(path, allow_pickle=False) as arrays:
            return HopWeights(**{name: arrays[name] for name in HopWeights._fields})

    def _check_embedder(self, trained: Mapping[str, Any]) -> None:
        ours = self.embedder.identity()
        if trained == ours:
            return
        differing = sorted(key for key in {*trained, *ours} if trained.get(key) != ours.get(key))
        told = ", ".join(f"{key}: {trained.get(key)!r}, here {ours.get(key)!r}" for key in differing)
        raise ConfigError(
            f"the hop discriminator in {self.folder} was trained with another embedder ({told}). Train one for this "
            "embedder with `python -m experiments.hops embedder=...`."
        )


def save_discriminator(folder: Path, weights: HopWeights, record: Mapping[str, Any]) -> None:
    """Write weights and record; equal ones give equal bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **weights._asdict())
    _replace(folder / WEIGHTS, content.getvalue())
    whole = {"schema": SCHEMA, "weights": file_digest(folder / WEIGHTS), **record}
    # last: a record always speaks of the weights beside it, or is found not to by their digest
    _replace(folder / RECORD, json.dumps(whole, indent=1, sort_keys=True).encode())


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: NDArray[np.float64] = wide / np.where(lengths > 0, lengths, 1.0)
    return unit
