"""Embeddings over HTTP against a real server."""

import numpy as np
import pytest

from psi.errors import InputError, ModelError
from psi.models.http_embedder import HttpEmbedder
from psi.models.protocols import Embedder
from psi.models.vectors import BadVectorError, encoded

from .scripted_server import Step, embeddings, serving


def embedder(url: str, **settings: object) -> HttpEmbedder:
    return HttpEmbedder(base_url=url, model="m", **{"longest_wait": 0.01, "retries": 1, **settings})  # type: ignore[arg-type]


def test_vectors_come_back_in_order_and_unit_length() -> None:
    step = embeddings([3.0, 4.0], [0.0, 2.0])
    step.body["data"].reverse()
    with serving(step) as server:
        vectors = embedder(server.url).encode_passages(["a", "b"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0.0, 1.0]], rtol=1e-6)


def test_a_zero_vector_stays_zero_and_lengths_can_be_kept() -> None:
    with serving(embeddings([0.0, 0.0], [3.0, 4.0])) as server:
        assert embedder(server.url).encode_passages(["a", "b"])[0].tolist() == [0.0, 0.0]
        assert embedder(server.url, normalize=False).encode_passages(["a", "b"])[1].tolist() == [3.0, 4.0]


def test_texts_are_sent_in_batches_behind_their_prompt() -> None:
    with serving(embeddings([1.0], [1.0]), embeddings([1.0])) as server:
        embedder(server.url, batch_size=2, question_prompt="Q: ").encode_questions(["a", "b", "c"])
        assert [request["input"] for request in server.requests] == [["Q: a", "Q: b"], ["Q: c"]]
        assert {request["encoding_format"] for request in server.requests} == {"float"}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_values_that_are_not_finite_are_refused_with_the_id(number: str) -> None:
    body = f'{{"object": "list", "data": [{{"index": 0, "embedding": [{number}, 0.0]}}]}}'
    with serving(Step(body=body)) as server, pytest.raises(BadVectorError, match="'d7'"):
        encoded(embedder(server.url).encode_passages, ["text"], ["d7"])


def test_a_wrong_width_is_refused_with_the_id() -> None:
    with (
        serving(embeddings([1.0] * 4, [1.0] * 3)) as server,
        pytest.raises(InputError, match=r"'d2'.*expected 4, got 3"),
    ):
        encoded(embedder(server.url).encode_passages, ["a", "b"], ["d1", "d2"])
    with serving(embeddings([1.0] * 3)) as server, pytest.raises(InputError, match="expected 4, got 3"):
        embedder(server.url, dimensions=4).encode_passages(["a"])


def test_a_skipped_text_is_a_failure_not_a_shift() -> None:
    with serving(embeddings([1.0])) as server, pytest.raises(ModelError, match="expected 2 vectors, got 1") as caught:
        embedder(server.url).encode_passages(["a", "b"])
    assert (caught.value.kind, caught.value.attempts) == ("bad_response", 2)


def test_trouble_is_retried_and_refusal_is_not() -> None:
    with serving(Step(503, {}), embeddings([1.0])) as server:
        assert embedder(server.url).encode_passages(["a"]).shape == (1, 1)
    with serving(Step(401, {})) as server, pytest.raises(ModelError, match="http_401"):
        embedder(server.url).encode_passages(["a"])


def test_nothing_in_nothing_out() -> None:
    assert embedder("http://127.0.0.1:9/v1").encode_passages([]).shape == (0, 0)
    assert isinstance(embedder("http://host/v1"), Embedder)
