"""ROUGE of answers, through the package rouge-score: words or characters that prediction and reference share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from psi.metrics.normalise import scorable

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer

Part = Literal["precision", "recall", "fmeasure"]


def rouge(kind: str, part: Part, *, characters: bool = False) -> Callable[[str, Sequence[str]], float | None]:
    """ROUGE of one kind (rouge1, rouge2, rougeL), as precision, recall or F; None without gold answers.

    Of several references, the one with the best F counts. Words are stemmed (Porter), lower case, and made of ASCII letters and
    digits, as in the package; with `characters`, units are single characters, for scripts written without spaces.
    Reference: Lin, ROUGE (2004).

    >>> rouge("rougeL", "recall")("the cat", ["the cat sat down"])
    0.5
    """

    def score(prediction: str, golds: Sequence[str]) -> float | None:
        references = scorable(golds)
        if not references:
            return None
        return float(getattr(_scorer(kind, characters).score_multi(references, prediction)[kind], part))

    return score


@cache
def _scorer(kind: str, characters: bool) -> RougeScorer:
    from rouge_score.rouge_scorer import RougeScorer  # nltk takes half a second to import

    return RougeScorer([kind], use_stemmer=True, tokenizer=_Characters() if characters else None)


class _Characters:
    def tokenize(self, text: str) -> list[str]:
        return list("".join(text.lower().split()))
