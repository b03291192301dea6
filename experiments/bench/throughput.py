"""Questions a minute of the agent with one model in one run: batches against one question at a time.

    python -m experiments.bench.throughput questions=64 batch=32
    python -m experiments.bench.throughput questions=64 alone=false      # leaves the slowest of the three ways out

Three ways get the same questions, first rankings and weights, in turns: the library's `generate`, prompt by prompt, as a
short script would call it; this project's chat model, one question at a time; and the same with all questions at once.
Whether replies are equal is told. The result also goes to `out`, where it is given, with the limits of the machine that
it was measured on.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from omegaconf import OmegaConf
from pydantic import PositiveInt

from psi.agent.chat import ChatPolicy
from psi.agent.loop import Agent
from psi.agent.trace import Trace, trace_row
from psi.component import Component
from psi.corpus.encyclopedia import Encyclopedia
from psi.corpus.records import Benchmark, Question
from psi.models.transformers_chat import TransformersChat
from psi.retrieval.ranking import Index
from psi.retrieval.sparse import BM25
from psi.store import Store


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlainChat(TransformersChat):
    """The library's `generate`, one prompt at a time."""

    batch_size: PositiveInt = 1

    @property
    def _grows_together(self) -> bool:
        return False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bench(Component):
    """What to measure: questions, in as many turns; replies in a batch; the longest reply; whether also one at a time."""

    questions: PositiveInt = 64
    turns: PositiveInt = 2
    batch: PositiveInt = 32
    max_new_tokens: PositiveInt = 96
    model: str = "bundled"
    threads: PositiveInt = 2
    alone: bool = True
    out: str | None = None

    def run(self) -> dict[str, object]:
        """Rates, their ratios, and what the replies were like."""
        import torch

        torch.set_num_threads(self.threads)
        benchmark = Encyclopedia(passages=300, questions=self.questions).load()
        with Store.temporary() as store:
            index = BM25().build(benchmark.passages, store)
            ways = {
                "generate": _Way(self._chat(PlainChat, 1), 1, benchmark, index),
                "alone": _Way(self._chat(TransformersChat, 1), 1, benchmark, index),
                "together": _Way(self._chat(TransformersChat, self.batch), self.questions, benchmark, index),
            }
            if not self.alone:
                del ways["alone"]
            for way in ways.values():
                way.work(benchmark.questions[:1])  # loads the model
            size = -(-self.questions // self.turns)
            for first in range(0, self.questions, size):
                for way in ways.values():
                    way.measure(benchmark.questions[first : first + size])
        return self._told(ways)

    def _chat(self, kind: Callable[..., TransformersChat], batch: int) -> TransformersChat:
        return kind(
            model=self.model,
            device="cpu",
            max_new_tokens=self.max_new_tokens,
            repetition_penalty=1.0,
            constrain=True,
            batch_size=batch,
        )

    def _told(self, ways: dict[str, _Way]) -> dict[str, object]:
        plain, alone, together = ways["generate"], ways.get("alone"), ways["together"]
        answers = [trace.answer for trace in together.traces]
        return {
            "settings": self.identity(),
            "load": os.getloadavg()[0],
            "statuses": dict(sorted(Counter(answer.status for answer in answers).items())),
            "calls": sum(len(trace.steps) for trace in together.traces),
            "prompt_tokens_per_question": round(sum(answer.prompt_tokens for answer in answers) / len(answers), 1),
            "reply_tokens_per_question": round(sum(answer.completion_tokens for answer in answers) / len(answers), 1),
            "questions_per_minute": {name: way.rate for name, way in ways.items()},
            "together_to_generate": round(together.rate / plain.rate, 2),
            "together_to_alone": None if alone is None else round(together.rate / alone.rate, 2),
            "turns_together_to_generate": [
                round(b / a, 2) for a, b in zip(together.seconds, plain.seconds, strict=True)
            ],
            "equal_traces_alone": None if alone is None else _equal(alone, together),
            "equal_traces_generate": _equal(plain, together),
        }


@dataclasses.dataclass
class _Way:
    """One way to work, what it made and how long each turn took."""

    llm: TransformersChat
    batch: int
    benchmark: Benchmark
    index: Index
    traces: list[Trace] = dataclasses.field(default_factory=list)
    seconds: list[float] = dataclasses.field(default_factory=list)

    @property
    def rate(self) -> float:
        """Questions a minute."""
        return round(60 * len(self.traces) / sum(self.seconds), 2)

    @cached_property
    def agent(self) -> Agent:
        """The agent with this way's model."""
        return Agent(policy=ChatPolicy(llm=self.llm), batch_size=self.batch)

    def measure(self, questions: Sequence[Question]) -> None:
        """Work on the questions of one turn, in batches."""
        start = time.perf_counter()
        for first in range(0, len(questions), self.batch):
            self.traces += self.work(questions[first : first + self.batch])
        self.seconds.append(time.perf_counter() - start)

    def work(self, questions: Sequence[Question]) -> list[Trace]:
        """The agent's traces of one batch of questions."""
        return self.agent.run(
            questions,
            self.index.search([question.text for question in questions], 10),
            lambda _, queries, k: self.index.search(queries, k),
            self.benchmark.passages,
            k=10,
            context=5,
        )


def _equal(one: _Way, other: _Way) -> int:
    return sum(trace_row(a) == trace_row(b) for a, b in zip(one.traces, other.traces, strict=True))


def main(arguments: Sequence[str]) -> None:
    """Measure and write the result as JSON."""
    given = OmegaConf.to_container(OmegaConf.from_dotlist(list(arguments)))
    assert isinstance(given, dict)
    bench = Bench(**{str(key): value for key, value in given.items()})
    text = json.dumps(bench.run(), indent=1)
    sys.stdout.write(f"{text}\n")
    if bench.out is not None:
        Path(bench.out).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
