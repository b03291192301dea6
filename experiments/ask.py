"""Ask a question of a corpus, or many in a row.

    python -m experiments.ask "Who built the bridge?"
    python -m experiments.ask dataset=files dataset.corpus=FOLDER "Who built the bridge?"
    python -m experiments.ask dataset=files dataset.corpus=FOLDER method=psi_tree abstracts=extractive

Without a question it asks for one after the other, until Ctrl-D. Settings are those of `python -m experiments.run`; the
index is built on the first use and found in the store from then on.

Exit codes: 0 asked and answered (also: nothing found), 1 a model call failed, 2 the configuration was refused.
"""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from experiments.complaints import explained
from experiments.compose import run_from
from experiments.configuration import composed
from experiments.console import BarHandler
from experiments.settings import Run
from experiments.sources import TreePaths, answer_lines, source_lines
from experiments.stages.benchmark import benchmark_stage, read_benchmark
from psi.agent.answer import Answer
from psi.agent.trace import Trace, as_text, times_row, trace_row
from psi.corpus.records import Benchmark, Question
from psi.errors import ConfigError, PsiError
from psi.retrieval.ranking import Index, QuestionRanker, Ranking
from psi.store import Store

log = logging.getLogger(__name__)
WIDTH = 100  # where the output is no terminal
_OVERRIDE = re.compile(r"(?:\+{0,2}[\w./@-]+=|~[\w./@-]+(?:=|$))")


@dataclass(frozen=True)
class Found:
    """What came of a question: the answer, the passages it was read from, and the agent's trace where there is one."""

    answer: Answer
    sources: Ranking
    trace: Trace | None


class Desk:
    """A corpus with its index and reader, opened once, asked often."""

    def __init__(self, run: Run):
        if isinstance(run.method.retriever, QuestionRanker):
            raise ConfigError(
                f"method={run.method.name}: it ranks by what is known about a benchmark's questions, and nothing is "
                "known about yours. Take a method that searches, such as psi, rrf or bm25."
            )
        store = Store(run.store)
        self._run = run
        self._benchmark = _benchmark(run, store)
        self._index: Index = run.method.retriever.build(self._benchmark.passages, store)
        self._paths = TreePaths.of(run.method.retriever, self._benchmark.passages, store)

    def ask(self, text: str) -> Found:
        """Retrieve and answer.

        Raises:
            PsiError: the question is blank, or a part of the system refused it.
        """
        question = Question("asked", text)
        ranking = self._index.search([text], self._run.k)[0]
        trace = self._worked(question, ranking)
        if trace is None:
            return Found(self._read(question, ranking), self._shown(ranking), None)
        agent = self._run.agent
        answers = agent is not None and agent.policy.self_answering
        answer = trace.answer if answers else self._read(question, trace.ranking)
        return Found(answer, self._shown(trace.ranking), trace)

    def told(self, found: Found, width: int) -> Iterator[str]:
        """The lines to print."""
        passages = self._benchmark.passages
        if found.trace is not None:
            yield as_text(trace_row(found.trace), passages, times_row(found.trace))
            yield ""
        yield from answer_lines(found.answer, width)
        yield from source_lines(found.sources, passages, self._paths, width)

    def _worked(self, question: Question, ranking: Ranking) -> Trace | None:
        run = self._run
        if run.agent is None:
            return None
        (trace,) = run.agent.run(
            [question], [ranking], lambda _, queries, k: self._index.search(queries, k), self._benchmark.passages,
            k=run.k, context=run.context,
        )  # fmt: skip
        return trace

    def _read(self, question: Question, ranking: Ranking) -> Answer:
        context = [self._benchmark.passages.by_id(id_) for id_ in self._shown(ranking).ids]
        (answer,) = self._run.reader.answer([question], [context])
        return answer

    def _shown(self, ranking: Ranking) -> Ranking:
        return Ranking(ranking.ids[: self._run.context], ranking.scores[: self._run.context])


def main(arguments: Sequence[str]) -> int:
    """Answer the question among the arguments, or those that are typed; returns the exit code."""
    _log_to_terminal()
    question, overrides = split_arguments(arguments)
    try:
        desk = Desk(run_from(composed(overrides)))
        return _once(desk, question) if question else _chat(desk)
    except (HydraException, OmegaConfBaseException, PsiError) as error:
        sys.stderr.write(f"{explained(error, overrides)}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130


def split_arguments(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The question, and the settings: arguments that begin like `key=` (or `~key`)."""
    overrides = [argument for argument in arguments if _OVERRIDE.match(argument)]
    return " ".join(argument for argument in arguments if argument not in overrides).strip(), overrides


def _once(desk: Desk, question: str) -> int:
    found = desk.ask(question)
    _print(desk, found)
    return 1 if found.answer.status == "failed" else 0


def _chat(desk: Desk) -> int:
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  arrow keys and history at the prompt
    typed = sys.stdin.isatty()
    if typed:
        sys.stderr.write("Ask; Ctrl-D ends.\n")
    failed = False
    while True:
        try:
            question = input("> " if typed else "").strip()
        except EOFError:
            sys.stderr.write("\n" if typed else "")
            return 1 if failed else 0
        if question:
            failed |= not _answered(desk, question)


def _answered(desk: Desk, question: str) -> bool:
    try:
        found = desk.ask(question)
    except PsiError as error:  # of this question alone: the next may do better
        sys.stderr.write(f"{error}\n")
        return False
    _print(desk, found)
    return found.answer.status != "failed"


def _print(desk: Desk, found: Found) -> None:
    width = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    sys.stdout.write("\n".join([*desk.told(found, width), "", ""]))
    sys.stdout.flush()


def _benchmark(run: Run, store: Store) -> Benchmark:
    loaded = benchmark_stage(run.dataset, store, limit=None, corpus_limit=run.corpus_limit, seed=run.seed)
    benchmark = read_benchmark(loaded)
    log.info("%s: %d passages, searched by %s", benchmark.name, len(benchmark.passages), run.method.name)
    for note in benchmark.report.notes:
        log.info("%s: %s", benchmark.name, note)
    return benchmark


def _log_to_terminal() -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[BarHandler()])
    for library in ("httpx", "faiss", "sentence_transformers"):
        logging.getLogger(library).setLevel(logging.WARNING)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
