"""Building a world: who and what exists, and which facts hold. One seeded stream of draws, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from psi.corpus.encyclopedia import lexicon
from psi.corpus.encyclopedia.names import PHONOLOGIES, Culture, Registry, pick
from psi.corpus.encyclopedia.world import THEMES, Date, Entity, Quantity, Value, World

# kinds of entity in each theme: kind, nouns, share of the theme's articles, chance of a second article
_Mix = tuple[str, tuple[str, ...], float, float]
MIX: dict[str, tuple[_Mix, ...]] = {
    "geography": (("town", ("town",), 0.6, 0.3), ("river", ("river",), 0.2, 0), ("mountain", ("mountain",), 0.2, 0)),
    "literature": (
        ("person", lexicon.PROFESSIONS["literature"], 0.42, 0.22),
        ("novel", ("novel",), 0.36, 0.2),
        ("play", ("play",), 0.1, 0),
        ("publisher", ("publishing house",), 0.12, 0.15),
    ),
    "film": (
        ("person", lexicon.PROFESSIONS["film"], 0.4, 0.18),
        ("film", ("film",), 0.42, 0.25),
        ("studio", ("film studio",), 0.09, 0.15),
        ("festival", ("film festival",), 0.09, 0),
    ),
    "music": (
        ("person", lexicon.PROFESSIONS["music"], 0.45, 0.22),
        ("opera", ("opera",), 0.2, 0.2),
        ("song", ("song",), 0.2, 0),
        ("orchestra", ("orchestra",), 0.15, 0.15),
    ),
    "art": (
        ("person", lexicon.PROFESSIONS["art"], 0.45, 0.2),
        ("painting", ("painting",), 0.35, 0.2),
        ("museum", ("museum",), 0.12, 0.2),
        ("exhibition", ("art exhibition",), 0.08, 0),
    ),
    "science": (
        ("person", lexicon.PROFESSIONS["science"], 0.55, 0.25),
        ("university", ("university",), 0.2, 0.3),
        ("treatise", ("treatise",), 0.15, 0),
        ("observatory", ("observatory",), 0.1, 0.1),
    ),
    "sport": (
        ("person", lexicon.PROFESSIONS["sport"], 0.5, 0.18),
        ("club", ("sports club",), 0.25, 0.15),
        ("tournament", ("championship",), 0.25, 0),
    ),
    "politics": (
        ("person", lexicon.PROFESSIONS["politics"], 0.55, 0.25),
        ("battle", ("battle",), 0.15, 0.15),
        ("treaty", ("treaty",), 0.15, 0),
        ("party", ("political party",), 0.15, 0.15),
    ),
    "trade": (
        ("person", lexicon.PROFESSIONS["trade"], 0.42, 0.2),
        ("company", ("company",), 0.46, 0.25),
        ("fair", ("trade fair",), 0.12, 0),
    ),
    "seafaring": (
        ("person", lexicon.PROFESSIONS["seafaring"], 0.4, 0.2),
        ("ship", lexicon.SHIP_NOUNS, 0.34, 0.2),
        ("shipyard", ("shipyard",), 0.12, 0.15),
        ("voyage", ("expedition",), 0.14, 0),
    ),
}

_BIRTHS = {"film": (1872, 1935), "sport": (1860, 1935), "politics": (1760, 1885), "seafaring": (1760, 1890)}
_ORGANISATIONS = (
    "publisher",
    "studio",
    "orchestra",
    "museum",
    "university",
    "observatory",
    "club",
    "party",
    "company",
    "shipyard",
)
_WORKS = {
    "novel": "author",
    "play": "author",
    "film": "director",
    "opera": "composer",
    "song": "composer",
    "painting": "painter_of",
    "treatise": "author",
}
# who makes a work of each kind
_MAKERS = {
    "novel": ("novelist", "essayist", "poet"),
    "play": ("playwright", "poet", "novelist"),
    "film": ("film director",),
    "opera": ("composer", "conductor", "organist"),
    "song": ("composer", "singer", "pianist"),
    "painting": ("painter", "illustrator", "engraver"),
}


def nations_for(passages: int) -> int:
    """Number of countries in a world of this size."""
    return max(3, min(60, int(passages**0.5 / 4 + 0.5)))


def build_world(quotas: dict[str, int], seed: int) -> World:
    """A world whose articles have exactly as many passages in each theme as `quotas` asks for.

    Raises:
        ConfigError: no free names are left (far beyond a million passages).
    """
    builder = _Builder(rng=Random(seed), quotas=quotas)
    builder.countries()
    builder.skeleton()
    builder.relate()
    return World(builder.entities, frozenset(name for name in builder.names.taken if builder.names.shared(name)))


@dataclass(slots=True)
class _Builder:
    rng: Random
    quotas: dict[str, int]
    names: Registry = field(default_factory=Registry)
    entities: list[Entity] = field(default_factory=list)
    cultures: list[Culture] = field(default_factory=list)
    # by kind (or noun, or "theme person"): everywhere, and by nation
    pools: dict[str, list[Entity]] = field(default_factory=dict)
    local: dict[tuple[str, int], list[Entity]] = field(default_factory=dict)
    married: set[int] = field(default_factory=set)
    leading: set[int] = field(default_factory=set)  # founders, heads and coaches

    # ---- draws

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self.rng.random() * (high - low + 1))

    def date(self, year: int) -> Date:
        return Date(year, self.between(1, 12), self.between(1, 28))

    def some(self, pool: str, nation: int, *, near: float = 0.75) -> Entity | None:
        """One of a pool, mostly from the nation; None where the pool is empty."""
        here = self.local.get((pool, nation))
        if here and self.chance(near):
            return pick(self.rng, here)
        everywhere = self.pools.get(pool)
        return pick(self.rng, everywhere) if everywhere else None

    def fitting(self, pool: str, nation: int, fits: Callable[[Entity], bool], *, tries: int = 8) -> Entity | None:
        """One of a pool that fits; None where a few draws find none."""
        for _ in range(tries):
            entity = self.some(pool, nation)
            if entity is not None and fits(entity):
                return entity
        return None

    def put(self, entity: Entity, relation: str, value: Value | None) -> None:
        """State a fact, unless there is nothing to state."""
        if value is not None and value is not entity:
            entity.facts[relation] = value

    # ---- who and what exists

    def add(self, kind: str, noun: str, theme: str, name: str, nation: int, sections: int) -> Entity:
        entity = Entity(len(self.entities), kind, noun, theme, name, nation, sections)
        self.entities.append(entity)
        for pool in dict.fromkeys((kind, noun, f"{theme} {kind}")):
            self.pools.setdefault(pool, []).append(entity)
            self.local.setdefault((pool, nation), []).append(entity)
        return entity

    def countries(self) -> None:
        """The countries, their cultures, regions and the towns that have no article of their own."""
        total, quota = sum(self.quotas.values()), self.quotas["geography"]
        number = nations_for(total)
        order = list(range(len(PHONOLOGIES)))
        self.rng.shuffle(order)
        people = int(0.4 * total / number) + 1
        told = min(number, max(1, quota // 8))
        regions = max(1, min(12, round(quota / number / 8)))
        for nation in range(number):
            culture = Culture(PHONOLOGIES[order[nation % len(order)]], self.rng, people)
            self.cultures.append(culture)
            adjective = ""

            def named(culture: Culture = culture) -> str:
                nonlocal adjective
                name, adjective = culture.country()
                return name

            name = self.names.draw(named, "country", alone=True)
            country = self.add("country", "country", "geography", name, nation, int(nation < told))
            country.facts["demonym"] = adjective
            for _ in range(2):
                self.add("town", "town", "geography", self.names.draw(culture.place, "town", alone=True), nation, 0)
        left = quota - told
        for index in range(min(left // 6, regions * number)):
            nation = index % number
            self.add(
                "region",
                "province",
                "geography",
                self.names.draw(self.cultures[nation].place, "province", alone=True),
                nation,
                1,
            )
            left -= 1
        self.fill("geography", left)

    def skeleton(self) -> None:
        """Everything else that exists, with its name; people come before what they found, make or win."""
        for theme in THEMES[1:]:
            self.fill(theme, self.quotas[theme])

    def fill(self, theme: str, quota: int) -> None:
        """Entities of one theme until their passages make up the quota."""
        mix = MIX[theme]
        made = dict.fromkeys((kind for kind, *_ in mix), 0)
        done = 0
        while done < quota:
            # the kind that lags its share most: small worlds have something of each kind too
            kind, nouns, _, long = max(mix, key=lambda row: row[2] * (done + 1) - made[row[0]])
            sections = 2 if quota - done >= 2 and self.chance(long) else 1
            self.create(kind, nouns, theme, sections)
            made[kind] += sections
            done += sections

    def create(self, kind: str, nouns: Sequence[str], theme: str, sections: int) -> None:
        nation = int(len(self.cultures) * self.rng.random() ** 1.3)
        noun = pick(self.rng, nouns)
        if kind == "person":
            self.person(noun, theme, nation, sections)
        else:
            # named later, when what it is named after exists
            self.add(kind, noun, theme, "", nation, sections)
            if kind in _NAMED_AT_ONCE:
                entity = self.entities[-1]
                entity.name = self.names.draw(
                    lambda: _NAMED_AT_ONCE[kind].format(self.cultures[nation].place()), noun, alone=True
                )

    def person(self, noun: str, theme: str, nation: int, sections: int) -> None:
        low, high = _BIRTHS.get(theme, (1765, 1930))
        woman = self.chance(0.48)
        parent = self.some("person", nation) if self.chance(0.42) else None
        born = self.between(low, high)
        if parent is not None:
            child = parent.year + self.between(21, 37)
            parent, born = (parent, child) if low <= child <= high and parent.end > child else (None, born)
        name = self.person_name(noun, woman, nation, parent)
        person = self.add("person", noun, theme, name, nation, sections)
        person.woman, person.year, person.end = woman, born, born + self.between(48, 91)
        if sections == 2:
            person.end = min(person.end, 1985)
        if parent is not None:
            person.facts["mother" if parent.woman else "father"] = parent
        elif self.chance(0.35):
            relation = "mother" if self.chance(0.5) else "father"
            person.facts[relation] = self.relative(relation == "mother", nation, person.surname)

    def person_name(self, noun: str, woman: bool, nation: int, parent: Entity | None) -> str:
        culture = self.cultures[nation]
        given = culture.female if woman else culture.male
        namesake = self.some("person", nation, near=1.0) if parent is None and self.chance(0.07) else None
        if namesake is not None and namesake.woman == woman and self.names.claim(namesake.name, noun):
            return namesake.name
        if parent is not None:
            for _ in range(8):
                name = f"{pick(self.rng, given)} {parent.surname}"
                if self.names.claim(name, noun):
                    return name
        return self.names.draw(
            lambda: f"{pick(self.rng, given)} {pick(self.rng, culture.surnames)}", noun, alone=self.chance(0.9)
        )

    def relative(self, woman: bool, nation: int, surname: str) -> str:
        """The name of a relative who has no article."""
        culture = self.cultures[nation]
        given = culture.female if woman else culture.male
        for _ in range(20):
            name = f"{pick(self.rng, given)} {surname}"
            if name not in self.names.taken:
                self.names.claim(name, "relative")
                return name
        return self.names.draw(lambda: f"{culture.coined()} {surname}", "relative", alone=True)

    # ---- which facts hold

    def relate(self) -> None:
        """Facts in an order in which nothing refers to what has no year or name yet."""
        for kinds in (
            ("country", "region", "river", "mountain", "town"),
            _ORGANISATIONS,
            ("person",),
            tuple(_WORKS),
            ("ship",),
        ):
            for kind in kinds:
                for entity in self.pools.get(kind, ()):
                    self.relate_one(entity)
        for kind in ("festival", "exhibition", "tournament", "battle", "treaty", "fair", "voyage"):
            for entity in self.pools.get(kind, ()):
                self.relate_one(entity)

    def relate_one(self, entity: Entity) -> None:
        if entity.kind in _WORKS:
            self.work(entity)
        elif entity.kind in _ORGANISATIONS:
            self.organisation(entity)
        else:
            {
                "country": self.country,
                "region": self.region,
                "town": self.town,
                "river": self.river,
                "mountain": self.mountain,
                "person": self.life,
                "ship": self.ship,
                "festival": self.festival,
                "exhibition": self.exhibition,
                "tournament": self.tournament,
                "battle": self.battle,
                "treaty": self.treaty,
                "fair": self.fair,
                "voyage": self.voyage,
            }[entity.kind](entity)

    def home(self, entity: Entity, relation: str, *, near: float = 0.85, always: float = 1.0) -> Entity | None:
        """A town for a relation, one that the entity's other facts do not name."""
        if not self.chance(always):
            return None
        town = self.fitting("town", entity.nation, lambda place: place not in entity.facts.values())
        self.put(entity, relation, town)
        return town

    def country(self, entity: Entity) -> None:
        towns = self.local[("town", entity.nation)]
        self.put(entity, "capital", towns[-1] if len(towns) < 4 else pick(self.rng, towns[2:]))
        entity.facts["independence"] = self.between(1640, 1910)
        entity.facts["currency"] = f"{entity.facts['demonym']} {pick(self.rng, lexicon.CURRENCIES)}"
        if self.chance(0.7):
            self.put(entity, "longest_river", self.here("river", entity))
        if self.chance(0.7):
            self.put(entity, "highest_point", self.here("mountain", entity))

    def here(self, pool: str, entity: Entity) -> Entity | None:
        local = self.local.get((pool, entity.nation))
        return pick(self.rng, local) if local else None

    def region(self, entity: Entity) -> None:
        entity.facts["country"] = self.local[("country", entity.nation)][0]
        self.put(entity, "seat", self.here("town", entity))
        entity.facts["crop"] = pick(self.rng, lexicon.CROPS)
        entity.facts["area"] = Quantity(self.between(900, 48000), "square kilometres")

    def town(self, entity: Entity) -> None:
        region = self.here("region", entity)
        if region is not None and self.chance(0.45):
            entity.facts["region"] = region
        else:
            entity.facts["country"] = self.local[("country", entity.nation)][0]
        if self.chance(0.55):
            self.put(entity, "river", self.here("river", entity))
        entity.facts["population"] = Quantity(
            int(10 ** (3.1 + 2.2 * self.rng.random())) // 10 * 10 + self.between(1, 9), "inhabitants"
        )
        entity.facts["industry"] = pick(self.rng, lexicon.INDUSTRIES)
        if entity.sections == 2 or self.chance(0.25):
            entity.year = self.between(940, 1720)
            entity.facts["founded"] = entity.year
        if entity.sections == 2:
            entity.facts["fire"] = self.between(1722, 1890)
            if self.chance(0.7):
                self.put(
                    entity,
                    "architect",
                    self.fitting("person", entity.nation, lambda person: person.theme in ("art", "science")),
                )
            if self.chance(0.6):
                former = self.names.draw(self.cultures[entity.nation].place, "former name", alone=True)
                entity.facts["former_name"] = former

    def river(self, entity: Entity) -> None:
        entity.facts["length"] = Quantity(self.between(48, 1900), "kilometres")
        self.put(entity, "source", self.here("mountain", entity))
        if self.chance(0.7):
            self.put(entity, "mouth", self.here("town", entity))
        elif self.chance(0.8):
            entity.facts["country"] = self.local[("country", entity.nation)][0]
        if self.chance(0.5):
            self.put(entity, "surveyor", self.some("seafaring person", entity.nation))

    def mountain(self, entity: Entity) -> None:
        entity.facts["height"] = Quantity(self.between(640, 6900), "metres")
        region = self.here("region", entity)
        if region is not None and self.chance(0.5):
            entity.facts["region"] = region
        else:
            entity.facts["country"] = self.local[("country", entity.nation)][0]
        climber = self.fitting(
            "person", entity.nation, lambda person: person.theme in ("science", "sport", "seafaring", "art")
        )
        if climber is not None and self.chance(0.7):
            entity.facts["climber"] = climber
            entity.facts["climbed"] = climber.year + self.between(20, 42)

    def organisation(self, entity: Entity) -> None:
        town = self.home(entity, "town", always=0.94)
        if entity.kind == "university":
            entity.year = self.between(1480, 1760)
            entity.facts["founded"] = entity.year
        else:
            founder = self.some(f"{entity.theme} person", entity.nation) if self.chance(0.8) else None
            self.put(entity, "founder", founder)
            entity.year = founder.year + self.between(25, 46) if founder else self.between(1790, 1950)
            if self.chance(0.85) or founder is None:
                entity.facts["founded"] = entity.year
        entity.name = self.names.draw(lambda: self.organisation_name(entity, town), entity.noun, alone=True)
        self.organisation_extras(entity)
        self.leading.update(
            value.id for key, value in entity.facts.items() if key in _LEADERS and isinstance(value, Entity)
        )

    def organisation_name(self, entity: Entity, town: Entity | None) -> str:
        place = town.name if town is not None and self.chance(0.5) else self.cultures[entity.nation].place()
        founder = entity.facts.get("founder")
        surname = (
            founder.surname if isinstance(founder, Entity) else pick(self.rng, self.cultures[entity.nation].surnames)
        )
        if not self.chance(0.7):
            surname = self.cultures[entity.nation].coined()
        return pick(self.rng, _ORGANISATION_NAMES[entity.kind]).format(place=place, surname=surname)

    def organisation_extras(self, entity: Entity) -> None:
        facts, kind = entity.facts, entity.kind
        if kind in ("company", "shipyard"):
            facts["product"] = pick(
                self.rng, lexicon.PRODUCTS if kind == "company" else ("whalers", "lightships", "ferries", "pilot boats")
            )
        elif kind == "club":
            facts["colours"], facts["discipline"] = pick(self.rng, lexicon.COLOURS), pick(self.rng, lexicon.DISCIPLINES)
            self.put(entity, "coach", self.fitting("sport person", entity.nation, lambda p: entity.year <= p.year + 40))
        elif kind == "party":
            facts["colours"] = pick(self.rng, ("green", "orange", "violet", "white", "grey", "yellow", "turquoise"))
        if entity.sections == 2:
            if self.chance(0.75):
                self.put(entity, "head", self.fitting("person", entity.nation, lambda p: self.could_head(p, entity)))
            facts["moved"] = entity.year + self.between(8, 40)
            if kind in ("company", "publisher", "studio", "shipyard"):
                self.put(
                    entity,
                    "owner",
                    self.fitting("company", entity.nation, lambda c: bool(c.name) and c.year < entity.year + 60),
                )

    def could_head(self, person: Entity, organisation: Entity) -> bool:
        return (
            person.year + 25 < person.end
            and organisation.year < person.end - 10
            and person not in organisation.facts.values()
        )

    def life(self, entity: Entity) -> None:
        facts = entity.facts
        facts["born"] = self.date(entity.year)
        self.home(entity, "born_in", always=0.93)
        if entity.end <= 1994 and self.chance(0.8):
            facts["died"] = self.date(entity.end)
            self.home(entity, "died_in", always=0.5)
        if self.chance(0.5):
            self.put(entity, "educated_at", self.some("university", entity.nation))
        if self.chance(0.3):
            self.put(
                entity,
                "teacher",
                self.fitting(f"{entity.theme} person", entity.nation, lambda p: self.could_teach(p, entity)),
            )
        if self.chance(0.4):
            self.marry(entity)
        openings, objects = lexicon.KNOWN_FOR[entity.theme]
        facts["known_for"] = f"{pick(self.rng, openings)} {pick(self.rng, objects)}"
        self.career(entity)
        if entity.sections == 2:
            self.legacy(entity)

    def could_teach(self, person: Entity, pupil: Entity) -> bool:
        return (
            12 <= pupil.year - person.year <= 40 and person not in pupil.facts.values() and person.end > pupil.year + 18
        )

    def marry(self, entity: Entity) -> None:
        if entity.id in self.married:
            return
        spouse = self.fitting("person", entity.nation, lambda p: self.could_marry(p, entity), tries=6)
        if spouse is not None:
            self.married.update((entity.id, spouse.id))
            entity.facts["spouse"] = spouse

    def could_marry(self, person: Entity, entity: Entity) -> bool:
        return (
            person.woman != entity.woman
            and abs(person.year - entity.year) <= 14
            and person.surname != entity.surname
            and person.id not in self.married
            and entity not in person.facts.values()
            and person not in entity.facts.values()
        )

    def career(self, entity: Entity) -> None:
        if entity.theme == "politics" and self.chance(0.6):
            entity.facts["office"] = pick(self.rng, lexicon.OFFICES)
            younger = self.fitting("politics person", entity.nation, lambda p: 1 <= p.year - entity.year <= 25)
            self.put(entity, "successor", younger if younger not in entity.facts.values() else None)
        # who leads an organisation is told there; a second one would make "which one?" ambiguous
        kind = _EMPLOYERS.get(entity.theme)
        if kind is not None and entity.id not in self.leading and self.chance(0.55):
            self.put(
                entity,
                f"{kind}_of",
                self.fitting(kind, entity.nation, lambda org: entity.year - 5 < org.year < entity.year + 40),
            )
        if entity.theme in ("literature", "film", "music", "sport", "seafaring") and self.chance(0.16):
            entity.facts["aka"] = self.nickname(entity)

    def nickname(self, entity: Entity) -> str:
        """A name that a person is also known by, one that nobody else has."""
        culture = self.cultures[entity.nation]
        if self.chance(0.5):
            return self.names.draw(lambda: f"{pick(self.rng, _NICKNAMES)} {culture.coined()}", "nickname", alone=True)
        given = culture.female if entity.woman else culture.male
        return self.names.draw(lambda: f"{pick(self.rng, given)} {culture.coined()}", "nickname", alone=True)

    def legacy(self, entity: Entity) -> None:
        self.put(
            entity,
            "archive",
            self.fitting("museum", entity.nation, lambda m: True) or self.some("university", entity.nation),
        )
        if self.chance(0.7):
            biographer = self.fitting("literature person", entity.nation, lambda p: 0 < p.year - entity.year < 60)
            self.put(entity, "biographer", biographer if biographer not in entity.facts.values() else None)
        self.home(entity, "monument", always=0.75)
        entity.facts["plaque"] = entity.end + self.between(6, 40)

    def work(self, entity: Entity) -> None:
        maker = self.maker(entity)
        if maker is not None:
            entity.facts[_WORKS[entity.kind]] = maker
            entity.nation = maker.nation
            entity.year = min(maker.year + self.between(22, 58), maker.end - 1)
        else:
            entity.year = self.between(1900, 1980)
        if self.chance(0.9):
            entity.facts["year"] = entity.year
        {
            "novel": self.novel,
            "play": self.play,
            "film": self.film,
            "opera": self.opera,
            "song": self.song,
            "painting": self.painting,
            "treatise": self.treatise,
        }[entity.kind](entity)
        if not entity.name:
            entity.name = self.names.draw(lambda: self.title(entity), entity.noun, alone=self.chance(0.94))

    def maker(self, entity: Entity) -> Entity | None:
        for noun in _MAKERS.get(entity.kind, ()):
            if self.chance(0.75):
                maker = self.some(noun, entity.nation, near=0.8)
                if maker is not None:
                    return maker
        return self.some(f"{entity.theme} person", entity.nation, near=0.8) or self.some("person", entity.nation)

    def title(self, entity: Entity) -> str:
        rng, culture = self.rng, self.cultures[entity.nation]
        if entity.kind == "treatise":
            subject = pick(rng, lexicon.KNOWN_FOR["science"][1])
            return pick(
                rng,
                (
                    f"On {_capitals(subject)}",
                    f"A Treatise on {_capitals(subject)}",
                    f"The {culture.coined()} Tables",
                    f"{_capitals(subject)} of {culture.place()}",
                ),
            )
        adjective, noun, other = (
            pick(rng, lexicon.TITLE_ADJECTIVES),
            pick(rng, lexicon.TITLE_NOUNS),
            pick(rng, lexicon.TITLE_NOUNS),
        )
        abstract, draw = pick(rng, lexicon.TITLE_ABSTRACTS), rng.random()
        given = pick(rng, culture.female if self.chance(0.5) else culture.male)
        if draw < 0.24:
            return f"The {adjective} {noun}"
        if draw < 0.36:
            return f"The {noun} of {culture.place()}"
        if draw < 0.46:
            return f"{given} and the {noun}"
        if draw < 0.56:
            return f"A {noun} of {abstract}" if noun[0] not in "AEIOU" else f"An {noun} of {abstract}"
        if draw < 0.64:
            return f"{given}'s {adjective} {noun}"
        if draw < 0.74 and adjective != abstract:
            return f"{adjective} {abstract}"
        if draw < 0.84 and noun != other:
            return f"The {noun} and the {other}"
        if draw < 0.92:
            return f"{abstract} in {culture.place()}"
        return f"The {adjective} {noun} of {given} {culture.coined()}"

    def novel(self, entity: Entity) -> None:
        self.home(entity, "set_in", always=0.6)
        if self.chance(0.65):
            self.put(entity, "publisher", self.fitting("publisher", entity.nation, lambda org: org.year <= entity.year))
        entity.facts["subject"] = pick(self.rng, lexicon.SUBJECTS)
        if self.chance(0.5):
            entity.facts["protagonist"] = self.character(entity)
        if entity.sections == 2 or self.chance(0.15):
            self.put(entity, "dedicatee", self.contemporary(entity))
        self.other_title(entity)
        if entity.sections == 2:
            self.put(
                entity,
                "translator",
                self.fitting("translator", entity.nation, lambda p: 20 < entity.year - p.year < 60),
            )
            entity.facts["prize"] = self.prize(entity)

    def character(self, entity: Entity) -> str:
        culture = self.cultures[entity.nation]
        given = culture.female if self.chance(0.5) else culture.male
        return self.names.draw(lambda: f"{pick(self.rng, given)} {culture.coined()}", "character", alone=True)

    def prize(self, entity: Entity) -> str:
        return f"{self.cultures[entity.nation].coined()} {pick(self.rng, ('Prize', 'Medal', 'Award'))}"

    def contemporary(self, entity: Entity, theme: str | None = None) -> Entity | None:
        pool = f"{theme} person" if theme else "person"
        used = entity.facts.values()
        return self.fitting(pool, entity.nation, lambda p: 18 < entity.year - p.year < 62 and p not in used)

    def play(self, entity: Entity) -> None:
        self.home(entity, "premiered_in", always=0.85)
        entity.facts["subject"] = pick(self.rng, lexicon.SUBJECTS)
        if self.chance(0.5):
            entity.facts["protagonist"] = self.character(entity)
        if self.chance(0.3):
            self.put(entity, "dedicatee", self.contemporary(entity))

    def film(self, entity: Entity) -> None:
        novel = self.some("novel", entity.nation)
        if novel is not None and novel.name and novel.year < entity.year and self.chance(0.4):
            entity.facts["based_on"] = novel
            if self.chance(0.35) and self.names.claim(novel.name, "film"):
                entity.name = novel.name
        else:
            entity.facts["subject"] = pick(self.rng, lexicon.SUBJECTS)
        if self.chance(0.6):
            self.put(entity, "studio", self.fitting("studio", entity.nation, lambda org: org.year <= entity.year))
        if self.chance(0.55):
            self.put(entity, "star", self.film_person(entity, "film actor"))
        if entity.sections == 2 or self.chance(0.3):
            self.home(entity, "filmed_in", always=0.8)
        self.other_title(entity)
        if entity.sections == 2:
            self.put(entity, "score", self.contemporary(entity, "music"))
            entity.facts["prize"] = self.prize(entity)

    def other_title(self, entity: Entity) -> None:
        if self.chance(0.13):
            entity.facts["aka"] = self.names.draw(lambda: self.title(entity), "other title", alone=True)

    def film_person(self, entity: Entity, noun: str) -> Entity | None:
        used = entity.facts.values()
        return self.fitting(noun, entity.nation, lambda p: 18 < entity.year - p.year < 60 and p not in used)

    def opera(self, entity: Entity) -> None:
        self.home(entity, "premiered_in", always=0.85)
        if self.chance(0.7):
            self.put(entity, "librettist", self.contemporary(entity, "literature"))
        if self.chance(0.4):
            self.home(entity, "set_in")
        else:
            entity.facts["subject"] = pick(self.rng, lexicon.SUBJECTS)
        if entity.sections == 2:
            self.put(entity, "conductor", self.contemporary(entity, "music"))
            self.put(entity, "revived_by", self.fitting("orchestra", entity.nation, lambda org: True))

    def song(self, entity: Entity) -> None:
        entity.facts["subject"] = pick(self.rng, lexicon.SUBJECTS)
        singer = self.fitting(
            "singer", entity.nation, lambda p: 18 < entity.year - p.year < 60 and p not in entity.facts.values()
        )
        self.put(entity, "performer", singer)
        if self.chance(0.5):
            self.put(entity, "lyricist", self.contemporary(entity, "literature"))
        if self.chance(0.3):
            self.home(entity, "recorded_in")

    def painting(self, entity: Entity) -> None:
        entity.facts["motif"] = pick(self.rng, lexicon.MOTIFS)
        if self.chance(0.75):
            self.put(entity, "museum", self.some("museum", entity.nation))
        if self.chance(0.45):
            self.put(entity, "commissioner", self.contemporary(entity))
        if self.chance(0.4):
            self.home(entity, "painted_in")
        if entity.sections == 2:
            entity.facts["restored"] = entity.year + self.between(50, 90)
            self.put(
                entity,
                "previous_owner",
                self.fitting("person", entity.nation, lambda p: 5 < p.year - entity.year + 60 < 80),
            )

    def treatise(self, entity: Entity) -> None:
        if self.chance(0.7):
            self.put(entity, "publisher", self.fitting("publisher", entity.nation, lambda org: org.year <= entity.year))
        if self.chance(0.5):
            self.put(entity, "dedicatee", self.contemporary(entity))
        if self.chance(0.5):
            self.put(entity, "illustrator", self.contemporary(entity, "art"))

    def ship(self, entity: Entity) -> None:
        yard = self.fitting("shipyard", entity.nation, lambda org: True) if self.chance(0.75) else None
        entity.year = yard.year + self.between(4, 50) if yard else self.between(1800, 1940)
        self.put(entity, "builder", yard)
        if self.chance(0.85):
            entity.facts["launched"] = entity.year
        self.put(entity, "captain", self.contemporary(entity, "seafaring"))
        if self.chance(0.6):
            self.home(entity, "home_port")
        self.ship_name(entity)
        if entity.sections == 2:
            entity.facts["fate"] = pick(self.rng, lexicon.FATES)
            entity.facts["lost"] = entity.year + self.between(9, 45)
            self.put(entity, "last_owner", self.fitting("company", entity.nation, lambda c: c.year < entity.year + 9))

    def ship_name(self, entity: Entity) -> None:
        if self.chance(0.3):
            town = self.some("town", entity.nation)
            if town is not None and town not in entity.facts.values() and self.names.claim(town.name, entity.noun):
                entity.name = town.name
                return
        if self.chance(0.3):
            person = self.fitting(
                "person", entity.nation, lambda p: p.year + 30 < entity.year and p not in entity.facts.values()
            )
            if person is not None and self.names.claim(person.name, entity.noun):
                entity.name = person.name
                entity.facts["namesake"] = person
                return
        culture = self.cultures[entity.nation]
        makers: tuple[Callable[[], str], ...] = (
            lambda: f"{pick(self.rng, lexicon.TITLE_ADJECTIVES)} {pick(self.rng, lexicon.TITLE_NOUNS)}",
            culture.coined,
            lambda: f"{pick(self.rng, culture.female)} {culture.coined()}",
            lambda: f"Star of {culture.place()}",
        )
        entity.name = self.names.draw(lambda: pick(self.rng, makers)(), entity.noun)

    # events: held somewhere in some year; the winner or leader is chosen first, so that ages fit

    def event(
        self,
        entity: Entity,
        who: str,
        pool: str,
        ages: tuple[int, int],
        patterns: Sequence[str],
        where: str = "held_in",
    ) -> None:
        person = self.some(pool, entity.nation, near=0.6) if self.chance(0.92) else None
        self.put(entity, who, person)
        entity.year = min(person.year + self.between(*ages), 1994) if person is not None else self.between(1850, 1960)
        town = self.home(entity, where, always=0.93)
        place = town.name if town is not None else self.cultures[entity.nation].place()
        culture = self.cultures[entity.nation]
        make = lambda: pick(self.rng, patterns).format(  # noqa: E731
            year=entity.year, place=place if self.chance(0.5) else culture.place(), coined=culture.coined()
        )
        entity.name = self.names.draw(make, entity.noun, alone=True)

    def tournament(self, entity: Entity) -> None:
        entity.facts["discipline"] = pick(self.rng, lexicon.DISCIPLINES)
        self.event(
            entity,
            "winner",
            "sport person",
            (19, 36),
            ("{year} {place} Games", "{coined} Cup of {year}", "{year} {coined} Trophy"),
        )
        self.put(entity, "host", self.some("club", entity.nation) if self.chance(0.5) else None)
        entity.facts["entrants"] = Quantity(self.between(14, 420), "entrants")

    def festival(self, entity: Entity) -> None:
        film = self.some("film", entity.nation, near=0.6)
        self.event(
            entity,
            "jury_president",
            "film person",
            (30, 60),
            ("{year} {place} Film Festival", "{coined} Film Week of {year}"),
        )
        if film is not None and film.year in (entity.year, entity.year - 1):
            entity.facts["winner"] = film
        elif film is not None and not self.names.taken.get(f"{film.year}"):
            entity.facts["retrospective"] = film.facts.get("director", film)
            if entity.facts["retrospective"] is entity.facts.get("jury_president"):
                del entity.facts["retrospective"]
        entity.facts["entrants"] = Quantity(self.between(14, 190), "films")

    def exhibition(self, entity: Entity) -> None:
        names = ("{coined} Salon of {year}", "{year} {place} Salon", "{place} Winter Exhibition of {year}")
        self.event(entity, "winner", "art person", (24, 60), names)
        self.put(entity, "host", self.fitting("museum", entity.nation, lambda org: org.year < entity.year))
        entity.facts["entrants"] = Quantity(self.between(40, 900), "works")

    def battle(self, entity: Entity) -> None:
        names = ("Battle of {place}", "Siege of {place}", "Battle of {coined} Bridge", "Battle of {coined} Ridge")
        self.event(entity, "victor", "politics person", (25, 58), names)
        entity.facts["date"] = self.date(entity.year)
        victor = entity.facts.get("victor")
        self.put(
            entity,
            "loser",
            self.fitting("politics person", entity.nation, lambda p: self.of_age(p, entity) and p is not victor),
        )
        if entity.sections == 2:
            entity.facts["casualties"] = Quantity(self.between(12, 900) * 10, "dead and wounded")
            self.put(entity, "painter", self.contemporary(entity, "art"))

    def of_age(self, person: Entity, event: Entity) -> bool:
        return 22 <= event.year - person.year <= 65

    def treaty(self, entity: Entity) -> None:
        self.event(
            entity,
            "mediator",
            "politics person",
            (30, 62),
            ("Treaty of {place}", "{coined} Convention", "Peace of {place}"),
        )
        entity.facts["date"] = self.date(entity.year)
        home = self.local[("country", entity.nation)][0]
        other = self.fitting("country", entity.nation, lambda country: country is not home, tries=20)
        if other is not None:
            entity.facts["party_one"], entity.facts["party_two"] = home, other

    def fair(self, entity: Entity) -> None:
        names = ("{place} Fair of {year}", "{year} {coined} Exposition", "{coined} Trade Fair of {year}")
        self.event(entity, "organiser", "trade person", (28, 60), names)
        self.put(entity, "winner", self.fitting("company", entity.nation, lambda org: org.year < entity.year))
        entity.facts["entrants"] = Quantity(self.between(60, 2400), "exhibitors")

    def voyage(self, entity: Entity) -> None:
        names = (
            "{coined} Expedition",
            "Second {coined} Expedition",
            "{coined} Survey of {year}",
            "Voyage to {coined} Bay",
        )
        self.event(entity, "leader", "seafaring person", (26, 55), names, "sailed_from")
        ship = self.fitting("ship", entity.nation, lambda s: 0 <= entity.year - s.year <= 30)
        self.put(entity, "vessel", ship)
        if self.chance(0.5):
            self.put(
                entity, "naturalist", self.fitting("science person", entity.nation, lambda p: self.of_age(p, entity))
            )


_LEADERS = ("founder", "head", "coach")
_EMPLOYERS = {"film": "studio", "music": "orchestra", "science": "observatory", "sport": "club", "politics": "party"}
_NICKNAMES = ("Little", "Old", "Silent", "Lucky", "Honest", "Quick", "Stormy", "Red", "Merry")
_NAMED_AT_ONCE = {"town": "{}", "river": "River {}", "mountain": "Mount {}"}
_ORGANISATION_NAMES = {
    "publisher": ("{surname} Press", "{surname} & Daughters", "{surname} Verlag", "{surname} House"),
    "studio": ("{surname} Pictures", "{surname} Films", "{place} Film Works"),
    "orchestra": ("{place} Philharmonic", "{place} Symphony Orchestra", "{surname} Chamber Orchestra"),
    "museum": ("{surname} Gallery", "{place} Museum of Art", "{surname} Collection"),
    "university": ("University of {place}", "{place} Polytechnic", "{surname} College", "{place} Academy"),
    "observatory": ("{place} Observatory", "{surname} Observatory"),
    "club": ("{place} Athletic", "{place} Wanderers", "{surname} Sports Club", "{place} Union"),
    "party": ("{surname} League", "{place} Reform Party", "{surname} Union Party", "{place} People's Party"),
    "company": (
        "{surname} & Sons",
        "{surname} Works",
        "{surname} Brothers",
        "{place} Manufactory",
        "{surname} & Company",
    ),
    "shipyard": ("{surname} Yard", "{place} Dockyard", "{surname} Shipbuilders"),
}


def _capitals(text: str) -> str:
    return " ".join(word if word in ("of", "the", "for", "and") else word.capitalize() for word in text.split())
