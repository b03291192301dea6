import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.corpus.splitter import sentence_starts, split, token_starts
from psi.errors import ConfigError

TEXT = st.text(st.sampled_from("ab3甲北。.!? \n\u2028'(é\u0301👩\u200d,"), max_size=300) | st.text(max_size=100)


def _texts(text: str, max_tokens: int, overlap: int = 0) -> list[str]:
    return [chunk.text for chunk in split(text, max_tokens, overlap)]


def _tokens(text: str) -> list[str]:
    return [text[a:b].rstrip() for a, b in itertools.pairwise([*token_starts(text), len(text)])]


def _sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in itertools.pairwise([*sentence_starts(text), len(text)])]


def test_text_without_spaces_or_stops_is_cut() -> None:
    chunks = _texts("甲" * 90, 20)
    assert [len(chunk) for chunk in chunks] == [20, 20, 20, 20, 10]


def test_numbers_and_abbreviations_stay_whole() -> None:
    text = "Pi is 3.14 in the U.S. today. " + "x " * 60 + ". End."
    chunks = _texts(text, 20)
    assert "".join(chunks) == text
    assert any("3.14" in chunk for chunk in chunks)
    assert any("U.S." in chunk for chunk in chunks)
    assert all(len(token_starts(chunk)) <= 20 for chunk in chunks)


def test_a_long_url_is_cut_hard() -> None:
    url = "https://example.org/" + "path0/" * 80
    chunks = _texts(url, 20)
    assert "".join(chunks) == url
    assert len(chunks) > 1
    assert all(len(token_starts(chunk)) <= 20 for chunk in chunks)


def test_a_word_that_fits_into_a_chunk_is_not_cut() -> None:
    assert _texts("aa bb incomprehensibilities cc", 4) == ["aa bb ", "incomprehensibilities cc"]


def test_sentences_that_fit_stay_whole() -> None:
    text = "One two three. Four five. Six seven eight nine ten eleven twelve. Thirteen."
    assert _texts(text, 9) == ["One two three. Four five. ", "Six seven eight nine ten eleven twelve. ", "Thirteen."]


def test_sentence_ends() -> None:
    text = (
        'Dr. J. R. Who met Mr. Hu at 5 p.m. in St. Ives, e.g. by car. "Why?" she asked. 3.5 is it! 北京。上海。\n\nEnd'
    )
    assert _sentences(text) == [
        "Dr. J. R. Who met Mr. Hu at 5 p.m. in St. Ives, e.g. by car. ",
        '"Why?" she asked. ',
        "3.5 is it! ",
        "北京。",
        "上海。\n\n",
        "End",
    ]


def test_overlap_repeats_the_end_of_the_chunk_before() -> None:
    assert _texts("a b c d e f g h", 4, 2) == ["a b c d ", "c d e f ", "e f g h"]


@pytest.mark.parametrize(("max_tokens", "overlap"), [(5, 5), (5, 6), (5, -1), (0, 0), (-3, 0)])
def test_sizes_out_of_range_are_refused(max_tokens: int, overlap: int) -> None:
    with pytest.raises(ConfigError, match=f"max_tokens={max_tokens}, overlap={overlap}"):
        split("text", max_tokens, overlap)


def test_nothing_gives_nothing() -> None:
    assert split("", 5) == []


@given(TEXT, st.integers(1, 12))
def test_nothing_is_lost_without_overlap(text: str, max_tokens: int) -> None:
    chunks = split(text, max_tokens)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text and chunk.text == text[chunk.start : chunk.end] for chunk in chunks)
    assert all(len(token_starts(chunk.text)) <= max_tokens for chunk in chunks)


@given(TEXT, st.integers(2, 12), st.data())
def test_overlaps_are_exact_and_every_chunk_adds_something(text: str, max_tokens: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, max_tokens - 1))
    chunks = split(text, max_tokens, overlap)
    assert all(len(token_starts(chunk.text)) <= max_tokens for chunk in chunks)
    for before, after in itertools.pairwise(chunks):
        assert before.end < after.end
        shared = text[after.start : before.end]
        expected = _tokens(before.text)[-overlap:] if overlap else []
        assert _tokens(shared) == expected
    assert not chunks or (chunks[0].start, chunks[-1].end) == (0, len(text))


def test_tokens_can_be_counted_another_way() -> None:
    def letters(text: str) -> list[int]:
        return [match.start() for match in re.finditer(r"\S", text)]

    chunks = split("ab cd ef", 4, starts_of=letters)
    assert [chunk.text for chunk in chunks] == ["ab cd ", "ef"]


def test_tokens_that_share_a_character_never_split_it() -> None:
    # byte-level tokenizers report several tokens at the offset of one emoji
    chunks = split("👩👧", 1, starts_of=lambda text: [0, 0, 0, 1, 1])
    assert [chunk.text for chunk in chunks] == ["👩", "👧"]


def test_special_token_lookalikes_are_plain_text() -> None:
    assert len(token_starts("<|endoftext|> <s> [MASK]")) > 0
