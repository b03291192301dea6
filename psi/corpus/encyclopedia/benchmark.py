"""The bundled benchmark: a fictional encyclopedia with questions, made from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from random import Random
from typing import Annotated

from pydantic import Field, NonNegativeInt

from psi.component import Component, runtime
from psi.corpus.encyclopedia.build import build_world
from psi.corpus.encyclopedia.prose import Article, write
from psi.corpus.encyclopedia.questions import Library, Plan, plan_questions
from psi.corpus.encyclopedia.world import THEMES
from psi.corpus.records import Benchmark, LoadReport, Passage, Passages, Question

VERSION = 2


@dataclass(frozen=True, kw_only=True)
class Encyclopedia(Component):
    """A benchmark that needs no download and that no model has seen.

    People, places, works, companies and events of invented countries, written out as articles of about 50 to 110
    words, with questions of one to four hops. Equal settings give equal bytes on every machine.

    `passages` is the exact size of the corpus. `questions` is how many are asked; a small corpus may not hold that
    many, which the report notes. `skew` is the ratio of the largest to the smallest category (1: equal), with a power
    law between; which theme is the largest depends on the seed. `name` is what tables call it.
    """

    name: str = runtime("encyclopedia")
    passages: Annotated[int, Field(ge=100, le=1_000_000)] = 600
    questions: NonNegativeInt = 200
    seed: NonNegativeInt = 0
    skew: Annotated[float, Field(ge=1)] = 1.0

    def fingerprint(self) -> dict[str, str]:
        """The version of the generator: raised whenever equal settings give other bytes than before."""
        return {"generator": str(VERSION)}

    def load(self) -> Benchmark:
        """Make the encyclopedia and its questions."""
        world = build_world(category_sizes(self.passages, self.skew, self.seed), 4 * self.seed)
        rng = Random(4 * self.seed + 1)
        articles: list[Article] = []
        themes: list[str] = []
        first: list[int] = []
        for entity in world.entities:
            first.append(len(articles) if entity.sections else -1)
            articles += write(entity, world, rng)
            themes += [entity.theme] * entity.sections
        order = list(range(len(articles)))
        rng.shuffle(order)
        ids = [""] * len(articles)
        for rank, position in enumerate(order):
            ids[position] = f"p{rank:06d}"
        plans = plan_questions(Library(world, articles, first), self.questions, Random(4 * self.seed + 2))
        passages = Passages([Passage(ids[i], articles[i].title, articles[i].text, category=themes[i]) for i in order])
        return Benchmark(self.name, passages, _questions(plans, ids), self._report(len(plans)))

    def _report(self, made: int) -> LoadReport:
        if made == self.questions:
            return LoadReport()
        hint = f"{self.passages} passages hold no more. Ask for more passages or fewer questions."
        note = f"{made} of {self.questions} questions: {hint}"
        return LoadReport(notes=(note,))


def category_sizes(passages: int, skew: float, seed: int) -> dict[str, int]:
    """Passages per theme: a power law from the largest to the smallest, at least one each, exact in sum."""
    number = len(THEMES)
    ranked = list(THEMES)
    if skew > 1:
        Random(4 * seed + 3).shuffle(ranked)
    weights = [skew ** -_log_rank(rank, number) for rank in range(number)]
    total = sum(weights)
    sizes = [max(1, int(passages * weight / total)) for weight in weights]
    step = 0
    while sum(sizes) < passages:
        sizes[step % number] += 1
        step += 1
    sizes[0] -= sum(sizes) - passages
    by_theme = dict(zip(ranked, sizes, strict=True))
    return {theme: by_theme[theme] for theme in THEMES}


def _log_rank(rank: int, number: int) -> float:
    # 0 for the largest, 1 for the smallest
    return log(rank + 1) / log(number)


def _questions(plans: list[Plan], ids: list[str]) -> tuple[Question, ...]:
    return tuple(
        Question(
            id=f"q{number:06d}",
            text=plan.text,
            answers=plan.answers,
            gold=tuple(ids[place] for place in plan.gold),
            hops=len(plan.gold) or None,
            kind=plan.kind,
            answerable=plan.answerable,
            steps=plan.steps,
        )
        for number, plan in enumerate(plans)
    )
