"""The agent as a stage: found again, resumed, scored in place of the first rankings."""

import dataclasses
import json

import pytest

from experiments.cell import run_cell
from experiments.settings import Method, Run
from experiments.stages.agent import agent_stage
from experiments.stages.benchmark import benchmark_stage, read_benchmark
from experiments.stages.rankings import rankings_stage, read_rankings
from psi.agent.chat import ChatPolicy
from psi.agent.loop import Agent
from psi.agent.oracle import OraclePolicy
from psi.corpus.records import Benchmark, Passage, Passages, Question
from psi.errors import ConfigError
from psi.retrieval.sparse import BM25
from psi.store import Store, read_rows
from tests.agent.scripted import ScriptedChat
from tests.toys import ToyLoader, ToyReader


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChainLoader(ToyLoader):
    """A question whose second passage only its second sub-question finds."""

    def load(self):
        passages = Passages(
            [
                Passage("p0", "Lake", "Lake Orrin was surveyed by Marta Holm"),
                Passage("p1", "Holm", "Marta Holm comes from Tarsk"),
                Passage("p2", "Bridge", "The bridge was surveyed by somebody"),
            ]
        )
        steps = ("Lake Orrin surveyed by", "Marta Holm comes from")
        questions = (
            Question("q0", "Whence was the surveyor of Lake Orrin?", ("Tarsk",), ("p0", "p1"), 2, steps=steps),
            Question("q1", "Which bridge?", ("The",), ("p2",), 1, steps=("Which bridge?",)),
        )
        return Benchmark("chain", passages, questions)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScopedLoader(ToyLoader):
    """Two documents with the same words."""

    def load(self):
        passages = [Passage(f"{doc}{i}", "", f"about part {i}", document=doc) for doc in "ab" for i in range(2)]
        questions = [Question(doc, "part 0?", ("x",), (f"{doc}0",), document=doc) for doc in "ab"]
        return Benchmark("scoped", Passages(passages), tuple(questions))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def settings(tmp_path, agent, **others):
    return Run(
        dataset=ChainLoader(),
        method=Method(name="bm25", retriever=BM25()),
        reader=ToyReader(calls=str(tmp_path / "reader")),
        agent=agent,
        metrics=("recall@2", "em"),
        k=2,
        context=1,
        store=str(tmp_path / "store"),
        **others,
    )


def chat(tmp_path, **llm):
    return Agent(policy=ChatPolicy(llm=ScriptedChat(calls=str(tmp_path / "calls"), **llm)), batch_size=1)


def lines(path):
    return path.read_text().splitlines()


def means(cell, tmp_path):
    summary = json.loads((tmp_path / "store" / cell.stages["scores"] / "summary.json").read_text())
    return {name: each["mean"] for name, each in summary.items()}


def test_the_merged_rankings_are_scored_and_read(tmp_path):
    plain = run_cell(settings(tmp_path, None), "chain", "")
    oracle = run_cell(settings(tmp_path, Agent(policy=OraclePolicy(), hop_budget=4, merge="rank")), "chain", "")
    assert (plain.status, oracle.status) == ("ok", "ok"), oracle.error
    assert means(plain, tmp_path)["recall@2"] == 0.75
    assert means(oracle, tmp_path)["recall@2"] == 1.0
    assert plain.stages["rankings"] == oracle.stages["rankings"]
    assert oracle.stages["answers"] != oracle.stages["agent"]  # the reader's, from the agent's rankings
    assert oracle.costs["agent_steps_per_question"] == 2.0


def test_another_hop_budget_makes_nothing_new_but_the_agents_work(tmp_path):
    cells = [
        run_cell(settings(tmp_path, dataclasses.replace(chat(tmp_path), hop_budget=budget)), "chain", "")
        for budget in (1, 0, 1)
    ]
    assert [cell.status for cell in cells] == ["ok"] * 3
    assert cells[0] == cells[2] != cells[1]
    folders = {path.parent.name: len(list(path.parent.iterdir())) for path in (tmp_path / "store/stages").glob("*/*")}
    assert (folders["bm25"], folders["rankings"], folders["agent"]) == (1, 1, 2)
    assert len(lines(tmp_path / "calls")) == 2 * 2 + 2 * 1


def test_an_agent_answers_itself_and_only_asked_answers_are_scored(tmp_path):
    cell = run_cell(settings(tmp_path, chat(tmp_path), answers=1), "chain", "")
    assert cell.stages["answers"] == cell.stages["agent"]
    assert not (tmp_path / "reader").exists()
    summary = json.loads((tmp_path / "store" / cell.stages["scores"] / "summary.json").read_text())
    assert (summary["recall@2"]["n"], summary["em"]["n"]) == (2, 1)
    assert cell.costs["prompt_tokens"] > 0


def test_failed_questions_are_counted_and_worked_on_again(tmp_path):
    agent = chat(tmp_path, broken=str(tmp_path / "broken"), failing="bridge")
    (tmp_path / "broken").touch()
    cell = run_cell(settings(tmp_path, agent), "chain", "")
    assert cell.status == "failed" and "1 of 2 answers failed (http_500)" in cell.error
    summary = json.loads((tmp_path / "store" / cell.stages["scores"] / "summary.json").read_text())
    assert {name: (each["n"], each["n_failed"]) for name, each in summary.items()} == {
        "recall@2": (1, 1), "em": (1, 1),
    }  # fmt: skip
    (tmp_path / "broken").unlink()
    before = len(lines(tmp_path / "calls"))
    cell = run_cell(settings(tmp_path, agent), "chain", "")
    assert cell.status == "ok", cell.error
    assert set(lines(tmp_path / "calls")[before:]) == {"Which bridge?"}
    whole = run_cell(settings(tmp_path / "whole", agent), "chain", "")
    for name in ("answers", "rankings", "traces"):
        places = [
            root / "store" / each.stages["agent"] for root, each in ((tmp_path, cell), (tmp_path / "whole", whole))
        ]
        assert (places[0] / f"{name}.jsonl").read_bytes() == (places[1] / f"{name}.jsonl").read_bytes()


def test_queries_about_one_document_find_nothing_of_another(store, tmp_path):
    benchmark = read_benchmark(benchmark_stage(ScopedLoader(), store, limit=None, corpus_limit=None, seed=0))
    rankings = rankings_stage(benchmark, BM25(), store, k=5)
    found = agent_stage(
        benchmark, rankings, BM25(), Agent(policy=ChatPolicy(llm=ScriptedChat())), store, k=5, context=2
    )
    assert {id_: {each[0] for each in ranking.ids} for id_, ranking in found.rankings.items()} == {
        "a": {"a"},
        "b": {"b"},
    }
    assert read_rankings(found.finished().path) == found.rankings
    assert [row["question"] for row in read_rows(found.finished().path / "traces.jsonl")] == ["a", "b"]


def test_a_method_without_an_index_is_refused(store):
    from baselines.bounds import Gold

    benchmark = read_benchmark(benchmark_stage(ToyLoader(), store, limit=None, corpus_limit=None, seed=0))
    rankings = rankings_stage(benchmark, Gold(), store, k=5)
    with pytest.raises(ConfigError, match=r"Gold ranks from the benchmark's gold.*agent=none"):
        agent_stage(benchmark, rankings, Gold(), Agent(policy=OraclePolicy()), store, k=5, context=2)


def test_a_stopped_agent_goes_on_and_ends_with_the_same_bytes(tmp_path):
    stops = ScriptedChat(calls=str(tmp_path / "calls"), stop_after=14)
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path / "stopped", stops)
    (log,) = (tmp_path / "stopped").rglob("agent.log")
    assert len(log.read_bytes().splitlines()) == 4  # one whole batch of four questions with two calls each
    log.write_bytes(log.read_bytes()[:-7])  # as if stopped while writing
    stopped = work(tmp_path / "stopped", ScriptedChat(calls=str(tmp_path / "calls")))
    whole = work(tmp_path / "whole", ScriptedChat(calls=str(tmp_path / "calls-whole")))
    for name in ("answers.jsonl", "rankings.jsonl", "traces.jsonl"):
        assert (stopped.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert len(lines(tmp_path / "calls-whole")) == 24
    assert len(lines(tmp_path / "calls")) == 14 + 24


def work(folder, llm):
    """The agent's work on twelve questions, in batches of four."""
    store = Store(folder)
    passages = Passages([Passage(f"p{number:02}", "", f"word{number} is here") for number in range(12)])
    questions = tuple(Question(f"q{number:02}", f"Where is word{number}?", ("x",)) for number in range(12))
    benchmark = Benchmark("twelve", passages, questions)
    agent = Agent(policy=ChatPolicy(llm=llm), batch_size=4)
    rankings = rankings_stage(benchmark, BM25(), store, k=3)
    return agent_stage(benchmark, rankings, BM25(), agent, store, k=3, context=2).finished()
