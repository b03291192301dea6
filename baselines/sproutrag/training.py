"""Joint training of the encoder and of the scalars of its layers and heads (arXiv 2606.18381)."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from tqdm import tqdm

from baselines.sproutrag.aggregation import Aggregation, Kind
from baselines.sproutrag.checkpoint import load_state, save_state
from baselines.sproutrag.encoder import Encoder
from baselines.sproutrag.examples import Corpus, Example, corpus_of, examples_of
from baselines.sproutrag.losses import Losses, batch_losses
from baselines.sproutrag.split import DocumentSplit
from baselines.sproutrag.threshold import chosen_threshold
from baselines.sproutrag.trained import CHOICE, ENCODER, SCALARS, STAGE, Trained, opened
from psi.component import Component, runtime
from psi.corpus.subset import subset
from psi.errors import InputError
from psi.store import RowLog, Stage, Store, write_rows
from psi.tree.workers import one_thread_products

if TYPE_CHECKING:
    import torch

VERSION = 1
CURVE = "curve.jsonl"


@dataclass(frozen=True, kw_only=True)
class SproutTraining(Component):
    """How the encoder is trained; the defaults are the paper's.

    The weights are a stage of the store: trained once, found by their settings afterwards, continued after a kill. On one
    machine equal settings give equal bits: on a CPU one thread works, dropout is off.

    datasets: the benchmarks, by any names, whose training parts give the examples and whose validation parts the
        threshold.
    questions: at most so many of each for training, chosen by `seed`; None: all.
    epochs, batch_size: passes over the examples, and examples in one step.
    micro_batch: examples in one backward pass; a step adds up their gradients.
    encoder_rate, scalar_rate: peak learning rates (AdamW) of the encoder and of the scalars of layers and heads.
    warm_up: share of the steps in which the rates rise from 0; they fall linearly to 0 afterwards.
    clip: largest norm of the gradients.
    weight_decay: of the encoder's weights.
    temperature: τ of the contrastive loss.
    retrieval_weight: of L_ret; 0: without it.
    attention_weight: λ of L_attn; 0: without it.
    aggregation: `learned` trains the scalars; the other kinds keep their weights fixed in L_attn.
    hard_negatives: for each question, by BM25 and by the untrained encoder in turn.
    in_batch: all other chunks in the windows of a micro batch are negatives too.
    validate: questions of each validation part that δ is chosen on; None: all.
    seed: of the order of the examples and of the choice of questions.
    checkpoint_every: steps between two states from which a killed training goes on.
    """

    datasets: Annotated[dict[str, DocumentSplit], Field(min_length=1)]
    questions: PositiveInt | None = None
    epochs: PositiveInt = 3
    batch_size: PositiveInt = 32
    micro_batch: PositiveInt = 4
    encoder_rate: PositiveFloat = 2e-5
    scalar_rate: PositiveFloat = 1e-3
    warm_up: Annotated[float, Field(ge=0, lt=1)] = 0.05
    clip: PositiveFloat = 1.0
    weight_decay: NonNegativeFloat = 0.01
    temperature: PositiveFloat = 0.05
    retrieval_weight: NonNegativeFloat = 1.0
    attention_weight: NonNegativeFloat = 0.1
    aggregation: Kind = "learned"
    hard_negatives: NonNegativeInt = 2
    in_batch: bool = False
    validate: PositiveInt | None = None
    seed: NonNegativeInt = 0
    checkpoint_every: PositiveInt = runtime(20)

    def obtain(self, encoder: Encoder, store: Store) -> Trained:
        """The weights trained from this encoder: found in the store, or trained now."""
        inputs = {
            f"{name}/{file}": digest
            for name, split in self.datasets.items()
            for file, digest in split.fingerprint().items()
        }
        config = {"encoder": encoder.identity(), "training": self.identity()}
        stage = Stage(STAGE, VERSION, config, inputs)

        def make(folder: Path) -> Mapping[str, Any]:
            with _one_thread(encoder), _Loop(self, encoder, store, folder) as loop:
                return loop.run()

        return opened(store.obtain(stage, make, resumable=True), encoder)


class Schedule(NamedTuple):
    """Steps in all, and those in which the rates rise."""

    steps: int
    rising: int

    def share(self, step: int) -> float:
        """The share of the peak rate at a step, counted from 0."""
        if step < self.rising:
            return (step + 1) / self.rising
        return (self.steps - step) / max(1, self.steps - self.rising)


class _Loop:
    """One training: its parts, and the steps."""

    def __init__(self, config: SproutTraining, encoder: Encoder, store: Store, folder: Path):
        import torch

        self._config, self._store, self._folder = config, store, folder
        self._encoder = _in_training(encoder)
        self._corpora = _corpora(config, self._encoder)
        self._examples = examples_of(self._corpora, config.hard_negatives, store)
        if not self._examples:
            raise InputError("no question of the training part has gold passages: there is nothing to learn from.")
        layers, width = self._encoder.heads
        self._scalars = torch.zeros(layers * width, requires_grad=True, device=self._encoder.network.device)
        self._optimizer = _optimizer(config, self._encoder.network, self._scalars)
        steps = config.epochs * math.ceil(len(self._examples) / config.batch_size)
        self._schedule = Schedule(steps, math.ceil(config.warm_up * steps))
        self._curve = RowLog(folder / "curve.log", key="step")

    def __enter__(self) -> _Loop:
        return self

    def __exit__(self, *_: object) -> None:
        self._curve.close()

    def run(self) -> dict[str, Any]:
        done = load_state(self._folder, self._encoder.network, self._scalars, self._optimizer)
        seconds = time.perf_counter()
        with tqdm(total=self._schedule.steps, initial=done, desc="training", unit="step", disable=None) as bar:
            for step in range(done, self._schedule.steps):
                self._curve.append([self._step(step)])
                if (step + 1) % self._config.checkpoint_every == 0 or step + 1 == self._schedule.steps:
                    save_state(self._folder, step + 1, self._encoder.network, self._scalars, self._optimizer)
                bar.update()
        seconds = time.perf_counter() - seconds
        return {**self._write(), "training_seconds": round(seconds, 1)}

    def _step(self, step: int) -> dict[str, Any]:
        import torch

        batch = self._batch(step)
        pairs = sum(example.pairs for example in batch) if self._learns_structure else 0
        sums = np.zeros(2)
        self._optimizer.zero_grad()
        for start in range(0, len(batch), self._config.micro_batch):
            losses = self._losses(batch[start : start + self._config.micro_batch])
            retrieval, attention = losses.retrieval / len(batch), losses.attention / max(1, pairs)
            total = self._config.retrieval_weight * retrieval + self._config.attention_weight * attention
            if total.requires_grad:
                total.backward()  # type: ignore[no-untyped-call]
            sums += [float(retrieval.detach()), float(attention.detach())]
        norm = torch.nn.utils.clip_grad_norm_([*self._encoder.network.parameters(), self._scalars], self._config.clip)
        for group in self._optimizer.param_groups:
            group["lr"] = group["peak"] * self._schedule.share(step)
        self._optimizer.step()
        loss = self._config.retrieval_weight * sums[0] + self._config.attention_weight * sums[1]
        return {
            "step": step + 1, "epoch": self._epoch(step) + 1, "loss": float(loss), "retrieval": float(sums[0]),
            "attention": float(sums[1]) if pairs else None, "pairs": pairs, "gradient": float(norm),
            "encoder_rate": self._optimizer.param_groups[0]["lr"],
        }  # fmt: skip

    def _losses(self, examples: Sequence[Example]) -> Losses:
        return batch_losses(
            examples, self._corpora, self._encoder, self._weights(),
            temperature=self._config.temperature, in_batch=self._config.in_batch,
        )  # fmt: skip

    def _weights(self) -> torch.Tensor | None:
        import torch

        if not self._learns_structure:
            return None
        if self._config.aggregation == "learned":
            return torch.softmax(self._scalars, dim=0)
        fixed = Aggregation(kind=self._config.aggregation).weights(self._encoder.heads, None)
        return torch.from_numpy(fixed).to(self._scalars)

    @property
    def _learns_structure(self) -> bool:
        return self._config.attention_weight > 0 and self._config.aggregation != "similarity"

    def _epoch(self, step: int) -> int:
        return step // (self._schedule.steps // self._config.epochs)

    def _batch(self, step: int) -> list[Example]:
        epoch = self._epoch(step)
        order = np.random.default_rng([self._config.seed, epoch]).permutation(len(self._examples))
        start = (step - epoch * (self._schedule.steps // self._config.epochs)) * self._config.batch_size
        return [self._examples[int(i)] for i in order[start : start + self._config.batch_size]]

    def _write(self) -> dict[str, Any]:
        scalars: NDArray[np.float64] = self._scalars.detach().cpu().numpy().astype(np.float64)
        self._encoder.network.save_pretrained(self._folder / ENCODER)
        self._encoder.tokenizer.save_pretrained(self._folder / ENCODER)
        np.save(self._folder / SCALARS, scalars, allow_pickle=False)
        write_rows(self._folder / CURVE, [self._curve.rows[key] for key in sorted(self._curve.rows)])
        held = [subset(split.of("validation").load(), self._config.validate, None, self._config.seed)
                for split in self._config.datasets.values()]  # fmt: skip
        choice = chosen_threshold(held, self._encoder, scalars, self._config.aggregation)
        (self._folder / CHOICE).write_text(json.dumps(choice, indent=1), encoding="utf-8")
        return {
            "examples": len(self._examples), "pairs": sum(example.pairs for example in self._examples),
            "steps": self._schedule.steps, "threshold": choice["threshold"],
            "validation_questions": sum(len(each.questions) for each in held),
        }  # fmt: skip


def _in_training(encoder: Encoder) -> Encoder:
    """The encoder with a network of its own, whose weights may change; on a GPU its passes are in bfloat16."""
    import torch

    own = dataclasses.replace(encoder)
    for parameter in own.network.parameters():
        parameter.requires_grad_(True)
    if own.network.device.type == "cuda":
        own.network.forward = torch.autocast("cuda", dtype=torch.bfloat16)(own.network.forward)
    return own


def _corpora(config: SproutTraining, encoder: Encoder) -> list[Corpus]:
    parts = [split.of("train").load() for split in config.datasets.values()]
    return [corpus_of(subset(part, config.questions, None, config.seed), encoder) for part in parts]


def _optimizer(config: SproutTraining, network: torch.nn.Module, scalars: torch.Tensor) -> torch.optim.AdamW:
    import torch

    return torch.optim.AdamW([
        {"params": list(network.parameters()), "peak": config.encoder_rate, "weight_decay": config.weight_decay},
        {"params": [scalars], "peak": config.scalar_rate, "weight_decay": 0.0},
    ])  # fmt: skip


def _one_thread(encoder: Encoder) -> AbstractContextManager[None]:
    """On a CPU, sums in one order."""
    return one_thread_products() if encoder.network.device.type == "cpu" else nullcontext()
