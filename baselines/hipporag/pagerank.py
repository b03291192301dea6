"""Personalised PageRank of many questions at once: one sparse matrix times a dense block in each step."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]


def personalised_pagerank(transitions: csr_matrix, reset: Floats, damping: float, tolerance: float) -> Floats:
    """(nodes, q) stationary distributions of a walk that goes on with probability `damping` and else starts anew.

    x = (1 − damping)·r + damping·T x, by power iteration from r; a walker at a node without edges starts anew. After t
    steps the error is at most 2·dampingᵗ in the sum of absolute differences, whatever the graph. The number of steps
    follows from that bound alone, so that a result depends on no other question in the block.

    Args:
        transitions: (nodes, nodes) non-negative; columns sum to 1, or to 0 where a node has no edge.
        reset: (nodes, q) where walks begin, non-negative, each column with a positive sum.
        damping: probability of going on, below 1.
        tolerance: largest sum of absolute differences from the exact solution, before the walks that ended are
            counted again.
    """
    start = np.ascontiguousarray(reset / _sums(reset))
    again, mass = (1 - damping) * start, start
    for _ in range(steps(damping, tolerance)):
        mass = transitions @ mass
        mass *= damping
        mass += again
    # mass that nodes without edges swallowed would have begun anew like all other: a matter of scale
    result: Floats = mass / _sums(mass)
    return result


def steps(damping: float, tolerance: float) -> int:
    """The steps after which 2·dampingᵗ is within the tolerance.

    >>> steps(0.5, 1e-6)
    21
    """
    return max(1, math.ceil(math.log(tolerance / 2) / math.log(damping))) if damping > 0 else 1


def _sums(columns: Floats) -> Floats:
    # along rows in memory the order of the additions is the same for any number of columns
    sums: Floats = np.ascontiguousarray(columns.T).sum(axis=1)
    return sums
