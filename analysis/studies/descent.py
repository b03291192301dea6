"""Where a descent loses the evidence: what each layer of the tree keeps, how wide the beam must be, how nodes are described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from pydantic import Field, PositiveInt

from analysis.descent import Level, descend, lost_at
from analysis.plots import line, logarithmic
from analysis.studies.corpus import DescribedTree, StudyCorpus
from analysis.studies.protocol import Rows, StudyResult, bar, measured
from analysis.style import PAGE_MM, new_figure, save, styled
from analysis.tables import Table, rows_table
from psi.component import Component
from psi.metrics import summarise
from psi.store import Store, safe_name
from psi.tree import unit_rows

VERSION = 1  # of the measurements
_LEAVES = "leaves"


@dataclass(frozen=True, kw_only=True)
class Descent(Component):
    """Tree statistics, recall lost layer by layer, recall and work by beam, for each way to describe nodes.

    abstracts: of conf/abstracts, whose trees are compared. beams: nodes kept in each layer. shown_beam: of the figure by
    layers. k: of recall.
    """

    abstracts: Annotated[tuple[str, ...], Field(min_length=1)] = ("mean", "extractive")
    beams: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1, 2, 5, 10, 20, 50, 100, 200)
    shown_beam: PositiveInt = 10
    k: PositiveInt = 10

    @property
    def described(self) -> tuple[str, ...]:
        """The trees that it needs."""
        return self.abstracts

    def run(self, corpora: Sequence[StudyCorpus], store: Store, folder: Path) -> StudyResult:
        """Measure all corpora; one table of trees, one of searches, a figure a corpus."""
        layers, searches, figures = Rows(), Rows(), list[Path]()
        for corpus in corpora:
            corpus.asked()  # refuses before the work begins
            own = [row for kind in self.abstracts for row in layer_rows(corpus, kind)]
            found = list(self._searched(corpus, store))
            layers += own
            searches += found
            figures += _figure(corpus, found, self, folder / f"descent_{safe_name(corpus.name)}")
        return StudyResult(
            {"layers": _layers_table(layers), "searches": _searches_table(searches, self.k)}, tuple(figures)
        )

    def _searched(self, corpus: StudyCorpus, store: Store) -> Iterator[dict[str, Any]]:
        beams = tuple(sorted({*self.beams, self.shown_beam}))
        work = [(kind, beam) for kind in self.abstracts for beam in beams]
        for kind, beam in bar(work, corpus.name, "beam"):
            index = corpus.indexes[kind]
            inputs = {"corpus": corpus.digest, "tree": index.tree.digest(), "vectors": digest_of(index)}

            def make(index: DescribedTree = index, beam: int = beam) -> Rows:
                return searched(corpus, index, beam, self.k)

            for row in measured(store, "descent", VERSION, {"beam": beam, "k": self.k}, inputs, make):
                yield {"corpus": corpus.name, "abstracts": kind, "beam": beam, **row}
        yield flat(corpus, self.k)


def digest_of(index: DescribedTree) -> str:
    """sha256 of the nodes' vectors."""
    import hashlib

    return hashlib.sha256(np.ascontiguousarray(index.vectors).tobytes()).hexdigest()


def layer_rows(corpus: StudyCorpus, kind: str) -> Iterator[dict[str, Any]]:
    """A row for each layer of a tree: nodes, children, passages below, words of abstracts."""
    tree, _, texts = corpus.indexes[kind]
    counts, children = tree.leaf_counts(), tree.child_counts()
    for height, nodes in enumerate(tree.layers()):
        words = [len(texts[node - tree.n_leaves].split()) for node in nodes] if texts and height else []
        yield {
            "corpus": corpus.name, "abstracts": kind, "height": height, "nodes": len(nodes),
            "children": float(children[nodes].mean()) if height else None,
            "most_children": int(children[nodes].max()) if height else None,
            "passages": float(counts[nodes].mean()), "most_passages": int(counts[nodes].max()),
            "words": float(np.mean(words)) if words else None,
        }  # fmt: skip


def searched(corpus: StudyCorpus, index: DescribedTree, beam: int, k: int) -> Rows:
    """A row for each layer that searches of this beam go through, leaves last, over all questions with gold.

    kept: mean share of a question's gold passages that are still below a kept node; at the leaves, also recall@k.
    compared: mean number of nodes compared on the way so far.
    """
    asked = corpus.asked()
    nodes = unit_rows(index.vectors)
    levels = [descend(index.tree, nodes, corpus.question_vectors[q], beam) for q in asked]
    gold = [corpus.gold[q] for q in asked]
    rows: Rows = []
    for step in range(len(levels[0])):
        height = levels[0][step].height
        kept = [_kept(index, found, own, height) for found, own in zip(levels, gold, strict=True)]
        work = [sum(level.compared for level in found[: step + 1]) for found in levels]
        rows.append({"height": height, **_summary("kept", kept), "compared": float(np.mean(work))})
    recall = [len({*found[-1].kept[:k].tolist()} & {*own}) / len(own) for found, own in zip(levels, gold, strict=True)]
    rows[-1] |= _summary("recall", recall)
    return rows


def flat(corpus: StudyCorpus, k: int) -> dict[str, Any]:
    """Recall@k where every passage is compared with the question: what a descent could reach with these vectors."""
    asked = corpus.asked()
    similarity = corpus.question_vectors[asked] @ corpus.vectors.T
    best = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    recall = [
        len({*row.tolist()} & {*corpus.gold[q]}) / len(corpus.gold[q]) for row, q in zip(best, asked, strict=True)
    ]
    return {
        "corpus": corpus.name, "abstracts": "flat search", "beam": None, "height": 0, "compared": float(len(corpus)),
        **_summary("recall", recall),
    }  # fmt: skip


def _kept(index: DescribedTree, levels: list[Level], gold: Sequence[int], height: int) -> float:
    lost = [lost_at(index.tree, levels, leaf) for leaf in gold]
    return sum(at is None or at < height for at in lost) / len(gold)


def _summary(name: str, values: Sequence[float]) -> dict[str, Any]:
    found = summarise(values)
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high, "questions": found.n}


def _layers_table(rows: Rows) -> Table:
    columns: dict[str, tuple[str, str | None]] = {
        "corpus": ("Corpus", None), "abstracts": ("Abstracts", None), "height": ("Height", "d"), "nodes": ("Nodes", ",d"),
        "children": ("Children/node", ".1f"), "most_children": ("Most", "d"), "passages": ("Passages below", ",.1f"),
        "most_passages": ("Most", ",d"), "words": ("Words/abstract", ".1f"),
    }  # fmt: skip
    return rows_table(rows, columns, title="Trees, layer by layer", notes=("Height 0: the passages.",))


def _searches_table(rows: Rows, k: int) -> Table:
    """One row a beam: what was kept at each height, recall, work."""
    heights = sorted({row["height"] for row in rows if row["beam"] is not None}, reverse=True)
    merged: dict[tuple[str, str, int | None], dict[str, Any]] = {}
    for row in rows:
        key = (row["corpus"], row["abstracts"], row["beam"])
        own = merged.setdefault(key, {"corpus": row["corpus"], "abstracts": row["abstracts"], "beam": row["beam"]})
        own[f"kept_{row['height']}"] = _percent(row.get("kept"))
        if row["height"] == 0:
            own |= {f"recall@{k}": _percent(row["recall"]), "questions": row["questions"]}
            own |= {
                "low": _percent(row["recall_low"]),
                "high": _percent(row["recall_high"]),
                "compared": row["compared"],
            }
    columns: dict[str, tuple[str, str | None]] = {
        "corpus": ("Corpus", None), "abstracts": ("Abstracts", None), "beam": ("Beam", "d"),
        **{f"kept_{height}": (f"Kept at height {height}" if height else "Kept passages", ".1f") for height in heights},
        f"recall@{k}": (f"Recall@{k}", ".1f"), "low": ("95 % from", ".1f"), "high": ("to", ".1f"),
        "compared": ("Nodes compared", ",.0f"), "questions": ("n", ",d"),
    }  # fmt: skip
    notes = (
        "Kept at a height: percent of a question's gold passages that are still below a kept node, mean over questions; a "
        "dash: searches of this beam start below.",
        "Nodes compared: on the whole way down, mean over questions. Flat search compares all passages.",
    )
    return rows_table(list(merged.values()), columns, title="Searches from above", notes=notes)


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _figure(corpus: StudyCorpus, rows: Rows, study: Descent, out: Path) -> tuple[Path, ...]:
    """What each layer keeps at one beam; recall and work by beam."""
    with styled():
        figure = new_figure(PAGE_MM, 78)
        left, middle, right = figure.subplots(1, 3)
        for at, kind in enumerate(study.abstracts):
            own = [row for row in rows if row["abstracts"] == kind]
            _by_layer(left, [row for row in own if row["beam"] == study.shown_beam], kind, at)
            ends = [row for row in own if row["height"] == 0]
            _by_beam(middle, ends, "recall", kind, at)
            _by_beam(right, ends, "compared", kind, at)
        _finish(left, middle, right, corpus, next(row for row in rows if row["beam"] is None), study)
        handles, names = middle.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower left", ncols=4, title="Nodes described by", alignment="left")
        n = next(row["questions"] for row in rows)
        figure.suptitle(f"{corpus.name}: {len(corpus):,} passages, n = {n:,} questions", x=0.01, ha="left", fontsize=9)
        return save(figure, out, [{"corpus": corpus.name, **_every_key(row)} for row in rows])


def _every_key(row: Mapping[str, Any]) -> dict[str, Any]:
    keys = (
        "abstracts",
        "beam",
        "height",
        "kept",
        "kept_low",
        "kept_high",
        "recall",
        "recall_low",
        "recall_high",
        "compared",
        "questions",
    )
    return {key: row.get(key) for key in keys}


def _by_layer(ax: Axes, rows: Rows, kind: str, at: int) -> None:
    line(ax, [row["height"] for row in rows], [100 * row["kept"] for row in rows], at, kind, _bounds(rows, "kept"))


def _by_beam(ax: Axes, rows: Rows, key: str, kind: str, at: int) -> None:
    beams = [row["beam"] for row in rows]
    if key == "recall":
        line(ax, beams, [100 * row[key] for row in rows], at, kind, _bounds(rows, key))
    else:
        line(ax, beams, [row[key] for row in rows], at, kind)


def _bounds(rows: Rows, key: str) -> tuple[list[float], list[float]]:
    return [100 * row[f"{key}_low"] for row in rows], [100 * row[f"{key}_high"] for row in rows]


def _finish(
    left: Axes, middle: Axes, right: Axes, corpus: StudyCorpus, whole: Mapping[str, Any], study: Descent
) -> None:
    left.invert_xaxis()
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.set_xlabel("height (0: passages)")
    left.set_ylabel("gold below a kept node (%)")
    left.set_title(f"Kept by layer, beam {study.shown_beam}")
    left.set_ylim(0, 103)
    middle.axhline(100 * whole["recall"], color="black", linestyle=":", linewidth=1, label="flat search")
    middle.set_ylabel(f"Recall@{study.k} (% of gold passages)")
    middle.set_title("Recall by beam")
    middle.set_ylim(0, 103)
    right.axhline(len(corpus), color="black", linestyle=":", linewidth=1)
    logarithmic(right, "y")
    right.set_ylabel("nodes compared a question (log)")
    right.set_title("Work by beam")
    for ax in (middle, right):
        logarithmic(ax, "x", [1, 2, 5, 10, 20, 50, 100, 200])
        ax.set_xlabel("beam (nodes kept a layer, log)")
    for ax in (left, middle, right):
        ax.grid(axis="y")
