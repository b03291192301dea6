"""Dense passage retrieval's two encoders (Karpukhin et al. 2020, arXiv 2004.04906), through transformers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from psi.component import Component, runtime
from psi.errors import ConfigError
from psi.models.devices import Dtype, resolved_device, resolved_dtype, torch_dtype
from psi.models.vectors import unit_rows

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)
Input = str | tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class DprEmbedder(Component):
    """A question encoder and a passage encoder, loaded on first use. Their vectors are compared by inner product.

    A vector is the state of [CLS] (paper, §3.1). A passage is read as the pair of its title and its text, `[CLS] title
    [SEP] text [SEP]`, all of one segment; a passage's first line is its title where a second one follows, as
    `Passage.content` writes it.

    question_model, passage_model: names on the Hugging Face hub, or local folders.
    question_revision, passage_revision: commits, tags or branches on the hub.
    normalize: scale vectors to length 1, which DPR was not trained for.
    dtype: `auto` is bfloat16 on a GPU and float32 on a CPU.
    max_tokens: longest input, longer ones are cut (and counted in the log).
    device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
    batch_size: texts in one forward pass. It can change the last digits of a vector through rounding, no more.
    """

    question_model: str
    passage_model: str
    question_revision: str | None = None
    passage_revision: str | None = None
    normalize: bool = False
    dtype: Dtype = "auto"
    max_tokens: PositiveInt = 256
    device: str = runtime("auto")
    batch_size: PositiveInt = runtime(32)

    def identity(self) -> dict[str, Any]:
        """The settings, with the number format that `auto` stands for on this machine."""
        return {**super().identity(), "dtype": self._dtype}

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of passages.

        Raises:
            ConfigError: the model is no DPR passage encoder.
        """
        return self._encode(self._passages, [titled(text) for text in texts])

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of questions; raises as `encode_passages`."""
        return self._encode(self._questions, list(texts))

    @cached_property
    def _dtype(self) -> str:
        return resolved_dtype(self.dtype, self.device, on_cpu="float32")

    @cached_property
    def _passages(self) -> _Encoder:
        return self._loaded("DPRContextEncoder", self.passage_model, self.passage_revision)

    @cached_property
    def _questions(self) -> _Encoder:
        return self._loaded("DPRQuestionEncoder", self.question_model, self.question_revision)

    def _loaded(self, kind: str, name: str, revision: str | None) -> _Encoder:
        import transformers

        made, report = getattr(transformers, kind).from_pretrained(
            name, revision=revision, dtype=torch_dtype(self._dtype), output_loading_info=True
        )
        if report["missing_keys"]:  # transformers would go on with random numbers in their place
            raise ConfigError(
                f"{name!r} is no {kind}: it lacks {len(report['missing_keys'])} weights, such as "
                f"{min(report['missing_keys'])!r}. DPR has two models: give the question encoder as question_model and "
                "the passage (context) encoder as passage_model."
            )
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, revision=revision)
        return _Encoder(tokenizer, made.to(resolved_device(self.device)).eval())

    def _encode(self, encoder: _Encoder, texts: Sequence[Input]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, encoder.width), dtype=np.float32)
        ids = encoder.tokenizer(list(texts), truncation="longest_first", max_length=self.max_tokens)["input_ids"]
        self._log_truncated(encoder, texts, ids)
        vectors = np.empty((len(texts), encoder.width), dtype=np.float32)
        order = np.argsort([-len(each) for each in ids], kind="stable")  # like lengths together: little padding
        for start in range(0, len(order), self.batch_size):
            rows = order[start : start + self.batch_size]
            vectors[rows] = encoder.forward([ids[row] for row in rows])
        return unit_rows(vectors) if self.normalize else vectors

    def _log_truncated(self, encoder: _Encoder, texts: Sequence[Input], ids: Sequence[Sequence[int]]) -> None:
        full = [text for text, each in zip(texts, ids, strict=True) if len(each) == self.max_tokens]
        if not full:
            return
        lengths = [len(each) for each in encoder.tokenizer(full, truncation=False, verbose=False)["input_ids"]]
        cut = sum(length > self.max_tokens for length in lengths)
        if cut:
            log.warning(
                "%d of %d texts are longer than %d tokens (longest %d) and were cut.",
                cut, len(texts), self.max_tokens, max(lengths),
            )  # fmt: skip


class _Encoder(NamedTuple):
    """A tokenizer and the network that reads its output."""

    tokenizer: Any
    network: torch.nn.Module

    @property
    def width(self) -> int:
        config: Any = self.network.config
        return int(config.projection_dim or config.hidden_size)

    def forward(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """(n, d) states of [CLS]. Segments are not told apart, as in the code that DPR was trained with."""
        import torch

        batch = self.tokenizer.pad({"input_ids": list(ids)}, return_tensors="pt")
        device = next(self.network.parameters()).device
        with torch.inference_mode():
            output = self.network(
                input_ids=batch["input_ids"].to(device), attention_mask=batch["attention_mask"].to(device)
            )
        vectors: NDArray[np.float32] = output.pooler_output.float().cpu().numpy()
        return vectors


def titled(content: str) -> Input:
    """A passage's indexed text as (title, text); the text alone where it is one line."""
    title, line_break, text = content.partition("\n")
    return (title, text) if line_break and title.strip() and text.strip() else content
