"""The graph that is walked: phrases joined by facts and by likeness, and passages joined to their phrases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt
from scipy.sparse import block_array, coo_matrix, csr_matrix, diags_array

from baselines.hipporag.knowledge import Knowledge
from psi.component import Component
from psi.index.arrays import load_csr, save_csr
from psi.models.vectors import unit_rows
from psi.store import Artifact, Stage, Store

VERSION = 1
BLOCK = 1024  # phrases whose neighbours are searched at once
SPARE = 16  # neighbours fetched beyond those kept: fast products may order near-equal ones wrongly
SLACK = 1e-5  # well above the error of a float32 inner product of unit vectors


@dataclass(frozen=True, kw_only=True)
class PhraseGraph(Component):
    """Edges between phrases (arXiv 2405.14831, §2.2; arXiv 2502.14802, §3).

    Two phrases weigh as many triples as join them; where their cosine is at least `synonym`, it is added. A passage
    and a phrase of it weigh 1.

    synonym: least cosine of synonyms.
    most_synonyms: synonyms that a phrase may look up; it can be looked up by more.
    entities: whether entities that stand in no triple are phrases too.
    """

    synonym: Annotated[float, Field(gt=0, le=1)] = 0.8
    most_synonyms: PositiveInt = 100
    entities: bool = False

    def stage(
        self, source: Artifact, knowledge: Knowledge, embedded: Artifact, vectors: NDArray[np.float32], store: Store
    ) -> csr_matrix:
        """(phrases, phrases) symmetric weights; built, or opened where the store has them."""
        inputs = {"knowledge": source.digest, "phrases": embedded.digest}
        stage = Stage("phrase_graph", VERSION, self.identity(), inputs)

        def make(folder: Path) -> Mapping[str, int]:
            synonyms = synonym_edges(vectors, self.synonym, self.most_synonyms)
            save_csr(folder, "edges", csr_matrix(knowledge.relations + synonyms))
            return {"joined_pairs": knowledge.relations.nnz // 2, "synonym_pairs": synonyms.nnz // 2}

        return load_csr(store.obtain(stage, make).path, "edges")


def with_passages(edges: csr_matrix, held: csr_matrix) -> csr_matrix:
    """(m + n, m + n) weights of phrases and passages: phrases stand first."""
    contains = csr_matrix(held.sign())
    none = csr_matrix((held.shape[1], held.shape[1]))
    return csr_matrix(block_array([[edges, contains], [csr_matrix(contains.T), none]]))


def transitions(weights: csr_matrix) -> csr_matrix:
    """Columns over their sums: column j says where a walker at j goes. Columns without weight stay empty."""
    sums = np.asarray(weights.sum(axis=0)).ravel()
    matrix = csr_matrix(weights @ diags_array(np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)))
    matrix.sort_indices()
    return matrix


def synonym_edges(vectors: NDArray[np.float32], least: float, most: int) -> csr_matrix:
    """(m, m) cosines of pairs that reach `least`, symmetric, without diagonal.

    A pair counts where one is among the `most` nearest of the other, ties by position. faiss finds candidates,
    products in float64 decide.
    """
    import faiss

    rows = np.ascontiguousarray(unit_rows(vectors))
    flat = faiss.IndexFlatIP(rows.shape[1])
    flat.add(rows)
    size = min(len(rows), most + 1 + SPARE)
    found = [
        _neighbours(rows, flat, np.arange(start, min(start + BLOCK, len(rows))), size, least, most)
        for start in range(0, len(rows), BLOCK)
    ]
    u, v, values = (np.concatenate(part) for part in zip(*found, strict=True))
    edges = csr_matrix(coo_matrix((values, (u, v)), shape=(len(rows), len(rows))))
    return csr_matrix(edges.maximum(edges.T))


def _neighbours(
    rows: NDArray[np.float32], flat: object, block: NDArray[np.int64], size: int, least: float, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    fast, near = flat.search(rows[block], size)  # type: ignore[attr-defined]
    kept = (fast >= least - SLACK) & (near != block[:, None])
    u, v = block[np.nonzero(kept)[0]], near[kept].astype(np.int64)
    # the smaller position first, so that both directions of a pair give one sum
    values = np.einsum("ij,ij->i", rows[np.minimum(u, v)].astype(np.float64), rows[np.maximum(u, v)].astype(np.float64))
    u, v, values = u[values >= least], v[values >= least], values[values >= least]
    order = np.lexsort((v, -values, u))
    u, v, values = u[order], v[order], values[order]
    rank = np.arange(len(u)) - np.searchsorted(u, u)
    return u[rank < most], v[rank < most], values[rank < most]
