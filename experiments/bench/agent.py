"""Questions a minute of the agent, one at a time and in batches, with one model in one run.

    python -m experiments.bench.agent questions=32 batch=16

Both ways get the same questions, first rankings and model; whether their traces are equal is told.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence

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
class Bench(Component):
    """What to measure: so many questions, so many in a batch, replies of at most so many tokens."""

    questions: PositiveInt = 32
    batch: PositiveInt = 16
    max_new_tokens: PositiveInt = 64
    model: str = "bundled"

    def run(self) -> dict[str, object]:
        """Rates, their ratio, and how the questions ended."""
        benchmark = Encyclopedia(passages=300, questions=self.questions).load()
        with Store.temporary() as store:
            index = BM25().build(benchmark.passages, store)
            llm = TransformersChat(model=self.model, max_new_tokens=self.max_new_tokens, batch_size=self.batch)
            agent = Agent(policy=ChatPolicy(llm=llm), batch_size=self.batch)
            work(agent, benchmark, index, benchmark.questions[:1])  # loads the model
            alone, seconds_alone = _timed(agent, benchmark, index, 1)
            together, seconds = _timed(agent, benchmark, index, self.batch)
        return {
            "questions": len(together),
            "calls": sum(len(trace.steps) for trace in together),
            "statuses": dict(sorted(Counter(trace.answer.status for trace in together).items())),
            "one_at_a_time_per_minute": round(60 * len(alone) / seconds_alone, 2),
            f"batches_of_{self.batch}_per_minute": round(60 * len(together) / seconds, 2),
            "ratio": round(seconds_alone / seconds, 2),
            "equal_traces": sum(trace_row(a) == trace_row(b) for a, b in zip(alone, together, strict=True)),
        }


def work(agent: Agent, benchmark: Benchmark, index: Index, questions: Sequence[Question]) -> list[Trace]:
    """The agent's traces of one batch of questions."""
    return agent.run(
        questions,
        index.search([question.text for question in questions], 10),
        lambda _, queries, k: index.search(queries, k),
        benchmark.passages,
        k=10,
        context=5,
    )


def _timed(agent: Agent, benchmark: Benchmark, index: Index, size: int) -> tuple[list[Trace], float]:
    start, traces = time.perf_counter(), []
    for first in range(0, len(benchmark.questions), size):
        traces += work(agent, benchmark, index, benchmark.questions[first : first + size])
    return traces, time.perf_counter() - start


def main(arguments: Sequence[str]) -> None:
    """Measure and write the result as JSON."""
    given = OmegaConf.to_container(OmegaConf.from_dotlist(list(arguments)))
    assert isinstance(given, dict)
    bench = Bench(**{str(key): value for key, value in given.items()})
    sys.stdout.write(f"{json.dumps(bench.run(), indent=1)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
