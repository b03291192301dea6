"""Candidate spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.agent.candidates import LONGEST_SPAN, Sentence, candidates, sentence_spans, split_sentences, title_spans


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("She died on 20 March 1851 in Dorn.", ["20 March 1851", "March 1851", "1851", "Dorn"]),
        ("Opened May 3rd, 1971, closed in the 1980s.", ["May 3rd, 1971", "1971", "1980s"]),
        ("It ran 1999–2001 and cost $3.5 million.", ["1999–2001", "$3.5 million"]),
        ("It has eleven arches and 1,500 lamps.", ["eleven", "eleven arches", "1,500", "1,500 lamps"]),
        ('He wrote "The Glass Harbour" alone.', ["The Glass Harbour", "Glass Harbour", "Harbour"]),
        ("A retired Velden chess player.", ["retired Velden chess player", "chess player", "player", "Velden"]),
        ("He led the University of Dorn.", ["University of Dorn", "University", "Dorn"]),
        ("The queen of the northern isles.", ["queen of the northern isles"]),
        ("Born in Dorn, Sarn.", ["Dorn, Sarn"]),
        ("Vincent van Gogh and Ann Lee's brother", ["Vincent van Gogh", "Ann Lee", "brother"]),
        ("It is in the U.S. today", ["U.S."]),
        ("首都は北京です", ["首都は北京です"]),
        ("J. R. Tolk Jr. met Łukasz Żak", ["J. R. Tolk Jr.", "Łukasz Żak"]),
    ],
)
def test_what_could_be_an_answer_is_found(text: str, wanted: list[str]) -> None:
    assert set(wanted) <= set(sentence_spans(text))


def test_stop_words_alone_are_no_answer() -> None:
    assert not {"The", "It", "was", "of"} & set(sentence_spans("The bridge was of wood. It was the one of the few."))


def test_titles_lose_their_disambiguation() -> None:
    assert title_spans("The Sea (2012 film)") == ["The Sea"]
    assert title_spans("") == []


def test_sentences_end_where_they_end() -> None:
    text = "Dr. J. Lee of St. Dorn left. He saw 3.14 miles! Why? So it was."
    assert split_sentences(text) == ["Dr. J. Lee of St. Dorn left", "He saw 3.14 miles", "Why", "So it was."]


def test_spans_know_their_sentences_and_come_once() -> None:
    found = candidates(
        [Sentence("Dorn", "Ann saw Dorn"), Sentence("Dorn", "Tom left Dorn"), Sentence("Lee", "Ann left")]
    )
    texts = [candidate.text for candidate in found]
    assert len(texts) == len(set(texts))
    assert {candidate.text: candidate.sentences for candidate in found}["Dorn"] == (0, 1)
    assert {candidate.text: candidate.sentences for candidate in found}["Ann"] == (0, 2)


@given(st.text(max_size=80))
def test_spans_of_any_text_are_tidy(text: str) -> None:
    spans = sentence_spans(text)
    assert len(spans) == len(set(spans))
    assert all(span == span.strip() and 0 < len(span.split()) <= LONGEST_SPAN for span in spans)
