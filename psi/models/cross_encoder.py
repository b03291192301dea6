"""Rerankers by any sentence-transformers cross-encoder with one output (bge-reranker, ms-marco-MiniLM, ...)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from psi.component import Component, runtime
from psi.errors import ConfigError
from psi.models.devices import Dtype, resolved_device, resolved_dtype, torch_dtype

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class CrossEncoderReranker(Component):
    """A cross-encoder, loaded on first use. Scores are its logits: a sigmoid would round the best to ties.

    model: name on the Hugging Face hub, or a local folder.
    revision: commit, tag or branch on the hub.
    dtype: `auto` is bfloat16 on a GPU and float32 on a CPU.
    max_tokens: longest pair, longer ones are cut (and counted in the log); None: the model's own limit.
    trust_remote_code: run the Python code that comes with the model.
    device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
    batch_size: pairs in one forward pass; pairs of like length go together. It can change the last digits of a score
        through rounding, no more.
    """

    model: str
    revision: str | None = None
    dtype: Dtype = "auto"
    max_tokens: PositiveInt | None = None
    trust_remote_code: bool = False
    device: str = runtime("auto")
    batch_size: PositiveInt = runtime(32)

    def identity(self) -> dict[str, Any]:
        """The settings, with the number format that `auto` stands for on this machine."""
        return {**super().identity(), "dtype": self._dtype}

    def score(self, questions: Sequence[str], passages: Sequence[str]) -> NDArray[np.float32]:
        """(n,) logits of the pairs (questions[i], passages[i])."""
        pairs = list(zip(questions, passages, strict=True))
        if not pairs:
            return np.zeros(0, dtype=np.float32)
        self._log_truncated(pairs)
        # the library sorts the pairs by length before it makes batches
        scores = self._network.predict(pairs, batch_size=self.batch_size, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32)

    @cached_property
    def _dtype(self) -> str:
        return resolved_dtype(self.dtype, self.device, on_cpu="float32")

    @cached_property
    def _network(self) -> CrossEncoder:
        import torch
        from sentence_transformers import CrossEncoder

        network: CrossEncoder = CrossEncoder(
            self.model,
            revision=self.revision,
            device=resolved_device(self.device),
            trust_remote_code=self.trust_remote_code,
            max_length=self.max_tokens,
            activation_fn=torch.nn.Identity(),
            model_kwargs={"dtype": torch_dtype(self._dtype)},
        )
        if network.num_labels != 1:
            raise ConfigError(
                f"reranker model={self.model!r} has {network.num_labels} outputs, a reranker has one. Choose a model "
                "that was trained to rank passages, such as cross-encoder/ms-marco-MiniLM-L6-v2."
            )
        return network

    def _log_truncated(self, pairs: Sequence[tuple[str, str]]) -> None:
        limit = self._network.max_seq_length
        if limit is None:
            return
        # a token stands for at least one byte, so only pairs with more bytes than the limit can be too long
        suspects = [pair for pair in pairs if sum(len(text.encode(errors="replace")) for text in pair) > limit - 4]
        if not suspects:
            return
        ids = self._network.tokenizer(suspects, truncation=False, verbose=False)["input_ids"]
        cut = sum(len(each) > limit for each in ids)
        if cut:
            log.warning("%d of %d pairs are longer than %d tokens and were cut.", cut, len(pairs), limit)
