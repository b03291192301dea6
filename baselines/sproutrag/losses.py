"""The joint objective (paper): L = L_ret + λ·L_attn, for a batch of examples whose windows are encoded once each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from baselines.sproutrag.encoder import Encoder, Pass, Window
from baselines.sproutrag.encoding import membership
from baselines.sproutrag.examples import Corpus, Example, Place

if TYPE_CHECKING:
    import torch

LEAST = 1e-12  # of a relation, so that its logarithm is a number


class Losses(NamedTuple):
    """Sums over the examples of a batch: the contrastive loss, −log M over `pairs` of chunks that belong together."""

    retrieval: torch.Tensor
    attention: torch.Tensor
    pairs: int


class _Encoded(NamedTuple):
    """Chunks of some windows: unit vectors (c, d); which chunk each is: (window's place, chunk)."""

    vectors: torch.Tensor
    chunks: list[tuple[Place, int]]


def batch_losses(
    examples: Sequence[Example],
    corpora: Sequence[Corpus],
    encoder: Encoder,
    weights: torch.Tensor | None,
    *,
    temperature: float,
    in_batch: bool,
) -> Losses:
    """Losses of a batch, with gradients.

    Args:
        examples: at least one.
        corpora: what their places speak of.
        encoder: its network is the one in training.
        weights: (layers * heads,) of the attentions, in sum 1; None: no attention loss.
        temperature: τ of the contrastive loss.
        in_batch: besides the hard negatives, all chunks in the batch's windows that do not support the question.
    """
    import torch

    places = sorted({place for each in examples for place in (each.place, *(where for where, _ in each.negatives))})
    windows = {place: corpora[place.benchmark].windows(place.document)[place.window] for place in places}
    passes: dict[Place, Pass] = {}
    for place in places:
        passes[place] = encoder.passed([windows[place]])[0]
    encoded = _encoded(windows, passes)
    retrieval = torch.stack([
        _contrastive(_unit(encoder.text_vector(each.question)), each, encoded, temperature, in_batch)
        for each in examples
    ]).sum()  # fmt: skip
    attention = retrieval.new_zeros(())
    together = [each for each in examples if each.pairs] if weights is not None else []
    for each in together:
        attention = attention + attention_loss(windows[each.place], passes[each.place], each.positives, weights)
    return Losses(retrieval, attention, sum(each.pairs for each in together))


def attention_loss(window: Window, output: Pass, together: Sequence[int], weights: torch.Tensor | None) -> torch.Tensor:
    """Σ −log M over the pairs of these chunks of a window, M as in the index: A = Σ w·attention, (A + Aᵀ)/2."""
    import torch

    attention = torch.cat(output.attentions).float()
    assert weights is not None
    combined = torch.einsum("h,hij->ij", weights, attention)
    here, indicator = membership(window)
    mean = torch.from_numpy(indicator / indicator.sum(axis=1, keepdims=True)).to(combined)
    relation = mean @ combined @ mean.T
    relation = (relation + relation.T) / 2
    rows = [here.tolist().index(chunk) for chunk in together]
    a, b = torch.triu_indices(len(rows), len(rows), 1)
    places = torch.tensor(rows)
    return -torch.log(relation[places[a], places[b]].clamp(min=LEAST)).sum()


def _encoded(windows: dict[Place, Window], passes: dict[Place, Pass]) -> _Encoded:
    import torch

    vectors, chunks = [], []
    for place, window in windows.items():
        here, indicator = membership(window)
        mean = torch.from_numpy(indicator / indicator.sum(axis=1, keepdims=True))
        states = passes[place].states.float()
        vectors.append(mean.to(states) @ states)
        chunks += [(place, int(chunk)) for chunk in here]
    return _Encoded(_unit(torch.cat(vectors)), chunks)


def _contrastive(
    question: torch.Tensor, example: Example, encoded: _Encoded, temperature: float, in_batch: bool
) -> torch.Tensor:
    """−log of the softmax share of a positive among itself and the negatives, the mean over the positives."""
    import torch

    hard = set(example.negatives)
    positives, negatives = [], []
    for row, (place, chunk) in enumerate(encoded.chunks):
        if place == example.place and chunk in example.positives:
            positives.append(row)
        elif (place, chunk) in hard or (in_batch and not _supports(place, chunk, example)):
            negatives.append(row)
    logits = (encoded.vectors @ question.float()) / temperature
    against = torch.cat([logits[positives, None], logits[negatives].expand(len(positives), -1)], dim=1)
    return (torch.logsumexp(against, dim=1) - against[:, 0]).mean()


def _supports(place: Place, chunk: int, example: Example) -> bool:
    return place.benchmark == example.place.benchmark and (place.document, chunk) in example.gold


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.nn.functional.normalize(vectors.float(), dim=-1)
