"""Putting facts into sentences: an article's lead, then its facts in varied order and wording, then background.

Every fact of an entity is told in exactly one of its passages, by one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import NamedTuple, TypeAlias

from psi.corpus.encyclopedia import lexicon
from psi.corpus.encyclopedia.names import pick
from psi.corpus.encyclopedia.phrasebook import STYLES
from psi.corpus.encyclopedia.world import Date, Entity, Quantity, Value, World

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
UNTOLD = frozenset(("demonym",))  # facts that the builder keeps for itself
_FEWEST_WORDS = 56

# ---- names and values


def article(text: str) -> str:
    """The text with "a" or "an" before it."""
    return f"{'an' if _AN.match(text) else 'a'} {text}"


_AN = re.compile(r"(?!uni|eu|use|one\b)[aeiouöéü]|8|11\b|18\d\d\b|1[18],|heir|honest|honorary", re.IGNORECASE)
_WITH_THE = re.compile(
    r"(River|University|Battle|Siege|Treaty|Peace|Second|Voyage) |\d{4} |.* of \d{4}$"
    r"|.* (Observatory|Philharmonic|Orchestra|Museum of Art|Gallery|Collection|League|Party|Manufactory|Works)$"
    r"|.* (Dockyard|Yard|Polytechnic|Academy|Games|Festival|Salon|Exposition|Convention|Expedition|Trophy)$"
)
WORKS = frozenset(("novel", "play", "film", "opera", "song", "painting", "treatise"))


def with_the(entity: Entity) -> str:
    """The name as it stands in a sentence: with "the" where English wants it."""
    return (
        f"the {entity.name}" if entity.kind not in ("person", *WORKS) and _WITH_THE.match(entity.name) else entity.name
    )


def mention(entity: Entity, world: World) -> str:
    """How other articles and the questions name an entity, so that no other can be meant."""
    if entity.kind in WORKS or entity.kind == "ship":
        return f"the {entity.noun} {entity.name}"
    if entity.name in world.shared_names:
        return f"the {'town of' if entity.kind == 'town' else entity.noun} {entity.name}"
    return with_the(entity)


def date_forms(date: Date) -> tuple[str, ...]:
    """A day in every style the prose uses."""
    month = MONTHS[date.month - 1]
    return (
        f"{date.day} {month} {date.year}",
        f"{month} {date.day}, {date.year}",
        f"{_ordinal(date.day)} {month} {date.year}",
    )


def _ordinal(number: int) -> str:
    suffix = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def quantity(value: Quantity) -> str:
    """A number with its unit; a thousands separator from 10,000 on."""
    return f"{amount(value)} {value.unit}"


def amount(value: Quantity) -> str:
    """The number of a quantity as the prose writes it."""
    return f"{value.amount:,}" if value.amount >= 10000 else str(value.amount)


_OPENING = re.compile(r"(It|Its|He|She|His|Her|The|An?|Most|Several|Two|Three) ")
_PRONOUN = re.compile(r"(It|Its|He|She|His|Her) ")
_COMPOUND = re.compile(r", and |; |, while |, but |^In |^At | who |: | died|death|life ended")


def _joinable(before: str, after: str, short: str) -> bool:
    """Whether two sentences can be made into one without a pronoun that could point at the wrong thing."""
    if _COMPOUND.search(before) or _COMPOUND.search(after) or not _OPENING.match(after):
        return False
    return not _PRONOUN.match(after) or bool(_PRONOUN.match(before)) or before.lower().startswith(f"{short.lower()} ")


# ---- phrases


class Slot(NamedTuple):
    """A place for a value."""

    name: str
    article: bool


class Choice(NamedTuple):
    """Alternatives, each with the relations it needs."""

    options: tuple[tuple[frozenset[str], Nodes], ...]


Nodes: TypeAlias = "tuple[str | Slot | Choice, ...]"


class Phrase(NamedTuple):
    """A parsed phrase; `needs` are the relations that it always tells, `draws` the word lists it may draw from."""

    needs: frozenset[str]
    draws: frozenset[str]
    nodes: Nodes


_DERIVED = {"region_name": "region", "population_bare": "population"}
_SLOT_WORDS = frozenset(
    (
        "S",
        "s",
        "s_p",
        "P",
        "p",
        "o",
        "name",
        "name_bare",
        "noun",
        "title",
        "own_word",
        "spouse_word",
        "child_word",
        "gender_word",
        "age",
        "trade",
        "hobby",
        "trait",
        "surroundings",
        "crop_word",
        "demonym",
    )
)
_TOKEN = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{}]+")


def parse(template: str) -> Phrase:
    """A phrase from its written form."""
    nodes = _sequence(iter(_TOKEN.findall(template + "]")))[0]
    return Phrase(_needs(nodes), frozenset(_LISTS) & frozenset(re.findall(r"\w+", template)), nodes)


def _sequence(tokens: Iterator[str]) -> list[Nodes]:
    """The alternatives up to the closing bracket."""
    options: list[list[str | Slot | Choice]] = [[]]
    for token in tokens:
        if token == "]":
            break
        if token == "|":
            options.append([])
        elif token == "[":
            inner = _sequence(tokens)
            options[-1].append(Choice(tuple((_needs(option), option) for option in inner)))
        elif token[0] == "{":
            name = token[1:-1]
            options[-1].append(Slot(name.removeprefix("a "), name.startswith("a ")))
        else:
            options[-1].append(token)
    return [tuple(option) for option in options]


def _needs(nodes: Nodes) -> frozenset[str]:
    needs: set[str] = set()
    for node in nodes:
        if isinstance(node, Slot) and node.name not in _SLOT_WORDS:
            needs.add(_DERIVED.get(node.name, node.name))
        elif isinstance(node, Choice):
            needs |= frozenset.intersection(*(option[0] for option in node.options))
    return frozenset(needs)


class Parsed(NamedTuple):
    """The parsed phrases of one kind."""

    leads: tuple[Phrase, ...]
    groups: tuple[tuple[Phrase, ...], ...]
    background: tuple[Phrase, ...]
    more_leads: tuple[Phrase, ...]
    more_background: tuple[Phrase, ...]


@cache
def _parsed(kind: str) -> Parsed:
    style = STYLES[kind]

    def each(templates: tuple[str, ...]) -> tuple[Phrase, ...]:
        return tuple(parse(template.strip()) for template in templates)

    return Parsed(
        each(style.leads),
        tuple(each(group) for group in style.groups),
        each(style.background),
        each(style.more_leads),
        each(style.more_background),
    )


# ---- articles


class Article(NamedTuple):
    """One passage: its title, its text and the entities it names, its own first."""

    title: str
    text: str
    mentions: tuple[int, ...]


def section_of(entity: Entity, relation: str) -> int:
    """Which of the entity's passages tells the fact: 0, or 1 for the second."""
    return int(entity.sections == 2 and relation in STYLES[entity.kind].more)


def write(entity: Entity, world: World, rng: Random) -> list[Article]:
    """All passages of one entity."""
    style = STYLES[entity.kind]
    told = [relation for relation in entity.facts if relation not in UNTOLD]
    articles = []
    for section in range(entity.sections):
        mine = [relation for relation in told if section_of(entity, relation) == section]
        label = world.label(entity)
        named = with_the(entity) if label == entity.name else label
        title = style.more_title.format(title=named) if section else label
        writer = _Writer(entity, world, rng, set(mine))
        articles.append(Article(title, writer.passage(section == 1), tuple(writer.mentioned)))
    return articles


@dataclass(slots=True)
class _Writer:
    entity: Entity
    world: World
    rng: Random
    left: set[str]
    mentioned: dict[int, None] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)
    short: str = ""
    pronoun_next: bool = False

    def __post_init__(self) -> None:
        entity = self.entity
        self.mentioned[entity.id] = None
        if entity.kind == "person":
            family = {
                value.surname if isinstance(value, Entity) else str(value).partition(" ")[2]
                for key, value in entity.facts.items()
                if key in ("mother", "father", "spouse", "teacher", "biographer", "successor")
            }
            self.short = entity.name.partition(" ")[0] if entity.surname in family else entity.surname
        else:
            self.short = f"the {entity.noun.rpartition(' ')[2]}"

    def passage(self, more: bool) -> str:
        parsed = _parsed(self.entity.kind)
        sentences = [self.lead(parsed.more_leads if more else parsed.leads)]
        sentences += self.story(parsed.groups)
        background = list(parsed.more_background if more else parsed.background)
        words = sum(sentence.count(" ") + 1 for sentence in sentences)
        target = _FEWEST_WORDS + int(self.rng.random() ** 2 * 34)
        while background and words < target:
            # the first are the kind's own, the last are shared with other kinds
            phrase = background.pop(int(self.rng.random() ** 2 * len(background)))
            if phrase.draws & self.drawn:
                continue  # a second landscape or character could contradict the first
            sentence = self.sentence(phrase)
            sentences.insert(1 + int(self.rng.random() * len(sentences)), sentence)
            words += sentence.count(" ") + 1
        return " ".join(self.joined(sentences))

    def joined(self, sentences: list[str]) -> list[str]:
        """Some pairs of short sentences made into one."""
        joined = sentences[:1]
        for sentence in sentences[1:]:
            before = joined[-1]
            short = before.count(" ") + sentence.count(" ") < 17 and len(joined) > 1
            if short and _joinable(before, sentence, self.short) and self.rng.random() < 0.7:
                link = ", and " if _PRONOUN.match(sentence) or self.rng.random() < 0.6 else "; "
                joined[-1] = before[:-1] + link + sentence[0].lower() + sentence[1:]
            else:
                joined.append(sentence)
        return joined

    def lead(self, leads: tuple[Phrase, ...]) -> str:
        fitting = [phrase for phrase in leads if phrase.needs <= self.left]
        # leads that tell more are likelier, plain ones stay possible
        richest = [phrase for phrase in fitting if len(phrase.needs) >= 2]
        return self.sentence(pick(self.rng, richest if richest and self.rng.random() < 0.45 else fitting))

    def story(self, groups: tuple[tuple[Phrase, ...], ...]) -> list[str]:
        told = []
        order = sorted(range(len(groups)), key=lambda place: place + 1.6 * self.rng.random())
        for place in order:
            while True:
                fitting = [phrase for phrase in groups[place] if phrase.needs and phrase.needs <= self.left]
                if not fitting:
                    break
                doubles = [phrase for phrase in fitting if len(phrase.needs) >= 2]
                told.append(self.sentence(pick(self.rng, doubles if doubles and self.rng.random() < 0.5 else fitting)))
        return told

    def sentence(self, phrase: Phrase) -> str:
        text = self.realise(phrase.nodes)
        return text[0].upper() + text[1:]

    def realise(self, nodes: Nodes) -> str:
        parts = []
        for node in nodes:
            if isinstance(node, str):
                parts.append(node)
            elif isinstance(node, Slot):
                value = self.slot(node.name)
                parts.append(article(value) if node.article else value)
            else:
                options = [nodes for needs, nodes in node.options if needs <= self.left]
                parts.append(self.realise(pick(self.rng, options)))
        return "".join(parts)

    # ---- slots

    def slot(self, name: str) -> str:
        if name in _SLOT_WORDS:
            return self.word(name)
        relation = _DERIVED.get(name, name)
        self.left.discard(relation)
        value = self.entity.facts[relation]
        if name == "population_bare" and isinstance(value, Quantity):
            return amount(value)
        return self.value(value)

    def value(self, value: Value) -> str:
        if isinstance(value, Entity):
            self.mentioned[value.id] = None
            return mention(value, self.world)
        if isinstance(value, Date):
            forms = date_forms(value)
            return forms[0] if self.rng.random() < 0.6 else pick(self.rng, forms)
        return quantity(value) if isinstance(value, Quantity) else str(value)

    def word(self, name: str) -> str:
        entity = self.entity
        if name in _LISTS:
            self.drawn.add(name)
            return pick(self.rng, _LISTS[name])
        if name in ("S", "s"):
            return self.subject(capital=name == "S")
        if name in ("name", "name_bare", "title"):
            return with_the(entity) if name == "name" else entity.name
        if name == "demonym":
            return str(entity.facts["demonym"])
        if name == "age":
            return str(_age(entity))
        if name == "noun":
            return entity.noun
        index = 2 if entity.kind != "person" else int(not entity.woman)
        self.pronoun_next = False
        return _GENDERED[name][index]

    def subject(self, capital: bool) -> str:
        """A pronoun or the short name, rarely the short name twice running."""
        pronoun = self.pronoun_next or self.rng.random() < 0.5
        self.pronoun_next = not pronoun
        gender = 2 if self.entity.kind != "person" else int(not self.entity.woman)
        text = _GENDERED["s_p"][gender] if pronoun else self.short
        return text[0].upper() + text[1:] if capital else text


_LISTS = {
    "trade": lexicon.TRADES,
    "hobby": lexicon.HOBBIES,
    "trait": lexicon.TRAITS,
    "surroundings": lexicon.SURROUNDINGS,
    "crop_word": lexicon.CROPS,
}
_GENDERED = {
    "s_p": ("she", "he", "it"),
    "P": ("Her", "His", "Its"),
    "p": ("her", "his", "its"),
    "o": ("her", "him", "it"),
    "own_word": ("wife", "husband", ""),
    "spouse_word": ("husband", "wife", ""),
    "child_word": ("daughter", "son", ""),
    "gender_word": ("woman", "man", ""),
}


def _age(entity: Entity) -> int:
    born, died = entity.facts["born"], entity.facts["died"]
    if not (isinstance(born, Date) and isinstance(died, Date)):
        raise TypeError(f"{entity.name} has no dates of birth and death")
    return died.year - born.year - (died[1:] < born[1:])
