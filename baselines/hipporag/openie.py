"""Open information extraction as a stage: entities and triples of every passage, one row each, whoever finds them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tqdm import tqdm

from psi.corpus.records import Passage, Passages
from psi.errors import ModelError, PsiError
from psi.models.protocols import NO_USAGE, Usage
from psi.store import Artifact, RowLog, Stage, Store, read_rows, write_rows

log = logging.getLogger(__name__)
VERSION = 1
ROWS = "extractions.jsonl"

Triple = tuple[str, str, str]
"""Subject, relation, object, as they stand in the text."""


class Extraction(NamedTuple):
    """What was found in a passage.

    `malformed` counts triples that were dropped because they have not three parts with words in them, `unparsed`
    replies in which there was nothing to read, `unmatched` is 1 where a file of results does not have the passage.
    """

    entities: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    malformed: int = 0
    unparsed: int = 0
    unmatched: int = 0
    usage: Usage = NO_USAGE


@runtime_checkable
class OpenIE(Protocol):
    """A way to find entities and triples."""

    batch_size: int

    def extract(self, passages: Sequence[Passage]) -> list[Extraction | ModelError]:
        """One result a passage, in order; a failed model call is a `ModelError` in its place."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything that changes what is found, as JSON data."""
        ...


class UnfinishedOpenIEError(PsiError):
    """Passages on which the model failed; the others are kept, and a second start asks for these again."""

    def __init__(self, size: int, failures: Mapping[str, ModelError]):
        passage, first = next(iter(failures.items()))
        kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(Counter(e.kind for e in failures.values()).items()))
        super().__init__(
            f"open information extraction failed on {len(failures)} of {size} passages ({kinds}), so there is no "
            f"index; first passage {passage!r}: {first} Start again to ask for these again: the finished ones are kept."
        )
        self.failures = failures


def openie_stage(passages: Passages, openie: OpenIE, store: Store) -> Artifact:
    """The stage that holds the extractions as rows, in the order of the passages.

    Raises:
        UnfinishedOpenIEError: the model failed on some passages.
    """
    stage = Stage("openie", VERSION, openie.identity(), {"passages": passages.digest})
    return store.obtain(stage, lambda folder: _extract(passages, openie, folder), resumable=True)


def read_extractions(artifact: Artifact) -> list[Extraction]:
    """The extractions by position of their passages."""
    return [_extraction(row) for row in read_rows(artifact.path / ROWS)]


def _extract(passages: Passages, openie: OpenIE, folder: Path) -> Mapping[str, int]:
    failures: dict[str, ModelError] = {}
    with RowLog(folder / "openie.log", key="passage") as rows, _bar(len(passages), len(rows.rows)) as bar:
        for batch in _batches([p for p in passages if p.id not in rows.rows], openie.batch_size):
            results = dict(zip((passage.id for passage in batch), openie.extract(batch), strict=True))
            found = {id_: each for id_, each in results.items() if isinstance(each, Extraction)}
            rows.append([_row(id_, each) for id_, each in found.items()])
            bar.update(len(found))
            failures |= {id_: each for id_, each in results.items() if isinstance(each, ModelError)}
            if not found:
                break  # nothing works: the server is down, say
        if failures:
            raise UnfinishedOpenIEError(len(passages), failures)
        finished = [rows.rows[passage.id] for passage in passages]
    write_rows(folder / ROWS, finished)
    return _facts([_extraction(row) for row in finished])


def _facts(extractions: Sequence[Extraction]) -> dict[str, int]:
    counts = {name: sum(getattr(each, name) for each in extractions) for name in ("malformed", "unparsed", "unmatched")}
    for name, count in counts.items():
        if count:
            log.warning("open information extraction: %d %s.", count, _TOLD[name])
    return {
        "entities": sum(len(each.entities) for each in extractions),
        "triples": sum(len(each.triples) for each in extractions),
        **counts,
        **asdict(sum((each.usage for each in extractions), NO_USAGE)),
    }


_TOLD = {
    "malformed": "triples without three parts were dropped",
    "unparsed": "replies held no list to read and give nothing",
    "unmatched": "passages are not in the file of results and give nothing",
}


def _row(passage: str, extraction: Extraction) -> dict[str, Any]:
    fields = extraction._asdict()
    return {"passage": passage, **fields, "usage": asdict(extraction.usage)}


def _extraction(row: Mapping[str, Any]) -> Extraction:
    entities, triples = tuple(row["entities"]), tuple((s, r, o) for s, r, o in row["triples"])
    return Extraction(
        entities, triples, row["malformed"], row["unparsed"], row["unmatched"], Usage(**row["usage"])
    )  # fmt: skip


def _batches(passages: Sequence[Passage], size: int) -> Iterator[Sequence[Passage]]:
    for start in range(0, len(passages), size):
        yield passages[start : start + size]


def _bar(total: int, done: int) -> Any:
    return tqdm(total=total, initial=done, desc="openie", unit="passage", leave=False, disable=None)
