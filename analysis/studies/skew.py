"""What becomes of a minor category in a hierarchy: mixtures from equal shares to very skewed ones, builders side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from analysis.studies import skew_drawings, skew_figures, skew_tables
from analysis.studies.builders import HierarchyBuilder
from analysis.studies.corpus import StudyCorpus
from analysis.studies.layered_search import layered_search
from analysis.studies.mixtures import Mixture, Plan, pair_mixtures, zipf_mixtures
from analysis.studies.protocol import Rows, StudyResult, bar, measured
from analysis.studies.purity import chance, everything, memberships, node_sizes, purity, variation
from analysis.studies.skew_points import Measurement, Point, Points, points
from analysis.tables import Table
from psi.component import Component
from psi.store import Store, safe_name
from psi.tree import Hierarchy, Layers, mean_vectors

VERSION = 1  # of the measurements


@dataclass(frozen=True, kw_only=True)
class Flat(Component):
    """No hierarchy: every leaf is compared with the question."""

    name: str = "flat dense"

    def build(self, vectors: Any, seed: int) -> Hierarchy:
        """The leaves alone."""
        return Layers.of(len(vectors), [])


@dataclass(frozen=True, kw_only=True)
class Skew(Component):
    """Ψ-RAG §4: whether trees keep a minor category apart from a major one, and whether its passages are found.

    builders: what is compared. ratios: of major to minor. zipf: exponent of the mixtures of all categories.
    major: passages of the major category at most. least_minor: fewer minor passages make no point.
    may_lack: ratios that a pair of categories may lack for want of passages. seeds: a mixture of each kind a seed.
    beams: nodes kept in each layer of a search. cutoffs: of recall; questions about the minor category alone.
    shuffles: of the categories over the leaves, for the chance level.
    nodes: the number of nodes at which hierarchies of other layer sizes are compared, between the layers around it.
    shown_ratio, shown_seed: the mixture that is drawn. map: the plane of the maps.
    """

    builders: Annotated[tuple[HierarchyBuilder, ...], Field(min_length=1)]
    ratios: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1, 2, 5, 10, 20, 50)
    zipf: Annotated[float, Field(gt=0)] = 1.0
    major: Annotated[int, Field(ge=2)] = 100
    least_minor: PositiveInt = 2
    may_lack: NonNegativeInt = 1
    seeds: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)] = (0, 1, 2, 3, 4)
    beams: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (2, 10)
    cutoffs: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (5, 10)
    shuffles: PositiveInt = 20
    nodes: Annotated[int, Field(ge=2)] = 10
    shown_ratio: PositiveInt = 10
    shown_seed: NonNegativeInt = 0
    map: Literal["pca", "umap"] = "pca"

    @property
    def described(self) -> tuple[str, ...]:
        """Nodes are means of their children: no texts."""
        return ()

    def run(self, corpora: Sequence[StudyCorpus], store: Store, folder: Path) -> StudyResult:
        """Measure every mixture under every builder, and write tables and figures of each corpus."""
        labelled = [corpus.labelled() for corpus in corpora]
        mixed = {corpus.name: self.mixtures(corpus) for corpus in labelled}
        found = Points(
            point for corpus in labelled for point in self.measure(corpus, mixed[corpus.name].mixtures, store)
        )
        figures = [
            path for corpus in labelled for path in self._figures(corpus, mixed[corpus.name], found, store, folder)
        ]
        return StudyResult(self._tables(found, mixed), tuple(figures))

    def mixtures(self, corpus: StudyCorpus) -> Plan:
        """What is mixed of a labelled corpus."""
        categories = [str(category) for category in corpus.categories]
        sizes: dict[str, int] = {"major": self.major, "least_minor": self.least_minor}
        pairs = pair_mixtures(categories, self.ratios, self.seeds, may_lack=self.may_lack, **sizes)
        zipf = zipf_mixtures(categories, self.zipf, self.seeds, **sizes)
        return Plan((*pairs.mixtures, *zipf.mixtures), (*pairs.left_out, *zipf.left_out))

    def measure(self, corpus: StudyCorpus, mixtures: Sequence[Mixture], store: Store) -> Iterator[Point]:
        """Every mixture under every builder, what is in the store already read from there."""
        return points(corpus.name, self._measured(corpus, mixtures, store), self.nodes)

    def _measured(self, corpus: StudyCorpus, mixtures: Sequence[Mixture], store: Store) -> Iterator[Measurement]:
        builders: Sequence[HierarchyBuilder] = [*self.builders, Flat()]
        work = [(mixture, builder) for mixture in mixtures for builder in builders]
        for mixture, builder in bar(work, corpus.name, "hierarchy"):
            settings = {
                "builder": builder.identity(), "seed": mixture.seed, "beams": self.beams, "cutoffs": self.cutoffs,
                "shuffles": self.shuffles,
            }  # fmt: skip

            def make(mixture: Mixture = mixture, builder: HierarchyBuilder = builder) -> Rows:
                return list(self._rows(corpus, mixture, builder))

            rows = measured(store, "skew", VERSION, settings, _inputs(corpus, mixture), make)
            yield Measurement(mixture, builder.name, rows)

    def _rows(self, corpus: StudyCorpus, mixture: Mixture, builder: HierarchyBuilder) -> Iterator[dict[str, Any]]:
        """A row a layer, one for the leaves, one for a single node over all of them, one a category searched for and beam."""
        part = corpus.part(mixture.rows)
        hierarchy = builder.build(part.vectors, mixture.seed)
        layers = memberships(hierarchy)
        for height, layer in enumerate([*layers, everything(len(part))]):
            by_chance = asdict(chance(layer, mixture.codes, self.shuffles, mixture.seed))
            yield {
                "kind": "layer" if 0 < height < len(layers) else "end", "height": height, "nodes": layer.shape[0],
                "sizes": node_sizes(layer).tolist(), "variation": variation(node_sizes(layer)),
                **asdict(purity(layer, mixture.codes)), **{f"chance_{name}": value for name, value in by_chance.items()},
            }  # fmt: skip
        vectors = mean_vectors(hierarchy, part.vectors)
        for beam in self.beams:
            ids, _ = layered_search(hierarchy, vectors, part.question_vectors, beam, max(self.cutoffs))
            for about, asked in _by_category(part, mixture).items():
                recalls = {f"recall@{k}": _recall(ids[asked, :k], [part.gold[q] for q in asked]) for k in self.cutoffs}
                yield {"kind": "search", "beam": beam, "about": about, "questions": len(asked), **recalls}

    def _figures(self, corpus: StudyCorpus, mixed: Plan, found: Points, store: Store, folder: Path) -> Iterator[Path]:
        looks = [*(builder.name for builder in self.builders), Flat().name]
        name, label = safe_name(corpus.name), f"{self.shown_ratio}:1"
        draw = skew_figures.Figures(corpus.name, looks, found, self.nodes, label)
        yield from draw.ratios(folder / f"skew_ratios_{name}", self.beams, self.cutoffs)
        yield from draw.sizes(folder / f"skew_sizes_{name}")
        shown = [each for each in mixed.mixtures if each.ratio == self.shown_ratio and each.seed == self.shown_seed]
        if any(each.ratio == self.shown_ratio for each in mixed.mixtures):
            yield from draw.layers(folder / f"skew_layers_{name}")
        for mixture in shown:
            part = corpus.part(mixture.rows)
            drawn = {b.name: self._hierarchy(corpus, mixture, b, store) for b in self.builders}
            yield from skew_drawings.trees(folder / f"skew_trees_{name}", corpus.name, mixture, drawn)
            yield from skew_drawings.maps(
                folder / f"skew_maps_{name}", corpus.name, mixture, drawn, part.vectors, self.map
            )

    def _hierarchy(self, corpus: StudyCorpus, mixture: Mixture, builder: HierarchyBuilder, store: Store) -> Layers:
        """Built, or read again from the store."""
        part = corpus.part(mixture.rows)

        def make() -> Rows:
            hierarchy = builder.build(part.vectors, mixture.seed)
            layers = hierarchy.layers()
            return [
                {"height": height, "children": (hierarchy.children(node) - layers[height - 1][0]).tolist()}
                for height in range(1, len(layers)) for node in layers[height]
            ]  # fmt: skip

        settings = {"builder": builder.identity(), "seed": mixture.seed}
        rows = measured(store, "skew_hierarchy", VERSION, settings, _inputs(corpus, mixture), make)
        heights = max((row["height"] for row in rows), default=0)
        return Layers.of(
            len(part), [[np.asarray(row["children"]) for row in rows if row["height"] == h + 1] for h in range(heights)]
        )

    def _tables(self, found: Points, mixed: Mapping[str, Plan]) -> dict[str, Table]:
        names = [builder.name for builder in self.builders]
        return {
            "skew": skew_tables.structure(found, self.nodes),
            "skew_layers": skew_tables.layers(found),
            "skew_search": skew_tables.search(found, self.beams, self.cutoffs),
            "skew_differences": skew_tables.differences(
                found, names[0], names[1:], self.nodes, self.beams, self.cutoffs
            ),
            "skew_mixtures": skew_tables.mixtures(mixed),
        }


def _inputs(corpus: StudyCorpus, mixture: Mixture) -> dict[str, str]:
    cut = hashlib.sha256(repr((mixture.rows.tolist(), mixture.codes.tolist())).encode()).hexdigest()
    return {"corpus": corpus.digest, "mixture": cut}


def _by_category(part: StudyCorpus, mixture: Mixture) -> dict[str, list[int]]:
    """Questions that are about the major, or about minor categories alone."""
    majors = [{int(mixture.codes[row]) == 0 for row in gold} for gold in part.gold]
    return {
        "major": [q for q, kinds in enumerate(majors) if kinds == {True}],
        "minor": [q for q, kinds in enumerate(majors) if kinds == {False}],
    }


def _recall(found: Any, gold: Sequence[Sequence[int]]) -> float | None:
    """Mean over questions of the share of gold passages found; None without questions."""
    shares = [len(set(row.tolist()) & set(own)) / len(set(own)) for row, own in zip(found, gold, strict=True)]
    return float(np.mean(shares)) if shares else None
