"""RAPTOR's layers from vectors alone: clusters as in its index, nodes described by the mean of their children."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from baselines.raptor.clusters import Clustering
from psi.component import Component
from psi.tree import Layers, unit_rows


@dataclass(frozen=True, kw_only=True)
class RaptorLayers(Component):
    """A builder of hierarchies for studies, which compare trees without a language model (paper §3).

    most_layers: above the leaves.
    """

    name: str = "RAPTOR"
    clustering: Clustering = field(default_factory=Clustering)
    most_layers: PositiveInt = 5

    def build(self, vectors: NDArray[np.float32], seed: int) -> Layers:
        """The layers over (n, d) vectors; the seed takes the place of the clustering's own."""
        clustering = dataclasses.replace(self.clustering, seed=seed)
        below, layers = unit_rows(vectors), list[list[NDArray[np.int64]]]()
        while len(layers) < self.most_layers:
            clusters = clustering.clusters(below, None).members
            if not clusters:
                break
            layers.append(clusters)
            below = unit_rows(np.stack([below[cluster].mean(axis=0) for cluster in clusters]))
        return Layers.of(len(vectors), layers)
