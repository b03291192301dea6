"""Leftover components of a forest, joined by their best exact pairs."""

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from psi.tree.edges import Edges, joined, maximum_spanning_forest, total_order
from psi.tree.precision import Operands, honest_products
from psi.tree.weights import Floats, Ids, pair_weights

CHUNK = 512


def joined_components(rows: Floats, forest: Edges, fast: Operands) -> Edges:
    """A spanning tree from a forest: round by round, every component but the largest gets its best pair outwards.

    The best pair is exact: products name the pairs that can be it under the proven bound, the defined similarity decides.
    Costs one product of the smaller components' rows with all rows a round.
    """
    n = len(rows)
    while len(forest.u) < n - 1:
        label = _labels(n, forest)
        small = np.flatnonzero(label != np.argmax(np.bincount(label)))
        forest = maximum_spanning_forest(n, joined([forest, _best_outwards(rows, fast, label, small)]))
    return forest


def _labels(n: int, forest: Edges) -> Ids:
    graph = coo_array((np.ones(len(forest.u), np.int8), (forest.u, forest.v)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def _best_outwards(rows: Floats, fast: Operands, label: Ids, members: Ids) -> Edges:
    # a product may be off by the bound, and a bf16 output by its own rounding on top
    slack = 2 * fast.bound + (2.0**-7 if fast.rows.dtype == torch.bfloat16 else 0.0)
    best = np.concatenate([_outward_products(fast, label, part).max(axis=1) for part in _parts(members)])
    reached = np.full(int(label.max()) + 1, -np.inf)
    np.maximum.at(reached, label[members], best)
    hopeful = members[best >= reached[label[members]] - slack]
    left, right = [], []
    for part in _parts(hopeful):
        i, j = np.nonzero(_outward_products(fast, label, part) >= (reached[label[part]] - slack)[:, None])
        left.append(part[i])
        right.append(j)
    a, b = np.concatenate(left), np.concatenate(right)
    pairs = Edges(np.minimum(a, b), np.maximum(a, b), pair_weights(rows, a, b))
    order = total_order(pairs)
    return pairs.take(order[np.unique(label[a][order], return_index=True)[1]])


def _parts(members: Ids) -> list[Ids]:
    return [members[start : start + CHUNK] for start in range(0, len(members), CHUNK)]


def _outward_products(fast: Operands, label: Ids, part: Ids) -> npt.NDArray[np.float32]:
    with honest_products(fast.precision):
        index = torch.from_numpy(part).to(fast.rows.device)
        products: npt.NDArray[np.float32] = torch.mm(fast.rows[index], fast.rows.T).float().cpu().numpy()
    products[label[part][:, None] == label[None, :]] = -np.inf
    return products
