"""Links between passages: names that texts mention, and rare phrases that they share."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat
from scipy.sparse import csr_matrix, diags_array

from psi.component import Component
from psi.corpus.records import Passages
from psi.index.arrays import load_csr, save_csr
from psi.index.mentions import Key, Trie, names, phrases, words
from psi.store import Stage, Store

VERSION = 1
Weight = Annotated[float, Field(ge=0, le=1)]
Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class LinkIndex:
    """The links of a corpus of n passages.

    `trie` finds keys in a text; `named` is (keys, n): how surely a key means a passage; `edges` is (n, n): what share
    of the score of a row's passage may go to a column's.
    """

    trie: Trie
    named: csr_matrix
    edges: csr_matrix


@dataclass(frozen=True, kw_only=True)
class LinkIndexer(Component):
    """Finds links in one pass over the texts, with no model.

    A key that names a passage weighs w, the largest of the kinds below that apply, over √(passages with that key).
    An edge from i to j is the largest of: w/(1 + hub·m) where i mentions j, m being the passages that i mentions;
    back·w/(1 + hub·m) where j mentions i, m being the passages that mention i; phrase/(1 + ln(df − 1)) where both hold
    a capitalised phrase that df passages hold, 2 ≤ df ≤ common.

    title, head, article, alias, comma: weight of a name by how it was found (see `psi.index.mentions.names`).
    hub: damping of passages with many links.
    back: weight of a link walked backwards.
    phrase: weight of a phrase that two passages alone share; 0: links by names only.
    common: passages with a phrase above which it is no link.
    """

    title: Weight = 1.0
    head: Weight = 0.9
    article: Weight = 0.8
    alias: Weight = 0.7
    comma: Weight = 0.6
    hub: NonNegativeFloat = 0.05
    back: Weight = 0.25
    phrase: Weight = 0.5
    common: Annotated[int, Field(ge=2)] = 20

    def build(self, passages: Passages, store: Store) -> LinkIndex:
        """Find the links, or open what the store has of them."""
        stage = Stage("links", VERSION, self.identity(), {"passages": passages.digest})
        artifact = store.obtain(stage, lambda folder: self._make(passages, folder))
        keys = json.loads((artifact.path / "keys.json").read_text(encoding="utf-8"))
        named, edges = (load_csr(artifact.path, name) for name in ("named", "edges"))
        return LinkIndex(Trie([tuple(key) for key in keys]), named, edges)

    def _make(self, passages: Passages, folder: Path) -> Mapping[str, Any]:
        keys, named = self._names(passages)
        mentions = read_mentions(passages, Trie(keys), len(keys))
        by_name = _mentioned(mentions.keys, named)
        edges = csr_matrix(self._along(by_name).maximum(self._shared(mentions.phrases)))
        (folder / "keys.json").write_text(json.dumps(keys, ensure_ascii=False), encoding="utf-8")
        save_csr(folder, "named", named)
        save_csr(folder, "edges", edges)
        return {"keys": len(keys), "links_by_name": int(by_name.nnz), "edges": int(edges.nnz)}

    def _names(self, passages: Passages) -> tuple[list[Key], csr_matrix]:
        weights: defaultdict[Key, dict[int, float]] = defaultdict(dict)
        for position, passage in enumerate(passages):
            for kind, key in names(passage):
                weight = max(getattr(self, kind), weights[key].get(position, 0.0))
                weights[key][position] = weight
        keys = sorted(weights)
        starts = np.cumsum([0] + [len(weights[key]) for key in keys])
        columns = np.array([position for key in keys for position in weights[key]], dtype=np.int64)
        values = np.array([weight for key in keys for weight in weights[key].values()], dtype=np.float64)
        values /= np.repeat(np.sqrt(np.diff(starts)), np.diff(starts))
        return keys, csr_matrix((values, columns, starts), shape=(len(keys), len(passages)))

    def _along(self, by_name: csr_matrix) -> csr_matrix:
        out = by_name.getnnz(axis=1)
        into = by_name.getnnz(axis=0)
        ahead = csr_matrix(diags_array(1 / (1 + self.hub * out)) @ by_name)
        back = csr_matrix(diags_array(self.back / (1 + self.hub * into)) @ by_name.T)
        return csr_matrix(ahead.maximum(back))

    def _shared(self, held: csr_matrix) -> csr_matrix:
        """(n, n) links by common phrases; `held` is (phrases, n)."""
        found_in = held.getnnz(axis=1)
        rows: list[Integers] = []
        columns: list[Integers] = []
        values: list[NDArray[np.float64]] = []
        for df in range(2, self.common + 1):
            members = held.indices[held.indptr[:-1][found_in == df][:, None] + np.arange(df)]
            first, second = np.nonzero(~np.eye(df, dtype=bool))
            rows.append(members[:, first].ravel())
            columns.append(members[:, second].ravel())
            values.append(np.full(rows[-1].size, self.phrase / (1 + np.log(df - 1))))
        return _largest(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), held.shape[1])


class Mentions(NamedTuple):
    """(n, keys) which keys a passage's text mentions, and (phrases, n) which passages hold a phrase: ones."""

    keys: csr_matrix
    phrases: csr_matrix


def read_mentions(passages: Passages, trie: Trie, n_keys: int) -> Mentions:
    """Read every text once. Titles count for phrases, not for mentions: a title names its own passage."""
    found: list[Sequence[int]] = []
    held: defaultdict[str, list[int]] = defaultdict(list)
    for position, passage in enumerate(passages):
        found.append(sorted(set(trie.find(words(passage.text)))))
        for phrase in phrases(passage.title) | phrases(passage.text):
            held[phrase].append(position)
    # phrases of one passage can make no link; the order of the others does not matter to any result
    shared = [held[phrase] for phrase in sorted(held) if len(held[phrase]) > 1]
    return Mentions(_ones(found, n_keys), _ones(shared, len(passages)))


def _ones(rows: Sequence[Sequence[int]], width: int) -> csr_matrix:
    starts = np.cumsum([0] + [len(row) for row in rows])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(rows), width))


def _mentioned(mentions: csr_matrix, named: csr_matrix) -> csr_matrix:
    """(n, n) the weight of the surest name by which a row's text mentions a column's passage."""
    picked = csr_matrix(named[mentions.indices])
    rows = np.repeat(np.arange(mentions.shape[0]), mentions.getnnz(axis=1))
    return _largest(np.repeat(rows, picked.getnnz(axis=1)), picked.indices, picked.data, mentions.shape[0])


def _largest(rows: Integers, columns: Integers, values: NDArray[np.float64], n: int) -> csr_matrix:
    """(n, n) the largest value given for each place; the diagonal and zeros are left out."""
    kept = (rows != columns) & (values > 0)
    place, values = rows[kept].astype(np.int64) * n + columns[kept], values[kept]
    order = np.lexsort((-values, place))
    place, values = place[order], values[order]
    first = np.ones(len(place), dtype=bool)
    first[1:] = place[1:] != place[:-1]
    rows, columns = np.divmod(place[first], n)
    return csr_matrix((values[first], (rows, columns)), shape=(n, n))
