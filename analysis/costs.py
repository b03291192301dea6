"""Columns of costs: which belong together, what they are called, and how they read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

# heading -> the costs that stand under it, in this order
COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "Index (s)": ("index_seconds",),
    "Index calls": ("index_calls",),
    "Index tokens in/out": ("index_prompt_tokens", "index_completion_tokens"),
    "Search (ms)": ("search_ms_per_question",),
    "Search calls": ("search_calls",),
    "Search tokens in/out": ("search_prompt_tokens", "search_completion_tokens"),
    "Agent (ms)": ("agent_ms_per_question",),
    "Steps": ("agent_steps_per_question",),
    "Answer (ms)": ("answer_ms_per_question",),
    "Answer tokens in/out": ("prompt_tokens", "completion_tokens"),
})  # fmt: skip
KNOWN = frozenset(cost for costs in COLUMNS.values() for cost in costs)
NONE = "–"
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def cost_columns(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Headings for these costs, those that belong together under one; others under their own names."""
    known = {heading: costs for heading, costs in COLUMNS.items() if set(costs) & set(names)}
    return known | {name: (name,) for name in names if name not in KNOWN}


def cost_text(values: Sequence[float | None]) -> str:
    """Costs that stand under one heading: `0.25`, `1,234`, `9.2M / 3M`; a dash where none is known."""
    if all(value is None for value in values):
        return NONE
    if len(values) == 1 and values[0] is not None:
        return f"{values[0]:,.0f}" if values[0] >= 100 else f"{values[0]:.3g}"
    return " / ".join(NONE if value is None else _short(value) for value in values)


def mean_of(found: Sequence[float | None]) -> float | None:
    """The mean of the known values, None where there is none."""
    known = [value for value in found if value is not None]
    return math.fsum(known) / len(known) if known else None


def _short(value: float) -> str:
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
