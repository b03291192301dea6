"""How node embeddings are learned from the graph itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from baselines.gor.graph import RecordGraph
from psi.component import Component
from psi.models.repeatable import repeatable
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.links import best_of_rows

if TYPE_CHECKING:
    from baselines.gor.network import Edges, Network, Task


class Learned(NamedTuple):
    """(n_nodes, d) embeddings, and the losses of the last epoch."""

    vectors: NDArray[np.float32]
    contrastive_loss: float
    ranking_loss: float


@dataclass(frozen=True, kw_only=True)
class GraphTraining(Component):
    """A graph attention network trained on the simulated queries alone (paper §3.2, §3.3).

    A node's relevance to a query is the cosine of its text with the chunk that the query was written from. Adam with
    a cosine schedule, all queries in each step. Equal graphs and settings give equal bits on one machine, whatever the
    number of threads.

    layers, heads: of the network; each head is as wide as the vectors.
    dropout, attention_dropout: shares dropped of features and of attention.
    epochs, learning_rate: steps, and the rate of the first.
    ranking_weight: of the ranking loss against the contrastive one.
    ranked: most relevant nodes of a query that the ranking loss compares in pairs.
    seed: of weights and dropout.
    """

    layers: PositiveInt = 2
    heads: PositiveInt = 4
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    attention_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    epochs: PositiveInt = 150
    learning_rate: PositiveFloat = 1e-3
    ranking_weight: NonNegativeFloat = 0.9
    ranked: PositiveInt = 200
    seed: NonNegativeInt = 0

    def learned(self, graph: RecordGraph) -> Learned:
        """Train, and embed the nodes."""
        import torch

        from baselines.gor.network import Network, Shape, edges_of

        parents = np.repeat(np.arange(len(graph.vectors)), np.diff(graph.child_offsets))
        edges = edges_of(graph.child_ids, parents, len(graph.vectors))
        nodes = torch.from_numpy(on_grid(graph.vectors).astype(np.float32))
        with repeatable(self.seed):
            shape = Shape(self.layers, self.heads, self.dropout, self.attention_dropout)
            network = Network(nodes.shape[1], shape)
            contrast, ranking = self._fit(network, nodes, edges, self._task(graph))
            network.eval()
            with torch.inference_mode():
                return Learned(network(nodes, edges).numpy().copy(), contrast, ranking)

    def _task(self, graph: RecordGraph) -> Task:
        import torch

        from baselines.gor.network import Task

        points = on_grid(graph.vectors)
        relevance = cosines(points[graph.sources], points)
        ranked = best_of_rows(relevance, self.ranked)
        queries = torch.from_numpy(on_grid(graph.queries).astype(np.float32))
        values = np.take_along_axis(relevance, ranked, axis=1)
        return Task(queries, torch.from_numpy(ranked), torch.from_numpy(values))

    def _fit(self, network: Network, nodes: Any, edges: Edges, task: Task) -> tuple[float, float]:
        import torch

        from baselines.gor.network import losses

        optimizer = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.epochs)
        contrast = ranking = nodes.new_zeros(())
        for _ in range(self.epochs):
            optimizer.zero_grad()
            contrast, ranking = losses(network(nodes, edges), task)
            loss: Any = contrast + self.ranking_weight * ranking
            loss.backward()
            optimizer.step()
            schedule.step()
        return float(contrast.detach()), float(ranking.detach())
