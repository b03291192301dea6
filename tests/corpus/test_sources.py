import json
from pathlib import Path

import pytest

from psi.corpus import sources
from psi.errors import InputError

HUB = sources.Hub("someone/some_data", "abc123")


def _file(folder: Path, data: bytes) -> sources.Source:
    path = folder / "rows.jsonl"
    path.write_bytes(data)
    return sources.read(path)


def test_json_lines_split_at_line_feeds_alone(tmp_path: Path) -> None:
    texts = ["a\u2028b", "c\u0085d", "e\x0bf"]
    data = "\r\n".join(json.dumps(text, ensure_ascii=False) for text in texts[:2]) + "\n\n" + json.dumps(texts[2])
    assert list(sources.json_lines(_file(tmp_path, data.encode()))) == [(1, texts[0]), (2, texts[1]), (4, texts[2])]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert sources.text_of(_file(tmp_path, b"\xef\xbb\xbfx")) == "x"


@pytest.mark.parametrize(("mark", "offset"), [(b"", 3), (b"\xef\xbb\xbf", 6)])
def test_bytes_that_are_not_utf8_are_located(tmp_path: Path, mark: bytes, offset: int) -> None:
    with pytest.raises(InputError, match=rf"rows\.jsonl, line 2: not UTF-8 \(byte 0xff at offset {offset}\)"):
        sources.text_of(_file(tmp_path, mark + b"a\nb\xff"))


def test_malformed_json_is_located(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rows\.jsonl, line 3, column 7"):
        list(sources.json_lines(_file(tmp_path, b'{"a": 1}\n\n{"a": }\n')))
    with pytest.raises(InputError, match=r"rows\.jsonl, line 2"):
        sources.json_list(_file(tmp_path, b"[1,\n}]"))


@pytest.mark.parametrize(
    ("line", "said"),
    [('{"id": 1, "id": 2}', "the key 'id' stands twice"), ('{"id": ' + "9" * 5000 + "}", "5000 digits")],
)
def test_what_json_would_pass_over_is_located(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"rows\.jsonl, line 2: .*{said}"):
        list(sources.json_lines(_file(tmp_path, f'{{"a": 1}}\n{line}\n'.encode())))
    with pytest.raises(InputError, match=rf"rows\.jsonl: .*{said}"):
        sources.json_list(_file(tmp_path, f"[\n{line}]".encode()))


def test_a_list_is_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a JSON list of records, found dict"):
        sources.json_list(_file(tmp_path, b"{}"))


def test_json_nested_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        sources.json_list(_file(tmp_path, b"[" * 200_000))


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    source = _file(tmp_path, b"[]")
    sources.check_digest(source, {"rows.jsonl": source.sha256, "other": "0"})
    with pytest.raises(InputError, match=r"has changed.*pins 00.*~dataset\.sha256"):
        sources.check_digest(source, {"rows.jsonl": "00"})


def test_a_local_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("[]")
    monkeypatch.setattr(sources, "_download", lambda hub, file: pytest.fail("asked the hub"))
    assert sources.find_files(["a.json"], str(tmp_path), HUB) == [tmp_path / "a.json"]


def test_files_that_are_not_local_come_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(repo_id: str, filename: str, *, repo_type: str, revision: str) -> str:
        asked.append((repo_id, filename, repo_type, revision))
        return str(tmp_path / "cache" / filename)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    (tmp_path / "a.json").write_text("[]")  # a folder with some of the files is not the benchmark
    found = sources.find_files(["a.json", "b.json"], str(tmp_path), HUB)
    assert found == [tmp_path / "cache" / "a.json", tmp_path / "cache" / "b.json"]
    assert asked == [("someone/some_data", name, "dataset", "abc123") for name in ("a.json", "b.json")]


def test_files_that_are_nowhere_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*args: object, **kwargs: object) -> str:
        raise FileNotFoundError("not in the cache") from ConnectionError("name not known\nmore")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", unreachable)
    with pytest.raises(InputError) as error:
        sources.find_files(["a.json"], str(tmp_path / "musique"), HUB)
    for part in (
        str(tmp_path / "musique"), "someone/some_data", "abc123", "a.json", "ConnectionError: name not known",
        "dataset.folder=", "PSI_DATA", "dataset.repository",
    ):  # fmt: skip
        assert part in str(error.value)


def test_local_only_files_that_are_missing_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lacks a\.json; no hub repository is set.*dataset\.folder="):
        sources.find_files(["a.json"], str(tmp_path), None)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt: cannot be read"):
        sources.read(tmp_path / "gone.txt")
