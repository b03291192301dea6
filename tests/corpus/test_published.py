"""Loaders of published benchmarks, on records in the published layouts and on real files where they are at hand."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.corpus.beir import Beir
from psi.corpus.contexts import ContextBenchmark
from psi.corpus.dragonball import DragonBall
from psi.corpus.flashrag import FlashRag
from psi.corpus.hipporag import HippoRagBenchmark
from psi.corpus.multihoprag import MultiHopRag
from psi.corpus.narrativeqa import NarrativeQa
from psi.corpus.published import Quotes, chunked, overlapping
from psi.corpus.qmsum import QmSum
from psi.corpus.records import Span
from psi.corpus.wcep import Wcep
from psi.errors import InputError

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
LONG = " ".join(f"Sentence number {n} says something of its own." for n in range(60))


def write(path, value, *, lines=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value))


def real(name):
    if not (DATA / name).is_dir():
        pytest.skip(f"no {name} in ../shared/data")
    return str(DATA / name)


@given(st.text(alphabet=st.sampled_from("ab. \n!北京。é\u2028"), max_size=300), st.integers(1, 20))
def test_chunks_hold_every_visible_character_once(text, size):
    passages = chunked("d", "t", text, size)
    for passage in passages:
        assert text[passage.span.start : passage.span.end] == passage.text
    held = sorted(place for p in passages for place in range(p.span.start, p.span.end))
    assert len(set(held)) == len(held)
    assert all(text[place].isspace() for place in set(range(len(text))) - set(held))


@given(st.lists(st.text(alphabet="aB. -\n", max_size=12), max_size=4), st.text(alphabet="aB. ", max_size=4))
def test_quotations_are_found_by_letters_and_digits(texts, quote):
    def squeezed(text):
        return re.sub(r"\W", "", text).lower()

    found = list(Quotes(texts).find(quote))
    wanted = squeezed(quote)
    expected = [
        (number, at)
        for number, text in enumerate(texts)
        for at in range(len(squeezed(text)))
        if wanted and squeezed(text).startswith(wanted, at)
    ]
    assert [(number, len(squeezed(texts[number][:start]))) for number, start, _ in found] == expected
    assert all(squeezed(texts[number][start:end]) == wanted for number, start, end in found)


QUERY = {
    "query": "Who is on trial?", "answer": "Ann", "question_type": "inference_query",
    "evidence_list": [
        {"title": "A", "fact": "Sentence number 20 — says something of its OWN", "url": "u"},
        {"title": "B", "fact": "Not there."},
    ],
}  # fmt: skip
NULL = {"query": "What?", "answer": "Insufficient information.", "question_type": "null_query", "evidence_list": []}


def test_multihoprag_of_articles(tmp_path):
    write(tmp_path / "MultiHopRAG.json", [QUERY, NULL])
    articles = [
        {"title": "B", "category": "sports", "body": "Short."},
        {"title": "A", "category": "business", "body": LONG},
    ]
    write(tmp_path / "corpus.json", articles)
    benchmark = MultiHopRag(name="m", folder=str(tmp_path)).load()
    asked, null = benchmark.questions
    holding = [p.id for p in benchmark.passages if "number 20 " in p.text]
    assert set(holding) <= set(asked.gold)
    assert [gold for gold in asked.gold if gold.startswith("unmapped:")] == ["unmapped:B: Not there."]
    assert benchmark.report.unmapped_gold == ("0000: B: Not there.",)
    [span] = asked.spans
    assert LONG[span.start : span.end] == "Sentence number 20 says something of its own"
    assert (asked.hops, asked.kind, asked.answerable) == (2, "inference_query", True)
    assert (null.gold, null.hops, null.answerable, null.answers) == ((), None, False, ("Insufficient information.",))
    assert {p.category for p in benchmark.passages if p.document == "0001"} == {"business"}


def test_multihoprag_of_chunks():
    loader = MultiHopRag(
        name="m", folder=real("multihoprag"), questions_file="multihoprag.json", corpus_file=None,
        chunks_file="multihoprag_chunks_partial.json", articles_file="article_metadata.json",
    )  # fmt: skip
    benchmark = loader.load()
    assert (len(benchmark.passages), len(benchmark.questions)) == (3006, 1000)
    assert sum(not question.answerable for question in benchmark.questions) == 125
    assert {question.hops for question in benchmark.questions} == {None, 2, 3, 4}
    # 115 of the 665 facts are in none of the chunks at hand
    assert len({entry.split(": ", 1)[1] for entry in benchmark.report.unmapped_gold}) == 115
    assert sum(passage.category == "sports" for passage in benchmark.passages) == 197


MEETING = {
    "meeting_transcripts": [{"speaker": "Ann", "content": LONG}, {"speaker": "Bob", "content": "Yes."}],
    "general_query_list": [{"query": "Summarize.", "answer": "All."}, {"query": "Again.", "answer": "Once more."}],
    "specific_query_list": [{"query": "Bob?", "answer": "He agreed.", "relevant_text_span": [["1", "1"]]}],
}


def test_qmsum_searches_each_meeting_alone(tmp_path):
    write(tmp_path / "qmsum.jsonl", [MEETING, MEETING], lines=True)
    first = QmSum(name="q", folder=str(tmp_path)).load()
    assert [q.document for q in first.questions] == ["meeting-000", "meeting-001"]
    assert "queries left out by queries=first_general: 4." in first.report.notes
    whole = QmSum(name="q", folder=str(tmp_path), queries="all").load()
    assert len(whole.questions) == 6
    specific = whole.questions[2]
    [gold] = specific.gold
    assert "Bob: Yes." in whole.passages.by_id(gold).text
    assert specific.spans == (Span("meeting-000", len(LONG) + 6, len(LONG) + 15),)


def test_qmsum_refuses_turns_that_are_not_there(tmp_path):
    query = {"query": "?", "answer": "!", "relevant_text_span": [["0", "9"]]}
    write(tmp_path / "qmsum.jsonl", [MEETING | {"specific_query_list": [query]}], lines=True)
    with pytest.raises(InputError, match="line 1: relevant_text_span 0 to 9"):
        QmSum(name="q", folder=str(tmp_path), queries="all").load()


def test_qmsum_of_the_test_meetings():
    benchmark = QmSum(name="q", folder=real("qmsum"), queries="all").load()
    assert len({passage.document for passage in benchmark.passages}) == 35
    assert len(benchmark.questions) == 37 + 244
    assert all(question.gold for question in benchmark.questions if question.kind == "specific")


@pytest.mark.parametrize(
    ("layout", "row"),
    [
        ("infinitebench", {"id": 3, "context": LONG, "input": "Who?", "answer": ["Ann", "Anna"], "options": []}),
        ("longbench", {"_id": "x", "context": LONG, "input": "Who?", "answers": ["Ann", "Anna"], "length": 9, "dataset": "d"}),
    ],
)  # fmt: skip
def test_contexts_are_documents(tmp_path, layout, row):
    write(
        tmp_path / "f.jsonl",
        [row, row | {"_id": "y", "id": 4}, row | {"_id": "z", "id": 5, "context": "Other."}],
        lines=True,
    )
    benchmark = ContextBenchmark(name="c", folder=str(tmp_path), file="f.jsonl", records=layout).load()
    assert [q.document for q in benchmark.questions] == ["document-0000", "document-0000", "document-0001"]
    assert benchmark.questions[0].answers == ("Ann", "Anna")


def test_predictions_are_no_books():
    folder = real("infinitebench")
    [file] = (path.name for path in Path(folder).glob("*.jsonl"))
    with pytest.raises(InputError, match="no `context`"):
        ContextBenchmark(name="c", folder=folder, file=file, records="infinitebench").load()


def test_narrativeqa_by_documents(tmp_path):
    passages = [{"idx": f"doc_{n % 2}_{n}", "title": "T", "text": f"Text {n}."} for n in range(4)]
    asked = {"question": "Who? ", "answer": ["Ann", "Ann", " "], "document": {"id": "doc_1"}}
    write(tmp_path / "narrativeqa_dev_10_doc_corpus.json", passages)
    write(tmp_path / "narrativeqa_dev_10_doc.json", [asked])
    benchmark = NarrativeQa(name="n", folder=str(tmp_path)).load()
    assert benchmark.passages.ids == ("doc_0#00000", "doc_0#00002", "doc_1#00001", "doc_1#00003")
    assert (benchmark.questions[0].document, benchmark.questions[0].answers) == ("doc_1", ("Ann",))
    write(tmp_path / "narrativeqa_dev_10_doc.json", [asked | {"document": {"id": "doc_7"}}])
    with pytest.raises(InputError, match="row 0: no passage belongs to the document 'doc_7'"):
        NarrativeQa(name="n", folder=str(tmp_path)).load()


def test_wcep_keeps_long_clusters(tmp_path):
    write(
        tmp_path / "wcep.jsonl",
        [{"document": ["Short."], "summary": "S"}, {"document": [LONG, LONG], "summary": "Event."}],
        lines=True,
    )
    benchmark = Wcep(name="w", folder=str(tmp_path), least_words=500).load()
    [question] = benchmark.questions
    assert (question.document, question.answers) == ("cluster-00001", ("Event.",))
    assert {passage.document for passage in benchmark.passages} == {"cluster-00001"}
    assert {passage.span.document for passage in benchmark.passages} == {"cluster-00001/000", "cluster-00001/001"}
    assert "clusters with fewer than 500 words, left out: 1." in benchmark.report.notes
    with pytest.raises(InputError, match="none of 2 clusters"):
        Wcep(name="w", folder=str(tmp_path)).load()


def beir(folder, judgements):
    write(
        folder / "corpus.jsonl",
        [{"_id": "d1", "title": "T", "text": "One."}, {"_id": "d2", "text": "Two."}],
        lines=True,
    )
    write(folder / "queries.jsonl", [{"_id": "q1", "text": "One?"}, {"_id": "q2", "text": "Not judged?"}], lines=True)
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels/test.tsv").write_text(judgements)
    return Beir(name="b", folder=str(folder))


def test_beir_judgements_are_gold(tmp_path):
    [question] = beir(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq1\td9\t2\n").load().questions
    assert (question.id, question.gold) == ("q1", ("d1", "unmapped:d9"))


def test_beir_counts_what_it_leaves_out(tmp_path):
    loaded = beir(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0\n").load()
    assert "queries without a passage judged above 0, left out: 1." in loaded.report.notes


@pytest.mark.parametrize("line", ["q1\td1", "q1\td1\tyes", "q1\td1\t1\t1", "q1 d1 1"])
def test_beir_refuses_other_judgements(tmp_path, line):
    with pytest.raises(InputError, match="line 2: expected query-id"):
        beir(tmp_path, f"query-id\tcorpus-id\tscore\n{line}\n").load()


def test_dragonball_by_language(tmp_path):
    docs = [
        {"doc_id": 1, "language": "en", "domain": "Finance", "content": LONG, "company_name": "Acme"},
        {"doc_id": 2, "language": "zh", "domain": "Law", "content": "北京在中国。上海也在中国。"},
    ]
    truth = {
        "doc_ids": [1],
        "content": "Seven.",
        "references": ["sentence number 7 says", "nowhere"],
        "keypoints": ["k"],
    }
    query = {"query_id": 5, "query_type": "Factual Question", "content": "Which?"}
    chinese = {"doc_ids": [2], "content": "中国", "references": ["上海也在中国"]}
    unknown = truth | {"doc_ids": [], "references": []}
    write(tmp_path / "dragonball_docs.jsonl", docs, lines=True)
    write(tmp_path / "dragonball_queries.jsonl", [
        {"language": "en", "domain": "Finance", "query": query, "ground_truth": truth},
        {"language": "zh", "domain": "Law", "query": query, "ground_truth": chinese},
        {"language": "en", "domain": "Law", "query": query | {"query_id": 6}, "ground_truth": unknown},
    ], lines=True)  # fmt: skip
    english = DragonBall(name="d", folder=str(tmp_path)).load()
    found, nowhere = english.questions[0].gold[:-1], english.questions[0].gold[-1]
    assert any("number 7 says" in english.passages.by_id(gold).text for gold in found)
    assert nowhere == "unmapped:nowhere"
    assert (english.questions[1].answerable, english.questions[1].hops, english.questions[1].gold) == (False, None, ())
    gone = truth | {"doc_ids": [1, 9]}
    rows = [{"language": "en", "domain": "Finance", "query": query, "ground_truth": gone}]
    write(tmp_path / "gone" / "dragonball_queries.jsonl", rows, lines=True)
    write(tmp_path / "gone" / "dragonball_docs.jsonl", docs, lines=True)
    [question] = DragonBall(name="d", folder=str(tmp_path / "gone")).load().questions
    assert (question.gold[0], question.hops, question.answerable) == ("unmapped:document 9", 2, True)
    [question] = DragonBall(name="d", folder=str(tmp_path), language="zh").load().questions
    assert (question.spans, question.gold) == ((Span("0002", 6, 12),), ("0002#00000",))


def test_flashrag_questions_over_a_corpus(tmp_path):
    write(
        tmp_path / "q.jsonl",
        [{"id": "t0", "question": "who? ", "golden_answers": ["A", "A"], "metadata": {}}],
        lines=True,
    )
    write(
        tmp_path / "c.jsonl",
        [{"id": 10, "contents": '"Paris"\nIs in France.'}, {"id": 9, "contents": "No title"}],
        lines=True,
    )
    benchmark = FlashRag(name="f", folder=str(tmp_path), questions_file="q.jsonl", corpus_file="c.jsonl").load()
    assert [(p.title, p.text) for p in benchmark.passages] == [("", "No title"), ("Paris", "Is in France.")]
    assert benchmark.questions[0].answers == ("A",)


def test_popqa_as_published_compares_lists_as_texts():
    folder = real("popqa")
    files = {"questions_file": "popqa.json", "corpus_file": "popqa_corpus.json", "folder": folder}
    parsed = HippoRagBenchmark(name="p", records="popqa", **files).load()
    published = HippoRagBenchmark(name="p", records="popqa_as_published", **files).load()
    assert [q.gold for q in parsed.questions] == [q.gold for q in published.questions]
    assert "politician" in parsed.questions[0].answers
    assert any(answer.startswith('["politician"') for answer in published.questions[0].answers)


def test_overlap_is_of_characters():
    passages = chunked("d", "", LONG, 20)
    touching = Span("d", passages[1].span.start, passages[1].span.start + 1)
    assert overlapping(passages, [touching]) == (passages[1].id,)
    assert overlapping(passages, [Span("d", 5, 5), Span("e", 0, 99)]) == ()


@pytest.mark.parametrize(
    ("loader", "file", "row"),
    [
        (QmSum(name="q"), "qmsum.jsonl", {"meeting_transcripts": []}),
        (Wcep(name="w"), "wcep.jsonl", {"document": "one text", "summary": "s"}),
        (ContextBenchmark(name="c", file="f.jsonl", records="longbench"), "f.jsonl", {"context": "x"}),
    ],
)
def test_a_record_of_another_layout_is_named(tmp_path, loader, file, row):
    write(tmp_path / file, [row], lines=True)
    settings = {"name": "x", "folder": str(tmp_path)}
    settings |= {"file": file, "records": "longbench"} if isinstance(loader, ContextBenchmark) else {}
    with pytest.raises(InputError, match=rf"{file}, line 1: "):
        type(loader)(**settings).load()
