"""From the attention of all layers and heads to one relation between chunks (paper: learned attention aggregation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from psi.component import Component
from psi.errors import ConfigError

Doubles = NDArray[np.float64]
Kind = Literal["learned", "uniform", "last_layer", "similarity"]


@dataclass(frozen=True, kw_only=True)
class Aggregation(Component):
    """How chunks are related.

    kind: `learned`: one scalar a layer and head, softmax over all of them, A = Σ w·attention and M = (A + Aᵀ)/2 (all
        scalars are equal before training); `uniform`: the mean of all heads, trained or not; `last_layer`: the mean of
        the last layer's; `similarity`: the cosine of the chunks' vectors instead of attention.
    """

    kind: Kind = "learned"

    def weights(self, heads: tuple[int, int], scalars: Doubles | None) -> Doubles:
        """(layers * heads,) weights that sum to 1.

        Args:
            heads: layers, and heads of each.
            scalars: (layers * heads,) as trained; None: untrained.

        Raises:
            ConfigError: the scalars are of another model, or the kind has no weights.
        """
        layers, width = heads
        if self.kind == "similarity":
            raise ConfigError("aggregation.kind=similarity has no weights: it takes no attention.")
        if scalars is not None and len(scalars) != layers * width:
            raise ConfigError(
                f"{len(scalars)} trained scalars for {layers} x {width} heads: they are of another model."
            )
        logits = np.zeros(layers * width)
        if self.kind == "learned" and scalars is not None:
            logits = scalars.astype(np.float64)
        if self.kind == "last_layer":
            logits[: (layers - 1) * width] = -np.inf
        grown = np.exp(logits - logits.max())
        weights: Doubles = grown / grown.sum()
        return weights
