"""Trained weights: an encoder, the scalars of its layers and heads, and the threshold that was chosen with them."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from baselines.sproutrag.encoder import Encoder
from psi.component import Component
from psi.errors import ConfigError
from psi.store import Artifact, Store, open_artifact

STAGE = "sprout_training"
ENCODER, SCALARS, CHOICE = "encoder", "scalars.npy", "choice.json"


class Trained(NamedTuple):
    """The encoder with trained weights; (layers * heads,) scalars, None where none were trained; the threshold δ."""

    encoder: Encoder
    scalars: NDArray[np.float64] | None
    threshold: float


@runtime_checkable
class TrainedSource(Protocol):
    """Where trained weights come from."""

    def obtain(self, encoder: Encoder, store: Store) -> Trained:
        """The weights trained from this encoder: found, or trained now."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes the weights, as JSON data."""
        ...


@dataclass(frozen=True, kw_only=True)
class StoredTraining(Component):
    """Weights that were trained elsewhere.

    folder: what the training printed: `STORE/stages/sprout_training/...`, perhaps copied. What counts for the identity
        is the digest of the training.
    """

    folder: str = field(metadata={"identity": False})

    def identity(self) -> dict[str, Any]:
        """The digest of the training."""
        return {**super().identity(), "training": self._artifact.digest}

    def obtain(self, encoder: Encoder, store: Store) -> Trained:
        """Open the folder.

        Raises:
            ConfigError: the folder holds no training, or one of another encoder.
            StoreError: it is damaged.
        """
        if self._artifact.manifest["config"]["encoder"] != encoder.identity():
            raise ConfigError(f"{self.folder} was trained from another encoder or with other windows than configured.")
        return opened(self._artifact, encoder)

    @cached_property
    def _artifact(self) -> Artifact:
        artifact = open_artifact(Path(self.folder))
        if artifact.manifest["stage"] != STAGE:
            raise ConfigError(f"{self.folder} is the output of the stage {artifact.manifest['stage']}, not of {STAGE}.")
        return artifact


def opened(artifact: Artifact, encoder: Encoder) -> Trained:
    """The weights of a finished training."""
    choice = json.loads((artifact.path / CHOICE).read_text(encoding="utf-8"))
    folder = str((artifact.path / ENCODER).resolve())
    return Trained(
        dataclasses.replace(encoder, weights=artifact.digest, folder=folder),
        np.load(artifact.path / SCALARS, allow_pickle=False),
        float(choice["threshold"]),
    )
