"""The pass over all pairs, tile by tile, half of them by symmetry."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import local
from typing import Protocol

import numpy as np
import torch

from psi.tree.dendrogram import bottlenecks
from psi.tree.device import DeviceTiles
from psi.tree.edges import Edges, joined, merged_forest
from psi.tree.precision import Operands, honest_products
from psi.tree.scan import Found, Frontier, Tile, frontier, scan_tile
from psi.tree.weights import Floats, Ids
from psi.tree.workers import one_thread_products, submitting

CELL = 128  # rows: smaller blocks have sharper thresholds, larger ones fewer of them

Progress = Callable[[int, int], None]


class TileScanner(Protocol):
    """Multiplies one tile and sifts its pairs against a frontier.

    cell: rows of the blocks in which it looks up thresholds.
    """

    cell: int

    def scan(self, tile: Tile, front: Frontier) -> Found:
        """The pairs of the tile that beat their bottleneck."""


@dataclass
class PassCounts:
    """What a pass did: tiles, pairs weighed one by one, pairs that beat their bottleneck, refreshes, largest backlog."""

    tiles: int = 0
    weighed: int = 0
    found: int = 0
    refreshes: int = 0
    most_pending: int = 0


def improved_tree(
    rows: Floats, fast: Operands, tree: Edges, *, block: int, threads: int, progress: Progress | None = None
) -> tuple[Edges, PassCounts]:
    """The exact maximum spanning tree of the rows (n, d) from any spanning tree of theirs, by one pass over all pairs.

    A pair that is not earlier (in the total order) than the weakest edge on the path between its ends in *some* spanning
    tree is the last edge of a cycle, so it is not in the maximum spanning tree. The pass keeps the pairs that are earlier;
    whenever enough of them are pending, the spanning tree becomes the best one of its own edges and those, and the sieve
    gets finer. After a share p of the pairs has been seen in random order, some n/p of all pairs are left that would still
    pass (Karger, Klein and Tarjan, J. ACM 42(2), 1995, lemma 2.1), so the work beyond the products stays near n log n and
    the memory O(n).
    """
    layout = bottlenecks(len(rows), tree).order
    with honest_products(fast.precision), one_thread_products():
        slots = fast.rows[torch.from_numpy(layout).to(fast.rows.device)]
        scanner: TileScanner = _CpuTiles(rows, slots, block)
        if slots.device.type != "cpu":
            scanner, threads = DeviceTiles(rows, slots, block), 1
        return _Pass(tree, layout, fast, scanner).run(tile_order(len(rows), block), threads, progress)


def tile_order(n: int, block: int) -> list[Tile]:
    """Diagonal tiles first, then the tiles above the diagonal in a fixed shuffled order."""
    starts = range(0, n, block)
    above = [(s, t) for s in starts for t in starts if t > s]
    order = np.random.default_rng(len(above)).permutation(len(above))
    corners = [(s, s) for s in starts] + [above[k] for k in order]
    return [Tile(s, min(n, s + block), t, min(n, t + block)) for s, t in corners]


class _Pass:
    """The state between tiles: the spanning tree so far, its frontier, and the pairs found since it was last refreshed."""

    def __init__(self, tree: Edges, layout: Ids, fast: Operands, scanner: TileScanner):
        self.tree = tree
        self.layout = layout
        self.fast = fast
        self.scanner = scanner
        self.pending: list[Edges] = []
        self.backlog = 0
        self.counts = PassCounts()
        self.front = self._frontier()

    def run(self, tiles: list[Tile], threads: int, progress: Progress | None) -> tuple[Edges, PassCounts]:
        """Keep a few tiles in flight; take their pairs in order, so that the course does not depend on timing."""
        window = 2 * threads
        flying: deque[Future[Found]] = deque()
        with submitting(threads) as submit:
            for done, tile in enumerate(tiles):
                if len(flying) == window:
                    self._take(flying.popleft().result())
                flying.append(submit(self.scanner.scan, tile, self.front))
                if progress is not None:
                    progress(done + 1, len(tiles))
            while flying:
                self._take(flying.popleft().result())
        self._merge()
        self.counts.tiles = len(tiles)
        return self.tree, self.counts

    def _take(self, found: Found) -> None:
        self.counts.weighed += found.weighed
        self.counts.found += len(found.edges.u)
        if len(found.edges.u):
            self.pending.append(found.edges)
            self.backlog += len(found.edges.u)
        if self.backlog > len(self.layout) // 2:
            self._merge()
            self.front = self._frontier()
            self.counts.refreshes += 1

    def _merge(self) -> None:
        if self.pending:
            self.tree = merged_forest(len(self.layout), self.tree, joined(self.pending))
        self.counts.most_pending = max(self.counts.most_pending, self.backlog)
        self.pending, self.backlog = [], 0

    def _frontier(self) -> Frontier:
        return frontier(
            len(self.layout), self.tree, self.layout, self.scanner.cell, self.fast.bound, self.fast.precision
        )


class _CpuTiles:
    """Products and scans in worker threads; each thread has its own output buffer."""

    def __init__(self, rows: Floats, slots: torch.Tensor, block: int):
        self.rows = rows
        self.slots = slots
        self.block = block
        self.cell = min(block, CELL)
        self.buffers = local()

    def scan(self, tile: Tile, front: Frontier) -> Found:
        a, b = self.slots[tile.top : tile.top_end], self.slots[tile.left : tile.left_end]
        out = self._buffer()[: len(a) * len(b)].view(len(a), len(b))
        torch.mm(a, b.T, out=out)
        product = out.view(torch.int16).numpy() if out.dtype == torch.bfloat16 else out.numpy()
        u, v, w, weighed = scan_tile(product, tile.top, tile.left, front, self.rows)
        return Found(Edges(u, v, w), weighed)

    def _buffer(self) -> torch.Tensor:
        if not hasattr(self.buffers, "out"):
            self.buffers.out = torch.empty(self.block * self.block, dtype=self.slots.dtype)
        buffer: torch.Tensor = self.buffers.out
        return buffer
