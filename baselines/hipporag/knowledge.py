"""What extractions say about a corpus as a whole: distinct phrases, distinct facts, and which passage holds what."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from baselines.hipporag.openie import Extraction, OpenIE, openie_stage, read_extractions
from psi.corpus.records import Passage, Passages
from psi.index.arrays import load_csr, save_csr
from psi.store import Artifact, Stage, Store

VERSION = 1


class Fact(NamedTuple):
    """A triple between phrases, which are given by position."""

    subject: int
    relation: str
    object: int


@dataclass(frozen=True)
class Knowledge:
    """The phrases and facts of a corpus of n passages.

    `phrases` are in the order of their texts, `facts` in that of their subjects, relations and objects. `held` is
    (phrases, n): how often a passage's triples name a phrase (for an entity without a triple: 1). `relations` is
    (phrases, phrases), symmetric, without diagonal: how many triples join two phrases, over all passages.
    """

    phrases: tuple[str, ...]
    facts: tuple[Fact, ...]
    held: csr_matrix
    relations: csr_matrix

    def triple(self, fact: int) -> tuple[str, str, str]:
        """A fact in words."""
        subject, relation, target = self.facts[fact]
        return self.phrases[subject], relation, self.phrases[target]


def normalised(phrase: str) -> str:
    """The form in which phrases are one: lower case, single blanks, composed characters. Nothing else is lost.

    >>> normalised(" Marta   HOLM "), normalised("C++"), normalised("北京")
    ('marta holm', 'c++', '北京')
    """
    return " ".join(unicodedata.normalize("NFC", phrase).lower().split())


def knowledge_stage(passages: Passages, openie: OpenIE, entities: bool, store: Store) -> tuple[Artifact, Knowledge]:
    """Extract, collect, and open what the store then has. With `entities`, those without a triple are phrases too."""
    extracted = openie_stage(passages, openie, store)
    stage = Stage("knowledge", VERSION, {"entities": entities}, {"openie": extracted.digest})

    def make(folder: Path) -> Mapping[str, int]:
        return _write(folder, collected(read_extractions(extracted), entities))

    artifact = store.obtain(stage, make)
    return artifact, _read(artifact.path)


def collected(extractions: Sequence[Extraction], entities: bool) -> Knowledge:
    """The knowledge of all passages together."""
    triples = [_triples(extraction) for extraction in extractions]
    counts = [Counter(part for s, _, o in each for part in (s, o)) for each in triples]
    if entities:
        for count, extraction in zip(counts, extractions, strict=True):
            count.update({phrase for phrase in map(normalised, extraction.entities) if phrase} - count.keys())
    phrases = sorted({phrase for count in counts for phrase in count})
    place = {phrase: position for position, phrase in enumerate(phrases)}
    distinct = sorted({(place[s], r, place[o]) for each in triples for s, r, o in each})
    held = [(place[phrase], n, count) for n, each in enumerate(counts) for phrase, count in each.items()]
    joined = [(place[s], place[o], 1) for each in triples for s, _, o in each if s != o]
    relations = _matrix(joined, (len(phrases), len(phrases)))
    return Knowledge(
        tuple(phrases),
        tuple(Fact(*fact) for fact in distinct),
        _matrix(held, (len(phrases), len(extractions))),
        csr_matrix(relations + relations.T),
    )


def as_passages(texts: Sequence[str]) -> Passages:
    """Texts in the guise of passages, in their order: what the embeddings stage takes."""
    return Passages([Passage(f"{number:09d}", "", text) for number, text in enumerate(texts)])


def _triples(extraction: Extraction) -> list[tuple[str, str, str]]:
    """The distinct triples of a passage in their normal form."""
    return list(dict.fromkeys((normalised(s), normalised(r), normalised(o)) for s, r, o in extraction.triples))


def _matrix(entries: Sequence[tuple[int, int, int]], shape: tuple[int, int]) -> csr_matrix:
    """Entries added up by place."""
    rows, columns, values = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    return csr_matrix(coo_matrix((values.astype(np.float64), (rows, columns)), shape=shape))


def _write(folder: Path, knowledge: Knowledge) -> Mapping[str, int]:
    for name in ("phrases", "facts"):
        (folder / f"{name}.json").write_text(json.dumps(getattr(knowledge, name), ensure_ascii=False), encoding="utf-8")
    for name in ("held", "relations"):
        save_csr(folder, name, getattr(knowledge, name))
    bare = int((np.diff(csr_matrix(knowledge.held.T).indptr) == 0).sum())
    return {"phrases": len(knowledge.phrases), "facts": len(knowledge.facts), "passages_without_phrase": bare}


def _read(folder: Path) -> Knowledge:
    phrases, facts = (json.loads((folder / f"{n}.json").read_text(encoding="utf-8")) for n in ("phrases", "facts"))
    return Knowledge(
        tuple(phrases), tuple(Fact(*fact) for fact in facts), load_csr(folder, "held"), load_csr(folder, "relations")
    )
