"""What goes wrong while questions are searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from psi.errors import ModelError, PsiError


class FailedSearchError(PsiError):
    """Questions that could not be searched because the model failed; finished rows of the rankings are kept."""

    def __init__(self, work: str, size: int, failures: Mapping[str, ModelError]):
        question, first = next(iter(failures.items()))
        kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(Counter(e.kind for e in failures.values()).items()))
        super().__init__(
            f"{work} failed for {len(failures)} of {size} questions ({kinds}); first {question!r}: {first} "
            "Start again: what has been searched is kept."
        )
        self.failures = failures
