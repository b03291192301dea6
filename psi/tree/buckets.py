"""Buckets: recursive spherical k-means, a tree in each bucket, then a tree over the bucket roots.

Everything stays one list of leaf pairs for one scan: first the spanning edges inside all buckets, then one pair of leaves for
each edge of the spanning tree over the bucket roots. So depth stays equal and the same rebalancing applies.
"""

from collections.abc import Callable

import faiss
import numpy as np
import torch

from psi.tree.approximate import Approximate
from psi.tree.edges import Edges, joined, maximum_spanning_forest
from psi.tree.exact import exact_tree
from psi.tree.hnsw import faiss_threads, hnsw_tree
from psi.tree.precision import choose_precision, operands
from psi.tree.report import SpanningReport
from psi.tree.vectors import normalised_means
from psi.tree.weights import Floats, Ids, pair_weights
from psi.tree.workers import each_piece, one_thread_products

MOST_CENTRES = 256
ITERATIONS = 8
SAMPLE = 128  # rows a centre that k-means looks at
CHUNK = 4096

SpanningTree = Callable[[Floats], Edges]


def split_into_buckets(rows: Floats, settings: Approximate) -> list[Ids]:
    """Row ids of the buckets, each of 1..bucket_size rows, ordered by their smallest id; the same for the same seed."""
    done: list[Ids] = []
    todo = [np.arange(len(rows))]
    while todo:
        ids = todo.pop()
        if len(ids) <= settings.bucket_size:
            done.append(ids)
            continue
        parts = _clustered(rows, ids, settings)
        # k-means can fail to divide rows that are all but equal; then any division is as good
        todo.extend(parts if max(map(len, parts)) < len(ids) else np.array_split(ids, 2))
    return sorted(done, key=lambda ids: int(ids[0]))


def _clustered(rows: Floats, ids: Ids, settings: Approximate) -> list[Ids]:
    centres = int(min(MOST_CENTRES, max(2, -(-2 * len(ids) // settings.bucket_size))))
    means = faiss.Kmeans(
        rows.shape[1],
        centres,
        niter=ITERATIONS,
        spherical=True,
        seed=settings.seed,
        max_points_per_centroid=SAMPLE,
        min_points_per_centroid=1,
    )
    with faiss_threads(1):  # sums in one order
        means.train(rows[ids])
    nearest = _nearest(rows, ids, torch.from_numpy(means.centroids))
    return [ids[nearest == centre] for centre in range(centres) if (nearest == centre).any()]


def _nearest(rows: Floats, ids: Ids, centroids: torch.Tensor) -> Ids:
    nearest = np.empty(len(ids), np.int64)
    with one_thread_products():  # equal shapes and one thread: equal bits, however many threads there are
        for start in range(0, len(ids), CHUNK):
            part = torch.from_numpy(rows[ids[start : start + CHUNK]])
            nearest[start : start + CHUNK] = torch.mm(part, centroids.T).argmax(dim=1).numpy()
    return nearest


def trees_in_threads(rows: Floats, buckets: list[Ids], grow: SpanningTree, threads: int) -> list[Edges]:
    """The spanning tree of each bucket in its own row numbers."""
    return each_piece(len(buckets), 1, lambda number: grow(rows[buckets[number]]), threads)


def scan_order(rows: Floats, buckets: list[Ids], trees: list[Edges], over_roots: SpanningTree) -> Edges:
    """Leaf pairs in the order of the scan: inside the buckets by similarity, then between them by the roots' similarity."""
    n = len(rows)
    inside = [Edges(ids[tree.u], ids[tree.v], tree.weight) for ids, tree in zip(buckets, trees, strict=True)]
    first = maximum_spanning_forest(
        n, joined([Edges(np.minimum(e.u, e.v), np.maximum(e.u, e.v), e.weight) for e in inside])
    )
    if len(buckets) == 1:
        return first
    order = np.concatenate(buckets)
    roots = normalised_means(rows[order], np.array([len(ids) for ids in buckets]))
    between = over_roots(roots)
    a = np.array([_closest(rows, buckets[x], roots[y]) for x, y in zip(between.u, between.v, strict=True)])
    b = np.array([_closest(rows, buckets[y], roots[x]) for x, y in zip(between.u, between.v, strict=True)])
    return joined([first, Edges(np.minimum(a, b), np.maximum(a, b), between.weight)])


def _closest(rows: Floats, ids: Ids, root: Floats) -> int:
    """The leaf of a bucket that is most similar to another bucket's root: where that bucket is hung, if it is the lower."""
    table = np.concatenate([rows[ids], root[None]])
    return int(ids[np.argmax(pair_weights(table, np.arange(len(ids)), np.full(len(ids), len(ids)), 1))])


def bucket_spanning_tree(rows: Floats, builder: str, settings: Approximate) -> Edges:
    """The spanning tree of one bucket's rows on one CPU thread, exact or ('buckets+hnsw') from a graph."""
    device = torch.device("cpu")
    if builder == "buckets+hnsw":
        return hnsw_tree(rows, operands(rows, "fp32", device), settings, 1)
    return exact_tree(rows, choose_precision("auto", device), device, None, SpanningReport(len(rows)), None)
