"""The graph attention network and its training; imported where it is used, because torch takes seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

SLOPE = 0.2  # of the leaky ReLU on attention scores (Veličković et al. 2018, §2.1)


class Shape(NamedTuple):
    """Layers, heads, and the shares dropped of features and of attention."""

    layers: int
    heads: int
    dropout: float
    attention_dropout: float


class Edges(NamedTuple):
    """Directed edges: messages go from `sources` to `targets`."""

    sources: Tensor
    targets: Tensor


class Task(NamedTuple):
    """What is learned: (m, d) queries, (m, r) nodes of each, the most relevant first, and their relevance."""

    queries: Tensor
    ranked: Tensor
    relevance: Tensor


class Graph(NamedTuple):
    """A document: (n, d) texts of its nodes, its edges, and what is learned from it."""

    nodes: Tensor
    edges: Edges
    task: Task


class Attention(nn.Module):
    """One layer of graph attention (Veličković et al. 2018): (n, width) to (n, heads, out)."""

    def __init__(self, width: int, out: int, shape: Shape):
        super().__init__()
        self.project = nn.Linear(width, shape.heads * out, bias=False)
        self.of_source = nn.Parameter(torch.empty(shape.heads, out))
        self.of_target = nn.Parameter(torch.empty(shape.heads, out))
        self.bias = nn.Parameter(torch.zeros(shape.heads, out))
        self.features, self.weights = nn.Dropout(shape.dropout), nn.Dropout(shape.attention_dropout)
        for parameter in (self.project.weight, self.of_source, self.of_target):
            nn.init.xavier_normal_(parameter, gain=nn.init.calculate_gain("relu"))

    def forward(self, nodes: Tensor, edges: Edges) -> Tensor:
        """Weighted means of the neighbours."""
        hidden = self.project(self.features(nodes)).view(len(nodes), *self.bias.shape)
        scores = (hidden * self.of_source).sum(-1)[edges.sources] + (hidden * self.of_target).sum(-1)[edges.targets]
        weights = self.weights(_softmax(functional.leaky_relu(scores, SLOPE), edges.targets, len(nodes)))
        messages = weights.unsqueeze(-1) * hidden[edges.sources]
        return torch.zeros_like(hidden).index_add(0, edges.targets, messages) + self.bias


class Network(nn.Module):
    """Attention layers, each with batch normalisation and PReLU; the largest over layers of the mean over heads."""

    def __init__(self, width: int, shape: Shape):
        super().__init__()
        inner = width * shape.heads
        widths = [width] + [inner] * (shape.layers - 1)
        self.attention = nn.ModuleList(Attention(each, width, shape) for each in widths)
        self.norms = nn.ModuleList(nn.BatchNorm1d(inner) for _ in widths)
        self.activations = nn.ModuleList(nn.PReLU(inner) for _ in widths)

    def forward(self, nodes: Tensor, edges: Edges) -> Tensor:
        """(n, width) embeddings of the nodes."""
        found, hidden = [], nodes
        for attention, norm, activation in zip(self.attention, self.norms, self.activations, strict=True):
            heads = attention(hidden, edges)
            hidden = activation(norm(heads.flatten(1)))
            found.append(hidden.view(heads.shape).mean(1))
        return torch.stack(found).amax(0)


def losses(embedded: Tensor, graphs: Sequence[Graph]) -> tuple[Tensor, Tensor]:
    """The contrastive loss and the pair-wise ranking loss (paper §3), means over queries and then over graphs.

    The first is −log of the softmax, over the nodes of all graphs, of the query's most relevant node; the second is
    log(1 + exp(s_j − s_i)) over the pairs of the query's graph where node i is more relevant than j; s = query · node.
    """
    found = []
    starts = np.cumsum([0, *(len(graph.nodes) for graph in graphs)])
    for start, stop, (_, _, task) in zip(starts, starts[1:], graphs, strict=False):
        scores = task.queries @ embedded.T
        contrast = functional.cross_entropy(scores, start + task.ranked[:, 0])
        own = scores[:, start:stop].gather(1, task.ranked)
        better = task.relevance.unsqueeze(2) > task.relevance.unsqueeze(1)
        pairs = functional.softplus(own.unsqueeze(1) - own.unsqueeze(2))[better]
        found.append(torch.stack([contrast, pairs.mean() if len(pairs) else contrast.new_zeros(())]))
    contrast, ranking = torch.stack(found).mean(0)
    return contrast, ranking


def joined(graphs: Sequence[Graph]) -> tuple[Tensor, Edges]:
    """Nodes and edges of several graphs as one."""
    starts = np.cumsum([0, *(len(graph.nodes) for graph in graphs)]).tolist()
    sources, targets = (
        torch.cat([start + graph.edges[side] for start, graph in zip(starts, graphs, strict=False)]) for side in (0, 1)
    )
    return torch.cat([graph.nodes for graph in graphs]), Edges(sources, targets)


def edges_of(children: NDArray[np.int64], parents: NDArray[np.int64], nodes: int) -> Edges:
    """Edges in both directions, and one from each node to itself."""
    itself = np.arange(nodes)
    sources, targets = np.concatenate([children, parents, itself]), np.concatenate([parents, children, itself])
    return Edges(torch.from_numpy(sources), torch.from_numpy(targets))


def _softmax(scores: Tensor, targets: Tensor, nodes: int) -> Tensor:
    """(edges, heads) softmax over the edges that reach one node."""
    index = targets.unsqueeze(1).expand_as(scores)
    highest = scores.new_full((nodes, scores.shape[1]), -torch.inf).scatter_reduce(0, index, scores.detach(), "amax")
    powers = (scores - highest[targets]).exp()
    return powers / powers.new_zeros(highest.shape).index_add(0, targets, powers)[targets]
