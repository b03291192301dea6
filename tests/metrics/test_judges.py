"""Judges of ragas over a chat model that replies from rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from psi.component import Component
from psi.errors import ModelError
from psi.metrics.judges import Case, RagasJudges
from psi.models.protocols import Conversation, Form, Reply
from tests.toys import WordEmbedder

pytest.importorskip("ragas", reason="ragas (extra `judge`) is not installed")

VERDICTS: dict[str, Any] = {
    "statements": ["Paris is big.", "Paris is green."],
    "NLI": [
        {"statement": "Paris is big.", "reason": "said", "verdict": 1},
        {"statement": "Paris is green.", "reason": "not said", "verdict": 0},
    ],
    "TP": [{"statement": "a", "reason": "r"}], "FP": [], "FN": [{"statement": "b", "reason": "r"}],
    "classifications": [{"statement": "a", "reason": "r", "attributed": n} for n in (1, 1, 1, 0)],
    "reason": "r", "verdict": 1,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Scripted(Component):
    """Replies to every prompt with `text`, by default JSON that fits each form of ragas (which ignore other keys)."""

    text: str | None = None
    broken: bool = False
    truncated: bool = False

    def reply(
        self, conversations: Sequence[Conversation], forms: Sequence[Form | None] | None = None
    ) -> list[Reply | ModelError]:
        return [ModelError("down", kind="timeout") if self.broken else self._one(each[0][1]) for each in conversations]

    def _one(self, prompt: str) -> Reply:
        is_nli = '"StatementFaithfulnessAnswer"' in prompt
        reply = {**VERDICTS, "statements": VERDICTS["NLI" if is_nli else "statements"]}
        return Reply(self.text or f"Here it is: {json.dumps(reply)}", 10, 5, truncated=self.truncated)

    def prompt_tokens(self, conversation: Conversation) -> int | None:
        return None

    def prompt_limit(self) -> int | None:
        return None


CASE = Case("q", "How is Paris?", "Paris is big and green.", ("Paris is big.",), ("Paris is big.",))
JUDGES = ("faithfulness", "answer_correctness", "context_precision", "context_recall")


def judged(llm: Scripted, *cases: Case, judges: Any = JUDGES) -> Any:
    return RagasJudges(llm=llm, embedder=WordEmbedder(), judges=judges).judge(cases)


def test_scores_follow_the_verdicts() -> None:
    found = judged(Scripted(), CASE)
    assert not any(found.errors.values()), found.errors
    values = {name: scores.values["q"] for name, scores in found.scores.items()}
    cosine = 3 / (3 * 5) ** 0.5  # of the words of both answers
    assert values["faithfulness"] == pytest.approx(1 / 2)
    assert values["answer_correctness"] == pytest.approx(0.75 * 2 / 3 + 0.25 * cosine)
    assert values["context_precision"] == pytest.approx(1)
    assert values["context_recall"] == pytest.approx(3 / 4)
    assert found.usage.calls >= 6 and found.usage.prompt_tokens == 10 * found.usage.calls


@pytest.mark.parametrize(
    ("llm", "kind"),
    [(Scripted(broken=True), "timeout"), (Scripted(text="no idea"), "parse_failed"), (Scripted(truncated=True), "truncated")],
)  # fmt: skip
@pytest.mark.parametrize("judge", JUDGES)
def test_a_failed_judgement_is_counted_and_no_number(llm: Scripted, kind: str, judge: str) -> None:
    found = judged(llm, CASE, judges=(judge,))
    assert found.scores[judge].values == {}
    assert found.scores[judge].failed == ("q",)
    assert found.errors[judge] == {"q": kind}


def test_failed_rows_null_queries_and_nothing_retrieved() -> None:
    failed, null = CASE._replace(question="f", answer=None), CASE._replace(question="n", golds=())
    empty = CASE._replace(question="e", answer="", contexts=())
    found = judged(Scripted(), failed, null, empty)
    for name, scores in found.scores.items():
        assert scores.excluded == ("n",)
        assert scores.values["e"] == 0
        assert scores.failed == (("f",) if name in ("faithfulness", "answer_correctness") else ())
