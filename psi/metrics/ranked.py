"""What ranking metrics share: a ranking cut to its first k distinct passages, and a check of rankings."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TypeVar

from psi.errors import ConfigError, InputError

T = TypeVar("T", bound=Hashable)


def head(ranked: Sequence[T], k: int | None) -> list[T]:
    """The first `k` distinct ids (or spans) of a ranking (None: all of them); a repeated one keeps its best place only.

    Raises:
        ConfigError: k < 1.
    """
    if k is not None and k < 1:
        raise ConfigError(f"k={k}: a ranking metric needs a cutoff of at least 1, such as recall@5.")
    return list(dict.fromkeys(ranked))[:k]


def check_ranking(ids: Sequence[str], scores: Sequence[float], *, where: str) -> None:
    """Refuse a ranking that cannot be trusted. `where` names it in the message: `method bm25, question 'q7'`.

    A sound ranking has one finite score an id, distinct ids, scores falling, and equal scores in the order of
    the ids.

    Raises:
        InputError: it is not sound; the message names the passage.
    """
    if len(ids) != len(scores):
        raise InputError(f"{where}: {len(ids)} passage ids but {len(scores)} scores. Give one score an id.")
    for passage, score in zip(ids, scores, strict=True):
        if not math.isfinite(score):
            raise InputError(
                f"{where}: passage {passage!r} has the score {score}. Scores must be finite: check the "
                "vectors, the reranker or the fusion that made it."
            )
    if len(set(ids)) < len(ids):
        twice = next(passage for passage in ids if ids.count(passage) > 1)
        raise InputError(f"{where}: passage {twice!r} is named twice. Keep its best score only.")
    for position, passage in enumerate(ids[1:], start=1):
        if (-scores[position - 1], ids[position - 1]) > (-scores[position], passage):
            raise InputError(
                f"{where}: {passage!r} at place {position + 1} follows {ids[position - 1]!r} out of order. "
                "Rankings go by falling score, equal scores by id."
            )
