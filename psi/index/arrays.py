"""Sparse matrices as plain `.npy` files: memory-mapped on opening, no pickle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

_PARTS = ("data", "indices", "indptr")


def save_csr(folder: Path, name: str, matrix: csr_matrix) -> None:
    """Write a matrix as `name.data.npy`, `name.indices.npy`, `name.indptr.npy` and `name.shape.npy`."""
    matrix.sort_indices()
    for part in _PARTS:
        np.save(folder / f"{name}.{part}.npy", getattr(matrix, part), allow_pickle=False)
    np.save(folder / f"{name}.shape.npy", np.array(matrix.shape, dtype=np.int64), allow_pickle=False)


def load_csr(folder: Path, name: str) -> csr_matrix:
    """Open a matrix that `save_csr` wrote."""
    parts = [np.load(folder / f"{name}.{part}.npy", mmap_mode="r", allow_pickle=False) for part in _PARTS]
    rows, columns = np.load(folder / f"{name}.shape.npy", allow_pickle=False).tolist()
    return csr_matrix(tuple(parts), shape=(rows, columns))
