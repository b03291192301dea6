"""Chat with a transformers model: batches, limits, sampling."""

from collections.abc import Callable
from typing import Any

import pytest

from psi.errors import ConfigError
from psi.models.protocols import ChatModel, Message, Reply
from psi.models.transformers_chat import TransformersChat

SHORT = (Message("user", "Name a colour."),)
LONG = (Message("user", "Write a story about a cat that lives near the sea and likes fish. " * 6),)
MIDDLE = (Message("system", "You are brief."), Message("user", "What is the capital of France?"))


Make = Callable[..., TransformersChat]


@pytest.fixture
def chat(tiny: str) -> Make:
    def make(**settings: Any) -> TransformersChat:
        return TransformersChat(model=tiny, dtype="float32", device="cpu", **settings)

    return make


def texts(replies: list) -> list[str]:
    assert all(isinstance(reply, Reply) for reply in replies)
    return [reply.text for reply in replies]


def test_a_batch_gives_what_single_calls_give(chat: Make) -> None:
    model = chat(max_new_tokens=8, repetition_penalty=1.1)
    conversations = [SHORT, LONG, MIDDLE]
    together = model.reply(conversations)
    assert texts(together) == [texts(model.reply([one]))[0] for one in conversations]
    assert [reply.prompt_tokens for reply in together] == [model.prompt_tokens(one) for one in conversations]
    assert all(0 < reply.completion_tokens <= 8 for reply in together)


def test_a_prompt_over_the_window_is_marked_not_cut(chat: Make) -> None:
    model = chat(max_new_tokens=4, context_tokens=60)
    short, long = model.reply([SHORT, LONG])
    assert isinstance(short, Reply) and isinstance(long, Reply)
    assert short.completion_tokens > 0
    assert long == Reply("", model.prompt_tokens(LONG), 0, truncated=True)
    assert model.prompt_limit() == 56


def test_a_reply_that_reaches_its_limit_is_marked(chat: Make) -> None:
    (reply,) = chat(max_new_tokens=2).reply([LONG])
    assert isinstance(reply, Reply)
    assert reply.truncated
    assert reply.completion_tokens == 2


def test_a_stop_string_ends_the_reply_and_is_removed(chat: Make) -> None:
    model = chat(max_new_tokens=12, repetition_penalty=1.0)
    (free,) = texts(model.reply([MIDDLE]))
    stop = free.split()[-1]
    (stopped,) = chat(max_new_tokens=12, repetition_penalty=1.0, stop=(stop,)).reply([MIDDLE])
    assert isinstance(stopped, Reply)
    assert stopped.text == free[: free.index(stop)]
    assert not stopped.truncated


def test_sampling_depends_on_seed_and_text_alone(chat: Make) -> None:
    model = chat(max_new_tokens=8, temperature=1.0, seed=1)
    forward, backward = texts(model.reply([SHORT, LONG])), texts(model.reply([LONG, SHORT]))
    assert forward == backward[::-1]
    assert texts(chat(max_new_tokens=8, temperature=1.0, seed=2).reply([SHORT, LONG])) != forward


def test_settings_that_leave_no_room_are_refused(chat: Make) -> None:
    with pytest.raises(ConfigError, match="leaves no room"):
        chat(max_new_tokens=100, context_tokens=100)
    with pytest.raises(ConfigError, match="temperature"):
        chat(temperature=-1.0)


def test_it_is_a_chat_model_with_an_identity(chat: Make) -> None:
    model = chat(seed=3)
    assert isinstance(model, ChatModel)
    assert model.identity() != chat(seed=4).identity()
    assert model.identity() == chat(seed=3, batch_size=2).identity()
    assert model.reply([]) == []


def dialogue(number: int) -> tuple[Message, ...]:
    told = (Message("system", "You are brief."), Message("user", "Name a colour."), Message("assistant", "Red."))
    return (*told, Message("user", f"Name the {number}th planet. " * number))


def test_in_bfloat16_greedy_replies_do_not_depend_on_the_batch(tiny: str) -> None:
    asked = [dialogue(number) for number in range(1, 8)]
    settings: dict[str, Any] = {"model": tiny, "dtype": "bfloat16", "device": "cpu", "max_new_tokens": 10}
    alone = TransformersChat(**settings, batch_size=1, kept_tokens=0)
    together = TransformersChat(**settings, batch_size=40)
    assert together.reply(asked) == [alone.reply([one])[0] for one in asked]
