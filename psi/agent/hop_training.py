"""Training and measuring the hop discriminator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from psi.agent.hops import MOST_HOPS, HopWeights
from psi.component import Component
from psi.corpus.records import Question
from psi.errors import InputError
from psi.models.repeatable import repeatable
from psi.models.vectors import unit_rows

if TYPE_CHECKING:
    import torch


class Trained(NamedTuple):
    """Weights of the best epoch, that epoch's number, and how they do on the questions held back."""

    weights: HopWeights
    epoch: int
    validation_loss: float
    validation: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class HopTraining(Component):
    """How the discriminator is trained; the defaults are those of the paper's released code.

    AdamW on the cross-entropy weighted against the classes' frequencies; a stratified part of the questions is held
    back, and training stops when the loss on it has not fallen for `patience` epochs. Equal data and settings give
    equal bits on one machine, whatever the number of threads.
    """

    hidden: PositiveInt = 128
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    learning_rate: PositiveFloat = 1e-3
    weight_decay: NonNegativeFloat = 1e-4
    batch_size: PositiveInt = 64
    epochs: PositiveInt = 50
    patience: PositiveInt = 5
    validation: Annotated[float, Field(gt=0, lt=1)] = 0.1
    seed: NonNegativeInt = 42

    def train(self, vectors: NDArray[np.float32], hops: NDArray[np.int64]) -> Trained:
        """Fit (n, d) question vectors to their numbers of hops (n,), 1 to 4.

        Raises:
            InputError: fewer than two questions.
        """
        if len(hops) < 2:
            raise InputError(f"{len(hops)} questions with a known number of hops: training needs at least 2.")
        import torch

        held, kept = _held_back(hops, self.validation, np.random.default_rng(self.seed))
        inputs, labels = torch.from_numpy(unit_rows(vectors)), torch.from_numpy(hops - 1)
        with repeatable(self.seed):
            return self._fitted(inputs, labels, torch.from_numpy(kept), torch.from_numpy(held))

    def _fitted(self, inputs: torch.Tensor, labels: torch.Tensor, kept: torch.Tensor, held: torch.Tensor) -> Trained:
        import torch

        network = self._network(inputs.shape[1])
        loss = torch.nn.CrossEntropyLoss(weight=_class_weights(labels[kept]))
        optimizer = torch.optim.AdamW(network.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay)
        best: Trained | None = None
        for epoch in range(1, self.epochs + 1):
            _train_epoch(network, optimizer, loss, inputs[kept], labels[kept], self.batch_size)
            network.eval()
            with torch.inference_mode():
                held_loss = float(loss(network(inputs[held]), labels[held]))
            if best is None or held_loss < best.validation_loss:
                weights = _weights(network)
                best = Trained(
                    weights, epoch, held_loss, confusion(labels[held].numpy() + 1, weights, inputs[held].numpy())
                )
            elif epoch - best.epoch >= self.patience:
                break
        assert best is not None  # there is at least one epoch
        return best

    def _network(self, width: int) -> Any:
        from torch import nn

        return nn.Sequential(
            nn.Linear(width, self.hidden), nn.ReLU(), nn.Dropout(self.dropout), nn.Linear(self.hidden, MOST_HOPS)
        )


def labelled(questions: Sequence[Question]) -> tuple[list[str], NDArray[np.int64]]:
    """Texts and classes of the answerable questions whose number of hops is known."""
    known = [question for question in questions if question.hops and question.answerable]
    return [question.text for question in known], np.array([min(q.hops or 1, MOST_HOPS) for q in known], dtype=np.int64)


def confusion(hops: NDArray[np.int64], weights: HopWeights, vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """(4, 4) counts: rows are the true numbers of hops, columns the predicted ones."""
    counts = np.zeros((MOST_HOPS, MOST_HOPS), dtype=np.int64)
    np.add.at(counts, (hops - 1, weights.hops(vectors) - 1), 1)
    return counts


def accuracy(counts: NDArray[np.int64]) -> float:
    """Share of the diagonal."""
    return float(np.trace(counts) / counts.sum())


def _held_back(
    hops: NDArray[np.int64], share: float, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions to validate on, a share of every class that has two questions or more, and the other positions."""
    held: list[int] = []
    for label in np.unique(hops):
        members = random.permutation(np.flatnonzero(hops == label))
        held += members[: min(max(1, round(share * len(members))), len(members) - 1)].tolist()
    if not held:  # one question a class: nothing can be spared
        return np.arange(len(hops)), np.arange(len(hops))
    return np.sort(held), np.setdiff1d(np.arange(len(hops)), held)


def _class_weights(labels: torch.Tensor) -> torch.Tensor:
    counts = labels.bincount(minlength=MOST_HOPS)
    return counts.sum() / (MOST_HOPS * counts).clamp(min=1)


def _train_epoch(
    network: Any, optimizer: Any, loss: Any, inputs: torch.Tensor, labels: torch.Tensor, batch_size: int
) -> None:
    import torch

    network.train()
    for batch in torch.split(torch.randperm(len(labels)), batch_size):
        optimizer.zero_grad()
        loss(network(inputs[batch]), labels[batch]).backward()
        optimizer.step()


def _weights(network: Any) -> HopWeights:
    first, second = network[0], network[3]
    return HopWeights(
        first.weight.detach().numpy().T.copy(), first.bias.detach().numpy().copy(),
        second.weight.detach().numpy().T.copy(), second.bias.detach().numpy().copy(),
    )  # fmt: skip
