"""What one run is made of, typed and checked; Hydra composes it, nothing else reads the raw configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from experiments.trackers.protocol import NoTracker, Tracker
from psi.agent.loop import Agent
from psi.agent.reader import Reader
from psi.component import Component, runtime
from psi.corpus.loader import Loader
from psi.metrics import metric
from psi.retrieval.ranking import QuestionRanker, Retriever
from psi.store import Locking


@dataclass(frozen=True, kw_only=True)
class Method(Component):
    """A named way to find passages. `name` stands in tables; it does not change any result."""

    name: str = runtime("")
    retriever: Retriever | QuestionRanker


@dataclass(frozen=True, kw_only=True)
class Prices(Component):
    """What things cost, in any one currency.

    hour: an hour of the machine that the harness runs on.
    prompt, completion: a million tokens of chat models.
    """

    hour: NonNegativeFloat = runtime(0.0)
    prompt: NonNegativeFloat = runtime(0.0)
    completion: NonNegativeFloat = runtime(0.0)

    def of(self, seconds: float, prompt_tokens: float, completion_tokens: float) -> float:
        """The price of so much time and so many tokens."""
        return self.hour * seconds / 3600 + (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6


@dataclass(frozen=True, kw_only=True)
class Run(Component):
    """One cell of a sweep: a dataset, a method, a reader, perhaps an agent, and how much of each.

    agent: retrieves again where the first ranking is not enough; None: the reader answers from the first ranking.
    limit: questions to ask (sampled by id, nested, every gold passage kept); None: all.
    corpus_limit: passages to keep; None: all.
    answers: questions to answer (a subset of those asked); None: all of them, 0: retrieval only. An agent retrieves
        for all that are asked, so that its rankings can be compared; its answers outside the subset are not scored.
    k: passages retrieved for each question.
    context: passages that the reader is given, and the agent in each of its steps.
    max_fail_rate: share of failed answers above which the run counts as failed.
    max_hours: wall time of one start, all its cells together; None: no limit.
    prices: what time and tokens cost, for plans and tables.
    check_servers: ask model servers whether they are there before work begins that may need them.
    dry_run: only say what would be done.
    tracker: who is told of the cell when it has ended.
    locks: how processes keep out of each other's way: `system`, by the file system's own locks; `lease`, by files that
        are kept fresh, for shared file systems without locks.
    store: folder of all artefacts.

    Raises:
        ConfigError: a setting is of the wrong type or out of range, or a metric is unknown.
    """

    dataset: Loader
    method: Method
    reader: Reader
    agent: Agent | None = None
    metrics: Annotated[tuple[str, ...], Field(min_length=1)]
    seed: NonNegativeInt = 0
    limit: PositiveInt | None = None
    corpus_limit: PositiveInt | None = None
    answers: NonNegativeInt | None = None
    k: PositiveInt = 10
    context: PositiveInt = 5
    max_fail_rate: Annotated[float, Field(ge=0, le=1)] = runtime(0.02)
    max_hours: PositiveFloat | None = runtime(None)
    prices: Prices = runtime(Prices())
    check_servers: bool = runtime(True)
    dry_run: bool = runtime(False)
    tracker: Tracker = runtime(NoTracker())
    locks: Locking = runtime("system")
    store: Annotated[str, Field(min_length=1)] = runtime("runs")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.metrics:
            metric(name)  # a misspelt metric is refused before the work, not after it

    @property
    def name(self) -> str:
        """What tables call it: the method, and the agent that works with it."""
        return f"{self.method.name}+{self.agent.name}" if self.agent else self.method.name
