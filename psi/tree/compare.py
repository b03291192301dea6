"""How far an approximate tree is from the exact one."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from psi.tree.dasgupta import dasgupta_cost
from psi.tree.edges import Edges
from psi.tree.tree import Tree


class Agreement(NamedTuple):
    """equal_merges: share of the exact scan's joining pairs that the other scan joins too; cost_ratio: Dasgupta cost with
    weights (1 + cos) / 2, other to exact (below 1: the other is cheaper)."""

    equal_merges: float
    cost_ratio: float


def agreement(tree: Tree, edges: Edges, exact: Tree, exact_edges: Edges, vectors: npt.ArrayLike) -> Agreement:
    """Compare a tree and the edges its scan joined with the exact ones over the same vectors (n, d)."""
    n = tree.n_leaves
    ours, right = edges.u * n + edges.v, exact_edges.u * n + exact_edges.v
    share = float(np.isin(right, ours).mean()) if len(right) else 1.0
    cost = dasgupta_cost(exact, vectors, "cosine01")
    return Agreement(share, dasgupta_cost(tree, vectors, "cosine01") / cost if cost else 1.0)
