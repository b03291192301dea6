"""The exact maximum spanning tree of distinct rows: grown for few, else a first tree that one pass makes exact."""

import numpy as np
import torch

from psi.tree.edges import Edges
from psi.tree.passes import Progress, improved_tree
from psi.tree.precision import Operands, bound_holds, operands
from psi.tree.report import SpanningReport
from psi.tree.seed import first_tree, grown_tree
from psi.tree.weights import Floats

SMALL = 192  # below this the tree is grown point by point
# rows; a bf16 tile of this size and its operands stay in a core's cache, float32 products are slower and gain by larger ones
CPU_TILES = {"bf16": 1024, "fp32": 2048}
CUDA_TILE = 8192
HOPELESS_SHARE = 0.01  # of edges that a bf16 filter cannot sieve because their threshold is not positive


def exact_tree(
    rows: Floats,
    precision: str,
    device: torch.device,
    tile: int | None,
    report: SpanningReport,
    progress: Progress | None,
) -> Edges:
    """The maximum spanning tree of distinct unit rows (n, d): a first tree, then one pass over all pairs."""
    n = len(rows)
    if n <= SMALL:
        with report.timing("grow"):
            return grown_tree(rows)
    with report.timing("operands"):
        fast = _trusted_operands(rows, precision, device)
    with report.timing("first_tree"):
        tree = first_tree(rows, fast, report.threads)
    if fast.precision == "bf16" and np.mean(tree.weight <= fast.bound) > HOPELESS_SHARE:
        fast = operands(rows, "fp32", device)
    report.precision, report.bound, report.tile = fast.precision, fast.bound, tile or _tile(n, device, fast.precision)
    with report.timing("pass"):
        tree, report.passes = improved_tree(
            rows, fast, tree, block=report.tile, threads=report.threads, progress=progress
        )
    return tree


def _trusted_operands(rows: Floats, precision: str, device: torch.device) -> Operands:
    fast = operands(rows, precision, device)
    if bound_holds(rows, fast):
        return fast
    return operands(rows, "fp32", device)  # a library that accumulates otherwise than documented


def _tile(n: int, device: torch.device, precision: str) -> int:
    """Small enough for a dozen tiles a side, so that the threads stay busy and the sieve can be refined on the way."""
    largest = CUDA_TILE if device.type == "cuda" else CPU_TILES[precision]
    return int(min(largest, max(128, -(-n // 12 // 64) * 64)))
