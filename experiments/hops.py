"""Train hop discriminators, each on other datasets than the one that it is for.

    python -m experiments.hops datasets=[twowiki,hotpotqa_train,musique_train,nq_oracle]
    python -m experiments.hops datasets=[hotpotqa_train,musique_train,nq_oracle] targets=[twowiki,popqa] embedder=bge_m3

For every target (default: each dataset) one is trained on all other datasets and kept in STORE/hops/TARGET; where the
target's own questions are among the datasets, its accuracy on them is measured. The number of hops of a question is the
number of gold passages that its dataset says must be combined (HotpotQA: distinct supporting titles, not sentences).
Settings of the embedder and of the training can be given as well: embedder.batch_size=8 training.seed=1
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from hydra.errors import HydraException
from hydra.utils import instantiate
from numpy.typing import NDArray
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field
from rich.table import Table

from experiments.complaints import explained
from experiments.configuration import composed
from experiments.output import console
from psi.agent.hop_training import HopTraining, Trained, accuracy, confusion, labelled
from psi.agent.hops import MOST_HOPS, save_discriminator
from psi.component import Component, settings_of
from psi.corpus.loader import Loader
from psi.errors import ConfigError, PsiError
from psi.index.embeddings import question_vectors
from psi.models.protocols import Embedder
from psi.models.vectors import checked_vectors
from psi.store import Store, safe_name


@dataclass(frozen=True, kw_only=True)
class Request(Component):
    """What to train: on which datasets, for which targets (empty: each of the datasets), kept in which store."""

    datasets: Annotated[tuple[str, ...], Field(min_length=1)]
    targets: tuple[str, ...] = ()
    store: str = "runs"
    training: HopTraining = field(default_factory=HopTraining)


@dataclass(frozen=True)
class Labelled:
    """Questions of one dataset with known hops: their vectors (n, d) and classes (n,), and what they came from."""

    name: str
    digest: str
    vectors: NDArray[np.float32]
    hops: NDArray[np.int64]

    def facts(self) -> dict[str, Any]:
        """For the record: how many questions of which class, by digest."""
        return {"name": self.name, "questions": len(self.hops), "digest": self.digest, "hops": _counts(self.hops)}


@dataclass(frozen=True)
class Outcome:
    """One discriminator: its target, what training took, and how it does on the target, where that is known."""

    target: str
    folder: Path
    trained_on: int
    trained: Trained
    confusion: NDArray[np.int64] | None
    seconds: float


def main(arguments: Sequence[str]) -> None:
    """Train, keep and show what the arguments ask for."""
    own, overrides = _split(arguments)
    request = _request(own)
    embedder: Embedder = _made("embedder", overrides)
    data = {name: _labelled(name, overrides, embedder, Store(request.store)) for name in request.datasets}
    outcomes = [_train(target, data, embedder, request) for target in request.targets or request.datasets]
    _show(outcomes)


def _train(target: str, data: Mapping[str, Labelled], embedder: Embedder, request: Request) -> Outcome:
    others = [each for name, each in data.items() if name != target]
    if not others:
        raise ConfigError(f"targets={target}: there is no other dataset to train on. Name more in datasets=[...].")
    start = time.perf_counter()
    trained = request.training.train(
        np.concatenate([each.vectors for each in others]), np.concatenate([each.hops for each in others])
    )
    seconds = time.perf_counter() - start
    known = data.get(target)
    counts = None if known is None else confusion(known.hops, trained.weights, known.vectors)
    folder = Path(request.store) / "hops" / safe_name(target)
    record = {
        "embedder": embedder.identity(), "training": request.training.identity(), "target": target,
        "trained_on": [each.facts() for each in others], "epoch": trained.epoch,
        "validation": {"loss": trained.validation_loss, **_measured(trained.validation)},
        "on_target": None if known is None or counts is None else {**known.facts(), **_measured(counts)},
    }  # fmt: skip
    save_discriminator(folder, trained.weights, record)
    return Outcome(target, folder, sum(len(each.hops) for each in others), trained, counts, seconds)


def _labelled(name: str, overrides: Sequence[str], embedder: Embedder, store: Store) -> Labelled:
    loader: Loader = _made("dataset", [*overrides, f"dataset={name}"])
    benchmark = loader.load()
    texts, hops = labelled(benchmark.questions)
    if not texts:
        raise ConfigError(f"datasets={name}: none of its questions says how many hops it takes. Leave it out.")
    width = checked_vectors(embedder.encode_questions(texts[:1])).shape[1]
    return Labelled(name, benchmark.questions_digest, question_vectors(texts, embedder, store, width), hops)


def _measured(counts: NDArray[np.int64]) -> dict[str, Any]:
    return {"n": int(counts.sum()), "accuracy": round(accuracy(counts), 4), "confusion": counts.tolist()}


def _counts(hops: NDArray[np.int64]) -> dict[str, int]:
    return {str(label): int((hops == label).sum()) for label in range(1, MOST_HOPS + 1)}


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Arguments for this program, and those for the configuration of datasets and embedder."""
    ours = [argument for argument in arguments if argument.partition("=")[0].split(".")[0] in settings_of(Request)]
    return ours, [argument for argument in arguments if argument not in ours]


def _request(arguments: Sequence[str]) -> Request:
    given: Any = OmegaConf.to_container(OmegaConf.from_dotlist(list(arguments)))
    if "datasets" not in given:
        raise ConfigError("datasets=[...] is missing: name the datasets to train on, such as [twowiki,nq_oracle].")
    training = given.pop("training", {})
    unknown = [key for key in training if key not in settings_of(HopTraining)]
    if unknown:
        raise ConfigError(f"unknown setting 'training.{unknown[0]}'. Allowed: {', '.join(settings_of(HopTraining))}.")
    return Request(**given, training=HopTraining(**training))


def _made(group: str, overrides: Sequence[str]) -> Any:
    return instantiate(composed(overrides)[group], _convert_="all")


def _show(outcomes: Sequence[Outcome]) -> None:
    table = Table(title="Hop discriminators")
    for name in (
        "target",
        "trained on",
        "epoch",
        "validation",
        "on target",
        "most frequent class",
        "seconds",
        "folder",
    ):
        table.add_column(name)
    for each in outcomes:
        table.add_row(
            each.target, str(each.trained_on), str(each.trained.epoch), _percent(accuracy(each.trained.validation)),
            "-" if each.confusion is None else _percent(accuracy(each.confusion)),
            "-" if each.confusion is None else _percent(float(each.confusion.sum(axis=1).max() / each.confusion.sum())),
            f"{each.seconds:.2f}", str(each.folder),
        )  # fmt: skip
    out = console()
    out.print(table)
    for each in (each for each in outcomes if each.confusion is not None):
        out.print(f"{each.target}: rows are true hops 1-4, columns predicted\n{each.confusion}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (HydraException, OmegaConfBaseException, PsiError) as error:
        sys.stderr.write(f"{error if isinstance(error, PsiError) else explained(error, sys.argv[1:])}\n")
        raise SystemExit(2) from None
