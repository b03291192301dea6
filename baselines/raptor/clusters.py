"""RAPTOR's clustering of one layer: global groups, local groups inside each, and smaller ones where the text is long."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveInt
from threadpoolctl import threadpool_limits

from baselines.raptor.partition import GaussianMixtures, Partition
from baselines.raptor.reduction import reduced
from psi.component import Component
from psi.retrieval.cosines import on_grid

log = logging.getLogger(__name__)
Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class Clusters(NamedTuple):
    """Clusters of a layer as ascending positions, in their lexical order; none where nothing can be summarised.

    `too_long` counts those whose text is longer than the limit, because it could not be divided any further.
    """

    members: list[Ids]
    too_long: int


@dataclass(frozen=True, kw_only=True)
class Clustering(Component):
    """Two steps (paper §3): groups of the whole layer, then groups inside each of those, both after UMAP.

    The layer is not clustered if it has at most `dimensions` + 1 distinct vectors, or if there would be no fewer
    clusters than nodes. Nodes of equal vectors share all their clusters.

    partition: what makes groups of points.
    dimensions: of the reduced space.
    local_neighbours: UMAP's neighbourhood in the second step; in the first it is the root of the number of nodes.
    most_tokens: a cluster of longer text is clustered again, as tokens of `splitter.token_starts`.
    rounds: how often at most a cluster is clustered again.
    seed: of UMAP and of the partitions.
    """

    partition: Partition = field(default_factory=GaussianMixtures)
    dimensions: Annotated[int, Field(ge=2)] = 10
    local_neighbours: Annotated[int, Field(ge=2)] = 10
    most_tokens: PositiveInt = 3500
    rounds: NonNegativeInt = 3
    seed: NonNegativeInt = 0

    def clusters(self, vectors: NDArray[np.float32], tokens: Ids | None) -> Clusters:
        """Cluster (n, d) vectors of a layer, whose texts have (n,) tokens; None: its nodes have no text.

        The same on any number of threads.
        """
        points = on_grid(vectors)
        if len(np.unique(points, axis=0)) <= self.dimensions + 1:
            return Clusters([], 0)
        with threadpool_limits(1):  # sums of several threads differ in the last bits
            found = self._divided(points, tokens, np.arange(len(points)), self.rounds + 1)
        members = _distinct(found)
        if len(members) >= len(points):
            log.info("%d nodes would make %d clusters: this layer is the last", len(points), len(members))
            return Clusters([], 0)
        return Clusters(members, sum(self._too_long(tokens, each) for each in members))

    def _divided(self, points: Floats, tokens: Ids | None, nodes: Ids, rounds: int) -> list[Ids]:
        """Clusters of some nodes, and of the long ones among them again, as long as that makes them smaller."""
        found = []
        for part in self._two_steps(points[nodes]):
            smaller = len(part) < len(nodes)
            if smaller and rounds > 1 and self._too_long(tokens, nodes[part]):
                found += self._divided(points, tokens, nodes[part], rounds - 1)
            else:
                found.append(nodes[part])
        return found

    def _two_steps(self, points: Floats) -> list[Ids]:
        distinct, which = np.unique(points, axis=0, return_inverse=True)
        neighbours = max(2, int(np.sqrt(len(distinct) - 1)))
        groups = [
            wide[narrow]
            for wide in self._groups(distinct, neighbours)
            for narrow in self._groups(distinct[wide], self.local_neighbours)
        ]
        return [np.flatnonzero(np.isin(which, group)) for group in _distinct(groups)]

    def _groups(self, points: Floats, neighbours: int) -> list[Ids]:
        if len(points) <= self.dimensions + 1:
            return [np.arange(len(points))]
        return self.partition.groups(reduced(points, neighbours, self.dimensions, self.seed), self.seed)

    def _too_long(self, tokens: Ids | None, nodes: Ids) -> bool:
        return tokens is not None and len(nodes) > 1 and int(tokens[nodes].sum()) > self.most_tokens


def _distinct(clusters: Iterable[Ids]) -> list[Ids]:
    return [np.array(each, dtype=np.int64) for each in sorted({tuple(cluster.tolist()) for cluster in clusters})]
