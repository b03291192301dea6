"""Planning questions on the fact base, checking that the passages allow one way to the answer, and wording them.

A question is kept only if its answer is unique in the world, stands in the text of its gold passages, and is not given
away: no other passage names two stations of its chain together, or a station together with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from psi.corpus.encyclopedia.names import pick
from psi.corpus.encyclopedia.prose import WORKS, Article, amount, date_forms, mention, quantity, section_of, with_the
from psi.corpus.encyclopedia.wording import ASK, COMPARE, COMPARE_MAKERS, INTERSECT, INVERSE, MISSING, SAME, STEP
from psi.corpus.encyclopedia.world import Date, Entity, Quantity, Value, World, follow

_Key = TypeVar("_Key", bound=tuple[Any, ...])
_Forms = TypeVar("_Forms")

_PATIENCE = 1500  # tries in a row without a new question before a kind counts as exhausted

NOT_TOLD = ("Not mentioned", "Insufficient information.", "unanswerable")

# share of each kind of question; hops only where the kind leaves them open
MIX: dict[tuple[str, int], float] = {
    ("single", 1): 0.35,
    ("bridge", 2): 0.27,
    ("intersection", 2): 0.03,
    ("bridge", 3): 0.12,
    ("bridge", 4): 0.05,
    ("comparison", 2): 0.08,
    ("yes_no", 2): 0.05,
    ("unanswerable", 0): 0.05,
}


class Plan(NamedTuple):
    """A question before it gets its id: gold passages are given by position.

    `asks` is what it asks, whatever the wording: no two questions of a benchmark ask the same.
    """

    asks: tuple[str | int, ...]
    text: str
    answers: tuple[str, ...]
    gold: tuple[int, ...]
    kind: str
    steps: tuple[str, ...] = ()
    answerable: bool = True


@dataclass(slots=True)
class Library:
    """The written world: which passage tells what, and which passages name an entity.

    `first` is the position of each entity's first passage (-1: it has none).
    """

    world: World
    articles: Sequence[Article]
    first: Sequence[int]
    _named: NDArray[np.int64] = field(init=False)
    _start: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        counts = np.fromiter((len(article.mentions) for article in self.articles), np.int64, len(self.articles))
        entity = np.fromiter((e for article in self.articles for e in article.mentions), np.int64, int(counts.sum()))
        passage = np.repeat(np.arange(len(self.articles)), counts)
        self._named = passage[np.argsort(entity, kind="stable")]
        self._start = np.concatenate(([0], np.cumsum(np.bincount(entity, minlength=len(self.world.entities)))))

    def telling(self, entity: Entity, relation: str) -> int:
        """The position of the passage that tells a fact."""
        return self.first[entity.id] + section_of(entity, relation)

    def naming(self, entity: Entity) -> list[int]:
        """Positions of all passages that name an entity."""
        return [int(place) for place in self._named[self._start[entity.id] : self._start[entity.id + 1]]]


def plan_questions(library: Library, count: int, rng: Random) -> list[Plan]:
    """Up to `count` different questions in the proportions of `MIX`, in shuffled order."""
    planner = _Planner(library, rng)
    plans: dict[tuple[str | int, ...], Plan] = {}
    for (kind, hops), wanted in _quotas(count).items():
        planner.fill(plans, kind, hops, wanted)
    # small worlds run out of the rarer kinds
    planner.fill(plans, "single", 1, count - len(plans))
    planner.fill(plans, "bridge", 2, count - len(plans))
    ordered = list(plans.values())
    rng.shuffle(ordered)
    return ordered


def _quotas(count: int) -> dict[tuple[str, int], int]:
    """Whole numbers in the proportions of `MIX` that add up to `count` (largest remainders)."""
    quotas = {key: int(share * count) for key, share in MIX.items()}
    by_remainder = sorted(MIX, key=lambda key: (quotas[key] - MIX[key] * count, list(MIX).index(key)))
    for key in by_remainder[: count - sum(quotas.values())]:
        quotas[key] += 1
    return quotas


# ---- answers


def answer_forms(value: Value) -> tuple[str, ...]:
    """Every accepted way to write an answer."""
    if isinstance(value, Entity):
        return tuple(dict.fromkeys(_entity_forms(value)))
    if isinstance(value, Date):
        return date_forms(value)
    if isinstance(value, Quantity):
        return tuple(dict.fromkeys((quantity(value), amount(value), f"{value.amount:,}", str(value.amount))))
    text = str(value)
    bare = re.sub(r"^(a|an|the) ", "", text)
    return (text,) if bare == text else (text, bare)


def _entity_forms(entity: Entity) -> Iterator[str]:
    yield entity.name
    yield with_the(entity)
    for prefix in ("River ", "Mount ", "The "):
        if entity.name.startswith(prefix):
            yield entity.name.removeprefix(prefix)
    for relation in ("former_name", "aka"):
        other = entity.facts.get(relation)
        if isinstance(other, str):
            yield other


def _found(form: str, text: str) -> bool:
    """Whether a text has the form as whole words."""
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(form, start + 1)
    return False


# ---- planning


@dataclass(slots=True)
class _Planner:
    library: Library
    rng: Random
    told: list[Entity] = field(init=False)
    by_kind: dict[str, list[Entity]] = field(init=False)
    indexes: dict[tuple[str, str], dict[Value, list[Entity]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.told = [entity for entity in self.library.world.entities if entity.sections]
        self.by_kind = {}
        for entity in self.told:
            self.by_kind.setdefault(entity.kind, []).append(entity)

    def fill(self, plans: dict[tuple[str | int, ...], Plan], kind: str, hops: int, wanted: int) -> None:
        """Add questions of one kind until enough are there or new ones have become very rare."""
        make: dict[str, Callable[[], Plan | None]] = {
            "single": self.single,
            "bridge": lambda: self.chain(hops),
            "intersection": self.intersection,
            "comparison": self.comparison,
            "yes_no": self.yes_no,
            "unanswerable": self.unanswerable,
        }
        goal, misses = len(plans) + wanted, 0
        while len(plans) < goal and misses < _PATIENCE:
            plan = make[kind]()
            new = plan is not None and plan.asks not in plans
            misses = 0 if new else misses + 1
            if plan is not None and new:
                plans[plan.asks] = plan

    def option(self, table: Mapping[_Key, _Forms]) -> tuple[_Key, _Forms]:
        """One of a table whose keys begin with a kind; kinds with few entities come up less often."""
        options = list(table.items())
        key, forms = pick(self.rng, options)
        while self.rng.random() * 25 > len(self.by_kind.get(key[0], ())) + 1:
            key, forms = pick(self.rng, options)
        return key, forms

    def name(self, entity: Entity, *, bare: float = 0.6) -> str:
        """How a question names an entity: titles of works mostly stand alone where no other thing has that name."""
        unshared = entity.kind in WORKS and entity.name not in self.library.world.shared_names
        if unshared and (entity.kind in ("painting", "treatise") or self.rng.random() < bare):
            return entity.name
        return mention(entity, self.library.world)

    def named_at_start(self, entity: Entity, relation: str) -> str:
        """As `name`, or by another name or a description that the entity's own article gives it."""
        known_for = entity.facts.get("known_for")
        if (
            known_for is not None
            and relation != "known_for"
            and self.rng.random() < 0.14
            and section_of(entity, relation) == 0
        ):
            alike = self.index("person", "known_for", lambda one: one.facts.get("known_for"))[known_for]
            if sum(one.noun == entity.noun for one in alike) == 1:
                return f"the {entity.noun} known for {known_for}"
        other = entity.facts.get("aka")
        if other is not None and self.rng.random() < 0.5:
            return f"the {entity.noun} also called {other}"
        return self.name(entity)

    def single(self) -> Plan | None:
        return self.inverse() if self.rng.random() < 0.12 else self.chain(1)

    # ---- chains: one fact, or several facts one after the other

    def chain(self, hops: int) -> Plan | None:
        start = pick(self.rng, self.told)
        stations: list[Value] = [start]
        path: list[str] = []
        while len(path) < hops:
            here = stations[-1]
            if not isinstance(here, Entity) or not here.sections:
                return None
            relation = self.relation(here, last=len(path) == hops - 1)
            if relation is None:
                return None
            path.append(relation)
            stations.append(here.facts[relation])
        gold = tuple(
            self.library.telling(here, relation)
            for here, relation in zip(stations, path, strict=False)
            if isinstance(here, Entity)
        )
        if len(set(map(_key, stations))) < len(stations) or not self.only_way(stations, gold):
            return None
        text = self.wording(start, path, stations)
        answers = self.answers(stations[-1], gold[-1])
        if not answers or any(_found(form, text) for form in answers):
            return None
        steps = self.steps(stations, path) if hops > 1 else ()
        return Plan((start.id, *path), text, answers, gold, "single" if hops == 1 else "bridge", steps)

    def steps(self, stations: Sequence[Value], path: Sequence[str]) -> tuple[str, ...]:
        """One plain question for each fact of a chain."""
        world = self.library.world
        return tuple(
            _sentence(_lookup(ASK, here, relation)[0].format(x=mention(here, world)))
            for here, relation in zip(stations, path, strict=False)
            if isinstance(here, Entity)
        )

    def relation(self, entity: Entity, *, last: bool) -> str | None:
        known = ASK if last else STEP
        fitting = [
            r
            for r in entity.facts
            if (r in known or f"{entity.kind}.{r}" in known) and (last or isinstance(entity.facts[r], Entity))
        ]
        return pick(self.rng, fitting) if fitting else None

    def wording(self, start: Entity, path: Sequence[str], stations: Sequence[Value]) -> str:
        noun_phrase, nested = self.named_at_start(start, path[0]), False
        for relation, here in zip(path[:-1], stations, strict=False):
            if (
                relation == "region"
                and path[-2:] == ["region", "country"]
                and here is stations[-3]
                and self.rng.random() < 0.7
            ):
                continue  # "In which country is <town>?" leaves it to the reader to pass by the province
            # the first form is the plain one: a clause inside a clause is hard to read
            forms = _lookup(STEP, here, relation)
            noun_phrase = (forms[0] if nested else pick(self.rng, forms)).format(x=noun_phrase)
            nested = True
        asks = _lookup(ASK, stations[-2], path[-1])
        if nested and self.rng.random() < 0.7:
            # a long noun phrase reads best at the end
            asks = tuple(form for form in asks if form.endswith("{x}?")) or asks
        return _sentence(pick(self.rng, asks).format(x=noun_phrase))

    def answers(self, value: Value, passage: int) -> tuple[str, ...]:
        """All forms, the one that stands in the passage first; empty where none does."""
        text = self.library.articles[passage].text
        forms = answer_forms(value)
        present = [form for form in forms if _found(form, text)]
        return tuple(dict.fromkeys((*present[:1], *forms))) if present else ()

    def only_way(self, stations: Sequence[Value], gold: Sequence[int]) -> bool:
        """Whether the gold passages are the only ones that connect the stations, each its own two."""
        if len(set(gold)) < len(gold):
            return False
        ids = {station.id: index for index, station in enumerate(stations) if isinstance(station, Entity)}
        allowed = {passage: {index, index + 1} for index, passage in enumerate(gold)}
        forms = _betraying(stations[-1])
        last = len(stations) - 1
        for index, station in enumerate(stations[:-1]):
            if not isinstance(station, Entity):
                return False
            for passage in self.library.naming(station):
                article = self.library.articles[passage]
                seen = {ids[entity] for entity in article.mentions if entity in ids}
                if last not in seen and (
                    any(_found(form, article.text) or _found(form, article.title) for form in forms)
                ):
                    seen.add(last)
                if not seen <= allowed.get(passage, {index}):
                    return False
        return True

    # ---- two entities side by side

    def pair(self, kind: str, fits: Callable[[Entity], bool]) -> tuple[Entity, Entity] | None:
        pool = self.by_kind.get(kind)
        if not pool:
            return None
        one, other = pick(self.rng, pool), pick(self.rng, pool)
        return (one, other) if one is not other and fits(one) and fits(other) else None

    def apart(self, one: Entity, other: Entity) -> bool:
        """Whether no passage names both."""
        return not set(self.library.naming(one)) & set(self.library.naming(other))

    def comparison(self) -> Plan | None:
        if self.rng.random() < 0.3:
            (kind, relation), wordings = self.option(COMPARE_MAKERS)
            path: tuple[str, ...] = (relation, "born")
        else:
            (kind, relation), wordings = self.option(COMPARE)
            path = (relation,)
        pair = self.pair(kind, lambda entity: self.reachable(entity, path))
        if pair is None or not self.apart(*pair):
            return None
        sizes = [_year_or_amount(follow(entity, path)) for entity in pair]
        gold = self.gold_of(pair, path)
        if sizes[0] == sizes[1] or gold is None:
            return None
        larger = self.rng.random() < 0.5
        winner = pair[(sizes[0] < sizes[1]) == larger]
        text = pick(self.rng, wordings[larger]).format(a=self.name(pair[0], bare=1), b=self.name(pair[1], bare=1))
        asks: tuple[str | int, ...] = (f"larger {larger}", *sorted(entity.id for entity in pair), *path)
        return Plan(asks, _sentence(text), answer_forms(winner), gold, "comparison", self.both_steps(pair, path))

    def both_steps(self, pair: Sequence[Entity], path: Sequence[str]) -> tuple[str, ...]:
        return tuple(step for entity in pair for step in self.steps(_stations(entity, path), path))

    def reachable(self, entity: Entity, path: Sequence[str]) -> bool:
        """Whether the whole path is told in passages."""
        here: Value = entity
        for relation in path:
            if not isinstance(here, Entity) or not here.sections or relation not in here.facts:
                return False
            here = here.facts[relation]
        return True

    def gold_of(self, pair: Sequence[Entity], path: Sequence[str]) -> tuple[int, ...] | None:
        """The passages of both paths; None where they meet before the end or another passage gives one away."""
        gold: list[int] = []
        for entity in pair:
            stations = _stations(entity, path)
            gold += [
                self.library.telling(here, relation)
                for here, relation in zip(stations, path, strict=False)
                if isinstance(here, Entity)
            ]
            if not self.only_way(stations, gold[-len(path) :]):
                return None
        return tuple(gold) if len(set(gold)) == len(gold) else None

    def yes_no(self) -> Plan | None:
        (kind, path), wordings = self.option(SAME)
        yes = self.rng.random() < 0.5
        pair = self.same_pair(kind, path) if yes else self.pair(kind, lambda entity: self.reachable(entity, path))
        if pair is None or not self.apart(*pair) or (follow(pair[0], path) is follow(pair[1], path)) is not yes:
            return None
        gold = self.gold_of(pair, path)
        if gold is None:
            return None
        text = pick(self.rng, wordings).format(
            a=mention(pair[0], self.library.world), b=mention(pair[1], self.library.world)
        )
        asks: tuple[str | int, ...] = ("same", *sorted(entity.id for entity in pair), *path)
        answers = ("yes" if yes else "no",)
        return Plan(asks, _sentence(text), answers, gold, "yes_no", self.both_steps(pair, path))

    def same_pair(self, kind: str, path: Sequence[str]) -> tuple[Entity, Entity] | None:
        """Two entities whose paths end in one value."""
        pool = self.by_kind.get(kind)
        if not pool:
            return None
        one = pick(self.rng, pool)
        if not self.reachable(one, path):
            return None
        index = self.index(
            kind, "/".join(path), lambda entity: follow(entity, tuple(path)) if self.reachable(entity, path) else None
        )
        other = pick(self.rng, index[_value_key(follow(one, tuple(path)))])
        return (one, other) if other is not one else None

    def index(self, kind: str, label: str, value: Callable[[Entity], Value | None]) -> dict[Value, list[Entity]]:
        """The entities of a kind by one of their values, made once."""
        if (kind, label) not in self.indexes:
            groups: dict[Value, list[Entity]] = {}
            for entity in self.by_kind.get(kind, ()):
                found = value(entity)
                if found is not None:
                    groups.setdefault(_value_key(found), []).append(entity)
            self.indexes[kind, label] = groups
        return self.indexes[kind, label]

    # ---- a work found by two facts

    def intersection(self) -> Plan | None:
        (kind, own, maker_of, about), wordings = self.option(INTERSECT)
        pool = self.by_kind.get(kind)
        work = pick(self.rng, pool) if pool else None
        if work is None or not self.reachable(work, (own,)) or not self.reachable(work, (maker_of, about)):
            return None
        maker, value, trait = work.facts[maker_of], work.facts[own], follow(work, (maker_of, about))
        rivals = self.index(kind, own, lambda entity: entity.facts.get(own))[_value_key(value)]
        matching = [rival for rival in rivals if follow(rival, (maker_of, about)) is trait]
        if len(rivals) < 2 or len(matching) != 1 or not isinstance(maker, Entity) or not isinstance(trait, Entity):
            return None
        gold = (self.library.telling(work, own), self.library.telling(maker, about))
        if self.library.telling(work, maker_of) != gold[0] or not self.only_way([work, maker, trait], gold):
            return None
        shown = self.name(value) if isinstance(value, Entity) else str(value)
        text = _sentence(pick(self.rng, wordings).format(v=shown, w=self.name(trait)))
        return Plan(("found by", work.id, own, about), text, answer_forms(work), gold, "intersection")

    # ---- an entity found by a person

    def inverse(self) -> Plan | None:
        (kind, relation, further), wordings = self.option(INVERSE)
        pool = self.by_kind.get(kind)
        entity = pick(self.rng, pool) if pool else None
        person = entity.facts.get(relation) if entity else None
        if entity is None or not isinstance(person, Entity) or (further and further not in entity.facts):
            return None
        candidates = self.index(kind, relation, lambda one: one.facts.get(relation))[person]
        if sum(one.facts.get(further) == entity.facts.get(further) for one in candidates) != 1:
            return None
        passage = self.library.telling(entity, relation)
        if (further and self.library.telling(entity, further) != passage) or not self.meet_only_in(
            passage, person, entity
        ):
            return None
        value = entity.facts.get(further, "")
        text = _sentence(pick(self.rng, wordings).format(x=self.name(person), v=value))
        return Plan(("found by", entity.id, relation), text, answer_forms(entity), (passage,), "single")

    def meet_only_in(self, passage: int, one: Entity, other: Entity) -> bool:
        """Whether a passage is the only one that names both."""
        return set(self.library.naming(one)) & set(self.library.naming(other)) == {passage}

    # ---- what is told nowhere

    def unanswerable(self) -> Plan | None:
        kind = pick(self.rng, list(MISSING))
        pool = self.by_kind.get(kind)
        if not pool:
            return None
        entity = pick(self.rng, pool)
        missing = [relation for relation in MISSING[kind] if relation not in entity.facts]
        if not missing:
            return None
        relation = pick(self.rng, missing)
        subject, path = entity, [relation]
        if self.rng.random() < 0.4:
            before = self.before(entity)
            if before is None:
                return None
            subject, path = before[0], [before[1], relation]
        stations: list[Value] = [subject, entity, 0] if len(path) == 2 else [entity, 0]
        text = self.wording(subject, path, stations)
        return Plan(("missing", subject.id, *path), text, NOT_TOLD, (), "unanswerable", answerable=False)

    def before(self, entity: Entity) -> tuple[Entity, str] | None:
        """Another entity and the relation by which it leads to this one."""
        passage = pick(self.rng, self.library.naming(entity))
        owner = self.library.world.entities[self.library.articles[passage].mentions[0]]
        leading = [relation for relation, value in owner.facts.items() if value is entity and relation in STEP]
        return (owner, leading[0]) if leading else None


def _stations(entity: Entity, path: Sequence[str]) -> list[Value]:
    """The entity and everything along its path."""
    stations: list[Value] = [entity]
    for relation in path:
        here = stations[-1]
        if not isinstance(here, Entity):
            raise TypeError(f"{relation} is asked of {here!r}")
        stations.append(here.facts[relation])
    return stations


def _lookup(table: dict[str, tuple[str, ...]], here: Value, relation: str) -> tuple[str, ...]:
    specific = f"{here.kind}.{relation}" if isinstance(here, Entity) else relation
    return table.get(specific) or table[relation]


def _key(value: Value) -> object:
    return value.id if isinstance(value, Entity) else (type(value).__name__, value)


def _value_key(value: Value | None) -> Value:
    if value is None:
        raise TypeError("a missing value has no key")
    return value


def _year_or_amount(value: Value | None) -> int:
    if isinstance(value, Date):
        return value.year
    if isinstance(value, Quantity):
        return value.amount
    if isinstance(value, int):
        return value
    raise TypeError(f"{value!r} cannot be compared")


def _betraying(value: Value) -> tuple[str, ...]:
    """Strings that give the answer away: its forms, and a country's adjective."""
    adjective = value.facts.get("demonym") if isinstance(value, Entity) else None
    forms = answer_forms(value)
    return (*forms, str(adjective)) if adjective is not None else forms


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
