"""Chat with an OpenAI-compatible server (Ollama, vLLM, hosted services)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, NonNegativeFloat, PositiveInt

from psi.component import runtime
from psi.errors import ModelError
from psi.models.http import HttpServer, UnreadableReplyError
from psi.models.protocols import Conversation, Reply
from psi.models.thinking import without_thinking

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True, kw_only=True)
class HttpChat(HttpServer):
    """The server's `/chat/completions`, several conversations at a time.

    max_tokens: longest reply; one that reaches it is marked truncated.
    temperature, top_p, seed: sampling; servers differ in whether they honour the seed.
    stop: strings at which a reply ends.
    extra_body: further fields of the request, such as `{repetition_penalty: 1.3}` for vLLM.
    concurrency: requests under way at the same time.
    """

    max_tokens: PositiveInt = 512
    temperature: NonNegativeFloat = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    seed: int | None = 0
    stop: tuple[str, ...] = ()
    extra_body: dict[str, Any] = field(default_factory=dict)
    concurrency: PositiveInt = runtime(4)

    def prompt_limit(self) -> None:
        """Not known here: the server holds the tokeniser."""

    def prompt_tokens(self, conversation: Conversation) -> None:
        """Not known here: the server holds the tokeniser."""

    def reply(self, conversations: Sequence[Conversation]) -> list[Reply | ModelError]:
        """One result a conversation, in order; a call that failed for good is a `ModelError` in its place.

        Raises:
            ConfigError: the variable named by api_key_env is not set.
        """
        self._client  # noqa: B018 - made here once: the threads share it
        with ThreadPoolExecutor(max_workers=self.concurrency) as pool:
            return list(pool.map(self._one, conversations))

    def _one(self, conversation: Conversation) -> Reply | ModelError:
        try:
            reply, attempts = self.call(lambda client: self._request(client, conversation))
        except ModelError as error:
            return error
        return reply._replace(attempts=attempts)

    def _request(self, client: OpenAI, conversation: Conversation) -> Reply:
        options: dict[str, Any] = {} if self.seed is None else {"seed": self.seed}
        if self.stop:
            options["stop"] = list(self.stop)
        completion = client.chat.completions.create(
            model=self.model,
            messages=[{"role": message.role, "content": message.content} for message in conversation],  # type: ignore[misc]
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            extra_body=self.extra_body or None,
            **options,
        )
        choices = getattr(completion, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise UnreadableReplyError("the reply holds no choices")
        usage = completion.usage
        return Reply(
            text=without_thinking(choices[0].message.content or ""),
            prompt_tokens=usage.prompt_tokens if usage else 0,
            completion_tokens=usage.completion_tokens if usage else 0,
            truncated=choices[0].finish_reason == "length",
        )
