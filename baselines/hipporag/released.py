"""Open information extraction that others have released: a result file in HippoRAG's layout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import PositiveInt, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic reads typing's own only from Python 3.12 on

from baselines.hipporag.openie import Extraction
from baselines.hipporag.replies import usable
from psi.component import Component, runtime
from psi.corpus import sources
from psi.corpus.clean import clean
from psi.corpus.records import Passage
from psi.errors import InputError, ModelError


class _Document(TypedDict):
    passage: str
    extracted_entities: list[Any]
    extracted_triples: list[Any]


class _File(TypedDict):
    docs: list[_Document]


_ADAPTER = TypeAdapter(_File)


@dataclass(frozen=True, kw_only=True)
class ReleasedOpenIE(Component):
    """Reads `{"docs": [{"passage", "extracted_entities", "extracted_triples"}]}` and finds passages by their text.

    A passage is matched by title and text, or by its text alone, whatever the white space; of documents with one
    text the first counts.

    file: `openie_results_ner_*.json`; known by its sha256, not by its name.
    missing: refuse a corpus with passages that the file does not have, or give those nothing and count them (`skip`).
    batch_size: passages between two points from which a killed run goes on.
    """

    file: str = runtime("")
    missing: Literal["refuse", "skip"] = "refuse"
    batch_size: PositiveInt = runtime(4096)

    def identity(self) -> dict[str, Any]:
        """The settings and the file's digest.

        Raises:
            InputError: the file can't be read.
        """
        return {**super().identity(), "sha256": self._source.sha256}

    def extract(self, passages: Sequence[Passage]) -> list[Extraction | ModelError]:
        """Look every passage up.

        Raises:
            InputError: the file has not this layout, or lacks a passage.
        """
        return [self._one(passage) for passage in passages]

    def _one(self, passage: Passage) -> Extraction:
        found = self._documents.get(_key(passage.content)) or self._documents.get(_key(passage.text))
        if found is not None:
            entities = [" ".join(clean(item).split()) for item in found["extracted_entities"] if isinstance(item, str)]
            triples = usable(found["extracted_triples"])
            return Extraction(tuple(dict.fromkeys(filter(None, entities))), *triples)
        if self.missing == "refuse":
            raise InputError(
                f"{self.file}: no document has the text of passage {passage.id!r} ({passage.content[:60]!r}). "
                "Check that the file was made from this corpus, or set missing=skip to do without."
            )
        return Extraction(unmatched=1)

    @cached_property
    def _source(self) -> sources.Source:
        return sources.read(Path(self.file))

    @cached_property
    def _documents(self) -> dict[str, _Document]:
        try:
            read = _ADAPTER.validate_python(json.loads(sources.text_of(self._source)))
        except ValidationError as error:
            raise InputError(f"{self.file}: {sources.invalid(error)}. Expected a result file of HippoRAG.") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.file}: not JSON ({error}). Expected a result file of HippoRAG.") from None
        documents: dict[str, _Document] = {}
        for document in read["docs"]:
            documents.setdefault(_key(document["passage"]), document)
        return documents


def _key(text: str) -> str:
    return " ".join(clean(text).split())
