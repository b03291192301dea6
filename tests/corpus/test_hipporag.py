import json
from pathlib import Path
from typing import Any

import pytest

from psi.corpus.hipporag import HippoRagBenchmark
from psi.corpus.records import Benchmark, Question
from psi.errors import ConfigError, InputError

PARIS = {"title": "Paris", "text": "Paris is in France."}
PARIS_TEXAS = {"title": "Paris", "text": "Paris is in Texas."}
FRANCE = {"title": "France", "text": "France is a country. Its capital is Paris."}
CORPUS = [PARIS, FRANCE, PARIS_TEXAS]

TITLED = {
    "_id": "a1",
    "type": "bridge",
    "question": " What? ",
    "answer": "Paris",
    "context": [
        ["France", ["France is a country.", " Its capital is Paris."]],
        ["Paris", ["Paris is in Texas."]],
        ["Rome", ["Rome."]],
    ],
    "supporting_facts": [["France", 0], ["France", 1], ["Paris", 0]],
}
MUSIQUE = {
    "id": "2hop__1_2",
    "question": "What?",
    "answer": "Paris",
    "answer_aliases": ["City of Light", "Paris"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Paris", "paragraph_text": PARIS["text"], "is_supporting": False},
        {"idx": 1, "title": "Paris", "paragraph_text": PARIS_TEXAS["text"], "is_supporting": True},
        {"idx": 2, "title": "France", "paragraph_text": FRANCE["text"], "is_supporting": True},
    ],
    "question_decomposition": [
        {"id": 1, "question": "France >> capital", "answer": "Paris"},
        {"id": 2, "question": "What is #1 called?", "answer": "City of Light"},
    ],
}
POPQA = {
    "id": 7,
    "question": "What is X's occupation?",
    "prop": "occupation",
    "obj": "politician",
    "possible_answers": '["politician", "political leader"]',
    "o_wiki_title": "Politician",
    "o_aliases": '["pol"]',
    "paragraphs": [PARIS_TEXAS | {"is_supporting": True}, FRANCE],
}
NQ = {"question": "where?", "reference": ["Paris", "paris"], "contexts": [PARIS | {"is_supporting": True}]}
NQ_ORACLE = {"id": "3", "question": "where?", "answer": ["Paris"], "paragraphs": [PARIS | {"is_supporting": True}]}


def _loader(folder: Path, kind: Any, rows: list[Any], corpus: list[Any], **settings: Any) -> HippoRagBenchmark:
    (folder / "toy.json").write_text(json.dumps(rows))
    (folder / "toy_corpus.json").write_text(json.dumps(corpus))
    return HippoRagBenchmark(
        name="toy",
        records=kind,
        questions_file="toy.json",
        corpus_file="toy_corpus.json",
        folder=str(folder),
        **settings,
    )


def _load(folder: Path, kind: str, rows: list[Any], corpus: list[Any] = CORPUS, **settings: Any) -> Benchmark:
    return _loader(folder, kind, rows, corpus, **settings).load()


TWOWIKI = TITLED | {
    "context": [["France", ["France is a country.", "Its capital is Paris."]], *TITLED["context"][1:]],
    "evidences": [["France", "capital", "Paris"], ["Paris", "river", "Seine"]],
}
MUSIQUE_STEPS = ("France capital", "What is Paris called?")


@pytest.mark.parametrize(
    ("kind", "row", "question"),
    [
        ("hotpotqa", TITLED, Question("a1", "What?", ("Paris",), ("00001", "00002"), 2, "bridge")),
        (
            "2wiki",
            TWOWIKI,
            Question(
                "a1",
                "What?",
                ("Paris",),
                ("00001", "00002"),
                2,
                "bridge",
                steps=("France capital", "Paris river"),
            ),
        ),
        (
            "musique",
            MUSIQUE,
            Question(
                "2hop__1_2",
                "What?",
                ("Paris", "City of Light"),
                ("00002", "00001"),
                2,
                "2hop",
                steps=MUSIQUE_STEPS,
            ),
        ),
        (
            "popqa",
            POPQA,
            Question(
                "7",
                "What is X's occupation?",
                ("politician", "political leader", "Politician", "pol"),
                ("00002", "00001"),
                1,
                "occupation",
            ),
        ),
        ("nq", NQ, Question("0", "where?", ("Paris", "paris"), ("00000",), 1)),
        ("nq_oracle", NQ_ORACLE, Question("3", "where?", ("Paris",), ("00000",), 1)),
    ],
)
def test_each_record_format(tmp_path: Path, kind: str, row: dict[str, Any], question: Question) -> None:
    benchmark = _load(tmp_path, kind, [row])
    assert benchmark.questions == (question,)
    assert benchmark.passages.ids == ("00000", "00001", "00002")
    assert benchmark.passages[2].content == "Paris\nParis is in Texas."
    assert benchmark.report.notes == ()
    assert benchmark.report.unmapped_gold == ()


@pytest.mark.parametrize("aliases", ['["politician", "political leader"]', ["politician", "political leader"]])
def test_popqa_aliases_as_json_text_or_as_a_list(tmp_path: Path, aliases: Any) -> None:
    (question,) = _load(tmp_path, "popqa", [POPQA | {"possible_answers": aliases}]).questions
    assert "political leader" in question.answers
    assert not any(answer.startswith(("[", '"')) for answer in question.answers)


@pytest.mark.parametrize("aliases", ['["politician"', '{"a": 1}', '"politician"', "[1]", "politician"])
def test_popqa_aliases_that_are_malformed_are_refused(tmp_path: Path, aliases: str) -> None:
    with pytest.raises(InputError, match=r"toy\.json, row 1: possible_answers=.*not a JSON list of strings"):
        _load(tmp_path, "popqa", [POPQA, POPQA | {"id": 8, "possible_answers": aliases}])


def test_a_number_that_is_no_earlier_step_stays_in_a_sub_question(tmp_path: Path) -> None:
    row = MUSIQUE | {"question_decomposition": [{"question": "Who sang the #1 hit #40?", "answer": "Paris"}]}
    (question,) = _load(tmp_path, "musique", [row]).questions
    assert question.steps == ("Who sang the #1 hit #40?",)


def test_gold_that_the_corpus_lacks_counts_as_missed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    benchmark = _load(tmp_path, "musique", [MUSIQUE], CORPUS[:2])
    gold = benchmark.questions[0].gold
    assert len(gold) == 2
    assert gold[0].startswith("unmapped:Paris")
    assert gold[1] == "00001"
    assert benchmark.report.unmapped_gold == (f"2hop__1_2: {gold[0].removeprefix('unmapped:')}",)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "toy: 1 gold references match no passage" in caplog.text


def test_unmapped_references_of_one_title_stay_distinct(tmp_path: Path) -> None:
    row = NQ_ORACLE | {"paragraphs": [PARIS, PARIS_TEXAS]}
    (question,) = _load(tmp_path, "nq_oracle", [row], [FRANCE]).questions
    assert len(question.gold) == 2


def test_gold_named_twice_is_one(tmp_path: Path) -> None:
    (question,) = _load(tmp_path, "nq_oracle", [NQ_ORACLE | {"paragraphs": [PARIS, PARIS]}]).questions
    assert question.gold == ("00000",)


def test_both_sides_of_the_mapping_are_cleaned(tmp_path: Path) -> None:
    corpus = [{"title": "Cafe\u0301 ", "text": "a\x00b\r\n\ud800 "}]
    row = NQ_ORACLE | {"paragraphs": [{"title": " Caf\u00e9", "text": "ab\n\ufffd"}]}
    benchmark = _load(tmp_path, "nq_oracle", [row], corpus)
    assert benchmark.questions[0].gold == ("00000",)
    assert benchmark.passages[0].content == "Caf\u00e9\nab\n\ufffd"
    assert benchmark.report.cleaned == {"newline": 1, "nfc": 1, "nul": 1, "surrogate": 1, "whitespace": 2}
    assert benchmark.report.notes == ()


def test_a_match_with_white_space_left_aside_is_noted(tmp_path: Path) -> None:
    row = NQ_ORACLE | {"paragraphs": [{"title": "Paris", "text": "Paris  is\nin France."}]}
    benchmark = _load(tmp_path, "nq_oracle", [row])
    assert benchmark.questions[0].gold == ("00000",)
    assert benchmark.report.notes == ("gold references that match their passage only with white space left aside: 1.",)


def test_a_title_alone_names_its_only_passage_whatever_the_text(tmp_path: Path) -> None:
    row = TITLED | {"context": [["France", ["Other words."]]], "supporting_facts": [["France", 0]]}
    assert _load(tmp_path, "hotpotqa", [row]).questions[0].gold == ("00001",)


def test_ids_keep_their_places_when_passages_are_skipped(tmp_path: Path) -> None:
    corpus = [PARIS_TEXAS, {"title": "Blank", "text": " \n\t "}, PARIS]
    benchmark = _load(tmp_path, "nq_oracle", [NQ_ORACLE], corpus)
    assert benchmark.passages.ids == ("00000", "00002")
    assert benchmark.report.skipped_empty == ("00001",)
    assert benchmark.questions[0].gold == ("00002",)
    with pytest.raises(InputError, match=r"toy_corpus\.json: passage '00001' has no text"):
        _load(tmp_path, "nq_oracle", [NQ_ORACLE], corpus, on_empty="refuse")


def test_one_text_under_two_ids_is_kept_and_noted(tmp_path: Path) -> None:
    benchmark = _load(tmp_path, "nq_oracle", [NQ_ORACLE], [PARIS, PARIS])
    assert len(benchmark.passages) == 2
    assert benchmark.questions[0].gold == ("00000",)
    assert benchmark.report.notes == ("passages that repeat another one's text: 1; each is kept under its own id.",)


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"empty corpus: .*toy_corpus\.json"):
        _load(tmp_path, "nq_oracle", [NQ_ORACLE], [])


def test_questions_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"toy: duplicate question id '3' .row 1"):
        _load(tmp_path, "nq_oracle", [NQ_ORACLE, NQ_ORACLE])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "3"}, "row 1: question: Field required"),
        (NQ_ORACLE | {"answer": "Paris"}, "row 1: answer: Input should be a valid list"),
        (NQ_ORACLE | {"paragraphs": [{"title": "x"}]}, r"row 1: paragraphs\.0\.text: Field required"),
        (NQ_ORACLE | {"question": " "}, "row 1: the question is blank"),
        ("text", "row 1: record: "),
    ],
)
def test_malformed_records_are_located(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"toy\.json, {message}"):
        _load(tmp_path, "nq_oracle", [NQ_ORACLE, row])


def test_malformed_passages_are_located(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"toy_corpus\.json, row 1: text: Field required"):
        _load(tmp_path, "nq_oracle", [NQ_ORACLE], [PARIS, {"title": "x"}])


def test_fingerprint_and_report_name_the_files_by_digest(tmp_path: Path) -> None:
    loader = _loader(tmp_path, "nq_oracle", [NQ_ORACLE], CORPUS)
    fingerprint = loader.fingerprint()
    assert set(fingerprint) == {"toy.json", "toy_corpus.json"}
    assert loader.load().report.sources == fingerprint
    _loader(tmp_path, "nq_oracle", [NQ_ORACLE], [PARIS])
    assert loader.fingerprint() != fingerprint


def test_a_pinned_file_that_changed_is_refused(tmp_path: Path) -> None:
    loader = _loader(tmp_path, "nq_oracle", [NQ_ORACLE], CORPUS, sha256={"toy_corpus.json": "0" * 64})
    with pytest.raises(InputError, match=r"toy_corpus\.json: the file has changed"):
        loader.load()


def test_the_folder_is_no_part_of_what_the_benchmark_is(tmp_path: Path) -> None:
    here = _loader(tmp_path, "nq_oracle", [NQ_ORACLE], CORPUS)
    (tmp_path / "there").mkdir()
    there = _loader(tmp_path / "there", "nq_oracle", [NQ_ORACLE], CORPUS)
    assert here.identity() == there.identity()


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"kind": "squad"}, "records='squad'"), ({"repository": "a/b"}, "set both"), ({"on_empty": "drop"}, "on_empty")],
)
def test_settings_out_of_range_are_refused(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        _loader(tmp_path, settings.pop("kind", "nq"), [], [], **settings)


def test_identifiers_are_data_never_paths(tmp_path: Path) -> None:
    odd = ["a b", "a_b", "../../etc/passwd", "CON", "x" * 300, "a/b|c", "ollama:qwen3:8b"]
    rows = [NQ_ORACLE | {"id": id_} for id_ in odd]
    before = sorted(tmp_path.rglob("*")) or None
    benchmark = _load(tmp_path, "nq_oracle", rows)
    assert [question.id for question in benchmark.questions] == odd
    assert before is None
    assert {path.name for path in tmp_path.rglob("*")} == {"toy.json", "toy_corpus.json"}
