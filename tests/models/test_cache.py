"""The cache of replies: what hits, what misses, and what survives kills, rivals and damage."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from psi.errors import ModelError, StoreError
from psi.models.cache import call_cache
from psi.models.http_chat import HttpChat
from psi.models.protocols import Form, Message, Reply
from psi.models.transformers_chat import TransformersChat

from .scripted_server import Scripted, Step, completion, serving

HELLO = (Message("user", "hello"),)
OTHERS = [
    (Message("user", "hello "),),
    (Message("assistant", "hello"),),
    (Message("system", "be brief"), Message("user", "hello")),
    (Message("user", "hel\ud800lo"),),
]


@pytest.fixture
def server() -> Any:
    with serving(completion("x")) as running:
        yield running


def chat(server: Scripted, folder: Path, **settings: Any) -> HttpChat:
    fast = {"timeout": 1.0, "longest_wait": 0.01, "cache": str(folder / "calls.sqlite")}
    return HttpChat(base_url=server.url, model="m", **{**fast, **settings})


def test_a_reply_is_asked_for_once_and_keeps_its_tokens(server: Scripted, tmp_path: Path) -> None:
    assert chat(server, tmp_path).reply([HELLO]) == [Reply("x", 7, 3, attempts=1)]
    assert chat(server, tmp_path).reply([HELLO]) == [Reply("x", 7, 3, attempts=0)]
    assert len(server.requests) == 1


CHANGES = {
    "model": "n", "max_tokens": 9, "temperature": 0.5, "top_p": 0.5, "seed": 1, "stop": ("END",),
    "extra_body": {"num_ctx": 8192}, "constrain": "regex", "repeat": 1,
}  # fmt: skip


@pytest.mark.parametrize("setting", CHANGES)
def test_what_changes_a_reply_misses(setting: str, server: Scripted, tmp_path: Path) -> None:
    model = chat(server, tmp_path)
    model.reply([HELLO])
    dataclasses.replace(model, **{setting: CHANGES[setting]}).reply([HELLO])
    assert len(server.requests) == 2


def test_another_server_other_messages_and_another_form_miss(server: Scripted, tmp_path: Path) -> None:
    model = chat(server, tmp_path)
    model.reply([HELLO])
    with serving(completion("y")) as other:
        assert chat(other, tmp_path).reply([HELLO]) == [Reply("y", 7, 3)]
    assert [reply.attempts for reply in model.reply(OTHERS[:3]) if isinstance(reply, Reply)] == [1, 1, 1]
    model.reply([HELLO], [Form(("Answer",))])
    assert len(server.requests) == 5


@pytest.mark.parametrize("setting", ["timeout", "retries", "concurrency", "longest_wait"])
def test_what_changes_speed_alone_hits(setting: str, server: Scripted, tmp_path: Path) -> None:
    model = chat(server, tmp_path)
    model.reply([HELLO])
    dataclasses.replace(model, **{setting: 7}).reply([HELLO])
    assert len(server.requests) == 1


def test_a_repetition_draws_with_its_own_seed(server: Scripted, tmp_path: Path) -> None:
    for repeat in (0, 1, 0, 1):
        chat(server, tmp_path, temperature=0.8, seed=5, repeat=repeat).reply([HELLO])
    assert [request["seed"] for request in server.requests] == [5, 6]


def test_a_hit_needs_no_key(server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    chat(server, tmp_path, api_key_env="MY_KEY").reply([HELLO])
    monkeypatch.delenv("MY_KEY")
    assert chat(server, tmp_path, api_key_env="MY_KEY").reply([HELLO]) == [Reply("x", 7, 3, attempts=0)]
    assert b"sk-secret" not in (tmp_path / "calls.sqlite").read_bytes()


def test_equal_conversations_of_a_batch_are_one_call(server: Scripted, tmp_path: Path) -> None:
    replies = chat(server, tmp_path).reply([HELLO, OTHERS[0], HELLO])
    assert [reply.attempts for reply in replies if isinstance(reply, Reply)] == [1, 1, 0]
    assert len(server.requests) == 2


def test_hits_and_calls_keep_the_order(tmp_path: Path) -> None:
    with serving(*(completion(text) for text in "bacd")) as server:
        model = chat(server, tmp_path, concurrency=1)
        second = model.reply([OTHERS[0]])
        replies = model.reply([HELLO, OTHERS[0], OTHERS[1]])
    assert isinstance(second[0], Reply) and second[0].text == "b"
    assert [(r.text, r.attempts) for r in replies if isinstance(r, Reply)] == [("a", 1), ("b", 0), ("c", 1)]


def test_failed_and_empty_replies_are_asked_for_again(tmp_path: Path) -> None:
    with serving(Step(404, {}), completion(""), completion("x")) as server:
        first, second, third = (chat(server, tmp_path).reply([HELLO])[0] for _ in range(3))
    assert isinstance(first, ModelError)
    assert (second, third) == (Reply("", 7, 3), Reply("x", 7, 3))


def test_a_cut_reply_serves_its_own_limit_alone(tmp_path: Path) -> None:
    with serving(completion("Answ", finish="length"), completion("Answer: x")) as server:
        for _ in range(2):
            (cut,) = chat(server, tmp_path, max_tokens=1).reply([HELLO])
            assert isinstance(cut, Reply) and cut.truncated
        assert chat(server, tmp_path, max_tokens=100).reply([HELLO]) == [Reply("Answer: x", 7, 3)]
        assert len(server.requests) == 2


def test_replies_are_kept_as_they_come(tmp_path: Path) -> None:
    with serving(completion("a"), completion("b"), Step(trouble="hang")) as server:
        model = chat(server, tmp_path, concurrency=1, retries=0, timeout=0.3)
        assert isinstance(model.reply([HELLO, *OTHERS[:2]])[2], ModelError)
        again = model.reply([HELLO, *OTHERS[:2]])
    assert [reply.attempts for reply in again if isinstance(reply, Reply)] == [0, 0]


def test_a_model_in_this_process_is_not_even_loaded_again(tiny: str, tmp_path: Path) -> None:
    settings = {"model": tiny, "dtype": "float32", "device": "cpu", "max_new_tokens": 4}
    model = TransformersChat(**settings, cache=str(tmp_path / "calls.sqlite"))
    (first,) = model.reply([HELLO])
    again = dataclasses.replace(model, batch_size=3)
    assert isinstance(first, Reply)
    assert again.reply([HELLO]) == [first._replace(attempts=0)]
    assert again.prompt_limit() > 0
    assert "_network" not in vars(again)


WRITER = """
import sys
from psi.models.cache import call_cache
from psi.models.protocols import Reply
path, name, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
number = 0
while number < many:
    with call_cache(path) as cache:
        for number in range(number, number + 10):
            cache.keep(f"{name}-{number}", Reply("text " * 200, number, 1))
            cache.keep("shared", Reply("shared", 1, 1))
        number += 1
        print(number, flush=True)
"""


def writer(path: Path, name: str, many: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(many)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_processes_that_open_and_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    writers = [writer(path, name, 100) for name in "abcd"]
    for process in writers:
        go(process)
    for process in writers:
        _, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints
    with call_cache(str(path)) as cache:
        kept = cache.find([*(f"{name}-{number}" for name in "abcd" for number in range(100)), "shared"])
    assert len(kept) == 401
    assert kept["c-42"] == Reply("text " * 200, 42, 1, attempts=0)


def test_a_kill_in_the_middle_of_writing_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    process = writer(path, "a", 1_000_000)
    go(process)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    said, _ = process.communicate()
    done = int(said.split()[-1])
    with call_cache(str(path)) as cache:
        assert len(cache.find([f"a-{number}" for number in range(done)])) == done
        cache.keep("after", Reply("fine", 1, 1))
        assert cache._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be taken for one " * 40, b"SQLite format 3\0"]
)
def test_a_damaged_file_is_named_with_the_remedy(content: bytes, server: Scripted, tmp_path: Path) -> None:
    (tmp_path / "calls.sqlite").write_bytes(content)
    with pytest.raises(StoreError, match=r"calls\.sqlite.*[Dd]elete"):
        chat(server, tmp_path).reply([HELLO])
    assert not server.requests


def test_an_unreadable_row_is_damage_too(server: Scripted, tmp_path: Path) -> None:
    model = chat(server, tmp_path)
    model.reply([HELLO])
    with call_cache(str(tmp_path / "calls.sqlite")) as cache:
        cache._connection.execute("UPDATE replies SET reply = '{'")
    with pytest.raises(StoreError, match="Delete"):
        model.reply([HELLO])


def test_a_place_that_cannot_be_written_is_refused_before_any_call(server: Scripted, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for cache in (tmp_path / "file" / "calls.sqlite", tmp_path):
        with pytest.raises(StoreError, match=r"llm\.cache=PATH"):
            chat(server, tmp_path, cache=str(cache)).reply([HELLO])
    assert not server.requests


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_file_is_refused_before_any_call(server: Scripted, tmp_path: Path) -> None:
    model = chat(server, tmp_path)
    model.reply([HELLO])
    (tmp_path / "calls.sqlite").chmod(0o444)
    with pytest.raises(StoreError, match=r"llm\.cache=PATH"):
        model.reply([OTHERS[0]])
    assert len(server.requests) == 1
