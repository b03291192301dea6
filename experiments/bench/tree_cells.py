"""One measurement of the tree bench, made in a process of its own so that its peak memory is its own."""

import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import fastcluster
import numpy as np
import numpy.typing as npt
import torch
from sklearn.cluster import AgglomerativeClustering

from experiments.bench.generated import generated_vectors
from psi.tree import Approximate, build_tree_with_report
from psi.tree.oracle import oracle_tree
from psi.tree.workers import submitting

Vectors = npt.NDArray[np.float32]

LONG = 20.0  # seconds after which a measurement is not repeated
SHORT = 4.0  # seconds that a measurement's repeats fill together, up to MOST of them: short ones meet more chance
MOST = 12

PSI_BUILDERS = {
    "exact fp32": {"builder": "exact", "precision": "fp32"},
    "exact bf16": {"builder": "exact", "precision": "bf16"},
    "hnsw": {"builder": "hnsw"},
    "buckets": {"builder": "buckets"},
    "buckets+hnsw": {"builder": "buckets+hnsw"},
}


@dataclass
class Cell:
    """A builder on one corpus: best times of `repeats`, peak memory of the process, and the machine's rooflines.

    seconds: wall time; processor_seconds: of all threads together; load: the machine's load average before, ours included.
    """

    builder: str
    kind: str
    n: int
    d: int = 384
    repeats: int = 1
    device: str = "auto"
    vectors_file: str | None = None
    seconds: float = 0.0
    processor_seconds: float = float("inf")
    load: float = 0.0
    all_seconds: list[float] = field(default_factory=list)
    peak_mb: float = 0.0
    base_mb: float = 0.0
    fp32_pass_seconds: float = 0.0
    bf16_pass_seconds: float = 0.0
    layers: list[int] = field(default_factory=list)
    steps: dict[str, float] = field(default_factory=dict)
    precision: str = ""
    weighed: int = 0
    found: int = 0


def measure(cell: dict[str, object]) -> dict[str, object]:
    """Run one cell (as a dict, to cross the process border) and fill in its results."""
    given = Cell(**cell)  # type: ignore[arg-type]
    vectors = _vectors(given)
    given.n, given.d = vectors.shape
    work = _work(given)
    _warm_up(given)
    given.base_mb = peak_megabytes()
    given.load = os.getloadavg()[0]
    passes = [_roofline(given)]
    while len(given.all_seconds) < given.repeats or (sum(given.all_seconds) < SHORT and len(given.all_seconds) < MOST):
        start, spent = time.perf_counter(), time.process_time()
        work(vectors)
        given.processor_seconds = min(given.processor_seconds, time.process_time() - spent)
        given.all_seconds.append(time.perf_counter() - start)
        given.peak_mb = max(given.peak_mb, peak_megabytes())
        passes.append(_roofline(given))
        if given.all_seconds[-1] > LONG:
            break
    given.seconds = min(given.all_seconds)
    given.fp32_pass_seconds, given.bf16_pass_seconds = (min(column) for column in zip(*passes, strict=True))
    return asdict(given)


def _roofline(cell: Cell) -> tuple[float, float]:
    """Rooflines stand beside the exact builders only: timing them takes longer than most other measurements."""
    return pass_seconds(cell.n, cell.d, cell.device) if cell.builder.startswith("exact") else (0.0, 0.0)


def _vectors(cell: Cell) -> Vectors:
    if cell.vectors_file is not None:
        loaded: Vectors = np.load(Path(cell.vectors_file), allow_pickle=False)[: cell.n]
        return loaded
    return generated_vectors(cell.kind, cell.n, cell.d)


def _work(cell: Cell) -> Callable[[Vectors], object]:
    if cell.builder == "literal procedure":
        return oracle_tree
    if cell.builder == "fastcluster":
        linkage: Callable[..., object] = fastcluster.linkage
        return lambda rows: linkage(rows.astype(np.float64), "single", metric="euclidean")
    if cell.builder == "scikit-learn":
        kind: Callable[..., Any] = AgglomerativeClustering
        fit: Callable[[Vectors], object] = kind(
            n_clusters=None, distance_threshold=0, linkage="single", metric="cosine"
        ).fit
        return fit
    return lambda rows: _build(cell, rows)


def _build(cell: Cell, rows: Vectors) -> None:
    size = Approximate(bucket_size=max(1024, min(8192, len(rows) // 16)))
    settings = (
        {"device": cell.device, **PSI_BUILDERS[cell.builder]} if "exact" in cell.builder else PSI_BUILDERS[cell.builder]
    )
    _, report = build_tree_with_report(rows, rebalance="none", approximate=size, **settings)  # type: ignore[arg-type]
    cell.layers = list(report.layer_sizes_before_rebalancing)
    cell.steps = {step: round(seconds, 4) for step, seconds in report.spanning.seconds.items()}
    cell.precision = report.spanning.precision
    cell.weighed, cell.found = report.spanning.passes.weighed, report.spanning.passes.found


def _warm_up(cell: Cell) -> None:
    """Load compiled code before the clock runs."""
    few = generated_vectors("clustered", 700, cell.d)
    _work(Cell(cell.builder, cell.kind, 700, cell.d, device=cell.device))(
        few[:100] if "literal" in cell.builder else few
    )


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def pass_seconds(n: int, d: int, device: str = "auto") -> tuple[float, float]:
    """Time of one full pass of matrix products over all n x n pairs, in float32 and in bfloat16, at this machine's best.

    Some tiles are timed in two ways (all threads on one product, one product a thread); the faster counts.
    """
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    rates = []
    for kind in (torch.float32, torch.bfloat16):
        rows = torch.randn(4096, d, device="cuda" if on_gpu else "cpu").to(kind)
        rates.append(_gpu_rate(rows) if on_gpu else max(_shared_rate(rows), _tiled_rate(rows)))
    return n * n / rates[0], n * n / rates[1]


def _gpu_rate(rows: torch.Tensor) -> float:
    def product() -> None:
        torch.mm(rows, rows.T)
        torch.cuda.synchronize()

    return len(rows) ** 2 / _best(product, 8)


def _shared_rate(rows: torch.Tensor) -> float:
    out = torch.empty(len(rows), len(rows), dtype=rows.dtype)
    return len(rows) ** 2 / _best(lambda: torch.mm(rows, rows.T, out=out), 3)


def _tiled_rate(rows: torch.Tensor) -> float:
    threads, tile = torch.get_num_threads(), 1024
    parts = [rows[start : start + tile] for start in range(0, len(rows), tile)]

    def share(number: int) -> None:
        out = torch.empty(tile, tile, dtype=rows.dtype)
        for part in parts:
            torch.mm(parts[number % len(parts)], part.T, out=out)

    tasks = len(parts) * max(1, threads // len(parts))
    with submitting(threads) as submit:
        seconds = _best(lambda: wait([submit(share, number) for number in range(tasks)]), 3)
    return tasks * len(parts) * tile * tile / seconds


def _best(work: Callable[[], object], times: int) -> float:
    fastest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest
