"""Rerankers that are asked for a judgement: a causal language model says "yes" or "no", its logits are the score."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from psi.component import runtime
from psi.errors import ConfigError
from psi.models.causal_lm import CausalLanguageModel

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class QwenReranker(CausalLanguageModel):
    """Qwen3-Reranker (Zhang et al. 2025, arXiv 2506.05176), or any causal model that was trained to judge like it.

    The score is logit(yes) − logit(no) at the end of the prompt: the logit of the probability that the model card
    computes, and so the same order, without the ties of probabilities that round to 1. A pair that does not fit the
    window loses the end of its passage (counted in the log).

    prefix, suffix: what stands before and after every pair, control tokens included.
    pair: the pair itself, with the places `{instruction}`, `{question}` and `{passage}`, the last at its end.
    instruction: the task, in the words of the model card unless yours differs.
    positive, negative: the words whose logits are compared; one token each.
    batch_size: pairs in one forward pass; pairs of like length go together.
    """

    prefix: str
    suffix: str
    pair: str = "<Instruct>: {instruction}\n<Query>: {question}\n<Document>: {passage}"
    instruction: str = "Given a web search query, retrieve relevant passages that answer the query"
    positive: str = "yes"
    negative: str = "no"
    batch_size: PositiveInt = runtime(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.pair.endswith("{passage}") or "{question}" not in self.pair:
            raise ConfigError(
                f"{type(self).__name__}: pair={self.pair!r} must hold {{question}} and end in {{passage}}."
            )

    def score(self, questions: Sequence[str], passages: Sequence[str]) -> NDArray[np.float32]:
        """(n,) logit(yes) − logit(no) of the pairs (questions[i], passages[i])."""
        prompts = self._prompts(questions, passages)
        scores = np.zeros(len(prompts), dtype=np.float32)
        order = sorted(range(len(prompts)), key=lambda row: -len(prompts[row]))  # the largest batch fails first, if any
        for start in range(0, len(order), self.batch_size):
            rows = order[start : start + self.batch_size]
            scores[rows] = self._batch([prompts[row] for row in rows])
        return scores

    def _prompts(self, questions: Sequence[str], passages: Sequence[str]) -> list[list[int]]:
        if not questions:
            return []
        before, after = self._frame
        room = self.window - len(before) - len(after)
        pairs = self._tokenizer(
            [self._pair(*pair) for pair in zip(questions, passages, strict=True)], add_special_tokens=False
        )["input_ids"]
        cut = sum(len(ids) > room for ids in pairs)
        if cut:
            log.warning("%d of %d pairs are longer than %d tokens and were cut.", cut, len(pairs), room)
        return [[*before, *ids[:room], *after] for ids in pairs]

    def _pair(self, question: str, passage: str) -> str:
        # not str.format on the whole: braces in a question are no places
        head = self.pair.removesuffix("{passage}").replace("{instruction}", self.instruction)
        return head.replace("{question}", question) + passage

    def _batch(self, prompts: Sequence[list[int]]) -> NDArray[np.float32]:
        import torch

        ids, mask = self._padded(prompts)
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)  # padding must not move a prompt
        with torch.inference_mode():
            logits = (
                self._network(
                    input_ids=ids, attention_mask=mask, position_ids=positions, logits_to_keep=1, use_cache=False
                )
                .logits[:, -1]
                .float()
            )
        yes, no = self._verdicts
        difference: NDArray[np.float32] = (logits[:, yes] - logits[:, no]).cpu().numpy()
        return difference

    def _padded(self, prompts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """(b, longest) tokens and mask, padded on the left: every prompt ends in the last column."""
        import torch

        longest = max(map(len, prompts))
        ids = torch.zeros((len(prompts), longest), dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = torch.tensor(prompt)
            mask[row, longest - len(prompt) :] = 1
        return ids.to(self._network.device), mask.to(self._network.device)

    @cached_property
    def _frame(self) -> tuple[list[int], list[int]]:
        before, after = self._tokenizer([self.prefix, self.suffix], add_special_tokens=False)["input_ids"]
        if len(before) + len(after) >= self.window:
            raise ConfigError(
                f"reranker model={self.model!r}: prefix and suffix have {len(before) + len(after)} tokens, the window "
                f"has {self.window}. Raise context_tokens or shorten them."
            )
        return before, after

    @cached_property
    def _verdicts(self) -> tuple[int, int]:
        ids = []
        for word in (self.positive, self.negative):
            tokens = self._tokenizer(word, add_special_tokens=False)["input_ids"]
            if len(tokens) != 1 or tokens[0] == self._tokenizer.unk_token_id:
                raise ConfigError(
                    f"reranker model={self.model!r}: {word!r} is not one token of its vocabulary. Set positive "
                    "and negative to words that are."
                )
            ids.append(tokens[0])
        return ids[0], ids[1]
