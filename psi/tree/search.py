"""Layer-wise beam search over many questions at once (Ψ-RAG Alg. 2)."""

from typing import Literal

import numpy as np
import numpy.typing as npt
import torch

from psi.errors import InputError
from psi.tree.compiled import compiled
from psi.tree.device_search import search_on_device
from psi.tree.kernels import LANES, quick_product
from psi.tree.precision import choose_device, product_bound
from psi.tree.selection import select_best
from psi.tree.tree import Tree
from psi.tree.vectors import unit_rows
from psi.tree.weights import Floats, Ids
from psi.tree.workers import in_pieces, thread_count

MOST_QUESTIONS = 2048
CANDIDATES = 1 << 21  # at once in each thread; 12 bytes each


def beam_search(
    tree: Tree,
    node_vectors: npt.ArrayLike,
    queries: npt.ArrayLike,
    beam: int = 10,
    k: int = 10,
    start_layer: int | Literal["auto"] = "auto",
    *,
    normalised: bool = False,
    device: str = "auto",
) -> tuple[Ids, Floats]:
    """The k best leaves for each question, found from the top of the tree down.

    node_vectors (n_nodes, d), queries (q, d): both are normalised here (`normalised=True` says that the node vectors, float32,
    already are, as `mean_vectors` makes them, and saves a copy). Start at the highest layer with at least `beam` nodes
    (or at height `start_layer`), keep the `beam` most similar nodes, go to all their children, and so on; at the leaves keep
    the k most similar. Ties go to the smaller id. Returns ids (q, k) int64 and similarities (q, k) float32; where fewer
    leaves were reached the ids are -1 and the similarities -inf. k above the number of leaves gives that many columns. A
    beam as wide as every layer gives the same answer as comparing with all leaves. A zero question has similarity 0 with
    every node, so it follows the smallest ids. device: 'cpu', 'cuda[:N]', or 'auto', a GPU if there is one and the questions
    are enough to be worth carrying the vectors there; the answer is the same. Raises InputError on wrong shapes, widths or
    settings.
    """
    nodes = _as_given(node_vectors) if normalised else unit_rows(node_vectors, what="node_vectors")
    if len(nodes) != tree.n_nodes:
        raise InputError(f"node_vectors: expected {tree.n_nodes} rows (one a node), got {len(nodes)}")
    asked = unit_rows(queries, width=nodes.shape[1], what="queries")
    _check_settings(beam, k)
    layer = starting_layer(tree, beam) if start_layer == "auto" else _checked_layer(tree, start_layer)
    top = np.arange(tree.layer_offsets[layer], tree.layer_offsets[layer + 1])
    place = _place(device, len(asked) * beam, tree)
    ids = np.full((len(asked), min(k, tree.n_leaves)), -1, np.int64)
    scores = np.full(ids.shape, -np.inf, np.float32)
    if place.type != "cpu":
        search_on_device(nodes, asked, tree, layer, beam, ids, scores, place)
        return ids, scores
    bound = product_bound(nodes.shape[1], 0.0)

    def answer(start: int, stop: int) -> None:
        _answer(nodes, asked[start:stop], tree, top, layer, beam, bound, ids[start:stop], scores[start:stop])

    in_pieces(len(asked), _questions_at_once(tree, len(asked), len(top), beam), answer)
    return ids, scores


def _place(device: str, kept: int, tree: Tree) -> torch.device:
    """Where to search when the questions keep `kept` nodes of a layer; for few, moving all vectors costs more than it saves."""
    if device == "auto" and kept * (tree.height + 1) < tree.n_nodes:
        return torch.device("cpu")
    return choose_device(device)


def _questions_at_once(tree: Tree, questions: int, top: int, beam: int) -> int:
    """As many as share visited nodes well, but few enough for their candidates to take some tens of megabytes."""
    most = max(top, min(tree.n_leaves, beam * int(tree.child_counts().max())))
    share = -(-questions // thread_count())
    return int(max(1, min(MOST_QUESTIONS, share, CANDIDATES // most)))


def _answer(
    nodes: Floats,
    asked: Floats,
    tree: Tree,
    top: Ids,
    height: int,
    beam: int,
    bound: float,
    ids: Ids,
    scores: Floats,
) -> None:
    """Walk down with some questions at once and write their leaves to ids and scores."""
    offsets = np.arange(len(asked) + 1) * len(top)
    candidates = np.tile(top, len(asked))
    rough = np.empty(len(candidates), np.float32)
    _rough_to_all(nodes, asked, top, rough)
    for _ in range(height):
        kept = np.full((len(asked), beam), -1, np.int64)
        select_best(nodes, asked, offsets, candidates, rough, bound, kept, np.empty(kept.shape, np.float32))
        offsets, candidates, rough = _expanded(nodes, asked, kept, tree.child_offsets, tree.child_ids)
    select_best(nodes, asked, offsets, candidates, rough, bound, ids, scores)


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
def _rough(a: Floats, b: Floats) -> float:
    """The inner product in float32 and any order: within `product_bound(d, 0)` of the defined similarity."""
    if len(a) % LANES == 0:
        return quick_product(a, b)
    total = np.float32(0)
    for k in range(len(a)):
        total = np.float32(total + a[k] * b[k])
    return float(total)


@compiled
def _rough_to_all(nodes: Floats, asked: Floats, top: Ids, rough: Floats) -> None:
    for q in range(len(asked)):
        for t in range(len(top)):
            rough[q * len(top) + t] = _rough(nodes[top[t]], asked[q])


@compiled
def _expanded(nodes: Floats, asked: Floats, kept: Ids, child_offsets: Ids, child_ids: Ids) -> tuple[Ids, Ids, Floats]:
    """The children of each question's kept nodes with rough products: offsets (q + 1,), ids, products.

    Products are made node by node over all questions that kept the node, while its children's vectors are in the cache.
    """
    questions, beam = kept.shape
    starts = np.zeros(questions * beam + 1, np.int64)  # where the children of each kept node go
    for p in range(questions * beam):
        node = kept[p // beam, p % beam]
        starts[p + 1] = starts[p] + (child_offsets[node + 1] - child_offsets[node] if node >= 0 else 0)
    candidates = np.empty(starts[-1], np.int64)
    rough = np.empty(starts[-1], np.float32)
    for p in np.argsort(kept.ravel()):
        q, node = p // beam, kept[p // beam, p % beam]
        if node < 0:
            continue
        for c in range(child_offsets[node + 1] - child_offsets[node]):
            child = child_ids[child_offsets[node] + c]
            candidates[starts[p] + c] = child
            rough[starts[p] + c] = _rough(nodes[child], asked[q])
    return starts[::beam].copy(), candidates, rough
