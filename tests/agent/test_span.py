"""The span reader: its arithmetic on a canned scorer, and the bundled models on easy questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from psi.agent.reader import Reader
from psi.agent.span import SpanReader
from psi.corpus.records import Passage, Question
from psi.errors import ModelError
from psi.models.protocols import SpanScores
from psi.models.transformers_scorer import PromptTooLongError
from tests.models.embedded import embedder, scorer

RENNER = Passage(
    id="p1",
    title="Paul Renner",
    text="Paul Renner (8 May 1921 – 17 January 1990) was a film director from Tarsk. He kept bees.",
)
BRIDGE = Passage(
    id="p2",
    title="Kessel Bridge",
    text="Kessel Bridge crosses the river Aven at Dorn. It was opened in June 1937 and has eleven arches.",
)


class Canned:
    """Log-probabilities by span (−5 for all others); a prompt may have so many passages at most."""

    def __init__(self, log_p: dict[str, float] | None = None, *, most: int = 99, blind: dict[str, float] | None = None):
        self.log_p, self.blind, self.most = log_p or {}, blind, most
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, prefix: str, prompt: str, spans: Sequence[str]) -> SpanScores:
        if prompt.count("Passage: ") > self.most:
            raise PromptTooLongError(9999, 100)
        self.asked.append((prompt, list(spans)))
        table = self.blind if self.blind is not None and "Passage: " not in prompt else self.log_p
        log_p = np.array([table.get(span, -5.0) for span in spans])
        return SpanScores(log_p, np.zeros(len(spans)), np.array([len(span.split()) for span in spans]), 10)

    def identity(self) -> dict[str, Any]:
        return {"component": "canned"}


class Broken(Canned):
    def score(self, prefix: str, prompt: str, spans: Sequence[str]) -> SpanScores:
        raise ModelError("out of memory", kind="out_of_memory", attempts=1)


class Flat:
    """All texts are equally similar, but those that hold a word of `near`."""

    def __init__(self, near: str = ""):
        self.near = near

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[1.0 if self.near in text else 0.0] for text in texts], dtype=np.float32).reshape(-1, 1)

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)

    def identity(self) -> dict[str, Any]:
        return {"component": "flat"}


def ask(model: Any, text: str, passages: Sequence[Passage], **settings: Any) -> Any:
    reader = SpanReader(scorer=model, embedder=settings.pop("embedder", Flat()), **settings)
    (answer,) = reader.answer([Question(id="q", text=text)], [passages])
    return answer


def test_the_likeliest_span_of_the_right_kind_wins() -> None:
    model = Canned({"Tarsk": -1.0, "1921": -0.5, "film director": -0.2})
    answer = ask(model, "where was Paul Renner from", [RENNER])
    assert (answer.status, answer.text, answer.confidence) == ("ok", "Tarsk", -1.0)
    assert model.asked[0][0].endswith("\nQuestion: Where was Paul Renner from?\nAnswer:")


def test_a_whole_date_beats_its_year() -> None:
    model = Canned({"8 May 1921": -2.0, "1921": -1.0})
    assert ask(model, "When was Paul Renner born?", [RENNER]).text == "8 May 1921"
    assert ask(model, "When was Paul Renner born?", [RENNER], whole_date_bonus=0.0, token_bonus=0.0).text == "1921"


def test_what_the_question_says_is_no_answer() -> None:
    model = Canned({"Kessel Bridge": -1.0, "Dorn": -2.0})
    assert ask(model, "Where is Kessel Bridge?", [BRIDGE]).text == "Dorn"
    assert ask(model, "Where is Kessel Bridge?", [BRIDGE], echo_penalty=0.0).text == "Kessel Bridge"


def test_a_span_of_the_most_similar_sentence_is_preferred() -> None:
    model = Canned({"Tarsk": -1.0, "Dorn": -1.5})
    assert ask(model, "Where is it?", [RENNER, BRIDGE], embedder=Flat("Aven")).text == "Dorn"
    assert ask(model, "Where is it?", [RENNER, BRIDGE], embedder=Flat("Aven"), similarity_weight=0.0).text == "Tarsk"


def test_a_choice_is_made_between_the_two_names_alone() -> None:
    model = Canned({"Tarsk": 0.0, "Ann Lee": -2.0})
    assert ask(model, "Who is older, Paul Renner or Ann Lee?", [RENNER]).text == "Ann Lee"
    assert model.asked[0][1] == ["Paul Renner", "Ann Lee"]


def test_yes_and_no_are_compared_with_what_the_model_says_unasked() -> None:
    # the model leans to yes; the passages move it towards no
    model = Canned({"yes": -1.0, "no": -1.5}, blind={"yes": -1.0, "no": -3.0})
    assert ask(model, "Is Kessel Bridge in Tarsk?", [BRIDGE]).text == "no"


def test_whole_passages_are_dropped_until_the_prompt_fits() -> None:
    model = Canned({"Tarsk": -1.0, "Dorn": -0.1}, most=1)
    answer = ask(model, "Where is it?", [RENNER, BRIDGE, BRIDGE])
    assert (answer.text, answer.passages_used) == ("Tarsk", 1)
    assert "Dorn" not in model.asked[0][1]


def test_one_passage_that_does_not_fit_is_a_status_with_numbers() -> None:
    answer = ask(Canned(most=0), "Where is it?", [RENNER, BRIDGE])
    assert (answer.status, answer.text, answer.error_type) == ("truncated", None, "truncated")
    assert "9999" in answer.error


def test_a_failure_is_a_status() -> None:
    answer = ask(Broken(), "Where is it?", [RENNER])
    assert (answer.status, answer.text, answer.error_type) == ("failed", None, "out_of_memory")


@pytest.mark.parametrize("question", ["Where is it?", "Is it big?", "Who is older, Ann or Tom?"])
def test_without_passages_there_is_no_answer(question: str) -> None:
    assert (ask(Canned(), question, []).status, ask(Canned(), question, []).text) == ("empty", "")


def test_passages_without_a_candidate_give_no_answer() -> None:
    assert ask(Canned(), "Where is it?", [Passage(id="p", title="", text="it was … of the")]).status == "empty"


def test_long_passages_are_shown_in_part() -> None:
    model = Canned()
    ask(model, "Where?", [Passage(id="p", title="T", text=" \n ".join(["word"] * 300))], passage_words=20)
    assert model.asked[0][0].split("\n")[0] == "Passage: T: " + " ".join(["word"] * 20)


def test_answers_come_in_order_and_without_delay() -> None:
    model = Canned({"Tarsk": -1.0, "Dorn": -1.1})
    reader = SpanReader(scorer=model, embedder=Flat(), batch_size=2)
    assert isinstance(reader, Reader)
    questions = [Question(id=str(n), text="Where is it?") for n in range(5)]
    answers = reader.answer(questions, [[RENNER], [BRIDGE]] * 2 + [[RENNER]])
    assert next(answers).text == "Tarsk"
    assert len(model.asked) == 1
    assert [(answer.question, answer.text) for answer in answers] == [
        ("1", "Dorn"), ("2", "Tarsk"), ("3", "Dorn"), ("4", "Tarsk"),
    ]  # fmt: skip


def test_its_examples_belong_to_its_identity() -> None:
    parts: dict[str, Any] = {"scorer": Canned(), "embedder": Flat()}
    first = SpanReader(**parts)
    assert first.identity() != SpanReader(**parts, examples="Answer.\n\n").identity()
    assert first.identity() == SpanReader(**parts, batch_size=1).identity()


def test_the_bundled_models_answer_easy_questions() -> None:
    reader = SpanReader(scorer=scorer(), embedder=embedder())
    asked = {
        "When was Paul Renner born?": "8 May 1921",
        "How many arches has Kessel Bridge?": "eleven",
        "Where was Paul Renner from?": "Tarsk",
    }
    questions = [Question(id=str(n), text=text) for n, text in enumerate(asked)]
    answers = list(reader.answer(questions, [[RENNER, BRIDGE]] * len(questions)))
    right = sum(
        answer.text is not None and answer.text.startswith(gold)
        for answer, gold in zip(answers, asked.values(), strict=True)
    )
    assert right >= 2
    assert all(answer.status == "ok" and answer.confidence is not None and answer.confidence <= 0 for answer in answers)
