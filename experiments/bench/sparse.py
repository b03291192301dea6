"""The two BM25 side by side, in one run: recall, agreement, seconds to index, questions a second.

    PSI_DATA=../shared/data python -m experiments.bench.sparse dataset=twowiki

`bm25` is bm25s, `lucene` is Lucene with the same k1 and b, `lucene_own` is Lucene with the defaults of Anserini. Questions
are searched in one batch, and the second time counts. The first index of each kind includes loading what it needs.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import PositiveInt
from tqdm import tqdm

from experiments.complaints import CONF
from experiments.compose import run_from
from psi.component import Component
from psi.corpus.records import Benchmark
from psi.metrics import metric, score_questions
from psi.retrieval.lucene import LuceneBM25
from psi.retrieval.ranking import Ranking, Retriever
from psi.retrieval.sparse import BM25
from psi.store import Store

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bench(Component):
    """What to measure: a dataset, the k best passages of each question, Lucene on so many threads."""

    dataset: str = "twowiki"
    k: PositiveInt = 10
    threads: PositiveInt = 1

    def run(self) -> dict[str, object]:
        """A row for each kind, and how alike their first five passages are."""
        benchmark = self._benchmark()
        plain, own = BM25(), LuceneBM25(threads=self.threads)
        same = dataclasses.replace(own, k1=plain.k1, b=plain.b)
        kinds: dict[str, Retriever] = {"bm25": plain, "lucene": same, "lucene_own": own}
        rows, found = {}, {}
        for name in tqdm(kinds, desc="sparse", leave=False, disable=None):
            rows[name], found[name] = self._measured(kinds[name], benchmark)
        return {
            "dataset": benchmark.name,
            "passages": len(benchmark.passages),
            "questions": len(benchmark.questions),
            "rows": rows,
            "shared_of_first_5": round(_shared(found["bm25"], found["lucene"], 5), 3),
        }

    def _benchmark(self) -> Benchmark:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return run_from(compose("config", overrides=[f"dataset={self.dataset}", "method=bm25"])).dataset.load()

    def _measured(self, retriever: Retriever, benchmark: Benchmark) -> tuple[dict[str, float], list[Ranking]]:
        questions = [question.text for question in benchmark.questions]
        with Store.temporary() as store:  # its own: what the other kinds have made does not help
            seconds, index = _timed(lambda: retriever.build(benchmark.passages, store))
            index.search(questions, self.k)  # Java compiles what it runs often: the first pass is not its speed
            searching, rankings = _timed(lambda: index.search(questions, self.k))
        ids = {question.id: ranking.ids for question, ranking in zip(benchmark.questions, rankings, strict=True)}
        scores = score_questions(benchmark.questions, [metric("recall@2"), metric("recall@5")], rankings=ids)
        recall = {name: round(100 * float(each.summary().mean or 0), 2) for name, each in scores.items()}
        speed = {"index_seconds": round(seconds, 2), "questions_per_second": round(len(questions) / searching, 1)}
        return {**recall, **speed}, rankings


def _shared(one: Sequence[Ranking], other: Sequence[Ranking], k: int) -> float:
    """Mean share of the first k passages of one that the other has among its own."""
    return sum(len(set(a.ids[:k]) & set(b.ids[:k])) / k for a, b in zip(one, other, strict=True)) / len(one)


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main() -> None:
    """Measure and write the result as JSON."""
    given = OmegaConf.to_container(OmegaConf.from_cli())
    assert isinstance(given, dict)
    bench = Bench(**{str(key): value for key, value in given.items()})
    sys.stdout.write(f"{json.dumps(bench.run(), indent=1)}\n")


if __name__ == "__main__":
    main()
