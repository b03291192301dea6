"""Skewed corpora cut from a labelled one: a major and a minor category at exact ratios, or all categories by Zipf's law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psi.errors import InputError

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Some passages of a labelled corpus.

    label: `10:1`, or `Zipf 1`; ratio: of the major to the minor category, None for Zipf; categories: the largest first;
    sizes: how many passages of each; rows: of the corpus, ascending; codes: (m,) the place of each row's category.
    """

    label: str
    ratio: int | None
    seed: int
    categories: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: Ids
    codes: Ids


class LeftOut(NamedTuple):
    """A mixture that the corpus has too few passages for."""

    label: str
    seed: int
    reason: str


@dataclass(frozen=True)
class Plan:
    """The mixtures to measure, and those that cannot be had."""

    mixtures: tuple[Mixture, ...]
    left_out: tuple[LeftOut, ...]


def pair_mixtures(
    categories: Sequence[str],
    ratios: Sequence[int],
    seeds: Sequence[int],
    *,
    major: int,
    least_minor: int,
    may_lack: int,
) -> Plan:
    """Two categories a seed at each ratio, the major one kept at the same size so that only the minor one changes.

    A ratio r has m = ⌊major / r⌋ passages of the minor category and exactly r·m of the major one; of each category the first
    ones in an order drawn by the seed, so that mixtures of one seed are nested. `major` is lowered to the size of the second
    largest category where that is smaller. Pairs take turns with the seeds, in a shuffled order, among those that lack at
    most `may_lack` of the ratios for want of passages; what they lack, and ratios that leave fewer than `least_minor`
    passages, is left out and listed.

    Raises:
        InputError: no pair of categories is large enough.
    """
    members = _members(categories)
    most = min(major, sorted(len(rows) for rows in members.values())[-2])
    usable = [ratio for ratio in ratios if most // ratio >= least_minor]
    pairs = [
        (large, small)
        for large in members for small in members
        if small != large and len(members[large]) >= most
        and sum(len(members[small]) < most // ratio for ratio in usable) <= min(may_lack, len(usable) - 1)
    ]  # fmt: skip
    if not usable or not pairs:
        raise InputError(
            f"no two categories make mixtures of {most} passages of one and at least {least_minor} of the other; the "
            f"categories hold {', '.join(f'{name} {len(rows)}' for name, rows in members.items())}. "
            "Take a larger corpus, or lower study.major or study.ratios."
        )
    turns = np.random.default_rng(0).permutation(len(pairs))
    drawn = {seed: _drawn(members, seed) for seed in seeds}
    mixtures, left_out = list[Mixture](), list[LeftOut]()
    for ratio, seed in product(ratios, seeds):
        pair, minor, label = pairs[turns[seed % len(pairs)]], most // ratio, f"{ratio}:1"
        if minor < least_minor:
            left_out.append(LeftOut(label, seed, f"{most} major passages leave {minor} minor ones"))
        elif minor > len(members[pair[1]]):
            left_out.append(LeftOut(label, seed, f"{pair[1]} has {len(members[pair[1]])} of {minor} passages"))
        else:
            mixtures.append(_mixture(label, ratio, seed, pair, (ratio * minor, minor), drawn[seed]))
    return Plan(tuple(mixtures), tuple(left_out))


def zipf_mixtures(
    categories: Sequence[str], exponent: float, seeds: Sequence[int], *, major: int, least_minor: int
) -> Plan:
    """All categories, the one of rank i with ⌊largest / i^exponent⌋ passages, ranks drawn by the seed.

    `largest` is `major`, or the size of the second largest category where that is smaller. A rank is drawn among the
    categories that are large enough for it; where none is left, or fewer than `least_minor` passages would be taken, the
    categories that remain are left out and listed.
    """
    members = _members(categories)
    most = min(major, sorted(len(rows) for rows in members.values())[-2])
    mixtures, left_out, label = list[Mixture](), list[LeftOut](), f"Zipf {exponent:g}"
    for seed in seeds:
        drawn, rng = _drawn(members, seed), np.random.default_rng([seed, 1])
        names, sizes = list[str](), list[int]()
        while size := int(most / (len(names) + 1) ** exponent):
            able = [name for name in members if name not in names and len(members[name]) >= size]
            if size < least_minor or not able:
                break
            names.append(able[rng.integers(len(able))])
            sizes.append(size)
        if rest := [name for name in members if name not in names]:
            left_out.append(
                LeftOut(label, seed, f"rank {len(names) + 1} needs {size} passages; without {', '.join(rest)}")
            )
        if len(names) > 1:
            mixtures.append(_mixture(label, None, seed, names, sizes, drawn))
    return Plan(tuple(mixtures), tuple(left_out))


def _members(categories: Sequence[str]) -> dict[str, Ids]:
    labels = np.asarray(categories)
    return {name: np.flatnonzero(labels == name) for name in sorted(set(categories))}


def _drawn(members: dict[str, Ids], seed: int) -> dict[str, Ids]:
    """Each category's passages in the order in which mixtures of this seed take them."""
    return {
        name: np.random.default_rng([seed, 0, at]).permutation(rows) for at, (name, rows) in enumerate(members.items())
    }


def _mixture(
    label: str, ratio: int | None, seed: int, names: Sequence[str], sizes: Sequence[int], drawn: dict[str, Ids]
) -> Mixture:
    rows = np.concatenate([drawn[name][:size] for name, size in zip(names, sizes, strict=True)])
    codes = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(rows)
    return Mixture(label, ratio, seed, tuple(names), tuple(sizes), rows[order], codes[order])
