"""Embeddings from an OpenAI-compatible server (Ollama, vLLM, hosted services)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from psi.component import runtime
from psi.models.http import HttpServer, UnreadableReplyError
from psi.models.vectors import checked_vectors, unit_rows

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True, kw_only=True)
class HttpEmbedder(HttpServer):
    """The server's `/embeddings`.

    dimensions: width to ask for (models trained for it only); also the width that is expected. None: the model's own.
    question_prompt, passage_prompt: text put before every text.
    normalize: scale vectors to length 1.
    batch_size: texts a request.
    """

    dimensions: PositiveInt | None = None
    question_prompt: str = ""
    passage_prompt: str = ""
    normalize: bool = True
    batch_size: PositiveInt = runtime(32)

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of passages.

        Raises:
            ModelError: the server failed for good.
            BadVectorError: a vector is not finite or not as wide as the others.
        """
        return self._encode([self.passage_prompt + text for text in texts])

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of questions; raises as `encode_passages`."""
        return self._encode([self.question_prompt + text for text in texts])

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        rows: list[Any] = []
        for start in range(0, len(texts), self.batch_size):
            rows += self.call(partial(self._request, batch=texts[start : start + self.batch_size]))[0]
        vectors = checked_vectors(rows, width=self.dimensions)
        return unit_rows(vectors) if self.normalize else vectors

    def _request(self, client: OpenAI, batch: list[str]) -> list[Any]:
        size: dict[str, Any] = {} if self.dimensions is None else {"dimensions": self.dimensions}
        # the client asks for base64 on its own, which several servers do not speak
        response = client.embeddings.create(model=self.model, input=batch, encoding_format="float", **size)
        data = getattr(response, "data", None) or []
        if len(data) != len(batch):
            raise UnreadableReplyError(f"expected {len(batch)} vectors, got {len(data)}")
        # servers may answer out of order; some leave the index away and keep the order
        places = [place if getattr(item, "index", None) is None else item.index for place, item in enumerate(data)]
        return [data[place].embedding for place in np.argsort(places, kind="stable")]
