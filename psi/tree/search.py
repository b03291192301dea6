"""Layer-wise beam search over many questions at once (Ψ-RAG Alg. 2; DESIGN §4)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from psi.errors import InputError
from psi.tree.compiled import compiled
from psi.tree.tree import Tree
from psi.tree.vectors import unit_rows
from psi.tree.weights import LANES, Floats, Ids, weight
from psi.tree.workers import in_pieces


def beam_search(
    tree: Tree,
    node_vectors: npt.ArrayLike,
    queries: npt.ArrayLike,
    beam: int = 10,
    k: int = 10,
    start_layer: int | Literal["auto"] = "auto",
    *,
    normalised: bool = False,
) -> tuple[Ids, Floats]:
    """The k best leaves for each question, found from the top of the tree down.

    node_vectors (n_nodes, d), queries (q, d): both are normalised here (`normalised=True` says that the node vectors, float32,
    already are, as `mean_vectors` makes them, and saves a copy). Start at the highest layer with at least `beam` nodes
    (or at height `start_layer`), keep the `beam` most similar nodes, go to all their children, and so on; at the leaves keep
    the k most similar. Ties go to the smaller id. Returns ids (q, k) int64 and similarities (q, k) float32; where fewer
    leaves were reached the ids are -1 and the similarities -inf. k above the number of leaves gives that many columns. A
    beam as wide as every layer gives the same answer as comparing with all leaves. A zero question has similarity 0 with
    every node, so it follows the smallest ids. Raises InputError on wrong shapes, widths or settings.
    """
    nodes = _as_given(node_vectors) if normalised else unit_rows(node_vectors, what="node_vectors")
    if len(nodes) != tree.n_nodes:
        raise InputError(f"node_vectors: expected {tree.n_nodes} rows (one a node), got {len(nodes)}")
    asked = unit_rows(queries, width=nodes.shape[1], what="queries")
    _check_settings(beam, k)
    layer = starting_layer(tree, beam) if start_layer == "auto" else _checked_layer(tree, start_layer)
    first, stop_node = int(tree.layer_offsets[layer]), int(tree.layer_offsets[layer + 1])
    ids = np.full((len(asked), min(k, tree.n_leaves)), -1, np.int64)
    scores = np.full(ids.shape, -np.inf, np.float32)
    in_pieces(
        len(asked),
        16,
        lambda start, stop: _search(
            nodes, asked, tree.child_offsets, tree.child_ids, first, stop_node, layer, beam, ids, scores, start, stop
        ),
    )
    return ids, scores


def _as_given(node_vectors: npt.ArrayLike) -> Floats:
    nodes = np.ascontiguousarray(node_vectors, np.float32)
    if nodes.ndim != 2:
        raise InputError(f"node_vectors: expected shape (n_nodes, d), got {nodes.shape}")
    return nodes


def starting_layer(tree: Tree, beam: int) -> int:
    """The highest layer with at least `beam` nodes; the leaves if no layer has that many."""
    wide = [height for height, size in enumerate(tree.layer_sizes()) if size >= beam]
    return wide[-1] if wide else 0


def _checked_layer(tree: Tree, layer: int) -> int:
    if not 0 <= layer <= tree.height:
        raise InputError(f"start_layer={layer}: expected 'auto' or a height between 0 and {tree.height}")
    return layer


def _check_settings(beam: int, k: int) -> None:
    for name, value in (("beam", beam), ("k", k)):
        if value < 1:
            raise InputError(f"{name}={value}: expected at least 1")


@compiled
def _search(
    nodes: Floats,
    asked: Floats,
    offsets: Ids,
    children: Ids,
    first: int,
    stop_node: int,
    height: int,
    beam: int,
    ids: Ids,
    scores: Floats,
    start: int,
    stop: int,
) -> None:
    k = ids.shape[1]
    for q in range(start, stop):
        candidates = np.arange(first, stop_node)
        for _ in range(height):
            best, _similarity = _nearest(nodes, asked[q], candidates, beam)
            candidates = _expand(best, offsets, children)
        best, similarity = _nearest(nodes, asked[q], candidates, k)
        ids[q, : len(best)] = best
        scores[q, : len(best)] = similarity


@compiled
def _nearest(nodes: Floats, query: Floats, candidates: Ids, keep: int) -> tuple[Ids, Floats]:
    """The `keep` most similar candidates, best first, ties by id (insertion into a sorted list)."""
    keep = min(keep, len(candidates))
    ids = np.empty(keep, np.int64)
    scores = np.empty(keep, np.float32)
    lanes = np.empty(LANES, np.float64)
    filled = 0
    for c in candidates:
        s = weight(nodes[c], query, lanes)
        if filled == keep and (s < scores[keep - 1] or (s == scores[keep - 1] and c > ids[keep - 1])):
            continue
        p = filled if filled < keep else keep - 1
        while p > 0 and (scores[p - 1] < s or (scores[p - 1] == s and ids[p - 1] > c)):
            scores[p], ids[p] = scores[p - 1], ids[p - 1]
            p -= 1
        scores[p], ids[p] = s, c
        filled = min(filled + 1, keep)
    return ids, scores


@compiled
def _expand(nodes: Ids, offsets: Ids, children: Ids) -> Ids:
    total = 0
    for node in nodes:
        total += offsets[node + 1] - offsets[node]
    out = np.empty(total, np.int64)
    filled = 0
    for node in nodes:
        for p in range(offsets[node], offsets[node + 1]):
            out[filled] = children[p]
            filled += 1
    return out
