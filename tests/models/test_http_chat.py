"""Chat over HTTP against a real server that misbehaves in every way users reported."""

import dataclasses
import logging

import pytest

from psi.errors import ConfigError, ModelError
from psi.models.http import _retry_after
from psi.models.http_chat import HttpChat
from psi.models.protocols import ChatModel, Message, Reply

from .scripted_server import Step, completion, serving

HELLO = (Message("user", "hello"),)
BUSY = Step(429, {"error": "busy"}, {"Retry-After": "0"})
BROKEN = Step(500, {"error": "broken"})
HANG = Step(trouble="hang")
RESET = Step(trouble="reset")


def chat(url: str, **settings: object) -> HttpChat:
    fast = {"timeout": 0.4, "longest_wait": 0.01}
    return HttpChat(base_url=url, model="m", **{**fast, **settings})  # type: ignore[arg-type]


def test_all_kinds_of_trouble_are_overcome() -> None:
    with serving(BUSY, BROKEN, HANG, RESET, completion("fine")) as server:
        replies = chat(server.url, retries=4).reply([HELLO])
    assert replies == [Reply("fine", 7, 3, truncated=False, attempts=5)]


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([BUSY, BROKEN, HANG], "timeout"),
        ([HANG, HANG, RESET], "connection"),
        ([HANG, RESET, BROKEN], "http_500"),
        ([Step(body="<html>no JSON"), BUSY, Step(body='{"choices": [')], "bad_response"),
        ([Step(body={"choices": []})], "bad_response"),
        ([Step(body=[1, 2])], "bad_response"),
        ([Step(body={"choices": [{"index": 0}]})], "bad_response"),
    ],
)
def test_a_call_that_fails_for_good_is_a_value(steps: list[Step], kind: str) -> None:
    with serving(*steps) as server:
        (error,) = chat(server.url, retries=2).reply([HELLO])
        assert len(server.requests) == 3
    assert isinstance(error, ModelError)
    assert (error.kind, error.attempts) == (kind, 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_hopeless_calls_are_not_repeated(status: int) -> None:
    with serving(Step(status, {"error": {"message": "no"}})) as server:
        (error,) = chat(server.url).reply([HELLO])
        assert len(server.requests) == 1
    assert isinstance(error, ModelError)
    assert error.kind == f"http_{status}"
    assert not error.retryable


def test_one_failure_spares_the_batch_and_keeps_the_order() -> None:
    steps = [Step(404, {}), *(completion(text) for text in "abcd")]
    with serving(*steps) as server:
        replies = chat(server.url, concurrency=1).reply([HELLO] * 5)
    assert isinstance(replies[0], ModelError)
    assert [reply.text for reply in replies[1:] if isinstance(reply, Reply)] == ["a", "b", "c", "d"]


def test_concurrent_replies_belong_to_their_conversations() -> None:
    with serving(completion("x")) as server:
        conversations = [(Message("user", str(number)),) for number in range(12)]
        assert len(chat(server.url, concurrency=6).reply(conversations)) == 12
        asked = {request["messages"][0]["content"] for request in server.requests}
    assert asked == {str(number) for number in range(12)}


def test_thinking_is_removed_and_a_cut_reply_is_marked() -> None:
    steps = [
        completion("<think>Answer: Rome</think>Answer: Paris"),
        completion("Answ", finish="length"),
        completion(None),
    ]
    with serving(*steps) as server:
        model = chat(server.url, concurrency=1)
        whole, cut, nothing = model.reply([HELLO] * 3)
    assert isinstance(whole, Reply) and isinstance(cut, Reply) and isinstance(nothing, Reply)
    assert (whole.text, whole.truncated) == ("Answer: Paris", False)
    assert (cut.text, cut.truncated) == ("Answ", True)
    assert nothing.text == ""


def test_settings_reach_the_server() -> None:
    with serving(completion("x")) as server:
        chat(server.url, max_tokens=9, seed=3, stop=("END",), extra_body={"repetition_penalty": 1.3}).reply([HELLO])
        (request,) = server.requests
    assert (request["max_tokens"], request["seed"], request["stop"], request["temperature"]) == (9, 3, ["END"], 0.0)
    assert request["repetition_penalty"] == 1.3


def test_the_key_goes_to_its_server_only(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="psi")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    refusal = Step(401, {"error": {"message": "Incorrect API key provided: sk-very-secret"}})
    with serving(completion("x"), completion("x"), BROKEN, refusal) as server:
        chat(server.url).reply([HELLO])
        model = chat(server.url, api_key_env="MY_KEY")
        model.reply([HELLO])
        (error,) = model.reply([HELLO])
        assert server.authorization == ["Bearer none", *["Bearer sk-very-secret"] * 3]
    shown = f"{error} {error!r} {caplog.text} {model.identity()} {model}"
    assert "sk-" not in shown


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ConfigError, match="MY_KEY"):
        chat("http://127.0.0.1:9/v1", api_key_env="MY_KEY").reply([HELLO])


@pytest.mark.parametrize("url", ["http://me:hunter2@host/v1", "http://host/v1?key=hunter2", "host/v1", "ftp://host/v1"])
def test_addresses_with_secrets_or_without_a_scheme_are_refused(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        chat(url)
    assert "hunter2" not in str(caught.value)


CHANGES = {
    "base_url": "http://other/v1", "model": "n", "max_tokens": 9, "temperature": 0.5, "top_p": 0.5, "seed": 1,
    "stop": ("x",), "extra_body": {"a": 1},
}  # fmt: skip


@pytest.mark.parametrize("setting", CHANGES)
def test_what_changes_replies_changes_the_identity(setting: str) -> None:
    model = chat("http://host/v1")
    assert dataclasses.replace(model, **{setting: CHANGES[setting]}).identity() != model.identity()


@pytest.mark.parametrize("setting", ["timeout", "retries", "concurrency", "longest_wait"])
def test_what_changes_speed_alone_does_not(setting: str) -> None:
    model = chat("http://host/v1")
    assert dataclasses.replace(model, **{setting: 7}).identity() == model.identity()


def test_it_is_a_chat_model() -> None:
    assert isinstance(chat("http://host/v1"), ChatModel)


def test_retry_after_may_be_seconds_or_a_date() -> None:
    class Refusal(Exception):
        def __init__(self, value: str) -> None:
            self.response = type("Response", (), {"headers": {"retry-after": value}})

    assert _retry_after(Refusal("3")) == 3.0
    assert _retry_after(Refusal("Wed, 21 Oct 2015 07:28:00 GMT")) == 0.0
    assert _retry_after(Refusal("soon")) is None
    assert _retry_after(ValueError()) is None
