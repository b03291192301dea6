"""UMAP, made repeatable: exact neighbours, a seed, one thread."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from psi.retrieval.cosines import cosines
from psi.retrieval.links import best_of_rows

Floats = NDArray[np.float64]
ROWS = 512  # points whose neighbours are looked for at once


def reduced(vectors: Floats, neighbours: int, dimensions: int, seed: int) -> Floats:
    """(n, dimensions) UMAP embedding of distinct (n, d) vectors from `on_grid`, by cosine distance.

    UMAP is given exact neighbours, so that its own approximate search, which is slower at these sizes, plays no part.
    """
    import umap

    knn = _nearest(vectors, min(neighbours, len(vectors)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on single threads and on transforming new points later
        model = umap.UMAP(
            n_neighbors=knn[0].shape[1], n_components=dimensions, metric="cosine", random_state=seed, n_jobs=1,
            precomputed_knn=knn,
        )  # fmt: skip
        points: Floats = model.fit_transform(vectors.astype(np.float32)).astype(np.float64)
    return points


def _nearest(vectors: Floats, count: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(n, count) positions and cosine distances of the nearest points, each point itself among them."""
    found, distances = [], []
    for start in range(0, len(vectors), ROWS):
        near = cosines(vectors[start : start + ROWS], vectors)
        best = best_of_rows(near, count)
        found.append(best.astype(np.int32))
        distances.append(np.maximum(0, 1 - np.take_along_axis(near, best, axis=1)).astype(np.float32))
    return np.concatenate(found), np.concatenate(distances)
