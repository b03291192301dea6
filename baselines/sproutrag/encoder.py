"""The encoder: one pass over a window of a document gives the states of its tokens and the attention between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from baselines.sproutrag.windows import Piece, windows_of
from psi.component import Component, runtime
from psi.corpus.records import Passage
from psi.errors import ConfigError, InputError
from psi.models.devices import resolved_device, torch_dtype
from psi.models.sentence_transformer import BUNDLED, bundled_folder
from psi.models.vectors import unit_rows

if TYPE_CHECKING:
    import torch


class Window(NamedTuple):
    """Input of one pass: token ids (t,), and for each token the chunk of the document that it is of (-1: of none)."""

    tokens: tuple[int, ...]
    chunks: NDArray[np.int64]


class Pass(NamedTuple):
    """What the encoder gives for one window: states (t, d), and one tensor (heads, t, t) a layer."""

    states: torch.Tensor
    attentions: tuple[torch.Tensor, ...]


@dataclass(frozen=True, kw_only=True)
class Encoder(Component):
    """A transformer whose attention can be read; also an `Embedder`, so that questions get vectors by the same model.

    model: name on the Hugging Face hub, a local folder, or `bundled` (all-MiniLM-L6-v2).
    revision: commit, tag or branch on the hub.
    max_tokens: longest window, special tokens included.
    overlap: share of a window that the next one repeats.
    title_tokens: tokens of the document's title put before every window, as context that belongs to no chunk; 0: none.
        Longer titles are cut to it, and counted in the encoding's manifest.
    weights: digest of the training that the weights in `folder` come from; None: the model as it is published.
    folder: where those weights are.
    dtype: number format of the passes; float32 wherever results have to be repeatable.
    batch_size: texts, or windows, in one pass. It can change the last digits of a vector through rounding, no more.
    """

    model: str = BUNDLED
    revision: str | None = None
    max_tokens: Annotated[int, Field(ge=8)] = 256
    overlap: Annotated[float, Field(ge=0, lt=1)] = 0.5
    title_tokens: Annotated[int, Field(ge=0)] = 32
    trust_remote_code: bool = False
    weights: str | None = None
    dtype: Literal["float32", "bfloat16"] = "float32"
    folder: str | None = runtime(None)
    device: str = runtime("auto")
    batch_size: PositiveInt = runtime(1)

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit vectors: the mean of all token states. Texts longer than a window: the mean over their pieces."""
        import torch

        with torch.inference_mode():
            rows = [self.text_vector(text).float().cpu().numpy() for text in texts]
        return unit_rows(np.stack(rows)) if rows else np.zeros((0, self.width), dtype=np.float32)

    encode_questions = encode_passages

    def text_vector(self, text: str) -> torch.Tensor:
        """(d,) mean of the token states of a text that stands alone, special tokens included; not normalised."""
        import torch

        ids = self._ids(text)
        pieces = windows_of([max(1, len(ids))], self.capacity(()), 0.0)
        windows = [self._window(ids[p.start : p.end], np.zeros(p.end - p.start, np.int64), ()) for [p] in pieces]
        states = torch.cat([self.passed([window])[0].states for window in windows])
        return states.mean(dim=0)

    def windows(self, chunks: Sequence[Passage]) -> list[Window]:
        """The windows of a document given as its chunks in order (see `baselines.sproutrag.windows`).

        Raises:
            InputError: the tokenizer makes nothing of a chunk.
        """
        ids = [self._ids(chunk.text) for chunk in chunks]
        for chunk, own in zip(chunks, ids, strict=True):
            if not own:
                raise InputError(f"passage {chunk.id!r}: the encoder's tokenizer finds no token in it. Drop it.")
        title = self._title(chunks[0].title)
        plan = windows_of([len(own) for own in ids], self.capacity(title), self.overlap)
        return [self._joined(ids, pieces, title) for pieces in plan]

    def capacity(self, title: Sequence[int]) -> int:
        """Tokens of chunks that fit in a window.

        Raises:
            ConfigError: none do, or the model has fewer positions than `max_tokens`.
        """
        positions = getattr(self.network.config, "max_position_embeddings", None) or self.max_tokens
        if self.max_tokens > positions:
            raise ConfigError(f"max_tokens={self.max_tokens}: {self.model} has {positions} positions. Set no more.")
        room = self.max_tokens - sum(map(len, self._special)) - len(title)
        if room < 1:
            raise ConfigError(f"max_tokens={self.max_tokens}: no room beside a title of {len(title)} tokens.")
        return room

    def cuts_title(self, title: str) -> bool:
        """Whether a document's title is longer than what is put before its windows."""
        return self.title_tokens > 0 and len(self._ids(title)) > self.title_tokens

    def passed(self, windows: Sequence[Window]) -> list[Pass]:
        """Run windows through the network as one padded batch, with gradients where they are enabled.

        Raises:
            ConfigError: the model gives no attentions.
        """
        import torch

        longest = max(len(window.tokens) for window in windows)
        ids = torch.full((len(windows), longest), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros((len(windows), longest), dtype=torch.long)
        for row, window in enumerate(windows):
            ids[row, : len(window.tokens)] = torch.tensor(window.tokens)
            mask[row, : len(window.tokens)] = 1
        place = self.network.device
        out = self.network(input_ids=ids.to(place), attention_mask=mask.to(place), output_attentions=True)
        if not out.attentions or out.attentions[0] is None:
            raise ConfigError(f"model={self.model!r} gives no attentions. Take an encoder that has an eager attention.")
        sizes = [len(window.tokens) for window in windows]
        return [
            Pass(out.last_hidden_state[row, :size], tuple(layer[row, :, :size, :size] for layer in out.attentions))
            for row, size in enumerate(sizes)
        ]

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return int(self.network.config.hidden_size)

    @property
    def heads(self) -> tuple[int, int]:
        """Layers, and attention heads of each."""
        config = self.network.config
        return int(config.num_hidden_layers), int(config.num_attention_heads)

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(
            self._source, revision=self.revision, trust_remote_code=self.trust_remote_code
        )

    @cached_property
    def network(self) -> Any:
        """The network, without dropout: attention after dropout would not be attention."""
        return self.fresh_network()

    def fresh_network(self) -> Any:
        """A copy of the network of its own, for training."""
        from transformers import AutoModel

        network = AutoModel.from_pretrained(
            self._source,
            revision=self.revision,
            trust_remote_code=self.trust_remote_code,
            attn_implementation="eager",
            dtype=torch_dtype(self.dtype),
        )
        return network.eval().to(resolved_device(self.device))

    @property
    def _source(self) -> str:
        if self.folder is not None:
            return self.folder
        return bundled_folder() if self.model == BUNDLED else self.model

    @cached_property
    def _special(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tokens that the model wants before and after a text."""
        plain = self._ids("a")
        full = [int(i) for i in self.tokenizer("a")["input_ids"]]
        at = next(i for i in range(len(full)) if full[i : i + len(plain)] == plain)
        return tuple(full[:at]), tuple(full[at + len(plain) :])

    def _ids(self, text: str) -> list[int]:
        return [int(i) for i in self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]]

    def _title(self, title: str) -> tuple[int, ...]:
        return tuple(self._ids(title)[: self.title_tokens]) if title and self.title_tokens else ()

    def _joined(self, ids: Sequence[Sequence[int]], pieces: Sequence[Piece], title: Sequence[int]) -> Window:
        tokens = [token for piece in pieces for token in ids[piece.chunk][piece.start : piece.end]]
        chunks = np.repeat([piece.chunk for piece in pieces], [piece.end - piece.start for piece in pieces])
        return self._window(tokens, chunks, title)

    def _window(self, tokens: Sequence[int], chunks: NDArray[np.int64], title: Sequence[int]) -> Window:
        before, after = (*self._special[0], *title), self._special[1]
        of_none = [np.full(len(part), -1, dtype=np.int64) for part in (before, after)]
        return Window((*before, *tokens, *after), np.concatenate([of_none[0], chunks, of_none[1]]))
