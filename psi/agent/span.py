"""The span reader: a language model too small to write answers still ranks the spans of the passages well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt

from psi.agent.answer import Answer, failed_answer
from psi.agent.candidates import Candidate, Sentence, candidates, split_sentences
from psi.agent.expected_type import AnswerType, expected_type, fits, is_whole_date, is_yes_no, options
from psi.agent.prompts import SPAN_EXAMPLES
from psi.component import Component, runtime
from psi.corpus.records import Passage, Question
from psi.errors import ModelError
from psi.models.protocols import Embedder, SpanScorer, SpanScores
from psi.models.vectors import encoded

YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class _Task:
    """A question with what is shown for it: (title, text) of its passages, and their sentences."""

    question: Question
    passages: tuple[tuple[str, str], ...]
    sentences: tuple[tuple[Sentence, ...], ...]

    def prompt(self, used: int) -> str:
        """The prompt after the examples, with the first `used` passages."""
        lines = [f"Passage: {title}: {text}" if title else f"Passage: {text}" for title, text in self.passages[:used]]
        return "\n".join([*lines, f"Question: {_as_question(self.question.text)}", "Answer:"])


@dataclass(frozen=True, slots=True)
class _Choice:
    text: str
    log_p: float
    tokens: int
    prompt_tokens: int


@dataclass(frozen=True, kw_only=True)
class SpanReader(Component):
    """Scores every candidate span of the passages as the answer and returns the best one.

    The score of a span is Σ log p(its tokens) + log p(the line ends) + `token_bonus`·(number of tokens)
    + `similarity_weight`·(similarity of its sentence to the question − the highest such similarity)
    − `echo_penalty`, if the question already says it, + `whole_date_bonus`, if `when` is asked and the span is a month
    with a year; spans that cannot be an answer of the kind asked for are out. The constants were chosen on 60 questions
    each of HotpotQA (train), NQ, 2Wiki and PopQA with gold passages.
    A question that offers two names is scored on those alone. A yes/no question compares log p(yes) − log p(no) with
    the same difference without passages, because small models lean to one of the words.

    scorer: the language model; embedder: gives the similarity of sentences.
    examples: instruction and worked examples, put before every question.
    passage_words: words of a passage that are shown.
    token_bonus: log-probability given back per token; without it short parts of names beat whole ones.
    echo_penalty: subtracted from spans that stand wholly in the question.
    whole_date_bonus: added to `3 May 1971` against `1971`, which is shorter and so more likely to the model.
    batch_size: questions whose sentences are embedded together.
    """

    scorer: SpanScorer
    embedder: Embedder
    examples: str = SPAN_EXAMPLES
    passage_words: PositiveInt = 200
    token_bonus: Annotated[float, Field(ge=0)] = 0.2
    similarity_weight: NonNegativeFloat = 1.0
    echo_penalty: NonNegativeFloat = 2.0
    whole_date_bonus: NonNegativeFloat = 2.0
    batch_size: PositiveInt = runtime(8)

    def answer(self, questions: Sequence[Question], contexts: Sequence[Sequence[Passage]]) -> Iterator[Answer]:
        """One answer a question, in order. Its confidence is Σ log p of the chosen span (0 is certain)."""
        for start in range(0, len(questions), self.batch_size):
            rows = slice(start, start + self.batch_size)
            tasks = [self._task(*pair) for pair in zip(questions[rows], contexts[rows], strict=True)]
            for task, similarities in zip(tasks, self._similarities(tasks), strict=True):
                yield self._answer(task, similarities)

    def _task(self, question: Question, passages: Sequence[Passage]) -> _Task:
        shown = tuple((" ".join(p.title.split()), " ".join(p.text.split()[: self.passage_words])) for p in passages)
        return _Task(
            question, shown, tuple(tuple(Sentence(title, s) for s in split_sentences(text)) for title, text in shown)
        )

    def _similarities(self, tasks: Sequence[_Task]) -> list[NDArray[np.float64]]:
        """For each task, the inner products of its sentences with its question, all passages in one row."""
        texts = [[sentence.text for passage in task.sentences for sentence in passage] for task in tasks]
        questions = encoded(
            self.embedder.encode_questions, [task.question.text for task in tasks], [task.question.id for task in tasks]
        )
        everything = [text for row in texts for text in row]
        vectors = encoded(self.embedder.encode_passages, everything, everything)
        ends = np.cumsum([len(row) for row in texts])
        return [
            (vectors[end - len(row) : end] @ question).astype(np.float64)
            for row, end, question in zip(texts, ends, questions, strict=True)
        ]

    def _answer(self, task: _Task, similarities: NDArray[np.float64]) -> Answer:
        used = len(task.passages)
        while True:
            try:
                choice = self._choose(task, used, similarities)
                break
            except ModelError as error:
                if error.kind != "truncated" or used <= 1:
                    return failed_answer(task.question.id, error, passages_used=used)
                used -= 1  # whole passages are dropped, the last first, until the prompt fits
        if choice is None:
            return Answer(task.question.id, "empty", text="", passages_used=used)
        return Answer(
            question=task.question.id,
            status="ok",
            text=choice.text,
            confidence=choice.log_p,
            raw=choice.text,
            prompt_tokens=choice.prompt_tokens,
            completion_tokens=choice.tokens,
            passages_used=used,
        )

    def _choose(self, task: _Task, used: int, similarities: NDArray[np.float64]) -> _Choice | None:
        if used == 0:
            return None
        if is_yes_no(task.question.text):
            return self._yes_or_no(task, used)
        offered = options(task.question.text)
        if offered is not None:
            return self._best(task, used, offered, np.zeros(len(offered)))
        found = _of_kind(
            candidates([sentence for passage in task.sentences[:used] for sentence in passage]),
            expected_type(task.question.text),
        )
        return self._best(task, used, [span.text for span in found], self._adjustments(task, found, similarities))

    def _best(self, task: _Task, used: int, spans: Sequence[str], adjustments: NDArray[np.float64]) -> _Choice | None:
        if not spans:
            return None
        scores = self.scorer.score(self.examples, task.prompt(used), spans)
        total = scores.log_p + scores.log_end + self.token_bonus * scores.tokens + adjustments
        return _chosen(spans, scores, int(np.argmax(total)))

    def _yes_or_no(self, task: _Task, used: int) -> _Choice:
        informed = self.scorer.score(self.examples, task.prompt(used), YES_NO)
        blind = self.scorer.score(self.examples, task.prompt(0), YES_NO)
        evidence = informed.log_p - blind.log_p
        return _chosen(YES_NO, informed, int(evidence[1] > evidence[0]))

    def _adjustments(
        self, task: _Task, found: Sequence[Candidate], similarities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """(n,) what a span's sentence and wording add to its score."""
        question = task.question.text
        dated = expected_type(question) == "date"
        adjustments = np.zeros(len(found))
        for row, span in enumerate(found):
            nearest = max(similarities[number] for number in span.sentences)
            adjustments[row] = self.similarity_weight * (nearest - similarities.max())
            if _words(span.text) in _words(question):
                adjustments[row] -= self.echo_penalty
            if dated and is_whole_date(span.text):
                adjustments[row] += self.whole_date_bonus
        return adjustments


def _of_kind(found: Sequence[Candidate], kind: AnswerType) -> list[Candidate]:
    """The spans that can be such an answer; all of them where none can."""
    return [span for span in found if fits(span.text, kind)] or list(found)


def _chosen(spans: Sequence[str], scores: SpanScores, best: int) -> _Choice:
    return _Choice(spans[best], float(scores.log_p[best]), int(scores.tokens[best]), scores.prompt_tokens)


def _words(text: str) -> str:
    """Lower-case words between blanks, so that `in` means a run of whole words."""
    letters = "".join(c if c.isalnum() else " " for c in text.lower())
    return f" {' '.join(letters.split())} "


def _as_question(text: str) -> str:
    """The question as examples show it: a capital first letter and one question mark."""
    stripped = " ".join(text.split()).rstrip("?").rstrip()
    return f"{stripped[:1].upper()}{stripped[1:]}?"
