"""The symbolic world: entities and the facts that hold of them. It knows nothing of the prose it is told in.

A fact is one value of one relation of one entity (`film.facts["director"] = person`), so every relation is a function
and a chain of relations has exactly one end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, Union

THEMES = ("geography", "literature", "film", "music", "art", "science", "sport", "politics", "trade", "seafaring")


class Date(NamedTuple):
    """A day."""

    year: int
    month: int
    day: int


class Quantity(NamedTuple):
    """A whole number of something."""

    amount: int
    unit: str


Value: TypeAlias = Union["Entity", Date, Quantity, int, str]


@dataclass(slots=True, eq=False)
class Entity:
    """Somebody or something the encyclopedia speaks of.

    `kind` selects its relations and the phrases that tell them; `noun` is what it is called (`film
    director`, `barque`); `year` is when it came to be (birth, founding, release) and `end` the last year it acts in.
    `sections` counts its passages: 0 for what is only ever named. `nation` is the index of its culture.
    """

    id: int
    kind: str
    noun: str
    theme: str
    name: str
    nation: int
    sections: int = 1
    year: int = 0
    end: int = 0
    woman: bool = False
    facts: dict[str, Value] = field(default_factory=dict, repr=False)  # they lead round in circles

    @property
    def surname(self) -> str:
        """All of a person's name but the first word."""
        return self.name.partition(" ")[2]


@dataclass(slots=True)
class World:
    """All entities by id, and the names that several of them share."""

    entities: list[Entity]
    shared_names: frozenset[str]

    def label(self, entity: Entity) -> str:
        """The title of its article: the name, with a qualifier where the name alone would not tell it apart."""
        return f"{entity.name} ({entity.noun})" if entity.name in self.shared_names else entity.name


def follow(entity: Entity, path: tuple[str, ...]) -> Value | None:
    """The end of a chain of relations; None where the chain breaks."""
    value: Value = entity
    for relation in path:
        if not isinstance(value, Entity) or relation not in value.facts:
            return None
        value = value.facts[relation]
    return value
