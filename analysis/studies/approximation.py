"""The exact tree against approximate ones: how many merges they share, what they cost, how well they are searched."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from analysis.studies.corpus import StudyCorpus
from analysis.studies.protocol import Rows, StudyResult, bar, measured
from analysis.studies.retrieval import tree_recall, tree_shape
from analysis.style import PAGE_MM, new_figure, save, series, styled
from analysis.tables import rows_table
from psi.component import Component
from psi.store import Store, safe_name
from psi.tree import Approximate, agreement, build_tree_with_report, dasgupta_cost

VERSION = 2
Builder = Literal["hnsw", "buckets", "buckets+hnsw"]


@dataclass(frozen=True, kw_only=True)
class Approximation(Component):
    """Paper E.1: trees from the edges of an HNSW graph, from buckets, and from both, beside the exact one.

    bucket_sizes: most passages in a bucket; neighbours: edges taken from the graph for each passage.
    """

    builders: Annotated[tuple[Builder, ...], Field(min_length=1)] = ("hnsw", "buckets", "buckets+hnsw")
    bucket_sizes: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)] = (256, 1024)
    neighbours: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)] = (4, 16)
    beam: PositiveInt = 10
    k: PositiveInt = 10

    @property
    def described(self) -> tuple[str, ...]:
        """Nodes are means of their children."""
        return ()

    def run(self, corpora: Sequence[StudyCorpus], store: Store, folder: Path) -> StudyResult:
        """One row a builder; a figure a corpus."""
        rows, figures = Rows(), list[Path]()
        for corpus in corpora:
            own = list(self._measured(corpus, store))
            rows += own
            figures += _figure(corpus, own, self, folder / f"approximation_{safe_name(corpus.name)}")
        columns: dict[str, tuple[str, str | None]] = {
            "corpus": ("Corpus", None), "tree": ("Tree", None), "merges": ("Equal merges (%)", ".1f"),
            "cost": ("Cost ratio", ".4f"),
            "percent": (f"Recall@{self.k}", ".1f"), "percent_low": ("95 % from", ".1f"), "percent_high": ("to", ".1f"),
            "compared": ("Nodes compared", ",.0f"), "seconds": ("Build (s)", ".3f"), "layers": ("Layers", None),
            "questions": ("n", ",d"),
        }  # fmt: skip
        notes = (
            "Equal merges: share of the exact scan's joining pairs that the other joins too. Cost ratio: Dasgupta's cost "
            "with weights (1 + cos)/2 to that of the exact tree, before splits of crowded nodes.",
            f"Beam {self.beam}; nodes are means of their children. Build: wall time, on this machine and its load.",
        )
        return StudyResult(
            {"approximation": rows_table(rows, columns, title="Exact and approximate trees", notes=notes)},
            tuple(figures),
        )

    def _measured(self, corpus: StudyCorpus, store: Store) -> Iterator[dict[str, Any]]:
        for name, builder, settings in bar(list(self._trees()), corpus.name, "tree"):
            given = {"builder": builder, **settings, "beam": self.beam, "k": self.k}

            def make(builder: Any = builder, settings: Any = settings) -> Rows:
                return [_row(corpus, builder, Approximate(**settings), self.beam, self.k)]

            for row in measured(store, "approximation", VERSION, given, {"corpus": corpus.digest}, make):
                shares = {f"percent{end}": 100 * row[f"recall{end}"] for end in ("", "_low", "_high")}
                yield {"corpus": corpus.name, "tree": name, **row, **shares}

    def _trees(self) -> Iterator[tuple[str, str, dict[str, int]]]:
        """Name, builder and settings of each tree."""
        yield "exact", "exact", {}
        for builder in self.builders:
            for size in self.bucket_sizes if "buckets" in builder else (None,):
                for near in self.neighbours if "hnsw" in builder else (None,):
                    settings = {"bucket_size": size, "neighbours": near}
                    given = {key: value for key, value in settings.items() if value is not None}
                    words = [f"b={size}" if size else "", f"k={near}" if near else ""]
                    yield f"{builder} {' '.join(filter(None, words))}", builder, given


def _row(corpus: StudyCorpus, builder: Any, approximate: Approximate, beam: int, k: int) -> dict[str, Any]:
    build_tree_with_report(corpus.vectors[:200], builder=builder, approximate=approximate)  # compiling is not timed
    start = time.perf_counter()
    tree, report = build_tree_with_report(corpus.vectors, builder=builder, approximate=approximate)
    seconds = time.perf_counter() - start
    exact, exact_report = build_tree_with_report(corpus.vectors, rebalance="none")
    bare, _ = build_tree_with_report(corpus.vectors, builder=builder, approximate=approximate, rebalance="none")
    found = agreement(bare, report.edges, exact, exact_report.edges, corpus.vectors)
    return {
        "merges": 100 * found.equal_merges, "cost": found.cost_ratio, "seconds": seconds,
        "dasgupta": dasgupta_cost(tree, corpus.vectors, "cosine01"), **tree_shape(tree), **tree_recall(corpus, tree, beam, k),
    }  # fmt: skip


def _figure(corpus: StudyCorpus, rows: Rows, study: Approximation, out: Path) -> tuple[Path, ...]:
    """Agreement, cost and recall of each tree, one row a tree."""
    panels = (
        ("merges", "equal merges (%)"),
        ("cost", "Dasgupta cost, ratio to exact"),
        ("percent", f"Recall@{study.k} (%)"),
    )
    with styled():
        figure = new_figure(PAGE_MM, 24 + 6 * len(rows))
        axes = figure.subplots(1, len(panels), sharey=True)
        for at, (ax, (key, label)) in enumerate(zip(axes, panels, strict=True)):
            look = series(at)
            places = list(range(len(rows)))
            whiskers = None
            if key == "percent":
                whiskers = [
                    [row["percent"] - row["percent_low"] for row in rows],
                    [row["percent_high"] - row["percent"] for row in rows],
                ]
            ax.errorbar(
                [row[key] for row in rows],
                places,
                xerr=whiskers,
                color=look.colour,
                marker=look.marker,
                linestyle="none",
            )
            ax.set_xlabel(label)
            ax.grid(axis="x")
            ax.margins(x=0.15)
        axes[0].set_yticks(places, [row["tree"] for row in rows])
        axes[0].invert_yaxis()
        title = f"{corpus.name}: {len(corpus):,} passages, n = {rows[0]['questions']:,} questions (b: bucket size, k: neighbours)"
        figure.suptitle(title, x=0.01, ha="left", fontsize=9)
        return save(figure, out, rows)
