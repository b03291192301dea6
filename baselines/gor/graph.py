"""The graph of records: chunks of a document, and responses tied to what was retrieved for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import NonNegativeInt, PositiveInt

from baselines.gor.simulation import Simulator, Written
from psi.component import Component
from psi.corpus.records import Passages
from psi.errors import ModelError, PsiError
from psi.index.embeddings import load_vectors, passage_vectors
from psi.models.protocols import NO_USAGE, Embedder, Usage
from psi.models.vectors import checked_vectors
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.top_k import top_k
from psi.store import Artifact, RowLog, Stage, Store, write_rows

VERSION = 1
Ids = NDArray[np.int64]
Floats32 = NDArray[np.float32]


class UnfinishedRecordsError(PsiError):
    """Queries or responses that could not be had; the others are kept, and a second start asks for these again."""

    def __init__(self, work: str, size: int, failures: Sequence[ModelError]):
        kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(Counter(error.kind for error in failures).items()))
        super().__init__(
            f"{len(failures)} of {size} simulated {work} failed ({kinds}), so there is no graph: {failures[0]} "
            "Start again to ask for these again: the finished ones are kept."
        )


class RecordGraph(NamedTuple):
    """A graph of n chunks (nodes 0 .. n-1) and m responses (the nodes after them).

    vectors        (n + m, d) of the nodes' texts
    queries        (m, d) of the simulated queries, response by response
    sources        (m,) the chunk that each query was written from
    child_offsets  (n + m + 1,) node i was made from child_ids[child_offsets[i]:child_offsets[i + 1]]: chunks have none,
                   responses what was retrieved for them, chunks and earlier responses
    """

    vectors: Floats32
    queries: Floats32
    sources: Ids
    child_offsets: Ids
    child_ids: Ids

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return len(self.vectors) - len(self.queries)


class _Record(NamedTuple):
    source: int
    query: str
    retrieved: list[int]
    response: str


@dataclass(frozen=True, kw_only=True)
class RecordIndexer(Component):
    """Simulates the use of a document and keeps the responses (paper §3).

    Chunks are drawn without repetition, and a query is written from each. For every query in turn the nearest nodes are
    retrieved, chunks and responses so far, and a response is written from them and becomes a node. A query that repeats
    an earlier one is left out.

    embedder: the vectors of chunks, queries and responses.
    simulator: what writes queries and responses.
    most_queries: fewer where the document has fewer chunks.
    retrieved: nodes retrieved for a query.
    seed: of the draw.
    """

    embedder: Embedder
    simulator: Simulator
    most_queries: PositiveInt = 30
    retrieved: PositiveInt = 6
    seed: NonNegativeInt = 0

    def build(self, passages: Passages, store: Store) -> Artifact:
        """The stage with the graph.

        Raises:
            UnfinishedRecordsError: the model failed for a query or a response.
        """
        embedded = passage_vectors(passages, self.embedder, store)
        inputs = {"embeddings": embedded.digest, "passages": passages.digest}
        stage = Stage("gor_records", VERSION, self.identity(), inputs)

        def make(folder: Path) -> Mapping[str, Any]:
            with RowLog(folder / "calls.log", key="call") as calls:
                records, graph = self._simulated(passages, load_vectors(embedded), calls)
                facts = _facts(calls, records)
            for name in RecordGraph._fields:
                np.save(folder / f"{name}.npy", getattr(graph, name), allow_pickle=False)
            rows = [{**each._asdict(), "source": passages.ids[each.source]} for each in records]
            write_rows(folder / "records.jsonl", rows)
            return facts

        return store.obtain(stage, make, resumable=True)

    def _simulated(self, passages: Passages, chunks: Floats32, calls: RowLog) -> tuple[list[_Record], RecordGraph]:
        drawn = np.random.default_rng(self.seed).permutation(len(passages))[: self.most_queries].tolist()
        self._ask(passages, drawn, calls)
        asked = list(_distinct(drawn, [calls.rows[f"query {number}"]["text"] for number in range(len(drawn))]))
        records, texts = list[_Record](), list(passages.contents)
        vectors, queries = list(chunks), list[Floats32]()
        for source, query in asked:
            queries.append(_encoded(self.embedder.encode_questions, query, chunks.shape[1]))
            near = cosines(on_grid(queries[-1][None]), on_grid(np.array(vectors)))[0]
            nodes = top_k(near, self.retrieved).tolist()
            response = self._respond(query, [texts[node] for node in nodes], len(records), len(asked), calls)
            vectors.append(_encoded(self.embedder.encode_passages, response, chunks.shape[1]))
            texts.append(response)
            records.append(_Record(source, query, nodes, response))
        return records, _graph(records, vectors, queries)

    def _ask(self, passages: Passages, drawn: Sequence[int], calls: RowLog) -> None:
        missing = [number for number in range(len(drawn)) if f"query {number}" not in calls.rows]
        found = self.simulator.queries([passages[drawn[number]] for number in missing]) if missing else []
        written = {number: each for number, each in zip(missing, found, strict=True) if isinstance(each, Written)}
        calls.append([_row(f"query {number}", each) for number, each in written.items()])
        failures = [each for each in found if isinstance(each, ModelError)]
        if failures:
            raise UnfinishedRecordsError("queries", len(drawn), failures)

    def _respond(self, query: str, texts: Sequence[str], number: int, size: int, calls: RowLog) -> str:
        call = f"response {number}"
        if call not in calls.rows:
            found = self.simulator.response(query, texts)
            if isinstance(found, ModelError):
                raise UnfinishedRecordsError("responses", size, [found])
            calls.append([_row(call, found)])
        return str(calls.rows[call]["text"])


def load_graph(folder: Path) -> RecordGraph:
    """The graph in the folder of a `gor_records` stage."""
    return RecordGraph(*(np.load(folder / f"{name}.npy", allow_pickle=False) for name in RecordGraph._fields))


def _graph(records: Sequence[_Record], vectors: Sequence[Floats32], queries: Sequence[Floats32]) -> RecordGraph:
    counts = [0] * (len(vectors) - len(records)) + [len(each.retrieved) for each in records]
    return RecordGraph(
        np.array(vectors, dtype=np.float32),
        np.array(queries, dtype=np.float32),
        np.array([each.source for each in records], dtype=np.int64),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array([node for each in records for node in each.retrieved], dtype=np.int64),
    )


def _distinct(sources: Sequence[int], queries: Sequence[str]) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for source, query in zip(sources, queries, strict=True):
        if query.casefold() not in seen:
            seen.add(query.casefold())
            yield source, query


def _encoded(encode: Callable[[Sequence[str]], Floats32], text: str, width: int) -> Floats32:
    # alone, not in batches: a continued run then sees the same vectors as an unbroken one
    vector: Floats32 = checked_vectors(encode([text]), [text], width)[0]
    return vector


def _row(call: str, written: Written) -> dict[str, Any]:
    return {"call": call, "text": written.text, "cut": written.cut, **asdict(written.usage)}


def _facts(calls: RowLog, records: Sequence[_Record]) -> dict[str, int]:
    rows = calls.rows.values()
    usage = sum((Usage(row["calls"], row["prompt_tokens"], row["completion_tokens"]) for row in rows), NO_USAGE)
    return {"records": len(records), "texts_cut": sum(row["cut"] for row in rows), **asdict(usage)}
