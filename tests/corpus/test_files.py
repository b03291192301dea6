import json
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from psi.corpus.files import FilesBenchmark
from psi.corpus.records import Benchmark, Passage, Question
from psi.corpus.splitter import token_starts
from psi.errors import ConfigError, InputError

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = [
    "\ud800x",
    "a\x00b",
    "👩\u200d👩\u200d👧 family",
    "北京是首都。",
    "e\u0301",
    "<|endoftext|> <s> [MASK]",
    "a\u2028b",
    "c\r\nd",
]


def _jsonl(path: Path, rows: list[Any]) -> str:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def _load(folder: Path, passages: list[Any], questions: list[Any] | None = None, **settings: Any) -> Benchmark:
    corpus = _jsonl(folder / "passages.jsonl", passages)
    asked = _jsonl(folder / "questions.jsonl", questions) if questions is not None else None
    return FilesBenchmark(corpus=corpus, questions=asked, **settings).load()


def _folder(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return str(root / "docs")


def test_passages_and_questions_from_json_lines(tmp_path: Path) -> None:
    benchmark = _load(
        tmp_path,
        [
            {"id": "d1", "title": "Paris", "text": "Paris is in France.", "document": "geo", "category": "city"},
            {"id": 7, "text": " Rome. "},
        ],
        [
            {"question": "Where?", "answers": ["A", "", "A"], "gold": ["d1", "d1"], "hops": 1, "kind": "where"},
            {"id": "q9", "question": "Which?", "gold": [7], "document": "geo"},
            {"question": "Nobody knows?", "answerable": False},
        ],
    )  # fmt: skip
    assert set(benchmark.passages.ids) == {"d1", "7"}
    assert benchmark.passages.by_id("d1") == Passage("d1", "Paris", "Paris is in France.", "geo", "city")
    assert benchmark.passages.by_id("7").content == "Rome."
    assert benchmark.questions == (
        Question("0", "Where?", ("A",), ("d1",), 1, "where"),
        Question("q9", "Which?", gold=("7",), document="geo"),
        Question("2", "Nobody knows?", answerable=False),
    )


def test_strings_that_break_things_survive_or_are_repaired(tmp_path: Path) -> None:
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(HOSTILE)]
    raw = "\r\n".join(json.dumps(row, ensure_ascii=i == 0) for i, row in enumerate(rows))
    (tmp_path / "p.jsonl").write_bytes(b"\xef\xbb\xbf" + raw.encode())
    benchmark = FilesBenchmark(corpus=str(tmp_path / "p.jsonl")).load()
    texts = [passage.text for passage in benchmark.passages]
    assert texts == ["\ufffdx", "ab", *HOSTILE[2:4], "\u00e9", *HOSTILE[5:7], "c\nd"]
    assert benchmark.report.cleaned == {"newline": 1, "nfc": 1, "nul": 1, "surrogate": 1}
    written = json.dumps(texts, ensure_ascii=False).encode("utf-8")
    assert json.loads(written.decode("utf-8")) == texts


def test_documents_become_chunks(tmp_path: Path) -> None:
    text = "One two three four five. " * 10
    folder = _folder(tmp_path, {"b/two.txt": text, "a.txt": "Short.", "b/skip.csv": "x", ".git/c.txt": "x"})
    benchmark = FilesBenchmark(corpus=folder, chunk_tokens=20).load()
    assert benchmark.passages.ids == ("a.txt#0000", *(f"b/two.txt#000{i}" for i in range(4)))
    assert {passage.document for passage in benchmark.passages} == {"a.txt", "b/two.txt"}
    assert benchmark.passages[0].title == "a"
    assert all(len(token_starts(passage.text)) <= 20 for passage in benchmark.passages)
    assert " ".join(passage.text for passage in benchmark.passages[1:]) == text.strip()
    assert benchmark.report.notes[0] == "files that are none of .txt, .md, .html, .htm, .pdf, left out: 1."


def test_markdown_headings_become_titles(tmp_path: Path) -> None:
    text = "Before any.\n\n# First #\n\nOne two three.\n\n```\n# no heading\n```\n\n## Second\n\nFour five six seven."
    folder = _folder(tmp_path, {"notes.md": text})
    benchmark = FilesBenchmark(corpus=folder, chunk_tokens=5).load()
    titles = {passage.text.split()[-1]: passage.title for passage in benchmark.passages}
    assert titles["any."] == "notes"
    assert titles["three."] == "First"
    assert titles["seven."] == "Second"
    assert "no heading" not in titles.values()


def test_chunks_overlap_on_request(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"a.txt": "a b c d e f"})
    passages = FilesBenchmark(corpus=folder, chunk_tokens=4, chunk_overlap=2).load().passages
    assert [passage.text for passage in passages] == ["a b c d", "c d e f"]
    with pytest.raises(ConfigError, match="chunk_overlap=4 must be smaller than chunk_tokens=4"):
        FilesBenchmark(corpus=folder, chunk_tokens=4, chunk_overlap=4)


def test_blank_documents_and_passages_are_reported_or_refused(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"a.txt": " \n\t ", "b.txt": "Text."})
    assert FilesBenchmark(corpus=folder).load().report.skipped_empty == ("a.txt#0000",)
    with pytest.raises(InputError, match=r"'a\.txt#0000' has no text"):
        FilesBenchmark(corpus=folder, on_empty="refuse").load()
    rows = [{"id": "d1", "text": ""}, {"id": "d2", "text": " \n\t "}, {"id": "d3", "text": "Paris is in France."}]
    benchmark = _load(tmp_path, rows)
    assert benchmark.passages.ids == ("d3",)
    assert benchmark.report.skipped_empty == ("d1", "d2")
    with pytest.raises(InputError, match="'d1' has no text"):
        _load(tmp_path, rows, on_empty="refuse")


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="empty corpus"):
        FilesBenchmark(corpus=str(tmp_path / "none")).load()
    with pytest.raises(InputError, match="empty corpus"):
        _load(tmp_path, [])


def test_one_text_under_two_ids_is_kept_and_noted(tmp_path: Path) -> None:
    benchmark = _load(tmp_path, [{"id": "a", "text": "x"}, {"id": "b", "text": "x"}])
    assert benchmark.passages.ids == ("a", "b")
    assert benchmark.report.notes == ("passages that repeat another one's text: 1; each is kept under its own id.",)


def test_gold_that_the_corpus_lacks_counts_as_missed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    benchmark = _load(tmp_path, [{"id": "a", "text": "x"}], [{"id": "q", "question": "?", "gold": ["a", "b"]}])
    assert benchmark.questions[0].gold == ("a", "unmapped:b")
    assert benchmark.report.unmapped_gold == ("q: b",)
    assert "files: 1 gold references match no passage" in caplog.text


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"id": "d1", "text": "y"}, "line 2: duplicate id 'd1', first on line 1"),
        ({"id": "d2", "txt": "y"}, "line 2: unknown key 'txt'. Did you mean 'text'"),
        ({"id": "d2"}, "line 2: text: Field required"),
        ({"text": "y"}, "line 2: id: Field required"),
        ({"id": "", "text": "y"}, "line 2: the id is blank"),
        ({"id": True, "text": "y"}, "line 2: id: Input should be a valid string"),
        ({"id": "d2", "text": 5}, "line 2: text: Input should be a valid string, found 5"),
        ({"id": "d2", "text": json.loads("[" * 900 + "]" * 900)}, "line 2: JSON nested too deeply"),
        ({"id": " d1\0", "text": "y"}, "line 2: duplicate id 'd1', first on line 1"),
        (["d2", "y"], "line 2: expected a JSON object, found list"),
    ],
)
def test_malformed_passages_are_located(tmp_path: Path, second: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        _load(tmp_path, [{"id": "d1", "text": "x"}, second])
    assert f"passages.jsonl, {message}" in str(error.value)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"id": "0", "question": "?"}, "line 2: duplicate id '0', first on line 1"),
        ({"questions": "?"}, "line 2: unknown key 'questions'. Did you mean 'question'"),
        ({"question": " "}, "line 2: the question is blank"),
        ({"question": "?", "answers": "x"}, "line 2: answers: Input should be a valid list"),
        ({"question": "?", "hops": 0}, "line 2: hops: Input should be greater than 0"),
        ({"question": "?", "hops": True}, "line 2: hops: Input should be a valid integer, found True"),
        ({"question": "?", "hops": "2"}, "line 2: hops: Input should be a valid integer, found '2'"),
        ({"question": "?", "answerable": "no"}, "line 2: answerable: Input should be a valid boolean"),
        ({"question": "?", "document": "d"}, "line 2: no passage belongs to the document 'd'"),
    ],
)
def test_malformed_questions_are_located(tmp_path: Path, second: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        _load(tmp_path, [{"id": "d1", "text": "x"}], [{"question": "?"}, second])
    assert f"questions.jsonl, {message}" in str(error.value)


def test_files_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"ok\nna\xefve")
    with pytest.raises(InputError, match=r"bad\.txt, line 2: not UTF-8"):
        FilesBenchmark(corpus=str(tmp_path)).load()


def test_paths_that_are_no_corpus_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone: cannot be read"):
        FilesBenchmark(corpus=str(tmp_path / "gone")).load()
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(InputError, match=r"a\.csv: the corpus must be a folder"):
        FilesBenchmark(corpus=str(tmp_path / "a.csv")).load()


def test_fingerprint_follows_every_file(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"a.txt": "x", "b/c.md": "y"})
    asked = _jsonl(tmp_path / "q.jsonl", [{"question": "?"}])
    loader = FilesBenchmark(corpus=folder, questions=asked)
    before = loader.fingerprint()
    assert list(before) == ["corpus/a.txt", "corpus/b/c.md", "questions/q.jsonl"]
    assert loader.load().report.sources == before
    _folder(tmp_path, {"b/c.md": "z"})
    after = loader.fingerprint()
    assert {name for name in before if before[name] != after[name]} == {"corpus/b/c.md"}


def test_identifiers_are_data_never_paths(tmp_path: Path) -> None:
    odd = ["a b", "a_b", "../../etc/passwd", "CON", "x" * 300, "a/b|c", "ollama:qwen3:8b", "a\u2028b"]
    benchmark = _load(
        tmp_path, [{"id": id_, "text": id_} for id_ in odd], [{"id": id_, "question": "?"} for id_ in odd]
    )
    assert set(benchmark.passages.ids) == set(odd)
    assert [question.id for question in benchmark.questions] == odd
    assert {path.name for path in tmp_path.rglob("*")} == {"passages.jsonl", "questions.jsonl"}


def test_the_configuration_is_complete(tmp_path: Path) -> None:
    config = OmegaConf.load(ROOT / "conf" / "dataset" / "files.yaml")
    config.corpus = _folder(tmp_path, {"a.txt": "Text."})
    loader = instantiate(config, _convert_="all")
    assert set(config) - {"_target_"} == set(vars(loader))
    assert len(loader.load().passages) == 1
