"""Names of cells in tables: dataset and method, each with the settings in which it differs from its namesakes."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.cell import Cell

_OF_DATA = ("dataset", "limit", "corpus_limit")  # settings that say what was asked of what
_LONGEST = 40  # of a value

Settings = Mapping[str, Any]


class Label(NamedTuple):
    """What a cell is called. Only cells of one `dataset` can be compared."""

    dataset: str
    method: str


def labels(cells: Sequence[Cell]) -> list[Label]:
    """A label for each cell; no two cells of one seed share one."""
    datasets = _told_apart([cell.dataset for cell in cells], cells, of_data=True)
    by_dataset = [Label(dataset, cell.method) for dataset, cell in zip(datasets, cells, strict=True)]
    methods = _told_apart(by_dataset, cells, of_data=False)
    return list(_numbered(map(Label, datasets, methods), cells))


def in_order(cells: Sequence[Cell]) -> list[Cell]:
    """The cells in the order of their labels, numbers by their size; those of one label by their seed."""
    named = [
        (_natural(label.dataset), _natural(label.method), cell.seed)
        for label, cell in zip(labels(cells), cells, strict=True)
    ]
    return [cells[at] for at in sorted(range(len(cells)), key=lambda at: named[at])]


def _natural(text: str) -> list[tuple[float, str]]:
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(float(part), "") if at % 2 else (-1.0, part) for at, part in enumerate(parts)]


def _told_apart(groups: Sequence[Hashable], cells: Sequence[Cell], *, of_data: bool) -> list[str]:
    settings = [_settings(cell, of_data) for cell in cells]
    members: defaultdict[Hashable, list[Settings]] = defaultdict(list)
    for group, own in zip(groups, settings, strict=True):
        if own:  # else refused before it had any
            members[group].append(own)
    varied = {group: _varied(found) for group, found in members.items()}
    names = [cell.dataset if of_data else cell.method for cell in cells]
    return [
        _label(name, own, varied.get(group, [])) if own else name
        for name, own, group in zip(names, settings, groups, strict=True)
    ]


def _settings(cell: Cell, of_data: bool) -> Settings:
    # the seed is a column of its own, wherever a setting follows it
    return {
        key: value
        for key, value in _flat(cell.settings)
        if (key.partition(".")[0] in _OF_DATA) == of_data and (key.split(".")[-1], value) != ("seed", cell.seed)
    }


def _varied(members: Sequence[Settings]) -> list[str]:
    keys = sorted({key for own in members for key in own})
    varied = [key for key in keys if len({json.dumps(own.get(key)) for own in members}) > 1]
    # where the class of a component varies, the class says it all; settings that only some of the classes have go without
    classes = tuple(key.removesuffix("component") for key in varied if key.endswith(".component"))
    return [key for key in varied if not key.startswith(classes) or all(key in own for own in members)]


def _label(name: str, own: Settings, varied: Sequence[str]) -> str:
    shown = [_setting(key, own.get(key)) for key in varied]
    return f"{name} [{', '.join(shown)}]" if shown else name


def _setting(key: str, value: Any) -> str:
    *_, part, name = ["", *key.split(".")]
    if name == "component":  # abstracts=MeanAbstracts
        return f"{part}={str(value).rpartition('.')[2]}"
    return f"{name}={_value(value)}"


def _value(value: Any) -> str:
    text = f"[{', '.join(map(str, value))}]" if isinstance(value, list) else "-" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _numbered(found: Iterator[Label], cells: Sequence[Cell]) -> Iterator[Label]:
    """Numbers what the settings shown do not tell apart, such as jobs refused before they had any."""
    seen: Counter[tuple[Label, int]] = Counter()
    for label, cell in zip(found, cells, strict=True):
        seen[label, cell.seed] += 1
        before = seen[label, cell.seed]
        yield label if before == 1 else label._replace(method=f"{label.method} ({before})")


def _flat(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by dotted path; a list of plain values is one value."""
    if isinstance(node, Mapping):
        items = [(str(key), value) for key, value in node.items()]
    elif isinstance(node, list) and any(isinstance(item, (Mapping, list)) for item in node):
        items = [(str(place), value) for place, value in enumerate(node)]
    else:
        yield path, node
        return
    for key, value in items:
        yield from _flat(value, f"{path}.{key}" if path else key)
