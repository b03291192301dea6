"""F1 of answers: the words (or characters) that prediction and gold share. Each variant has its own name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from psi.metrics.normalise import normalise, same_without_words, scorable

_CLOSED = frozenset({"yes", "no", "noanswer"})


def f1(prediction: str, golds: Sequence[str]) -> float | None:
    """Word F1 by the HotpotQA rules, the best over the gold answers; None without gold answers.

    F1 = 2·P·R / (P + R), with P and R the shares of the prediction's and the gold's words in their multiset
    overlap, after normalisation. If either side is `yes`, `no` or `noanswer`, only an equal text scores.
    Reference: Yang et al., HotpotQA (2018), `hotpot_evaluate_v1.py`. One difference: officially a gold of
    articles or marks only (`The`) scores 0 against everything; here it scores 1 against itself.

    >>> f1("Paris", ["Paris, France"]), f1("yes it is", ["yes"])
    (0.6666666666666666, 0.0)
    """
    return _best(prediction, golds, _f1_hotpot)


def f1_squad(prediction: str, golds: Sequence[str]) -> float | None:
    """Word F1 by the SQuAD v1.1 rules: as `f1`, without the rule for yes, no and noanswer.

    Reference: Rajpurkar et al., SQuAD (2016), §6.1, `evaluate-v1.1.py`; the same difference as in `f1`.

    >>> f1_squad("yes it is", ["yes"])
    0.5
    """
    return _best(prediction, golds, lambda left, right: _overlap(left.split(), right.split()))


def f1_chars(prediction: str, golds: Sequence[str]) -> float | None:
    """F1 over the characters of the normalised texts, spaces left out: for scripts written without spaces.

    In no official script; the unit is that of CMRC 2018 (Cui et al. 2019), the overlap that of `f1_squad`.

    >>> f1_chars("北京", ["北京市"])
    0.8
    """
    return _best(prediction, golds, lambda left, right: _overlap(_unspaced(left), _unspaced(right)))


def _best(prediction: str, golds: Sequence[str], score: Callable[[str, str], float]) -> float | None:
    return max((_guarded(prediction, gold, score) for gold in scorable(golds)), default=None)


def _guarded(prediction: str, gold: str, score: Callable[[str, str], float]) -> float:
    left, right = normalise(prediction), normalise(gold)
    if left and right:
        return score(left, right)
    return float(not left and not right and same_without_words(prediction, gold))


def _f1_hotpot(left: str, right: str) -> float:
    if left != right and not _CLOSED.isdisjoint((left, right)):
        return 0.0
    return _overlap(left.split(), right.split())


def _unspaced(text: str) -> str:
    return text.replace(" ", "")


def _overlap(left: Sequence[str], right: Sequence[str]) -> float:
    # 2PR / (P + R) written without the division by zero: P = same / |left|, R = same / |right|
    same = (Counter(left) & Counter(right)).total()
    return 2 * same / (len(left) + len(right))
