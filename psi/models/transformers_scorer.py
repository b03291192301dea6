"""Scoring given continuations of a prompt with a causal language model, all of them in one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from psi.errors import ModelError
from psi.models.causal_lm import CausalLanguageModel, out_of_memory
from psi.models.protocols import SpanScores
from psi.models.trie import TokenTrie

if TYPE_CHECKING:
    import torch

    KeyValues = list[tuple[torch.Tensor, torch.Tensor]]


class PromptTooLongError(ModelError):
    """The prompt and the candidates need more tokens than the model's window has."""

    def __init__(self, needed: int, window: int):
        super().__init__(
            f"prompt and candidates need {needed} tokens, the window has {window}: give fewer or shorter "
            "passages, or raise context_tokens.",
            kind="truncated",
        )
        self.needed = needed


@dataclass(frozen=True, kw_only=True)
class TransformersScorer(CausalLanguageModel):
    """Log-probabilities of candidate spans after a prompt.

    The candidates form a token trie. Every node of the trie is one position of a single forward pass; the attention
    mask lets it see the prompt and its own ancestors only, and its position is the one it would have if its
    candidate stood there alone. So the scores equal those of one pass a candidate, for the price of about one
    prompt. The keys and values of a shared prefix (instruction and examples) are computed once.
    """

    def score(self, prefix: str, prompt: str, spans: Sequence[str]) -> SpanScores:
        """Score spans as the rest of the line after `prefix + prompt` (a blank is put before each).

        Raises:
            PromptTooLongError: prompt and spans do not fit the window.
            ModelError: the device has too little memory.
        """
        import torch

        if not spans:
            return SpanScores(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64), 0)
        shared, question = self._split(prefix, prompt)
        trie = TokenTrie.of(self._continuations(prompt, spans))
        length = len(shared) + len(question)
        needed = length + int(trie.depths.max()) + 1
        if needed > self.window:
            raise PromptTooLongError(needed, self.window)
        try:
            steps, line_ends = self._log_probabilities(shared, question, trie)
        except torch.OutOfMemoryError as error:
            raise out_of_memory(self.model, error) from None
        return SpanScores(trie.sums(steps)[trie.ends], line_ends[trie.ends], trie.depths[trie.ends], length)

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _split(self, prefix: str, prompt: str) -> tuple[list[int], list[int]]:
        """Tokens of the whole text, cut where the tokens of the prefix alone end or begin to differ from them."""
        whole = self._tokens(prefix + prompt)
        same = (left == right for left, right in zip(self._tokens(prefix), whole, strict=False))
        shared = sum(1 for _ in takewhile(bool, same))
        return whole[:shared], whole[shared:]

    def _continuations(self, prompt: str, spans: Sequence[str]) -> list[list[int]]:
        # a span is tokenised behind the prompt's last line: some tokenisers treat the start of a text specially
        line = prompt.rsplit("\n", 1)[-1]
        start = len(self._tokens(line))
        texts = [f"{line} {span}" for span in spans]
        return [ids[start:] for ids in self._tokenizer(texts, add_special_tokens=False)["input_ids"]]

    def _log_probabilities(
        self, shared: list[int], question: list[int], trie: TokenTrie
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For every node: log p(its token | what stands before it), and log p(line break | everything up to it)."""
        import torch

        device, dtype = self._network.device, self._network.dtype
        before = len(shared) + len(question)
        positions = np.concatenate([np.arange(len(shared), before), before + trie.depths - 1])
        visible = torch.from_numpy(_visible(len(shared), len(question), trie)).to(device)
        # additive, because attention kernels would convert a boolean mask anew in every layer
        mask = torch.zeros(visible.shape, dtype=dtype, device=device).masked_fill_(~visible, float("-inf"))
        with torch.inference_mode():
            logits = self._network(
                input_ids=torch.tensor([[*question, *trie.tokens]], device=device),
                position_ids=torch.from_numpy(positions)[None].to(device),
                attention_mask=mask[None, None],
                cache=self._cache(tuple(shared)),
                use_cache=True,
                logits_to_keep=len(trie) + 1,
            ).logits[0]
            norms = torch.cat([rows.float().logsumexp(-1) for rows in logits.split(256)])
            sources = torch.from_numpy(trie.parents + 1).to(device)  # row 0 is the prompt's last token
            steps = logits[sources, torch.from_numpy(trie.tokens).to(device)].float() - norms[sources]
            line_ends = logits[1:, self._tokens("\n")[-1]].float() - norms[1:]
        return steps.cpu().double().numpy(), line_ends.cpu().double().numpy()

    def _cache(self, shared: tuple[int, ...]) -> Any:
        from transformers import DynamicCache

        if shared not in self._prefixes:
            self._prefixes.clear()  # one prefix at a time is in use: keep no others
            self._prefixes[shared] = self._key_values(shared)
        # the cache replaces its tensors when it grows and leaves these alone
        return DynamicCache(self._prefixes[shared])

    @cached_property
    def _prefixes(self) -> dict[tuple[int, ...], KeyValues]:
        return {}

    def _key_values(self, tokens: tuple[int, ...]) -> KeyValues:
        import torch

        if not tokens:
            return []
        with torch.inference_mode():
            ids = torch.tensor([tokens], device=self._network.device)
            cache = self._network(input_ids=ids, use_cache=True, logits_to_keep=1).cache
        return [(layer.keys, layer.values) for layer in cache.layers]


def _visible(shared: int, question: int, trie: TokenTrie) -> NDArray[np.bool_]:
    """(question + n, shared + question + n) mask: which positions each position of the pass may attend to."""
    mask = np.zeros((question + len(trie), shared + question + len(trie)), dtype=np.bool_)
    mask[:, :shared] = True
    mask[:question, shared : shared + question] = np.tri(question, dtype=np.bool_)
    mask[question:, shared : shared + question] = True
    mask[question:, shared + question :] = trie.ancestors()
    return mask
