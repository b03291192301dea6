"""Beam search with tensor operations: a GPU multiplies and sieves, the few candidates that pass are weighed on the CPU."""

from typing import NamedTuple

import numpy as np
import torch

from psi.tree.precision import honest_products, product_bound
from psi.tree.selection import select_best
from psi.tree.tree import Tree
from psi.tree.weights import Floats, Ids
from psi.tree.workers import in_pieces

MOST_QUESTIONS = 4096
CANDIDATES = 1 << 24  # of one layer, all questions together; some 20 bytes each
PAIRS = 1 << 18  # whose vectors are gathered side by side: 8 d bytes each
WEIGHED_TOGETHER = 256  # questions


class _There(NamedTuple):
    """What of the tree the device holds: node vectors (n_nodes, d), children of node x at child_offsets[x : x + 2]."""

    nodes: torch.Tensor
    child_offsets: torch.Tensor
    child_ids: torch.Tensor


class _Candidates(NamedTuple):
    """Pairs of a question's number and a node, question by question, with their float32 products; each (m,)."""

    owner: torch.Tensor
    node: torch.Tensor
    rough: torch.Tensor


def search_on_device(
    nodes: Floats, asked: Floats, tree: Tree, layer: int, beam: int, ids: Ids, scores: Floats, place: torch.device
) -> None:
    """Fill ids and scores (q, k) with the answers of `beam_search` from this layer down; same result on every device.

    A float32 product is within `product_bound(d, 0)` of the similarity, whatever the order of its sum, so a candidate more than
    twice that below the last one wanted is out; `select_best` decides among the others.
    """
    there = _There(*(torch.tensor(part, device=place) for part in (nodes, tree.child_offsets, tree.child_ids)))
    top = torch.arange(int(tree.layer_offsets[layer]), int(tree.layer_offsets[layer + 1]), device=place)
    most = max(len(top), min(tree.n_leaves, beam * int(tree.child_counts().max())))
    step = max(1, min(MOST_QUESTIONS, CANDIDATES // most))
    with honest_products("fp32"):
        for start in range(0, len(asked), step):
            part = slice(start, start + step)
            _answer(there, nodes, asked[part], top, layer, beam, ids[part], scores[part])


def _answer(
    there: _There, nodes: Floats, asked: Floats, top: torch.Tensor, height: int, beam: int, ids: Ids, scores: Floats
) -> None:
    questions = torch.tensor(asked, device=top.device)
    found = _of_the_top(there, questions, top)
    for _ in range(height):
        kept = np.full((len(asked), beam), -1, np.int64)
        _decide(nodes, asked, found, kept, np.empty(kept.shape, np.float32))
        found = _children(there, questions, torch.from_numpy(kept).to(top.device))
    _decide(nodes, asked, found, ids, scores)


def _of_the_top(there: _There, questions: torch.Tensor, top: torch.Tensor) -> _Candidates:
    owner = torch.arange(len(questions), device=top.device).repeat_interleave(len(top))
    rough = torch.mm(questions, there.nodes[top].T)
    return _Candidates(owner, top.repeat(len(questions)), rough.reshape(-1))


def _children(there: _There, questions: torch.Tensor, kept: torch.Tensor) -> _Candidates:
    """The children of each question's kept nodes (q, beam); -1 stands for none."""
    owner, place = torch.nonzero(kept >= 0, as_tuple=True)
    node = kept[owner, place]
    first = there.child_offsets[node]
    counts = there.child_offsets[node + 1] - first
    shift = first - (counts.cumsum(0) - counts)  # from a place in the result to one in child_ids
    owner, shift = owner.repeat_interleave(counts), shift.repeat_interleave(counts)
    child = there.child_ids[torch.arange(len(owner), device=kept.device) + shift]
    rough = [
        (there.nodes[c] * questions[q]).sum(1)
        for c, q in zip(torch.split(child, PAIRS), torch.split(owner, PAIRS), strict=True)
    ]
    return _Candidates(owner, child, torch.cat(rough))


def _decide(nodes: Floats, asked: Floats, found: _Candidates, ids: Ids, scores: Floats) -> None:
    """Sieve on the device, then fill ids and scores (q, wanted) with the best by similarity."""
    bound = product_bound(nodes.shape[1], 0.0)
    sizes = torch.bincount(found.owner, minlength=len(asked))
    least = _last_wanted(found, sizes, ids.shape[1]).double() - 2 * bound
    passed = torch.nonzero(found.rough >= least[found.owner]).squeeze(1)
    owner, node, rough = (part[passed].cpu() for part in found)
    offsets = np.zeros(len(asked) + 1, np.int64)
    np.cumsum(torch.bincount(owner, minlength=len(asked)).numpy(), out=offsets[1:])
    candidates, products = node.numpy(), rough.numpy()

    def weigh(a: int, b: int) -> None:
        select_best(nodes, asked[a:b], offsets[a : b + 1], candidates, products, bound, ids[a:b], scores[a:b])

    in_pieces(len(asked), WEIGHED_TOGETHER, weigh)


def _last_wanted(found: _Candidates, sizes: torch.Tensor, wanted: int) -> torch.Tensor:
    """For each question the `wanted`-th largest product; -inf where it has fewer candidates."""
    width = int(sizes.max())
    if wanted > width:
        return torch.full(sizes.shape, -torch.inf, device=sizes.device)
    table = torch.full((len(sizes), width), -torch.inf, device=sizes.device)
    column = torch.arange(len(found.owner), device=sizes.device) - (sizes.cumsum(0) - sizes)[found.owner]
    table[found.owner, column] = found.rough
    return table.topk(wanted, sorted=False).values.amin(1)
