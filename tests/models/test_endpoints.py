"""Several servers of one model: load is shared, a dead one is left alone, and nothing is lost with it."""

from collections import Counter

from psi.errors import ModelError
from psi.models.http_chat import HttpChat
from psi.models.protocols import Message, Reply

from .scripted_server import Step, completion, serving

ASKED = [(Message("user", f"question {number}"),) for number in range(12)]


def chat(first, *replicas, **settings):
    fast = {"timeout": 1.0, "longest_wait": 0.01, "retries": 2, "concurrency": 4, **settings}
    return HttpChat(base_url=first, replicas=replicas, model="m", **fast)


def test_calls_are_shared():
    with serving(completion("a")) as one, serving(completion("b")) as two:
        replies = chat(one.url, two.url).reply(ASKED)
        assert min(len(one.requests), len(two.requests)) >= 3
    assert Counter(type(reply) for reply in replies) == {Reply: 12}


def test_a_server_that_dies_in_the_middle_costs_nothing_but_its_share():
    alive = iter([True] * 3)

    def dying(_):
        return completion("a") if next(alive, False) else Step(trouble="reset")

    with serving(by=dying) as one, serving(completion("b")) as two:
        model = chat(one.url, two.url)
        replies = model.reply(ASKED)
        assert [type(reply) for reply in replies] == [Reply] * 12
        assert len(one.requests) <= 3 + 4  # it rests once all that was under way has failed
        before = len(one.requests)
        model.reply(ASKED)
        assert len(one.requests) == before


def test_with_all_servers_down_calls_fail_as_values():
    with serving(Step(500, {})) as one, serving(Step(503, {})) as two:
        (error,) = chat(one.url, two.url).reply(ASKED[:1])
    assert isinstance(error, ModelError)
    assert error.attempts == 3


def test_replicas_change_no_key_of_the_cache():
    assert chat("http://a/v1", "http://b/v1").identity() == chat("http://a/v1").identity()


def test_a_check_names_what_is_wrong_with_each():
    with serving(Step()) as one:
        troubles = chat(one.url, "http://127.0.0.1:9/v1").check()
    assert troubles[one.url] is None  # it can't tell its models
    assert "connection" in str(troubles["http://127.0.0.1:9/v1"])
