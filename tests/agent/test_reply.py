"""Replies as models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.agent.reply import parse_reply


@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        ("Thought: x\nAnswer: Paris", "answer", "Paris"),
        ("Answer:\nParis", "answer", "Paris"),
        ("**Answer:** Paris", "answer", "Paris"),
        ("**Answer**: Paris", "answer", "Paris"),
        ("- **Final answer:** **Paris**", "answer", "Paris"),
        ("answer: Paris", "answer", "Paris"),
        ("The answer is: Paris", "answer", "Paris"),
        ("The answer is Paris", "parse_failed", ""),
        ("Answer：Paris", "answer", "Paris"),
        ("Answer: Paris. Retrieve: nothing", "answer", "Paris. Retrieve: nothing"),
        ("Thought: I should not Retrieve: more.\nAnswer: U.S.", "answer", "U.S."),
        ("Answer: Paris\nQuestion: another?\nAnswer: Rome", "answer", "Paris"),
        ("Retrieve: capital of X?", "retrieve", "capital of X?"),
        ("Thought: the answer: unclear\r\nRetrieve: X's mother\r\n", "retrieve", "X's mother"),
        ("Answer: ", "empty", ""),
        ("Answer:\n\nThought: hm", "empty", ""),
        ("", "empty", ""),
        ("   ", "empty", ""),
        ("<think>Answer: Rome", "empty", ""),
        ('```json {"answer":"Paris"} ```', "answer", "Paris"),
        ('```\n{"Thought": "x", "Retrieve": "capital of X?"}\n```', "retrieve", "capital of X?"),
        ('{"answer": 1971}', "answer", "1971"),
        ('{"answer": ""}', "empty", ""),
        ("<think>Answer: Rome</think>Answer: Paris", "answer", "Paris"),
        ("Answer: Rome</think>\nAnswer: Paris", "answer", "Paris"),
        ("The capital is Paris, of course.", "parse_failed", ""),
        ("I will answer: it is Paris", "parse_failed", ""),
        ('{"city": "Paris"}', "parse_failed", ""),
        ("[1, 2]", "parse_failed", ""),
    ],
)
def test_replies(reply: str, kind: str, text: str) -> None:
    found = parse_reply(reply)
    assert (found.kind, found.text) == (kind, text)


def test_an_answer_with_something_behind_it_is_complete() -> None:
    assert parse_reply("Answer: Paris\nand then").complete
    assert not parse_reply("Answer: Par").complete


@given(st.text())
def test_any_text_has_a_reading(reply: str) -> None:
    found = parse_reply(reply)
    assert bool(found.text) == (found.kind in ("answer", "retrieve"))


@given(st.text(alphabet="abc XYZ.,?1", min_size=1).filter(lambda text: bool(text.strip())))
def test_a_plain_answer_comes_back(answer: str) -> None:
    assert parse_reply(f"Thought: so\nAnswer: {answer}").text == answer.strip()
