"""Candidate phrases of a corpus: word n-grams that neither start nor end in a stop word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_matrix


def phrase_counts(texts: Sequence[str], longest: int) -> tuple[csr_matrix, list[str]]:
    """Counts of phrases of 1 to `longest` words: (n texts, vocabulary) and the vocabulary in alphabetical order.

    Phrases of more than one word must occur in two texts (in a corpus of at least two): the others say nothing
    about a group. Numbers alone are no phrases. A corpus without a single phrase gives a vocabulary of size zero.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        ngram_range=(1, longest), token_pattern=r"(?u)\b[^\W\d][\w'-]+\b", stop_words="english", dtype="int32"
    )
    try:
        counts = csr_matrix(vectorizer.fit_transform(texts))
    except ValueError:  # scikit-learn's way to say that the vocabulary is empty
        return csr_matrix(np.zeros((len(texts), 0), dtype=np.int32)), []
    vocabulary = vectorizer.get_feature_names_out().tolist()
    found_in = counts.getnnz(axis=0)
    kept = [i for i, phrase in enumerate(vocabulary) if " " not in phrase or found_in[i] > 1]
    return csr_matrix(counts[:, kept]), [vocabulary[i] for i in kept]


def distinct_phrases(ranked: Iterable[str], most: int) -> list[str]:
    """The first `most` phrases that add a word which no earlier one holds."""
    chosen: list[str] = []
    covered: set[str] = set()
    for phrase in ranked:
        words = set(phrase.split())
        if not words <= covered:
            chosen.append(phrase)
            covered |= words
        if len(chosen) == most:
            break
    return chosen
