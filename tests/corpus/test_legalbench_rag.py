"""LegalBench-RAG as chunks of documents."""

import json
from pathlib import Path

import pytest

from baselines.sproutrag.split import PARTS, DocumentSplit
from psi.corpus.legalbench_rag import LegalBenchRag
from psi.errors import InputError

SHARED = Path(__file__).parents[3] / "shared" / "data" / "legalbench_rag"


def written(tmp_path, span=(10, 18), document="toy/A_ B.txt"):
    (tmp_path / "corpus" / "toy").mkdir(parents=True)
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "corpus" / "toy" / "A_ B.txt").write_text("One here. Two there. Three. Four.\n\n", encoding="utf-8")
    snippet = {"file_path": document.replace("_", ":"), "span": list(span), "answer": "Two"}
    (tmp_path / "benchmarks" / "toy.json").write_text(json.dumps({"tests": [{"query": "Who?", "snippets": [snippet]}]}))
    return LegalBenchRag(subset="toy", folder=str(tmp_path))


def test_chunks_hold_every_character_and_gold_are_those_that_a_span_touches(tmp_path):
    benchmark = written(tmp_path, span=(20, 22)).load()
    assert [passage.text for passage in benchmark.passages] == ["One here. Two there. ", "Three. Four.\n\n"]
    assert {passage.title for passage in benchmark.passages} == {"A_ B"}
    assert benchmark.questions[0].gold == benchmark.passages.ids
    assert benchmark.questions[0].spans[0].document == benchmark.passages[0].document
    assert set(LegalBenchRag(subset="toy", folder=str(tmp_path)).fingerprint()) == {"toy.json", "A_ B.txt"}


def test_a_span_that_ends_where_a_chunk_begins_does_not_touch_it(tmp_path):
    benchmark = written(tmp_path, span=(10, 21)).load()
    assert benchmark.questions[0].gold == (benchmark.passages.ids[0],)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match=r"toy\.json"):
        LegalBenchRag(subset="toy", folder=str(tmp_path)).load()
    with pytest.raises(InputError, match="absent"):
        written(tmp_path, document="toy/absent.txt").load()


@pytest.mark.skipif(not SHARED.is_dir(), reason="LegalBench-RAG's files are not at hand")
@pytest.mark.parametrize(("subset", "questions", "documents"), [("privacy_qa", 194, 7), ("contractnli", 977, 95)])
def test_the_published_files(subset, questions, documents):
    loader = LegalBenchRag(subset=subset, folder=str(SHARED))
    benchmark = loader.load()
    assert len(benchmark.questions) == questions
    assert len({passage.document for passage in benchmark.passages}) == documents
    assert all(question.gold for question in benchmark.questions)
    texts: dict[str, str] = {}
    for passage in benchmark.passages:
        texts[passage.document] = texts.get(passage.document, "") + passage.text
    tests = json.loads((SHARED / "benchmarks" / f"{subset}.json").read_text())["tests"]
    found = [
        texts[span.document][span.start : span.end] == snippet["answer"]
        for question, test in zip(benchmark.questions, tests, strict=True)
        for span, snippet in zip(question.spans, test["snippets"], strict=True)
    ]
    assert sum(found) / len(found) > 0.99
    parts = [DocumentSplit(dataset=loader).of(part).load() for part in PARTS]
    assert sum(len(part.questions) for part in parts) == questions
