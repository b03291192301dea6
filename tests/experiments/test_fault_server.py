"""A whole run against a model server that fails in every way: nothing is lost, and no failure is scored."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from experiments.cell import Cell, run_cell
from experiments.compose import run_from
from experiments.configuration import composed
from psi.store import read_rows
from tests.models.scripted_server import Scripted, Step, completion, serving

FINE = completion("Thought: it is there.\nAnswer: fine")
pytestmark = pytest.mark.xdist_group("fault_server")
TROUBLE = {
    "busy": Step(429, {"error": "busy"}, {"Retry-After": "0"}),
    "broken": Step(500, {"error": "broken"}),
    "reset": Step(trouble="reset"),
    "slow": Step(trouble="hang"),
    "garbage": Step(body="<html>Bad gateway</html>"),
    "nothing": Step(body=""),
    "half": Step(body=json.dumps(FINE.body)[:60]),
}
LASTING = {"broken": "http_500", "slow": "timeout", "half": "bad_response", "reset": "connection"}
SAID = {
    "empty": completion(""),
    "parse_failed": completion("I would rather talk about something else."),
    "truncated": completion("Thought: it is a long", finish="length"),
}


class Server:
    """What each question meets, by the order in which questions are first seen; `healed` ends all trouble."""

    def __init__(self) -> None:
        self.plan = iter(
            [
                *((name, FINE, 1) for name in TROUBLE),
                *((name, FINE, 1000) for name in LASTING),
                *((None, step, 0) for step in SAID.values()),
            ]
        )
        self.met: dict[str, tuple[str | None, Step, int]] = {}
        self.times: defaultdict[str, int] = defaultdict(int)
        self.healed = False

    def __call__(self, request: dict[str, Any]) -> Step:
        question = request["messages"][-1]["content"].rpartition("Question: ")[2].split("\n")[0]
        if question not in self.met:
            self.met[question] = next(self.plan, (None, FINE, 0))
        trouble, reply, times = self.met[question]
        self.times[question] += 1
        if trouble is not None and self.times[question] <= times and not self.healed:
            return TROUBLE[trouble]
        return reply


def run(store: Path, server: Scripted, *overrides: str) -> Cell:
    config = composed(
        [
            "dataset=encyclopedia", "dataset.passages=100", "dataset.questions=20", "method=bm25", "reader=generate",
            "llm=openai_compatible", "llm.model=m", f"llm.base_url={server.url}", "llm.api_key_env=null",
            "llm.timeout=1.5", "llm.retries=1", "llm.longest_wait=0.01", "llm.concurrency=8", "metrics=[recall@5,em,f1]",
            f"store={store}", *overrides,
        ]
    )  # fmt: skip
    return run_cell(run_from(config), "encyclopedia", "")


def rows(store: Path) -> dict[str, dict[str, Any]]:
    (path,) = store.rglob("answers.*")
    return {row["question"]: row for row in read_rows(path)}


class Broken(NamedTuple):
    """What a run left in the middle of which everything went wrong, and its server."""

    cell: Cell
    rows: dict[str, dict[str, Any]]
    summary: dict[str, Any]
    store: Path
    script: Server
    server: Scripted


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broken]:
    store, script = tmp_path_factory.mktemp("broken"), Server()
    with serving(by=script) as server:
        cell = run(store, server)
        summary = json.loads((store / cell.stages["scores"] / "summary.json").read_text())
        yield Broken(cell, rows(store), summary, store, script, server)


def test_nothing_is_lost_and_every_failure_is_named(broken: Broken) -> None:
    assert len(broken.rows) == 20
    statuses = Counter(row["status"] for row in broken.rows.values())
    assert statuses == {"ok": 13, "failed": 4, "empty": 1, "parse_failed": 1, "truncated": 1}
    failed = [row for row in broken.rows.values() if row["status"] == "failed"]
    assert sorted(row["error_type"] for row in failed) == sorted(LASTING.values())
    assert {row["attempts"] for row in failed} == {2}
    assert broken.cell.status == "failed"
    assert broken.cell.error is not None
    assert "4 of 20 answers failed" in broken.cell.error and "max_fail_rate" in broken.cell.error


def test_what_failed_is_not_scored_and_the_counts_say_so(broken: Broken) -> None:
    assert all(row["text"] is None for row in broken.rows.values() if row["status"] not in ("ok", "empty"))
    for name in ("em", "f1"):
        counts = broken.summary[name]
        assert counts["n_failed"] == 4
        assert counts["n"] + counts["n_failed"] + counts["n_excluded"] == 20
    assert broken.summary["recall@5"]["n"] + broken.summary["recall@5"]["n_excluded"] == 20


def test_a_second_start_asks_for_the_failed_alone_and_ends_like_an_unbroken_run(broken: Broken, tmp_path: Path) -> None:
    store, server = broken.store, broken.server
    before, broken.script.healed = len(server.requests), True
    assert run(store, server).status == "ok"
    assert len(server.requests) - before == 4

    ended = {question: (row["status"], row["text"]) for question, row in rows(store).items()}
    assert run(tmp_path, server).status == "ok"
    assert {question: (row["status"], row["text"]) for question, row in rows(tmp_path).items()} == ended


def test_a_repeated_run_in_another_store_makes_no_call(broken: Broken, tmp_path: Path) -> None:
    server, broken.script.healed = broken.server, True
    cache = f"llm.cache={tmp_path}/calls.sqlite"
    run(tmp_path / "first", server, cache)
    before = len(server.requests)
    run(tmp_path / "second", server, cache)
    empty = 1  # a reply without text is not kept
    assert len(server.requests) - before == empty
    (timings,) = (tmp_path / "second").rglob("answers/*/timings.jsonl")
    assert sum(row["calls"] for row in read_rows(timings)) == empty
