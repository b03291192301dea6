"""Train SproutRAG, show how it went, and where the weights are.

    python -m experiments.sprout method=sprout_trained
    python -m experiments.sprout method=sprout_trained sprout_training@method.retriever.trained=paper seed=1 store=runs

What is trained are the weights that `python -m experiments.run` with the same arguments asks for: they are trained there too
where they are missing. A killed training goes on where it stood. Figures of the losses and of the heads' weights before and
after go to STORE/sprout/DIGEST. To use weights that were trained elsewhere:

    python -m experiments.run method=sprout method.name=sprout_stored \\
        'method.retriever.trained={_target_: baselines.sproutrag.trained.StoredTraining, folder: FOLDER}'
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hydra.errors import HydraException
from numpy.typing import NDArray
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console

from analysis.style import PAGE_MM, new_figure, save, series, styled
from baselines.sproutrag.aggregation import Aggregation
from baselines.sproutrag.encoder import Encoder
from baselines.sproutrag.retriever import Sprout
from baselines.sproutrag.training import CURVE
from experiments.complaints import explained
from experiments.compose import run_from
from experiments.configuration import composed
from psi.errors import ConfigError, PsiError
from psi.store import Store, open_artifact, read_rows

Doubles = NDArray[np.float64]


def main(arguments: Sequence[str]) -> None:
    """Train, or find, the weights that the arguments ask for, and show them."""
    run = run_from(composed(arguments))
    method = run.method.retriever
    if not isinstance(method, Sprout) or method.trained is None:
        raise ConfigError(f"method {run.method.name} has nothing to train. Take method=sprout_trained or one like it.")
    trained = method.trained.obtain(method.encoder, Store(run.store))
    folder = Path(str(trained.encoder.folder)).parent
    out = Path(run.store) / "sprout" / folder.name
    rows = read_rows(folder / CURVE)
    scalars = trained.scalars if trained.scalars is not None else np.zeros(np.prod(method.encoder.heads))
    draw_curve(rows, out / "curve")
    draw_heads(scalars, method.encoder, out / "heads")
    _show(folder, open_artifact(folder).facts, rows, trained.threshold, out)


def draw_curve(rows: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Both losses against the step."""
    with styled():
        figure = new_figure(PAGE_MM, 60)
        panels = figure.subplots(1, 2)
        for place, (axes, key, title) in enumerate(
            zip(panels, ("retrieval", "attention"), ("Contrastive loss", "Attention loss (−mean log M)"), strict=True)
        ):
            known = [(row["step"], row[key]) for row in rows if row[key] is not None]
            look = series(place)
            axes.plot(*np.array(known).reshape(-1, 2).T, color=look.colour, marker=look.marker, markersize=2)
            axes.set(title=title, xlabel="step", ylabel="loss")
            axes.grid(axis="y")
        save(figure, out, rows)


def draw_heads(scalars: Doubles, encoder: Encoder, out: Path) -> None:
    """The weight of every layer and head, relative to all being alike, before and after training."""
    layers, heads = encoder.heads
    before = Aggregation().weights((layers, heads), None).reshape(layers, heads) * layers * heads
    after = Aggregation().weights((layers, heads), scalars).reshape(layers, heads) * layers * heads
    reach = max(float(np.abs(np.log2(after)).max()), 0.05)
    with styled():
        figure = new_figure(PAGE_MM, 30 + 6 * layers)
        for axes, values, title in zip(
            figure.subplots(1, 2), (before, after), ("Before training", "After training"), strict=True
        ):
            image = axes.imshow(np.log2(values), cmap="PuOr_r", vmin=-reach, vmax=reach, aspect="auto")
            axes.set(title=title, xlabel="head", ylabel="layer")
            axes.set_xticks(range(heads), [str(head + 1) for head in range(heads)])
            axes.set_yticks(range(layers), [str(layer + 1) for layer in range(layers)])
            for layer in range(layers):
                for head in range(heads):
                    text, strong = f"{values[layer, head]:.2f}", abs(np.log2(values[layer, head])) > 0.6 * reach
                    axes.text(
                        head, layer, text, ha="center", va="center", fontsize=5, color="white" if strong else "black"
                    )
        figure.colorbar(image, ax=figure.axes, label="log2 of weight over uniform", shrink=0.9)
        rows = [
            {"layer": layer + 1, "head": head + 1, "before": before[layer, head], "after": after[layer, head]}
            for layer in range(layers)
            for head in range(heads)
        ]
        save(figure, out, rows)


def _show(
    folder: Path, facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], threshold: float, out: Path
) -> None:
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    console.print(f"{facts['examples']} examples, {facts['pairs']} pairs, {facts['steps']} steps")
    for name in ("retrieval", "attention"):
        known = [row[name] for row in rows if row[name] is not None]
        if known:
            tenth = max(1, len(known) // 10)
            console.print(f"{name} loss: {np.mean(known[:tenth]):.3f} at first, {np.mean(known[-tenth:]):.3f} at last")
    console.print(f"threshold {threshold}, from {facts['validation_questions']} validation questions")
    console.print(f"weights: {folder}\nfigures: {out}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (HydraException, OmegaConfBaseException, PsiError) as error:
        sys.stderr.write(f"{error if isinstance(error, PsiError) else explained(error, sys.argv[1:])}\n")
        raise SystemExit(2) from None
