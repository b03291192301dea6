"""Invented names: pronounceable, and alike within one culture.

A `Culture` is one invented phonology (its own consonants, vowels and endings) with the pools of given names and
surnames that its people share. A `Registry` hands out names so that two entities of one name always carry different
qualifiers (`painter`, `ship`, ...).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import TypeVar

from psi.corpus.encyclopedia.lexicon import ORDINARY_WORDS
from psi.errors import ConfigError

T = TypeVar("T")


def pick(rng: Random, items: Sequence[T]) -> T:
    """One of the items, by a single draw (several times faster than `Random.choice`, and stable across versions)."""
    return items[int(rng.random() * len(items))]


@dataclass(frozen=True, slots=True)
class Phonology:
    """The sounds of one culture, each a space-separated list."""

    onsets: str
    vowels: str
    codas: str
    male: str
    female: str
    surnames: str
    places: str
    countries: str  # ending/demonym ending


PHONOLOGIES = (
    Phonology(
        "b br d dr f g gr h j k kr l m n r s sk st sv t tr v",
        "a e i o u ei",
        "l n r nd rk lm st",
        "ar en olf ik und",
        "a ild unn eva ine",
        "sgard kvist rud holt strand berg dal",
        "vik fjell mo nes haug sund",
        "mark/markish heim/heimer",
    ),
    Phonology(
        "b c d f g l m n p r s t v z",
        "a e i o u ia io",
        "l n r s",
        "o io ello ando",
        "a ia ella etta",
        "ini ardo ozzi anti elli uccio",
        "ano eto enza ora asco",
        "ia/ian ona/onese",
    ),
    Phonology(
        "ch d h j k l m n q r s sh t y z",
        "a i u aa e",
        "b d f m n r sh",
        "im ad ur iz",
        "ah iya ima une",
        "ani ouri adeh zai awi",
        "abad iyan estan ouk",
        "istar/istari aman/amani",
    ),
    Phonology(
        "h k m n r s sh t w y ts k",
        "a e i o u",
        "n  ",
        "ro to shi nobu",
        "ko mi ye na",
        "mura zaki tani hara neko",
        "saki gawa mori dera hama",
        "koru/korun shima/shiman",
    ),
    Phonology(
        "b d dz g gr k kl l m n p r s sl t v z zh",
        "a e i o u y",
        "k n r sk v l m",
        "mir oslav an ek",
        "ka ina ova ika",
        "enko ovic arski inek chuk",
        "ov grad ice insk ava",
        "ovia/ovian esk/eskan",
    ),
    Phonology(
        "b c cl d f g gl gw ll m n p r rh t tr",
        "a e i o u y wy",
        "n r th dd l s",
        "wyn or an ydd",
        "en wen eth is",
        "aled owain rhys idwal ennick",
        "aber llan wick ford combe",
        "wen/wenish eth/ethic",
    ),
    Phonology(
        "h k l m n p t w v f",
        "a e i o u ai au oa",
        "    ",
        "ne loa kai tu",
        "lani hine ala moe",
        "kea roa nui paki lau",
        "lei motu hanga nua waka",
        "nesi/nesian moa/moan",
    ),
    Phonology(
        "b ch d dh g gh j k kh l m n p r s sh t v y",
        "a i u e o",
        "n r sh l m",
        "esh ant ir aj",
        "ini ati vani sha",
        "pathi walla shekar rajan mitra",
        "pur garh nagar kot wadi",
        "esh/eshi and/andi",
    ),
    Phonology(
        "b d f g k kw l m mb n nd ng s t w y z",
        "a e i o u",
        "  n",
        "we bo sa ko",
        "mba di yo ra",
        "undo kanda wele ngoma bari",
        "ala undu enge oro ombe",
        "ani/anian ombia/ombian",
    ),
    Phonology(
        "b d f g h k kr l m n p pf r s sch t v w z",
        "a e i o u ü ie",
        "l n r t ch ng s",
        "ert olf rich in",
        "a hild trud e",
        "mann schmied auer thal becker",
        "burg stadt hofen au furt",
        "reich/reicher mund/mundian",
    ),
    Phonology(
        "c ch h l m n p qu t tl tz x z",
        "a e i o u",
        "c l n tl z",
        "tzin oc ual itl",
        "xochi ana itzel eca",
        "tecatl huac coatl metl olin",
        "tlan tepec calco titla",
        "tlal/tlalan huaca/huacan",
    ),
    Phonology(
        "b d g h j k kh l m n s t ts z",
        "a e o u ö ai",
        "n r g l d",
        "bat gen ul dor",
        "gerel tuya mai zaya",
        "baatar dorj khuyag sukh ganbol",
        "bulag khot tal gol uul",
        "gai/gaian and/andish",
    ),
    Phonology(
        "b c d f g l m n p r s t v bl cl fr",
        "a e i o ou é eau",
        "l n r s t",
        "ien ard aud el",
        "ette ine elle ise",
        "ault ier oux aine erre",
        "ville mont court ac ay",
        "onne/onnais agne/agnard",
    ),
)

# fragments that must not turn up by accident
_UNWANTED = (
    "fiasco",
    "fuck",
    "shit",
    "cunt",
    "nig",
    "fag",
    "rape",
    "slut",
    "nazi",
    "piss",
    "cock",
    "dick",
    "cum",
    "anus",
    "porn",
)


@cache
def _parts(sounds: str) -> tuple[str, ...]:
    """The sounds of a list; two spaces in a row stand for "no sound"."""
    return tuple(sounds.split(" "))


@dataclass(slots=True)
class Culture:
    """One phonology and the names its people share.

    `people` is the expected number of people: the pools grow with it, more slowly than it, so surnames recur.
    """

    sounds: Phonology
    rng: Random
    people: int
    male: list[str] = field(init=False)
    female: list[str] = field(init=False)
    surnames: list[str] = field(init=False)

    def __post_init__(self) -> None:
        given = 14 + int(1.6 * self.people**0.5)
        self.male = self._pool(given, self.sounds.male)
        self.female = self._pool(given, self.sounds.female)
        self.surnames = self._pool(10 + int(1.3 * self.people**0.68), self.sounds.surnames, least=5)

    def place(self) -> str:
        """A new name for a town, river, mountain or region."""
        return self._word(2 if self.rng.random() < 0.5 else 1, self.sounds.places, least=6)

    def coined(self) -> str:
        """A new name with no ending of a kind: for fictional characters, brands and works."""
        return self._word(2, self.sounds.places, least=5)

    def country(self) -> tuple[str, str]:
        """A name for a country and its adjective."""
        ending, adjective = pick(self.rng, [pair.split("/") for pair in _parts(self.sounds.countries)])
        stem = self._word(2, "", least=4)
        while stem.endswith(("aa", "ii", "uu")) or stem[-1] == ending[0]:
            stem = self._word(2, "", least=4)
        return stem + ending, stem + adjective

    def _pool(self, size: int, endings: str, *, least: int = 4) -> list[str]:
        seen: dict[str, None] = {}
        tries = 0
        while len(seen) < size:
            # short names first; longer ones once those run out
            seen[self._word(1 if tries < 2 * size else 2, endings, least=least)] = None
            tries += 1
        return list(seen)

    def _word(self, syllables: int, endings: str, *, least: int = 4) -> str:
        while True:
            word = self._syllables(syllables)
            if endings:
                word = _join(word, pick(self.rng, _parts(endings)))
            if least <= len(word) <= 13 and word not in ORDINARY_WORDS and not any(part in word for part in _UNWANTED):
                return word[0].upper() + word[1:]
            syllables = min(3, syllables + 1) if len(word) < least else max(1, syllables - 1)

    def _syllables(self, count: int) -> str:
        rng, sounds = self.rng, self.sounds
        onsets, vowels, codas = _parts(sounds.onsets), _parts(sounds.vowels), _parts(sounds.codas)
        word = ""
        for _ in range(count):
            word += pick(rng, onsets) + pick(rng, vowels)
            if rng.random() < 0.45:
                word += pick(rng, codas)
        return word


_VOWELS = set("aeiouyöüé")


def _join(stem: str, ending: str) -> str:
    # two vowels that meet melt into one; a consonant never stands three times
    if stem[-1] in _VOWELS and ending[0] in _VOWELS:
        stem = stem.rstrip("aeiouyöüé") or stem[:1]
    if stem[-1] == ending[0] and len(stem) > 1:
        stem = stem[:-1]
    return stem + ending


@dataclass(slots=True)
class Registry:
    """Which qualifiers each name has been given with."""

    taken: dict[str, list[str]] = field(default_factory=dict)

    def claim(self, name: str, qualifier: str) -> bool:
        """Take the name with this qualifier; False where that pair is gone already."""
        qualifiers = self.taken.setdefault(name, [])
        if qualifier in qualifiers:
            return False
        qualifiers.append(qualifier)
        return True

    def draw(self, make: Callable[[], str], qualifier: str, *, alone: bool = False) -> str:
        """A name from `make` that is free with this qualifier (`alone`: that nothing else has).

        Raises:
            ConfigError: a thousand draws found none.
        """
        for _ in range(1000):
            name = make()
            if not (alone and name in self.taken) and self.claim(name, qualifier):
                return name
        raise ConfigError(f"encyclopedia: no free name is left for another {qualifier}. Ask for fewer passages.")

    def shared(self, name: str) -> bool:
        """Whether several entities have this name."""
        return len(self.taken.get(name, ())) > 1
