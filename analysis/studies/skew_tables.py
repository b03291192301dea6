"""Tables of the skew study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean

from analysis.studies.mixtures import Plan
from analysis.studies.skew_points import (
    FIRST,
    MATCHED,
    SEARCH,
    Point,
    Points,
    named_top,
    paired,
    search_metric,
    summary,
)
from analysis.tables import Table, Value, rows_table
from psi.metrics import Summary

INTERVALS = "Means over seeds with their 95 % bootstrap interval. Shares in percent, entropy in bits."
CHANCE = "chance: the same nodes with the categories shuffled over the leaves."
Row = dict[str, Value]


def structure(found: Points, nodes: int) -> Table:
    """The first abstract layer of every builder in every kind of mixture."""
    rows: list[Row] = []
    for kind in found.kinds:
        first = found.of(kind, FIRST, "purity")
        if not first:
            continue
        row: Row = {**_named(kind), "n": len(first), "nodes": fmean(point.nodes for point in first)}
        for name in ("minor_lost", "chance_minor_lost", "major_lost", "purity", "minor_nodes"):
            row |= _cell(name, found.of(kind, FIRST, name), 100)
        for name in ("entropy", "chance_entropy", "variation", "true_variation"):
            row |= _cell(name, found.of(kind, FIRST, name), 1)
        rows.append(row | _cell("matched", found.of(kind, MATCHED, "minor_lost"), 100))
    return rows_table(rows, {
        **_heads(), "n": ("seeds", "d"), "nodes": ("nodes", ".0f"), "minor_lost": ("minor under major", None),
        "chance_minor_lost": ("by chance", None), "matched": (f"at {nodes} nodes", None),
        "major_lost": ("major under minor", None),
        "purity": ("purity", None), "entropy": ("entropy", None), "chance_entropy": ("by chance", None),
        "minor_nodes": ("minor's nodes", None), "variation": ("CV of sizes", None), "true_variation": ("true CV", None),
    }, title="The first abstract layer", notes=[INTERVALS, CHANCE, _MATCHED.format(nodes=nodes)])  # fmt: skip


def layers(found: Points) -> Table:
    """Every abstract layer, counted from the top."""
    rows: list[Row] = []
    for kind in found.kinds:
        depth = 1
        while layer := found.of(kind, named_top(depth), "purity"):
            row: Row = {**_named(kind), "layer": depth, "n": len(layer), "nodes": fmean(point.nodes for point in layer)}
            for name in ("minor_lost", "chance_minor_lost", "major_lost", "purity", "minor_nodes"):
                row |= _cell(name, found.of(kind, named_top(depth), name), 100)
            for name in ("entropy", "variation", "true_variation"):
                row |= _cell(name, found.of(kind, named_top(depth), name), 1)
            rows.append(row)
            depth += 1
    return rows_table(rows, {
        **_heads(), "layer": ("layer", "d"), "n": ("seeds", "d"), "nodes": ("nodes", ".0f"),
        "minor_lost": ("minor under major", None), "chance_minor_lost": ("by chance", None),
        "major_lost": ("major under minor", None), "purity": ("purity", None), "entropy": ("entropy", None),
        "minor_nodes": ("minor's nodes", None), "variation": ("CV of sizes", None), "true_variation": ("true CV", None),
    }, title="By layer from the top", notes=[INTERVALS, CHANCE, "layer 1: the topmost one with at least two nodes."])  # fmt: skip


def search(found: Points, beams: Sequence[int], cutoffs: Sequence[int]) -> Table:
    """Recall of questions about minor and about major categories."""
    rows: list[Row] = []
    for kind in found.kinds:
        for about in ("minor", "major"):
            names = [search_metric(about, beam, cutoff) for beam, cutoff in product(beams, cutoffs)]
            asked = found.of(kind, SEARCH, names[0])
            if asked:
                row: Row = {
                    **_named(kind),
                    "about": about,
                    "n": len(asked),
                    "questions": sum(point.n for point in asked),
                }
                for name, (beam, cutoff) in zip(names, product(beams, cutoffs), strict=True):
                    row |= _cell(f"recall@{cutoff}, beam {beam}", found.of(kind, SEARCH, name), 100)
                rows.append(row)
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
    found: Points, ours: str, others: Sequence[str], nodes: int, beams: Sequence[int], cutoffs: Sequence[int]
) -> Table:
    """The first builder less each other one, on the same mixtures."""
    recall = {f"minor recall@{k}, beam {b}": (SEARCH, search_metric("minor", b, k)) for b, k in product(beams, cutoffs)}
    what = {
        "minor under major": (FIRST, "minor_lost"), f"minor under major at {nodes} nodes": (MATCHED, "minor_lost"),
        "major under minor": (FIRST, "major_lost"), "purity": (FIRST, "purity"), **recall,
    }  # fmt: skip
    rows: list[Row] = []
    for corpus, label in dict.fromkeys((corpus, label) for corpus, label, _ in found.kinds):
        for other in others:
            row: Row = {"corpus": corpus, "mixture": label, "builder": f"{ours} − {other}"}
            for name, (place, metric) in what.items():
                row |= _shown(name, paired(*(found.of((corpus, label, b), place, metric) for b in (ours, other))), 100)
            rows.append(row)
    heads = {name: (name, None) for name in what}
    return rows_table(rows, {**_heads(), **heads}, title="Differences on the same mixtures", notes=[INTERVALS])


def mixtures(mixed: Mapping[str, Plan]) -> Table:
    """What was mixed, and what the corpora have too few passages for."""
    rows: list[Row] = [
        {"corpus": corpus, "mixture": each.label, "seed": each.seed, "passages": sum(each.sizes),
         "categories": ", ".join(f"{name} {size}" for name, size in zip(each.categories, each.sizes, strict=True))}
        for corpus, plan in mixed.items() for each in plan.mixtures
    ]  # fmt: skip
    missing = Counter((corpus, each.label) for corpus, plan in mixed.items() for each in plan.left_out)
    reasons = {(corpus, each.label): each.reason for corpus, plan in mixed.items() for each in plan.left_out}
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


def _named(kind: tuple[str, str, str]) -> Row:
    return dict(zip(("corpus", "mixture", "builder"), kind, strict=True))


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
