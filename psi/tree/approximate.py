"""Settings of the approximate builders."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from psi.errors import InputError

Pool = Literal["threads", "ray"]


@dataclass(frozen=True)
class Approximate:
    """How the builders `hnsw`, `buckets` and `buckets+hnsw` work.

    neighbours: edges taken from the graph for each row; links, ef_construction, ef_search: faiss's HNSW parameters;
    reproducible: add rows to the graph from one thread, because several threads give another graph each time; bucket_size:
    most rows in a bucket; seed: of k-means; pool: where bucket trees are built; shards: folder for the buckets' rows when
    they are built by Ray, reachable from all its nodes.
    """

    neighbours: int = 16
    links: int = 16
    ef_construction: int = 64
    ef_search: int = 64
    reproducible: bool = True
    bucket_size: int = 4096
    seed: int = 0
    pool: Pool = "threads"
    shards: Path | None = None

    def __post_init__(self) -> None:
        for name in ("neighbours", "links", "ef_construction", "ef_search"):
            if getattr(self, name) < 2:
                raise InputError(f"{name}={getattr(self, name)}: expected at least 2")
        if self.bucket_size < 2:
            raise InputError(f"bucket_size={self.bucket_size}: expected at least 2 rows")
        if self.pool not in ("threads", "ray"):
            raise InputError(f"pool={self.pool!r}: expected 'threads' or 'ray'")
        if self.pool == "ray" and self.shards is None:
            raise InputError("pool='ray' needs shards=<folder> that all of Ray's nodes can read")
