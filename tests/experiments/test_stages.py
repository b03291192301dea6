import dataclasses
import json

import pytest

from experiments.stages.answers import answers_stage
from experiments.stages.benchmark import benchmark_stage, read_benchmark
from experiments.stages.rankings import rankings_stage, read_rankings
from experiments.stages.scores import scores_stage
from psi.corpus.records import Benchmark, Passage, Passages, Question
from psi.errors import InputError
from psi.index.abstracts import MeanAbstracts
from psi.index.psi_index import TreeIndexer
from psi.retrieval.dense import Dense
from psi.retrieval.fusion import Fusion
from psi.retrieval.sparse import BM25
from psi.retrieval.tree import TreeRetriever
from psi.store import Store
from tests.toys import ToyLoader, ToyReader, WordEmbedder

HOSTILE = [
    "\ufffdx",
    "a b",
    "👩‍👩‍👧 family",
    "北京是首都。",
    "é",
    "<|endoftext|> <s> [MASK]",
    "a\u2028b",
    'quote " and \\',
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostileLoader(ToyLoader):
    """Texts that break things, in every place that holds text."""

    def load(self):
        passages = [Passage(text, text, f"{text} word{number}") for number, text in enumerate(HOSTILE)]
        questions = [
            Question(text, f"{text} word{number}?", (text,), (text,), 1) for number, text in enumerate(HOSTILE)
        ]
        return Benchmark("hostile", Passages(passages), tuple(questions))


@dataclasses.dataclass(frozen=True, kw_only=True)
class TwoDocuments(ToyLoader):
    """One question a document; the words of both questions stand in both documents."""

    def load(self):
        passages = [
            Passage(f"{doc}{i}", "", f"the cat of part {i} sat", document=doc) for doc in "ab" for i in range(3)
        ]
        questions = tuple(Question(doc, "Where sat the cat?", ("x",), (f"{doc}0",), 1, document=doc) for doc in "ab")
        return Benchmark("documents", Passages(passages), questions)


def tree():
    return TreeRetriever(index=TreeIndexer(embedder=WordEmbedder(), abstracts=MeanAbstracts()))


def benchmark_of(loader, store):
    return read_benchmark(benchmark_stage(loader, store, limit=None, corpus_limit=None, seed=0))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_hostile_texts_come_through_every_stage(store, tmp_path):
    benchmark = benchmark_of(HostileLoader(), store)
    assert set(benchmark.passages.ids) == set(HOSTILE)
    assert benchmark.passages.digest == Passages(list(benchmark.passages)).digest  # what is remembered is so
    assert benchmark.questions_digest == dataclasses.replace(benchmark).questions_digest
    assert benchmark.passages.digest == HostileLoader().load().passages.digest
    assert benchmark.questions == HostileLoader().load().questions
    for retriever in (BM25(), Dense(embedder=WordEmbedder()), Fusion(retrievers=(tree(), BM25()))):
        rankings = rankings_stage(benchmark, retriever, store, k=3)
        assert {question: ranking.ids[0] for question, ranking in read_rankings(rankings.path).items()} == {
            text: text for text in HOSTILE
        }
        reader = ToyReader(calls=str(tmp_path / "calls"))
        answers = answers_stage(benchmark, rankings, reader, store, context=2, limit=None, seed=0)
        scores_stage(benchmark, rankings, answers, ["recall@1", "em"], store)
    for path in store.root.rglob("*.json*"):
        path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("retriever", [BM25(), Dense(embedder=WordEmbedder()), tree()], ids=["bm25", "dense", "tree"])
def test_a_question_about_one_document_finds_nothing_of_another(retriever, store):
    rankings = read_rankings(rankings_stage(benchmark_of(TwoDocuments(), store), retriever, store, k=10).path)
    for document in "ab":
        assert set(rankings[document].ids) == {f"{document}{i}" for i in range(3)}


def test_a_question_about_a_document_that_is_not_there_is_refused(store):
    benchmark = TwoDocuments().load()
    lost = Benchmark("lost", benchmark.passages, (Question("q", "Where?", document="c"),))
    with pytest.raises(InputError, match="'c'"):
        rankings_stage(lost, BM25(), store, k=1)


def test_answers_are_asked_for_a_nested_part_of_the_questions(store, tmp_path):
    benchmark = benchmark_of(HostileLoader(), store)
    rankings = rankings_stage(benchmark, BM25(), store, k=3)
    reader = ToyReader(calls=str(tmp_path / "calls"))
    few, more = (
        set(answers_stage(benchmark, rankings, reader, store, context=2, limit=limit, seed=0).rows) for limit in (2, 5)
    )
    assert len(few) == 2 and len(more) == 5 and few < more


def test_another_context_or_reader_asks_again_and_the_same_does_not(store, tmp_path):
    benchmark = benchmark_of(ToyLoader(), store)
    rankings = rankings_stage(benchmark, BM25(), store, k=3)
    calls = tmp_path / "calls"
    for context in (1, 2, 1):
        answers_stage(benchmark, rankings, ToyReader(calls=str(calls)), store, context=context, limit=None, seed=0)
    assert len(calls.read_text().splitlines()) == 2 * 2


def test_scores_keep_counts_beside_every_mean(store, tmp_path):
    benchmark = benchmark_of(ToyLoader(), store)
    rankings = rankings_stage(benchmark, BM25(), store, k=3)
    answers = answers_stage(
        benchmark, rankings, ToyReader(calls=str(tmp_path / "c")), store, context=1, limit=1, seed=0
    )
    scores = scores_stage(benchmark, rankings, answers, ["recall@1", "em"], store)
    summary = json.loads((scores.path / "summary.json").read_text())
    assert summary["recall@1"]["n"] == 2
    assert summary["em"]["n"] == 1
    assert {"mean", "low", "high", "n", "n_failed", "n_excluded"} <= set(summary["em"])
