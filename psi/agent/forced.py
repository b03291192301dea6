"""The agent's policy for models too small to write replies: their probabilities fill in a fixed reply.

A model of 135M parameters rarely keeps to the form `Thought: …` / `Answer: …` / `Retrieve: …`, and its own
sub-questions are poor. It can still compare two words and rank the spans of a passage: no more is asked of it here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import PositiveInt

from psi.agent.candidates import Sentence, candidates, split_sentences
from psi.agent.policy import Decision, DecisionKind, Situation, query_key
from psi.agent.prompts import SPAN_EXAMPLES
from psi.component import Component
from psi.corpus.records import Passage
from psi.errors import ModelError
from psi.models.protocols import SpanScorer, SpanScores

CHOICES = ("Answer", "Retrieve")

CHOICE_EXAMPLES = """\
Decide whether the passages tell the answer to the question (Answer) or something is still missing (Retrieve).

Passage: Lake Orrin: Lake Orrin is a lake in the north of Velden. It was surveyed in 1874 by Marta Holm.
Passage: Orrin Islands: The Orrin Islands are 31 islands. Nobody has lived on them since 1902.
Question: Where was the geographer who surveyed Lake Orrin born?
Thought: The passages do not tell where Marta Holm was born.
Next: Retrieve

Passage: Kessel Bridge: Kessel Bridge crosses the river Aven at Dorn. It is 412 metres long and was opened in June 1937.
Passage: Aven: The Aven is a river. It rises near Tarsk.
Question: When was Kessel Bridge opened?
Thought: The passages tell when Kessel Bridge was opened.
Next: Answer

Passage: The Glass Harbour: The Glass Harbour is a 1962 drama film directed by Paul Renner and produced by Ida Coates.
Passage: Glass: Glass is made of sand.
Question: When was the director of The Glass Harbour born?
Thought: The passages do not tell when Paul Renner was born.
Next: Retrieve

Passage: Anna Brandt: Anna Brandt was a botanist and painter who taught for many years in Lowen.
Passage: Lowen: Lowen is a port in the province of Sarn, known for its cheese.
Question: In which province did Anna Brandt teach?
Thought: Anna Brandt taught in Lowen, which is in Sarn.
Next: Answer

"""


@dataclass(frozen=True, kw_only=True)
class ForcedPolicy(Component):
    """Chooses between answering and retrieving by their probabilities; builds the query from the question and names.

    It retrieves where log p(Retrieve) − log p(Answer) after the passages and the question exceeds `threshold`. The new
    query is the question with the `bridges` best-scored names of the newest step's first passage that it does not hold
    yet: one of them often is the missing link to the next passage. The constants were chosen on training questions
    (HotpotQA, MuSiQue). A reader answers from what has been found.

    scorer: the language model.
    threshold: natural logarithm; lower values retrieve more often.
    bridges: names added to the question.
    choice_words: words of each passage that the choice is made on.
    passage_words: words of the passage from which names are taken.
    token_bonus: log-probability given back per token of a name, as in the span reader.
    """

    scorer: SpanScorer
    threshold: float = -3.0
    bridges: PositiveInt = 5
    choice_words: PositiveInt = 60
    passage_words: PositiveInt = 200
    token_bonus: float = 0.2

    @property
    def self_answering(self) -> bool:
        """False: a reader answers."""
        return False

    def decide(self, situations: Sequence[Situation]) -> list[Decision | ModelError]:
        """First all choices, then all queries: the model keeps the examples of one kind at a time."""
        choices = [self._choice(situation) for situation in situations]
        return [
            self._query(situation, choice) if isinstance(choice, Decision) and choice.kind == "retrieve" else choice
            for situation, choice in zip(situations, choices, strict=True)
        ]

    def _choice(self, situation: Situation) -> Decision | ModelError:
        """Stop, or retrieve with a query that is still to be built."""
        passages = situation.steps[-1].passages
        if situation.retrievals_left == 0 or not passages:
            return Decision("stop")
        prompt = _prompt(passages, self.choice_words, situation.question.text, "Next:")
        try:
            scores = self.scorer.score(CHOICE_EXAMPLES, prompt, CHOICES)
        except ModelError as error:
            return error
        leaning = float(scores.log_p[1] - scores.log_p[0])
        kind: DecisionKind = "retrieve" if leaning > self.threshold else "stop"
        reply = f"Next: {CHOICES[kind == 'retrieve']} (log-odds of Retrieve {leaning:+.2f})"
        return Decision(kind, "", reply, scores.prompt_tokens, 1, passages_used=len(passages))

    def _query(self, situation: Situation, choice: Decision) -> Decision | ModelError:
        passage = situation.steps[-1].passages[0]
        query = situation.steps[-1].query
        names = [span for span in _names(passage, self.passage_words) if not _within(span, query)]
        if not names:
            return _with(choice, "stop", f"{choice.reply}\nno new name", 0)
        prompt = _prompt([passage], self.passage_words, situation.question.text, "Answer:")
        try:
            scores = self.scorer.score(SPAN_EXAMPLES, prompt, names)
        except ModelError as error:
            return error
        best = self._best(names, scores)
        text = " ".join([situation.question.text, *best])
        return _with(choice, "retrieve", f"{choice.reply}\nRetrieve: {text}", scores.prompt_tokens, text)

    def _best(self, names: Sequence[str], scores: SpanScores) -> list[str]:
        """The best names, none of which holds another."""
        total = scores.log_p + scores.log_end + self.token_bonus * scores.tokens
        best: list[str] = []
        for row in np.argsort(-total, kind="stable"):
            name = names[int(row)]
            if not any(_within(name, other) or _within(other, name) for other in best):
                best.append(name)
        return best[: self.bridges]


def _prompt(passages: Sequence[Passage], words: int, question: str, cue: str) -> str:
    """Passages, question and a cue as the examples have them."""
    lines = [f"Passage: {_line(passage, words)}" for passage in passages]
    asked = " ".join(question.split()).rstrip("?").rstrip()
    return "\n".join([*lines, f"Question: {asked[:1].upper()}{asked[1:]}?", cue])


def _line(passage: Passage, words: int) -> str:
    text = " ".join(passage.text.split()[:words])
    return f"{' '.join(passage.title.split())}: {text}" if passage.title else text


def _names(passage: Passage, words: int) -> list[str]:
    """Candidate spans that begin with a capital letter."""
    title, text = " ".join(passage.title.split()), " ".join(passage.text.split()[:words])
    spans = candidates([Sentence(title, sentence) for sentence in split_sentences(text)])
    return [span.text for span in spans if span.text[0].isupper()]


def _within(span: str, text: str) -> bool:
    """Whether a text holds the words of a span as a run."""
    return f" {query_key(span)} " in f" {query_key(text)} "


def _with(choice: Decision, kind: DecisionKind, reply: str, prompt_tokens: int, text: str = "") -> Decision:
    """The choice with what building the query added."""
    return dataclasses.replace(
        choice, kind=kind, text=text, reply=reply, prompt_tokens=choice.prompt_tokens + prompt_tokens
    )
