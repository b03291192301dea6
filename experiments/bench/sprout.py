"""What SproutRAG costs: to index one long document, against literal loops over pairs, and to search many documents.

    python -m experiments.bench.sprout words=20000 documents=1000 out=sprout.json

The long document is text of the generated encyclopedia in chunks of two sentences. The literal loops pool the attention of
each pair of chunks by itself and look through all pairs of active nodes before each join; they are measured on one window
and on `literal` chunks and scaled to the document, by the number of windows and by the cube of the number of chunks. The
many documents have random vectors and relations, as their search takes no model.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from omegaconf import OmegaConf
from pydantic import Field, PositiveInt

from baselines.sproutrag.documents import documents_of
from baselines.sproutrag.encoder import Encoder
from baselines.sproutrag.encoding import EncodedDocument, encode_document, pooled
from baselines.sproutrag.index import SproutIndex
from baselines.sproutrag.retriever import BeamSearch, Sprout, SproutSearch
from baselines.sproutrag.tree import inner_vectors, linked
from psi.component import Component
from psi.corpus.encyclopedia import Encyclopedia
from psi.corpus.records import Passage, Passages, Span
from psi.corpus.splitter import sentence_starts
from psi.models.vectors import unit_rows
from psi.store import Store

T = TypeVar("T")
Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Bench(Component):
    """What to measure: words of the long document, chunks of the literal tree, documents and questions of the search."""

    words: PositiveInt = 20_000
    literal: Annotated[int, Field(ge=10)] = 150
    documents: PositiveInt = 1000
    chunks: PositiveInt = 40
    questions: PositiveInt = 256
    out: str | None = None


class RandomEncoder(Encoder):
    """Gives questions random unit vectors: the search is measured, not the model."""

    def encode_questions(self, texts: Sequence[str]) -> Floats:
        """(n, 384) vectors."""
        return unit_rows(np.random.default_rng(len(texts)).standard_normal((len(texts), 384)).astype(np.float32))


def main(arguments: Sequence[str]) -> None:
    """Measure and report."""
    given: Any = OmegaConf.to_container(OmegaConf.from_dotlist(list(arguments)))
    bench = Bench(**given)
    report = {**long_document(bench), **many_documents(bench)}
    text = json.dumps(report, indent=1)
    sys.stdout.write(f"{text}\n")
    if bench.out:
        Path(bench.out).write_text(text, encoding="utf-8")


def long_document(bench: Bench) -> dict[str, Any]:
    """Seconds and memory of one document, and of literal loops."""
    chunks, encoder = _document(bench.words), Encoder()
    _, warm = _timed(lambda: encode_document(chunks[:4], encoder))
    before = _peak()
    found, encoding = _timed(lambda: encode_document(chunks, encoder))
    m = len(chunks)
    _tree(found, 2)  # compiled here, not in the measurement
    _, building = _timed(lambda: _tree(found, m))
    ours, pooling = _pooling(chunks, encoder)
    _, joining = _timed(lambda: _literal_joins(found, min(bench.literal, m)))
    windows = len(encoder.windows(chunks))
    size = (found.attention.nbytes + found.vectors.nbytes) / 2**20
    small = min(bench.literal, m)
    return {
        "words": bench.words, "chunks": m, "windows": windows, "pairs": len(found.pairs),
        "model_start_s": round(warm, 2), "encoding_s": round(encoding, 2), "pooling_s": round(ours * windows, 2),
        "tree_s": round(building, 4), "memory_mb": round(_peak() - before, 1), "arrays_mb": round(size, 1),
        "literal_pooling_s": round(pooling * windows, 1), "literal_pooling_measured_s": round(pooling, 3),
        "literal_tree_s": round(joining * (m / small) ** 3, 1), "literal_tree_measured_s": round(joining, 3),
        "literal_tree_measured_chunks": small,
    }  # fmt: skip


def many_documents(bench: Bench) -> dict[str, Any]:
    """Questions a second over documents of random vectors, all of them searched and the 50 nearest alone."""
    index = _random_index(bench.documents, bench.chunks)
    questions = [f"question {number}" for number in range(bench.questions)]
    report: dict[str, Any] = {"documents": bench.documents, "chunks_a_document": bench.chunks}
    with Store.temporary() as store:
        for name, chosen in (("all", None), ("50", 50)):
            method = Sprout(encoder=RandomEncoder(), search=BeamSearch(documents=chosen, threshold=-1.0))
            searcher = SproutSearch(method, index, method.encoder, -1.0, store)
            searcher.search(questions[:16], 10)
            searcher.search(questions, 10)  # embeds
            _, seconds = _timed(lambda searcher=searcher: searcher.search(questions, 10))  # type: ignore[misc]
            report[f"questions_per_s_{name}"] = round(bench.questions / seconds, 1)
    return report


def _document(words: int) -> list[Passage]:
    text, count = "", 0
    for passage in Encyclopedia().load().passages:
        text, count = f"{text}{passage.text.strip()} ", count + len(passage.text.split())
        if count >= words:
            break
    starts = [*sentence_starts(text)[::2], len(text)]
    return [
        Passage(f"d#{number:05d}", "", text[a:b], "d", None, Span("d", a, b))
        for number, (a, b) in enumerate(pairwise(starts))
        if text[a:b].strip()
    ]


def _tree(found: EncodedDocument, m: int) -> Any:
    inside = found.pairs.max(axis=1) < m
    tree = linked(m, found.pairs[inside], found.attention[inside].mean(axis=1))
    return tree, inner_vectors(found.vectors[:m], tree.children)


def _pooling(chunks: Sequence[Passage], encoder: Encoder) -> tuple[float, float]:
    """Seconds for one window: by two matrix products, and by a mean over two spans for every pair, layer and head."""
    import torch

    window = encoder.windows(chunks)[0]
    with torch.inference_mode():
        output = encoder.passed([window])[0]
        ours = min(_timed(lambda: pooled(window, output))[1] for _ in range(3))
        attentions = [layer.numpy() for layer in output.attentions]
    spans = [np.flatnonzero(window.chunks == chunk) for chunk in np.unique(window.chunks[window.chunks >= 0])]

    def pool() -> list[float]:
        return [
            float(head[a[0] : a[-1] + 1, b[0] : b[-1] + 1].mean())
            for layer in attentions
            for head in layer
            for a in spans
            for b in spans
        ]

    return ours, _timed(pool)[1]


def _literal_joins(found: EncodedDocument, m: int) -> list[tuple[int, int]]:
    """Look through all pairs of active nodes before each join."""
    relation: Mapping[tuple[int, int], float] = {
        (int(i), int(j)): float(value)
        for (i, j), value in zip(found.pairs, found.attention.mean(axis=1), strict=True)
        if j < m
    }
    matrix = {(i, j): relation.get((i, j), 0.0) for i in range(m) for j in range(i + 1, m)}
    active, joins = list(range(m)), []
    for node in range(m, 2 * m - 1):
        a, b = max(((x, y) for n, x in enumerate(active) for y in active[n + 1 :]), key=lambda pair: matrix[pair])
        joins.append((a, b))
        active = [x for x in active if x not in (a, b)]
        for x in active:
            matrix[x, node] = max(matrix[min(x, y), max(x, y)] for y in (a, b))
        active.append(node)
    return joins


def _random_index(documents: int, chunks: int) -> SproutIndex:
    random = np.random.default_rng(0)
    passages = Passages([
        Passage(f"{d:06d}#{c:04d}", "", "text", f"{d:06d}") for d in range(documents) for c in range(chunks)
    ])  # fmt: skip
    leaves = unit_rows(random.standard_normal((documents * chunks, 384)).astype(np.float32))
    pairs = np.stack(np.triu_indices(chunks, 1), axis=1).astype(np.int32)
    children, inner = [], []
    for document in range(documents):
        tree = linked(chunks, pairs, random.random(len(pairs)).astype(np.float32))
        children.append(tree.children)
        inner.append(inner_vectors(leaves[document * chunks : (document + 1) * chunks], tree.children))
    return SproutIndex(documents_of(passages), leaves, np.concatenate(children), np.concatenate(inner))


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def _peak() -> float:
    """Peak memory of the process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1:])
