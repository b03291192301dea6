"""What the nodes of a hierarchy hold, layer by layer: which category dominates them, how pure and how large they are.

A leaf that hangs under several nodes of a layer counts in each with an equal part, so that every leaf weighs 1 in every
layer and layers of trees and of overlapping clusters are comparable.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from psi.tree import Hierarchy, Layers

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
TIED = 1e-9  # weights that differ by less are equal: sums of thirds are not exact


@dataclass(frozen=True, slots=True)
class Purity:
    """One layer, or any set of nodes that holds every leaf. Category 0 is the major one; the others are minor.

    A category dominates a node where it weighs more than every other one there; at a tie none does.

    minor_lost: share of the minor leaves that hang under nodes dominated by the major category.
    major_lost: share of the major leaves that hang under nodes dominated by a minor category.
    purity: share of all leaves that are of their node's heaviest category.
    entropy: of the category given the node, in bits; 0 where all nodes are pure.
    minor_nodes: share of the nodes that a minor category dominates.
    """

    minor_lost: float
    major_lost: float
    purity: float
    entropy: float
    minor_nodes: float


def memberships(hierarchy: Hierarchy) -> list[csr_matrix]:
    """For each layer, leaves first, (nodes, leaves) how much of a leaf is in a node; columns sum to 1."""
    layers = hierarchy.layers()
    offsets = np.array([0, *(layer[-1] + 1 for layer in layers)])
    sets = Layers(offsets, hierarchy.child_offsets, hierarchy.child_ids).leaf_sets
    return [_weighed(sets[layer[0] : layer[-1] + 1]) for layer in layers]


def everything(n_leaves: int) -> csr_matrix:
    """A single node over all leaves."""
    return csr_matrix(np.ones((1, n_leaves)))


def node_sizes(membership: csr_matrix) -> Ids:
    """(nodes,) how many distinct leaves are below each."""
    return np.diff(membership.indptr).astype(np.int64)


def class_weights(membership: csr_matrix, codes: Ids) -> Floats:
    """(nodes, categories) weight of each category in each node; codes (leaves,) from 0."""
    return np.asarray(membership @ np.eye(int(codes.max()) + 1)[codes])


def purity(membership: csr_matrix, codes: Ids) -> Purity:
    """How the categories are spread over the nodes; codes (leaves,), of which at least one is 0 and one is not."""
    weights = class_weights(membership, codes)
    total, minor = weights.sum(), weights[:, 1:].sum(axis=1)
    rival = weights[:, 1:].max(axis=1)
    by_major = weights[:, 0] > rival + TIED
    by_minor = dominant(weights) > 0
    return Purity(
        minor_lost=float(minor[by_major].sum() / minor.sum()),
        major_lost=float(weights[by_minor, 0].sum() / weights[:, 0].sum()),
        purity=float(weights.max(axis=1).sum() / total),
        entropy=float(_entropies(weights) @ weights.sum(axis=1) / total),
        minor_nodes=float(by_minor.mean()),
    )


def chance(membership: csr_matrix, codes: Ids, shuffles: int, seed: int) -> Purity:
    """The mean over shuffled codes: what nodes of these sizes are worth with random leaves in them."""
    rng = np.random.default_rng(seed)
    found = [purity(membership, rng.permutation(codes)) for _ in range(shuffles)]
    return Purity(*(float(np.mean([getattr(each, field.name) for each in found])) for field in fields(Purity)))


def dominant(weights: Floats) -> Ids:
    """(nodes,) the category that dominates each node, -1 where none does; weights (nodes, categories)."""
    first = weights.argmax(axis=1)
    others = weights.copy()
    others[np.arange(len(weights)), first] = -np.inf
    return np.where(weights.max(axis=1) > others.max(axis=1) + TIED, first, -1)


def variation(sizes: Ids) -> float:
    """Coefficient of variation: the (population) standard deviation over the mean; 0 where all are equal."""
    return float(np.std(sizes) / np.mean(sizes))


def _weighed(sets: csr_matrix) -> csr_matrix:
    times = np.bincount(sets.indices, minlength=sets.shape[1])
    return csr_matrix((1 / times[sets.indices], sets.indices, sets.indptr), shape=sets.shape)


def _entropies(weights: Floats) -> Floats:
    shares = weights / weights.sum(axis=1, keepdims=True)
    logs = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
    bits: Floats = np.abs((shares * logs).sum(axis=1))
    return bits
