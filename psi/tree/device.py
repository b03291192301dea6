"""Tiles multiplied and sieved with tensor operations: for a GPU, where only the pairs that pass come back."""

import numpy as np
import torch

from psi.tree.edges import Edges
from psi.tree.scan import Found, Frontier, Tile, tile_thresholds, weigh_pairs
from psi.tree.weights import Floats


class _DeviceFrontier:
    """The parts of a frontier that the sieve reads, on the device."""

    def __init__(self, front: Frontier, device: torch.device):
        self.source = front
        self.spot = torch.from_numpy(front.spot).to(device)
        self.table = torch.from_numpy(front.table).to(device)
        self.least = torch.from_numpy(np.ascontiguousarray(front.least)).to(device)

    def weakest(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Ranks of the weakest edges between the places a and b (all different), as `dendrogram.weakest_between`."""
        low, high = torch.minimum(a, b), torch.maximum(a, b)
        # float64 holds any length exactly, so the exponent is the level without rounding trouble
        level = torch.frexp((high - low).double())[1].long() - 1
        return torch.maximum(self.table[level, low], self.table[level, high - (1 << level)]).long()


class DeviceTiles:
    """The same three sieves as `scan.scan_tile`: thresholds and bottlenecks on the device, weighing on the CPU."""

    def __init__(self, rows: Floats, slots: torch.Tensor, block: int):
        self.rows = rows
        self.slots = slots
        self.cell = block
        self.front: _DeviceFrontier | None = None

    def scan(self, tile: Tile, front: Frontier) -> Found:
        """Multiply one tile and sift its pairs; called from one thread at a time."""
        here = self._on_device(front)
        product = torch.mm(self.slots[tile.top : tile.top_end], self.slots[tile.left : tile.left_end].T)
        if product.dtype == torch.bfloat16:
            product = product.view(torch.int16)
        bounds = tile_thresholds(front, tile.top, tile.top_end, tile.left, tile.left_end)
        row_least, column_least = (torch.from_numpy(bound).to(product.device) for bound in bounds)
        i, j = torch.nonzero(product >= torch.minimum(row_least[:, None], column_least[None, :]), as_tuple=True)
        if tile.top == tile.left:
            i, j = i[j > i], j[j > i]
        rank = here.weakest(here.spot[tile.top + i], here.spot[tile.left + j])
        passed = product[i, j] >= here.least[rank]
        row, column, edge = (part[passed].cpu().numpy() for part in (i, j, rank))
        x, y = front.point[tile.top + row], front.point[tile.left + column]
        return Found(Edges(*weigh_pairs(front, self.rows, x, y, edge)), len(x))

    def _on_device(self, front: Frontier) -> _DeviceFrontier:
        if self.front is None or self.front.source is not front:
            self.front = _DeviceFrontier(front, self.slots.device)
        return self.front
