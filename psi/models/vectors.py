"""Checks that stand between an embedder and everything that believes its vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psi.errors import InputError


class BadVectorError(InputError):
    """A vector that cannot be used; `row` is its position in the batch and `problem` what is wrong with it."""

    def __init__(self, row: int, problem: str, name: str | None = None):
        where = f"text number {row} of the batch" if name is None else repr(name)
        super().__init__(f"vector of {where}: {problem}. Check the embedding model and the text it was given.")
        self.row = row
        self.problem = problem


def checked_vectors(
    vectors: Sequence[ArrayLike] | NDArray[np.float32],
    ids: Sequence[str] | None = None,
    width: int | None = None,
) -> NDArray[np.float32]:
    """Stack vectors into an (n, d) float32 array, or refuse them by name. Zero vectors are legal.

    Args:
        vectors: n rows.
        ids: names of the rows for the message; None: their position is named.
        width: the expected d; None: that of the first row.

    Raises:
        BadVectorError: a row is not a flat vector of the expected width, or holds NaN or an infinity.
        InputError: there are not as many rows as ids.
    """
    if ids is not None and len(vectors) != len(ids):
        raise InputError(f"expected {len(ids)} vectors, got {len(vectors)}: the model skipped or added texts.")
    if isinstance(vectors, np.ndarray) and vectors.ndim == 2 and not len(vectors):
        return vectors.astype(np.float32)
    rows = [_row(vector) for vector in vectors]
    expected = width if width is not None else (rows[0].size if rows else 0)
    for number, row in enumerate(rows):
        problem = _problem(row, expected)
        if problem:
            raise BadVectorError(number, problem, None if ids is None else ids[number])
    return np.stack(rows) if rows else np.zeros((0, expected), dtype=np.float32)


def encoded(
    encode: Callable[[Sequence[str]], NDArray[np.float32]], texts: Sequence[str], ids: Sequence[str]
) -> NDArray[np.float32]:
    """(n, d) checked vectors of texts; every complaint names the id, the embedder's own complaints included.

    Raises:
        BadVectorError: a vector is unusable.
    """
    try:
        vectors = encode(texts)
    except BadVectorError as error:
        raise BadVectorError(error.row, error.problem, ids[error.row]) from None
    return checked_vectors(vectors, ids)


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _row(vector: ArrayLike) -> NDArray[np.float32]:
    try:
        return np.asarray(vector, dtype=np.float32)
    except (TypeError, ValueError):
        return np.full((1, 1), np.nan, dtype=np.float32)  # not numbers: refused below by its shape


def _problem(row: NDArray[np.float32], expected: int) -> str | None:
    if row.ndim != 1:
        return "expected a flat list of numbers"
    if row.size != expected:
        return f"wrong width: expected {expected}, got {row.size}"
    if not np.isfinite(row).all():
        place = int(np.flatnonzero(~np.isfinite(row))[0])
        return f"value {row[place]} at position {place} is not a finite number"
    return None
