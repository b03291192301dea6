"""Dasgupta's cost of hierarchies side by side, the collapse of binary trees, and the theorems of Ψ-RAG's section 4."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveInt

from analysis.studies import dasgupta_report
from analysis.studies.builders import HierarchyBuilder, Linkage, Psi, k_means, linkage_of
from analysis.studies.collapse import joins
from analysis.studies.corpus import StudyCorpus
from analysis.studies.protocol import Rows, StudyResult, bar, measured
from analysis.studies.rooted import RootedTree, from_hierarchy, from_linkage, node_costs, rooted_cost, star
from analysis.studies.theorems import balanced, dependence, holds, scatter
from psi.component import Component
from psi.store import Store
from psi.tree import Tree, build_tree, build_tree_with_report, mean_vectors

VERSION = 1  # of the measurements
SHARES = (
    0.01,
    0.1,
    0.5,
    1.0,
)  # bounds of the classes of nodes by their share of all leaves; the last is the root alone
Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Dasgupta(Component):
    """What hierarchies over the same vectors cost, where the cost lies, and where the theorems hold.

    builders: hierarchies that depend on a seed, or are layers; the abstract tree, binary trees and the star are always there.
    linkages: of the binary trees. seeds: of builders and partitions. clusters: sizes of the k-means partitions of theorem 4.1.
    grid: largest subtree in the grids of theorems 4.3 and 4.4. moves: leaves moved in the abstract tree, with real weights.
    most_balanced: partitions of equal sizes are made for so many passages at most.
    """

    builders: tuple[HierarchyBuilder, ...] = ()
    linkages: Annotated[tuple[Linkage, ...], Field(min_length=1)] = ("single", "average", "complete")
    seeds: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)] = (0, 1, 2)
    clusters: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)] = (2, 5, 10, 20)
    grid: Annotated[int, Field(ge=3)] = 40
    moves: PositiveInt = 200
    most_balanced: PositiveInt = 1500

    @property
    def described(self) -> tuple[str, ...]:
        """It looks at vectors alone."""
        return ()

    def run(self, corpora: Sequence[StudyCorpus], store: Store, folder: Path) -> StudyResult:
        """Measure every corpus, and write the tables and figures."""
        costs, collapsed, partitions, moves, siblings = Rows(), Rows(), Rows(), Rows(), dict[str, NDArray[np.int64]]()
        for corpus in corpora:
            named = {"corpus": corpus.name, "passages": len(corpus)}
            costs += [{**named, **row} for row in self._costs(corpus, store)]
            collapsed += [{**named, **row} for row in self._kept(corpus, store, "dasgupta_collapse", {}, collapse_rows)]
            partitions += [{**named, **row} for row in self._partitions(corpus, store)]
            settings = {"moves": self.moves, "seeds": self.seeds}
            moves += [{**named, **row} for row in self._kept(corpus, store, "dasgupta_moves", settings, self._moves)]
            siblings[corpus.name] = sibling_sizes(build_tree(corpus.vectors))
        report = dasgupta_report.Findings(costs, collapsed, partitions, moves, siblings, self.grid)
        return StudyResult(report.tables(), tuple(report.figures(folder)))

    def _kept(self, corpus: StudyCorpus, store: Store, name: str, settings: dict[str, Any], make: Any) -> Rows:
        return measured(store, name, VERSION, settings, {"corpus": corpus.digest}, lambda: list(make(corpus)))

    def _costs(self, corpus: StudyCorpus, store: Store) -> Iterator[dict[str, Any]]:
        """A row a tree and seed."""
        for name, settings, seed, build in bar(list(self._trees()), f"{corpus.name}: costs", "tree"):

            def make(build: Any = build, seed: int = seed) -> Rows:
                return [cost_row(build(corpus.vectors, seed), corpus.vectors)]

            rows = measured(
                store, "dasgupta_costs", VERSION, {**settings, "seed": seed}, {"corpus": corpus.digest}, make
            )
            yield from ({"tree": name, "seed": seed, **row} for row in rows)

    def _trees(self) -> Iterator[tuple[str, dict[str, Any], int, Any]]:
        """Name, settings, seed and maker of every tree."""
        for psi in (Psi(rebalance="none", name="Ψ, not rebalanced"), Psi()):
            yield psi.name, psi.identity(), 0, _as_tree(psi)
        for method in self.linkages:
            yield f"{method} linkage, binary", {"linkage": method}, 0, _binary(method)
        for builder in self.builders:
            for seed in self.seeds:
                yield builder.name, builder.identity(), seed, _as_tree(builder)
        yield "star", {"star": True}, 0, lambda vectors, seed: star(len(vectors))

    def _partitions(self, corpus: StudyCorpus, store: Store) -> Iterator[dict[str, Any]]:
        for clusters in bar([k for k in self.clusters if k < len(corpus)], f"{corpus.name}: partitions", "k"):
            settings = {"clusters": clusters, "seeds": self.seeds, "balanced": len(corpus) <= self.most_balanced}

            def make(clusters: int = clusters) -> Rows:
                points = corpus.vectors.astype(np.float64)
                return [partition_row(points, clusters, seed, len(points) <= self.most_balanced) for seed in self.seeds]

            yield from measured(store, "dasgupta_partitions", VERSION, settings, {"corpus": corpus.digest}, make)

    def _moves(self, corpus: StudyCorpus) -> Iterator[dict[str, Any]]:
        """Leaves of the abstract tree moved to smaller and to larger siblings of what they hang under."""
        tree = build_tree(corpus.vectors)
        nodes = mean_vectors(tree, corpus.vectors)
        rng = np.random.default_rng(self.seeds[0])
        before = rooted_cost(RootedTree(tree.n_leaves, tree.parents), corpus.vectors)
        for source, target in bar(list(_pairs(tree, self.moves, rng)), f"{corpus.name}: moves", "leaf"):
            yield moved(tree, corpus.vectors, nodes, source, target, before, rng)


def _as_tree(builder: HierarchyBuilder) -> Any:
    return lambda vectors, seed: from_hierarchy(builder.build(vectors, seed), vectors)


def _binary(method: Linkage) -> Any:
    return lambda vectors, seed: from_linkage(linkage_of(vectors, method))


def cost_row(tree: RootedTree, vectors: NDArray[np.float32]) -> dict[str, Any]:
    """Costs under both weights as shares of the star's, and the share of the first in nodes of each class of sizes."""
    whole = star(len(vectors))
    by_node = node_costs(tree, vectors)
    cosine, inner = float(by_node.sum()), rooted_cost(tree, vectors, "inner")
    classes = np.digitize(tree.leaf_counts() / tree.n_leaves, SHARES)
    shares = {f"class_{at}": float(by_node[classes == at].sum()) / cosine for at in range(len(SHARES) + 1)}
    return {
        "cost": cosine / rooted_cost(whole, vectors), "inner": inner / rooted_cost(whole, vectors, "inner"),
        "unit": rooted_cost(tree, vectors, "unit") / rooted_cost(whole, vectors, "unit"),
        "inner_nodes": len(tree.parents) - tree.n_leaves, "depth": depth(tree), **shares,
    }  # fmt: skip


def depth(tree: RootedTree) -> int:
    """Edges from the root to the deepest leaf."""
    depths = np.zeros(len(tree.parents), np.int64)
    for node in range(len(tree.parents) - 2, -1, -1):
        depths[node] = depths[tree.parents[node]] + 1
    return int(depths[: tree.n_leaves].max())


def collapse_rows(corpus: StudyCorpus) -> Iterator[dict[str, Any]]:
    """What joins of each kind and height change, as shares of the binary single-linkage tree's cost; then rebalancing."""
    bare, report = build_tree_with_report(corpus.vectors, rebalance="none")
    cost = rooted_cost(RootedTree(bare.n_leaves, bare.parents), corpus.vectors)
    found: defaultdict[tuple[int, str], list[float]] = defaultdict(list)
    for join in joins(bare, report.edges, corpus.vectors):
        found[join.height, join.kind].append(join.change)
    binary = cost - sum(change for changes in found.values() for change in changes)
    for (height, kind), changes in sorted(found.items()):
        yield {"height": height, "kind": kind, "joins": len(changes), "change": sum(changes) / binary}
    balanced_tree = build_tree(corpus.vectors)
    after = rooted_cost(RootedTree(balanced_tree.n_leaves, balanced_tree.parents), corpus.vectors)
    yield {"height": None, "kind": "rebalancing", "joins": 0, "change": (after - cost) / binary}


def partition_row(points: Doubles, clusters: int, seed: int, equal: bool) -> dict[str, Any]:
    """Theorem 4.1 on one k-means partition: how exact the identity is, how unequal the groups, L against equal groups."""
    groups = k_means(points, clusters, seed)
    found = scatter(points, groups)
    sizes = np.bincount(groups)
    row = {
        "clusters": len(sizes), "seed": seed, "error": abs(found.total - found.within - found.between) / found.total,
        "between": found.between / found.total, "variation": float(sizes.std() / sizes.mean()),
        "dependence": dependence(points, groups), "balanced": None,
    }  # fmt: skip
    if equal:
        centres = np.stack([points[groups == group].mean(axis=0) for group in range(len(sizes))])
        row["balanced"] = scatter(points, balanced(points, centres)).between / found.total
    return row


def sibling_sizes(tree: Tree) -> NDArray[np.int64]:
    """(pairs, 3) leaves below the smaller, the larger of two siblings, and their parent; inner siblings of unequal size."""
    counts, found = tree.leaf_counts(), []
    for node in range(int(np.searchsorted(tree.heights, 2)), tree.n_nodes):
        below = np.sort(counts[tree.children(node)])
        i, j = np.triu_indices(len(below), 1)
        unequal = below[i] < below[j]
        found.append(np.column_stack([below[i], below[j], np.full(len(i), counts[node])])[unequal])
    return np.concatenate(found) if found else np.empty((0, 3), np.int64)


def _pairs(tree: Tree, number: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Ordered pairs of inner siblings of unequal size, at random."""
    parents = [
        node
        for node in range(int(np.searchsorted(tree.heights, 2)), tree.n_nodes)
        if len(set(tree.leaf_counts()[tree.children(node)].tolist())) > 1
    ]
    counts = tree.leaf_counts()
    for _ in range(number if parents else 0):
        children = tree.children(int(rng.choice(parents)))
        while True:
            source, target = rng.choice(children, 2, replace=False).tolist()
            if counts[source] != counts[target]:
                break
        yield source, target


def moved(
    tree: Tree, vectors: NDArray[np.float32], nodes: NDArray[np.float32], source: int, target: int, before: float,
    rng: np.random.Generator,
) -> dict[str, Any]:  # fmt: skip
    """One leaf of `source` under the nearest node of height 1 of `target`: the change of cost, what unit weights say of it."""
    leaf = int(rng.choice(tree.leaves_under(source)))
    homes = np.unique(tree.parents[tree.leaves_under(target)])
    home = int(homes[np.argmax(nodes[homes] @ nodes[leaf])])
    parents = tree.parents.copy()
    parents[leaf] = home
    counts = tree.leaf_counts()
    b, a, n = int(counts[source]), int(counts[target]), int(counts[tree.parents[source]])
    after = rooted_cost(RootedTree(tree.n_leaves, parents), vectors)
    return {
        "a": a, "b": b, "n": n, "to": "smaller" if a < b else "larger", "change": after - before,
        "star": bool(holds(b, a, n, "star")), "binary": bool(holds(b, a, n, "binary")),
    }  # fmt: skip
