"""Vectors for benches: clustered like embeddings of passages, or isotropic, the worst case for any search."""

import numpy as np
import numpy.typing as npt

from psi.tree import unit_rows

PASSAGES_A_CLUSTER = 100
CHUNK = 50_000


def generated_vectors(kind: str, n: int, d: int = 384, seed: int = 0) -> npt.NDArray[np.float32]:
    """(n, d) unit float32 rows.

    `clustered`: about 100 rows a cluster, clusters around topics, noise at each level, so that nearest neighbours have
    cosines near 0.65 and unrelated rows near 0. `isotropic`: no structure at all.
    """
    rng = np.random.default_rng([seed, n, d])
    if kind == "isotropic":
        return unit_rows(_normal(rng, n, d))
    clusters = max(8, n // PASSAGES_A_CLUSTER)
    topics = _normal(rng, max(4, int(clusters**0.5)), d)
    centres = topics[rng.integers(0, len(topics), clusters)] + _normal(rng, clusters, d)
    rows = np.empty((n, d), np.float32)
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        rows[start : start + size] = centres[rng.integers(0, clusters, size)] + np.float32(1.2) * _normal(rng, size, d)
    return unit_rows(rows)


def _normal(rng: np.random.Generator, n: int, d: int) -> npt.NDArray[np.float32]:
    return rng.standard_normal((n, d), np.float32)
