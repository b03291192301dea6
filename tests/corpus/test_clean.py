from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.corpus.clean import clean, clean_json, repeated_texts, without_empty
from psi.corpus.records import Passage
from psi.errors import InputError

ANY_TEXT = st.text(st.characters())  # lone surrogates included


@pytest.mark.parametrize(
    ("raw", "cleaned", "kinds"),
    [
        ("\ud800x", "\ufffdx", {"surrogate"}),
        ("a\x00b", "ab", {"nul"}),
        ("a\r\nb\rc", "a\nb\nc", {"newline"}),
        ("e\u0301", "\u00e9", {"nfc"}),
        (" a\n", "a", {"whitespace"}),
        ("a\u2028b", "a\u2028b", set()),
        ("👩\u200d👩\u200d👧 family", "👩\u200d👩\u200d👧 family", set()),
        ("北京是首都。", "北京是首都。", set()),
        ("<|endoftext|> <s> [MASK]", "<|endoftext|> <s> [MASK]", set()),
    ],
)
def test_each_repair_and_its_count(raw: str, cleaned: str, kinds: set[str]) -> None:
    counts: Counter[str] = Counter()
    assert clean(raw, counts) == cleaned
    assert counts == dict.fromkeys(kinds, 1)


@given(ANY_TEXT)
def test_cleaning_is_idempotent_and_gives_utf8(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert once.encode("utf-8").decode("utf-8") == once


def test_json_data_is_cleaned_at_any_depth() -> None:
    counts: Counter[str] = Counter()
    assert clean_json({"a": [" x ", {"b": "\x00"}], "n": 1}, counts) == {"a": ["x", {"b": ""}], "n": 1}
    assert counts == {"whitespace": 1, "nul": 1}
    assert clean_json([" x "], strip=False) == [" x "]


def _blank_corpus() -> list[Passage]:
    return [Passage("d1", "", ""), Passage("d2", "", clean(" \n\t ")), Passage("d3", "", "Paris is in France.")]


def test_blank_passages_are_skipped_and_named() -> None:
    kept, skipped = without_empty(_blank_corpus(), "skip", "here")
    assert [passage.id for passage in kept] == ["d3"]
    assert skipped == ("d1", "d2")


def test_blank_passages_are_refused_on_request() -> None:
    with pytest.raises(InputError, match=r"here.*'d1'"):
        without_empty(_blank_corpus(), "refuse", "here")


@pytest.mark.parametrize("passages", [[], _blank_corpus()[:2]])
def test_an_empty_corpus_is_refused(passages: list[Passage]) -> None:
    with pytest.raises(InputError, match="empty corpus"):
        without_empty(passages, "skip", "here")


def test_repeated_texts_are_counted() -> None:
    assert repeated_texts([Passage("a", "", "x"), Passage("b", "", "y")]) == ()
    (note,) = repeated_texts([Passage("a", "", "x"), Passage("b", "", "x"), Passage("c", "", "x")])
    assert "2" in note
