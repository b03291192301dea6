"""Limits on what may be asked: hard, shared by processes, and a failure that the next start mends."""

import subprocess
import sys

import pytest

from psi.errors import ModelError, StoreError
from psi.models.budget import Budget
from psi.models.http_chat import HttpChat
from psi.models.protocols import Message, Reply

from .scripted_server import completion, serving

ASKED = [(Message("user", f"question {number}"),) for number in range(10)]


def budget(folder, start="now", **limits):
    return Budget(ledger=str(folder / "spent.sqlite"), start=start, **limits)


def chat(server, folder, limit, concurrency=1):
    return HttpChat(
        base_url=server.url, model="m", cache=str(folder / "calls.sqlite"), budget=limit, concurrency=concurrency
    )


def kinds(replies):
    return [reply.kind if isinstance(reply, ModelError) else "ok" for reply in replies]


def test_calls_over_the_limit_are_not_made(tmp_path):
    with serving(completion("x")) as server:
        replies = chat(server, tmp_path, budget(tmp_path, calls=3), concurrency=4).reply(ASKED)
        assert kinds(replies) == ["ok"] * 3 + ["budget"] * 7
        assert len(server.requests) == 3
        assert kinds(chat(server, tmp_path, budget(tmp_path, calls=0)).reply(ASKED[5:])) == ["budget"] * 5


def test_tokens_over_the_limit_end_with_what_is_under_way(tmp_path):
    with serving(completion("x")) as server:  # a reply counts 10 tokens
        replies = chat(server, tmp_path, budget(tmp_path, tokens=30), concurrency=2).reply(ASKED)
        assert 3 <= kinds(replies).count("ok") <= 6
        assert kinds(chat(server, tmp_path, budget(tmp_path, tokens=30)).reply(ASKED[8:])) == ["budget"] * 2


def test_calls_that_were_not_made_are_given_back(tmp_path):
    with serving(completion("x")) as server:
        chat(server, tmp_path, budget(tmp_path, tokens=30, calls=100)).reply(ASKED)
        calls, tokens = budget(tmp_path, calls=1).spent()
        assert calls <= len(server.requests) and tokens == 10 * calls


def test_the_next_start_goes_on_and_the_cache_costs_nothing(tmp_path):
    with serving(completion("x")) as server:
        chat(server, tmp_path, budget(tmp_path, calls=6)).reply(ASKED)
        spent = budget(tmp_path, calls=6)
        assert kinds(chat(server, tmp_path, spent).reply(ASKED)) == ["ok"] * 6 + ["budget"] * 4
        replies = chat(server, tmp_path, budget(tmp_path, start="later", calls=6)).reply(ASKED)
    assert all(isinstance(reply, Reply) for reply in replies)


def test_processes_share_one_ledger(tmp_path):
    code = (
        "from psi.models.budget import Budget; import sys; "
        "b = Budget(ledger=sys.argv[1], start='now', calls=9); [b.spend(1, 5) for _ in range(50)]"
    )
    ledger = str(tmp_path / "spent.sqlite")
    processes = [subprocess.Popen([sys.executable, "-c", code, ledger]) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert budget(tmp_path, calls=9).spent() == (150, 750)


def test_without_limits_nothing_is_written(tmp_path):
    budget(tmp_path).spend(1, 1)
    assert budget(tmp_path).reserve(7) == 7
    assert not list(tmp_path.iterdir())


def test_a_foreign_ledger_is_refused(tmp_path):
    (tmp_path / "spent.sqlite").write_text("no database at all, but long enough to be looked at" * 10)
    with pytest.raises(StoreError, match=r"budget\.calls=null"):
        budget(tmp_path, calls=1).spent()
