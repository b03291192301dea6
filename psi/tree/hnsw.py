"""The spanning tree of a navigable small-world graph's edges (faiss HNSW): approximate, near O(n log n)."""

from collections.abc import Iterator
from contextlib import contextmanager

import faiss
import numpy as np

from psi.tree.approximate import Approximate
from psi.tree.components import joined_components
from psi.tree.edges import Edges, maximum_spanning_forest
from psi.tree.precision import Operands
from psi.tree.seed import grown_tree, weighted_pairs
from psi.tree.weights import Floats


def hnsw_tree(rows: Floats, fast: Operands, settings: Approximate, threads: int) -> Edges:
    """The best tree of the edges to each row's approximate nearest neighbours, leftover components joined exactly.

    rows (n, d) distinct, of unit length.
    """
    n = len(rows)
    if n <= settings.neighbours + 1:
        return grown_tree(rows)
    graph = faiss.IndexHNSWFlat(rows.shape[1], settings.links, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = settings.ef_construction
    graph.hnsw.efSearch = max(settings.ef_search, settings.neighbours + 1)
    with faiss_threads(1 if settings.reproducible else threads):
        graph.add(rows)
    with faiss_threads(threads):
        _, near = graph.search(rows, settings.neighbours + 1)
    u = np.repeat(np.arange(n), near.shape[1])
    v = np.asarray(near, np.int64).ravel()
    found = v >= 0  # faiss gives -1 where it reached fewer
    forest = maximum_spanning_forest(n, weighted_pairs(rows, u[found], v[found], threads))
    return joined_components(rows, forest, fast)


@contextmanager
def faiss_threads(count: int) -> Iterator[None]:
    """faiss's number of threads, a setting of the process, put back at the end."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
