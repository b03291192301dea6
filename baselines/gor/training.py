"""How node embeddings are learned from graphs of records themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    from torch import Tensor

    from baselines.gor.network import Graph, Network, Task

Weights = Mapping[str, NDArray[Any]]


class Trained(NamedTuple):
    """Weights of a network by name, and the mean losses of the last epoch."""

    weights: Weights
    contrastive_loss: float
    ranking_loss: float


@dataclass(frozen=True, kw_only=True)
class GraphTraining(Component):
    """A graph attention network trained on simulated queries (paper §3).

    A node's relevance to a query is the cosine of its text with the chunk that the query was written from. Adam with
    a cosine schedule. Equal graphs and settings give equal bits on one machine, whatever the number of threads.

    layers, heads: of the network; each head is as wide as the vectors.
    dropout, attention_dropout: shares dropped of features and of attention.
    epochs, learning_rate: passes over the graphs, and the rate of the first step.
    batch_size: graphs in a step; their nodes are one another's negatives.
    ranking_weight: of the ranking loss against the contrastive one.
    ranked: most relevant nodes of a query that the ranking loss compares in pairs.
    seed: of weights, order and dropout.
    """

    layers: PositiveInt = 2
    heads: PositiveInt = 4
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    attention_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    epochs: PositiveInt = 150
    learning_rate: PositiveFloat = 1e-3
    batch_size: PositiveInt = 32
    ranking_weight: NonNegativeFloat = 0.9
    ranked: PositiveInt = 200
    seed: NonNegativeInt = 0

    def trained(self, graphs: Sequence[RecordGraph]) -> Trained:
        """Train one network on some documents."""
        prepared = [self._prepared(graph) for graph in graphs]
        with repeatable(self.seed):
            network = self._network(prepared[0].nodes.shape[1])
            contrast, ranking = self._fit(network, prepared)
        weights = {name: value.numpy().copy() for name, value in network.state_dict().items()}
        return Trained(weights, contrast, ranking)

    def embedded(self, graph: RecordGraph, weights: Weights) -> NDArray[np.float32]:
        """(n_nodes, d) embeddings of a document's nodes by a trained network."""
        import torch

        prepared = self._prepared(graph)
        with repeatable(self.seed), torch.inference_mode():
            network = self._network(prepared.nodes.shape[1])
            network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
            found: NDArray[np.float32] = network.eval()(prepared.nodes, prepared.edges).numpy().copy()
        return found

    def _network(self, width: int) -> Network:
        from baselines.gor.network import Network, Shape

        return Network(width, Shape(self.layers, self.heads, self.dropout, self.attention_dropout))

    def _prepared(self, graph: RecordGraph) -> Graph:
        import torch

        from baselines.gor.network import Graph, edges_of

        parents = np.repeat(np.arange(len(graph.vectors)), np.diff(graph.child_offsets))
        edges = edges_of(graph.child_ids, parents, len(graph.vectors))
        return Graph(torch.from_numpy(on_grid(graph.vectors).astype(np.float32)), edges, self._task(graph))

    def _task(self, graph: RecordGraph) -> Task:
        import torch

        from baselines.gor.network import Task

        points = on_grid(graph.vectors)
        relevance = cosines(points[graph.sources], points)
        ranked = best_of_rows(relevance, self.ranked)
        queries = torch.from_numpy(on_grid(graph.queries).astype(np.float32))
        values = np.take_along_axis(relevance, ranked, axis=1)
        return Task(queries, torch.from_numpy(ranked), torch.from_numpy(values))

    def _fit(self, network: Network, graphs: Sequence[Graph]) -> tuple[float, float]:
        import torch

        steps = self.epochs * -(-len(graphs) // self.batch_size)
        optimizer = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        totals = np.zeros(2)
        for _ in range(self.epochs):
            totals[:] = 0
            for batch in torch.split(torch.randperm(len(graphs)), self.batch_size):
                chosen = [graphs[int(place)] for place in batch]
                both = self._step(network, chosen, optimizer)
                schedule.step()
                totals += [len(chosen) * float(each.detach()) for each in both]
        contrast, ranking = (totals / len(graphs)).tolist()
        return contrast, ranking

    def _step(self, network: Network, graphs: Sequence[Graph], optimizer: Any) -> tuple[Tensor, Tensor]:
        from baselines.gor.network import joined, losses

        optimizer.zero_grad()
        contrast, ranking = losses(network(*joined(graphs)), graphs)
        loss: Any = contrast + self.ranking_weight * ranking
        loss.backward()
        optimizer.step()
        return contrast, ranking
