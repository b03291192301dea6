"""Small corpora of the kinds that break tree builders: ties, copies, clusters, zeros, few rows, few dimensions."""

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from psi.tree import Tree, tree_from_parents
from psi.tree.oracle import oracle_tree

KINDS = ("gaussian", "copies", "grid", "signs", "near copies", "clusters", "zeros", "one direction")


def corpus(kind: str, n: int, d: int, seed: int) -> npt.NDArray[np.float32]:
    """n rows of d components; the same for the same arguments."""
    rng = np.random.default_rng([n, d, seed, KINDS.index(kind)])
    rows = rng.standard_normal((n, d)).astype(np.float32)
    few = rng.integers(0, max(1, n // 4), n)
    if kind == "copies":
        return rows[few]
    if kind == "grid":
        return np.round(rows)
    if kind == "signs":
        return np.sign(rows)
    if kind == "near copies":
        return (rows[few] + np.float32(1e-4) * rows).astype(np.float32)
    if kind == "clusters":
        return (4 * rows[few % 5] + rows).astype(np.float32)
    if kind == "zeros":
        rows[rng.random(n) < 0.3] = 0
    if kind == "one direction":
        return (rows * np.float32(1e-3) + 1).astype(np.float32)
    return rows


@st.composite
def corpora(draw: st.DrawFn, largest: int = 120) -> npt.NDArray[np.float32]:
    """Any of the kinds, n = 1..largest."""
    kind = draw(st.sampled_from(KINDS))
    n = draw(st.integers(1, largest))
    d = draw(st.sampled_from([1, 2, 3, 8, 33, 64]))
    return corpus(kind, n, d, draw(st.integers(0, 10**6)))


def expected_tree(vectors: npt.NDArray[np.float32]) -> Tree:
    """What the literal all-pairs procedure builds, in canonical numbering."""
    return tree_from_parents(len(vectors), oracle_tree(vectors).parents)
