"""METEOR of answers, through nltk, in its stages that need no dictionary."""

from __future__ import annotations

from collections.abc import Sequence

from psi.metrics.normalise import normalise, scorable


def meteor(prediction: str, golds: Sequence[str]) -> float | None:
    """METEOR by exact and stemmed matches, the best over the references; None without gold answers.

    The published measure also matches synonyms of WordNet, which comes with no package: scores without it are somewhat lower
    wherever words differ, and not comparable with published ones. Parameters: α = 0.9, β = 3, γ = 0.5.
    Reference: Banerjee and Lavie (2005); parameters of nltk.

    >>> meteor("", ["the cat"])
    0.0
    """
    references = [words for gold in scorable(golds) if (words := normalise(gold).split())]
    if not references:
        return None
    said = normalise(prediction).split()
    if not said:
        return 0.0
    from nltk.translate.meteor_score import meteor_score

    return float(meteor_score(references, said, wordnet=_NoSynonyms()))


class _NoSynonyms:
    """In WordNet's place: no word has a synonym."""

    def synsets(self, _: str) -> list[object]:
        return []
