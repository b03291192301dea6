"""Replies that are held to a form, over HTTP and token by token."""

import json
import re
import sys
from typing import Any

import pytest

from psi.agent.reply import parse_reply
from psi.errors import ConfigError, InputError
from psi.models.forms import form_of, from_json, grammar, pattern, schema, vocabulary_of
from psi.models.http_chat import HttpChat
from psi.models.protocols import Form, Message, Reply
from psi.models.transformers_chat import TransformersChat

from .scripted_server import completion, serving

EITHER = Form(("Answer", "Retrieve"))
ANSWER = Form(("Answer",))
HELLO = (Message("user", "Where is Paris?"),)
LONGER = (Message("system", "You are brief."), Message("user", "Name the capital of Italy, and of France. " * 3))


@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        ("Thought: it is there.\nAnswer: U.S.", True),
        ("Thought: nothing yet.\nRetrieve: Who built it?", True),
        ("Thought: 北京 is there.\nAnswer: 北京", True),
        ("Answer: Paris", False),
        ("Thought: it is there.\nAnswer: ", False),
        ("Thought: it is there.\nAnswer: **", False),
        ("Thought: it is there.\nAnswer: Paris\nAnswer: Rome", False),
        ("Thought: it is there.\nQuestion: Paris", False),
        (f"Thought: {'x' * 201}\nAnswer: Paris", False),
    ],
)
def test_the_pattern_takes_whole_replies_alone_and_they_all_parse(reply: str, fits: bool) -> None:
    assert bool(re.fullmatch(pattern(EITHER, 100), reply)) == fits
    if fits:
        assert parse_reply(reply).kind in ("answer", "retrieve")


def test_json_replies_become_lines_and_others_stay() -> None:
    reply = json.dumps({"thought": "it is\nthere", "directive": "Retrieve", "text": " Who?\nWhere? "})
    assert from_json(reply) == "Thought: it is there\nRetrieve: Who? Where?"
    for other in ('{"thought": "it is', "Answer: Paris", "[]", "{}"):
        assert from_json(other) == other


@pytest.mark.parametrize(
    ("constrain", "said"),
    [
        ("none", {}),
        ("grammar", {"grammar": grammar(EITHER, 50)}),
        ("regex", {"structured_outputs": {"regex": pattern(EITHER, 50)}}),
        (
            "json_schema",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "strict": True, "schema": schema(EITHER)},
                }
            },
        ),
    ],
)
def test_the_server_is_told_the_form_of_each_reply(constrain: Any, said: dict[str, Any]) -> None:
    with serving(completion('{"thought": "t", "directive": "Answer", "text": "Paris"}')) as server:
        model = HttpChat(base_url=server.url, model="m", max_tokens=50, constrain=constrain, concurrency=1)
        held, free = model.reply([HELLO, HELLO], [EITHER, None])
    extra = {"structured_outputs", "response_format", "grammar"}
    asked = [{name: value for name, value in request.items() if name in extra} for request in server.requests]
    assert asked == [said, {}]
    assert isinstance(held, Reply) and isinstance(free, Reply)
    assert (held.text == "Thought: t\nAnswer: Paris") == (constrain == "json_schema")
    assert free.text.startswith("{")


@pytest.mark.parametrize("sampling", [{}, {"temperature": 1.5, "top_p": 0.9}])
def test_random_weights_write_replies_that_parse(tiny: str, sampling: dict[str, float]) -> None:
    settings: dict[str, Any] = {"model": tiny, "dtype": "float32", "device": "cpu", "max_new_tokens": 40, **sampling}
    held = TransformersChat(**settings, constrain=True).reply(
        [HELLO, LONGER, HELLO, LONGER], [EITHER, ANSWER, None, None]
    )
    texts = [reply.text for reply in held if isinstance(reply, Reply)]
    assert parse_reply(texts[0]).kind in ("answer", "retrieve")
    assert parse_reply(texts[1]).kind == "answer"
    assert all(text.startswith("Thought: ") for text in texts[:2])
    free = TransformersChat(**settings).reply([HELLO, LONGER])
    assert [reply.text for reply in free if isinstance(reply, Reply)] == texts[2:]


def test_a_real_model_writes_replies_that_parse() -> None:
    model = TransformersChat(model="bundled", device="cpu", max_new_tokens=24, repetition_penalty=1.0, constrain=True)
    for reply in model.reply([HELLO, LONGER], [ANSWER, EITHER]):
        assert isinstance(reply, Reply)
        assert reply.text.startswith("Thought: ")
        assert parse_reply(reply.text).kind in ("answer", "retrieve")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llguidance.hf", None)
    with pytest.raises(ConfigError, match=r"llguidance.*llm\.constrain=false"):
        vocabulary_of(object())


@pytest.mark.parametrize("form", [EITHER, ANSWER])
def test_a_form_is_read_back_from_its_pattern_and_from_no_other(form: Form) -> None:
    assert form_of(pattern(form, 100), 100) == form
    for other in (pattern(form, 99), pattern(form, 100) + "x", ".*", ""):
        with pytest.raises(InputError, match="100 tokens"):
            form_of(other, 100)
