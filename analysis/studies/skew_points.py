"""Numbers of the skew study, one a mixture, builder and place in the hierarchy; summaries of them over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from analysis.studies.mixtures import Mixture
from analysis.studies.purity import Purity, variation
from psi.metrics import Summary, summarise

SHARES = tuple(field.name for field in fields(Purity))
FIRST, MATCHED, SEARCH = "first layer", "matched", "search"  # places, beside layers from the top and ranks of nodes
_Row = Mapping[str, Any]


class Measurement(NamedTuple):
    """The rows that were measured of one mixture under one builder."""

    mixture: Mixture
    builder: str
    rows: Sequence[_Row]


class Point(NamedTuple):
    """One number. place: FIRST (abstract layer), MATCHED (at a given number of nodes), SEARCH, `top 1`, `rank 1`, ...

    nodes: of the layer; n: leaves of the mixture, or questions where something was searched.
    """

    corpus: str
    label: str
    seed: int
    builder: str
    place: str
    metric: str
    value: float
    nodes: float
    n: int


class Points:
    """Numbers by what they are of, in the order in which they were measured."""

    def __init__(self, found: Iterable[Point]) -> None:
        self._found: dict[tuple[str, str, str], dict[tuple[str, str], list[Point]]] = {}
        for point in found:
            own = self._found.setdefault((point.corpus, point.label, point.builder), {})
            own.setdefault((point.place, point.metric), []).append(point)

    @property
    def kinds(self) -> list[tuple[str, str, str]]:
        """Corpus, label and builder of all."""
        return list(self._found)

    def of(self, kind: tuple[str, str, str], place: str, metric: str) -> list[Point]:
        """One a seed, of a corpus, label and builder."""
        return self._found.get(kind, {}).get((place, metric), [])


def points(corpus: str, measurements: Iterable[Measurement], nodes: int) -> Iterator[Point]:
    """All numbers of a corpus; `nodes` as in the study."""
    return (point for each in measurements for point in _points(corpus, each, nodes))


def named_top(place: int) -> str:
    """The place of the n-th layer from the top, counted from the first that has at least two nodes."""
    return f"top {place}"


def search_metric(about: str, beam: int, cutoff: int) -> str:
    """The recall of questions about one kind of category."""
    return f"{about} recall@{cutoff}, beam {beam}"


def summary(found: Sequence[Point]) -> Summary:
    """Over seeds, with a 95 % bootstrap interval."""
    return summarise([point.value for point in found])


def paired(ours: Sequence[Point], theirs: Sequence[Point]) -> Summary:
    """The difference of two builders on the same mixtures, over seeds."""
    first, second = ({point.seed: point.value for point in found} for found in (ours, theirs))
    return summarise([first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())])


def _points(corpus: str, measurement: Measurement, nodes: int) -> Iterator[Point]:
    mixture, builder, rows = measurement
    size = len(mixture.rows)

    def point(place: str, metric: str, value: float, count: float = 0, n: int = size) -> Point:
        return Point(corpus, mixture.label, mixture.seed, builder, place, metric, value, count, n)

    layers = [row for row in rows if row["kind"] == "layer"]
    for place, row in _placed(layers):
        for name in ("variation", *SHARES, *(f"chance_{name}" for name in SHARES)):
            yield point(place, name, row[name], row["nodes"])
        yield point(place, "true_variation", variation(np.asarray(mixture.sizes)), row["nodes"])
    if layers:
        for rank, share in enumerate(sorted(layers[0]["sizes"], reverse=True)):
            yield point(f"rank {rank + 1}", "node_share", share / sum(layers[0]["sizes"]), layers[0]["nodes"])
        scale = sorted((row for row in rows if row["kind"] != "search"), key=lambda row: int(row["nodes"]))
        if nodes <= size:
            for name in (*SHARES[:-1], *(f"chance_{name}" for name in SHARES[:-1])):
                value = np.interp(
                    math.log(nodes), [math.log(row["nodes"]) for row in scale], [row[name] for row in scale]
                )
                yield point(MATCHED, name, float(value), nodes)
    for row in rows:
        if row["kind"] == "search" and row["questions"]:
            for name in (name for name in row if name.startswith("recall@")):
                metric = search_metric(row["about"], row["beam"], int(name.partition("@")[2]))
                yield point(SEARCH, metric, row[name], n=row["questions"])


def _placed(layers: Sequence[_Row]) -> Iterator[tuple[str, _Row]]:
    """Abstract layers by their names: one may have two."""
    if layers:
        yield FIRST, layers[0]
    for at, row in enumerate(row for row in reversed(layers) if row["nodes"] > 1):
        yield named_top(at + 1), row
