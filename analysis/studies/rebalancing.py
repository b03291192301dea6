"""How many children a node may have, and how crowded nodes are split: recall and work for each limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from analysis.plots import line, logarithmic
from analysis.studies.corpus import StudyCorpus
from analysis.studies.protocol import Rows, StudyResult, bar, measured
from analysis.studies.retrieval import tree_recall, tree_shape
from analysis.style import PAGE_MM, new_figure, save, styled
from analysis.tables import rows_table
from psi.component import Component
from psi.store import Store, safe_name
from psi.tree import build_tree

VERSION = 1
How = Literal["similar", "even"]


@dataclass(frozen=True, kw_only=True)
class Rebalancing(Component):
    """Paper D.2: the limit of children, and how nodes above it are split. Without a limit is measured beside.

    limits: of children. hows: `even` as published, `similar` where the children's own spanning tree is weakest.
    """

    limits: Annotated[tuple[Annotated[int, Field(ge=3)], ...], Field(min_length=1)] = (4, 6, 10, 20, 40, 80)
    hows: Annotated[tuple[How, ...], Field(min_length=1)] = ("similar", "even")
    beam: PositiveInt = 10
    k: PositiveInt = 10

    @property
    def described(self) -> tuple[str, ...]:
        """Nodes are means of their children."""
        return ()

    def run(self, corpora: Sequence[StudyCorpus], store: Store, folder: Path) -> StudyResult:
        """One row a limit and way; a figure a corpus."""
        rows, figures = Rows(), list[Path]()
        for corpus in corpora:
            own = list(self._measured(corpus, store))
            rows += own
            figures += self._figure(corpus, own, folder / f"rebalancing_{safe_name(corpus.name)}")
        columns: dict[str, tuple[str, str | None]] = {
            "corpus": ("Corpus", None), "how": ("Split", None), "limit": ("Most children", "d"),
            "percent": (f"Recall@{self.k}", ".1f"),
            "percent_low": ("95 % from", ".1f"), "percent_high": ("to", ".1f"), "compared": ("Nodes compared", ",.0f"),
            "inner_nodes": ("Inner nodes", ",d"), "height": ("Height", "d"), "most_children": ("Most there are", "d"),
            "layers": ("Layers", None), "questions": ("n", ",d"),
        }  # fmt: skip
        note = f"Beam {self.beam}; nodes are means of their children. A dash: no limit."
        table = rows_table(rows, columns, title="Limits of children", notes=(note,))
        return StudyResult({"rebalancing": table}, tuple(figures))

    def _measured(self, corpus: StudyCorpus, store: Store) -> Iterator[dict[str, Any]]:
        work: list[tuple[str, int | None]] = [(how, limit) for how in self.hows for limit in self.limits]
        for how, limit in bar([*work, ("none", None)], corpus.name, "tree"):
            settings = {"how": how, "limit": limit, "beam": self.beam, "k": self.k}

            def make(how: Any = how, limit: int | None = limit) -> Rows:
                tree = build_tree(corpus.vectors, max_children=limit or 40, rebalance=how)
                return [{**tree_shape(tree), **tree_recall(corpus, tree, self.beam, self.k)}]

            for row in measured(store, "rebalancing", VERSION, settings, {"corpus": corpus.digest}, make):
                shares = {f"percent{end}": 100 * row[f"recall{end}"] for end in ("", "_low", "_high")}
                yield {"corpus": corpus.name, "how": how, "limit": limit, **row, **shares}

    def _figure(self, corpus: StudyCorpus, rows: Rows, out: Path) -> tuple[Path, ...]:
        whole = rows[-1]
        with styled():
            figure = new_figure(PAGE_MM, 72)
            left, right = figure.subplots(1, 2)
            for at, how in enumerate(self.hows):
                own = [row for row in rows if row["how"] == how]
                bounds = [row["percent_low"] for row in own], [row["percent_high"] for row in own]
                line(left, [row["limit"] for row in own], [row["percent"] for row in own], at, f"split {how}", bounds)
                line(right, [row["limit"] for row in own], [row["compared"] for row in own], at, f"split {how}")
            left.axhline(whole["percent"], color="black", linestyle=":", linewidth=1, label="no limit")
            right.axhline(whole["compared"], color="black", linestyle=":", linewidth=1)
            left.set_ylabel(f"Recall@{self.k} (% of gold passages)")
            right.set_ylabel("nodes compared a question")
            left.set_title("Recall by limit")
            right.set_title("Work by limit")
            for ax in (left, right):
                logarithmic(ax, "x", self.limits)
                ax.set_xlabel("most children a node (log)")
                ax.grid(axis="y")
            right.set_ylim(0)
            figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=4)
            title = f"{corpus.name}: {len(corpus):,} passages, n = {whole['questions']:,} questions, beam {self.beam}"
            figure.suptitle(title, x=0.01, ha="left", fontsize=9)
            return save(figure, out, rows)
