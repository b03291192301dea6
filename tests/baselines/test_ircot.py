import itertools

import pytest

from baselines.ircot import IRCoTPolicy
from psi.agent.loop import Agent
from psi.agent.policy import Policy
from psi.corpus.records import Passage, Passages, Question
from psi.errors import ModelError
from psi.models.protocols import Reply
from tests.toys import ToyIndex

PASSAGES = Passages(
    [
        Passage("p0", "Lake", "Lake Dorn was surveyed by Marta Holm"),
        Passage("p1", "Holm", "Marta Holm was born in Tarsk"),
        Passage("p2", "Tarsk", "Tarsk is a port"),
        Passage("p3", "Bridge", "Nobody crosses the bridge"),
    ]
)
BORN = Question("q0", "Where was the surveyor of Lake Dorn born?", ("Tarsk",), ("p0", "p1"), 2)
PORT = Question("q1", "What is Tarsk?", ("a port",), ("p2",), 1)


class Replies:
    """A chat model that gives these replies, one a call, and keeps what it was asked; words are its tokens."""

    def __init__(self, *replies, limit=None):
        self._replies, self._limit = iter(replies), limit
        self.asked = []

    def reply(self, conversations, forms=None):
        self.asked += conversations
        said = itertools.islice(self._replies, len(conversations))
        return [each if not isinstance(each, str) else Reply(each, 10, 5) for each in said]

    def prompt_tokens(self, conversation):
        return len(conversation[-1].content.split())

    def prompt_limit(self):
        return self._limit

    def identity(self):
        return {}


def run(model, questions=(BORN,), budget=7, context=1, **settings):
    agent = Agent(policy=IRCoTPolicy(llm=model, **settings), hop_budget=budget, merge="rank")
    index = ToyIndex(PASSAGES)

    def search(questions, queries, k):
        return index.search(queries, k)

    first = index.search([question.text for question in questions], 3)
    return agent.run(questions, first, search, PASSAGES, k=3, context=context)


def test_each_sentence_is_the_next_query_until_the_answer():
    second = "Marta Holm was born in Tarsk, so the answer is: Tarsk."
    model = Replies("Lake Dorn was surveyed by Marta Holm. She was famous.", second)
    trace = run(model)[0]
    assert [step.query for step in trace.steps] == [BORN.text, "Lake Dorn was surveyed by Marta Holm."]
    assert (trace.answer.status, trace.answer.text) == ("ok", "Tarsk")
    assert (trace.answer.prompt_tokens, trace.answer.completion_tokens) == (20, 10)
    assert "Reasoning so far: Lake Dorn was surveyed by Marta Holm." in model.asked[1][-1].content
    assert isinstance(IRCoTPolicy(llm=model), Policy)


def shown(conversation):
    return [p.id for p in PASSAGES if p.content in conversation[-1].content]


def test_passages_of_all_steps_are_shown_once_in_the_order_of_their_finding():
    sentences = ("Tarsk is a port.", "Nobody crosses the bridge.", "The answer is no.")
    model = Replies(*sentences)
    run(model)
    assert [shown(conversation) for conversation in model.asked] == [["p0"], ["p0", "p2"], ["p0", "p2", "p3"]]
    limited = Replies(*sentences)
    run(limited, paragraphs=2)
    assert [shown(conversation) for conversation in limited.asked] == [["p0"], ["p0", "p2"], ["p0", "p2"]]


def test_passages_that_do_not_fit_are_left_out_and_one_stays():
    model = Replies("Tarsk is a port.", "The answer is no.", limit=1)
    trace = run(model)[0]
    assert shown(model.asked[1]) == ["p0"]
    assert trace.answer.passages_used == 1


def test_the_ranking_unites_the_steps():
    trace = run(Replies("Tarsk is a port.", "The answer is: no"))[0]
    assert trace.ranking.ids[:2] == ("p0", "p2")  # first in one of the steps each


def test_the_last_step_asks_for_the_answer_and_reads_the_whole_reply():
    model = Replies("Tarsk is a port.", "I see. So the answer is: Tarsk. That is it.")
    trace = run(model, budget=1)[0]
    assert "No more passages" not in model.asked[0][-1].content
    assert "No more passages" in model.asked[1][-1].content
    assert trace.answer.text == "Tarsk"
    assert run(Replies("Tarsk is a port.", "I see. It is hard."), budget=1)[0].answer.status == "max_steps"


@pytest.mark.parametrize(
    ("reply", "status", "text"),
    [
        ("So the answer is: J. R. Holm.", "ok", "J. R. Holm"),
        ("The answer is: U.S.", "ok", "U.S."),
        ("So the **answer is:** “Tarsk”.", "ok", "Tarsk"),
        ("<think>The answer is: Rome</think>The answer is Tarsk", "ok", "Tarsk"),
        ("Next sentence: the answer is: Tarsk", "ok", "Tarsk"),
        ("So the answer is:", "empty", ""),
        ("", "empty", ""),
        (Reply("So the answer is: Tar", 1, 1, truncated=True), "truncated", None),
        (Reply("So the answer is: Tarsk. It", 1, 1, truncated=True), "ok", "Tarsk"),
        (ModelError("down", kind="http_500"), "failed", None),
    ],
)
def test_how_replies_end_a_question(reply, status, text):
    answer = run(Replies(reply))[0].answer
    assert (answer.status, answer.text) == (status, text)


def test_a_repeated_sentence_ends_the_question_and_leaves_others_alone():
    model = Replies("Tarsk is a port.", "The answer is a port.", "Tarsk is a port.")
    first, second = run(model, (BORN, PORT))
    assert (first.answer.status, second.answer.text) == ("no_progress", "a port")
