"""How trees grow: layers, time, memory and recall of searches from thousands to a million passages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveInt

from analysis.plots import line, logarithmic
from analysis.studies.corpus import StudyCorpus
from analysis.studies.protocol import Rows, StudyResult, bar, measured
from analysis.studies.retrieval import tree_shape
from analysis.style import PAGE_MM, new_figure, save, styled
from analysis.tables import rows_table
from psi.component import Component
from psi.errors import InputError
from psi.store import Store, safe_name
from psi.tree import beam_search, build_tree, mean_vectors, unit_rows

VERSION = 2
Builder = Literal["exact", "hnsw", "buckets", "buckets+hnsw"]
_BLOCK = 20_000  # passages generated, or compared with all questions, at once


@dataclass(frozen=True, kw_only=True)
class Scaling(Component):
    """Passages of any number from a corpus: each is one of its vectors, moved by noise.

    sizes: numbers of passages. builders: of the trees. most_exact: larger sizes are left out for the exact builder, whose
    work grows with the square. noise: length of what is added to a vector of length 1. queries: passages that are searched
    for by another noisy copy. beam, k: of the search; recall is against flat search.
    """

    sizes: Annotated[tuple[Annotated[int, Field(ge=10)], ...], Field(min_length=1)] = (1000, 3000, 10_000, 30_000)
    builders: Annotated[tuple[Builder, ...], Field(min_length=1)] = ("exact", "hnsw", "buckets")
    most_exact: PositiveInt = 100_000
    noise: Annotated[float, Field(gt=0)] = 0.7
    queries: PositiveInt = 500
    beam: PositiveInt = 10
    k: PositiveInt = 10
    seed: NonNegativeInt = 0

    @property
    def described(self) -> tuple[str, ...]:
        """Nodes are means of their children."""
        return ()

    def run(self, corpora: Sequence[StudyCorpus], store: Store, folder: Path) -> StudyResult:
        """One row a size and builder; a figure a corpus."""
        rows, figures = Rows(), list[Path]()
        for corpus in corpora:
            own = list(self._measured(corpus, store))
            if not own:
                raise InputError(
                    f"no size of {list(self.sizes)} is left for builders {list(self.builders)}: raise most_exact."
                )
            rows += own
            figures += self._figure(corpus, own, folder / f"scaling_{safe_name(corpus.name)}")
        columns: dict[str, tuple[str, str | None]] = {
            "corpus": ("Corpus", None), "builder": ("Builder", None), "passages": ("Passages", ",d"),
            "height": ("Height", "d"),
            "layers": ("Layers", None), "build_seconds": ("Build (s)", ".2f"), "microseconds": ("µs/passage", ",.0f"),
            "search_ms": ("Search (ms)", ".3f"), "percent": (f"Recall@{self.k} of flat", ".1f"),
            "own": ("Own passage (%)", ".1f"),
            "bytes": ("Tree (bytes/passage)", ".0f"),
        }  # fmt: skip
        notes = (
            f"Passages are vectors of the corpus with noise of length {self.noise:g}. Recall: share of the {self.k} nearest by "
            f"flat search that a beam of {self.beam} finds, {self.queries} questions; own passage: the share of questions that "
            "find the passage of which they are a noisy copy.",
            "Times: wall, on this machine and its load; tree: its arrays without the nodes' vectors.",
        )
        return StudyResult({"scaling": rows_table(rows, columns, title="Growing corpora", notes=notes)}, tuple(figures))

    def _measured(self, corpus: StudyCorpus, store: Store) -> Iterator[dict[str, Any]]:
        work = [(b, n) for b in self.builders for n in self.sizes if b != "exact" or n <= self.most_exact]
        for builder, size in bar(work, corpus.name, "tree"):
            given = {key: getattr(self, key) for key in ("noise", "queries", "beam", "k", "seed")}
            settings = {"builder": builder, "passages": size, **given}

            def make(builder: Builder = builder, size: int = size) -> Rows:
                return [self._row(corpus, builder, size)]

            for row in measured(store, "scaling", VERSION, settings, {"corpus": corpus.digest}, make):
                yield {"corpus": corpus.name, "builder": builder, "passages": size, **row}

    def _row(self, corpus: StudyCorpus, builder: Builder, size: int) -> dict[str, Any]:
        _warm_up(builder)
        vectors = noisy(corpus.vectors, np.arange(size) % len(corpus), self.noise, self.seed)
        start = time.perf_counter()
        tree = build_tree(vectors, builder=builder)
        nodes = mean_vectors(tree, vectors)
        built = time.perf_counter() - start
        own = np.random.default_rng([self.seed, size]).choice(size, min(self.queries, size), replace=False)
        asked = noisy(vectors, own, self.noise, self.seed + 1)
        start = time.perf_counter()
        found, _ = beam_search(tree, nodes, asked, beam=self.beam, k=self.k, normalised=True)
        searched = time.perf_counter() - start
        near = _nearest(vectors, asked, self.k)
        shared = [len({*row} & {*right}) for row, right in zip(found.tolist(), near.tolist(), strict=True)]
        arrays = (tree.parents, tree.heights, tree.child_offsets, tree.child_ids)
        return {
            **tree_shape(tree), "build_seconds": built, "microseconds": 1e6 * built / size,
            "search_ms": 1000 * searched / len(asked), "percent": 100 * float(np.mean(shared)) / near.shape[1],
            "own": 100 * float((found == own[:, None]).any(axis=1).mean()), "bytes": sum(each.nbytes for each in arrays) / size,
        }  # fmt: skip

    def _figure(self, corpus: StudyCorpus, rows: Rows, out: Path) -> tuple[Path, ...]:
        panels = (
            ("build_seconds", "build (s, log)"),
            ("search_ms", "search (ms a question)"),
            ("percent", f"Recall@{self.k} of flat search (%)"),
        )
        with styled():
            figure = new_figure(PAGE_MM, 72)
            axes = figure.subplots(1, len(panels))
            for ax, (key, label) in zip(axes, panels, strict=True):
                for at, builder in enumerate(self.builders):
                    own = [row for row in rows if row["builder"] == builder]
                    line(ax, [row["passages"] for row in own], [row[key] for row in own], at, builder)
                logarithmic(ax, "x", sorted({row["passages"] for row in rows}))
                ax.set_xlabel("passages (log)")
                ax.set_ylabel(label)
                ax.grid(axis="y")
                if key == "build_seconds":
                    logarithmic(ax, "y")
                else:
                    ax.set_ylim(0, 103 if key == "percent" else None)
            figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4)
            title = f"{corpus.name} with noise {self.noise:g}: beam {self.beam}, n = {self.queries} questions a point"
            figure.suptitle(title, x=0.01, ha="left", fontsize=9)
            return save(figure, out, rows)


def noisy(vectors: NDArray[np.float32], rows: NDArray[np.int64], noise: float, seed: int) -> NDArray[np.float32]:
    """(m, d) unit vectors: the given rows with a random vector of length about `noise` added to each."""
    rng = np.random.default_rng([seed, len(rows)])
    out = np.empty((len(rows), vectors.shape[1]), np.float32)
    for start in range(0, len(rows), _BLOCK):
        part = rows[start : start + _BLOCK]
        added = rng.standard_normal((len(part), vectors.shape[1]), np.float32)
        out[start : start + _BLOCK] = vectors[part] + added * np.float32(noise / np.sqrt(vectors.shape[1]))
    return unit_rows(out)


def _warm_up(builder: Builder) -> None:
    """Build and search once, so that compiling is not timed."""
    vectors = unit_rows(np.random.default_rng(0).standard_normal((200, 8), np.float32))
    tree = build_tree(vectors, builder=builder)
    beam_search(tree, mean_vectors(tree, vectors), vectors[:20])


def _nearest(vectors: NDArray[np.float32], asked: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The k nearest of all vectors for each question (q, d), block by block."""
    k = min(k, len(vectors))
    best, ids = np.full((len(asked), k), -np.inf, np.float32), np.full((len(asked), k), -1)
    for start in range(0, len(vectors), _BLOCK):
        part = vectors[start : start + _BLOCK]
        scores = np.hstack([best, asked @ part.T])
        places = np.hstack([ids, np.broadcast_to(np.arange(start, start + len(part)), (len(asked), len(part)))])
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        best, ids = np.take_along_axis(scores, order, 1), np.take_along_axis(places, order, 1)
    return ids
