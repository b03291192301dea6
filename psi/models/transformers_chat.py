"""Chat with a causal language model of the transformers library, in true batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from psi.component import runtime
from psi.errors import ConfigError, ModelError
from psi.models.cache import Asked, CachedChat
from psi.models.causal_lm import CausalLanguageModel, out_of_memory
from psi.models.forms import FormConstraint, FormProcessor, vocabulary_of
from psi.models.greedy import GreedyWriter, Request, can_write
from psi.models.protocols import Conversation, Form, Reply
from psi.models.thinking import without_thinking


@dataclass(frozen=True, kw_only=True)
class TransformersChat(CausalLanguageModel, CachedChat):
    """Writes replies with the model's own chat template.

    With temperature 0 decoding is greedy: `GreedyWriter` computes what prompts share once and lets all replies grow
    together. With a higher one every conversation is drawn alone from a generator seeded by `seed` and its own text, so
    that a reply depends neither on the batch nor on what was asked before. Drawn replies, stop strings and models that
    `GreedyWriter` does not know go to the library's `generate`, sorted by length and padded on the left.

    max_new_tokens: longest reply.
    temperature: 0 is greedy.
    top_p: nucleus sampling, used with a temperature above 0.
    repetition_penalty: divides the scores of tokens that occurred already (1: off); the Ψ-RAG paper uses 1.3.
    seed: of sampling; the number of the repetition is added.
    stop: strings at which a reply ends; they are removed from it.
    template_options: further variables for the chat template, such as `enable_thinking: false`.
    constrain: hold the model to a form that is asked for, token by token (package llguidance).
    batch_size: conversations in one forward pass.
    kept_tokens: prompt tokens whose keys and values are kept for other prompts that begin alike (23 KB each for
        SmolLM2-135M, 131 KB for an 8B model of the Llama 3 kind).
    """

    max_new_tokens: PositiveInt = 256
    temperature: NonNegativeFloat = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    repetition_penalty: PositiveFloat = 1.3
    seed: NonNegativeInt = 0
    stop: tuple[str, ...] = ()
    template_options: dict[str, Any] = field(default_factory=dict)
    constrain: bool = False
    batch_size: PositiveInt = runtime(8)
    kept_tokens: NonNegativeInt = runtime(8192)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_new_tokens >= self.context_tokens:
            raise ConfigError(
                f"max_new_tokens={self.max_new_tokens} leaves no room for a prompt in context_tokens="
                f"{self.context_tokens}: lower the one or raise the other."
            )

    def prompt_limit(self) -> int:
        """The most prompt tokens that leave room for a whole reply."""
        return self.window - self.max_new_tokens

    def prompt_tokens(self, conversation: Conversation) -> int:
        """Tokens of the conversation in the chat template."""
        return len(self._ids(conversation))

    def ask(self, conversations: Sequence[Conversation], forms: Sequence[Form | None]) -> Iterator[Asked]:
        """Run the model, a batch at a time. A prompt over `prompt_limit` is not run: its reply is empty, truncated.

        Raises:
            ConfigError: the model has no chat template.
        """
        prompts = [self._ids(conversation) for conversation in conversations]
        fitting = []
        for number, prompt in enumerate(prompts):
            if len(prompt) > self.prompt_limit():
                yield number, Reply("", len(prompt), 0, truncated=True)
            else:
                fitting.append(number)
        fitting.sort(key=lambda number: len(prompts[number]))
        if fitting and self._grows_together:
            yield from self._written(fitting, prompts, forms)
            return
        for batch in self._batches(fitting):
            replies = self._generate([prompts[n] for n in batch], [forms[n] for n in batch])
            yield from zip(batch, replies, strict=True)

    @property
    def _grows_together(self) -> bool:
        return self.temperature == 0 and not self.stop and can_write(self._network)

    def _written(
        self, order: Sequence[int], prompts: Sequence[list[int]], forms: Sequence[Form | None]
    ) -> Iterator[Asked]:
        import torch

        left = set(order)
        requests = [Request(prompts[n], self._constraint(forms[n])) for n in order]
        try:
            for place, tokens in self._writer.write(requests):
                left.remove(order[place])
                yield order[place], self._reply(len(prompts[order[place]]), tokens)
        except torch.OutOfMemoryError as error:
            yield from ((number, out_of_memory(self.model, error)) for number in sorted(left))

    def _batches(self, order: Sequence[int]) -> Iterator[Sequence[int]]:
        size = 1 if self.temperature > 0 else self.batch_size
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def _ids(self, conversation: Conversation) -> list[int]:
        if not self._tokenizer.chat_template:
            raise ConfigError(
                f"model={self.model!r} has no chat template: it is a base model. Use its instruction-tuned version, or "
                "the span reader (reader=span), which needs none."
            )
        text = self._tokenizer.apply_chat_template(
            [message._asdict() for message in conversation],
            tokenize=False,
            add_generation_prompt=True,
            **self.template_options,
        )
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _generate(self, prompts: Sequence[list[int]], forms: Sequence[Form | None]) -> list[Reply | ModelError]:
        import torch

        width = max(len(prompt) for prompt in prompts)
        pad = self._pad_token
        ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts])
        mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
        device = self._network.device
        try:
            with torch.inference_mode(), _seeded(self._draw_seed(prompts[0]), self.temperature > 0, device):
                output = self._network.generate(
                    input_ids=ids.to(device), attention_mask=mask.to(device), **self._decoding(forms)
                )
        except torch.OutOfMemoryError as error:
            return [out_of_memory(self.model, error) for _ in prompts]
        written = output[:, width:].tolist()
        return [self._reply(len(prompt), tokens) for prompt, tokens in zip(prompts, written, strict=True)]

    def _decoding(self, forms: Sequence[Form | None]) -> dict[str, Any]:
        sampling = {"temperature": self.temperature, "top_p": self.top_p, "top_k": 0} if self.temperature > 0 else {}
        stopping = {"stop_strings": list(self.stop), "tokenizer": self._tokenizer} if self.stop else {}
        constraints = [self._constraint(form) for form in forms]
        return {
            "logits_processor": [FormProcessor(constraints)] if any(constraints) else [],
            "do_sample": self.temperature > 0,
            "max_new_tokens": self.max_new_tokens,
            "repetition_penalty": self.repetition_penalty,
            "pad_token_id": self._pad_token,
            **sampling,
            **stopping,
        }

    def _reply(self, prompt_tokens: int, tokens: list[int]) -> Reply:
        ends = [place for place, token in enumerate(tokens) if token in self._end_tokens]
        kept = tokens[: ends[0]] if ends else tokens
        text = without_thinking(self._tokenizer.decode(kept, skip_special_tokens=True))
        stops = [place for place in (text.find(stop) for stop in self.stop) if place >= 0]
        finished = bool(ends or stops)
        return Reply(
            text=text[: min(stops)] if stops else text,
            prompt_tokens=prompt_tokens,
            completion_tokens=len(kept),
            truncated=not finished and len(kept) >= self.max_new_tokens,
        )

    def _constraint(self, form: Form | None) -> FormConstraint | None:
        if form is None or not self.constrain:
            return None
        return FormConstraint(self._vocabulary, form, self.max_new_tokens)

    @cached_property
    def _writer(self) -> GreedyWriter:
        return GreedyWriter(
            self._network,
            ends=self._end_tokens,
            limit=self.max_new_tokens,
            penalty=self.repetition_penalty,
            batch_size=self.batch_size,
            kept_tokens=self.kept_tokens,
        )

    @cached_property
    def _vocabulary(self) -> Any:
        return vocabulary_of(self._tokenizer)

    @property
    def _end_tokens(self) -> frozenset[int]:
        declared = self._network.generation_config.eos_token_id
        listed = declared if isinstance(declared, list) else [declared]
        return frozenset(token for token in [*listed, self._tokenizer.eos_token_id] if token is not None)

    @property
    def _pad_token(self) -> int:
        token = self._tokenizer.pad_token_id
        return int(token if token is not None else min(self._end_tokens, default=0))

    def _draw_seed(self, prompt: Sequence[int]) -> int:
        text = f"{self.seed + self.repeat} {' '.join(map(str, prompt))}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


@contextmanager
def _seeded(seed: int, sampling: bool, device: Any) -> Iterator[None]:
    """Seed PyTorch's generators for the block, then put them back: other code keeps its own random state."""
    import torch

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else [], enabled=sampling):
        if sampling:
            torch.manual_seed(seed)
        yield
