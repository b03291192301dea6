"""Chat with an OpenAI-compatible server (Ollama, vLLM, hosted services)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from psi.component import runtime
from psi.errors import ModelError
from psi.models.cache import Asked, CachedChat
from psi.models.forms import from_json, grammar, pattern, schema
from psi.models.http import HttpServer, UnreadableReplyError
from psi.models.protocols import Conversation, Form, Reply
from psi.models.thinking import without_thinking

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True, kw_only=True)
class HttpChat(HttpServer, CachedChat):
    """The server's `/chat/completions`, several conversations at a time.

    max_tokens: longest reply; one that reaches it is marked truncated.
    temperature, top_p, seed: sampling; the number of the repetition is added to the seed, which not all servers honour.
    stop: strings at which a reply ends.
    extra_body: further fields of the request, such as `{repetition_penalty: 1.3}` for vLLM.
    constrain: how the server is held to a form that is asked for: `none`; `json_schema`, the `response_format` of
        OpenAI, Ollama, vLLM and llama.cpp, read back as lines; `regex`, the `structured_outputs` of vLLM 0.12 or later;
        `grammar`, of llama.cpp's server.
    concurrency: requests under way at the same time.
    """

    max_tokens: PositiveInt = 512
    temperature: NonNegativeFloat = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    seed: int | None = 0
    stop: tuple[str, ...] = ()
    extra_body: dict[str, Any] = field(default_factory=dict)
    constrain: Literal["none", "json_schema", "regex", "grammar"] = "none"
    concurrency: PositiveInt = runtime(4)

    def prompt_limit(self) -> None:
        """Not known here: the server holds the tokeniser."""

    def prompt_tokens(self, conversation: Conversation) -> None:
        """Not known here: the server holds the tokeniser."""

    def ask(self, conversations: Sequence[Conversation], forms: Sequence[Form | None]) -> Iterator[Asked]:
        """Call the server for every conversation: results as they come, a call that failed for good as `ModelError`.

        Raises:
            ConfigError: the variable named by api_key_env is not set.
        """
        self._endpoints  # noqa: B018 - made here once: the threads share it
        pool = ThreadPoolExecutor(max_workers=self.concurrency)
        try:
            calls = {pool.submit(self._one, *pair): n for n, pair in enumerate(zip(conversations, forms, strict=True))}
            for call in as_completed(calls):
                yield calls[call], call.result()
        finally:  # also where nobody wants the rest: calls that have not begun are not made
            pool.shutdown(cancel_futures=True)

    def _one(self, conversation: Conversation, form: Form | None) -> Reply | ModelError:
        try:
            reply, attempts = self.call(lambda client: self._request(client, conversation, form))
        except ModelError as error:
            return error
        return reply._replace(attempts=attempts)

    def _request(self, client: OpenAI, conversation: Conversation, form: Form | None) -> Reply:
        options: dict[str, Any] = {} if self.seed is None else {"seed": self.seed + self.repeat}
        if self.stop:
            options["stop"] = list(self.stop)
        completion = client.chat.completions.create(
            model=self.model,
            messages=[{"role": message.role, "content": message.content} for message in conversation],  # type: ignore[misc]
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            extra_body={**self.extra_body, **self._constraint(form)} or None,
            **options,
        )
        choices = getattr(completion, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise UnreadableReplyError("the reply holds no choices")
        usage = completion.usage
        text = without_thinking(choices[0].message.content or "")
        return Reply(
            text=from_json(text) if form is not None and self.constrain == "json_schema" else text,
            prompt_tokens=usage.prompt_tokens if usage else 0,
            completion_tokens=usage.completion_tokens if usage else 0,
            truncated=choices[0].finish_reason == "length",
        )

    def _constraint(self, form: Form | None) -> dict[str, Any]:
        """The fields of the request that hold the reply to a form."""
        if form is None or self.constrain == "none":
            return {}
        if self.constrain == "regex":
            return {"structured_outputs": {"regex": pattern(form, self.max_tokens)}}
        if self.constrain == "grammar":
            return {"grammar": grammar(form, self.max_tokens)}
        named = {"name": "reply", "strict": True, "schema": schema(form)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
