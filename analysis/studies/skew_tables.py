"""Tables of the skew study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Any

from analysis.studies.mixtures import LeftOut, Mixture
from analysis.studies.skew_points import (
    FIRST,
    MATCHED,
    SEARCH,
    Point,
    named_top,
    paired,
    picked,
    search_metric,
    summary,
)
from analysis.tables import Table, Value, rows_table
from psi.metrics import Summary

INTERVALS = "Means over seeds with their 95 % bootstrap interval. Shares in percent, entropy in bits."
CHANCE = "chance: the same nodes with the categories shuffled over the leaves."
Row = dict[str, Value]


def structure(found: Sequence[Point], nodes: int) -> Table:
    """The first abstract layer of every builder in every kind of mixture."""
    rows: list[Row] = []
    for row, own in _groups(found):
        first = picked(own, place=FIRST)
        if not first:
            continue
        row |= {"n": len(picked(first, metric="purity")), "nodes": fmean(point.nodes for point in first)}
        for name in ("minor_lost", "chance_minor_lost", "major_lost", "purity", "minor_nodes"):
            row |= _cell(name, picked(first, metric=name), 100)
        for name in ("entropy", "chance_entropy", "variation", "true_variation"):
            row |= _cell(name, picked(first, metric=name), 1)
        rows.append(row | _cell("matched", picked(own, place=MATCHED, metric="minor_lost"), 100))
    return rows_table(rows, {
        **_heads(), "n": ("seeds", "d"), "nodes": ("nodes", ".0f"), "minor_lost": ("minor under major", None),
        "chance_minor_lost": ("by chance", None), "matched": (f"at {nodes} nodes", None),
        "major_lost": ("major under minor", None),
        "purity": ("purity", None), "entropy": ("entropy", None), "chance_entropy": ("by chance", None),
        "minor_nodes": ("minor's nodes", None), "variation": ("CV of sizes", None), "true_variation": ("true CV", None),
    }, title="The first abstract layer", notes=[INTERVALS, CHANCE, _MATCHED.format(nodes=nodes)])  # fmt: skip


def layers(found: Sequence[Point]) -> Table:
    """Every abstract layer, counted from the top."""
    rows: list[Row] = []
    for row, own in _groups(found):
        depth = 1
        while layer := picked(own, place=named_top(depth)):
            mine: Row = {
                "layer": depth,
                "n": len(picked(layer, metric="purity")),
                "nodes": fmean(p.nodes for p in layer),
            }
            for name in ("minor_lost", "chance_minor_lost", "major_lost", "purity", "minor_nodes"):
                mine |= _cell(name, picked(layer, metric=name), 100)
            for name in ("entropy", "variation", "true_variation"):
                mine |= _cell(name, picked(layer, metric=name), 1)
            rows.append(row | mine)
            depth += 1
    return rows_table(rows, {
        **_heads(), "layer": ("layer", "d"), "n": ("seeds", "d"), "nodes": ("nodes", ".0f"),
        "minor_lost": ("minor under major", None), "chance_minor_lost": ("by chance", None),
        "major_lost": ("major under minor", None), "purity": ("purity", None), "entropy": ("entropy", None),
        "minor_nodes": ("minor's nodes", None), "variation": ("CV of sizes", None), "true_variation": ("true CV", None),
    }, title="By layer from the top", notes=[INTERVALS, CHANCE, "layer 1: the topmost one with at least two nodes."])  # fmt: skip


def search(found: Sequence[Point], beams: Sequence[int], cutoffs: Sequence[int]) -> Table:
    """Recall of questions about minor and about major categories."""
    rows: list[Row] = []
    for row, own in _groups(found):
        for about in ("minor", "major"):
            names = [search_metric(about, beam, cutoff) for beam, cutoff in product(beams, cutoffs)]
            asked = picked(own, place=SEARCH, metric=names[0])
            if asked:
                mine: Row = {"about": about, "n": len(asked), "questions": sum(point.n for point in asked)}
                for name, (beam, cutoff) in zip(names, product(beams, cutoffs), strict=True):
                    mine |= _cell(f"recall@{cutoff}, beam {beam}", picked(own, place=SEARCH, metric=name), 100)
                rows.append(row | mine)
    recalls = {f"recall@{k}, beam {beam}": (f"recall@{k}, beam {beam}", None) for beam, k in product(beams, cutoffs)}
    return rows_table(
        rows,
        {**_heads(), "about": ("questions on", None), "n": ("seeds", "d"), "questions": ("questions", "d"), **recalls},
        title="Searched from the top",
        notes=[
            INTERVALS,
            "Means of a mixture's questions, then over seeds; a mixture without such questions is no point.",
        ],
    )


def differences(
    found: Sequence[Point], ours: str, others: Sequence[str], nodes: int, beams: Sequence[int], cutoffs: Sequence[int]
) -> Table:
    """The first builder less each other one, on the same mixtures."""
    recall = {f"minor recall@{k}, beam {b}": (SEARCH, search_metric("minor", b, k)) for b, k in product(beams, cutoffs)}
    what = {
        "minor under major": (FIRST, "minor_lost"), f"minor under major at {nodes} nodes": (MATCHED, "minor_lost"),
        "major under minor": (FIRST, "major_lost"), "purity": (FIRST, "purity"), **recall,
    }  # fmt: skip
    rows: list[Row] = []
    for corpus, label in dict.fromkeys((point.corpus, point.label) for point in found):
        own = picked(found, corpus=corpus, label=label)
        for other in others:
            row: Row = {"corpus": corpus, "mixture": label, "builder": f"{ours} − {other}"}
            for name, (place, metric) in what.items():
                row |= _shown(name, paired(picked(own, place=place, metric=metric), ours, other), 100)
            rows.append(row)
    heads = {name: (name, None) for name in what}
    return rows_table(rows, {**_heads(), **heads}, title="Differences on the same mixtures", notes=[INTERVALS])


def mixtures(made: Mapping[str, Sequence[Mixture]], left_out: Mapping[str, Sequence[LeftOut]]) -> Table:
    """What was mixed, and what the corpora have too few passages for."""
    rows: list[Row] = [
        {"corpus": corpus, "mixture": each.label, "seed": each.seed, "passages": sum(each.sizes),
         "categories": ", ".join(f"{name} {size}" for name, size in zip(each.categories, each.sizes, strict=True))}
        for corpus, own in made.items() for each in own
    ]  # fmt: skip
    missing = Counter((corpus, each.label) for corpus, own in left_out.items() for each in own)
    reasons = {(corpus, each.label): each.reason for corpus, own in left_out.items() for each in own}
    notes = [
        f"{corpus}, {label}: {n} short of passages, such as {reasons[corpus, label]}."
        for (corpus, label), n in missing.items()
    ]
    heads = {"corpus": ("corpus", None), "mixture": ("mixture", None), "seed": ("seed", "d"),
             "passages": ("passages", "d"), "categories": ("categories, the largest first", None)}  # fmt: skip
    return rows_table(rows, heads, title="The mixtures", notes=notes)


def shown_interval(found: Summary, scale: float) -> str:
    """Such as 12.3 [8.1, 16.0]; a dash where there is nothing."""
    if found.mean is None:
        return "–"
    digits = 1 if scale == 100 else 2
    bounds = "" if found.low is None else f" [{scale * found.low:.{digits}f}, {scale * (found.high or 0):.{digits}f}]"
    return f"{scale * found.mean:.{digits}f}{bounds}"


_MATCHED = "at {nodes} nodes: between the layers around this number, linear in its logarithm; a single node is the top."


def _groups(found: Sequence[Point]) -> Iterator[tuple[dict[str, Any], list[Point]]]:
    for corpus, label, builder in dict.fromkeys((p.corpus, p.label, p.builder) for p in found):
        own = picked(found, corpus=corpus, label=label, builder=builder)
        yield {"corpus": corpus, "mixture": label, "builder": builder}, own


def _heads() -> dict[str, tuple[str, str | None]]:
    return {name: (name, None) for name in ("corpus", "mixture", "builder")}


def _cell(name: str, found: Sequence[Point], scale: float) -> Row:
    return _shown(name, summary(found), scale)


def _shown(name: str, found: Summary, scale: float) -> Row:
    return {
        name: shown_interval(found, scale),
        f"{name} mean": found.mean,
        f"{name} low": found.low,
        f"{name} high": found.high,
    }
