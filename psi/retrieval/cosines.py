"""Cosines that come out the same to the last bit in any batch, on any number of threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Coordinates become multiples of 2**-25, a little finer than float32 keeps them near 1. Products are then multiples of
# 2**-50, and by Cauchy-Schwarz every partial sum of unit vectors' products is below 2: it fits a float64 without
# rounding, so the order of the additions can't matter.
STEP = 2.0**-25


def on_grid(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n, d) unit vectors in float64, coordinates rounded to multiples of `STEP`; zero vectors stay zero."""
    exact = np.asarray(vectors, dtype=np.float64)
    norms = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    rounded: NDArray[np.float64] = np.rint(exact / np.where(norms > 0, norms, 1.0) / STEP) * STEP
    return rounded


def cosines(questions: NDArray[np.float64], passages: NDArray[np.float64]) -> NDArray[np.float64]:
    """(q, n) inner products of vectors from `on_grid`, without rounding errors."""
    products: NDArray[np.float64] = questions @ passages.T
    return products
