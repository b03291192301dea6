import numpy as np
import pytest

from psi.agent.forced import ForcedPolicy
from psi.agent.loop import Agent
from psi.agent.policy import Situation, Step
from psi.corpus.records import Passage, Passages, Question
from psi.errors import ConfigError, ModelError
from psi.models.protocols import SpanScores
from psi.retrieval.ranking import Ranking
from tests.toys import ToyIndex

HOLM = Passage("p1", "Marta Holm", "Marta Holm was born in Tarsk and taught in Lowen")
LAKE = Passage("p0", "Lake Orrin", "Lake Orrin was surveyed by Marta Holm near Tarsk")
BORN = Question("q", "where was the surveyor of Lake Orrin born", ("Tarsk",), ("p0", "p1"))


class Scorer:
    """Scores `Retrieve` by `leaning` above `Answer`, and names by their length; notes what it was asked."""

    def __init__(self, leaning=1.0, error=None):
        self.leaning, self.error, self.asked = leaning, error, []

    def score(self, prefix, prompt, spans):
        self.asked.append((prompt, tuple(spans)))
        if self.error is not None:
            raise self.error
        choice = tuple(spans) == ("Answer", "Retrieve")
        log_p = np.array([-1.0, -1.0 + self.leaning]) if choice else np.array([-1.0 / len(span) for span in spans])
        return SpanScores(log_p, np.zeros(len(spans)), np.ones(len(spans), dtype=np.int64), 7)

    def identity(self):
        return {"component": "scorer"}


def situation(*passages, left=1, query=BORN.text):
    ids = tuple(passage.id for passage in passages)
    return Situation(BORN, (Step(query, Ranking(ids, (1.0,) * len(ids)), passages),), left)


def decide(scorer, *situations, **settings):
    return ForcedPolicy(scorer=scorer, **settings).decide(situations)


def test_it_retrieves_with_names_that_the_question_does_not_hold():
    scorer = Scorer()
    (decision,) = decide(scorer, situation(LAKE, HOLM), bridges=2)
    assert decision.kind == "retrieve"
    assert decision.text == f"{BORN.text} Marta Holm Tarsk"
    assert decision.prompt_tokens == 14
    assert decision.reply.startswith("Next: Retrieve (log-odds of Retrieve +1.00)")
    (choice, _), (names, spans) = scorer.asked
    assert choice.endswith("Question: Where was the surveyor of Lake Orrin born?\nNext:")
    assert names.startswith("Passage: Lake Orrin: Lake Orrin was") and "p1" not in names
    assert "Lake Orrin" not in spans and "Orrin" not in spans


@pytest.mark.parametrize(("threshold", "kind"), [(0.9, "retrieve"), (1.1, "stop")])
def test_the_threshold_decides(threshold, kind):
    (decision,) = decide(Scorer(leaning=1.0), situation(LAKE), threshold=threshold)
    assert decision.kind == kind


def test_names_of_an_earlier_query_are_not_added_again():
    (decision,) = decide(Scorer(), situation(HOLM, query=f"{BORN.text} Marta Holm Tarsk"))
    assert decision.text == f"{BORN.text} Lowen"


@pytest.mark.parametrize("left", [0, 1])
def test_it_asks_no_model_where_there_is_nothing_to_decide(left):
    scorer = Scorer()
    asked = situation(left=1) if left else situation(LAKE, left=0)
    assert decide(scorer, asked)[0].kind == "stop"
    assert scorer.asked == []


def test_it_stops_where_the_passage_names_nothing_new():
    (decision,) = decide(Scorer(), situation(Passage("p", "", "nothing is named here")))
    assert decision.kind == "stop"


def test_choices_come_first_so_that_the_examples_are_computed_once():
    scorer = Scorer()
    decide(scorer, situation(LAKE), situation(HOLM))
    assert [len(spans) == 2 and spans[0] == "Answer" for _, spans in scorer.asked] == [True, True, False, False]


def test_a_failed_call_stands_in_the_decisions_place():
    error = ModelError("too long", kind="truncated")
    assert decide(Scorer(error=error), situation(LAKE)) == [error]


def test_in_the_loop_it_finds_the_second_passage():
    passages = Passages([LAKE, HOLM, Passage("p2", "Bridge", "nobody crosses it")])
    index = ToyIndex(passages)
    agent = Agent(policy=ForcedPolicy(scorer=Scorer(), bridges=1), hop_budget=1)
    (trace,) = agent.run(
        [BORN],
        index.search([BORN.text], 2),
        lambda _, queries, k: index.search(queries, k),
        passages,
        k=2,
        context=1,
    )
    assert [step.query for step in trace.steps] == [BORN.text, f"{BORN.text} Marta Holm"]
    assert (trace.answer.status, trace.answer.text) == ("ok", None)


def test_settings_are_checked():
    with pytest.raises(ConfigError, match="bridges=0"):
        ForcedPolicy(scorer=Scorer(), bridges=0)
